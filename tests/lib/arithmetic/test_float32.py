# SPDX-License-Identifier: BSD-2-Clause
import math
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.lib import float32

LEAST = float32.LEAST
MOST = np.finfo(np.float32).max
CORNERS = np.array(
    [0, 1, 1 + 2**-23, 1 - 2**-24, 3, 2**24, 2**24 + 2, LEAST, 2 * LEAST, MOST, np.inf], np.float32
)
CORNERS = np.concatenate([CORNERS, -CORNERS, np.array([1e-40, -1e-45, np.nan], np.float32)])
PAIRS = np.array(np.meshgrid(CORNERS, CORNERS)).reshape(2, -1)


def samples(seed, count, shape):
    """Numbers of every exponent, with few bits more often than with many."""
    rng = np.random.default_rng(seed)
    mantissa = rng.integers(0, 1 << 23, (shape, count)) & -(
        1 << rng.integers(0, 23, (shape, count))
    )
    exponent = rng.integers(1, 255, (shape, count))
    near = rng.integers(110, 145, (shape, count))
    exponent = np.where(rng.random((shape, count)) < 0.7, near, exponent)
    bits = mantissa | exponent << 23 | rng.integers(0, 2, (shape, count)) << 31
    return bits.astype(np.uint32).view(np.float32)


def rounded(exact, sign_of_zero=1.0):
    """The float32 nearest to an exact number, ties to even; below the least normal one 0."""
    if exact == 0:
        return np.copysign(np.float32(0), np.float32(sign_of_zero))
    magnitude = abs(exact)
    exponent = max(math.floor(math.log2(magnitude)) - 1, -127)
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    unit = Fraction(2) ** (exponent - 23)
    count = round(magnitude / unit)  # ties to even
    value = count * unit
    sign = -1.0 if exact < 0 else 1.0
    if value < Fraction(float(LEAST)):
        return np.copysign(np.float32(0), np.float32(sign))
    if value >= Fraction(2) ** 128:
        return np.float32(sign * math.inf)
    return np.float32(sign * float(value))


def same(got, wanted):
    return got.tobytes() == np.float32(wanted).tobytes()


@pytest.mark.plan("float32-1")
@pytest.mark.parametrize(
    ("operation", "exact"),
    [
        (float32.add, lambda a, b: a + b),
        (float32.subtract, lambda a, b: a - b),
        (float32.multiply, lambda a, b: a * b),
        (float32.divide, lambda a, b: a / b),
    ],
)
def test_operations_are_nearest_even(operation, exact):
    a, b = samples(1, 3000, 2)
    for x, y, got in zip(a, b, operation(a, b), strict=True):
        wanted = exact(Fraction(float(x)), Fraction(float(y)))
        assert same(got, rounded(wanted)) or wanted == 0, (x, y)


@pytest.mark.plan("float32-1")
def test_multiply_add_is_rounded_once():
    """Sums that cancel, ties that a second rounding would break, and products far away."""
    a, b, c = samples(2, 3000, 3)
    # c is near the product for a third, and half a unit of it for another.
    with np.errstate(all="ignore"):
        product = a * b
        c = np.where(np.arange(3000) % 3 == 0, -product, c)
        c = np.where(np.arange(3000) % 3 == 1, np.ldexp(product, -24), c)
    finite = np.isfinite(c) & np.isfinite(product) & (np.abs(c) >= LEAST)
    a, b, c = a[finite], b[finite], c[finite]
    assert len(a) > 1500
    twice = 0
    for x, y, z, got in zip(a, b, c, float32.multiply_add(a, b, c), strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        assert same(got, rounded(exact)) or exact == 0, (x, y, z)
        with np.errstate(all="ignore"):
            twice += not same(np.float32(np.float64(x) * np.float64(y) + np.float64(z)), got)
    assert twice, "no case shows that rounding twice is wrong"


@pytest.mark.plan("float32-2")
@pytest.mark.parametrize("operation", [float32.add, float32.multiply, float32.divide])
def test_special_classes(operation):
    """Every pair of special numbers: denormals are zeros, NaN is one, zeros keep their signs."""
    a, b = PAIRS
    got = operation(a, b)
    zeroed_a, zeroed_b = (
        np.where(np.abs(x) < LEAST, np.copysign(np.float32(0), x), x) for x in (a, b)
    )
    with np.errstate(all="ignore"):
        raw = getattr(np, operation.__name__)(zeroed_a, zeroed_b)
    nan = np.isnan(raw)
    assert nan.any()
    assert (got[nan].view(np.uint32) == 0x7FC00000).all()
    small = np.abs(raw) < LEAST
    wanted = np.where(small, np.copysign(np.float32(0), raw), raw)
    assert got[~nan].tobytes() == wanted[~nan].tobytes()
