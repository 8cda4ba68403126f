# SPDX-License-Identifier: BSD-2-Clause
"""Shading queue: quads go out to a shader, and their tiles wait for its colours."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.memory.surface.state_check import blending_known, needs_second
from fixfunc.rtl.memory.tile_client.plane_states import takes_both
from fixfunc.rtl.output.quads import Quads
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import FORMAT, quads
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Kind

QUADS = 4  # tiles of quads that wait for the shader


class ShadingQueue(wiring.Component):
    """Hand out the quads of each covered tile; keep beats in order meanwhile. One a clock.

    A tile of a draw without a sample has no more to do: it takes no place.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    request : ShapeLike
        Shape of a beat: :func:`~fixfunc.rtl.memory.tile_client.slot_requests.requested_beat`
        of tested tiles.
    depth : int
        Most beats that wait.
    planes : int
        Colour planes.
    formats : sequence of Format
        What they may be.
    second : bool
        Shaders may give a second colour for the first plane.
    floats : bool
        Planes of floats are blended.

    Members
    -------
    i : In(stream.Signature(request))
    quads : Out(stream.Signature(layout(quads(edge, outputs))))
        Quads of tiles of draws of which a sample passed.
    o : Out(stream.Signature(request))
        All beats but hidden tiles.
    shaded : Out(1)
        The beat at ``o`` comes back from the shader with colours.
    late : Out(1)
        The next tile that comes back from the shader is of a draw that is written late.
    back : In(1)
        A tile comes back from the shader.
    """

    def __init__(
        self,
        edge: int,
        request: Any,
        depth: int,
        planes: int,
        formats: Sequence[Format],
        second: bool = False,
        floats: bool = False,
    ) -> None:
        self._second = second
        self._floats = floats
        self._edge = edge
        self._depth = depth
        self._planes = planes
        self._outputs = max(planes, 1 + second)
        self._formats = formats
        self._waiting = StructLayout({"request": request, "shaded": 1})
        super().__init__(
            {
                "i": In(stream.Signature(request)),
                "quads": Out(stream.Signature(layout(quads(edge, self._outputs)))),
                "o": Out(stream.Signature(request)),
                "shaded": Out(1),
                "late": Out(1),
                "back": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        request = self.i.payload
        tile = request.beat.tile
        state = Signal(layout(payloads.DRAW_STATE))
        m.submodules.pixels = pixels = Quads(self._edge, self._outputs)
        m.submodules.out = out = fifo.SyncFIFOBuffered(width=pixels.o.shape().size, depth=QUADS)
        m.submodules.waiting = waiting = CreditedFIFO(self._waiting, self._depth)
        m.submodules.draws = draws = fifo.SyncFIFOBuffered(width=1, depth=self._depth)
        accept = self.i.valid & self.i.ready
        drawn = (request.beat.kind == Kind.WORK) & ~request.clearing
        is_hidden = named(m, drawn & ~tile.mask.any(), "is_hidden")
        queue_accept = named(m, accept & ~is_hidden, "queue_accept")
        shaded = drawn & ~request.refused
        m.d.comb += [
            self.i.ready.eq((waiting.available & out.w_rdy) | is_hidden),
            pixels.state.eq(state),
            pixels.tile.eq(tile),
            out.w_data.eq(pixels.o),
            out.w_en.eq(queue_accept & shaded),
            waiting.consume.eq(queue_accept),
            waiting.push.eq(queue_accept),
            waiting.i.request.eq(request),
            waiting.i.shaded.eq(shaded),
            draws.w_data.eq(~state.early_write),
            draws.w_en.eq(queue_accept & shaded),
            draws.r_en.eq(self.back),
            self.late.eq(draws.r_rdy & draws.r_data),
        ]
        is_state = accept & (request.beat.kind == Kind.STATE)
        with m.If(is_state):
            m.d.sync += state.eq(request.beat.draw_state)
        self._keep_formats(m, pixels, is_state, request.beat.draw_state)
        wiring.connect(m, out.r_stream, wiring.flipped(self.quads))
        m.d.comb += [
            self.o.valid.eq(waiting.o.valid),
            self.o.payload.eq(waiting.o.payload.request),
            self.shaded.eq(waiting.o.payload.shaded),
            waiting.o.ready.eq(self.o.ready),
        ]
        return m

    def _keep_formats(self, m, pixels, is_state, new):
        """Those of planes that draw states write: a state of the first begins with the others
        unwritten. A second colour has that of the first plane, while other planes are not written.
        """
        known = blending_known(new, self._formats, self._second, self._planes, self._floats)
        form = named(m, gated(new.colour_format, known & new.colour_write.any()), "form")
        second, both = Const(0), Const(0)
        if self._second:
            second = gated(form, needs_second(new))
            both = takes_both(m, new, is_state, known) if self._planes > 1 else both
        for n in range(self._outputs):
            kept = Signal(FORMAT, name=f"format_{n}")
            m.d.comb += pixels.formats[n].eq(kept)
            is_own = (new.slot == n) if self._planes > 1 else Const(n == 0)
            begins = is_own
            if n:
                begins = (new.slot == 0) if self._planes > 1 else Const(1)
                is_own = is_own & ~both if self._second else is_own
            own = gated(form, is_own)
            with m.If(is_state & (is_own | begins)):
                m.d.sync += kept.eq(Mux(begins, second, own) if n == 1 and self._second else own)
