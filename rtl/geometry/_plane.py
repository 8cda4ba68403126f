# SPDX-License-Identifier: BSD-2-Clause
"""Depth plane of a triangle."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.arithmetic import Divider, Multiplier
from fixfunc.rtl.geometry._edges import STEP, Edges
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import DelayLine, delay
from fixfunc.spec import payloads

SLOPE = 48  # bits of s23.24
FRACTION = 24


class Plane(wiring.Component):
    """Slopes and start of the depth plane of one triangle per clock.

    A slope is a quotient of two determinants; half its range is added before the division, so that the divider
    works on unsigned numbers and its overflow is the slope's. A plane with a slope that does not fit is flat.

    Members
    -------
    triangle : In(layout(TRIANGLE))
    u, v, from_0, flip, area : In
        From :class:`~fixfunc.rtl.geometry._edges.Edges`, at the clocks noted there.
    z : Out(48)
        :attr:`LATENCY` clocks behind the triangle: u24.24 modulo 2^24, at the centre of the first tile's first pixel.
    slope : Out
        s23.24 a pixel, as [x, y].
    """

    LATENCY = 67

    def __init__(self):
        pair = ArrayLayout(STEP, 2)
        super().__init__({
            "triangle": In(layout(payloads.TRIANGLE)), "u": In(pair), "v": In(pair), "from_0": In(pair),
            "flip": In(1), "area": In(49),
            "z": Out(48), "slope": Out(ArrayLayout(signed(SLOPE), 2)),
        })

    def elaborate(self, platform):
        m = Module()
        t = self.triangle

        # Determinants of depths and sides, turned with the area.
        depths = []
        for k in (1, 2):
            difference = Signal(signed(33), name=f"dz{k}")
            m.d.sync += difference.eq(t[f"z{k}"] - t.z0)
            depths.append(difference)
        quotients, ranges = [], []
        for axis in "xy":
            first, second = (self.v[1], self.u[1]) if axis == "x" else (self.v[0], self.u[0])
            determinant = self._determinant(m, axis, depths, (first, second), negate=axis == "y")  # clock 6
            turned = Signal.like(determinant, name=f"{axis}_turned")
            determinant = delay(m, determinant, 1, f"{axis}_determinant")
            m.d.sync += turned.eq(Mux(self.flip, -determinant, determinant))  # clock 8
            quotient, fits = self._divide(m, axis, turned)  # clock 58
            quotients.append(quotient), ranges.append(fits)

        # dx and dy round to s23.8; a quotient too close to the top would not fit them.
        steep = Signal()
        high = [q[FRACTION - 9:].all() for q in quotients]
        m.d.sync += steep.eq(high[0] | high[1] | ~ranges[0] | ~ranges[1])  # clock 59
        slopes = [Signal(signed(SLOPE), name=f"slope_{axis}") for axis in "xy"]
        for n, quotient in enumerate(quotients):
            offset = delay(m, quotient, 1, f"quotient_{n}")
            m.d.sync += slopes[n].eq(Mux(steep, 0, Cat(offset[:-1], ~offset[-1])))  # clock 60
            m.d.comb += self.slope[n].eq(delay(m, slopes[n], 7, f"slope_{n}"))

        # From vertex 0 to the first tile, modulo 2^24 in D24.
        m.submodules.from_0_line = place = DelayLine(2 * payloads.EDGE_STEP, 60 - Edges.ORIGIN)
        m.submodules.z0_line = height = DelayLine(32, 66)
        m.d.comb += [place.i.eq(self.from_0), height.i.eq(t.z0)]
        products = []
        for n in range(2):
            m.submodules[f"way_{n}"] = product = Multiplier(SLOPE, payloads.EDGE_STEP, 56)
            m.d.comb += [product.a.eq(slopes[n]), product.b.eq(place.o.word_select(n, payloads.EDGE_STEP))]
            products.append(product.o)  # clock 65
        way, start = Signal(56), Signal(56)
        m.d.sync += [way.eq(products[0] + products[1]), start.eq(way + (height.o << FRACTION))]  # clocks 66, 67
        m.d.comb += self.z.eq(start[8:])
        return m

    def _determinant(self, m, axis, depths, sides, negate):
        """dz1 * sides[0] - dz2 * sides[1], or its negative, five clocks later."""
        products = []
        for n in range(2):
            m.submodules[f"{axis}_{n}"] = product = Multiplier(33, payloads.EDGE_STEP)
            m.d.comb += [product.a.eq(depths[n]), product.b.eq(sides[n])]
            products.append(product.o)
        if negate:
            products.reverse()
        determinant = Signal(signed(59), name=f"{axis}_difference")
        m.d.sync += determinant.eq(products[0] - products[1])
        return determinant

    def _divide(self, m, axis, numerator):
        """(floor(2^24 * numerator / area) + 2^47, whether that lies in 0..2^48 - 1), fifty clocks later."""
        area = delay(m, self.area, 1, f"{axis}_area")  # clock 8
        offset = Signal(signed(74), name=f"{axis}_offset")
        m.d.sync += offset.eq(numerator + (area << FRACTION - 1))  # clock 9
        area = delay(m, area, 1, f"{axis}_area_late")
        fits = Signal(name=f"{axis}_fits")
        m.d.sync += fits.eq(~offset[-1] & (offset[FRACTION:-1] < area))  # clock 10
        m.submodules[f"divide_{axis}"] = divide = Divider(49, FRACTION, SLOPE)
        late = delay(m, offset, 1, f"{axis}_offset_late")
        m.d.comb += [divide.high.eq(late[FRACTION:]), divide.low.eq(late[:FRACTION]),
                     divide.divisor.eq(delay(m, area, 1, f"{axis}_divisor"))]
        return divide.o, delay(m, fits, divide.latency, f"{axis}_fits")
