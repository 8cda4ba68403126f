# SPDX-License-Identifier: BSD-2-Clause
"""Footprints of pixels: level of detail, number of samples, and their axis."""

import math

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, gated, maximum, minimum, named, pick
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.lib.float32.digit_recurrence import Divide
from fixfunc.rtl.texture.level_of_detail.ellipse import PAIR, Ellipse
from fixfunc.rtl.texture.level_of_detail.gradients import SQUARE, VECTOR, Gradients, late
from fixfunc.rtl.texture.level_of_detail.logarithm import finite, logarithm
from fixfunc.spec.textures.level_of_detail import ANISOTROPY, LOD

# Logarithms of numbers of samples.
RATIOS = [round(256 * math.log2(n)) for n in range(1, ANISOTROPY + 1)]
RATIO = RATIOS[-1].bit_length()
COUNT = ANISOTROPY.bit_length()
FOOTPRINT = StructLayout({"lod": signed(LOD), "count": COUNT, "along": VECTOR})


class Footprints(wiring.Component):
    """The footprint of a pixel, a clock each; free-running.

    Inputs are those of a pixel, in the clocks in which its quad's gradients have them.

    Members
    -------
    differences, sizes : In(PAIR), In(VECTOR)
        Gradients of coordinates, and width and height as float32.
    texels : In(PAIR)
        Gradients in texels, ``TEXELS - DIFFERENCES`` of gradients later.
    squares : In(PAIR)
        Squares of those, ``SQUARES - DIFFERENCES`` clocks later.
    lengths : In(StructLayout({"x": 31, "y": 31}))
        Squared ones, ``LENGTHS - DIFFERENCES`` clocks later.
    anisotropy : In(5)
        Most samples, 2 at least; above 16 it counts as 16. With ``differences``.
    o : Out(FOOTPRINT)
        :attr:`LATENCY` clocks behind ``differences``; of one sample ``along`` is 0.
    """

    _TEXELS = Gradients.TEXELS - Gradients.DIFFERENCES
    _LENGTHS = Gradients.LENGTHS - Gradients.DIFFERENCES
    _AXIS = _TEXELS + Ellipse.LATENCY
    _ALONG = _AXIS + Divide.STEPS
    LATENCY = _ALONG + 1

    def __init__(self) -> None:
        super().__init__(
            {
                "differences": In(PAIR),
                "sizes": In(VECTOR),
                "texels": In(PAIR),
                "squares": In(PAIR),
                "lengths": In(StructLayout({"x": SQUARE, "y": SQUARE})),
                "anisotropy": In(COUNT),
                "o": Out(FOOTPRINT),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ellipse = ellipse = Ellipse()
        m.d.comb += [
            ellipse.texels.eq(self.texels),
            ellipse.squares.eq(self.squares),
        ]
        early = late(
            m, "early", self._AXIS, sizes=self.sizes.as_value(), anisotropy=self.anisotropy
        )
        longer, plain = self._longer(m)
        level, count = self._level(m, ellipse, longer, early.anisotropy)
        sizes = VECTOR(early.sizes)
        beside = late(m, "beside", Divide.STEPS, plain=plain, valid=ellipse.valid)
        along = Signal(VECTOR)
        for name in "uv":
            m.submodules[f"along_{name}"] = quotient = Divide()
            m.d.comb += [
                quotient.a.eq(ellipse.axis[name]),
                quotient.b.eq(sizes[name]),
                along[name].eq(Mux(beside.valid, quotient.o, VECTOR(beside.plain)[name])),
            ]
        m.d.sync += [
            self.o.lod.eq(level),
            self.o.count.eq(count),
            self.o.along.eq(gated(along.as_value(), count != 1)),
        ]
        return m

    def _longer(self, m):
        """The greater squared length, and its gradient, as late as the axis."""
        x, y = self.lengths.x, self.lengths.y
        down_longer = named(m, y > x, "down_longer")
        held = late(m, "differences_held", self._LENGTHS, both=self.differences.as_value())
        plain = Mux(down_longer, PAIR(held.both).y.as_value(), PAIR(held.both).x.as_value())
        clocks = self._AXIS - self._LENGTHS
        longer = late(m, "longer", clocks, square=maximum(x, y), plain=plain)
        return longer.square, longer.plain

    def _level(self, m, ellipse, longer, anisotropy):
        """Level and number of samples, as late as the quotients."""
        square = register(m, Mux(ellipse.valid, ellipse.square, longer), SQUARE, "major_square")
        determinant = register(m, finite(ellipse.determinant), SQUARE, "determinant")
        major = register(m, logarithm(m, square, "major"), signed(LOD), "major")
        minor = register(m, logarithm(m, determinant, "determinant"), signed(LOD), "minor")
        options = [RATIOS[min(max(n, 1), ANISOTROPY) - 1] for n in range(1 << COUNT)]
        most = register(m, choose(delay(m, anisotropy, 1, "most"), options), RATIO, "most_ratio")
        difference = named(m, major - minor, "difference")
        held = Mux(difference < 0, 0, minimum(difference.as_unsigned(), most))
        ratio = register(m, held, RATIO, "ratio")
        half = register(m, major >> 1, signed(LOD), "half")
        level = register(m, half - ratio, signed(LOD), "level")
        late_ratio = delay(m, ratio, 1, "late_ratio")
        # A footprint that is narrower than a texel has as many samples as it is texels long.
        lacking = named(m, late_ratio + minimum(level, 0), "lacking")
        kept = register(m, maximum(lacking, 0), RATIO, "kept")
        above = named(m, Cat(kept > least for least in RATIOS[:-1]), "above")
        # Its ones lie below its zeros: the first of these tells how many there are.
        first = Cat(Const(1, 1), above) & ~Cat(above, Const(0, 1))
        found = pick(first, [Const(n, COUNT) for n in range(1, ANISOTROPY + 1)])
        count = register(m, found, COUNT, "count")
        clocks = Divide.STEPS - 6
        return delay(m, level, clocks + 2, "level"), delay(m, count, clocks, "count")
