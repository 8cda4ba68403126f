# SPDX-License-Identifier: BSD-2-Clause
"""Footprint of a sample on a texture: level of detail, anisotropy."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.lib.float32 import add, divide, multiply, subtract

LOD_BITS = 8  # fraction bits of a level of detail, s8.8 [fs 7.18.16.1]
LOD_MINIMUM = -256 << LOD_BITS
LOD_MAXIMUM = (256 << LOD_BITS) - 1
# Logarithms of mantissas, by their first eight bits.
LOG2 = np.rint(256 * np.log2(1 + np.arange(256) / 256)).astype(np.int64)
# Logarithms of numbers of samples along a footprint.
RATIOS = np.rint(256 * np.log2(np.arange(1, 17))).astype(np.int64)


def log2(value: np.ndarray) -> np.ndarray:
    """Logarithm of float32, s8.8; that of zero is the least.

    It is the exponent, and a table's entry for eight bits of the mantissa.
    """
    bits = np.asarray(value, np.float32).view(np.int32).astype(np.int64)
    logarithm = ((bits >> 23) - 127 << LOD_BITS) + LOG2[bits >> 15 & 255]
    return np.where(bits < 1 << 23, LOD_MINIMUM, logarithm)


def quad_gradients(coordinates: np.ndarray, coarse: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Differences of coordinates within quads.

    Parameters
    ----------
    coordinates : ndarray of float32, shape (n, 2, 2, k), indexed [quad, y, x]
        Coordinates of four pixels.
    coarse : bool
        All pixels of a quad get the differences of its first row and column; else each gets that of
        its own row and column.

    Returns
    -------
    (ndarray, ndarray) of float32, shape (n, 2, 2, k)
        Differences to the right, and downwards.
    """
    across = subtract(coordinates[:, :, 1:], coordinates[:, :, :1])
    down = subtract(coordinates[:, 1:], coordinates[:, :1])
    if coarse:
        across = across[:, :1]
        down = down[:, :, :1]
    return np.broadcast_to(across, coordinates.shape), np.broadcast_to(down, coordinates.shape)


def saturated(lod: np.ndarray) -> np.ndarray:
    """A level of detail in the range of s8.8; after each sum, so that none comes back."""
    return np.clip(lod, LOD_MINIMUM, LOD_MAXIMUM)


def isotropic(
    across: np.ndarray, down: np.ndarray, extents: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Footprints of gradients of any number of coordinates: the longer one's level of detail.

    Parameters
    ----------
    across, down : ndarray of float32, shape (n, axes)
    extents : sequence of int
        Size of level 0 by axis, texels.

    Returns
    -------
    lod : ndarray of int64, shape (n,)
        s8.8.
    count : ndarray of int64, shape (n,)
        One sample each.
    along : ndarray of float32, shape (n, axes)

    Source: [fs 7.18.11]; squared lengths are float32, u before v before w.
    """
    with np.errstate(all="ignore"):  # gradients may be infinite, or no numbers
        squares = []
        for gradient in (across, down):
            texels = multiply(gradient, np.array(extents, np.float32))
            square = _square(texels[:, 0])
            for axis in range(1, texels.shape[1]):
                square = add(square, _square(texels[:, axis]))
            squares.append(square)
    longer = np.maximum(*squares)
    return (
        saturated(log2(longer) >> 1),
        np.ones(len(longer), np.int64),
        np.zeros(np.shape(across), np.float32),
    )


def footprint(
    across: np.ndarray, down: np.ndarray, width: int, height: int, anisotropy: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Footprints of gradients of u and v.

    Parameters
    ----------
    across, down : ndarray of float32, shape (n, 2)
        Gradients to the right, and downwards.
    width, height : int
        Size of level 0, texels.
    anisotropy : int
        Greatest number of samples along a footprint, 1 to 16.

    Returns
    -------
    lod : ndarray of int64, shape (n,)
        Level of detail, s8.8. Without anisotropy that of the longer gradient; else of the ellipse's
        minor axis, or of its major axis by ``anisotropy`` if that is more.
    count : ndarray of int64, shape (n,)
        Number of samples along the footprint.
    along : ndarray of float32, shape (n, 2)
        The footprint's axis, of u and v.

    Source: [fs 7.18.11]; numerics: float32, u before v; logarithms by table, halved with floor.
    """
    with np.errstate(all="ignore"):  # gradients may be infinite, or no numbers
        return _footprint(across, down, width, height, anisotropy)


def _footprint(across, down, width, height, anisotropy):
    scale = np.array([width, height], np.float32)
    dx, dy = (multiply(gradient, scale) for gradient in (across, down))
    squares = [_square_sum(gradient[:, 0], gradient[:, 1]) for gradient in (dx, dy)]
    down_longer = squares[1] > squares[0]
    longer = np.maximum(*squares)
    plain = np.where(down_longer[:, None], down, across).astype(np.float32)
    if anisotropy == 1:
        return saturated(log2(longer) >> 1), np.ones(len(dx), np.int64), plain
    determinant = np.abs(subtract(multiply(dx[:, 0], dy[:, 1]), multiply(dy[:, 0], dx[:, 1])))
    square, axis, valid = _major_axis(dx, dy, determinant)
    major = log2(np.where(valid, square, longer))
    ratio = np.maximum(major - log2(_finite(determinant)), 0)
    most = RATIOS[anisotropy - 1]
    lod = saturated((major >> 1) - np.minimum(ratio, most))
    # A footprint that is narrower than a texel has as many samples as it is texels long.
    ratio = np.maximum(np.minimum(ratio, most) + np.minimum(lod, 0), 0)
    count = 1 + np.searchsorted(RATIOS[: anisotropy - 1], ratio, side="left")
    return lod, count.clip(1, anisotropy), np.where(valid[:, None], divide(axis, scale), plain)


def _major_axis(dx, dy, determinant):
    """The major axis of the ellipse of two gradients in texels, and where it may be used.

    Its squared length; its u and v. Gradients that are zero, parallel, perpendicular, infinite or
    no numbers, or too large or small for float32, have none: their longer one serves instead.
    """
    a = _square_sum(dx[:, 1], dy[:, 1])
    c = _square_sum(dx[:, 0], dy[:, 0])
    b = multiply(np.float32(-2), _sum_of_products(dx[:, 0], dx[:, 1], dy[:, 0], dy[:, 1]))
    p = subtract(a, c)
    t = np.sqrt(_sum_of_products(p, p, b, b))
    square = multiply(add(add(a, c), t), np.float32(0.5))
    # t - p and t + p: the smaller one is b^2 by the larger one, where a difference would cancel.
    larger = add(t, np.abs(p))
    smaller = divide(multiply(b, b), larger)
    half = divide(square, add(t, t))
    long_side = np.sqrt(multiply(larger, half))
    short_side = np.sqrt(multiply(smaller, half)) * np.where(b > 0, np.float32(-1), np.float32(1))
    upright = p >= 0  # along v
    axis = np.stack(
        [np.where(upright, short_side, long_side), np.where(upright, long_side, short_side)], 1
    )
    perpendicular = _sum_of_products(dx[:, 0], dy[:, 0], dx[:, 1], dy[:, 1]) == 0
    finite = np.isfinite(axis).all(1) & np.isfinite(square) & np.isfinite(determinant)
    return square, axis, finite & (determinant > 0) & ~perpendicular & (square > 0)


def _square_sum(first, second):
    """A sum of squares; what is no number is 0."""
    return add(_square(first), _square(second))


def _square(value):
    """A square; what is no number is 0."""
    return _finite(multiply(value, value))


def _sum_of_products(a, b, c, d):
    """a b + c d, three roundings."""
    return add(multiply(a, b), multiply(c, d))


def _finite(value):
    return np.nan_to_num(value, nan=0.0)
