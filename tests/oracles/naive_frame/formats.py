# SPDX-License-Identifier: BSD-2-Clause
"""Formats of colours: from a shader's values to stored channels, and to bytes.

Source: docs/output/output_merger.md; [fs 3.2.2-3.2.3, 19.1.3].
"""

import math
import re
from collections.abc import Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from fixfunc.spec.dxgi import Format
from tests.oracles.naive_frame import float32

getcontext().prec = 60
NAMES = "RGBA"


class Channels(NamedTuple):
    """What a format stores: bits of red, green, blue, alpha, 0 of what it lacks."""

    kind: str  # UNORM, SNORM, SRGB, UINT or FLOAT
    bits: tuple[int, int, int, int]
    order: str  # from the lowest bits on

    @property
    def widest(self) -> tuple[int, ...]:
        """Bits that a shader's channels are rounded to: what is not stored has the most."""
        return tuple(bits or max(self.bits) for bits in self.bits)


@cache
def channels(form: Format) -> Channels:
    """Channels of a format, by its name."""
    name, kind = form.name.split("_", 1)
    found = {letter: int(bits) for letter, bits in re.findall(r"([RGBA])(\d+)", name)}
    kind = "SRGB" if kind.endswith("SRGB") else kind
    order = "".join(found)
    return Channels(kind, tuple(found.get(letter, 0) for letter in NAMES), order)


def _normalised(value, most, least):
    """A float as an integer: cut, scaled exactly, to the nearest, halves away from zero."""
    if math.isnan(value):
        return 0
    value = min(max(value, least), 1)
    over, under = abs(value).as_integer_ratio()
    magnitude = (2 * over * most + under) // (2 * under)
    return -magnitude if value < 0 else magnitude


@cache
def light() -> tuple[int, ...]:
    """Linear values of sRGB bytes, of 16 bits."""
    out = []
    for byte in range(256):
        value = Decimal(byte) / 255
        if value <= Decimal("0.04045"):
            linear = value / Decimal("12.92")
        else:
            linear = ((value + Decimal("0.055")) / Decimal("1.055")) ** Decimal("2.4")
        out.append(int(linear * 65535 + Decimal("0.5")))
    return tuple(out)


@cache
def byte_of_light(value: int) -> int:
    """The sRGB byte whose linear value is the nearest; of two the greater."""
    table = light()
    return min(range(256), key=lambda byte: (abs(table[byte] - value), -byte))


def wide(form: Format, channel: int) -> int:
    """The greatest integer that a channel is blended as."""
    kind, bits, _ = channels(form)
    if kind == "SRGB":
        return 65535
    count = bits[channel] or max(bits)
    return (1 << count - 1) - 1 if kind == "SNORM" else (1 << count) - 1


def source(form: Format, colour: tuple, steps: Sequence[int] = (1,) * 4) -> list:
    """A shader's colour as it is blended: integers, or float32.

    ``steps`` are those of a channel's integers in one that is stored.
    """
    kind, bits, _ = channels(form)
    if kind == "FLOAT":
        return [float32.flushed(value) for value in colour]
    if kind == "UINT":
        return [
            min(value, (1 << count) - 1 if count else value)
            for value, count in zip(colour, bits, strict=True)
        ]
    least = -1 if kind == "SNORM" else 0
    most = [wide(form, n) * its for n, its in enumerate(steps)]
    return [_normalised(value, its, least) for value, its in zip(colour, most, strict=True)]


def loaded(form: Format, stored: list[int]) -> list:
    """Stored channels as they are blended; those that are not stored are 0, 0, 0, 1."""
    kind, bits, _ = channels(form)
    out = []
    for n in range(4):
        value = stored[n]
        if not bits[n]:
            value = (1.0 if kind == "FLOAT" else wide(form, n)) if n == 3 else 0
        elif kind == "FLOAT":
            value = half(value) if bits[n] == 16 else float32.of_bits(value)
        elif kind == "SRGB":
            value = light()[value] if n < 3 else 257 * value
        elif kind == "SNORM":
            value = max(value - (1 << bits[n]) if value >> bits[n] - 1 else value, -wide(form, n))
        out.append(value)
    return out


def to_store(form: Format, values: list) -> list[int]:
    """Blended channels as they are stored."""
    kind, bits, _ = channels(form)
    out = []
    for n, (value, count) in enumerate(zip(values, bits, strict=True)):
        if not count:
            out.append(0)
        elif kind == "FLOAT":
            out.append(half_bits(value) if count == 16 else float32.bits_of(value))
        elif kind == "SRGB":
            out.append(byte_of_light(value) if n < 3 else (value + 128) // 257)
        else:
            out.append(value & (1 << count) - 1)
    return out


def half(bits: int) -> float:
    """The value of a float of 16 bits."""
    sign = -1.0 if bits >> 15 else 1.0
    exponent, fraction = bits >> 10 & 31, bits & 1023
    if exponent == 31:
        return math.nan if fraction else sign * math.inf
    if exponent == 0:
        return sign * fraction * 2.0**-24
    return sign * (1024 + fraction) * 2.0 ** (exponent - 25)


def half_bits(value: float) -> int:
    """A float32 as a float of 16 bits: towards zero, infinity of infinity alone [fs 3.2.2]."""
    sign = 0x8000 if math.copysign(1, value) < 0 else 0
    if math.isnan(value):
        return 0x7E00
    if math.isinf(value):
        return sign | 0x7C00
    magnitude = abs(Fraction(value))
    exponent = max(math.frexp(abs(value))[1], -13)  # of the first bit behind the last; least normal
    steps = math.floor(magnitude / Fraction(2) ** (exponent - 11))
    bits = steps + (exponent + 13 << 10) if steps else 0
    return sign | min(bits, 0x7BFF)


def texel(form: Format, stored: list[int]) -> bytes:
    """Stored channels as bytes."""
    _, bits, order = channels(form)
    word, at = 0, 0
    for letter in order:
        n = NAMES.index(letter)
        word |= stored[n] << at
        at += bits[n]
    return word.to_bytes(at // 8, "little")
