# SPDX-License-Identifier: BSD-2-Clause
"""a * b."""

from amaranth.hdl import Cat, Const, Module, Mux

from fixfunc.rtl.lib.arithmetic.carry_save import carry_save, partial_products
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
        zero = form.is_zero(self.a) | form.is_zero(self.b)
        infinite = form.is_infinite(self.a) | form.is_infinite(self.b)
        wrong = form.is_nan(self.a) | form.is_nan(self.b) | (zero & infinite)
        sign = named(m, form.sign_of(self.a) ^ form.sign_of(self.b), "sign")
        width = 2 * form.mantissa
        first, second = form.mantissa_of(self.a), form.mantissa_of(self.b)
        rows = partial_products(first, second)
        low, high = carry_save(m, rows, width, "rows")
        t.put(
            0,
            low=low,
            high=high,
            exponents=form.exponent_of(self.a) + form.exponent_of(self.b),
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
