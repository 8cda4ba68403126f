# SPDX-License-Identifier: BSD-2-Clause
"""Late-Z scoreboard: tiles that are out for shading before they are written."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.credit import CreditCounter

PLACES = 16  # tiles so many rows and columns apart share a place, and wait for one another


class LateZScoreboard(wiring.Component):
    """Keep an early test from what a late write has yet to change; count the tiles that are out.

    Parameters
    ----------
    most : int
        Most tiles that are out.
    position : int
        Bits of a tile's x and y.

    Members
    -------
    late_draw : In(1)
        The draw writes its tiles when they have come back.
    tests : In(1)
        It tests them before they go out, too.
    offered, x, y : In(1), In(position), In(position)
        A tile is offered.
    stall : Out(1)
        It must wait: a tile of its place is out, or too many are, or that is not yet known.
    accept : In(1)
        It enters.
    back, back_x, back_y : In(1), In(position), In(position)
        A tile has come back, and enters.
    idle : Out(1)
        No tile is out.
    """

    def __init__(self, most, position):
        self._most = most
        super().__init__(
            {
                "late_draw": In(1),
                "tests": In(1),
                "offered": In(1),
                "x": In(position),
                "y": In(position),
                "stall": Out(1),
                "accept": In(1),
                "back": In(1),
                "back_x": In(position),
                "back_y": In(position),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.credit = credit = CreditCounter(self._most)
        bits = (PLACES - 1).bit_length()
        place = Cat(self.x[:bits], self.y[:bits])
        back_place = Cat(self.back_x[:bits], self.back_y[:bits])
        pending = Signal(PLACES**2)
        sets = Signal(PLACES**2)
        clears = Signal(PLACES**2)
        departure = self.accept & self.late_draw
        m.d.comb += [
            credit.consume.eq(departure),
            credit.release.eq(self.back),
            self.idle.eq(credit.idle),
        ]

        # A place is set, or cleared, one clock after its tile has entered: decoding is long.
        departed = Signal()
        departed_place = Signal.like(place)
        returned = Signal()
        returned_place = Signal.like(back_place)
        m.d.sync += [
            departed.eq(departure & self.tests),
            departed_place.eq(place),
            returned.eq(self.back),
            returned_place.eq(back_place),
        ]
        m.d.comb += [
            sets.bit_select(departed_place, 1).eq(departed),
            clears.bit_select(returned_place, 1).eq(returned),
        ]
        m.d.sync += pending.eq((pending | sets) & ~clears)

        # A tile that tests early is looked up in the first clock in which it is offered, and enters
        # in the next: one in two clocks, since such tiles pass twice.
        looked_up = Signal()
        occupied = Signal()
        m.d.sync += [
            looked_up.eq(self.offered & ~self.accept),
            occupied.eq(pending.bit_select(place, 1) | (departed & (departed_place == place))),
        ]
        hazard = self.tests & (~looked_up | occupied)
        m.d.comb += self.stall.eq(self.late_draw & (~credit.available | hazard))
        return m
