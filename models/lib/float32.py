# SPDX-License-Identifier: BSD-2-Clause
"""float32 as D3D11 has it: nearest even, no denormals, one NaN [fs 3.1.3].

Operations take and return float32. Denormals are signed zeros before an operation and after
it; a NaN that comes out is the canonical one, 0x7FC00000.
"""

import functools

import numpy as np
from numpy.typing import ArrayLike

LEAST = np.float32(2.0**-126)  # the least normal number
NAN = np.uint32(0x7FC00000).view(np.float32)
SIGN = 1 << 31
UNIT = 150  # a float32 is its mantissa times 2^(exponent - 150)


def flush(value: ArrayLike) -> np.ndarray:
    """Denormals become zeros of their sign, NaNs the canonical one."""
    value = np.asarray(value, np.float32)
    zero = np.copysign(np.float32(0), value)
    return np.where(np.isnan(value), NAN, np.where(np.abs(value) < LEAST, zero, value))


def widened(value: ArrayLike, nan: float) -> np.ndarray:
    """float32 as float64, exactly; NaNs become a number: a signalling one cannot be widened."""
    value = np.asarray(value, np.float32)
    return np.where(np.isnan(value), np.float32(nan), value).astype(np.float64)


def _operation(function):
    @functools.wraps(function)
    def flushed(*operands: ArrayLike) -> np.ndarray:
        with np.errstate(all="ignore"):
            return flush(function(*(flush(operand) for operand in operands)))

    return flushed


@_operation
def add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b"""
    return a + b


@_operation
def subtract(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a - b"""
    return a - b


@_operation
def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a * b"""
    return a * b


@_operation
def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b"""
    return a / b


@_operation
def square_root(a: np.ndarray) -> np.ndarray:
    """The square root of a; of what is below zero NaN."""
    return np.sqrt(a)


@_operation
def reciprocal(a: np.ndarray) -> np.ndarray:
    """1 / a"""
    return np.float32(1) / a


@_operation
def multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c, rounded once.

    The product is exact in float64. Its sum with c is rounded to odd there, 53 bits being more than
    twice 24 and two, so that the last rounding is that of the exact sum.
    """
    product = a.astype(np.float64) * b
    wide = c.astype(np.float64)
    total = product + wide
    # What the sum lost, exactly.
    share = total - product
    lost = (product - (total - share)) + (wide - share)
    bits = np.asarray(total).view(np.int64)
    inexact = np.isfinite(total) & (lost != 0) & (bits & 1 == 0)
    away = (lost > 0) == (total > 0)
    return np.where(inexact, bits + np.where(away, 1, -1), bits).view(np.float64).astype(np.float32)


def unorm(bits: np.ndarray, one: int = (1 << 16) - 1) -> np.ndarray:
    """The UNORM nearest to a float32, halves up: int64; NaN is 0 [fs 3.2.3.6].

    ``one`` is 1.0: the greatest of at most 24 bits.
    """
    return _unorm(bits, one, one, lambda shift: np.int64(1) << shift - 1)


def unorm_steps(bits: np.ndarray, one: int, steps: int) -> np.ndarray:
    """The same cut to a multiple of 1 / ``steps``: int64, in these."""
    return _unorm(bits, one * steps, one * steps, lambda _: 0)


def _unorm(bits, one, most, rounding):
    exponent = bits >> 23 & 255
    mantissa = np.where(exponent > 0, bits & (1 << 23) - 1 | 1 << 23, 0)
    shift = np.clip(UNIT - exponent, 1, 62)
    inside = (mantissa * one + rounding(shift)) >> shift
    value = np.where(exponent >= 127, most, inside)
    is_nan = (bits & SIGN - 1) > 255 << 23
    return np.where((bits & SIGN > 0) | is_nan, 0, value)
