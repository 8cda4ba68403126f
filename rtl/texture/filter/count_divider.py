# SPDX-License-Identifier: BSD-2-Clause
"""Sums by the odd part of the number of samples."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.texture.filter.pixel_sums import MAGNITUDE

QUOTIENT = MAGNITUDE + 2
BITS_A_CLOCK = 4


class CountDivider(wiring.Component):
    """The floor of four times a number by a small one, in place.

    Parameters
    ----------
    divides : bool
        Divisors may be above 1.

    Members
    -------
    load : In(1)
        ``i`` and ``divisor`` are taken; in other clocks four bits more of the quotient are found.
    i : In(46)
    divisor : In(6)
        It holds from the clock after ``load`` on.
    o : Out(48)
        In the clock after ``load``, of a divisor of 1; of others :attr:`STEPS` clocks later.
    inexact : Out(1)
        There is a remainder.
    """

    STEPS = QUOTIENT // BITS_A_CLOCK

    def __init__(self, divides: bool) -> None:
        self._divides = divides
        super().__init__(
            {
                "load": In(1),
                "i": In(MAGNITUDE),
                "divisor": In(6),
                "o": Out(QUOTIENT),
                "inexact": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Bits of the dividend leave at the top, those of the quotient enter below.
        with m.If(self.load):
            m.d.sync += self.o.eq(Cat(Const(0, 2), self.i))
        if self._divides:
            remainder = Signal(6)
            m.d.comb += self.inexact.eq(remainder.any())
            quotient = []
            following = remainder
            for n in range(BITS_A_CLOCK):
                wider = named(m, Cat(self.o[QUOTIENT - 1 - n], following), f"dividend_{n}")
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
