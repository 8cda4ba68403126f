# SPDX-License-Identifier: BSD-2-Clause
"""BC1 to BC5: texels out of a block's own palettes."""

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.bits import choose
from fixfunc.rtl.pipeline import delay
from fixfunc.rtl.texture._channel import SNORM16, UNORM8, UNORM16, Channel
from fixfunc.rtl.texture._colours import Colours
from fixfunc.spec.state import BlockFormat

WITH_COLOURS = {BlockFormat.BC1, BlockFormat.BC2, BlockFormat.BC3}
WITH_CHANNEL = {BlockFormat.BC3: UNORM8, BlockFormat.BC4U: UNORM16, BlockFormat.BC4S: SNORM16, BlockFormat.BC5U: UNORM16, BlockFormat.BC5S: SNORM16}
WITH_TWO = {BlockFormat.BC5U, BlockFormat.BC5S}


class PaletteBlocks(wiring.Component):
    """Decode blocks of BC1 to BC5; free-running.

    Parameters
    ----------
    lanes : int
        Texels a clock.
    formats : set of BlockFormat

    Members
    -------
    i, row, format : In
        The block; which ``lanes`` of its texels; what it is.
    o : Out(ArrayLayout(ArrayLayout(16, 4), lanes))
        :attr:`latency` clocks later: red, green, blue, alpha; zero where the format has none.
    """

    def __init__(self, lanes, formats):
        self._lanes, self._colours = lanes, Colours(lanes) if formats & WITH_COLOURS else None
        wide = bool(formats & set(WITH_CHANNEL) - {BlockFormat.BC3})
        self._channels = [Channel(lanes, wide) for _ in range(2 if formats & WITH_TWO else 1)] if formats & set(WITH_CHANNEL) else []
        super().__init__({
            "i": In(128), "row": In(range(max(16 // lanes, 2))), "format": In(4), "o": Out(ArrayLayout(ArrayLayout(16, 4), lanes)),
        })

    @property
    def latency(self):
        """Clocks from a block to its texels."""
        return 1 + (self._channels[0].latency if self._channels else Colours.LATENCY)

    def elaborate(self, platform):
        m = Module()
        late, late_row = delay(m, self.format, self.latency - 1, "late_format"), delay(m, self.row, self.latency - 1, "late_row")

        def has(of):
            return Cat(late == known for known in of).any()

        texels = [[0] * 4 for _ in range(self._lanes)]
        if self._colours:
            self._decode_colours(m, texels, late == BlockFormat.BC2, late_row)
        for c, channel in enumerate(self._channels):
            m.submodules[f"channel_{c}"] = channel
            kind = choose(self.format, [WITH_CHANNEL.get(known, UNORM8) for known in BlockFormat])
            m.d.comb += [channel.i.eq(self.i[64 * c:64 * c + 64]), channel.row.eq(self.row), channel.kind.eq(kind)]
        one, two, alpha = has(set(WITH_CHANNEL) - {BlockFormat.BC3}), has(WITH_TWO), late == BlockFormat.BC3
        for n, texel in enumerate(texels):
            if self._channels:
                value = self._channels[0].o[n]
                texel[0], texel[3] = Mux(one, value, texel[0]), Mux(alpha, value, texel[3])
                texel[1] = Mux(one, Mux(two, self._channels[1].o[n], 0) if len(self._channels) > 1 else 0, texel[1])
            m.d.sync += [self.o[n][c].eq(Mux(one & (c > 1), 0, texel[c])) for c in range(4)]
        return m

    def _decode_colours(self, m, texels, nibbles, row):
        """Texels of BC1, and of BC2 where ``nibbles`` says so, ahead of their last clock; of BC3 but for alpha."""
        m.submodules.colours = colours = self._colours
        ahead = self.latency - 1 - Colours.LATENCY
        first = self.format == BlockFormat.BC1
        block = Mux(first, self.i[:64], self.i[64:])
        for name, value in (("i", block), ("punches", first), ("row", self.row)):
            m.d.comb += getattr(colours, name).eq(delay(m, value, ahead, f"colours_{name}"))
        alphas = delay(m, self.i[:64], self.latency - 1, "alphas")
        for n, texel in enumerate(texels):
            of_rows = [alphas[4 * k:4 * k + 4] for k in range(n, 16, self._lanes)]
            nibble = choose(row, of_rows)
            texel[:] = [*(colours.o[n][c] for c in range(3)), Mux(nibbles, Cat(nibble, nibble), colours.o[n][3])]
