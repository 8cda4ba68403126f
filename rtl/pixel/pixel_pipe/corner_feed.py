# SPDX-License-Identifier: BSD-2-Clause
"""Corner feed: the interpolator hears of a triangle before its quads."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.interpolator.triangle_intake import BEATS
from fixfunc.rtl.pixel.pixel_pipe.triangle_fetch import BEATS as FETCHED
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.pixels.interpolation import InterpolatorKind
from fixfunc.spec.points import QUAD

AHEAD = 16  # quads behind those whose triangle is being fetched
TRIANGLES = 4  # that are to be fetched


class CornerFeed(wiring.Component):
    """Puts corners and attributes of a triangle before its first quad. A beat a clock.

    Quads wait in a FIFO, so that the next triangle is fetched meanwhile.

    Members
    -------
    i : In(stream.Signature(layout(QUAD)))
        Quads of triangles, triangle by triangle.
    o : Out(stream.Signature(...))
        As the interpolator takes them.
    forget : In(1)
        The triangle of the last quad is over: its ``slot`` may be that of another.
    request : Out(stream.Signature(SLOT_BITS))
        A triangle that is to be fetched.
    fetched : In(stream.Signature(...))
        What is known of these: see
        :class:`~fixfunc.rtl.pixel.pixel_pipe.triangle_fetch.TriangleFetch`.
    """

    i: In(stream.Signature(layout(QUAD)))
    o: Out(stream.Signature(BEATS))
    forget: In(1)
    request: Out(stream.Signature(SLOT_BITS))
    fetched: In(stream.Signature(FETCHED))

    def elaborate(self, platform):
        m = Module()
        waiting = StructLayout({"quad": layout(QUAD), "is_first": 1})
        m.submodules.quads = quads = StreamFIFO(waiting, AHEAD)
        m.submodules.triangles = triangles = StreamFIFO(SLOT_BITS, TRIANGLES)
        wiring.connect(m, triangles.o, wiring.flipped(self.request))
        current = Signal(SLOT_BITS)
        is_known = Signal()
        quad = self.i.payload
        is_first = named(m, ~is_known | (quad.slot != current), "is_first")
        has_room = named(m, quads.i.ready & triangles.i.ready, "has_room")
        m.d.comb += [
            self.i.ready.eq(has_room),
            quads.i.valid.eq(self.i.valid & has_room),
            quads.i.payload.quad.eq(quad),
            quads.i.payload.is_first.eq(is_first),
            triangles.i.valid.eq(self.i.valid & has_room & is_first),
            triangles.i.payload.eq(quad.slot),
        ]
        with m.If(self.i.valid & has_room):
            m.d.sync += [current.eq(quad.slot), is_known.eq(1)]
        with m.If(self.forget):
            m.d.sync += is_known.eq(0)
        self._merge(m, quads.o)
        return m

    def _merge(self, m, quads):
        """A triangle's beats, then its quads."""
        loaded = Signal()  # the triangle of the quad that waits
        head = quads.payload
        is_loading = named(m, head.is_first & ~loaded, "is_loading")
        beat = self.fetched.payload
        out = self.o.payload
        m.d.comb += [
            self.o.valid.eq(quads.valid & (~is_loading | self.fetched.valid)),
            quads.ready.eq(self.o.ready & ~is_loading),
            self.fetched.ready.eq(quads.valid & is_loading & self.o.ready),
        ]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += loaded.eq(Mux(is_loading, beat.last, 0))
        with m.If(~is_loading):
            m.d.comb += [
                out.quad.kind.eq(InterpolatorKind.QUAD),
                *(out.quad[f.name].eq(head.quad[f.name]) for f in QUAD),
            ]
        with m.Elif(beat.is_corners):
            m.d.comb += out.corners.eq(beat.corners)
        with m.Else():
            m.d.comb += out.attribute.eq(beat.attribute)
