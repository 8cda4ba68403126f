# SPDX-License-Identifier: BSD-2-Clause
"""State feed: quads enter a pipeline, each with the state that stood before it."""

from collections.abc import Callable

from amaranth.hdl import Module, Signal, ValueLike
from amaranth.lib import stream
from amaranth.lib.data import View

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.skid_buffer import StallablePipeline

PIXELS = 4
TURN = range(PIXELS)  # of a pixel, which a clock of a quad is for


def feed(
    m: Module,
    beats: stream.Interface,
    pipeline: StallablePipeline,
    quad: int,
    turns: Callable[[View], ValueLike] | None = None,
) -> View:
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
    turns : callable, optional
        Of a state, whether its quads enter four times, with the number of a ``pixel``. With the
        last one a beat is valid; the others, right before it, leave what it needs of them.

    Returns
    -------
    View
        The state that is held.
    """
    state = Signal.like(pipeline.i.payload.state, name="state")
    is_quad = named(m, beats.payload.kind == quad, "is_quad")
    is_last = 1
    if turns:
        pixel = Signal(TURN, name="pixel")
        several = named(m, turns(state), "several")
        is_last = named(m, ~several | (pixel == PIXELS - 1), "is_last")
        m.d.comb += pipeline.i.payload.pixel.eq(pixel)
        with m.If(beats.valid & is_quad & several & pipeline.i.ready):
            m.d.sync += pixel.eq(pixel + 1)
    m.d.comb += [
        beats.ready.eq(~is_quad | (pipeline.i.ready & is_last)),
        pipeline.i.valid.eq(beats.valid & is_quad & is_last),
        pipeline.i.payload.state.eq(state),
        pipeline.i.payload.quad.eq(beats.payload.quad),
    ]
    with m.If(beats.valid & ~is_quad):
        m.d.sync += state.eq(beats.payload.state)
    return state
