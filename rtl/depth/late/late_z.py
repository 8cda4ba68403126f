# SPDX-License-Identifier: BSD-2-Clause
"""Late-Z scoreboard: tiles that are out for shading before they are written."""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.credit import CreditCounter


class LateZScoreboard(wiring.Component):
    """Keep an early test from what a late write has yet to change; count the tiles that are out.

    Parameters
    ----------
    most : int
        Most tiles that are out.
    places : int
        Tiles of one place wait for one another: a power of two.

    Members
    -------
    late_draw : In(1)
        The draw writes its tiles when they have come back.
    tests : In(1)
        It tests them before they go out, too.
    offered, place : In(1), In(range(places))
        A tile is offered.
    stall : Out(1)
        It must wait: a tile of its place is out, or too many are, or that is not yet known.
    accept : In(1)
        It enters.
    back, back_tested, back_place : In(1), In(1), In(range(places))
        A tile has come back, and enters; it had been tested.
    pending : Out(places)
        Places of which a tile is out that was tested; those of the last clock are missing.
    departed, departed_place : Out(1), Out(range(places))
        In the clock before, such a tile has entered.
    idle : Out(1)
        No tile is out.
    """

    def __init__(self, most: int, places: int) -> None:
        self._most = most
        super().__init__(
            {
                "late_draw": In(1),
                "tests": In(1),
                "offered": In(1),
                "place": In(range(places)),
                "stall": Out(1),
                "accept": In(1),
                "back": In(1),
                "back_tested": In(1),
                "back_place": In(range(places)),
                "pending": Out(places),
                "departed": Out(1),
                "departed_place": Out(range(places)),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.credit = credit = CreditCounter(self._most)
        sets = Signal.like(self.pending)
        clears = Signal.like(self.pending)
        departure = self.accept & self.late_draw
        m.d.comb += [
            credit.consume.eq(departure),
            credit.release.eq(self.back),
            self.idle.eq(credit.idle),
        ]

        # A place is set, or cleared, one clock after its tile has entered: decoding is long.
        returned = Signal()
        returned_place = Signal.like(self.back_place)
        m.d.sync += [
            self.departed.eq(departure & self.tests),
            self.departed_place.eq(self.place),
            returned.eq(self.back & self.back_tested),
            returned_place.eq(self.back_place),
        ]
        m.d.comb += [
            sets.bit_select(self.departed_place, 1).eq(self.departed),
            clears.bit_select(returned_place, 1).eq(returned),
        ]
        m.d.sync += self.pending.eq((self.pending | sets) & ~clears)

        # A tile that tests early is looked up in the first clock in which it is offered, and enters
        # in the next: one in two clocks, since such tiles pass twice.
        looked_up = Signal()
        occupied = Signal()
        m.d.sync += [
            looked_up.eq(self.offered & ~self.accept),
            occupied.eq(self.is_occupied(self.place)),
        ]
        hazard = self.tests & (~looked_up | occupied)
        m.d.comb += self.stall.eq(self.late_draw & (~credit.available | hazard))
        return m

    def is_occupied(self, place: Value) -> Value:
        """Whether a tile of a place is out that was tested."""
        departed = self.departed & (self.departed_place == place)
        return self.pending.bit_select(place, 1) | departed
