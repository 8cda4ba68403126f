# SPDX-License-Identifier: BSD-2-Clause
"""Interpolator: weights of a triangle's corners at positions, and attributes by them."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.geometry.triangle_setup import OUTER
from fixfunc.models.lib import float32

FRACTION = 26  # bits of a weight, s8.26
WHOLE = 8  # bits of a weight before the point: helpers lie far from small triangles
ONE = 1 << FRACTION
MOST = (1 << FRACTION + WHOLE) - 1
HALF = 24  # bits of a word of E
LOW = 48  # bits of the low word of a product, of which half lie below its unit
SUM = 34  # bits of the sum of products, normalised
RECIPROCAL = 60
HELD = SUM + WHOLE  # bits of a normalised product, without its sign
PART = 16  # bits of a product that are multiplied apart


class Corners(NamedTuple):
    """Corners of triangles."""

    x: np.ndarray  # int64, shape (n, 3): s15.8 pixels
    y: np.ndarray
    q: np.ndarray  # int64, shape (n, 3): mantissa of 1/w, 24 bits
    down: np.ndarray  # int64, shape (n, 3): its exponent below the triangle's greatest


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
    bits = np.ascontiguousarray(rhw, np.float32).view(np.uint32).astype(np.int64)
    exponent = bits >> 23 & 255
    mantissa = np.where(exponent > 0, bits & (1 << 23) - 1 | 1 << 23, 0)
    x, y = (
        np.stack([triangles[f"{axis}{k}"] for k in range(3)], -1).astype(np.int64) for axis in "xy"
    )
    return Corners(x, y, mantissa, exponent.max(1, keepdims=True) - exponent)


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
    """Inner coverage: pixels that lie in the triangle whole, wherever snapping came from.

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


def weights(at: Corners, x: np.ndarray, y: np.ndarray, perspective: bool = True) -> np.ndarray:
    """Weights of a triangle's corners.

    Parameters
    ----------
    at : Corners
        Of the triangle of each position.
    x, y : ndarray of int64, shape (n,)
        s15.8 pixels: the centre of a pixel, of a sample, or between.
    perspective : bool
        By f = E q; else by E alone.

    Returns
    -------
    ndarray of int64, shape (n, 3)
        s8.26, their sum is 1: the first is 1 without the others. Beyond +-256 they saturate, which
        helper pixels alone reach; behind the horizon, where 1/w is not above 0, it counts as the
        least value.

    Source: [fs 16.4], numerics: interpolation. The sum of products is normalised to 34 bits; its
    reciprocal has 27, cut; products are cut, too.
    """
    edge = edges(at, x, y)
    high, low = _products(edge, at) if perspective else (edge, np.zeros_like(edge))
    sum_low = low.sum(1)
    sum_high = high.sum(1) + (sum_low >> LOW)
    sum_low &= (1 << LOW) - 1
    least = (sum_high < 0) | ((sum_high == 0) & (sum_low == 0))
    sum_high = np.where(least, 0, sum_high)
    sum_low = np.where(least, 1, sum_low)
    shift = _bit_length(sum_high, sum_low) - SUM
    total = _shifted(sum_high, sum_low, shift)
    reciprocal = (1 << RECIPROCAL) // total
    value = np.stack(
        [
            np.clip(_quotient(_shifted(high[:, k], low[:, k], shift), reciprocal), -MOST - 1, MOST)
            for k in (1, 2)
        ],
        -1,
    )
    return np.concatenate([ONE - value.sum(1, keepdims=True), value], 1)


def _quotient(product, reciprocal):
    """A product by the sum: in two parts, which fit a word."""
    low = (product & (1 << PART) - 1) * reciprocal >> PART
    return (product >> PART) * reciprocal + low >> SUM - PART


def _products(edge, at):
    """E q in two words: what lies 24 bits below the unit of the greatest q is cut."""
    low = (edge & (1 << HALF) - 1) * at.q
    high = (edge >> HALF) * at.q + (low >> HALF)
    low = (low & (1 << HALF) - 1) << LOW - HALF
    down = np.minimum(at.down, 63)
    # Bits of the high word that go to the low one; those beyond it do not matter.
    moved = np.where(
        down <= LOW,
        np.left_shift(high, np.maximum(LOW - down, 0)),
        np.right_shift(high, np.maximum(down - LOW, 0)),
    )
    return high >> down, (moved & (1 << LOW) - 1) + (low >> down)


def _bit_length(high, low):
    """Bits of a positive number in two words."""
    # Exact: a word has at most 53 bits.
    return np.where(high > 0, LOW + np.frexp(high)[1], np.frexp(low)[1]).astype(np.int64)


def _shifted(high, low, shift):
    """A number in two words, shifted to the right, or to the left: cut, and held to s8.34.

    What is beyond stays beyond, and fits the word, before it is shifted to the left.
    """
    right = np.clip(shift, 0, LOW)
    reach = np.left_shift(1, np.maximum(HELD + 1 - LOW + right, 0))
    near = np.left_shift(np.clip(high, -reach, reach), LOW - right) + np.right_shift(low, right)
    far = np.right_shift(high, np.maximum(shift - LOW, 0))
    left = np.maximum(-shift, 0)
    reach = np.left_shift(1, HELD + 1 - left)
    small = np.left_shift(np.clip((np.clip(high, -8, 8) << LOW) + low, -reach, reach), left)
    value = np.where(shift >= LOW, far, np.where(shift >= 0, near, small))
    return np.clip(value, -(1 << HELD), (1 << HELD) - 1)


def attributes(
    values: np.ndarray, corner_weights: np.ndarray, original: np.ndarray | None = None
) -> np.ndarray:
    """Attributes at positions.

    Parameters
    ----------
    values : ndarray of float32, shape (n, 3, ...)
        Of the corners of each position's primitive.
    corner_weights : ndarray of int64, shape (n, 3)
        From :func:`weights`.
    original : ndarray of float32, shape (n, 3, 3), optional
        Of each corner of the triangle its weights at the corners of the primitive that the triangle
        was cut from.

    Returns
    -------
    ndarray of float32, shape (n, ...)
        a0 + u (a1 - a0) + v (a2 - a0), added in this order by two multiply-adds: within 2^-22 of
        the range of the three and a unit in the last place of the exact value.

    Source: [fs 16.4], numerics: interpolation.
    """
    scaled = corner_weights.astype(np.float32) * np.float32(2.0**-FRACTION)
    if original is not None:
        scaled = _of_primitive(scaled, original)
    extra = values.ndim - 2
    u, v = (scaled[:, k].reshape(-1, *(1,) * extra) for k in (1, 2))
    first = values[:, 0]
    total = float32.multiply_add(u, float32.subtract(values[:, 1], first), first)
    return float32.multiply_add(v, float32.subtract(values[:, 2], first), total)


def _of_primitive(scaled, original):
    """Weights at the corners of a primitive: of whole triangles they are those of the triangle."""
    total = float32.multiply(scaled[:, 0, None], original[:, 0])
    for k in (1, 2):
        total = float32.multiply_add(scaled[:, k, None], original[:, k], total)
    return total
