# SPDX-License-Identifier: BSD-2-Clause
"""Conversions between numbers and what formats store [fs 3.2]."""

import math
import re
from fractions import Fraction

TOLERANCE = Fraction(6, 10)  # of a unit in the last place, of FLOAT to UNORM and SNORM [fs 3.2.3.6]
LEAST = Fraction(1, 1 << 126)  # of float32; below it there are zeros [fs 3.1.3.2]

Interval = tuple[Fraction, Fraction]


def channels(name: str) -> list[tuple[str, int, str]]:
    """Letter, bits and kind of a format's channels, lowest bits first [fs 19.1.3.1]."""
    layout, kind = name.removesuffix("_SRGB").rsplit("_", 1)
    kind = "SRGB" if name.endswith("_SRGB") else kind
    found = re.findall(r"([RGBAX])(\d+)", layout)
    # Of sRGB alpha is linear [fs 17.4, 19.1.3.2]; X is nothing.
    return [
        (at, int(bits), "UNORM" if kind == "SRGB" and at == "A" else kind) for at, bits in found
    ]


def exact(value: float) -> Fraction | None:
    """A float32 that an operation takes: denormals are zeros [fs 3.1.3.2]; None: not finite."""
    if not math.isfinite(value):
        return None
    found = Fraction(value)
    return Fraction(0) if abs(found) < LEAST else found


def held(value: float, low: int, high: int) -> Fraction:
    """A number cut to a range: NaN is 0, infinities are its ends [fs 3.2.3.4, 3.2.3.6]."""
    if math.isnan(value):
        return Fraction(0)
    if math.isinf(value):
        return Fraction(high if value > 0 else low)
    return min(max(exact(value), Fraction(low)), Fraction(high))


def unit(bits: int, kind: str) -> int:
    """The integer that is 1.0 [fs 3.2.3.1]."""
    return (1 << bits - (kind == "SNORM")) - 1


def lowest(kind: str) -> int:
    """The least number of a normalised format [fs 3.2.3.1]."""
    return -1 if kind == "SNORM" else 0


def stored(value: Interval, bits: int, kind: str) -> range:
    """Integers that numbers of an interval may become [fs 3.2.3.4, 3.2.3.6, 3.2.3.8]."""
    one = unit(bits, kind)
    low, high = (min(max(end, Fraction(lowest(kind))), Fraction(1)) for end in value)
    if kind == "SRGB":
        low, high = (Fraction(encoded(float(end))) for end in (low, high))
    first = max(math.ceil(low * one - TOLERANCE), lowest(kind) * one)
    return range(first, min(math.floor(high * one + TOLERANCE), one) + 1)


def value(number: int, bits: int, kind: str) -> Interval:
    """What a stored integer means [fs 3.2.3.3, 3.2.3.5, 3.2.3.7].

    The least SNORM means -1.0, as the one above it does. sRGB has a tolerance of half a unit, but
    for its ends.
    """
    one = unit(bits, kind)
    if kind != "SRGB":
        exactly = max(Fraction(number, one), Fraction(-1))
        return exactly, exactly
    if number in (0, one):
        return Fraction(number, one), Fraction(number, one)
    half = Fraction(1, 2)
    return tuple(Fraction(decoded(float((number + step) / one))) for step in (-half, half))


def known(c: float, bits: int, kind: str) -> Interval:
    """A number that is clamped to the range, and at least as precise as the format [fs 17.5]."""
    low = lowest(kind)
    exactly = held(c, low, 1)
    step = Fraction(1, 2 * unit(bits, kind))
    if kind == "SRGB":
        place = encoded(float(exactly))
        ends = (decoded(min(max(place + n * float(step), 0.0), 1.0)) for n in (-1, 1))
        return tuple(Fraction(end) for end in ends)
    return max(exactly - step, Fraction(low)), min(exactly + step, Fraction(1))


def decoded(c: float) -> float:
    """sRGB to linear, ideal [fs 3.2.3.7]. A power is no rational: float64, wrong by 2^-50."""
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def encoded(c: float) -> float:
    """Linear to sRGB, ideal [fs 3.2.3.8]."""
    return 12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055


def clamped(number: int, bits: int, kind: str) -> int:
    """An integer of a shader in a format of UINT or SINT [fs 3.2.3.13]."""
    low = -(1 << bits - 1) if kind == "SINT" else 0
    return min(max(number, low), low + (1 << bits) - 1)


def small(value: Fraction, bits: int) -> Fraction:
    """A float of 16, 11 or 10 bits: towards zero, never to infinity [fs 3.2.2].

    Five bits of exponent; denormals are kept. Without a sign what is below zero is zero [fs 3.1.6].
    """
    fraction = {16: 10, 11: 6, 10: 5, 32: 23}[bits]
    if bits < 16 and value < 0:
        return Fraction(0)
    most, least = (127, -126) if bits == 32 else (15, -14)
    magnitude = abs(value)
    exponent = least
    while Fraction(2) ** (exponent + 1) <= magnitude and exponent < most:
        exponent += 1
    step = Fraction(2) ** (exponent - fraction)
    found = min(magnitude // step * step, (2 - Fraction(1, 1 << fraction)) * 2**most)
    if bits == 32 and found < LEAST:
        found = Fraction(0)
    return -found if value < 0 else found


def meant(raw: int, bits: int) -> float:
    """What bits of a float mean [fs 3.1.3, 3.1.5, 3.1.6]."""
    fraction, wide = {16: (10, 5), 11: (6, 5), 10: (5, 5), 32: (23, 8)}[bits]
    sign = -1.0 if bits in (16, 32) and raw >> bits - 1 else 1.0
    exponent = raw >> fraction & (1 << wide) - 1
    mantissa = raw & (1 << fraction) - 1
    bias = (1 << wide - 1) - 1
    if exponent == (1 << wide) - 1:
        return math.nan if mantissa else sign * math.inf
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - fraction)
    return sign * math.ldexp(mantissa + (1 << fraction), exponent - bias - fraction)
