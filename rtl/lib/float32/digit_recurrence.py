# SPDX-License-Identifier: BSD-2-Clause
"""a / b, and the square root of a: some digits a clock."""

from amaranth.hdl import Cat, Const, Module, Mux, Value

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.float32.operation import Operation
from fixfunc.rtl.lib.float32.rounding import rounded
from fixfunc.rtl.lib.timeline import Steps

DIGITS = 13  # steps that find the bits of a quotient or root: at most two each


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
        divisor = Cat(b[: form.fraction], Const(1, 1))
        t.put(
            0,
            remainder_0=Cat(a[: form.fraction], Const(1, 1)),
            divisor=divisor,
            triple=divisor + (divisor << 1),
            exponent=form.exponent_of(a) - form.exponent_of(b) + form.bias,
            sign=form.sign_of(a) ^ form.sign_of(b),
            wrong=form.is_nan(a) | form.is_nan(b) | both,
            infinite=infinities[0] | zeros[1],
            zero=zeros[0] | infinities[1],
        )

    def _divide(self, m, t, step, earlier, bits):
        """Some bits more of the quotient: what is left is below twice the divisor.

        All multiples that the bits may stand for are tried at once.
        """
        now = t[step + 1]
        remainder = getattr(now, f"remainder_{step}")
        before = getattr(now, f"quotient_{step}") if earlier else Const(0, 0)
        parts = {"remainder": remainder, "quotient": before}
        if bits:
            scaled = Cat(Const(0, bits - 1), remainder)
            kept = scaled
            fits = []
            multiples = now.divisor, now.divisor << 1, now.triple
            for n, multiple in enumerate(multiples[: (1 << bits) - 1], 1):
                difference = named(m, scaled - multiple, f"difference_{step}_{n}")
                fits.append(named(m, difference >= 0, f"fits_{step}_{n}"))
                kept = Mux(fits[-1], difference, kept)
            kept = kept[: self._form.mantissa]
            found = fits if bits == 1 else [fits[2] | (fits[0] & ~fits[1]), fits[1]]
            parts = {
                "remainder": named(m, Cat(Const(0, 1), kept), f"left_{step}"),
                "quotient": Cat(*found, before),
            }
        _hand_on(t, step + 1, parts)


class SquareRoot(Operation):
    """The square root of a to the nearest, ties to even; one a clock, free-running.

    Of what is below zero it is NaN, and of a zero that zero. A root has a bit more than a mantissa;
    then comes whether there is a remainder.

    Parameters and members are those of :class:`~fixfunc.rtl.lib.float32.operation.Operation`.
    """

    OPERANDS = "a"
    STEPS = DIGITS + 2

    def elaborate(self, platform: object) -> Module:
        m = Module()
        form = self._form
        t = Steps(m, self.STEPS, self.latency)
        self._unpack(m, t)
        width = form.mantissa + 1
        for step in range(DIGITS):
            earlier = width * step // DIGITS
            self._find(m, t, step, earlier, width * (step + 1) // DIGITS - earlier)
        now = t[DIGITS + 1]
        regular = rounded(
            m,
            form,
            Const(0, 1),
            Cat(now.exponent, Const(0, 1)).as_signed(),
            getattr(now, f"root_{DIGITS}"),
            getattr(now, f"remainder_{DIGITS}").any(),
        )
        number = Mux(now.zero, form.signed_zero(now.sign), form.signed_infinity(0))
        special = Mux(now.wrong, form.nan, number)
        t.put(DIGITS + 1, o=Mux(now.wrong | now.infinite | now.zero, special, regular))
        m.d.comb += self.o.eq(t[self.STEPS].o)
        return m

    def _unpack(self, m, t):
        """A mantissa, doubled if the exponent is odd, and which results are special."""
        form = self._form
        exponent = form.exponent_of(self.a)
        # The bias is odd: of an even exponent that behind it is odd.
        is_odd = named(m, ~exponent[0], "is_odd")
        mantissa = Cat(self.a[: form.fraction], Const(1, 2))
        is_zero = form.is_zero(self.a)
        t.put(
            0,
            # Two bits above the point; below it as many as the root has, twice.
            radicand_0=Cat(
                Const(0, form.fraction + 2), Mux(is_odd, Cat(Const(0, 1), mantissa[:-1]), mantissa)
            ),
            exponent=(exponent + form.bias - is_odd >> 1)[: form.exponent],
            sign=form.sign_of(self.a),
            wrong=form.is_nan(self.a) | (form.sign_of(self.a) & ~is_zero),
            infinite=form.is_infinite(self.a),
            zero=is_zero,
        )

    def _find(self, m, t, step, earlier, bits):
        """Some bits more of the root: each takes two of the radicand."""
        now = t[step + 1]
        none = Const(0, 0)
        radicand = getattr(now, f"radicand_{step}")
        remainder = getattr(now, f"remainder_{step}") if earlier else none
        root = getattr(now, f"root_{step}") if earlier else none
        for n in range(bits):
            wide = named(m, Cat(radicand[-2:], remainder), f"wide_{step}_{n}")
            trial = Cat(Const(1, 2), root)
            difference = named(m, wide - trial, f"difference_{step}_{n}")
            fits = difference >= 0
            root = Cat(fits, root)
            kept = Mux(fits, difference, wide)[: len(root) + 1]
            remainder = named(m, kept, f"left_{step}_{n}")
            radicand = radicand[:-2]
        parts = {"radicand": radicand, "remainder": remainder, "root": root}
        _hand_on(t, step + 1, parts)


def _hand_on(t: Steps, step: int, parts: dict[str, Value]) -> None:
    """Parts of a computation digit by digit, each under a name of its step; without empty ones."""
    t.put(step, **{f"{name}_{step}": value for name, value in parts.items() if len(value)})
