# SPDX-License-Identifier: BSD-2-Clause
"""Tiles that are out for shading before they are written."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.pipeline import Credit

APART = 16  # tiles so many rows and columns apart wait for one another


class OutForShading(wiring.Component):
    """Keeps an early test from what a late write has yet to change, and counts what is out.

    Parameters
    ----------
    most : int
        Tiles out at once.
    position : int
        Bits of a tile's place.

    Members
    -------
    late, tests : In(1)
        Writes of the draw come after shading; it tests before as well.
    offers, x, y : In
        A tile is offered.
    waits : Out(1)
        A tile of its place is out, or too many are, or it is not yet known.
    enters : In(1)
        It enters.
    back, back_x, back_y : In
        A tile has come back, and enters.
    none : Out(1)
        All have come back.
    """

    def __init__(self, most, position):
        self._most = most
        super().__init__({
            "late": In(1), "tests": In(1), "offers": In(1), "x": In(position), "y": In(position), "waits": Out(1), "enters": In(1),
            "back": In(1), "back_x": In(position), "back_y": In(position), "none": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.credit = credit = Credit(self._most)
        bits = (APART - 1).bit_length()
        place, back = Cat(self.x[:bits], self.y[:bits]), Cat(self.back_x[:bits], self.back_y[:bits])
        out, begins, ends = (Signal(APART**2, name=name) for name in ("out", "begins", "ends"))
        leaves = self.enters & self.late
        m.d.comb += [credit.take.eq(leaves), credit.free.eq(self.back), self.none.eq(credit.all)]

        # One of so many places is a long way: what has just begun, or ended, is there a clock later.
        left, left_place, came, came_place = Signal(), Signal.like(place), Signal(), Signal.like(back)
        m.d.sync += [left.eq(leaves & self.tests), left_place.eq(place), came.eq(self.back), came_place.eq(back)]
        m.d.comb += [begins.bit_select(left_place, 1).eq(left), ends.bit_select(came_place, 1).eq(came)]
        m.d.sync += out.eq((out | begins) & ~ends)

        # So is what a tile has to wait for: it is looked up in the first clock in which it is offered. Such tiles pass
        # twice, so that one in two clocks is all that can enter.
        looked, found = Signal(), Signal()
        m.d.sync += [looked.eq(self.offers & ~self.enters), found.eq(out.bit_select(place, 1) | (left & (left_place == place)))]
        m.d.comb += self.waits.eq(self.late & (~credit.any | (self.tests & (~looked | found))))
        return m
