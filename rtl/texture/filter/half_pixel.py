# SPDX-License-Identifier: BSD-2-Clause
"""A pixel of a quad whose texels are halves, a channel a clock."""

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, gated, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.float32.convert import widened
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.texture.filter.channel_sum import FRACTION
from fixfunc.rtl.texture.filter.towards import Towards, share_of
from fixfunc.spec.textures.filter import CHANNELS, CORNERS, GATHERED, FilterOp

SAMPLES = 16  # of a pixel, at most
IS_HALF = Const(0b0010, 4)  # of widened
CHANNEL = StructLayout(
    {
        "channel": range(len(CHANNELS)),
        "texels": ArrayLayout(ArrayLayout(16, len(CHANNELS)), CORNERS),
        "u": FRACTION,
        "v": FRACTION,
        "op": 2,
        "component": 2,
        "begins": 1,  # the grid is the first of two levels
        "share": FRACTION,  # of the level before, if the grid is the second
        "completes": 1,  # with the grid there is one sample more
        "number": range(SAMPLES),  # of samples before
    }
)


class HalfPixel(wiring.Component):
    """A channel of a pixel's grid, and the samples before it; free-running.

    Between columns, rows and levels, then the mean of samples, each in float32. Channels of a grid
    come in order; two grids that complete samples of a quad lie :attr:`APART` clocks apart.

    Members
    -------
    i : In(CHANNEL)
    o : Out(32)
        Of the samples so far: :attr:`LATENCY` clocks later.
    """

    ROWS = 2  # clock in which texels are float32
    GRID = ROWS + Towards.LATENCY
    LEVELS = GRID + Towards.LATENCY
    MEAN = LEVELS + Towards.LATENCY
    LATENCY = MEAN + Towards.LATENCY
    APART = Towards.LATENCY + 1
    i: In(CHANNEL)
    o: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        i = self.i
        t = Timeline(m)
        gathers = i.op == FilterOp.GATHER
        t.enter(
            0,
            **{name: i[name] for name in ("channel", "begins", "share", "completes", "number")},
            u=gated(i.u, ~gathers),
            v=gated(i.v, ~gathers),
            extreme=(i.op == FilterOp.MINIMUM) | (i.op == FilterOp.MAXIMUM),
            greatest=i.op == FilterOp.MAXIMUM,
        )
        texels = self._texels(m, named(m, gathers, "gathers"))
        u = share_of(m, t[self.ROWS].u, "u")
        rows = [
            self._towards(m, t, self.ROWS, *texels[2 * n : 2 * n + 2], u, f"row_{n}")
            for n in range(2)
        ]
        grid = self._towards(m, t, self.GRID, *rows, share_of(m, t[self.GRID].v, "v"), "grid")
        now = t[self.LEVELS]
        smaller = Signal(ArrayLayout(32, len(CHANNELS)))  # values of the level before
        of_channel = smaller[now.channel]
        with m.If(now.begins):
            m.d.sync += of_channel.eq(grid)
        share = share_of(m, now.share, "level")
        level = self._towards(m, t, self.LEVELS, grid, of_channel, share, "level")
        now, end = t[self.MEAN], t[self.LATENCY]
        total = Signal(ArrayLayout(32, len(CHANNELS)))
        before = Mux(now.number.any(), total[now.channel], level)
        part = choose(now.number, [_part(n) for n in range(SAMPLES)])
        mean = self._towards(m, t, self.MEAN, before, level, part, "mean")
        of_channel = total[end.channel]
        with m.If(end.completes):
            m.d.sync += of_channel.eq(mean)
        m.d.comb += self.o.eq(Mux(end.completes, mean, of_channel))
        return m

    def _texels(self, m, gathers):
        """The four texels of the channel as float32; of a gather one is enough."""
        out = []
        for corner in range(CORNERS):
            own = choose(self.i.channel, [self.i.texels[corner][n] for n in range(len(CHANNELS))])
            if corner == 0:
                of_corner = [
                    choose(self.i.component, [self.i.texels[k][n] for n in range(len(CHANNELS))])
                    for k in GATHERED
                ]
                own = Mux(gathers, choose(self.i.channel, of_corner), own)
            half = register(m, own, 16, f"half_{corner}")
            word = widened(m, half, IS_HALF, f"texel_{corner}")
            out.append(register(m, word, 32, f"texel_{corner}"))
        return out

    def _towards(self, m, t, clock, a, b, share, name):
        """From one towards the other, of what enters in a clock."""
        unit = Towards()
        m.submodules[name] = unit
        m.d.comb += [
            unit.a.eq(a),
            unit.b.eq(b),
            unit.share.eq(share),
            unit.extreme.eq(t[clock].extreme),
            unit.greatest.eq(t[clock].greatest),
        ]
        return unit.o


def _part(before):
    """1 / n, n samples being one more than those before: the nearest float32; of the first 0."""
    if not before:
        return Const(0, 32)
    count = before + 1
    halvings = (count - 1).bit_length()
    # 2^halvings / n is 1 or more, and below 2.
    top = 1 << halvings + FLOAT32.fraction
    mantissa = (2 * top + count) // (2 * count)
    return Const(((FLOAT32.bias - halvings) << FLOAT32.fraction) + mantissa - (1 << 23), 32)
