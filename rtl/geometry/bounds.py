# SPDX-License-Identifier: BSD-2-Clause
"""Bounds of a triangle: the box of pixels that may hold a covered sample, and its depths."""

from amaranth.hdl import Array, Cat, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.geometry.block_depths import VERTEX_DEPTH
from fixfunc.rtl.lib.bits import clamp, maximum, minimum
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.samples import OUTER, REACH
from fixfunc.spec import payloads

PIXEL = signed(18)
CUT = 16  # bits of a pixel that is not before the scissor
MOST = (1 << 24) - 1  # units that a bound of depths tells apart


class Bounds(wiring.Component):
    """Box and depth bounds of one triangle per clock.

    Clocks are counted from the triangle at the input.

    Parameters
    ----------
    conservative : bool
        Triangles may cover all pixels of which they have a point.

    Members
    -------
    triangle : In(layout(TRIANGLE))
        Snapped vertices.
    z : In(ArrayLayout(signed(40), 3))
        Depths of the vertices, s31.8 units, :attr:`DEPTH` - 3 clocks later.
    new_state : In(1)
        ``draw_state`` holds for the triangles behind it.
    draw_state : In(layout(DRAW_STATE))
        A draw state in the place of a triangle.
    samples : In(2)
        log2 of the samples of a pixel, in clock 1.
    conservative : In(1)
        The box holds all pixels of which the triangle may have a point, in clock 1.
    x0, y0, x1, y1 : Out(14)
        The box in pixels, both ends inclusive, in clock :attr:`BOX`.
    empty : Out(1)
        The box holds no pixel; in the clock after the box.
    zmin, zmax : Out(24)
        Units, rounded outwards and cut to 24 bits, in clock :attr:`DEPTH`.
    """

    BOX = 4
    DEPTH = 7

    triangle: In(layout(payloads.TRIANGLE))
    z: In(ArrayLayout(VERTEX_DEPTH, 3))
    new_state: In(1)
    draw_state: In(layout(payloads.DRAW_STATE))
    samples: In(2)
    conservative: In(1)
    x0: Out(14)
    y0: Out(14)
    x1: Out(14)
    y1: Out(14)
    empty: Out(1)
    zmin: Out(24)
    zmax: Out(24)

    def __init__(self, conservative: bool = True) -> None:
        self._conservative = conservative
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        vertices = {axis: [self.triangle[f"{axis}{k}"] for k in range(3)] for axis in "xy"}
        t.enter(0, x2=vertices["x"][2], y2=vertices["y"][2])
        t.enter(self.DEPTH - 3, z2=self.z[2])

        # Clock 2: minimum and maximum of three, two at a time.
        x_low, x_high = self._bounds(m, "x", *vertices["x"][:2], t[1].x2)
        y_low, y_high = self._bounds(m, "y", *vertices["y"][:2], t[1].y2)
        z_low, z_high = self._bounds(m, "z", self.z[0], self.z[1], t[self.DEPTH - 2].z2)
        m.d.sync += [
            self.zmin.eq(clamp(z_low >> 8, 0, MOST)),
            self.zmax.eq(clamp((z_high + 255) >> 8, 0, MOST)),
        ]

        # Clock 3: pixels with a sample position at or beyond the low end and short of the high end,
        # or such whose squares, grown, meet both. Clock 4: the same, cut.
        before, behind = self._distances(m)
        empty = []
        for axis, low, high, box_first, box_last in (
            ("x", x_low, x_high, self.x0, self.x1),
            ("y", y_low, y_high, self.y0, self.y1),
        ):
            first = Signal(PIXEL, name=f"{axis}_first")
            last = Signal(PIXEL, name=f"{axis}_last")
            cut_first, cut_last = self._cut(m, t, axis)
            cut_box_first = Signal(CUT, name=f"{axis}_box_first")
            cut_box_last = Signal(PIXEL, name=f"{axis}_box_last")
            m.d.sync += [
                first.eq((low + before) >> 8),
                last.eq((high + behind) >> 8),
                cut_box_first.eq(maximum(first, cut_first)),
                cut_box_last.eq(minimum(last, cut_last)),
            ]
            m.d.comb += [
                box_first.eq(cut_box_first),
                box_last.eq(cut_box_last),
            ]
            empty.append(cut_box_first > cut_box_last)
        m.d.sync += self.empty.eq(Cat(empty).any())
        return m

    def _distances(self, m):
        """What is added to the least and to the greatest place, so that a floor has the first and
        the last pixel."""
        before = Signal(signed(8))
        behind = Signal(signed(9))
        reach = Array([16 * sixteenths for sixteenths in REACH])[self.samples]
        m.d.sync += [
            before.eq(127 - reach),
            behind.eq(reach - 129),
        ]
        if self._conservative:
            with m.If(self.conservative):
                m.d.sync += [
                    before.eq(127 - OUTER),
                    behind.eq(OUTER - 128),
                ]
        return before, behind

    def _bounds(self, m, axis, first, second, third):
        """Minimum and maximum of a coordinate, two clocks later; the third comes a clock later."""
        bounds = []
        for name, choice in (("low", minimum), ("high", maximum)):
            pair = Signal.like(first, name=f"{axis}_{name}_2")
            all_three = Signal.like(first, name=f"{axis}_{name}_3")
            m.d.sync += [
                pair.eq(choice(first, second)),
                all_three.eq(choice(pair, third)),
            ]
            bounds.append(all_three)
        return bounds

    def _cut(self, m, t, axis):
        """First and last pixel of an axis that may be drawn.

        They change three clocks behind a draw state, when the box of the triangle behind it is cut.
        """
        state = self.draw_state
        size = state.target_width if axis == "x" else state.target_height
        t.enter(0, **{f"{axis}_size": size, f"{axis}_load": self.new_state})
        load = t.value(f"{axis}_load", 2)
        # The scissor begins at the target's first pixel or behind it.
        view_first = Signal(CUT, name=f"{axis}_view_first")
        view_end = Signal(PIXEL, name=f"{axis}_view_end")
        target_first = Signal(CUT, name=f"{axis}_target_first")
        target_last = Signal(PIXEL, name=f"{axis}_target_last")
        m.d.sync += [
            view_first.eq(maximum(state[f"viewport_{axis}0"], state[f"scissor_{axis}0"])),
            view_end.eq(minimum(state[f"viewport_{axis}1"], state[f"scissor_{axis}1"])),
            target_first.eq(view_first),
            target_last.eq(minimum(view_end, t.value(f"{axis}_size", 1)) - 1),
        ]
        first = Signal(CUT, name=f"{axis}_cut_first")
        last = Signal(PIXEL, name=f"{axis}_cut_last", init=-1)
        with m.If(load):
            m.d.sync += [
                first.eq(target_first),
                last.eq(target_last),
            ]
        return first, last
