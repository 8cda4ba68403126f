# SPDX-License-Identifier: BSD-2-Clause
"""Formats of depths, bias, ranges.

Source: docs/numerics.md, docs/depth/depth_test.md.
"""

import math
from fractions import Fraction

from fixfunc.spec.dxgi import DEPTH_FORMATS, Format
from tests.oracles.naive_frame import float32
from tests.oracles.naive_frame.scene import Draw
from tests.oracles.naive_frame.triangles import FLOATS, MOST, Plane, Triangle

END = 1 << 41  # of s33.8, in 2^-8 of a unit


def encoded(value: float, form: Format) -> int:
    """A float as it is stored: an integer, or the bits of a float32."""
    if form in FLOATS:
        return float32.bits_of(float32.flushed(value))
    most = MOST if form == Format.D24_UNORM_S8_UINT else 65535
    return math.floor(Fraction(value) * most + Fraction(1, 2))


def bias(draw: Draw, plane: Plane, triangle: Triangle, form: Format) -> int:
    """Bias of a triangle's depths, 2^-8 of a unit."""
    # The constant alone is not cut: no slope brings it back from beyond the range.
    constant = draw.bias * (65537 if form == Format.D16_UNORM else 256)
    slope = 1 << 31 if plane.steep else max(abs(plane.dx), abs(plane.dy))
    total = _cut(constant + _rounded(Fraction(draw.bias_slope) * slope))
    unit = MOST
    if form in FLOATS:
        unit = Fraction(2) ** (150 - triangle.exponent)
    clamp = _rounded(Fraction(draw.bias_clamp) * unit * 256)
    if draw.bias_clamp > 0:
        return min(total, clamp)
    if draw.bias_clamp < 0:
        return max(total, clamp)
    return total


def _rounded(value):
    """To the nearest, half up, cut to s33.8."""
    return _cut(math.floor(value + Fraction(1, 2)))


def _cut(value):
    return max(-END, min(END - 1, value))


def stored(value: int, triangle: Triangle, form: Format) -> int:
    """A depth in 2^-12 of a unit as it is stored: cut to 0..1, rounded."""
    if form in FLOATS:
        exact = Fraction(value) * Fraction(2) ** (triangle.exponent - 162)
        return float32.bits_of(float32.nearest(min(max(exact, Fraction(0)), Fraction(1))))
    value = min(max(value, 0), MOST << 12)
    if form == Format.D24_UNORM_S8_UINT:
        return (value + (1 << 11)) >> 12
    return (value - (value >> 16) + (1 << 19)) >> 20


def in_range(value: int, draw: Draw, form: Format) -> int:
    """A stored depth cut to the viewport's range. Floats not below zero are ordered as bits."""
    near, far = (encoded(end, form) for end in draw.viewport[4:])
    return min(max(value, near), far)


def has_stencil(form: Format | None) -> bool:
    """A format has stencil values."""
    return form is not None and DEPTH_FORMATS[form]
