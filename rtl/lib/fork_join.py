# SPDX-License-Identifier: BSD-2-Clause
"""Handshakes of streams that move together."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Value, ValueLike
from amaranth.lib import stream


def move_together(
    m: Module,
    sources: Sequence[stream.Interface],
    sinks: Sequence[stream.Interface],
    when: ValueLike = 1,
) -> Value:
    """A beat leaves all sources and enters all sinks in one clock, or none does.

    No ``ready`` of a sink may depend on its ``valid``, and no ``valid`` of a source on its
    ``ready``. It assigns the handshakes of these streams, in the branch of ``m.If`` in which it is
    called; payloads are the caller's.

    Parameters
    ----------
    m : Module
    sources, sinks : sequence of stream.Interface
    when : ValueLike
        Else nothing moves.

    Returns
    -------
    Value
        A beat moves.
    """
    valid = [source.valid for source in sources]
    ready = [sink.ready for sink in sinks]
    for n, source in enumerate(sources):
        others = valid[:n] + valid[n + 1 :]
        m.d.comb += source.ready.eq(Cat(when, *others, *ready).all())
    for n, sink in enumerate(sinks):
        others = ready[:n] + ready[n + 1 :]
        m.d.comb += sink.valid.eq(Cat(when, *valid, *others).all())
    return Cat(when, *valid, *ready).all()
