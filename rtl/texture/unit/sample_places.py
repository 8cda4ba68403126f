# SPDX-License-Identifier: BSD-2-Clause
"""Sample places: coordinates of the samples of a footprint, along its axis."""

import struct
from fractions import Fraction

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, named
from fixfunc.rtl.lib.delay import delay, later, register
from fixfunc.rtl.lib.float32.multiply_add import MultiplyAdd
from fixfunc.rtl.payload import carried
from fixfunc.rtl.texture.unit.layouts import PIXELS, GridBeats
from fixfunc.spec.textures.level_of_detail import ANISOTROPY


def share(sample: int, count: int) -> int:
    """How far a sample lies from the middle, of the axis: bits of the nearest float32."""
    value = Fraction(2 * sample + 1 - count, 2 * count)
    return struct.unpack("<I", struct.pack("<f", float(value)))[0]


class SamplePlaces(wiring.Component):
    """Moves the coordinates of pixels to a sample, by a multiply-add each; free-running.

    The only sample of a pixel is its place itself.

    Parameters
    ----------
    beats : GridBeats

    Members
    -------
    i : In(beats.to_move)
    o : Out(beats.to_place)
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 1 + MultiplyAdd.STEPS

    def __init__(self, beats: GridBeats) -> None:
        super().__init__({"i": In(beats.to_move), "o": Out(beats.to_place)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        kept = Signal.like(self.o)
        m.d.comb += [kept.kind.eq(self.i.kind), *carried(kept, self.i, ("kind", "pixels"))]
        for pixel in range(PIXELS):
            m.d.comb += carried(kept.pixels[pixel], self.i.pixels[pixel])
        late = later(m, kept, self.LATENCY, "kept_later")
        m.d.comb += [self.o.kind.eq(late.kind), *carried(self.o, late, ("kind", "pixels"))]
        for pixel in range(PIXELS):
            own, out = self.i.pixels[pixel], self.o.pixels[pixel]
            of_count = [
                choose(self.i.sample, [self._share(sample, count) for sample in range(ANISOTROPY)])
                for count in range(1, ANISOTROPY + 1)
            ]
            options = [Const(0, 32), *of_count]
            found = register(m, choose(own.count, options), 32, f"share_{pixel}")
            several = named(m, own.count > 1, f"several_{pixel}")
            several = delay(m, several, self.LATENCY, f"several_{pixel}")
            m.d.comb += carried(out, late.pixels[pixel], ("u", "v"))
            for name in "uv":
                m.submodules[f"move_{name}{pixel}"] = move = MultiplyAdd()
                coordinate = register(m, own[name], 32, f"{name}_{pixel}")
                m.d.comb += [
                    move.a.eq(found),
                    move.b.eq(register(m, own[f"along_{name}"], 32, f"along_{name}_{pixel}")),
                    move.c.eq(coordinate),
                    out[name].eq(Mux(several, move.o, late.pixels[pixel][name])),
                ]
        return m

    @staticmethod
    def _share(sample, count):
        """Of samples that there are."""
        return Const(share(sample, count), 32) if sample < count else None
