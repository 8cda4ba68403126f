# SPDX-License-Identifier: BSD-2-Clause
"""a + b."""

from amaranth.hdl import Cat, Const, Module, Mux

from fixfunc.rtl.lib.bits import minimum, named
from fixfunc.rtl.lib.float32.operation import Operation
from fixfunc.rtl.lib.float32.rounding import normalised, rounded
from fixfunc.rtl.lib.timeline import Steps

BELOW = 3  # bits below a mantissa: guard, round, and all that lies lower


class Add(Operation):
    """a + b to the nearest, ties to even; one a clock, free-running. A difference negates b.

    Parameters and members are those of :class:`~fixfunc.rtl.lib.float32.operation.Operation`.
    """

    STEPS = 5

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Steps(m, self.STEPS, self.latency)
        self._order(m, t)
        self._align(t)
        now = t[2]
        t.put(2, total=Mux(now.subtracts, now.high - now.low, now.high + now.low)[: self._bits])
        now = t[3]
        shifted, zeros = normalised(m, now.total, "total")
        t.put(
            3,
            kept=shifted,
            sum_exponent=now.exponent + 1 - zeros,
            nothing=now.total == 0,
        )
        now = t[4]
        regular = rounded(m, self._form, now.sign, now.sum_exponent, now.kept, 0)
        number = Mux(now.nothing, self._form.signed_zero(now.zero_sign), regular)
        t.put(4, o=Mux(now.special, now.value, number))
        m.d.comb += self.o.eq(t[5].o)
        return m

    @property
    def _bits(self):
        """Of a sum, with its carry."""
        return self._form.mantissa + BELOW + 1

    def _order(self, m, t):
        """The greater magnitude first, and the result where it is special."""
        form = self._form
        a, b = self.a, self.b
        swaps = named(m, b[: form.magnitude] > a[: form.magnitude], "swaps")
        high = named(m, Mux(swaps, b, a), "high")
        low = named(m, Mux(swaps, a, b), "low")
        # Both differences, of which one is above zero: they need not wait for the comparison.
        ahead, behind = (
            (form.exponent_of(x) - form.exponent_of(y))[: form.exponent]
            for x, y in ((a, b), (b, a))
        )
        subtracts = named(m, form.sign_of(a) ^ form.sign_of(b), "differ")
        infinite = form.is_infinite(high)
        wrong = form.is_nan(high) | (infinite & form.is_infinite(low) & subtracts)
        t.put(
            0,
            high_mantissa=form.mantissa_of(high),
            low_mantissa=form.mantissa_of(low),
            distance=Mux(swaps, behind, ahead),
            exponent=form.exponent_of(high),
            sign=form.sign_of(high),
            zero_sign=form.sign_of(a) & form.sign_of(b),
            subtracts=subtracts,
            special=wrong | infinite,
            value=Mux(wrong, form.nan, form.signed_infinity(form.sign_of(high))),
        )

    def _align(self, t):
        """The lesser one in the unit of the greater; what falls out below leaves its lowest bit."""
        now = t[1]
        most = self._form.mantissa + BELOW
        wide = Cat(Const(0, most + BELOW), now.low_mantissa) >> minimum(now.distance, Const(most))
        t.put(
            1,
            high=now.high_mantissa << BELOW,
            low=Cat(wide[: most + 1].any(), wide[most + 1 : 2 * most]),
        )
