# SPDX-License-Identifier: BSD-2-Clause
"""Planes: the linear functions on the screen from which weights are made, once a triangle."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.interpolator.edges import CONSTANT, EDGES, SIDE, Edges, Q
from fixfunc.spec.pixels.interpolation import CORNERS

SLOPE = 60  # bits of a slope of f
F = 85  # bits of f
FUNCTIONS = "second", "third", "total"  # f of two corners, and the sum of all three
PLANE = StructLayout({"x": signed(SLOPE), "y": signed(SLOPE), "origin": signed(F)})
PLANES = StructLayout(dict.fromkeys(FUNCTIONS, PLANE))
# The edge across a corner, as of :class:`~fixfunc.rtl.pixel.interpolator.edges.Edges`.
NUMBERED_EDGE = StructLayout(
    {
        "valid": 1,
        "corner": 2,
        "turned": 1,
        "a": signed(SIDE),
        "b": signed(SIDE),
        "c": signed(CONSTANT),
    }
)


class Planes(wiring.Component):
    """f = E q of a triangle's corners, as slopes and values at the centre of pixel (0, 0).

    E is exact; q has 32 bits under the greatest exponent of the three. Of a cut triangle f are
    those of the primitive's corners: each E times the nearest product of q and a weight. Without
    perspective every q is the same. A triangle takes three clocks, a cut one nine, with linear and
    perspective attributes twice as many.

    Parameters
    ----------
    places : int
        Triangles on their way through the first half.

    Members
    -------
    i : In(stream.Signature(layout(CORNERS)))
    o : Out(PLANES)
        Slopes are those of a step of 1/256 pixel.
    valid : Out(1)
        ``o`` is there for one clock; it cannot wait.
    is_linear, last : Out(1)
        ``o`` is without perspective; it is the last one of its triangle.
    edge : Out(NUMBERED_EDGE)
        An edge of a triangle, each once, in order; long before ``o``.
    """

    def __init__(self, places: int = 8) -> None:
        self._places = places
        super().__init__(
            {
                "i": In(stream.Signature(layout(CORNERS))),
                "o": Out(PLANES),
                "valid": Out(1),
                "is_linear": Out(1),
                "last": Out(1),
                "edge": Out(NUMBERED_EDGE),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.edges = edges = Edges(self._places)
        wiring.connect(m, wiring.flipped(self.i), edges.i)
        t = Timeline(m)
        self._entries(m, t, edges.o)
        self._add(m, t[self._multiply(m, t)])
        return m

    def _entries(self, m, t, edges):
        """Corners of a triangle, one a clock, for each of its functions."""
        now = edges.payload
        corner = Signal(2)
        function = Signal(2)  # of FUNCTIONS, of a cut triangle
        is_linear = Signal()
        last_corner = named(m, corner == 2, "last_corner")
        last_of_kind = named(m, last_corner & (~now.cut | (function == 2)), "last_of_kind")
        linear_follows = named(m, now.linear & now.perspective & ~is_linear, "linear_follows")
        last_of_triangle = named(m, last_of_kind & ~linear_follows, "last_of_triangle")
        linear = named(m, is_linear | (now.linear & ~now.perspective), "without_w")
        m.d.comb += edges.ready.eq(last_of_triangle)
        with m.If(edges.valid):
            m.d.sync += corner.eq(Mux(last_corner, 0, corner + 1))
            with m.If(last_of_kind):
                m.d.sync += [function.eq(0), is_linear.eq(linear_follows)]
            with m.Elif(last_corner):
                m.d.sync += function.eq(function + 1)

        def of(name):
            """What the corner has of that name."""
            its = [now[f"{name}{n}"] for n in range(3)]
            return Mux(corner == 0, its[0], Mux(corner == 1, its[1], its[2]))

        weight = Mux(function == 0, of("u"), of("v"))
        # Of a whole triangle each corner goes into its own function, and all into the sum.
        whole = Cat(corner == 1, corner == 2, Const(1, 1))
        destination = Mux(now.cut, Cat(function == n for n in range(3)), whole)
        values = {
            "q": (Mux(linear, 1 << 31, of("q")), Q),
            "weight": (Mux(now.cut & (function != 2), weight, 1 << 24), 25),
            "turned": (now.turned, 1),
            "destination": (destination & edges.valid.replicate(3), 3),
            "first": (~now.cut | (corner == 0), 1),
            "first_of_total": (corner == 0, 1),
            "valid": (edges.valid & last_of_kind, 1),
            "linear": (linear, 1),
            "last": (last_of_triangle, 1),
            "corner": (corner, 2),
            "is_edge": (edges.valid & (function == 0) & ~is_linear, 1),
            **{name: (of(name), EDGES[f"{name}0"].shape) for name in "abc"},
        }
        for name, (value, shape) in values.items():
            t.enter(1, **{name: register(m, value, shape, f"entry_{name}")})
        m.d.comb += [
            self.edge.valid.eq(t[1].is_edge),
            *(self.edge[name].eq(getattr(t[1], name)) for name in ("corner", "turned", *"abc")),
        ]

    def _multiply(self, m, t):
        """E by q, or its product with a weight, the nearest; the clock in which they are there."""
        m.submodules.factor = factor = Multiplier(Q + 1, 26)
        m.d.comb += [factor.a.eq(t[1].q), factor.b.eq(t[1].weight)]
        nearest = register(m, factor.o + (1 << 23) >> 24, Q, "nearest")
        at = 3 + factor.latency
        turned = t[at - 1].turned
        signed_factor = register(m, Mux(turned, -nearest, nearest), signed(Q + 1), "signed_factor")
        latest = at
        for name, bits in (("a", SIDE), ("b", SIDE), ("c", CONSTANT)):
            m.submodules[f"{name}_by_factor"] = product = Multiplier(bits, Q + 1)
            m.d.comb += [product.a.eq(getattr(t[at], name)), product.b.eq(signed_factor)]
            t.enter(at + product.latency, **{f"{name}_term": product.o})
            latest = max(latest, at + product.latency)
        return latest

    def _add(self, m, now):
        """Sums over corners."""
        terms = [named(m, getattr(now, f"{name}_term"), f"{name}_now") for name in "abc"]
        begins = dict.fromkeys(FUNCTIONS, now.first) | {"total": now.first_of_total}
        destination = now.destination
        for n, name in enumerate(FUNCTIONS):
            plane = self.o[name]
            with m.If(destination[n]):
                for term, member in zip(terms, (plane.x, plane.y, plane.origin), strict=True):
                    m.d.sync += member.eq(Mux(begins[name], 0, member) + term)
        m.d.sync += [
            self.valid.eq(now.valid),
            self.is_linear.eq(now.linear),
            self.last.eq(now.last),
        ]
