# SPDX-License-Identifier: BSD-2-Clause
"""Packer: appends values to a row of words, at a running position."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated


class Packer(wiring.Component):
    """Append a value to a row, then another behind it, and so on: one a clock.

    Values are shifted by less than a word, and land in words: no shifter is as wide as the row.

    Parameters
    ----------
    words : int
        Words of the row.
    most : int
        Most bits of a value.
    word : int
        Bits of a word, a power of two.

    Members
    -------
    start, at, first : In
        A row begins with this value, which lies from bit ``at`` on; before it, in the first word,
        lies ``first``. Without ``start`` the value lies behind the one before.
    value, length : In
        Its bits beyond its length are zero. What lies behind the row is cut off.
    row : Out(words * word)
        What has been appended, one clock later; zeros behind it.
    position : Out
        Where it ends, one clock later. It counts to the greatest number of its bits.
    """

    def __init__(self, words: int, most: int, word: int = 256) -> None:
        self._words = words
        self._most = most
        self._word = word
        places = range(words * word + 1)
        super().__init__(
            {
                "start": In(1),
                "at": In(places),
                "first": In(word),
                "value": In(most),
                "length": In(range(most + 1)),
                "row": Out(words * word),
                "position": Out(places),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        begin = Signal.like(self.at)
        m.d.comb += begin.eq(Mux(self.start, self.at, self.position))
        m.d.sync += self.position.eq(begin + self.length)
        shift = self._word.bit_length() - 1
        reach = -(-(self._word - 1 + self._most) // self._word)
        placed = Signal(reach * self._word)
        m.d.comb += placed.eq(self.value << begin[:shift])
        index = begin[shift:]
        for n in range(self._words):
            word = self.row.word_select(n, self._word)
            out = Mux(self.start, self.first if n == 0 else 0, word)
            for part in range(min(reach, n + 1)):
                mask = Signal(name=f"word_{n}_part_{part}")
                m.d.comb += mask.eq(index == n - part)
                out = out | gated(placed.word_select(part, self._word), mask)
            m.d.sync += word.eq(out)
        return m
