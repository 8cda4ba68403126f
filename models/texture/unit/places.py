# SPDX-License-Identifier: BSD-2-Clause
"""Coordinates of quads as places: fixed point on a level, numbers of layers."""

import numpy as np

FRACTION = 8  # bits of a place behind its point
MOST = (1 << 24) - 1  # of a place, s16.8
LEAST = -1 << 24
EXACT = 48  # bits of a mantissa times a size, and its fraction: no shift goes further


def layer_of(bits: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The nearest of the layers that there are, of two the even one.

    Parameters
    ----------
    bits : ndarray of uint32
        A float32: no number is 0.
    last : ndarray of int64
        Number of the last layer.

    Returns
    -------
    ndarray of int64
    """
    value = np.nan_to_num(np.ascontiguousarray(bits, np.uint32).view(np.float32), nan=0.0)
    return np.clip(np.rint(value), 0, last).astype(np.int64)


def place_of(bits: np.ndarray, size: np.ndarray, repeats: np.ndarray) -> np.ndarray:
    """A coordinate times a size, s16.8: rounded once, ties to even, and held to the range.

    Parameters
    ----------
    bits : ndarray of int64
        A float32: no number is 0.
    size : ndarray of int64
        Texels.
    repeats : ndarray of bool
        The coordinate counts modulo 2, its sign kept.

    Returns
    -------
    ndarray of int64
    """
    exponent = bits >> 23 & 255
    mantissa = bits & (1 << 23) - 1
    is_nan = (exponent == 255) & (mantissa > 0)
    mantissa = np.where(exponent > 0, mantissa | 1 << 23, 0)
    # The lowest bit has the value 2^(exponent - 150): what is 2 or more lies from here on.
    upper = np.clip(151 - exponent, 0, 24)
    mantissa = np.where(repeats, mantissa & (1 << upper) - 1, mantissa)
    product = mantissa * size << FRACTION
    shift = np.clip(150 - exponent, 0, EXACT)
    half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)
    quotient = product >> shift
    remainder = product - (quotient << shift)
    quotient += (remainder > half) | ((remainder == half) & (half > 0) & (quotient & 1 == 1))
    quotient = np.where((exponent > 150) & (mantissa > 0), MOST + 1, quotient)
    negative = bits >> 31 & 1 == 1
    out = np.where(negative, -np.minimum(quotient, -LEAST), np.minimum(quotient, MOST))
    return np.where(is_nan, 0, out)
