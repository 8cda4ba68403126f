# SPDX-License-Identifier: BSD-2-Clause
"""The square root of a."""

from amaranth.hdl import Cat, Const, Module, Mux

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.float32.divide import DIGITS, hand_on
from fixfunc.rtl.lib.float32.operation import Operation
from fixfunc.rtl.lib.float32.rounding import rounded
from fixfunc.rtl.lib.timeline import Steps


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
        hand_on(t, step + 1, parts)
