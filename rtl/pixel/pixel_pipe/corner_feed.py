# SPDX-License-Identifier: BSD-2-Clause
"""Corner feed: triangles are fetched ahead of their quads."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.interpolator.triangle_intake import numbered_quad
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.points import QUAD

AHEAD = 32  # quads behind those whose triangle is being fetched
TRIANGLES = 16  # that are to be fetched


class CornerFeed(wiring.Component):
    """Has each triangle fetched once, and holds its quads until the interpolator knows of it.

    A quad a clock.

    Parameters
    ----------
    triangles : int
        That the interpolator holds.

    Members
    -------
    i : In(stream.Signature(layout(QUAD)))
        Quads of triangles, triangle by triangle.
    o : Out(stream.Signature(numbered_quad(triangles)))
        They, as the interpolator takes them.
    current : Out
        The triangle of the quad that left last.
    forget : In(1)
        The triangle of the last quad is over: its ``slot`` may be that of another.
    request : Out(stream.Signature(SLOT_BITS))
        A triangle that is to be fetched.
    fetched : In(1)
        The interpolator takes the last beat of a triangle.
    """

    def __init__(self, triangles: int) -> None:
        super().__init__(
            {
                "i": In(stream.Signature(layout(QUAD))),
                "o": Out(stream.Signature(numbered_quad(triangles))),
                "current": Out(range(2 * triangles)),
                "forget": In(1),
                "request": Out(stream.Signature(SLOT_BITS)),
                "fetched": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.quads = quads = StreamFIFO(self.o.payload.shape(), AHEAD)
        m.submodules.triangles = triangles = StreamFIFO(SLOT_BITS, TRIANGLES)
        wiring.connect(m, triangles.o, wiring.flipped(self.request))
        newest = Signal.like(self.current, init=-1)  # triangle that was asked for
        coming = Signal.like(self.current)  # the first that the interpolator does not know
        slot = Signal(SLOT_BITS)
        is_known = Signal()
        quad = self.i.payload
        is_first = named(m, ~is_known | (quad.slot != slot), "is_first")
        number = named(m, (newest + is_first)[: len(newest)], "number")
        has_room = named(m, quads.i.ready & triangles.i.ready, "has_room")
        takes = named(m, self.i.valid & has_room, "takes")
        m.d.comb += [
            self.i.ready.eq(has_room),
            quads.i.valid.eq(takes),
            quads.i.payload.quad.eq(quad),
            quads.i.payload.triangle.eq(number),
            triangles.i.valid.eq(takes & is_first),
            triangles.i.payload.eq(quad.slot),
        ]
        with m.If(takes):
            m.d.sync += [slot.eq(quad.slot), is_known.eq(1), newest.eq(number)]
        with m.If(self.forget):
            m.d.sync += is_known.eq(0)
        head = quads.o.payload
        is_ready = named(m, head.triangle != coming, "is_ready")
        m.d.comb += [
            self.o.valid.eq(quads.o.valid & is_ready),
            self.o.payload.eq(head),
            quads.o.ready.eq(self.o.ready & is_ready),
        ]
        with m.If(self.fetched):
            m.d.sync += coming.eq(coming + 1)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += self.current.eq(head.triangle)
        return m
