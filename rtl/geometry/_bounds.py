# SPDX-License-Identifier: BSD-2-Clause
"""Bounds of a triangle: the box of pixels that may hold a covered sample, and the depths of its vertices."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import delay
from fixfunc.rtl.samples import REACH
from fixfunc.spec import payloads

PIXEL = signed(18)


def least(a, b):
    return Mux(a < b, a, b)


def greatest(a, b):
    return Mux(a < b, b, a)


class Bounds(wiring.Component):
    """Box of one triangle per clock.

    Members
    -------
    triangle : In(layout(TRIANGLE))
    new_state : In(1)
        ``draw_state`` holds for the triangles behind it.
    draw_state : In(layout(DRAW_STATE))
    samples : In(2)
        Of the triangle before the last clock.
    x0, y0, x1, y1 : Out(14)
        :attr:`BOX` clocks behind the triangle: pixels, both ends inclusive.
    empty : Out(1)
        One clock later: the box holds nothing.
    zmin, zmax : Out(24)
        :attr:`DEPTH` clocks behind the triangle: D24, rounded outwards.
    """

    BOX, DEPTH = 4, 3

    triangle: In(layout(payloads.TRIANGLE))
    new_state: In(1)
    draw_state: In(layout(payloads.DRAW_STATE))
    samples: In(2)
    x0: Out(14)
    y0: Out(14)
    x1: Out(14)
    y1: Out(14)
    empty: Out(1)
    zmin: Out(24)
    zmax: Out(24)

    def elaborate(self, platform):
        m = Module()

        # Least and greatest of three, two at a time.
        ends = {}
        for axis, shape in (("x", signed(24)), ("y", signed(24)), ("z", 32)):
            first, second, third = (self.triangle[f"{axis}{k}"] for k in range(3))
            third = delay(m, third, 1, f"{axis}_third")
            for name, choose in (("low", least), ("high", greatest)):
                pair, all_three = (Signal(shape, name=f"{axis}_{name}_{n}") for n in (2, 3))
                m.d.sync += [pair.eq(choose(first, second)), all_three.eq(choose(pair, third))]
                ends[axis, name] = all_three
        m.d.sync += [self.zmin.eq(ends["z", "low"] >> 8), self.zmax.eq((ends["z", "high"] + 255) >> 8)]

        # Pixels with a sample position at or beyond the low end and short of the high end; then cut.
        cut = self._cut(m)
        reach = Signal(7)
        m.d.sync += reach.eq(Array([16 * reach_16 for reach_16 in REACH])[self.samples])
        empty = []
        for axis in "xy":
            first, last = Signal(PIXEL, name=f"{axis}_first"), Signal(PIXEL, name=f"{axis}_last")
            m.d.sync += first.eq((ends[axis, "low"] + 127 - reach) >> 8)
            m.d.sync += last.eq((ends[axis, "high"] + (127 - 256) + reach) >> 8)
            low, high = Signal(PIXEL, name=f"{axis}_low"), Signal(PIXEL, name=f"{axis}_high")
            m.d.sync += [low.eq(greatest(first, cut[axis, 0])), high.eq(least(last, cut[axis, 1]))]
            m.d.comb += [self[f"{axis}0"].eq(low), self[f"{axis}1"].eq(high)]
            empty.append(low > high)
        m.d.sync += self.empty.eq(Cat(empty).any())
        return m

    def __getitem__(self, name):
        return getattr(self, name)

    def _cut(self, m):
        """First and last pixel of each axis that may be drawn: seen three clocks behind the state, as its box is."""
        cut = {}
        load = delay(m, self.new_state, 2, "load")
        for axis, size in (("x", "width"), ("y", "height")):
            s = self.draw_state
            low, high = Signal(PIXEL, name=f"{axis}_view_low"), Signal(PIXEL, name=f"{axis}_view_high")
            low_in, high_in = Signal(PIXEL, name=f"{axis}_target_low"), Signal(PIXEL, name=f"{axis}_target_high")
            end = delay(m, s[f"target_{size}"], 1, f"{axis}_end")
            m.d.sync += [
                low.eq(greatest(s[f"viewport_{axis}0"], s[f"scissor_{axis}0"])),
                high.eq(least(s[f"viewport_{axis}1"], s[f"scissor_{axis}1"])),
                low_in.eq(greatest(low, 0)),
                high_in.eq(least(high, end) - 1),
            ]
            cut[axis, 0], cut[axis, 1] = Signal(PIXEL, name=f"{axis}_cut_low"), Signal(PIXEL, name=f"{axis}_cut_high", init=-1)
            with m.If(load):
                m.d.sync += [cut[axis, 0].eq(low_in), cut[axis, 1].eq(high_in)]
        return cut
