# SPDX-License-Identifier: BSD-2-Clause
"""1 / a."""

from amaranth.hdl import Cat, Const, Module, Mux

from fixfunc.rtl.lib.arithmetic.reciprocal import Reciprocal
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.float32.operation import Operation
from fixfunc.rtl.lib.float32.rounding import rounded
from fixfunc.rtl.lib.timeline import Timeline


class Invert(Operation):
    """1 / a to the nearest, ties to even; one a clock, free-running.

    The quotient of mantissas has a bit more than a mantissa, and is exact for powers of two alone:
    what lies below that bit is never nothing for others.

    Parameters and members are those of :class:`~fixfunc.rtl.lib.float32.operation.Operation`.
    """

    OPERANDS = "a"
    LEAST = 2  # the last one rounds
    STEPS = Reciprocal.STEPS + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        form = self._form
        divided = self.latency - 1
        mantissa = form.mantissa
        m.submodules.quotient = quotient = Reciprocal(mantissa, 2 * mantissa, divided)
        m.d.comb += quotient.divisor.eq(Cat(self.a[: form.fraction], Const(1, 1)))
        t = Timeline(m)
        t.enter(0, a=self.a)
        a = t[divided].a
        power = named(m, ~a[: form.fraction].any(), "power")  # of two
        sign = form.sign_of(a)
        value = Mux(power, 1 << mantissa, quotient.o[: mantissa + 1])
        exponent = named(m, 2 * form.bias - form.exponent_of(a) - ~power, "exponent")
        regular = rounded(m, form, sign, exponent, value, ~power)
        number = Mux(form.is_infinite(a), form.signed_zero(sign), regular)
        number = Mux(form.is_zero(a), form.signed_infinity(sign), number)
        m.d.comb += self.o.eq(delay(m, Mux(form.is_nan(a), form.nan, number), 1, "inverted"))
        return m
