# SPDX-License-Identifier: BSD-2-Clause
"""float32 to UNORM, or SNORM."""

from amaranth.hdl import Cat, Const, Module, Mux, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named, pick
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.float32.fields import FLOAT32

Unit = tuple[int, int]  # bits of 1.0, 2^n - 1, and of the fraction


class ToUnorm(wiring.Component):
    """The nearest UNORM, or SNORM, ties away from zero; what is beyond the range is its end, and
    NaN is 0 [fs 3.2.3.3, 3.2.3.6]; free-running.

    Parameters
    ----------
    units : (int, int)
        What it may be, each another: bits of 1.0, 2^n - 1, 1 to 24; and bits of the fraction, which
        is what rounding takes away: 0, there is none.
    with_sign : bool
        It may be SNORM.

    Members
    -------
    a : In(32)
        float32.
    unit : In(len(units))
        Which of ``units`` it is, one bit; with ``a``. Absent if there is one.
    is_signed : In(1)
        It is SNORM; with ``a``. Absent without ``with_sign``.
    o : Out(shape)
        :attr:`LATENCY` clocks later; signed only ``with_sign``.
    fraction : Out(signed(...))
        Less the nearest, in 2^-n of its unit for n bits, cut towards zero, at most what n bits
        hold: together with ``o``. Absent if no unit has one.
    """

    LATENCY = 2

    def __init__(self, *units: Unit, with_sign: bool = False) -> None:
        self._units = units
        self._with_sign = with_sign
        self._bits = max(bits for bits, _ in units)
        self._fraction = max(fraction for _, fraction in units)
        shape = signed(self._bits + 1) if with_sign else unsigned(self._bits)
        super().__init__(
            {"a": In(32), "o": Out(shape)}
            | ({"fraction": Out(signed(self._fraction))} if self._fraction else {})
            | ({"unit": In(len(units))} if len(units) > 1 else {})
            | ({"is_signed": In(1)} if with_sign else {})
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        exponent = FLOAT32.exponent_of(self.a)
        mantissa = FLOAT32.mantissa_of(self.a)
        unit = self.unit if len(self._units) > 1 else Const(1)
        # The mantissa has 23 bits behind its point, and a half is kept below them.
        down = named(m, FLOAT32.bias + FLOAT32.fraction - 1 - exponent, "down")
        above = pick(unit, [mantissa << bits for bits, _ in self._units])
        product = register(m, above - mantissa, FLOAT32.mantissa + self._bits, "product")
        distance = register(m, Mux(down[6:].any(), 63, down[:6]), 6, "distance")
        sign = FLOAT32.sign_of(self.a)
        below = sign & ~self.is_signed if self._with_sign else sign
        is_zero = register(m, below | FLOAT32.is_nan(self.a), 1, "is_zero")
        is_one = register(m, exponent >= FLOAT32.bias, 1, "is_one")
        is_negative = register(m, sign, 1, "is_negative") if self._with_sign else Const(0)
        known = Const(1) if len(self._units) == 1 else register(m, unit, len(unit), "known_unit")
        steps = self._steps(m, known, product, distance)
        self._round(m, known, steps, is_zero, is_one, is_negative)
        if self._fraction:
            self._cut(m, known, steps, is_zero | is_one, is_negative)
        return m

    def _steps(self, m, unit, product, distance):
        """Behind the point a half, or all bits of the fraction."""
        wide = pick(unit, [product << _below_half(fraction) for _, fraction in self._units])
        return named(m, wide >> distance, "steps")

    def _round(self, m, unit, steps, is_zero, is_one, is_negative):
        """The nearest; one at the end of the range."""
        halves = pick(unit, [steps >> _below_half(fraction) for _, fraction in self._units])
        nearest = named(m, (halves + 1 >> 1)[: self._bits], "nearest")
        ones = pick(unit, [(1 << bits) - 1 for bits, _ in self._units])
        magnitude = Mux(is_zero, 0, Mux(is_one, ones, nearest))
        value = Mux(is_negative, -magnitude, magnitude) if self._with_sign else magnitude
        m.d.sync += self.o.eq(value)

    def _cut(self, m, unit, steps, is_nothing, is_negative):
        """What is less than the unit, with the sign that rounding gave it."""
        fields = [
            Cat(steps[:n], steps[n - 1].replicate(self._fraction - n)) if n else Const(0)
            for _, n in self._units
        ]
        field = named(m, pick(unit, fields)[: self._fraction], "field")
        cut = field.as_signed()
        if self._with_sign:
            least = pick(unit, [steps[:n] == 1 << n - 1 if n else 0 for _, n in self._units])
            cut = Mux(is_negative, Mux(least, ~cut, -cut), cut)
        m.d.sync += self.fraction.eq(Mux(is_nothing, 0, cut))


def _below_half(fraction):
    """Bits of a fraction below its half."""
    return max(fraction - 1, 0)
