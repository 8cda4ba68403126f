# SPDX-License-Identifier: BSD-2-Clause
"""float32 as D3D11 has it, one number at a time: Python floats that float32 can hold.

A finite number is a mantissa times a power of two, both integers; a result is rounded once, to the
nearest, ties to even. Denormals are signed zeros before and after every operation [fs 3.1.3].
"""

import math
import struct
from fractions import Fraction

LEAST = 2.0**-126  # the least that is not a denormal


def bits_of(value: float) -> int:
    """The 32 bits of a float32."""
    if math.isnan(value):
        return 0x7FC00000
    return struct.unpack("<I", struct.pack("<f", value))[0]


def of_bits(bits: int) -> float:
    """The float32 of 32 bits."""
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def flushed(value: float) -> float:
    """Denormals as signed zeros."""
    return math.copysign(0.0, value) if abs(value) < LEAST else value


def _parts(value):
    """Mantissa and exponent of a finite float32: value = m * 2^e."""
    fraction, exponent = math.frexp(value)
    return int(fraction * (1 << 24)), exponent - 24


def rounded(number: int, exponent: int) -> float:
    """The float32 nearest to number * 2^exponent, which is not zero."""
    magnitude = abs(number)
    extra = magnitude.bit_length() - 24
    if extra > 0:
        rest = magnitude & ((1 << extra) - 1)
        magnitude >>= extra
        exponent += extra
        half = 1 << (extra - 1)
        if rest > half or (rest == half and magnitude & 1):
            magnitude += 1
    top = magnitude.bit_length() + exponent
    value = math.inf if top > 128 else math.ldexp(magnitude, exponent)
    return flushed(math.copysign(value, number))


def multiply_add(a: float, b: float, c: float) -> float:
    """a b + c, rounded once."""
    a, b, c = flushed(a), flushed(b), flushed(c)
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    (m, e), (n, f), (p, g) = _parts(a), _parts(b), _parts(c)
    product, exponent = m * n, e + f
    if product == 0 or p == 0:
        if product == 0:
            return a * b + c  # c itself, or a zero with its sign
        return rounded(product, exponent)
    least = min(exponent, g)
    total = (product << (exponent - least)) + (p << (g - least))
    return rounded(total, least) if total else 0.0


def multiply(a: float, b: float) -> float:
    """a b."""
    a, b = flushed(a), flushed(b)
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return a * b
    (m, e), (n, f) = _parts(a), _parts(b)
    return rounded(m * n, e + f)


def add(a: float, b: float) -> float:
    """a + b."""
    return multiply_add(1.0, a, b)


def subtract(a: float, b: float) -> float:
    """a - b."""
    return multiply_add(1.0, a, -b)


def nearest(value: Fraction) -> float:
    """The float32 nearest to a fraction."""
    if value == 0:
        return 0.0
    # 64 bits of the quotient, and a last one that says whether there is more.
    shift = 64 - (abs(value.numerator).bit_length() - value.denominator.bit_length())
    quotient, rest = divmod(
        abs(value.numerator) << max(shift, 0), value.denominator << max(-shift, 0)
    )
    number = 2 * quotient + (rest > 0)
    return rounded(-number if value < 0 else number, -shift - 1)


def divide(a: float, b: float) -> float:
    """a / b of finite numbers, b not zero."""
    return nearest(Fraction(flushed(a)) / Fraction(flushed(b)))


def reciprocal(value: float) -> float:
    """1 / value of a finite number above zero."""
    return nearest(1 / Fraction(value))
