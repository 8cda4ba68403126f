# SPDX-License-Identifier: BSD-2-Clause
"""References of comparisons, which become what a texture stores."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout, View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.float32.unorm import ToUnorm
from fixfunc.rtl.texture.unit.layouts import PIXELS
from fixfunc.spec.textures.cache import StoredFormat
from fixfunc.spec.textures.unit import TextureKind

# float32 of each pixel, and how the texture stores them: as they are, with 16 bits, or with 24.
FLOATS = StructLayout({"pixels": ArrayLayout(32, PIXELS), "is_float": 1, "is_short": 1})
STORED = ArrayLayout(32, PIXELS)


def enter_references(m: Module, beats: stream.Interface, out: View) -> None:
    """References of the quads of a texture unit's stream, by the STATE before them."""
    beat = beats.payload
    form = Signal(5, name="compared_format")
    with m.If(beats.valid & (beat.kind == TextureKind.STATE)):
        m.d.sync += form.eq(beat.state.format)
    m.d.comb += [
        out.is_float.eq(form == StoredFormat.R32_FLOAT),
        out.is_short.eq(form == StoredFormat.R16_UNORM),
        *(out.pixels[pixel].eq(beat.quad[f"reference{pixel}"]) for pixel in range(PIXELS)),
    ]


class StoredReferences(wiring.Component):
    """Four references as they are stored; free-running.

    Members
    -------
    i : In(FLOATS)
    o : Out(STORED)
        The nearest UNORM, of which NaN is 0, or float32: :attr:`LATENCY` clocks later.
    """

    LATENCY = ToUnorm.LATENCY

    def __init__(self) -> None:
        super().__init__({"i": In(FLOATS), "o": Out(STORED)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        late = delay(m, self.i, self.LATENCY, "late")
        for pixel in range(PIXELS):
            m.submodules[f"pixel_{pixel}"] = unit = ToUnorm((24, 0), (16, 0))
            m.d.comb += [
                unit.a.eq(self.i.pixels[pixel]),
                unit.unit.eq(Mux(self.i.is_short, 2, 1)),
                self.o[pixel].eq(Mux(late.is_float, late.pixels[pixel], unit.o)),
            ]
        return m
