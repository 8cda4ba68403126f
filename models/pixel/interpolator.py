# SPDX-License-Identifier: BSD-2-Clause
"""Interpolator: weights of a triangle's corners at positions, and attributes by them."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.geometry.triangle_setup import OUTER
from fixfunc.models.lib import float32

FRACTION = 24  # bits of a weight behind the point
WHOLE = 8  # bits of a weight before the point: helpers lie far from small triangles
ONE = 1 << FRACTION
Q = 32  # bits of 1/w, of which a mantissa has 24
SUM = 28  # bits of the sum of f, normalised
RECIPROCAL = 54  # log2 of what the sum divides
HALF = 24  # bits of the low word of E, and of f
MANTISSA = 24  # bits of an attribute's mantissa
SPECIAL = 255  # exponent of infinity and NaN
NAN = np.uint32(0x7FC00000)


class Corners(NamedTuple):
    """Corners of triangles."""

    x: np.ndarray  # int64, shape (n, 3): s15.8 pixels
    y: np.ndarray
    q: np.ndarray  # int64, shape (n, 3): 1/w, 32 bits under the triangle's greatest exponent


def corners(triangles: np.ndarray, rhw: np.ndarray) -> Corners:
    """What weights need of triangles.

    Parameters
    ----------
    triangles : structured ndarray, shape (n,)
        As :data:`fixfunc.spec.payloads.TRIANGLE` has them.
    rhw : ndarray of float32, shape (n, 3)
        1/w of each corner; as a clipped triangle has it, positive.

    Returns
    -------
    Corners
    """
    mantissa, exponent = _parts(rhw)
    down = exponent.max(1, keepdims=True) - exponent
    x, y = (
        np.stack([triangles[f"{axis}{k}"] for k in range(3)], -1).astype(np.int64) for axis in "xy"
    )
    return Corners(x, y, mantissa << Q - MANTISSA >> np.minimum(down, Q))


def _parts(values):
    """Mantissas of 24 bits, and exponents, of float32 without their signs: int64.

    A denormal is zero, with the exponent 0.
    """
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.int64)
    exponent = bits >> 23 & 255
    return np.where(exponent > 0, bits & (1 << 23) - 1 | 1 << 23, 0), exponent


def edges(at: Corners, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Exact edge functions at positions: of the edge across each corner.

    Parameters
    ----------
    at : Corners
        Of the triangle of each position.
    x, y : ndarray of int64, shape (n,)
        s15.8 pixels.

    Returns
    -------
    ndarray of int64, shape (n, 3)
        Their sum is twice the area; inside, none is negative.
    """
    value = []
    for corner in range(3):
        k, n = (corner + 1) % 3, (corner + 2) % 3
        dx = at.x[:, n] - at.x[:, k]
        dy = at.y[:, k] - at.y[:, n]
        value.append(dy * (x - at.x[:, k]) + dx * (y - at.y[:, k]))
    value = np.stack(value, -1)
    return np.where(value.sum(1, keepdims=True) < 0, -value, value)


def inside(at: Corners, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Inner coverage: pixels that lie in the triangle whole, however it was snapped.

    Parameters are those of :func:`edges`, at centres of pixels; bool, shape (n,). A square that is
    1/256 pixel greater on each side lies within.
    """
    value = edges(at, x, y)
    reach = np.stack(
        [
            sum(np.abs(side[:, (k + 2) % 3] - side[:, (k + 1) % 3]) for side in (at.x, at.y))
            for k in range(3)
        ],
        -1,
    )
    return (value >= OUTER * reach).all(1) & (value.sum(1) > 0)


def weights(
    at: Corners,
    x: np.ndarray,
    y: np.ndarray,
    perspective: bool = True,
    original: np.ndarray | None = None,
) -> np.ndarray:
    """Weights of a triangle's corners, or of those of the primitive that it was cut from.

    Parameters
    ----------
    at : Corners
        Of the triangle of each position.
    x, y : ndarray of int64, shape (n,)
        s15.8 pixels: the centre of a pixel, of a sample, or between.
    perspective : bool
        By f = E q; else by E alone.
    original : ndarray of float32, shape (n, 3, 3), optional
        Of each corner of the triangle its weights at the corners of the primitive, 0 to 1.

    Returns
    -------
    ndarray of int64, shape (n, 3)
        In units of 2^-24; their sum is 1: the first is 1 without the others, which have 26 bits
        under one exponent. Beyond +-256 they saturate, which helper pixels alone reach; behind the
        horizon, where 1/w is not above 0, it counts as the least value.

    Source: [fs 16.4], numerics: interpolation. The sum of f is normalised to 28 bits, its
    reciprocal has 27; both are cut, and the weights are the nearest.
    """
    edge = edges(at, x, y)
    q = at.q if perspective else np.full_like(at.q, 1 << Q - 1)
    total = _sum_of_products(edge, q)
    least = (total[0] < 0) | ((total[0] == 0) & (total[1] == 0))
    total = np.where(least, 0, total[0]), np.where(least, 1, total[1])
    shift = _bit_length(*total) - SUM
    reciprocal = (1 << RECIPROCAL) // _window(*total, shift)
    share = np.stack(
        [_window(*_sum_of_products(edge, factors), shift) for factors in _rows(q, original)],
        -1,
    )
    beyond = np.where(share < 0, ~share, share).max(1)
    exponent = np.maximum(_bit_length(np.zeros_like(beyond), beyond) - SUM, 0)[:, None]
    product = (share >> exponent) * reciprocal[:, None]
    cut = RECIPROCAL - FRACTION
    value = (product + (1 << cut - 1) >> cut) << exponent
    return np.concatenate([ONE - value.sum(1, keepdims=True), value], 1)


def _rows(q, original):
    """By which E of each corner goes into f of the second, and of the third: (n, 3) each.

    Of a cut triangle the products of q and weights are the nearest, of 32 bits.
    """
    for k in (1, 2):
        if original is None:
            yield np.where(np.arange(3) == k, q, 0)
        else:
            share = np.rint(original[:, :, k].astype(np.float64) * ONE).astype(np.int64)
            yield share * q + ONE // 2 >> FRACTION


def _sum_of_products(edge, factors):
    """Exact, in two words, of which the low one has 24 bits."""
    low = ((edge & (1 << HALF) - 1) * factors).sum(1)
    high = ((edge >> HALF) * factors).sum(1) + (low >> HALF)
    return high, low & (1 << HALF) - 1


def _bit_length(high, low):
    """Bits of a positive number in two words, or of zero."""
    return np.where(high > 0, HALF + _bits(high), _bits(low))


def _bits(word):
    """Bits of a word that is not negative."""
    top = word >> 32
    # Exact: each half has at most 32 bits.
    bits = np.where(top > 0, 32 + np.frexp(top)[1], np.frexp(word & (1 << 32) - 1)[1])
    return bits.astype(np.int64)


def _window(high, low, shift):
    """A number in two words, shifted to the right, or to the left: cut, and held to s8.28."""
    most = 1 << SUM + WHOLE
    # What is beyond stays beyond with any low word, and fits the word when it is shifted.
    reach = np.left_shift(1, np.clip(SUM + WHOLE + 2 - HALF + shift, 1, 61))
    near = np.clip(high, -reach, reach)
    left = np.clip(HALF - shift, 0, HALF + SUM)
    value = np.where(
        shift > HALF,
        np.right_shift(high, np.maximum(shift - HALF, 0)),
        np.left_shift(near, left)
        + np.where(shift >= 0, low >> np.clip(shift, 0, HALF), low << np.clip(-shift, 0, SUM)),
    )
    return np.clip(value, -most, most - 1)


def attributes(values: np.ndarray, corner_weights: np.ndarray) -> np.ndarray:
    """Attributes at positions.

    Parameters
    ----------
    values : ndarray of float32, shape (n, 3, ...)
        Of the corners of each position's primitive.
    corner_weights : ndarray of int64, shape (n, 3)
        From :func:`weights`.

    Returns
    -------
    ndarray of float32, shape (n, ...)
        a0 + u (a1 - a0) + v (a2 - a0): mantissas of 24 bits under the greatest exponent of the
        three, the nearest; then exact, rounded once. Denormals are 0; where a corner is not finite
        the canonical NaN. Within 2^-22 of the range of the three and a unit in the last place of
        the exact value.

    Source: [fs 16.4], numerics: interpolation.
    """
    mantissa, exponent = _parts(values)
    top = exponent.max(1)
    down = np.minimum(top[:, None] - exponent, MANTISSA + 1)
    nearest = (mantissa << 1 >> down) + 1 >> 1
    signed = np.where(np.signbit(values), -nearest, nearest)
    u, v = (corner_weights[:, k].reshape(-1, *(1,) * (values.ndim - 2)) for k in (1, 2))
    first = signed[:, 0]
    total = (first << FRACTION) + u * (signed[:, 1] - first) + v * (signed[:, 2] - first)
    found = _rounded(total, top - (127 + 23 + FRACTION))
    return np.where(top == SPECIAL, NAN.view(np.float32), found)


def _rounded(number, exponent):
    """The float32 nearest to number * 2^exponent, ties to even."""
    # A number has at most 60 bits. Cut to odd it has few enough for a float64, and the nearest
    # float32 stays the same.
    magnitude = np.abs(number)
    short = magnitude >> 8 | ((magnitude & 255) > 0)
    wide = magnitude >= 1 << 52
    exact = np.where(wide, short, magnitude).astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        value = np.ldexp(exact, exponent + np.where(wide, 8, 0)).astype(np.float32)
    value = np.where(value < float32.LEAST, np.float32(0), value)
    return np.where(number < 0, -value, value)
