# SPDX-License-Identifier: BSD-2-Clause
"""Rows of the vertex buffer: who still needs them."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class WaveRows(wiring.Component):
    """Counts references to each wave.

    Parameters
    ----------
    waves : int
    references : int
        Bits of a count.

    Members
    -------
    takes, wave : In
        One more reference to a wave.
    releases, released : In
        One less.
    next, advances : In
        A wave, and whether the next but one is meant,
    free : Out(1)
        which nobody refers to: a clock later.
    live : In(waves)
        Waves that more references may come to:
    full : Out(1)
        one of them has nearly as many as can be counted; :attr:`LATE` further ones can be.
    """

    LATE = 5

    def __init__(self, waves, references):
        self._waves, self._references = waves, references
        super().__init__({
            "takes": In(1), "wave": In(range(waves)), "releases": In(1), "released": In(range(waves)),
            "next": In(range(waves)), "advances": In(1), "free": Out(1), "live": In(waves), "full": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        most, none, many = (1 << self._references) - 1, [], []
        for n in range(self._waves):
            count, more, less = Signal(self._references, name=f"count_{n}"), Signal(name=f"more_{n}"), Signal(name=f"less_{n}")
            m.d.comb += [more.eq(self.takes & (self.wave == n)), less.eq(self.releases & (self.released == n) & (count != 0))]
            m.d.sync += count.eq(count + more - less)
            empty, large = Signal(init=1, name=f"none_{n}"), Signal(name=f"many_{n}")
            m.d.sync += [empty.eq(count == 0), large.eq(count >= most - self.LATE)]
            none.append(empty)
            many.append(large)
        none, further = Array(none), (self.next + 1)[:len(self.next)]
        m.d.sync += [self.free.eq(Mux(self.advances, none[further], none[self.next])), self.full.eq((Cat(many) & self.live).any())]
        return m
