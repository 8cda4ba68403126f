# SPDX-License-Identifier: BSD-2-Clause
"""Colours mixed by their alpha."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import Timeline


class Blend(wiring.Component):
    """One colour a clock, RGBA8: new * a + old * (1 - a), exact, rounded to the nearest.

    Members
    -------
    blends : In(1)
        Blend: otherwise ``o`` is ``new``. It comes together with ``old``.
    new : In(32)
    old : In(32)
        The stored colour, :attr:`OLD` clocks after ``new``.
    o : Out(32)
        The blended colour, :attr:`LATENCY` clocks after ``new``.
    """

    OLD = 2
    LATENCY = OLD + 3  # difference, product, sum; the division is wires and one sum

    def __init__(self):
        super().__init__({"blends": In(1), "new": In(32), "old": In(32), "o": Out(32)})

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, new=self.new)
        t.enter(self.OLD, old=self.old, blends=self.blends)
        new = t[self.OLD].new
        old = t[self.OLD + 1].old
        alpha = t[self.OLD + 1].new[24:]
        end = t[self.LATENCY]
        for n in range(4):
            difference = Signal(signed(9), name=f"difference_{n}")
            product = Signal(signed(18), name=f"product_{n}")
            scaled = Signal(16, name=f"scaled_{n}")
            # Between 128 and 255 * 255 + 128.
            total = Signal(16, name=f"total_{n}")
            mixed = Signal(16, name=f"mixed_{n}")
            old_channel = old.word_select(n, 8)
            m.d.sync += [
                difference.eq(new.word_select(n, 8) - self.old.word_select(n, 8)),
                product.eq(difference * alpha),
                # old * 255 + 128, without a multiplier
                scaled.eq(Cat(Const(128, 8), old_channel) - old_channel),
                total.eq(product + scaled),
            ]
            m.d.comb += [
                mixed.eq(total + (total >> 8)),
                self.o.word_select(n, 8).eq(
                    Mux(end.blends, mixed[8:16], end.new.word_select(n, 8))
                ),
            ]
        return m
