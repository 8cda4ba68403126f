# SPDX-License-Identifier: BSD-2-Clause
"""Depth plane of a triangle."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.geometry.edges import STEP, Edges
from fixfunc.rtl.lib.arithmetic import Divider, Multiplier
from fixfunc.rtl.lib.delay import DelayLine, register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads

SLOPE = 48  # bits of s23.24
FRACTION = 24


class Plane(wiring.Component):
    """Slopes and start of the depth plane of one triangle per clock.

    A slope is a quotient of two determinants. Half its range is added before the division, so that
    the divider works on unsigned numbers and its overflow is the slope's. A plane with a slope that
    does not fit is flat. Clocks are counted from the triangle at the input.

    Members
    -------
    triangle : In(layout(TRIANGLE))
        Snapped vertices.
    side_01, side_02, origin_0, ccw, area : In
        The outputs of :class:`~fixfunc.rtl.geometry.edges.Edges`, in the clocks noted there.
    z : Out(48)
        u24.24 modulo 2^24, at the centre of the first tile's first pixel, in clock :attr:`LATENCY`.
    slope : Out(ArrayLayout(signed(SLOPE), 2))
        s23.24 a pixel, as [x, y], in clock :attr:`LATENCY`.
    """

    LATENCY = 67

    def __init__(self):
        pair = ArrayLayout(STEP, 2)
        super().__init__(
            {
                "triangle": In(layout(payloads.TRIANGLE)),
                "side_01": In(pair),
                "side_02": In(pair),
                "origin_0": In(pair),
                "ccw": In(1),
                "area": In(49),
                "z": Out(48),
                "slope": Out(ArrayLayout(signed(SLOPE), 2)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(Edges.AREA, area=self.area)
        z0, z1, z2 = (self.triangle[f"z{k}"] for k in range(3))
        dz1 = register(m, z1 - z0, signed(33), "dz1")
        dz2 = register(m, z2 - z0, signed(33), "dz2")

        # Clock 6: determinants of depths and sides. Clock 58: their quotients by the area.
        x_determinant = self._determinant(m, "x", (dz1, self.side_02[1]), (dz2, self.side_01[1]))
        y_determinant = self._determinant(m, "y", (dz2, self.side_01[0]), (dz1, self.side_02[0]))
        x_quotient, x_fits = self._divide(m, t, "x", x_determinant)
        y_quotient, y_fits = self._divide(m, t, "y", y_determinant)
        t.enter(58, x_quotient=x_quotient, y_quotient=y_quotient)

        # Clock 59: dx and dy round to s23.8, where a quotient too close to the top does not fit.
        steep = Signal()
        m.d.sync += steep.eq(
            x_quotient[FRACTION - 9 :].all() | y_quotient[FRACTION - 9 :].all() | ~x_fits | ~y_fits
        )

        # Clock 60: slopes; the half of the range that was added is taken away again.
        slopes = []
        for n, (axis, quotient) in enumerate((("x", t[59].x_quotient), ("y", t[59].y_quotient))):
            slope = Signal(signed(SLOPE), name=f"slope_{axis}")
            m.d.sync += slope.eq(Mux(steep, 0, Cat(quotient[:-1], ~quotient[-1])))
            t.enter(60, **{f"slope_{axis}": slope})
            m.d.comb += self.slope[n].eq(t.value(f"slope_{axis}", self.LATENCY))
            slopes.append(slope)
        self._start(m, slopes)
        return m

    def _start(self, m, slopes):
        """Depth at the first tile, from that at vertex 0, modulo 2^24 units of D24.

        Vertex 0's depth and its distance wait for the slopes in block RAM.
        """
        m.submodules.origin_line = origin_line = DelayLine(
            2 * payloads.EDGE_STEP, 60 - Edges.ORIGIN
        )
        m.submodules.z0_line = z0_line = DelayLine(32, 66)
        m.d.comb += [
            origin_line.i.eq(self.origin_0),
            z0_line.i.eq(self.triangle.z0),
        ]
        products = []
        for n in range(2):
            m.submodules[f"multiplier_{'xy'[n]}"] = multiplier = Multiplier(
                SLOPE, payloads.EDGE_STEP, 56
            )
            m.d.comb += [
                multiplier.a.eq(slopes[n]),
                multiplier.b.eq(origin_line.o.word_select(n, payloads.EDGE_STEP)),
            ]
            products.append(multiplier.o)  # clock 65
        difference = Signal(56)
        start = Signal(56)
        m.d.sync += [
            difference.eq(products[0] + products[1]),
            start.eq(difference + (z0_line.o << FRACTION)),
        ]
        m.d.comb += self.z.eq(start[8:])

    @staticmethod
    def _determinant(m, axis, *factors):
        """p * q - r * s, for factors (p, q), (r, s), five clocks later: multipliers, difference."""
        products = []
        for n, (depth, side) in enumerate(factors):
            m.submodules[f"{axis}_product_{n}"] = multiplier = Multiplier(33, payloads.EDGE_STEP)
            m.d.comb += [
                multiplier.a.eq(depth),
                multiplier.b.eq(side),
            ]
            products.append(multiplier.o)
        return register(m, products[0] - products[1], signed(59), f"{axis}_determinant")

    def _divide(self, m, t, axis, determinant):
        """floor(2^24 * determinant / area) + 2^47, in clock 58; whether it lies in 0..2^48 - 1.

        Both determinant and area get the sign of the winding.
        """
        t.enter(6, **{f"{axis}_determinant": determinant})
        determinant = t.value(f"{axis}_determinant", 7)
        numerator = Signal(signed(59), name=f"{axis}_numerator")
        dividend = Signal(signed(74), name=f"{axis}_dividend")
        fits = Signal(name=f"{axis}_fits")
        m.d.sync += [
            numerator.eq(Mux(self.ccw, -determinant, determinant)),
            dividend.eq(numerator + (t[8].area << FRACTION - 1)),
            fits.eq(~dividend[-1] & (dividend[FRACTION:-1] < t[9].area)),
        ]
        t.enter(9, **{f"{axis}_dividend": dividend})
        t.enter(10, **{f"{axis}_fits": fits})
        dividend = t.value(f"{axis}_dividend", 10)
        m.submodules[f"divide_{axis}"] = divide = Divider(49, FRACTION, SLOPE)
        m.d.comb += [
            divide.high.eq(dividend[FRACTION:]),
            divide.low.eq(dividend[:FRACTION]),
            divide.divisor.eq(t[10].area),
        ]
        return divide.o, t.value(f"{axis}_fits", 10 + divide.latency)
