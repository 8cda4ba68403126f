# SPDX-License-Identifier: BSD-2-Clause
"""Sums by the odd part of the number of samples."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.texture.filter.channel_sum import Widths

BITS_A_CLOCK = 4


class CountDivider(wiring.Component):
    """The floor of four times a number by a small one, in place; the number itself, if a pixel has
    one sample.

    Parameters
    ----------
    widths : Widths

    Members
    -------
    load : In(1)
        ``i`` and ``divisor`` are taken; in other clocks four bits more of the quotient are found.
    i : In(widths.magnitude)
    divisor : In(6)
        It holds from the clock after ``load`` on.
    o : Out(widths.quotient)
        In the clock after ``load``, of a divisor of 1; of others :attr:`STEPS` clocks later.
    inexact : Out(1)
        There is a remainder.
    """

    STEPS = Widths(True).quotient // BITS_A_CLOCK

    def __init__(self, widths: Widths) -> None:
        self._widths = widths
        super().__init__(
            {
                "load": In(1),
                "i": In(widths.magnitude),
                "divisor": In(6),
                "o": Out(widths.quotient),
                "inexact": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Bits of the dividend leave at the top, those of the quotient enter below.
        with m.If(self.load):
            m.d.sync += self.o.eq(Cat(Const(0, len(self.o) - len(self.i)), self.i))
        if self._widths.several:
            remainder = Signal(6)
            m.d.comb += self.inexact.eq(remainder.any())
            quotient = []
            following = remainder
            for n in range(BITS_A_CLOCK):
                wider = named(m, Cat(self.o[len(self.o) - 1 - n], following), f"dividend_{n}")
                difference = named(m, wider - self.divisor, f"difference_{n}")
                fits = difference >= 0
                following = named(m, Mux(fits, difference, wider)[:6], f"remainder_{n}")
                quotient.append(fits)
            with m.If(self.load):
                m.d.sync += remainder.eq(0)
            with m.Else():
                m.d.sync += [
                    remainder.eq(following),
                    self.o.eq(Cat(*reversed(quotient), self.o)),
                ]
        return m
