# SPDX-License-Identifier: BSD-2-Clause
"""Colours mixed by their alpha."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import delay


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
        new = delay(m, self.new, self.OLD, "new")
        last = delay(m, new, 3, "last")
        blends = delay(m, self.blends, 3, "blends")
        alpha = delay(m, new[24:], 1, "alpha")
        for n in range(4):
            old = delay(m, self.old.word_select(n, 8), 1, f"old_{n}")
            difference = Signal(signed(9), name=f"difference_{n}")
            product = Signal(signed(18), name=f"product_{n}")
            rounded_old = Signal(16, name=f"rounded_old_{n}")
            total = Signal(17, name=f"total_{n}")
            m.d.sync += [
                difference.eq(new.word_select(n, 8) - self.old.word_select(n, 8)),
                product.eq(difference * alpha),
                rounded_old.eq(Cat(Const(128, 8), old) - old),
                total.eq(product + rounded_old),
            ]  # old * 255 + 128, without a multiplier
            mixed = Signal(17, name=f"mixed_{n}")
            m.d.comb += [
                mixed.eq(total + (total >> 8)),
                self.o.word_select(n, 8).eq(Mux(blends, mixed[8:16], last.word_select(n, 8))),
            ]
        return m
