# SPDX-License-Identifier: BSD-2-Clause
"""Edge functions of a triangle, at the first tile of its box."""

from typing import Any

from amaranth.hdl import Array, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.geometry.determinants import Determinants
from fixfunc.rtl.lib.arithmetic.shared_multiplier import SharedMultiplier
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.samples import OUTER, REACH, SHAPES
from fixfunc.spec import payloads

STEP = signed(payloads.EDGE_STEP)
VALUE_BITS = 50  # a sum of two products of steps
VALUE = signed(VALUE_BITS)
# Of OUTER times two sizes of steps, which is below 2^33, and one more.
GROWTH = signed(34)


class Edges(wiring.Component):
    """Steps, biased value and reach of a triangle's three edges, one every ``interval`` clocks.

    Edge k runs from vertex k to vertex k + 1. Clocks are counted from the triangle at the input.
    Every value holds for the interval.

    Parameters
    ----------
    params : TriangleSetupParams

    Members
    -------
    start : In(1)
        First clock of a triangle.
    triangle : In(layout(TRIANGLE))
        Snapped vertices.
    samples : In(2)
        log2 of the samples of a pixel, in clock 1.
    conservative : In(1)
        The triangle covers all pixels of which it may have a point, in clock 1.
    x, y : In(14)
        First pixel of the box, in clock :attr:`BOX`.
    side_01, side_02 : Out(ArrayLayout(STEP, 2))
        Vertex 1 and vertex 2 less vertex 0, as [x, y], in clock 1.
    origin_0 : Out(ArrayLayout(STEP, 2))
        Centre of the first tile's first pixel less vertex 0, as [x, y], in clock :attr:`ORIGIN`.
    zero_area : Out(1)
        The triangle has no area; in clock :attr:`area_clock`.
    ccw : Out(1)
        The triangle is counter-clockwise on the screen; in clock :attr:`area_clock`.
    area : Out(48)
        Twice the area, unsigned, in clock :attr:`area_clock`.
    a, b, reach, c : Out(ArrayLayout(..., 3))
        The edges, as in :data:`fixfunc.spec.payloads.SETUP`, in clock
        :attr:`latency`.
    """

    BOX = 4
    ORIGIN = BOX + 1

    def __init__(self, params: Any) -> None:
        self._params = params
        step = payloads.EDGE_STEP
        self._areas = Determinants(1, step, step, VALUE_BITS, params.interval)
        self._values = Determinants(2, step, step, VALUE_BITS, params.interval)
        self._reaches = SharedMultiplier(6, step, 8, interval=params.interval)
        # Clocks of twice the signed area, of E of two edges, and of the reaches: of these, steps
        # come first, then sizes and distances, products, sums.
        self._signed_area = 1 + self._areas.latency
        self._value = self.ORIGIN + self._values.latency
        self._reach = self.area_clock + 2 + self._reaches.latency + 1
        pair = ArrayLayout(STEP, 2)
        steps = ArrayLayout(STEP, 3)
        super().__init__(
            {
                "start": In(1),
                "triangle": In(layout(payloads.TRIANGLE)),
                "samples": In(2),
                "conservative": In(1),
                "x": In(14),
                "y": In(14),
                "side_01": Out(pair),
                "side_02": Out(pair),
                "origin_0": Out(pair),
                "zero_area": Out(1),
                "ccw": Out(1),
                "area": Out(48),
                "a": Out(steps),
                "b": Out(steps),
                "reach": Out(ArrayLayout(32, 3)),
                "c": Out(ArrayLayout(signed(47), 3)),
            }
        )

    @property
    def area_clock(self) -> int:
        """Clock of area and winding: the signed area, its size."""
        return self._signed_area + 1

    @property
    def latency(self) -> int:
        """Clocks from a triangle to its edges: E of the third, oriented, biased, with its reach."""
        return max(self._value + 4, self._reach) + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        vertices = self.triangle
        t.enter(0, start=self.start)
        t.enter(0, **{f"{axis}{k}": vertices[f"{axis}{k}"] for axis in "xy" for k in (0, 1)})
        t.enter(1, samples=self.samples, conservative=self.conservative)

        # The sides, in clock 1.
        side_12 = Signal.like(self.side_01, name="side_12")
        for n, axis in enumerate("xy"):
            m.d.sync += [
                self.side_01[n].eq(vertices[f"{axis}1"] - vertices[f"{axis}0"]),
                self.side_02[n].eq(vertices[f"{axis}2"] - vertices[f"{axis}0"]),
                side_12[n].eq(vertices[f"{axis}2"] - vertices[f"{axis}1"]),
            ]
        t.enter(1, side_01=self.side_01, side_12=side_12)
        self._area(m, t)
        self._values_at_origin(m, t)

        # All of it with the inside positive.
        sides = [
            (-self.side_01[1], self.side_01[0]),
            (-side_12[1], side_12[0]),
            (self.side_02[1], -self.side_02[0]),
        ]
        m.submodules.reaches = self._reaches
        m.d.comb += self._reaches.start.eq(t[self.area_clock + 2].start)
        for k, side in enumerate(sides):
            self._orient_steps(m, t, k, side)
            self._orient_value(m, t, k)
        return m

    def _area(self, m, t):
        """Twice the signed area, whose sign is the winding."""
        m.submodules.areas = areas = self._areas
        m.d.comb += [
            areas.start.eq(t[1].start),
            areas.p[0].eq(self.side_01),
            areas.q[0].eq(self.side_02),
        ]
        signed_area = areas.o[0]
        m.d.sync += [
            self.zero_area.eq(signed_area == 0),
            self.ccw.eq(signed_area < 0),
            self.area.eq(Mux(signed_area < 0, areas.negated[0], signed_area)),
        ]
        t.enter(self._signed_area, signed_area=signed_area)
        t.enter(self.area_clock, ccw=self.ccw)

    def _values_at_origin(self, m, t):
        """E of the three edges where the first tile begins.

        The three add up to the area, which saves the third edge its products.
        """
        m.submodules.values = values = self._values
        origin_1 = self._origins(m, t)
        origin = t[self.ORIGIN]
        m.d.comb += [
            values.start.eq(origin.start),
            values.p[0].eq(origin.side_01),
            values.q[0].eq(self.origin_0),
            values.p[1].eq(origin.side_12),
            values.q[1].eq(origin_1),
        ]
        value_01 = Signal(VALUE)
        value_2 = Signal(VALUE)
        m.d.sync += [
            value_01.eq(values.o[0] + values.o[1]),
            value_2.eq(t[self._value + 1].signed_area - value_01),
        ]
        t.enter(self._value, value_0=values.o[0], value_1=values.o[1])
        t.enter(self._value + 2, value_2=value_2)

    def _origins(self, m, t):
        """Centre of the first tile's first pixel less vertices 0 and 1: the latter."""
        origin_1 = Signal.like(self.origin_0, name="origin_1")
        tile_log2 = self._params.edge.bit_length() - 1
        for n, (axis, first) in enumerate((("x", self.x), ("y", self.y))):
            pixels_log2 = Array([tile_log2 - shape[n] for shape in SHAPES])[t[self.BOX].samples]
            centre = Signal(22, name=f"{axis}_centre")
            m.d.comb += centre.eq(((first >> pixels_log2 << pixels_log2) << 8) | 128)
            for k, origin in enumerate((self.origin_0, origin_1)):
                m.d.sync += origin[n].eq(centre - t.value(f"{axis}{k}", self.BOX))
        return origin_1

    def _orient_steps(self, m, t, k, side):
        """Steps of edge k with the inside positive, and its reach.

        The reach is what E gains from the first pixel's centre to the tile's reject corner: of each
        axis the distance to the farthest or to the nearest sample, by the sign of the step.
        """
        clock = self.area_clock
        for n, axis_step in enumerate(side):
            name = f"{'ab'[n]}{k}"
            t.enter(2, **{f"{name}_side": register(m, axis_step, STEP, f"{name}_side")})
            unoriented = t.value(f"{name}_side", clock)
            step = Signal(STEP, name=name)
            size = Signal(payloads.EDGE_STEP - 1, name=f"{name}_size")
            distance = Signal(signed(8), name=f"{name}_distance")
            samples = t[clock + 1].samples
            farthest = farthest_samples(self._params.edge, n)
            m.d.sync += [
                step.eq(Mux(t[clock].ccw, -unoriented, unoriented)),
                size.eq(Mux(step < 0, -step, step)),
                distance.eq(Mux(step > 0, farthest[samples], Array(REACH)[samples])),
            ]
            m.d.comb += [
                self._reaches.a[2 * k + n].eq(size),
                self._reaches.b[2 * k + n].eq(distance),
            ]
            t.enter(clock + 1, **{name: step})
            t.enter(clock + 2, **{f"{name}_size": size})
        m.d.comb += [
            self.a[k].eq(t.value(f"a{k}", self.latency)),
            self.b[k].eq(t.value(f"b{k}", self.latency)),
        ]
        products = self._reaches.o
        reach = register(m, products[2 * k] + products[2 * k + 1], 32, f"reach_{k}")
        t.enter(self._reach, **{f"reach_{k}": reach})
        m.d.comb += self.reach[k].eq(t.value(f"reach_{k}", self.latency))

    def _orient_value(self, m, t, k):
        """E of edge k with the inside positive and its fill rule, at the reject corner.

        The low four bits never change a sign.
        """
        growth = enter_growth(m, t, k, self.area_clock + 1, self._params.conservative)
        clock = self._value + 2
        value = t.value(f"value_{k}", clock)
        # A negation is a complement and one more, which the bias takes along.
        complement = t[clock].ccw.replicate(len(value))
        oriented = register(m, value ^ complement, VALUE, f"oriented_{k}")
        bias = register(m, t.value(growth, clock) + t[clock].ccw, GROWTH, f"bias_{k}")
        biased = register(m, (oriented + bias) >> 4, signed(46), f"biased_{k}")
        t.enter(clock + 2, **{f"biased_{k}": biased})

        last = self.latency - 1
        aspect = Array([shape[1] for shape in SHAPES])[t[last].samples]
        corner = t.value(f"biased_{k}", last) + t.value(f"reach_{k}", last)
        m.d.sync += self.c[k].eq(corner << aspect)


def enter_growth(m: Module, t: Timeline, k: int, clock: int, conservative: bool) -> str:
    """What edge k gains by its fill rule enters a timeline; the name of it.

    An edge that is neither top nor left excludes its own samples: E - 1. That of conservative
    coverage excludes nothing, and is moved by the square that pixels are grown to.

    Parameters
    ----------
    m : Module
    t : Timeline
        Steps have entered by now, and their sizes come in the next clock.
    k, clock : int
    conservative : bool
        There is such coverage.
    """
    a = t.value(f"a{k}", clock)
    b = t.value(f"b{k}", clock)
    excluded = Signal(name=f"excluded_{k}")
    m.d.sync += excluded.eq(~((a > 0) | ((a == 0) & (b > 0))))
    name = f"growth_{k}"
    if not conservative:
        t.enter(clock + 1, **{name: -excluded})
        return name
    sizes = t.value(f"a{k}_size", clock + 1) + t.value(f"b{k}_size", clock + 1)
    t.enter(clock + 1, **{f"excluded_{k}": excluded})
    t.enter(clock + 2, **{f"sizes_{k}": register(m, sizes, len(sizes), f"sizes_{k}")})
    outer = OUTER * t.value(f"sizes_{k}", clock + 2)
    growth = Mux(t[clock + 2].conservative, outer, -t.value(f"excluded_{k}", clock + 2))
    t.enter(clock + 3, **{name: register(m, growth, GROWTH, name)})
    return name


def farthest_samples(edge: int, axis: int) -> Array:
    """Distances from a tile's first pixel to its farthest sample, by log2 of samples a pixel.

    In 1/16 pixel, along x (0) or y (1), in a tile of ``edge`` lanes.
    """
    return Array(
        Const(16 * ((edge >> shape[axis]) - 1) + reach, 8)
        for shape, reach in zip(SHAPES, REACH, strict=True)
    )
