# SPDX-License-Identifier: BSD-2-Clause
"""State feed: quads enter a pipeline, each with the state that stood before it."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.skid_buffer import StallablePipeline


def feed(m: Module, beats: stream.Interface, pipeline: StallablePipeline, quad: int) -> None:
    """A STATE is held, and takes a clock; a quad goes on with it.

    Parameters
    ----------
    m : Module
    beats : stream.Interface
        Of ``kind``, ``state`` and ``quad``.
    pipeline : StallablePipeline
        Its beats are a ``state`` and a ``quad``.
    quad : int
        The kind of a quad; any other is a STATE.
    """
    state = Signal.like(pipeline.i.payload.state, name="state")
    is_quad = named(m, beats.payload.kind == quad, "is_quad")
    m.d.comb += [
        beats.ready.eq(~is_quad | pipeline.i.ready),
        pipeline.i.valid.eq(beats.valid & is_quad),
        pipeline.i.payload.state.eq(state),
        pipeline.i.payload.quad.eq(beats.payload.quad),
    ]
    with m.If(beats.valid & ~is_quad):
        m.d.sync += state.eq(beats.payload.state)
