# SPDX-License-Identifier: BSD-2-Clause
"""References of comparisons: they wait, as a texture stores them, for the texels of their quads."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.lib.float32.unorm import ToUnorm
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.texture.unit.layouts import PIXELS

FLOATS = ArrayLayout(32, PIXELS)
STORED = ArrayLayout(16, PIXELS)


class References(wiring.Component):
    """The UNORM of 16 bits nearest to each pixel's reference, in order of quads.

    Parameters
    ----------
    depth : int
        Quads that wait.

    Members
    -------
    i : In(stream.Signature(FLOATS))
        float32 of each pixel; NaN is 0.
    o : Out(stream.Signature(STORED))
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        super().__init__({"i": In(stream.Signature(FLOATS)), "o": Out(stream.Signature(STORED))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.nearest = nearest = StallablePipeline(Nearest(), ToUnorm.LATENCY)
        m.submodules.waiting = waiting = StreamFIFO(STORED, self._depth)
        wiring.connect(m, wiring.flipped(self.i), nearest.i)
        wiring.connect(m, nearest.o, waiting.i)
        wiring.connect(m, waiting.o, wiring.flipped(self.o))
        return m


class Nearest(wiring.Component):
    """UNORM of four references; free-running.

    Members
    -------
    i : In(FLOATS)
    o : Out(STORED)
        ``ToUnorm.LATENCY`` clocks later.
    """

    def __init__(self) -> None:
        super().__init__({"i": In(FLOATS), "o": Out(STORED)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for pixel in range(PIXELS):
            m.submodules[f"pixel_{pixel}"] = unit = ToUnorm(16)
            m.d.comb += [
                unit.a.eq(self.i[pixel]),
                self.o[pixel].eq(unit.o),
            ]
        return m
