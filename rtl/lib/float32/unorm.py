# SPDX-License-Identifier: BSD-2-Clause
"""float32 to UNORM."""

from amaranth.hdl import Const, Module, Mux, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.float32.fields import FLOAT32


class ToUnorm(wiring.Component):
    """The nearest UNORM, halves up: below 0 and NaN are 0, above 1 is 1 [fs 3.2.3.6]; free-running.

    Parameters
    ----------
    bits : int
        Of the UNORM: 2 to 24.
    fraction : int
        Bits of what rounding takes away.
    fewer : int
        Bits of a shorter UNORM; 0: there is none.

    Members
    -------
    a : In(32)
        float32.
    o : Out(bits)
        :attr:`LATENCY` clocks later.
    rest : Out(signed(fraction))
        Less the nearest, in 2^-fraction of its unit, cut: together with ``o``. Absent without
        ``fraction``.
    is_short : In(1)
        It has ``fewer`` bits; with ``a``. Absent without ``fewer``.
    """

    LATENCY = 2

    def __init__(self, bits: int, fraction: int = 0, fewer: int = 0) -> None:
        self._bits = bits
        self._fraction = fraction
        self._fewer = fewer
        rest = {"rest": Out(signed(fraction))} if fraction else {}
        short = {"is_short": In(1)} if fewer else {}
        super().__init__({"a": In(32), "o": Out(bits)} | rest | short)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bits = self._bits
        exponent = FLOAT32.exponent_of(self.a)
        mantissa = FLOAT32.mantissa_of(self.a)
        # The mantissa has 23 bits behind its point, and a half is kept below them.
        down = named(m, FLOAT32.bias + FLOAT32.fraction - 1 - exponent, "down")
        ones, above = Const((1 << bits) - 1), mantissa << bits
        if self._fewer:
            fewer = (1 << self._fewer) - 1
            above = Mux(self.is_short, mantissa << self._fewer, above)
            ones = register(m, Mux(self.is_short, fewer, ones), bits, "ones")
        product = register(m, above - mantissa, FLOAT32.mantissa + bits, "product")
        distance = register(m, Mux(down[6:].any(), 63, down[:6]), 6, "distance")
        nothing = FLOAT32.sign_of(self.a) | FLOAT32.is_nan(self.a)
        is_zero = register(m, nothing, 1, "is_zero")
        is_one = register(m, exponent >= FLOAT32.bias, 1, "is_one")
        # Behind the point a half, and the rest of the fraction.
        steps = named(m, (product << max(self._fraction - 1, 0)) >> distance, "steps")
        nearest = named(m, (steps >> max(self._fraction - 1, 0)) + 1 >> 1, "nearest")
        value = Mux(is_zero, 0, Mux(is_one, ones, nearest))
        m.d.comb += self.o.eq(register(m, value, bits, "unorm"))
        if self._fraction:
            rest = Mux(is_zero | is_one, 0, steps[: self._fraction])
            m.d.comb += self.rest.eq(register(m, rest, self._fraction, "rest"))
        return m
