# SPDX-License-Identifier: BSD-2-Clause
"""Edge functions of a triangle, at the first tile of its box."""

from amaranth.hdl import Array, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic import Multiplier
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.samples import REACH, SHAPES
from fixfunc.spec import payloads

STEP = signed(payloads.EDGE_STEP)
VALUE = signed(50)  # a sum of two products of steps


class Edges(wiring.Component):
    """Steps, biased value and reach of the three edges of one triangle per clock.

    Edge k runs from vertex k to vertex k + 1. Clocks are counted from the triangle at the input.

    Parameters
    ----------
    params : TriangleSetupParams

    Members
    -------
    triangle : In(layout(TRIANGLE))
        Snapped vertices.
    samples : In(2)
        log2 of the samples of a pixel, in clock 1.
    x, y : In(14)
        First pixel of the box, in clock :attr:`BOX`.
    side_01, side_02 : Out(ArrayLayout(STEP, 2))
        Vertex 1 and vertex 2 less vertex 0, as [x, y], in clock 1.
    origin_0 : Out(ArrayLayout(STEP, 2))
        Centre of the first tile's first pixel less vertex 0, as [x, y], in clock :attr:`ORIGIN`.
    zero_area : Out(1)
        The triangle has no area; in clock :attr:`AREA`.
    ccw : Out(1)
        The triangle is counter-clockwise on the screen; in clock :attr:`AREA`.
    area : Out(49)
        Twice the area, unsigned, in clock :attr:`AREA`.
    a, b, reach, c : Out(ArrayLayout(..., 3))
        The edges, as in :data:`fixfunc.spec.payloads.SETUP`, in clock :attr:`LATENCY`.
    """

    BOX = 4
    ORIGIN = 5
    AREA = 7
    LATENCY = 15

    def __init__(self, params):
        self._params = params
        pair = ArrayLayout(STEP, 2)
        steps = ArrayLayout(STEP, 3)
        super().__init__(
            {
                "triangle": In(layout(payloads.TRIANGLE)),
                "samples": In(2),
                "x": In(14),
                "y": In(14),
                "side_01": Out(pair),
                "side_02": Out(pair),
                "origin_0": Out(pair),
                "zero_area": Out(1),
                "ccw": Out(1),
                "area": Out(49),
                "a": Out(steps),
                "b": Out(steps),
                "reach": Out(ArrayLayout(32, 3)),
                "c": Out(ArrayLayout(signed(47), 3)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        vertices = self.triangle
        t.enter(0, **{f"{axis}{k}": vertices[f"{axis}{k}"] for axis in "xy" for k in (0, 1)})
        t.enter(1, samples=self.samples)

        # Clock 1: the sides.
        side_12 = Signal.like(self.side_01, name="side_12")
        for n, axis in enumerate("xy"):
            m.d.sync += [
                self.side_01[n].eq(vertices[f"{axis}1"] - vertices[f"{axis}0"]),
                self.side_02[n].eq(vertices[f"{axis}2"] - vertices[f"{axis}0"]),
                side_12[n].eq(vertices[f"{axis}2"] - vertices[f"{axis}1"]),
            ]
        t.enter(1, side_01=self.side_01, side_12=side_12)

        # Clock 6: twice the signed area, whose sign is the winding.
        signed_area = self._cross_product(m, "signed_area", self.side_01, self.side_02)
        m.d.sync += [
            self.zero_area.eq(signed_area == 0),
            self.ccw.eq(signed_area < 0),
            self.area.eq(Mux(signed_area < 0, -signed_area, signed_area)),
        ]
        t.enter(6, signed_area=signed_area)
        t.enter(self.AREA, ccw=self.ccw)

        # Clock 10: E of two edges where the first tile begins. Clock 12: E of the third. The three
        # add up to the area, which saves the third edge its products.
        origin_1 = self._origins(m, t)
        value_0 = self._cross_product(m, "value_0", t[self.ORIGIN].side_01, self.origin_0)
        value_1 = self._cross_product(m, "value_1", t[self.ORIGIN].side_12, origin_1)
        value_01 = Signal(VALUE)
        value_2 = Signal(VALUE)
        m.d.sync += [
            value_01.eq(value_0 + value_1),
            value_2.eq(t[11].signed_area - value_01),
        ]
        t.enter(10, value_0=value_0, value_1=value_1)
        t.enter(12, value_2=value_2)

        # Clock 15: all of it with the inside positive.
        sides = [
            (-self.side_01[1], self.side_01[0]),
            (-side_12[1], side_12[0]),
            (self.side_02[1], -self.side_02[0]),
        ]
        for k, side in enumerate(sides):
            reach = self._orient_steps(m, t, k, side)
            self._orient_value(m, t, k, reach)
        return m

    def _origins(self, m, t):
        """Centre of the first tile's first pixel less vertices 0 and 1: the latter."""
        origin_1 = Signal.like(self.origin_0, name="origin_1")
        tile_log2 = self._params.edge.bit_length() - 1
        for n, (axis, first) in enumerate((("x", self.x), ("y", self.y))):
            pixels_log2 = Array([tile_log2 - shape[n] for shape in SHAPES])[t[self.BOX].samples]
            centre = Signal(signed(24), name=f"{axis}_centre")
            m.d.comb += centre.eq(((first >> pixels_log2 << pixels_log2) << 8) | 128)
            for k, origin in enumerate((self.origin_0, origin_1)):
                m.d.sync += origin[n].eq(centre - t.value(f"{axis}{k}", self.BOX))
        return origin_1

    @staticmethod
    def _cross_product(m, name, p, q):
        """p[0] * q[1] - p[1] * q[0], five clocks later: multipliers, difference."""
        products = []
        for n in range(2):
            m.submodules[f"{name}_{n}"] = multiplier = Multiplier(
                payloads.EDGE_STEP, payloads.EDGE_STEP
            )
            m.d.comb += [
                multiplier.a.eq(p[n]),
                multiplier.b.eq(q[1 - n]),
            ]
            products.append(multiplier.o)
        return register(m, products[0] - products[1], VALUE, name)

    def _orient_steps(self, m, t, k, side):
        """Steps of edge k with the inside positive; its reach, in clock 14.

        The reach is what E gains from the first pixel's centre to the tile's reject corner: of each
        axis the distance to the farthest or to the nearest sample, by the sign of the step.
        """
        pixels = self._params.edge
        products = []
        for n, axis_step in enumerate(side):
            name = f"{'ab'[n]}{k}"
            t.enter(2, **{f"{name}_side": register(m, axis_step, STEP, f"{name}_side")})
            side_7 = t.value(f"{name}_side", 7)
            step = Signal(STEP, name=name)
            size = Signal(signed(26), name=f"{name}_size")
            distance = Signal(signed(8), name=f"{name}_distance")
            farthest = Array(
                [
                    Const(16 * ((pixels >> shape[n]) - 1) + reach, 8)
                    for shape, reach in zip(SHAPES, REACH, strict=True)
                ]
            )
            m.d.sync += [
                step.eq(Mux(t[7].ccw, -side_7, side_7)),
                size.eq(Mux(step < 0, -step, step)),
                distance.eq(Mux(step > 0, farthest[t[8].samples], Array(REACH)[t[8].samples])),
            ]
            t.enter(8, **{name: step})
            t.enter(9, **{f"{name}_size": size, f"{name}_distance": distance})
            m.submodules[f"reach_{name}"] = multiplier = Multiplier(26, 8)
            m.d.comb += [
                multiplier.a.eq(t.value(f"{name}_size", 10)),
                multiplier.b.eq(t.value(f"{name}_distance", 10)),
            ]
            products.append(multiplier.o)
        m.d.comb += [
            self.a[k].eq(t.value(f"a{k}", self.LATENCY)),
            self.b[k].eq(t.value(f"b{k}", self.LATENCY)),
        ]
        reach = register(m, products[0] + products[1], 32, f"reach_{k}")
        t.enter(14, **{f"reach_{k}": reach})
        m.d.comb += self.reach[k].eq(t.value(f"reach_{k}", self.LATENCY))
        return reach

    def _orient_value(self, m, t, k, reach):
        """E of edge k with the inside positive and its fill rule, at the reject corner.

        An edge that is neither top nor left excludes its own samples: E - 1. The low four bits
        never change a sign.
        """
        a = t.value(f"a{k}", 8)
        b = t.value(f"b{k}", 8)
        value = t.value(f"value_{k}", 12)
        excluded = Signal(name=f"excluded_{k}")
        m.d.sync += excluded.eq(~((a > 0) | ((a == 0) & (b > 0))))
        t.enter(9, **{f"excluded_{k}": excluded})
        oriented = register(m, Mux(t[12].ccw, -value, value), VALUE, f"oriented_{k}")
        biased = register(
            m, (oriented - t.value(f"excluded_{k}", 13)) >> 4, signed(46), f"biased_{k}"
        )
        aspect = Array([shape[1] for shape in SHAPES])[t[14].samples]
        m.d.sync += self.c[k].eq((biased + reach) << aspect)
