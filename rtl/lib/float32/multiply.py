# SPDX-License-Identifier: BSD-2-Clause
"""a * b, and the square of a."""

from amaranth.hdl import Cat, Const, Module, Mux

from fixfunc.rtl.lib.arithmetic.carry_save import carry_save, partial_products, square_products
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.float32.operation import Operation
from fixfunc.rtl.lib.float32.rounding import rounded
from fixfunc.rtl.lib.timeline import Steps


class Multiply(Operation):
    """a * b to the nearest, ties to even; one a clock, free-running.

    Parameters and members are those of :class:`~fixfunc.rtl.lib.float32.operation.Operation`.
    """

    STEPS = 4

    def elaborate(self, platform: object) -> Module:
        m = Module()
        form = self._form
        t = Steps(m, self.STEPS, self.latency)
        a, b, sign, rows = self._product(m)
        zero = form.is_zero(a) | form.is_zero(b)
        infinite = form.is_infinite(a) | form.is_infinite(b)
        wrong = form.is_nan(a) | form.is_nan(b) | (zero & infinite)
        width = 2 * form.mantissa
        low, high = carry_save(m, rows, width, "rows")
        t.put(
            0,
            low=low,
            high=high,
            exponents=form.exponent_of(a) + form.exponent_of(b),
            sign=sign,
            special=wrong | infinite | zero,
            value=Mux(
                wrong,
                form.nan,
                Mux(infinite, form.signed_infinity(sign), form.signed_zero(sign)),
            ),
        )
        now = t[1]
        t.put(1, product=(now.low + now.high)[:width])
        now = t[2]
        top = now.product[-1]
        t.put(
            2,
            kept=Mux(top, now.product, Cat(Const(0, 1), now.product[:-1])),
            exponent=now.exponents - form.bias + top,
        )
        now = t[3]
        regular = rounded(m, form, now.sign, now.exponent, now.kept, 0)
        t.put(3, o=Mux(now.special, now.value, regular))
        m.d.comb += self.o.eq(t[4].o)
        return m

    def _product(self, m):
        """Operands, the sign, and addends of the product of mantissas."""
        form = self._form
        sign = named(m, form.sign_of(self.a) ^ form.sign_of(self.b), "sign")
        rows = partial_products(form.mantissa_of(self.a), form.mantissa_of(self.b))
        return self.a, self.b, sign, rows


class Square(Multiply):
    """a * a, as :class:`Multiply` has it, for half of the addends."""

    OPERANDS = "a"

    def _product(self, m):
        mantissa = named(m, self._form.mantissa_of(self.a), "mantissa")
        return self.a, self.a, Const(0, 1), square_products(mantissa)
