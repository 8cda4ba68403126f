# SPDX-License-Identifier: BSD-2-Clause
"""Depth plane of a triangle."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.geometry.determinants import Determinants
from fixfunc.rtl.geometry.edges import STEP, Edges
from fixfunc.rtl.lib.arithmetic.divider import Divider
from fixfunc.rtl.lib.arithmetic.shared_multiplier import SharedMultiplier
from fixfunc.rtl.lib.delay import DelayLine, register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads

SLOPE = 48  # bits of s23.24
FRACTION = 24
AREA = 49  # bits of twice the area
DETERMINANT = 59


class Plane(wiring.Component):
    """Slopes and start of a triangle's depth plane, one every ``interval`` clocks.

    A slope is a quotient of two determinants. Half its range is added before the division, so that
    the divider works on unsigned numbers and its overflow is the slope's. A plane with a slope that
    does not fit is flat. Clocks are counted from the triangle at the input. Every value holds for
    the interval.

    Parameters
    ----------
    interval : int
        1, 2 or 4.
    area_clock : int
        :attr:`~fixfunc.rtl.geometry.edges.Edges.area_clock`.

    Members
    -------
    start : In(1)
        First clock of a triangle.
    triangle : In(layout(TRIANGLE))
        Snapped vertices.
    side_01, side_02, origin_0, ccw, area : In
        The outputs of :class:`~fixfunc.rtl.geometry.edges.Edges`, in the clocks noted there.
    z : Out(48)
        u24.24 modulo 2^24, at the centre of the first tile's first pixel, in clock :attr:`latency`.
    slope : Out(ArrayLayout(signed(SLOPE), 2))
        s23.24 a pixel, as [x, y], in clock :attr:`latency`.
    """

    def __init__(self, interval, area_clock):
        step = payloads.EDGE_STEP
        self._determinants = Determinants(2, 33, step, DETERMINANT, interval)
        self._divider = Divider(AREA, FRACTION, SLOPE, 2, interval)
        self._products = SharedMultiplier(2, SLOPE, step, 56, interval)
        self._area_clock = area_clock
        pair = ArrayLayout(STEP, 2)
        super().__init__(
            {
                "start": In(1),
                "triangle": In(layout(payloads.TRIANGLE)),
                "side_01": In(pair),
                "side_02": In(pair),
                "origin_0": In(pair),
                "ccw": In(1),
                "area": In(AREA),
                "z": Out(48),
                "slope": Out(ArrayLayout(signed(SLOPE), 2)),
            }
        )

    @property
    def _determined(self):
        """Clock of the determinants, and of the winding."""
        return max(1 + self._determinants.latency, self._area_clock)

    @property
    def _divided(self):
        """Clock of the quotients: numerators, dividends, the division."""
        return self._determined + 2 + self._divider.latency

    @property
    def _sloped(self):
        """Clock of the slopes, which are quotients if neither is too large."""
        return self._divided + 2

    @property
    def latency(self):
        """Clocks from a triangle to its plane: the slopes, their products, sum, start."""
        return self._sloped + self._products.latency + 2

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, start=self.start)
        t.enter(self._area_clock, area=self.area, ccw=self.ccw)
        x_fits, y_fits = self._divide(m, t, self._dividends(m, t))

        # dx and dy round to s23.8, where a quotient too close to the top does not fit.
        x_quotient, y_quotient = self._divider.o
        steep = Signal()
        m.d.sync += steep.eq(
            x_quotient[FRACTION - 9 :].all() | y_quotient[FRACTION - 9 :].all() | ~x_fits | ~y_fits
        )

        # Slopes: the half of the range that was added is taken away again.
        t.enter(self._divided, x_quotient=x_quotient, y_quotient=y_quotient)
        quotients = t[self._divided + 1]
        slopes = []
        for n, quotient in enumerate((quotients.x_quotient, quotients.y_quotient)):
            slope = Signal(signed(SLOPE), name=f"slope_{'xy'[n]}")
            m.d.sync += slope.eq(Mux(steep, 0, Cat(quotient[:-1], ~quotient[-1])))
            t.enter(self._sloped, **{f"slope_{n}": slope})
            m.d.comb += self.slope[n].eq(t.value(f"slope_{n}", self.latency))
            slopes.append(slope)
        self._start(m, t, slopes)
        return m

    def _dividends(self, m, t):
        """Determinants of depths and sides with the sign of the winding, plus half the range."""
        z0, z1, z2 = (self.triangle[f"z{k}"] for k in range(3))
        dz1 = register(m, z1 - z0, signed(33), "dz1")
        dz2 = register(m, z2 - z0, signed(33), "dz2")
        m.submodules.determinants = determinants = self._determinants
        m.d.comb += determinants.start.eq(t[1].start)
        rows = [
            ((dz1, dz2), (self.side_01[1], self.side_02[1])),
            ((dz2, dz1), (self.side_02[0], self.side_01[0])),
        ]
        clock = self._determined
        dividends = []
        for k, (depths, sides) in enumerate(rows):
            for n in range(2):
                m.d.comb += [
                    determinants.p[k][n].eq(depths[n]),
                    determinants.q[k][n].eq(sides[n]),
                ]
            t.enter(1 + determinants.latency, **{f"determinant_{k}": determinants.o[k]})
            determinant = t.value(f"determinant_{k}", clock)
            complement = t[clock].ccw.replicate(DETERMINANT)
            numerator = Signal(signed(DETERMINANT), name=f"numerator_{k}")
            dividend = Signal(signed(74), name=f"dividend_{k}")
            # A negation is a complement and one more, for which half the range has a zero bit.
            half = Cat(t[clock + 1].ccw, Const(0, FRACTION - 2), t[clock + 1].area)
            m.d.sync += [
                numerator.eq(determinant ^ complement),
                dividend.eq(numerator + half),
            ]
            dividends.append(dividend)
        return dividends

    def _divide(self, m, t, dividends):
        """Quotients floor(2^24 * determinant / area) + 2^47; whether they lie in 0..2^48 - 1."""
        m.submodules.divider = divider = self._divider
        begin = self._determined + 2
        m.d.comb += [
            divider.start.eq(t[begin].start),
            divider.divisor.eq(t[begin].area),
        ]
        for k, dividend in enumerate(dividends):
            fits = Signal(name=f"fits_{k}")
            m.d.sync += fits.eq(~dividend[-1] & (dividend[FRACTION:-1] < t[begin].area))
            t.enter(begin + 1, **{f"fits_{k}": fits})
            m.d.comb += [
                divider.high[k].eq(dividend[FRACTION:]),
                divider.low[k].eq(dividend[:FRACTION]),
            ]
        return [t.value(f"fits_{k}", self._divided) for k in range(2)]

    def _start(self, m, t, slopes):
        """Depth at the first tile, from that at vertex 0, modulo 2^24 units of D24.

        Vertex 0's depth and its distance wait for the slopes in block RAM.
        """
        m.submodules.origin_line = origin_line = DelayLine(
            2 * payloads.EDGE_STEP, self._sloped - Edges.ORIGIN
        )
        m.submodules.z0_line = z0_line = DelayLine(32, self.latency - 1)
        m.submodules.products = products = self._products
        m.d.comb += [
            origin_line.i.eq(self.origin_0),
            z0_line.i.eq(self.triangle.z0),
            products.start.eq(t[self._sloped].start),
        ]
        for n in range(2):
            m.d.comb += [
                products.a[n].eq(slopes[n]),
                products.b[n].eq(origin_line.o.word_select(n, payloads.EDGE_STEP)),
            ]
        difference = Signal(56)
        start = Signal(56)
        m.d.sync += [
            difference.eq(products.o[0] + products.o[1]),
            start.eq(difference + (z0_line.o << FRACTION)),
        ]
        m.d.comb += self.z.eq(start[8:])
