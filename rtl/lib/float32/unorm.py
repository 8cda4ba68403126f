# SPDX-License-Identifier: BSD-2-Clause
"""float32 to UNORM."""

from amaranth.hdl import Module, Mux, signed
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
        Of the UNORM: 2 to 16.
    fraction : int
        Bits of what rounding takes away.

    Members
    -------
    a : In(32)
        float32.
    o : Out(bits)
        :attr:`LATENCY` clocks later.
    rest : Out(signed(fraction))
        Less the nearest, in 2^-fraction of its unit, cut: together with ``o``. Absent without
        ``fraction``.
    """

    LATENCY = 2

    def __init__(self, bits: int, fraction: int = 0) -> None:
        self._bits = bits
        self._fraction = fraction
        rest = {"rest": Out(signed(fraction))} if fraction else {}
        super().__init__({"a": In(32), "o": Out(bits)} | rest)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bits = self._bits
        exponent = FLOAT32.exponent_of(self.a)
        mantissa = FLOAT32.mantissa_of(self.a)
        # The mantissa has 23 bits behind its point, and a half is kept below them.
        down = named(m, FLOAT32.bias + FLOAT32.fraction - 1 - exponent, "down")
        product = register(m, (mantissa << bits) - mantissa, FLOAT32.mantissa + bits, "product")
        distance = register(m, Mux(down[6:].any(), 63, down[:6]), 6, "distance")
        nothing = FLOAT32.sign_of(self.a) | FLOAT32.is_nan(self.a)
        is_zero = register(m, nothing, 1, "is_zero")
        is_one = register(m, exponent >= FLOAT32.bias, 1, "is_one")
        # Behind the point a half, and the rest of the fraction.
        steps = named(m, (product << max(self._fraction - 1, 0)) >> distance, "steps")
        nearest = named(m, (steps >> max(self._fraction - 1, 0)) + 1 >> 1, "nearest")
        value = Mux(is_zero, 0, Mux(is_one, (1 << bits) - 1, nearest))
        m.d.comb += self.o.eq(register(m, value, bits, "unorm"))
        if self._fraction:
            rest = Mux(is_zero | is_one, 0, steps[: self._fraction])
            m.d.comb += self.rest.eq(register(m, rest, self._fraction, "rest"))
        return m
