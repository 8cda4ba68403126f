# SPDX-License-Identifier: BSD-2-Clause
"""Footprint of a sample on a texture: level of detail, anisotropy."""

import numpy as np

LOD_BITS = 8  # fraction bits of a level of detail, s5.8
LOD_MINIMUM = -32 << LOD_BITS
LOD_MAXIMUM = (32 << LOD_BITS) - 1
# Logarithms of mantissas, by their first eight bits.
LOG2 = np.rint(256 * np.log2(1 + np.arange(256) / 256)).astype(np.int64)
# Logarithms of numbers of samples along a footprint.
RATIOS = np.rint(256 * np.log2(np.arange(1, 17))).astype(np.int64)


def log2(value):
    """Logarithm of float32, s6.8; that of zero is the least.

    It is the exponent, and a table's entry for eight bits of the mantissa.
    """
    bits = np.asarray(value, np.float32).view(np.int32).astype(np.int64)
    logarithm = ((bits >> 23) - 127 << LOD_BITS) + LOG2[bits >> 15 & 255]
    return np.where(bits < 1 << 23, 2 * LOD_MINIMUM, logarithm)


def quad_gradients(coordinates, coarse=False):
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
    across = coordinates[:, :, 1:] - coordinates[:, :, :1]
    down = coordinates[:, 1:] - coordinates[:, :1]
    if coarse:
        across = across[:, :1]
        down = down[:, :, :1]
    return np.broadcast_to(across, coordinates.shape), np.broadcast_to(down, coordinates.shape)


def footprint(across, down, width, height, anisotropy):
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
        Level of detail of the footprint's width, s5.8. The width is its length by its ratio, which
        is ``anisotropy`` at most.
    count : ndarray of int64, shape (n,)
        Number of samples along the footprint.
    along : ndarray of float32, shape (n, 2)
        The longer gradient.

    Source: numerics: squared lengths in texels, float32, u before v; logarithms by table, halved
    with floor.
    """
    scale = np.array([width, height], np.float32)
    squares = [np.nan_to_num(np.square(gradient * scale), nan=0.0) for gradient in (across, down)]
    lengths = [log2(square[:, 0] + square[:, 1]) for square in squares]
    down_longer = lengths[1] > lengths[0]
    major = np.maximum(*lengths)
    minor = np.minimum(*lengths)
    ratio = np.minimum(major - minor >> 1, RATIOS[anisotropy - 1])
    lod = np.clip((major >> 1) - ratio, LOD_MINIMUM, LOD_MAXIMUM)
    count = 1 + np.searchsorted(RATIOS[: anisotropy - 1], ratio, side="left")
    return lod, count.clip(1, anisotropy), np.where(down_longer[:, None], down, across)
