# SPDX-License-Identifier: BSD-2-Clause
"""A pixel of a quad whose texels are halves, a channel a clock."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, gated, named
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.lib.float32.convert import widened
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.texture.filter.channel_sum import FRACTION
from fixfunc.rtl.texture.filter.lerp import Lerp, share_of
from fixfunc.rtl.texture.filter.pixel_sums import TEXELS
from fixfunc.spec.textures.filter import CHANNELS, CORNERS, GATHERED, FilterOp

SAMPLES = 16  # of a pixel, at most
IS_HALF = Const(0b0010, 4)  # of widened
CHANNEL = StructLayout(
    {
        "channel": range(len(CHANNELS)),
        "texels": TEXELS,
        "u": FRACTION,
        "v": FRACTION,
        "op": 2,
        "component": 2,
        "missing": CORNERS,  # a corner that is the mean of the others, and of extremes none
        "first_level": 1,  # the grid is the first of two levels
        "share": FRACTION,  # of the level before, if the grid is the second
        "completed": 1,  # with the grid there is one sample more
        "number": range(SAMPLES),  # of samples before
        "words": 2,  # texels are float32, red, and green: the first is the result
    }
)

PASSED = "channel", "first_level", "share", "completed", "number"  # from the grid on to its samples


class HalfPixel(wiring.Component):
    """A channel of a pixel's grid, and the samples before it; free-running.

    Between columns, rows and levels, then the mean of samples, each in float32. Channels of a grid
    come in order; two grids that complete samples of a quad lie :attr:`SPACING` clocks apart.

    Parameters
    ----------
    corners : bool
        Corners may be missing.
    words : bool
        Texels may be float32: of a grid of weight 256 the first is the result, of a gather as it
        lies.

    Members
    -------
    i : In(CHANNEL)
    o : Out(32)
        Of the samples so far: :attr:`latency` clocks later.
    """

    SPACING = Lerp.LATENCY + 1
    WORDS = 2  # clock in which texels are float32

    def __init__(self, corners: bool, words: bool) -> None:
        self._corners = corners
        self._words_pass = words
        self._filled = self.WORDS + (2 * Lerp.LATENCY if corners else 0)
        self._rows, self._grid, self._levels, self._mean, self.latency = (
            self._filled + 1 + n * Lerp.LATENCY for n in range(5)
        )
        super().__init__({"i": In(CHANNEL), "o": Out(32)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        i = self.i
        t = Timeline(m)
        gathers = i.op == FilterOp.GATHER
        if self._words_pass:
            word = self._word(m, gathers)
            t.enter(0, lower=word[:16], upper=word[16:], is_word=i.words[0])
            t.enter(0, unaltered=gathers & i.words[0])
        filters = named(m, ~gathers & ~(i.words[0] & self._words_pass), "filters")
        t.enter(
            0,
            **{name: i[name] for name in PASSED},
            missing=i.missing,
            gathers=named(m, gathers, "gathers"),
            u=gated(i.u, filters),
            v=gated(i.v, filters),
            extreme=(i.op == FilterOp.MINIMUM) | (i.op == FilterOp.MAXIMUM),
            greatest=i.op == FilterOp.MAXIMUM,
        )
        texels = self._texels(m, t)
        u = share_of(m, t[self._rows].u, "u")
        rows = [
            self._lerp(m, t, self._rows, *texels[2 * n : 2 * n + 2], u, f"row_{n}")
            for n in range(2)
        ]
        grid = self._lerp(m, t, self._grid, *rows, share_of(m, t[self._grid].v, "v"), "grid")
        now = t[self._levels]
        first_levels = Signal(ArrayLayout(32, len(CHANNELS)))
        of_channel = first_levels[now.channel]
        with m.If(now.first_level):
            m.d.sync += of_channel.eq(grid)
        share = share_of(m, now.share, "level")
        level = self._lerp(m, t, self._levels, grid, of_channel, share, "level")
        now, end = t[self._mean], t[self.latency]
        total = Signal(ArrayLayout(32, len(CHANNELS)))
        mean_before = Mux(now.number.any(), total[now.channel], level)
        weight = choose(now.number, [_reciprocal(n) for n in range(SAMPLES)])
        mean = self._lerp(m, t, self._mean, mean_before, level, weight, "mean")
        of_channel = total[end.channel]
        with m.If(end.completed):
            m.d.sync += of_channel.eq(mean)
        m.d.comb += self.o.eq(Mux(end.completed, mean, of_channel))
        return m

    def _texels(self, m, t):
        """The texels of the channel as float32; of a gather the one that counts is the first."""
        halves = []
        for corner, texel in enumerate(self.i.texels):
            number = Mux(t[0].gathers, self.i.component, self.i.channel)
            own = choose(number, [texel[n] for n in range(len(CHANNELS))])
            if self._words_pass and corner == 0:
                own = Mux(t[0].is_word, t[0].lower, own)
            halves.append(register(m, own, 16, f"half_{corner}"))
        words = self._words(m, halves, self._filled - self.WORDS, "texel", t)
        now = t[self._filled]
        if self._corners:
            substitute = Mux(now.extreme, FLOAT32.nan, self._mean_of_three(m, t, halves))
            substitute = named(m, substitute, "substitute")
            words = [Mux(now.missing[n], substitute, word) for n, word in enumerate(words)]
        gathered = choose(now.channel, [words[corner] for corner in GATHERED])
        gathers = now.gathers & ~now.is_word if self._words_pass else now.gathers
        words[0] = Mux(gathers, gathered, words[0])
        return [register(m, word, 32, f"filled_{n}") for n, word in enumerate(words)]

    def _word(self, m, gathers):
        """What of float32 is the result: bits of the channel's number, or of the corner's."""
        i = self.i
        number = Mux(gathers, i.component, i.channel)
        corner = choose(gated(i.channel, gathers), [i.texels[n] for n in GATHERED])
        texel = Mux(gathers, corner, Value.cast(i.texels[0]))
        green = gated(texel[32:], i.words[1])
        return named(m, choose(number, [texel[:32], green, 0, FLOAT32.one]), "word")

    def _words(self, m, halves, clocks, name, t=None):
        """Halves as float32, a clock later and so many more; of texels that are, the first."""
        out = []
        for n, half in enumerate(halves):
            later = delay(m, half, clocks, f"{name}_half_{n}")
            word = widened(m, later, IS_HALF, f"{name}_wide_{n}")
            if t and self._words_pass and n == 0:
                before = t[self._filled - 1]
                word = Mux(before.is_word, Cat(later, before.upper), word)
            out.append(register(m, word, 32, f"{name}_{n}"))
        return out

    def _mean_of_three(self, m, t, halves):
        """Of the corners that are there, in their order: by a half, then by a third."""
        missing = t[1].missing
        first = Mux(missing[0], halves[1], halves[0])
        second = Mux(missing[:2].any(), halves[2], halves[1])
        final = Mux(missing[3], halves[2], halves[3])
        two = self._words(m, (first, second), 0, "of_two")
        (last,) = self._words(m, (final,), Lerp.LATENCY, "third")
        # Of two samples, and of three: their mean is not that of extremes.
        half, third = _reciprocal(1), _reciprocal(2)
        mean = self._lerp(m, t, self.WORDS, *two, half, "mean_of_two")
        return self._lerp(m, t, self.WORDS + Lerp.LATENCY, mean, last, third, "mean_of_three")

    def _lerp(self, m, t, clock, a, b, share, name):
        """Interpolate two values of a clock, or find their extreme."""
        unit = Lerp()
        m.submodules[name] = unit
        m.d.comb += [
            unit.a.eq(a),
            unit.b.eq(b),
            unit.share.eq(share),
            unit.extreme.eq(t[clock].extreme),
            unit.greatest.eq(t[clock].greatest),
            unit.unaltered.eq(t[clock].unaltered if self._words_pass else 0),
        ]
        return unit.o


def _reciprocal(before):
    """1 / n, n samples being one more than those before: the nearest float32; of the first 0."""
    if not before:
        return Const(0, 32)
    count = before + 1
    halvings = (count - 1).bit_length()
    # 2^halvings / n is 1 or more, and below 2.
    top = 1 << halvings + FLOAT32.fraction
    mantissa = (2 * top + count) // (2 * count)
    return Const(((FLOAT32.bias - halvings) << FLOAT32.fraction) + mantissa - (1 << 23), 32)
