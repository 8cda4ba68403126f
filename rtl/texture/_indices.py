# SPDX-License-Identifier: BSD-2-Clause
"""What texels of BC6H and BC7 blocks are made of: whose end points, and how much of each."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.bits import choose
from fixfunc.rtl.pipeline import NEVER_COLLIDES, delay
from fixfunc.rtl.texture._bc7 import MODES, PAIR_LIKE, SINGLE_LIKE
from fixfunc.rtl.texture._partitions import ALONE, rows

WEIGHTS = ((0, 21, 43, 64), (0, 9, 18, 27, 37, 46, 55, 64), (0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64))  # of 2, 3, 4 bits
SHARE = 7  # bits
BC6H_PARTITION = 77

# Of a texel: its subset, three less the missing bits ahead of its index, whether its own first bit is missing.
TEXEL = StructLayout({"subset": 2, "skips": 2, "short": 1})


class Indices(wiring.Component):
    """Subsets and shares of a block's texels.

    Parameters
    ----------
    lanes : int
        Texels a clock.

    Members
    -------
    i, half, row : In
        The block; that it is one of BC6H; which ``lanes`` of its texels.
    number, swaps : In
        BC7's mode, a clock after the block; whether, in mode 4, the second indices are the colours', two clocks after it.
    subset, colour, alpha : Out(ArrayLayout(..., lanes))
        :attr:`LATENCY` clocks after the block: of each texel, its subset; shares of the second end point, of 64.
    """

    LATENCY = 6

    def __init__(self, lanes):
        self._lanes = lanes
        super().__init__({
            "i": In(128), "half": In(1), "row": In(range(max(16 // lanes, 2))), "number": In(3), "swaps": In(1),
            "subset": Out(ArrayLayout(2, lanes)), "colour": Out(ArrayLayout(SHARE, lanes)), "alpha": Out(ArrayLayout(SHARE, lanes)),
        })

    def elaborate(self, platform):
        m = Module()
        block, half, row, pair = (delay(m, value, 1, name) for value, name in (
            (self.i, "block"), (self.half, "half"), (self.row, "row"), (self.i[:2] != 3, "pair")))
        like, place = Signal(3), Signal(range(ALONE + 1))
        m.d.sync += [like.eq(Mux(half, Mux(pair, PAIR_LIKE, SINGLE_LIKE), self.number)), place.eq(self._place(block, half, pair))]
        block, row = delay(m, block, 1, "later_block"), delay(m, row, 2, "later_row")

        # Both streams of indices, from bit 0 on; bits of an index less two; which mode has second ones.
        stream, second, width, four, five = Signal(63), Signal(47), Signal(2), Signal(), Signal()
        m.d.sync += [stream.eq(choose(like, [block[mode.index.at:] for mode in MODES])), four.eq(like == 4), five.eq(like == 5),
                     second.eq(Mux(like == 5, block[MODES[5].second.at:], block[MODES[4].second.at:])),
                     width.eq(choose(like, [mode.index.bits - 2 for mode in MODES]))]

        # Of each lane a window of its index and the two bits before it, which anchors may have moved; then the index itself.
        texels, row_of_texels = self._texels(m, place), delay(m, row, 1, "row_of_texels")
        windows, others, indices = ([Signal(bits, name=f"{name}_{n}") for n in range(self._lanes)] for name, bits in (
            ("window", 6), ("other", 3), ("index", 4)))
        keeps = [delay(m, choose(width, [1, 3, 7]), 1, "keeps"), delay(m, choose(width, [3, 7, 15]), 1, "keeps_all")]
        subset = Signal.like(self.subset)
        for n in range(self._lanes):
            of_width = [choose(width, [_window(stream, bits, texel) for bits in (2, 3, 4)]) for texel in range(n, 16, self._lanes)]
            seconds = [Mux(five, _second(second, 2, texel), _second(second, 3, texel)) for texel in range(n, 16, self._lanes)]
            texel = TEXEL(choose(row_of_texels, [texels[lane].as_value() for lane in range(n, 16, self._lanes)]))
            m.d.sync += [windows[n].eq(choose(row, of_width)), others[n].eq(choose(row, seconds)), subset[n].eq(texel.subset),
                         indices[n].eq((windows[n] >> texel.skips)[:4] & Mux(texel.short, *keeps))]

        # Shares by index.
        four, five, width = (delay(m, value, 2, name) for value, name in ((four, "four"), (five, "five"), (width, "width")))
        swaps, to_other = Signal(), Signal()
        m.d.comb += [swaps.eq(four & delay(m, self.swaps, 3, "swapped")), to_other.eq((four | five) & ~swaps)]
        m.d.sync += self.subset.eq(subset)
        for n in range(self._lanes):
            other = delay(m, others[n], 1, f"later_other_{n}")
            m.d.sync += [self.colour[n].eq(Mux(swaps, _share(other, four), _share(indices[n], width))),
                         self.alpha[n].eq(Mux(to_other, _share(other, four), _share(indices[n], width)))]
        return m

    def _place(self, block, half, pair):
        """Row of the table."""
        rows_of_modes = []
        for mode in MODES:
            at, bits = mode.partition or (0, 0)
            rows_of_modes.append(Cat(block[at:at + bits], Const(0, 6 - bits), mode.subsets == 3) if bits else ALONE)
        of_half = Mux(pair, block[BC6H_PARTITION:BC6H_PARTITION + 5], ALONE)
        return Mux(half, of_half, choose(self.number, rows_of_modes))

    def _texels(self, m, place):
        """What the table says of each texel, two clocks later."""
        m.submodules.table = table = Memory(shape=ArrayLayout(TEXEL, 16), depth=ALONE + 1, init=[
            [dict(zip(("subset", "skips", "short"), texel, strict=True)) for texel in row] for row in rows()], attrs=NEVER_COLLIDES)
        read, texels = table.read_port(), Signal(ArrayLayout(TEXEL, 16))
        m.d.comb += read.addr.eq(place)
        m.d.sync += texels.eq(read.data)
        return texels


def _window(stream, bits, texel):
    """An index of so many bits, were three bits missing before it; and the two bits below that place, which it then begins in."""
    first = max(bits * texel - 3, -3) if texel else 0
    return Cat(Const(0, max(-first, 0)), stream[max(first, 0):first + bits + 2])


def _second(stream, bits, texel):
    """A second index: only that of texel 0 is a bit short."""
    return stream[bits * texel - 1:bits * texel + bits - 1] if texel else stream[:bits - 1]


def _share(index, width):
    """The second end point's share."""
    return choose(width, [choose(index, weights) for weights in WEIGHTS[:2 ** len(width)]])
