# SPDX-License-Identifier: BSD-2-Clause
"""Unpacker: takes bits of a row of words from a running position."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose


class Unpacker(wiring.Component):
    """Take so many bits of a row, then those behind them, and so on: one take a clock.

    Words are selected before bits are shifted, so that no shifter is as wide as the row.

    Parameters
    ----------
    words : int
        Words of the row.
    most : int
        Most bits that one take needs.
    word : int
        Bits of a word, a power of two.

    Members
    -------
    row : In(words * word)
        What is taken from. It may change with any take that begins at ``at``.
    start, at : In
        The take begins at this bit; without ``start``, behind the take before.
    length : In
        How many bits this take is long; 0 while nothing is taken.
    o : Out(most)
        The row from where the take begins, one clock later: behind its length the bits of the next
        takes, behind the row zeros.
    position : Out
        Where the next take begins, one clock later. It counts to the greatest number of its bits: a
        position behind the row is right up to there.
    """

    def __init__(self, words: int, most: int, word: int = 256) -> None:
        self._words = words
        self._most = most
        self._word = word
        places = range(words * word + 1)
        super().__init__(
            {
                "row": In(words * word),
                "start": In(1),
                "at": In(places),
                "length": In(range(most + 1)),
                "o": Out(most),
                "position": Out(places),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        begin = Signal.like(self.position)
        m.d.comb += begin.eq(Mux(self.start, self.at, self.position))
        m.d.sync += self.position.eq(begin + self.length)

        shift = self._word.bit_length() - 1
        reach = -(-(self._word - 1 + self._most) // self._word)  # words that a take may touch
        index = begin[shift:]
        padded = Cat(self.row, Const(0, (reach + (1 << len(index)) - self._words) * self._word))
        options = [
            padded[first * self._word : (first + reach) * self._word]
            for first in range(1 << len(index))
        ]
        selected = Signal(reach * self._word)
        m.d.comb += selected.eq(choose(index, options))
        m.d.sync += self.o.eq(selected >> begin[:shift])
        return m
