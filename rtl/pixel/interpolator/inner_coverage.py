# SPDX-License-Identifier: BSD-2-Clause
"""Inner coverage: which pixels of a quad a triangle has whole, however it was snapped."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.pixel.interpolator.edges import CONSTANT, SIDE
from fixfunc.rtl.pixel.interpolator.planes import NUMBERED_EDGE
from fixfunc.rtl.samples import OUTER

PIXEL = 8  # log2 of the units of a pixel
# E is never asked for but at centres of pixels, between which it grows by whole pixels: its lowest
# bits tell nothing.
INNER = signed(CONSTANT - PIXEL + 1)
EDGE = StructLayout({"a": signed(SIDE), "b": signed(SIDE), "c": INNER})


class InnerEdges(wiring.Component):
    """Edges of triangles, moved inwards by the square that pixels are grown to.

    Parameters
    ----------
    triangles : int
        That are held: a power of two.

    Members
    -------
    edge : In(NUMBERED_EDGE)
        Those of a triangle in order. They are held :attr:`LATENCY` clocks later.
    triangle : In(range(triangles))
        One that is asked for.
    o : Out(ArrayLayout(EDGE, 3))
        Its edges, a clock later: E, with the inside positive, in pixels, cut, at the centre of
        pixel (0, 0).
    """

    LATENCY = 4  # sizes, their sum, E, memory

    def __init__(self, triangles: int) -> None:
        self._triangles = triangles
        super().__init__(
            {
                "edge": In(NUMBERED_EDGE),
                "triangle": In(range(triangles)),
                "o": Out(ArrayLayout(EDGE, 3)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        edge = self.edge
        newest = Signal(range(self._triangles))
        with m.If(edge.valid & (edge.corner == 2)):
            m.d.sync += newest.eq(newest + 1)
        steps = {name: Mux(edge.turned, -edge[name], edge[name]) for name in "ab"}
        sizes = {name: Mux(edge[name] < 0, -edge[name], edge[name]) for name in "ab"}
        for name in "ab":
            t.enter(1, **{name: register(m, steps[name], signed(SIDE), f"{name}_inside")})
            t.enter(1, **{f"{name}_size": register(m, sizes[name], SIDE - 1, f"{name}_size")})
        # A negation is a complement and one more.
        inside = register(m, edge.c ^ edge.turned.replicate(CONSTANT), signed(CONSTANT), "inside")
        t.enter(1, inside=inside)
        t.enter(0, turned=edge.turned, valid=edge.valid, corner=edge.corner, triangle=newest)
        size = register(m, t[1].a_size + t[1].b_size, SIDE, "size")
        # Corners in one place have no inside, though E is zero between them.
        reach = Mux(size.any(), OUTER * size, 1)
        moved = t[2].inside + t[2].turned - reach
        t.enter(3, c=register(m, moved >> PIXEL, INNER, "moved"))
        last = t[self.LATENCY - 1]
        for corner in range(3):
            m.submodules[f"edges_{corner}"] = memory = Memory(
                shape=EDGE, depth=self._triangles, init=[]
            )
            write, read = memory.write_port(), memory.read_port()
            m.d.comb += [
                write.en.eq(last.valid & (last.corner == corner)),
                write.addr.eq(last.triangle),
                *(write.data[name].eq(getattr(last, name)) for name in "abc"),
                read.addr.eq(self.triangle),
                self.o[corner].eq(read.data),
            ]
        return m


class InnerCoverage(wiring.Component):
    """Pixels of a quad on which no edge is negative; a quad a clock, free-running.

    Members
    -------
    edges : In(ArrayLayout(EDGE, 3))
        Of the quad's triangle, moved inwards.
    x, y : In(14)
        The quad's upper left pixel, whose coordinates are even.
    o : Out(4)
        Of pixel (x, y) bit 2 y + x; :attr:`latency` clocks later.
    """

    def __init__(self) -> None:
        self._products = [[Multiplier(SIDE, 14) for _ in "ab"] for _ in range(3)]
        super().__init__({"edges": In(ArrayLayout(EDGE, 3)), "x": In(14), "y": In(14), "o": Out(4)})

    @property
    def latency(self) -> int:
        """Clocks: products, E at the quad, E at its pixels, all edges."""
        return self._products[0][0].latency + 3

    def elaborate(self, platform: object) -> Module:
        m = Module()
        outside = []
        for k, (products, edge) in enumerate(zip(self._products, self.edges, strict=True)):
            for product, name, place in zip(products, "ab", (self.x, self.y), strict=True):
                m.submodules[f"{name}{k}_product"] = product
                m.d.comb += [product.a.eq(edge[name]), product.b.eq(place[1:])]
            kept = delay(m, edge, products[0].latency, f"edge_{k}")
            grown = sum(product.o for product in products) << 1
            value = register(m, kept.c + grown, INNER, f"value_{k}")
            right, down = (register(m, kept[name], signed(SIDE), f"{name}{k}") for name in "ab")
            steps = [0, right, down, right + down]
            found = named(m, Cat(value + step < 0 for step in steps), f"found_{k}")
            outside.append(register(m, found, 4, f"outside_{k}"))
        m.d.sync += self.o.eq(~(outside[0] | outside[1] | outside[2]))
        return m
