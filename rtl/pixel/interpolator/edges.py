# SPDX-License-Identifier: BSD-2-Clause
"""Edges: edge functions of a triangle's corners, and their 1/w under one exponent."""

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
from fixfunc.spec.pixels.interpolation import CORNERS

SIDE = 25  # bits of a difference of two places, s16.8
CONSTANT = 51  # bits of E at a pixel
Q = 33  # bits of 1/w, or its product with a weight
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


class Edges(wiring.Component):
    """E of the edge across each corner: slopes a and b, and c at the centre of pixel (0, 0).

    Three clocks a triangle.

    Parameters
    ----------
    places : int
        Triangles on their way.

    Members
    -------
    i : In(stream.Signature(layout(CORNERS)))
    o : Out(stream.Signature(EDGES))
        Exact; ``turned`` where all of them have the other sign. q are 1/w in 32 bits, shifted down
        by their exponents below the greatest, cut.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        super().__init__(
            {
                "i": In(stream.Signature(layout(CORNERS))),
                "o": Out(stream.Signature(EDGES)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.out = out = CreditedFIFO(EDGES, self._places)
        wiring.connect(m, out.o, wiring.flipped(self.o))
        corners = Signal(self.i.payload.shape())
        step = Signal(2)  # 0: nothing; else one more than the corner
        last = named(m, step == 3, "last_corner")
        taken = named(m, self.i.valid & self.i.ready, "taken")
        m.d.comb += [
            self.i.ready.eq(((step == 0) | last) & out.available),
            out.consume.eq(taken),
        ]
        with m.If(taken):
            m.d.sync += [corners.eq(self.i.payload), step.eq(1)]
        with m.Elif(last):
            m.d.sync += step.eq(0)
        with m.Elif(step != 0):
            m.d.sync += step.eq(step + 1)
        t = Timeline(m)
        t.enter(0, last=last)
        ready = self._edge(m, t, corners, step)
        # The corners are in their register until the last step; here they wait for the products.
        scaled = self._scaled(m, corners)
        kept = later(m, scaled, ready + 1, "kept")
        m.d.comb += [
            out.push.eq(t[ready + 1].last),
            out.i.eq(self._triangle(m, t, ready)),
            *(out.i[name].eq(kept[name]) for name, _ in scaled.shape()),
        ]
        return m

    def _edge(self, m, t, corners, step):
        """The edge across a corner; the clock in which it is known."""

        def of(axis, further):
            """Of the corner before the edge, or of the one behind it."""
            its = [corners[f"{axis}{(corner + further) % 3}"] for corner in range(3)]
            return Mux(step == 1, its[0], Mux(step == 2, its[1], its[2]))

        x, y, next_x, next_y = of("x", 1), of("y", 1), of("x", 2), of("y", 2)
        values = {"a": y - next_y, "b": next_x - x, "x": 128 - x, "y": 128 - y}
        for name, value in values.items():
            t.enter(1, **{name: register(m, value, signed(SIDE), f"edge_{name}")})
        m.submodules.a_product = a = Multiplier(SIDE, SIDE)
        m.submodules.b_product = b = Multiplier(SIDE, SIDE)
        m.d.comb += [a.a.eq(t[1].a), a.b.eq(t[1].x), b.a.eq(t[1].b), b.b.eq(t[1].y)]
        ready = 2 + a.latency
        t.enter(ready, c=register(m, a.o + b.o, signed(CONSTANT), "c"))
        return ready

    def _triangle(self, m, t, ready):
        """Three edges that came one behind the other, and whether their sum is below zero."""
        before = register(m, t[ready].c + t[ready + 1].c, signed(CONSTANT + 2), "corners_before")
        edges = Signal(EDGES)
        for corner, clock in enumerate((ready + 2, ready + 1, ready)):
            m.d.sync += [edges[f"{name}{corner}"].eq(getattr(t[clock], name)) for name in "abc"]
        m.d.sync += edges.turned.eq(t[ready].c + before < 0)
        return edges

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
            vanishes = (down > 31) | (exponent == 0)
            m.d.sync += first[f"q{corner}"].eq(Mux(vanishes, 0, value))
        for name in names:
            if not name.startswith("q"):
                m.d.sync += first[name].eq(corners[name])
        return first
