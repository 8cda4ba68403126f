# SPDX-License-Identifier: BSD-2-Clause
"""The fields of a float, and the numbers that are special."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Mux, Value

from fixfunc.spec.errors import InputError


@dataclass(frozen=True)
class FloatFormat:
    """A binary float: a sign, a biased exponent, a fraction below a one that is not stored.

    Denormals are zeros of their sign, and every NaN is the canonical one. Formats that are smaller
    than float32 are there so that all operands can be tried.

    Parameters
    ----------
    exponent : int
        Bits of the exponent, 3 to 8.
    fraction : int
        Bits of the fraction, 2 to 23.
    """

    exponent: int = 8
    fraction: int = 23

    def __post_init__(self):
        if not 3 <= self.exponent <= 8:
            raise InputError("exponent", "be 3 to 8", self.exponent)
        if not 2 <= self.fraction <= 23:
            raise InputError("fraction", "be 2 to 23", self.fraction)

    @property
    def bits(self) -> int:
        """Bits of a number."""
        return 1 + self.magnitude

    @property
    def magnitude(self) -> int:
        """Bits without the sign."""
        return self.exponent + self.fraction

    @property
    def mantissa(self) -> int:
        """Bits of the fraction and of the one above it."""
        return self.fraction + 1

    @property
    def bias(self) -> int:
        """Exponent of 1.0."""
        return (1 << self.exponent - 1) - 1

    @property
    def top(self) -> int:
        """Exponent of infinity and NaN."""
        return (1 << self.exponent) - 1

    @property
    def infinity(self) -> int:
        """Bits of infinity."""
        return self.top << self.fraction

    @property
    def nan(self) -> int:
        """Bits of the canonical NaN."""
        return self.infinity | 1 << self.fraction - 1

    @property
    def one(self) -> int:
        """Bits of 1.0."""
        return self.bias << self.fraction

    def exponent_of(self, value: Value) -> Value:
        """The biased exponent."""
        return value[self.fraction : self.magnitude]

    def sign_of(self, value: Value) -> Value:
        """Set below zero."""
        return value[self.magnitude]

    def is_zero(self, value: Value) -> Value:
        """A zero, or a denormal, which counts as one."""
        return self.exponent_of(value) == 0

    def is_infinite(self, value: Value) -> Value:
        """An infinity of either sign."""
        return value[: self.magnitude] == self.infinity

    def is_nan(self, value: Value) -> Value:
        """No number."""
        return value[: self.magnitude] > self.infinity

    def mantissa_of(self, value: Value) -> Value:
        """The fraction below its one; of a zero nothing."""
        return Mux(self.is_zero(value), 0, Cat(value[: self.fraction], Const(1, 1)))

    def flushed(self, value: Value) -> Value:
        """A denormal as the zero of its sign, NaN as the canonical one."""
        magnitude = Mux(self.is_zero(value), 0, value[: self.magnitude])
        return Mux(self.is_nan(value), self.nan, Cat(magnitude, self.sign_of(value)))

    def signed_infinity(self, sign: Value) -> Value:
        """The infinity of a sign."""
        return Cat(Const(self.infinity, self.magnitude), sign)

    def signed_zero(self, sign: Value) -> Value:
        """The zero of a sign."""
        return Cat(Const(0, self.magnitude), sign)


FLOAT32 = FloatFormat()
