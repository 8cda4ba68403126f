# SPDX-License-Identifier: BSD-2-Clause
"""Depth plane of a triangle."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.geometry.block_depths import VERTEX_DEPTH, BlockDepths
from fixfunc.rtl.geometry.determinants import Determinants
from fixfunc.rtl.geometry.edges import STEP, Edges
from fixfunc.rtl.lib.arithmetic.divider import Divider
from fixfunc.rtl.lib.arithmetic.shared_multiplier import SharedMultiplier
from fixfunc.rtl.lib.delay import DelayLine, register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec import payloads

SLOPE = 60  # bits of s35.24
START = 56  # bits of s31.24
PRODUCT = 64  # bits of a depth in units of 2^-32, modulo 2^32
FRACTION = 24
AREA = 48  # bits of twice the area
DETERMINANT = 65  # depths and sides of a triangle make none that is 2^64
FITS = 48  # bits of s23.24, which the slope of a triangle fits that is not steep
ROUND = 15  # log2 of half a unit of what a tile carries


class Plane(wiring.Component):
    """Slopes and start of a triangle's depth plane, one every ``interval`` clocks.

    A slope is a quotient of two determinants, known modulo 2^36: the distance of a sample is a
    multiple of 1/16 pixel, and depths are known modulo 2^32. So no slope is too steep. Clocks are
    counted from the triangle at the input. Every value holds for the interval.

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
    depths : In(ArrayLayout(signed(40), 3))
        Of the vertices, s31.8 units, in clock :attr:`DEPTHS`.
    side_01, side_02, origin_0, ccw, area : In
        The outputs of :class:`~fixfunc.rtl.geometry.edges.Edges`, in the clocks noted there.
    z : Out(56)
        s31.24 modulo 2^32, at the centre of the first tile's first pixel, in clock :attr:`latency`.
    slope : Out(ArrayLayout(signed(SLOPE), 2))
        s35.24 a pixel, modulo 2^36, as [x, y], in clock :attr:`latency`.
    steep : Out(1)
        A slope does not fit s23.24, or s23.8 when it is rounded. In clock :attr:`latency`.
    """

    DEPTHS = BlockDepths.LATENCY

    def __init__(self, interval, area_clock):
        step = payloads.EDGE_STEP
        self._determinants = Determinants(2, VERTEX_DEPTH.width + 1, step, DETERMINANT, interval)
        self._divider = Divider(AREA, DETERMINANT, FRACTION, PRODUCT, 2, interval)
        self._products = SharedMultiplier(2, PRODUCT, step, PRODUCT, interval)
        self._area_clock = area_clock
        pair = ArrayLayout(STEP, 2)
        super().__init__(
            {
                "start": In(1),
                "depths": In(ArrayLayout(VERTEX_DEPTH, 3)),
                "side_01": In(pair),
                "side_02": In(pair),
                "origin_0": In(pair),
                "ccw": In(1),
                "area": In(AREA),
                "z": Out(START),
                "slope": Out(ArrayLayout(signed(SLOPE), 2)),
                "steep": Out(1),
            }
        )

    @property
    def _determined(self):
        """Clock of the determinants, and of the winding."""
        return max(self.DEPTHS + 1 + self._determinants.latency, self._area_clock)

    @property
    def _divided(self):
        """Clock of the quotients: dividends, the division."""
        return self._determined + 1 + self._divider.latency

    @property
    def latency(self):
        """Clocks from a triangle to its plane: the slopes, their products, sum, start."""
        return self._divided + self._products.latency + 2

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, start=self.start)
        t.enter(self._area_clock, area=self.area, ccw=self.ccw)
        self._divide(m, t)

        # dx and dy round to s23.8, where a slope too close to the top does not fit.
        slopes = self._divider.o
        beyond = []
        for n, slope in enumerate(slopes):
            top = slope[FITS - 1 :]
            rounds_up = ~slope[-1] & slope[ROUND : FITS - 1].all()
            fits = Signal(name=f"fits_{n}")
            m.d.sync += fits.eq((top.all() | ~top.any()) & ~rounds_up & ~self._divider.beyond[n])
            beyond.append(~fits)
            t.enter(self._divided, **{f"slope_{n}": slope[:SLOPE].as_signed()})
            m.d.comb += self.slope[n].eq(t.value(f"slope_{n}", self.latency))
        t.enter(self._divided + 1, steep=Cat(beyond).any())
        m.d.comb += self.steep.eq(t[self.latency].steep)
        self._start(m, t, slopes)
        return m

    def _divide(self, m, t):
        """Determinants of depths and sides with the sign of the winding, by the area."""
        z0, z1, z2 = self.depths
        difference = signed(VERTEX_DEPTH.width + 1)
        dz1 = register(m, z1 - z0, difference, "dz1")
        dz2 = register(m, z2 - z0, difference, "dz2")
        sides_clock = self.DEPTHS + 1
        t.enter(1, side_01=self.side_01, side_02=self.side_02)
        side_01 = t[sides_clock].side_01
        side_02 = t[sides_clock].side_02
        m.submodules.determinants = determinants = self._determinants
        m.submodules.divider = divider = self._divider
        rows = [
            ((dz1, dz2), (side_01[1], side_02[1])),
            ((dz2, dz1), (side_02[0], side_01[0])),
        ]
        clock = self._determined
        m.d.comb += [
            determinants.start.eq(t[sides_clock].start),
            divider.start.eq(t[clock + 1].start),
            divider.divisor.eq(t[clock + 1].area),
        ]
        for k, (depths, sides) in enumerate(rows):
            for n in range(2):
                m.d.comb += [
                    determinants.p[k][n].eq(depths[n]),
                    determinants.q[k][n].eq(sides[n]),
                ]
            t.enter(
                sides_clock + determinants.latency,
                **{f"o_{k}": determinants.o[k], f"negated_{k}": determinants.negated[k]},
            )
            dividend = Signal(signed(DETERMINANT), name=f"dividend_{k}")
            m.d.sync += dividend.eq(
                Mux(t[clock].ccw, t.value(f"negated_{k}", clock), t.value(f"o_{k}", clock))
            )
            m.d.comb += divider.dividend[k].eq(dividend)

    def _start(self, m, t, slopes):
        """Depth at the first tile, from that at vertex 0, modulo 2^32 units.

        Vertex 0's depth and its distance wait for the slopes in block RAM.
        """
        m.submodules.origin_line = origin_line = DelayLine(
            2 * payloads.EDGE_STEP, self._divided - Edges.ORIGIN
        )
        m.submodules.z0_line = z0_line = DelayLine(
            VERTEX_DEPTH.width, self.latency - 1 - self.DEPTHS
        )
        m.submodules.products = products = self._products
        m.d.comb += [
            origin_line.i.eq(self.origin_0),
            z0_line.i.eq(self.depths[0]),
            products.start.eq(t[self._divided].start),
        ]
        for n in range(2):
            m.d.comb += [
                products.a[n].eq(slopes[n]),
                products.b[n].eq(origin_line.o.word_select(n, payloads.EDGE_STEP)),
            ]
        difference = Signal(PRODUCT)
        start = Signal(PRODUCT)
        m.d.sync += [
            difference.eq(products.o[0] + products.o[1]),
            start.eq(difference + (z0_line.o << FRACTION)),
        ]
        m.d.comb += self.z.eq(start[8:])
