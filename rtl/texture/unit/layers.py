# SPDX-License-Identifier: BSD-2-Clause
"""Layers of quads, which become numbers."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout, View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import minimum, named
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.lib.float32.convert import ToFixed
from fixfunc.rtl.texture.unit.layouts import PIXELS
from fixfunc.spec.textures.cache import LAYER
from fixfunc.spec.textures.unit import TextureKind

# float32 of each pixel, and the number of the last layer, or cube.
FLOATS = StructLayout({"pixels": ArrayLayout(32, PIXELS), "last": LAYER, "cube": 1})
NUMBERS = ArrayLayout(LAYER, PIXELS)


def enter_layers(m: Module, beats: stream.Interface, out: View) -> None:
    """Layers of the quads of a texture unit's stream, by the STATE before them."""
    beat = beats.payload
    last = Signal(LAYER, name="last_layer")
    cube = Signal(name="cube_layers")
    with m.If(beats.valid & (beat.kind == TextureKind.STATE)):
        m.d.sync += [last.eq(beat.state.last_layer), cube.eq(beat.state.cube)]
    m.d.comb += [
        out.last.eq(last),
        out.cube.eq(cube),
        *(out.pixels[pixel].eq(beat.quad[f"layer{pixel}"]) for pixel in range(PIXELS)),
    ]


class LayerNumbers(wiring.Component):
    """Numbers of four layers; free-running.

    Parameters
    ----------
    cubes : bool
        A layer may be a cube: then its number is that of its first face.

    Members
    -------
    i : In(FLOATS)
    o : Out(NUMBERS)
        The nearest layer, of two the even one, and of those that there are; NaN is 0.
        :attr:`latency` clocks later.
    """

    def __init__(self, cubes: bool = False) -> None:
        self._cubes = cubes
        super().__init__({"i": In(FLOATS), "o": Out(NUMBERS)})

    @property
    def latency(self) -> int:
        """Clocks of a number."""
        return ToFixed.STEPS + self._cubes

    def elaborate(self, platform: object) -> Module:
        m = Module()
        last = delay(m, self.i.last, ToFixed.STEPS, "last")
        cube = delay(m, self.i.cube, self.latency, "cube") if self._cubes else 0
        for pixel in range(PIXELS):
            m.submodules[f"pixel_{pixel}"] = unit = ToFixed(LAYER + 1, 0)
            positive = named(m, Mux(unit.o < 0, 0, unit.o[:LAYER]), f"positive_{pixel}")
            number = minimum(positive, last)
            if self._cubes:
                held = register(m, number, LAYER, f"number_{pixel}")
                number = Mux(cube, (held << 2) + (held << 1), held)
            m.d.comb += [
                unit.a.eq(self.i.pixels[pixel]),
                self.o[pixel].eq(number),
            ]
        return m
