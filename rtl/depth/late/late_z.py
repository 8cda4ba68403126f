# SPDX-License-Identifier: BSD-2-Clause
"""Late-Z scoreboard: tiles that are out for shading before they are written."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.credit import CreditCounter


class LateZScoreboard(wiring.Component):
    """Keep an early test from what a late write has yet to change; count the tiles that are out.

    A tile that is tested early waits for those of its place that have a sample in common with it:
    neighbours of a mesh share tiles and no samples, and are out together. Known of a place is the
    union of its tiles' samples, until the last of them has come back.

    Parameters
    ----------
    most : int
        Most tiles that are out: a power of two.
    places : int
        Tiles of one place may hold the same samples: a power of two.
    lanes : int
        Samples of a tile.

    Members
    -------
    late_draw : In(1)
        The draw writes its tiles when they have come back.
    is_held : In(1)
        A tile holds its place until then.
    tests : In(1)
        It tests them before they go out, too.
    offered, place, mask : In(1), In(range(places)), In(lanes)
        A tile is offered, with its samples.
    is_replacement : In(1)
        It takes its place from another tile.
    stall : Out(1)
        It must wait: a tile is out that has a sample of it, or must leave its place; or too many
        are, or that is not yet known.
    accept : In(1)
        It enters.
    back, back_held, back_place : In(1), In(1), In(range(places))
        A tile has come back, and enters, in the order in which tiles have entered; it had held its
        place.
    pending : Out(places)
        Places that a tile holds; those of the last clock are missing.
    departed, departed_place : Out(1), Out(range(places))
        In the clock before, such a tile has entered.
    idle : Out(1)
        No tile is out.
    """

    def __init__(self, most: int, places: int, lanes: int) -> None:
        self._most = most
        self._places = places
        super().__init__(
            {
                "late_draw": In(1),
                "is_held": In(1),
                "tests": In(1),
                "offered": In(1),
                "place": In(range(places)),
                "mask": In(lanes),
                "is_replacement": In(1),
                "stall": Out(1),
                "accept": In(1),
                "back": In(1),
                "back_held": In(1),
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
        departure = named(m, self.accept & self.late_draw, "departure")
        held = named(m, departure & self.is_held, "held")
        occupied = Signal()
        m.d.comb += [
            credit.consume.eq(departure),
            credit.release.eq(self.back),
            self.idle.eq(credit.idle),
        ]
        m.d.sync += [
            self.departed.eq(held),
            self.departed_place.eq(self.place),
            occupied.eq(self.is_occupied(self.place)),
        ]
        self._free_places(m, held)
        overlaps = self._compare_samples(m, held, occupied)

        # A tile that tests early, or replaces another one, is looked up in the first clock in which
        # it is offered, and enters in the next: one in two clocks, since such tiles pass twice.
        # Where its place is occupied, samples are compared in that clock.
        looked_up = Signal()
        compared = Signal()
        m.d.sync += [
            looked_up.eq(self.offered & ~self.accept),
            compared.eq(looked_up & self.offered & ~self.accept),
        ]
        blocked = named(m, occupied & (~compared | overlaps), "blocked")
        reads = self.is_held & (self.tests | self.is_replacement)
        hazard = named(m, reads & (~looked_up | blocked), "hazard")
        m.d.comb += self.stall.eq(self.late_draw & (~credit.available | hazard))
        return m

    def _free_places(self, m, held):
        """A place is free when the tile has come back that has entered last."""
        m.submodules.last = last = Memory(shape=range(self._most), depth=self._places, init=[])
        write = last.write_port()
        read = last.read_port(transparent_for=(write,))
        number = Signal(range(self._most))
        returning = Signal(range(self._most))
        returned = Signal()
        returned_place = Signal.like(self.back_place)
        m.d.comb += [
            write.en.eq(held),
            write.addr.eq(self.place),
            write.data.eq(number),
            read.addr.eq(self.back_place),
        ]
        m.d.sync += [
            number.eq(number + held),
            returning.eq(returning + returned),
            returned.eq(self.back & self.back_held),
            returned_place.eq(self.back_place),
        ]
        sets = Signal(self._places)
        clears = Signal(self._places)
        m.d.comb += [
            sets.bit_select(self.departed_place, 1).eq(self.departed),
            clears.bit_select(returned_place, 1).eq(returned & (read.data == returning)),
        ]
        m.d.sync += self.pending.eq((self.pending & ~clears) | sets)

    def _compare_samples(self, m, held, occupied):
        """Whether the tile that is offered must wait, where its place is occupied."""
        m.submodules.masks = masks = Memory(shape=len(self.mask), depth=self._places, init=[])
        write = masks.write_port()
        read = masks.read_port(transparent_for=(write,))
        m.d.comb += [
            read.addr.eq(self.place),
            write.en.eq(held),
            write.addr.eq(self.place),
            write.data.eq(self.mask | Mux(occupied, read.data, 0)),
        ]
        overlaps = Signal()
        m.d.sync += overlaps.eq(self.is_replacement | (read.data & self.mask).any())
        return overlaps

    def is_occupied(self, place: Value) -> Value:
        """Whether a tile of a place is out that holds it."""
        departed = self.departed & (self.departed_place == place)
        return self.pending.bit_select(place, 1) | departed
