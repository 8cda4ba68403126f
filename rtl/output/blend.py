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
        The colours are mixed; without, the new one replaces the old one. In the clock of ``old``.
    new : In(32)
        The colour that is drawn.
    old : In(32)
        The colour below it, :attr:`OLD` clocks after ``new``.
    o : Out(32)
        The result, :attr:`LATENCY` clocks after ``new``.
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
        colours = t[self.OLD]
        multiplied = t[self.OLD + 1]
        end = t[self.LATENCY]
        for n in range(4):
            old = multiplied.old.word_select(n, 8)
            difference = Signal(signed(9), name=f"difference_{n}")
            product = Signal(signed(18), name=f"product_{n}")
            scaled_old = Signal(16, name=f"scaled_old_{n}")
            total = Signal(17, name=f"total_{n}")
            m.d.sync += [
                difference.eq(colours.new.word_select(n, 8) - colours.old.word_select(n, 8)),
                product.eq(difference * multiplied.new[24:]),
                # old * 255 + 128, without a multiplier
                scaled_old.eq(Cat(Const(128, 8), old) - old),
                total.eq(product + scaled_old),
            ]
            mixed = Signal(17, name=f"mixed_{n}")
            m.d.comb += [
                mixed.eq(total + (total >> 8)),
                self.o.word_select(n, 8).eq(
                    Mux(end.blends, mixed[8:16], end.new.word_select(n, 8))
                ),
            ]
        return m
