# SPDX-License-Identifier: BSD-2-Clause
"""Packer: appends values to a row of words, at a running position."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Packer(wiring.Component):
    """Append a value to a row, then another behind it: one a clock."""

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
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        position = Signal.like(self.at)
        begin = Signal.like(self.at)
        m.d.comb += begin.eq(Mux(self.start, self.at, position))
        m.d.sync += position.eq(begin + self.length)
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
                out = out | placed.word_select(part, self._word) & mask.replicate(self._word)
            m.d.sync += word.eq(out)
        return m
