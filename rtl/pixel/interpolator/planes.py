# SPDX-License-Identifier: BSD-2-Clause
"""Planes: the linear functions on the screen from which weights are made, once a triangle."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.bits import maximum, named
from fixfunc.rtl.lib.delay import later, register
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec.interpolation import CORNERS

SIDE = 25  # bits of a difference of two places, s16.8
CONSTANT = 51  # bits of E at a pixel
Q = 33  # bits of 1/w, or its product with a weight
SLOPE = 60  # bits of a slope of f
F = 85  # bits of f
FUNCTIONS = "second", "third", "total"  # f of two corners, and the sum of all three
PLANE = StructLayout({"x": signed(SLOPE), "y": signed(SLOPE), "origin": signed(F)})
PLANES = StructLayout(dict.fromkeys(FUNCTIONS, PLANE))
EDGES = StructLayout(
    {
        **{f"{name}{corner}": signed(SIDE) for corner in range(3) for name in "ab"},
        **{f"c{corner}": signed(CONSTANT) for corner in range(3)},
        **{f"q{corner}": Q for corner in range(3)},
        **{f"{name}{corner}": 25 for corner in range(3) for name in "uv"},
        "cut": 1,
        "linear": 1,
        "perspective": 1,
        "turned": 1,
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
        Functions per 256 pixels of 1/256: slopes for a step of a pixel are 256 times as much.
    valid : Out(1)
        ``o`` is there for one clock; it cannot wait.
    is_linear, last : Out(1)
        ``o`` is without perspective; it is the last one of its triangle.
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
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.edges = edges = CreditedFIFO(EDGES, self._places)
        self._edges(m, edges)
        self._products(m, edges.o)
        return m

    def _edges(self, m, out):
        """Three corners, one a clock; E of the edge across each."""
        corners = Signal(self.i.payload.shape())
        step = Signal(2)  # 0: nothing; else one more than the corner
        last = named(m, step == 3, "last_corner")
        m.d.comb += self.i.ready.eq(((step == 0) | last) & out.available)
        taken = named(m, self.i.valid & self.i.ready, "taken")
        m.d.comb += out.consume.eq(taken)
        with m.If(taken):
            m.d.sync += [corners.eq(self.i.payload), step.eq(1)]
        with m.Elif(last):
            m.d.sync += step.eq(0)
        with m.Elif(step != 0):
            m.d.sync += step.eq(step + 1)

        def of(axis, further):
            """A corner's place, that of the one before last, or of the last."""
            its = [corners[f"{axis}{(corner + further) % 3}"] for corner in range(3)]
            return Mux(step == 1, its[0], Mux(step == 2, its[1], its[2]))

        x, y, next_x, next_y = of("x", 1), of("y", 1), of("x", 2), of("y", 2)
        t = Timeline(m)
        values = {
            "a": y - next_y,
            "b": next_x - x,
            "x": 128 - x,
            "y": 128 - y,
        }
        for name, value in values.items():
            held = Signal(signed(SIDE), name=f"edge_{name}")
            m.d.sync += held.eq(value)
            t.enter(1, **{name: held})
        m.submodules.a_product = a = Multiplier(SIDE, SIDE)
        m.submodules.b_product = b = Multiplier(SIDE, SIDE)
        m.d.comb += [a.a.eq(t[1].a), a.b.eq(t[1].x), b.a.eq(t[1].b), b.b.eq(t[1].y)]
        c = Signal(signed(CONSTANT))
        m.d.sync += c.eq(a.o + b.o)
        now = 2 + a.latency
        t.enter(now, c=c)
        t.enter(0, first=step == 1, last=last)
        area = Signal(signed(CONSTANT + 2))
        before = register(m, t[now].c + t[now + 1].c, area.shape(), "corners_before")
        m.d.comb += area.eq(t[now].c + before)
        edges = Signal(EDGES)
        for corner, clock in enumerate((now + 2, now + 1, now)):
            m.d.sync += [edges[f"{name}{corner}"].eq(getattr(t[clock], name)) for name in "abc"]
        m.d.sync += edges.turned.eq(area < 0)
        # The corners are in their register until the last step; here they wait for the products.
        scaled = self._scaled(m, corners)
        kept = later(m, scaled, now + 1, "kept")
        m.d.comb += [
            out.push.eq(t[now + 1].last),
            out.i.eq(edges),
            *(out.i[name].eq(kept[name]) for name, _ in scaled.shape()),
        ]

    def _scaled(self, m, corners):
        """1/w of the corners under the greatest exponent, and what else goes along."""
        exponents = [corners[f"rhw{corner}"][23:31] for corner in range(3)]
        most = named(m, maximum(maximum(*exponents[:2]), exponents[2]), "most")
        names = [
            *(f"{name}{corner}" for corner in range(3) for name in "quv"),
            "cut",
            "linear",
            "perspective",
        ]
        shape = StructLayout({name: EDGES[name].shape for name in names})
        first = Signal(shape, name="scaled")
        for corner, exponent in enumerate(exponents):
            mantissa = Cat(corners[f"rhw{corner}"][:23], Const(1, 1))
            down = named(m, most - exponent, f"down_{corner}")
            value = Cat(Const(0, 8), mantissa) >> down[:5]
            gone = (down > 31) | (exponent == 0)
            m.d.sync += first[f"q{corner}"].eq(Mux(gone, 0, value))
        for name in names:
            if not name.startswith("q"):
                m.d.sync += first[name].eq(corners[name])
        return first

    def _products(self, m, edges):
        """E of a corner, a clock each, times its factor in one of the functions, or in two."""
        now = edges.payload
        corner = Signal(2)
        function = Signal(2)  # of FUNCTIONS, of a cut triangle
        is_linear = Signal()
        ends_function = named(m, corner == 2, "ends_function")
        ends_kind = named(m, ends_function & (~now.cut | (function == 2)), "ends_kind")
        again = named(m, now.linear & now.perspective & ~is_linear, "again")
        ends = named(m, ends_kind & ~again, "ends")
        linear = named(m, is_linear | (now.linear & ~now.perspective), "without_w")
        m.d.comb += edges.ready.eq(ends)
        with m.If(edges.valid):
            m.d.sync += corner.eq(Mux(ends_function, 0, corner + 1))
            with m.If(ends_kind):
                m.d.sync += [function.eq(0), is_linear.eq(again)]
            with m.Elif(ends_function):
                m.d.sync += function.eq(function + 1)

        def of(name):
            its = [now[f"{name}{n}"] for n in range(3)]
            return Mux(corner == 0, its[0], Mux(corner == 1, its[1], its[2]))

        t = Timeline(m)
        weight = Mux(function == 0, of("u"), of("v"))
        one = Const(1 << 24, 25)
        values = {
            "q": (Mux(linear, 1 << 31, of("q")), Q),
            "weight": (Mux(now.cut & (function != 2), weight, one), 25),
            "turned": (now.turned, 1),
            "goes": (self._goes(now, corner, function) & edges.valid.replicate(3), 3),
            "first": (Mux(now.cut, corner == 0, 1), 1),
            "first_of_total": (corner == 0, 1),
            "valid": (edges.valid & ends_kind, 1),
            "linear": (linear, 1),
            "last": (ends, 1),
            **{name: (of(name), EDGES[f"{name}0"].shape) for name in "abc"},
        }
        for name, (value, shape) in values.items():
            held = Signal(shape, name=f"entry_{name}")
            m.d.sync += held.eq(value)
            t.enter(1, **{name: held})
        m.submodules.factor = factor = Multiplier(Q + 1, 26)
        m.d.comb += [factor.a.eq(t[1].q), factor.b.eq(t[1].weight)]
        nearest = register(m, factor.o + (1 << 23) >> 24, Q, "nearest")
        at = 3 + factor.latency
        turned = t[at - 1].turned
        signed_factor = register(m, Mux(turned, -nearest, nearest), signed(Q + 1), "signed_factor")
        sums = {}
        for name, bits in (("a", SIDE), ("b", SIDE), ("c", CONSTANT)):
            m.submodules[f"{name}_by_factor"] = product = Multiplier(bits, Q + 1)
            m.d.comb += [product.a.eq(getattr(t[at], name)), product.b.eq(signed_factor)]
            sums[name] = product
        done = at + max(product.latency for product in sums.values())
        for name, product in sums.items():
            t.enter(at + product.latency, **{f"{name}_term": product.o})
        now = t[done]
        terms = [named(m, getattr(now, f"{name}_term"), f"{name}_now") for name in "abc"]
        begins = dict.fromkeys(FUNCTIONS, now.first) | {"total": now.first_of_total}
        goes = now.goes
        for n, name in enumerate(FUNCTIONS):
            plane = self.o[name]
            with m.If(goes[n]):
                for term, member in zip(terms, (plane.x, plane.y, plane.origin), strict=True):
                    m.d.sync += member.eq(Mux(begins[name], 0, member) + term)
        m.d.sync += [
            self.valid.eq(now.valid),
            self.is_linear.eq(now.linear),
            self.last.eq(now.last),
        ]

    def _goes(self, edges, corner, function):
        """Into which of the functions: of a whole triangle each corner's into its own, and all
        into the sum.
        """
        whole = Cat(corner == 1, corner == 2, Const(1, 1))
        return Mux(edges.cut, Cat(function == n for n in range(3)), whole)
