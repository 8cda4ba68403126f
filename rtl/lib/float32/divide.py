# SPDX-License-Identifier: BSD-2-Clause
"""a / b."""

from amaranth.hdl import Cat, Const, Module, Mux, Value

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.float32.operation import Operation
from fixfunc.rtl.lib.float32.rounding import rounded
from fixfunc.rtl.lib.timeline import Steps

DIGITS = 13  # steps that find the quotient's bits: two each of float32


class Divide(Operation):
    """a / b to the nearest, ties to even; one a clock, free-running.

    A quotient of mantissas lies above a half, and has a bit more than a mantissa and another one in
    case that it lies below 1: then comes whether there is a remainder.

    Parameters and members are those of :class:`~fixfunc.rtl.lib.float32.operation.Operation`.
    """

    STEPS = DIGITS + 2

    def elaborate(self, platform: object) -> Module:
        m = Module()
        form = self._form
        t = Steps(m, self.STEPS, self.latency)
        self._unpack(t)
        width = form.mantissa + 2
        for step in range(DIGITS):
            earlier = width * step // DIGITS
            self._divide(m, t, step, earlier, width * (step + 1) // DIGITS - earlier)
        now = t[DIGITS + 1]
        quotient = getattr(now, f"quotient_{DIGITS}")
        whole = named(m, quotient[-1], "whole")  # not below 1
        regular = rounded(
            m,
            form,
            now.sign,
            named(m, now.exponent - ~whole, "quotient_exponent"),
            Mux(whole, quotient, Cat(Const(0, 1), quotient[:-1])),
            getattr(now, f"remainder_{DIGITS}").any(),
        )
        number = Mux(now.infinite, form.signed_infinity(now.sign), form.signed_zero(now.sign))
        special = Mux(now.wrong, form.nan, number)
        t.put(DIGITS + 1, o=Mux(now.wrong | now.infinite | now.zero, special, regular))
        m.d.comb += self.o.eq(t[self.STEPS].o)
        return m

    def _unpack(self, t):
        """Mantissas, and which results are special."""
        form = self._form
        a, b = self.a, self.b
        zeros = form.is_zero(a), form.is_zero(b)
        infinities = form.is_infinite(a), form.is_infinite(b)
        both = (zeros[0] & zeros[1]) | (infinities[0] & infinities[1])
        t.put(
            0,
            remainder_0=Cat(a[: form.fraction], Const(1, 1)),
            divisor=Cat(b[: form.fraction], Const(1, 1)),
            exponent=form.exponent_of(a) - form.exponent_of(b) + form.bias,
            sign=form.sign_of(a) ^ form.sign_of(b),
            wrong=form.is_nan(a) | form.is_nan(b) | both,
            infinite=infinities[0] | zeros[1],
            zero=zeros[0] | infinities[1],
        )

    def _divide(self, m, t, step, earlier, bits):
        """Some bits more of the quotient: what is left is below twice the divisor."""
        now = t[step + 1]
        remainder = getattr(now, f"remainder_{step}")
        found = []
        for n in range(bits):
            difference = named(m, remainder - now.divisor, f"difference_{step}_{n}")
            fits = difference >= 0
            kept = Mux(fits, difference, remainder)[: self._form.mantissa]
            remainder = named(m, Cat(Const(0, 1), kept), f"left_{step}_{n}")
            found.append(fits)
        before = getattr(now, f"quotient_{step}") if earlier else Const(0, 0)
        parts = {"remainder": remainder, "quotient": Cat(*reversed(found), before)}
        hand_on(t, step + 1, parts)


def hand_on(t: Steps, step: int, parts: dict[str, Value]) -> None:
    """Parts of a computation digit by digit, each under a name of its step; without empty ones."""
    t.put(step, **{f"{name}_{step}": value for name, value in parts.items() if len(value)})
