# SPDX-License-Identifier: BSD-2-Clause
"""What quads bring waits, converted, for its turn."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.lib.skid_buffer import StallablePipeline


class ConvertedQueue(wiring.Component):
    """Beats that are converted, then wait, in order of quads.

    Parameters
    ----------
    unit : wiring.Component
        What converts, free-running, from ``i`` to ``o``.
    latency : int
        Clocks from ``unit.i`` to ``unit.o``.
    depth : int
        Quads that wait.

    Members
    -------
    i, o : In, Out(stream.Signature(...))
        One beat a clock.
    """

    def __init__(self, unit: wiring.Component, latency: int, depth: int) -> None:
        self._converter = StallablePipeline(unit, latency, places=1)
        self._queue = StreamFIFO(unit.o.shape(), depth)
        super().__init__(
            {"i": In(stream.Signature(unit.i.shape())), "o": Out(stream.Signature(unit.o.shape()))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.converter = converter = self._converter
        m.submodules.queue = queue = self._queue
        wiring.connect(m, wiring.flipped(self.i), converter.i)
        wiring.connect(m, converter.o, queue.i)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        return m
