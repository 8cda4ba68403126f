# SPDX-License-Identifier: BSD-2-Clause
"""References of comparisons: they wait, as a texture stores them, for the texels of their quads."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout, View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.lib.float32.unorm import ToUnorm
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.texture.unit.layouts import PIXELS
from fixfunc.spec.textures.cache import StoredFormat
from fixfunc.spec.textures.unit import TextureKind

# float32 of each pixel, and how the texture stores them: as they are, with 16 bits, or with 24.
FLOATS = StructLayout({"pixels": ArrayLayout(32, PIXELS), "is_float": 1, "is_short": 1})
STORED = ArrayLayout(32, PIXELS)


def enter_references(m: Module, beats: stream.Interface, out: View) -> None:
    """References of the quads of a texture unit's stream, for :class:`References`, by the STATE
    before them.
    """
    beat = beats.payload
    form = Signal(5, name="compared_format")
    with m.If(beats.valid & (beat.kind == TextureKind.STATE)):
        m.d.sync += form.eq(beat.state.format)
    m.d.comb += [
        out.is_float.eq(form == StoredFormat.R32_FLOAT),
        out.is_short.eq(form == StoredFormat.R16_UNORM),
        *(out.pixels[pixel].eq(beat.quad[f"reference{pixel}"]) for pixel in range(PIXELS)),
    ]


class References(wiring.Component):
    """Each pixel's reference as a texture stores it, in order of quads.

    Parameters
    ----------
    depth : int
        Quads that wait.

    Members
    -------
    i : In(stream.Signature(FLOATS))
    o : Out(stream.Signature(STORED))
        The nearest UNORM, of which NaN is 0, or float32.
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
    """Four references as they are stored; free-running.

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
        late = delay(m, self.i, ToUnorm.LATENCY, "late")
        for pixel in range(PIXELS):
            m.submodules[f"pixel_{pixel}"] = unit = ToUnorm(24, fewer=16)
            m.d.comb += [
                unit.a.eq(self.i.pixels[pixel]),
                unit.is_short.eq(self.i.is_short),
                self.o[pixel].eq(Mux(late.is_float, late.pixels[pixel], unit.o)),
            ]
        return m
