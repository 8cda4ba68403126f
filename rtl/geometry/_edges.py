# SPDX-License-Identifier: BSD-2-Clause
"""Edge functions of a triangle, at the first tile of its box."""

from amaranth.hdl import Array, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.arithmetic import Multiplier
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import delay
from fixfunc.rtl.samples import REACH, SHAPES
from fixfunc.spec import payloads

STEP = signed(payloads.EDGE_STEP)
VALUE = signed(50)  # a sum of two products of steps


class Edges(wiring.Component):
    """Steps, biased value and reach of the three edges of one triangle per clock.

    Parameters
    ----------
    params : TriangleSetupParams

    Members
    -------
    triangle : In(layout(TRIANGLE))
    samples : In(2)
        One clock behind the triangle.
    x, y : In(14)
        :attr:`BOX` clocks behind the triangle: first pixel of its box.
    u, v : Out
        One clock behind: vertex 1 and vertex 2 less vertex 0, as [x, y].
    from_0 : Out
        :attr:`ORIGIN` clocks behind: centre of the first tile's first pixel less vertex 0, as [x, y].
    zero, flip, area : Out
        :attr:`AREA` clocks behind: no area; counter-clockwise on the screen; twice the area, unsigned.
    a, b, reach, c : Out
        :attr:`LATENCY` clocks behind: as in :data:`fixfunc.spec.payloads.SETUP`.
    """

    BOX, ORIGIN, AREA, LATENCY = 4, 5, 7, 15

    def __init__(self, params):
        self._params = params
        pair, steps = ArrayLayout(STEP, 2), ArrayLayout(STEP, 3)
        super().__init__({
            "triangle": In(layout(payloads.TRIANGLE)), "samples": In(2), "x": In(14), "y": In(14),
            "u": Out(pair), "v": Out(pair), "from_0": Out(pair),
            "zero": Out(1), "flip": Out(1), "area": Out(49),
            "a": Out(steps), "b": Out(steps), "reach": Out(ArrayLayout(32, 3)), "c": Out(ArrayLayout(signed(47), 3)),
        })

    def elaborate(self, platform):
        m = Module()
        t = self.triangle
        samples = {clock: delay(m, self.samples, clock - 1, f"samples_{clock}") for clock in (4, 8, 14)}

        # Sides: u from vertex 0 to 1, v from 0 to 2, w from 1 to 2.
        w = Signal.like(self.u, name="w")
        for n, axis in enumerate("xy"):
            first, second, third = (t[f"{axis}{k}"] for k in range(3))
            m.d.sync += [self.u[n].eq(second - first), self.v[n].eq(third - first), w[n].eq(third - second)]

        # Twice the signed area; its sign is the winding.
        area = self._cross(m, "area", self.u, self.v)  # clock 6
        m.d.sync += [self.zero.eq(area == 0), self.flip.eq(area < 0), self.area.eq(Mux(area < 0, -area, area))]

        # E of the first two edges where the first tile begins; the three of them add up to the area.
        from_1 = Signal.like(self.from_0, name="from_1")
        for n, axis in enumerate("xy"):
            shift = Array([self._params.edge.bit_length() - 1 - s[n] for s in SHAPES])[samples[4]]
            centre = Signal(signed(24), name=f"{axis}_origin")
            m.d.comb += centre.eq((((self.x, self.y)[n] >> shift << shift) << 8) | 128)
            for k, start in enumerate((self.from_0, from_1)):
                m.d.sync += start[n].eq(centre - delay(m, t[f"{axis}{k}"], 4, f"{axis}{k}"))
        e0 = self._cross(m, "e0", delay(m, self.u, 4, "u"), self.from_0)  # clock 10
        e1 = self._cross(m, "e1", delay(m, w, 4, "w"), from_1)
        both, e2 = Signal(VALUE), Signal(VALUE)
        m.d.sync += [both.eq(e0 + e1), e2.eq(delay(m, area, 5, "area_late") - both)]
        values = [delay(m, e0, 2, "e0"), delay(m, e1, 2, "e1"), e2]  # clock 12

        # Everything is turned so that the inside is positive.
        sides = [(-self.u[1], self.u[0]), (-w[1], w[0]), (self.v[1], -self.v[0])]
        for k, (side, value) in enumerate(zip(sides, values, strict=True)):
            self._turn(m, k, side, value, samples)
        return m

    def _cross(self, m, name, p, q):
        """p[0] * q[1] - p[1] * q[0], :attr:`Multiplier.latency` + 1 = 5 clocks later."""
        products = []
        for n in range(2):
            m.submodules[f"{name}_{n}"] = product = Multiplier(payloads.EDGE_STEP, payloads.EDGE_STEP)
            m.d.comb += [product.a.eq(p[n]), product.b.eq(q[1 - n])]
            products.append(product.o)
        cross = Signal(VALUE, name=name)
        m.d.sync += cross.eq(products[0] - products[1])
        return cross

    def _turn(self, m, k, side, value, samples):
        """Steps and value of edge k with the inside positive, its fill rule, and how far its reject corner lies."""
        steps, products = [], []
        for n, step in enumerate(side):
            name = f"{'ab'[n]}{k}"
            held, turned, size = Signal(STEP, name=f"{name}_side"), Signal(STEP, name=name), Signal(signed(26), name=f"{name}_size")
            m.d.sync += held.eq(step)  # clock 2
            held = delay(m, held, 5, f"{name}_side")
            m.d.sync += turned.eq(Mux(self.flip, -held, held))  # clock 8
            m.d.sync += size.eq(Mux(turned < 0, -turned, turned))  # clock 9
            far = Array([Const(16 * ((self._params.edge >> s[n]) - 1) + o, 8) for s, o in zip(SHAPES, REACH, strict=True)])
            distance = Signal(signed(8), name=f"{name}_distance")
            m.d.sync += distance.eq(Mux(turned > 0, far[samples[8]], Array(REACH)[samples[8]]))
            m.submodules[f"reach_{name}"] = product = Multiplier(26, 8)
            m.d.comb += [product.a.eq(delay(m, size, 1, f"{name}_far")), product.b.eq(delay(m, distance, 1, f"{name}_far_by"))]
            steps.append(turned), products.append(product.o)  # clock 13
        reach = Signal(32, name=f"reach_{k}")
        m.d.sync += reach.eq(products[0] + products[1])  # clock 14

        # An edge that is neither top nor left excludes its own samples: E - 1, and the low four bits never count.
        a, b = steps
        excluded = Signal(name=f"excluded_{k}")
        m.d.sync += excluded.eq(~((a > 0) | ((a == 0) & (b > 0))))  # clock 9
        turned, biased = Signal(VALUE, name=f"turned_{k}"), Signal(signed(46), name=f"biased_{k}")
        m.d.sync += turned.eq(Mux(delay(m, self.flip, 5, f"flip_{k}"), -value, value))  # clock 13
        m.d.sync += biased.eq((turned - delay(m, excluded, 4, f"excluded_{k}")) >> 4)  # clock 14
        corner = biased + reach
        aspect = Array([s[1] for s in SHAPES])[samples[14]]
        m.d.sync += self.c[k].eq(corner << aspect)  # clock 15
        m.d.comb += [self.a[k].eq(delay(m, a, 7, f"a{k}")), self.b[k].eq(delay(m, b, 7, f"b{k}"))]
        m.d.comb += self.reach[k].eq(delay(m, reach, 1, f"reach_out_{k}"))
