# SPDX-License-Identifier: BSD-2-Clause
"""Indices of BC6H and BC7: the subset of each texel, and its weights between the end points."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.texture.bc7 import BC6H_PAIR_MODE, BC6H_SINGLE_MODE, MODES
from fixfunc.rtl.texture.partitions import TEXEL, UNDIVIDED, PartitionTable

# Weights of the second end point, of 64, for indices of 2, 3 and 4 bits.
WEIGHTS = (
    (0, 21, 43, 64),
    (0, 9, 18, 27, 37, 46, 55, 64),
    (0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64),
)
WEIGHT_BITS = 7
BC6H_PARTITION = 77  # first of five bits


class Indices(wiring.Component):
    """Subsets and weights of the texels of a block; free-running.

    Clocks are counted from the block.

    Parameters
    ----------
    lanes : int
        Texels a clock.

    Members
    -------
    i : In(128)
        The block.
    half : In(1)
        The block is of BC6H.
    row : In(range(max(16 // lanes, 2)))
        Which ``lanes`` of its texels to decode.
    mode : In(3)
        BC7's mode, in clock 1.
    selector : In(1)
        BC7's selector, in clock 2.
    subset : Out(ArrayLayout(2, lanes))
        Subset of each texel, in clock :attr:`LATENCY`.
    colour_weight, alpha_weight : Out(ArrayLayout(WEIGHT_BITS, lanes))
        Weights of the second end point, of 64, in clock :attr:`LATENCY`.
    """

    LATENCY = 6

    def __init__(self, lanes):
        self._lanes = lanes
        super().__init__(
            {
                "i": In(128),
                "half": In(1),
                "row": In(range(max(16 // lanes, 2))),
                "mode": In(3),
                "selector": In(1),
                "subset": Out(ArrayLayout(2, lanes)),
                "colour_weight": Out(ArrayLayout(WEIGHT_BITS, lanes)),
                "alpha_weight": Out(ArrayLayout(WEIGHT_BITS, lanes)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, block=self.i, half=self.half, row=self.row, bc6h_pair=self.i[:2] != 3)
        t.enter(2, selector=self.selector)

        # Clock 2: the partition, and the mode whose indices lie at the same bits.
        m.submodules.table = table = PartitionTable()
        index_mode = Signal(3)
        partition = Signal.like(table.i)
        bc6h_mode = Mux(t[1].bc6h_pair, BC6H_PAIR_MODE, BC6H_SINGLE_MODE)
        m.d.sync += [
            index_mode.eq(Mux(t[1].half, bc6h_mode, self.mode)),
            partition.eq(self._partition(t[1].block, t[1].half, t[1].bc6h_pair)),
        ]
        m.d.comb += table.i.eq(partition)

        # Clock 3: both streams of indices, from bit 0 on; the bits of an index, less two.
        block = t[2].block
        stream = Signal(63)
        second_stream = Signal(47)
        width = Signal(2)
        mode_4 = Signal()
        mode_5 = Signal()
        second_4 = block[MODES[4].second_index.first :]
        second_5 = block[MODES[5].second_index.first :]
        m.d.sync += [
            stream.eq(choose(index_mode, [block[mode.index.first :] for mode in MODES])),
            second_stream.eq(Mux(index_mode == 5, second_5, second_4)),
            width.eq(choose(index_mode, [mode.index.bits - 2 for mode in MODES])),
            mode_4.eq(index_mode == 4),
            mode_5.eq(index_mode == 5),
        ]
        t.enter(3, width=width, mode_4=mode_4, mode_5=mode_5)

        for n in range(self._lanes):
            self._index(m, t, n, stream, second_stream, table.o)
        self._weights(m, t)
        return m

    def _partition(self, block, half, bc6h_pair):
        """Row of the partition table."""
        by_mode = []
        for mode in MODES:
            first, bits = mode.partition or (0, 0)
            number = Cat(block[first : first + bits], Const(0, 6 - bits), mode.subsets == 3)
            by_mode.append(number if bits else UNDIVIDED)
        bc6h = Mux(bc6h_pair, block[BC6H_PARTITION : BC6H_PARTITION + 5], UNDIVIDED)
        return Mux(half, bc6h, choose(self.mode, by_mode))

    def _index(self, m, t, n, stream, second_stream, texels):
        """Index, second index and subset of lane n, in clock 5.

        The bits that anchors lack ahead of an index move it by up to three. In clock 4 there is
        therefore a window with the index and three bits more, in clock 5 the index itself.
        """
        numbers = range(n, 16, self._lanes)
        window = Signal(6, name=f"window_{n}")
        second = Signal(3, name=f"second_{n}")
        windows = [
            choose(t[3].width, [_window(stream, bits, number) for bits in (2, 3, 4)])
            for number in numbers
        ]
        seconds = [
            Mux(
                t[3].mode_5,
                _second_index(second_stream, 2, number),
                _second_index(second_stream, 3, number),
            )
            for number in numbers
        ]
        m.d.sync += [
            window.eq(choose(t[3].row, windows)),
            second.eq(choose(t[3].row, seconds)),
        ]
        t.enter(4, **{f"second_{n}": second})

        texel = TEXEL(choose(t[4].row, [texels[number].as_value() for number in numbers]))
        anchor_mask = choose(t[4].width, [1, 3, 7])
        index_mask = choose(t[4].width, [3, 7, 15])
        index = Signal(4, name=f"index_{n}")
        subset = Signal(2, name=f"subset_{n}")
        m.d.sync += [
            index.eq((window >> texel.shift)[:4] & Mux(texel.anchor, anchor_mask, index_mask)),
            subset.eq(texel.subset),
        ]
        t.enter(5, **{f"index_{n}": index, f"subset_{n}": subset})

    def _weights(self, m, t):
        """Weights by index; in modes 4 and 5 colours or alpha have the second indices."""
        clock = t[5]
        colour_second = Signal()
        alpha_second = Signal()
        m.d.comb += [
            colour_second.eq(clock.mode_4 & clock.selector),
            alpha_second.eq((clock.mode_4 | clock.mode_5) & ~colour_second),
        ]
        for n in range(self._lanes):
            weight = _weight(t.value(f"index_{n}", 5), clock.width)
            second_weight = _weight(t.value(f"second_{n}", 5), clock.mode_4)
            m.d.sync += [
                self.subset[n].eq(t.value(f"subset_{n}", 5)),
                self.colour_weight[n].eq(Mux(colour_second, second_weight, weight)),
                self.alpha_weight[n].eq(Mux(alpha_second, second_weight, weight)),
            ]


def _window(stream, bits, number):
    """The index of a texel of so many bits, if three bits were missing ahead of it.

    The window begins at that position, and has two more bits.
    """
    first = max(bits * number - 3, -3) if number else 0
    return Cat(Const(0, max(-first, 0)), stream[max(first, 0) : first + bits + 2])


def _second_index(stream, bits, number):
    """The second index of a texel; only that of texel 0 lacks a bit."""
    return stream[bits * number - 1 : bits * number + bits - 1] if number else stream[: bits - 1]


def _weight(index, width):
    """The second end point's weight; ``width`` is the number of index bits, less two."""
    return choose(width, [choose(index, weights) for weights in WEIGHTS[: 2 ** len(width)]])
