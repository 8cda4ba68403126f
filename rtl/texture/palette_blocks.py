# SPDX-License-Identifier: BSD-2-Clause
"""BC1 to BC5: texels out of palettes that a block defines."""

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.texture.channel import SNORM16, UNORM8, UNORM16, Channel
from fixfunc.rtl.texture.colours import Colours
from fixfunc.spec.state import BlockFormat

WITH_COLOURS = {BlockFormat.BC1, BlockFormat.BC2, BlockFormat.BC3}
CHANNEL_KIND = {
    BlockFormat.BC3: UNORM8,
    BlockFormat.BC4U: UNORM16,
    BlockFormat.BC4S: SNORM16,
    BlockFormat.BC5U: UNORM16,
    BlockFormat.BC5S: SNORM16,
}
WITH_16_BITS = set(CHANNEL_KIND) - {BlockFormat.BC3}
WITH_TWO = {BlockFormat.BC5U, BlockFormat.BC5S}


class PaletteBlocks(wiring.Component):
    """Decode blocks of BC1 to BC5; free-running.

    Parameters
    ----------
    lanes : int
        Texels a clock.
    formats : set of BlockFormat
        Formats to decode.

    Members
    -------
    i : In(128)
        The block.
    row : In(range(max(16 // lanes, 2)))
        Which ``lanes`` of its texels to decode.
    format : In(4)
        Format of the block, a :class:`~fixfunc.spec.state.BlockFormat`.
    o : Out(ArrayLayout(ArrayLayout(16, 4), lanes))
        Red, green, blue, alpha, :attr:`latency` clocks later; zero where the format has none.
    """

    def __init__(self, lanes, formats):
        self._lanes = lanes
        self._colours = Colours(lanes) if formats & WITH_COLOURS else None
        wide = bool(formats & WITH_16_BITS)
        self._channels = (
            [Channel(lanes, wide) for _ in range(2 if formats & WITH_TWO else 1)]
            if formats & set(CHANNEL_KIND)
            else []
        )
        super().__init__(
            {
                "i": In(128),
                "row": In(range(max(16 // lanes, 2))),
                "format": In(4),
                "o": Out(ArrayLayout(ArrayLayout(16, 4), lanes)),
            }
        )

    @property
    def latency(self):
        """Clocks from a block to its texels: colours or channels, selection by the format."""
        return 1 + (self._channels[0].latency if self._channels else Colours.LATENCY)

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, row=self.row, format=self.format)
        texels = [[0] * 4 for _ in range(self._lanes)]
        if self._colours:
            texels = self._decode_colours(m, t)
        channels = self._decode_channels(m)

        selected = t[self.latency - 1].format
        is_bc3 = selected == BlockFormat.BC3
        # BC4 and BC5 have red, and BC5 green, of 16 bits, and nothing else.
        is_16_bit = Cat(selected == value for value in WITH_16_BITS).any()
        has_green = Cat(selected == value for value in WITH_TWO).any()
        for n, (red, green, blue, alpha) in enumerate(texels):
            first = channels[0][n] if channels else 0
            second = Mux(has_green, channels[1][n], 0) if len(channels) > 1 else 0
            m.d.sync += [
                self.o[n][0].eq(Mux(is_16_bit, first, red)),
                self.o[n][1].eq(Mux(is_16_bit, second, green)),
                self.o[n][2].eq(Mux(is_16_bit, 0, blue)),
                self.o[n][3].eq(Mux(is_16_bit, 0, Mux(is_bc3, first & 0xFF, alpha))),
            ]
        return m

    def _decode_channels(self, m):
        """Values of the channels of 8 or 16 bits, a clock ahead of the texels."""
        for n, channel in enumerate(self._channels):
            m.submodules[f"channel_{n}"] = channel
            kind = choose(self.format, [CHANNEL_KIND.get(value, UNORM8) for value in BlockFormat])
            m.d.comb += [
                channel.i.eq(self.i[64 * n : 64 * n + 64]),
                channel.row.eq(self.row),
                channel.kind.eq(kind),
            ]
        return [channel.o for channel in self._channels]

    def _decode_colours(self, m, t):
        """Texels of BC1, BC2, and BC3 except its alpha, a clock ahead of the output."""
        m.submodules.colours = colours = self._colours
        clock = self.latency - 1 - Colours.LATENCY  # colours take fewer clocks than channels
        is_bc1 = self.format == BlockFormat.BC1
        t.enter(0, is_bc1=is_bc1, colours=Mux(is_bc1, self.i[:64], self.i[64:]))
        t.enter(0, alphas=self.i[:64])
        m.d.comb += [
            colours.i.eq(t[clock].colours),
            colours.punch_through.eq(t[clock].is_bc1),
            colours.row.eq(t[clock].row),
        ]

        # BC2 has alpha of four bits.
        last = t[self.latency - 1]
        is_bc2 = last.format == BlockFormat.BC2
        texels = []
        for n in range(self._lanes):
            by_row = [last.alphas[4 * k : 4 * k + 4] for k in range(n, 16, self._lanes)]
            nibble = choose(last.row, by_row)
            alpha = Mux(is_bc2, Cat(nibble, nibble), colours.o[n][3])
            texels.append([*(colours.o[n][c] for c in range(3)), alpha])
        return texels
