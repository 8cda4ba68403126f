# SPDX-License-Identifier: BSD-2-Clause
"""Layers of quads, which become numbers."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout, View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import minimum, named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.float32.convert import ToFixed
from fixfunc.rtl.texture.unit.layouts import PIXELS
from fixfunc.spec.textures.cache import LAYER
from fixfunc.spec.textures.unit import TextureKind

# float32 of each pixel, and the number of the last layer.
FLOATS = StructLayout({"pixels": ArrayLayout(32, PIXELS), "last": LAYER})
NUMBERS = ArrayLayout(LAYER, PIXELS)


def enter_layers(m: Module, beats: stream.Interface, out: View) -> None:
    """Layers of the quads of a texture unit's stream, by the STATE before them."""
    beat = beats.payload
    last = Signal(LAYER, name="last_layer")
    with m.If(beats.valid & (beat.kind == TextureKind.STATE)):
        m.d.sync += last.eq(beat.state.last_layer)
    m.d.comb += [
        out.last.eq(last),
        *(out.pixels[pixel].eq(beat.quad[f"layer{pixel}"]) for pixel in range(PIXELS)),
    ]


class LayerNumbers(wiring.Component):
    """Numbers of four layers; free-running.

    Members
    -------
    i : In(FLOATS)
    o : Out(NUMBERS)
        The nearest layer, of two the even one, and of those that there are; NaN is 0.
        :attr:`LATENCY` clocks later.
    """

    LATENCY = ToFixed.STEPS

    def __init__(self) -> None:
        super().__init__({"i": In(FLOATS), "o": Out(NUMBERS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        last = delay(m, self.i.last, self.LATENCY, "last")
        for pixel in range(PIXELS):
            m.submodules[f"pixel_{pixel}"] = unit = ToFixed(LAYER + 1, 0)
            positive = named(m, Mux(unit.o < 0, 0, unit.o[:LAYER]), f"positive_{pixel}")
            m.d.comb += [
                unit.a.eq(self.i.pixels[pixel]),
                self.o[pixel].eq(minimum(positive, last)),
            ]
        return m
