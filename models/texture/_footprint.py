# SPDX-License-Identifier: BSD-2-Clause
"""How much of a texture a sample covers: level of detail, anisotropy."""

import numpy as np

LOD = 8  # bits after the point of a level of detail, s5.8
LEAST, MOST = -32 << LOD, (32 << LOD) - 1
LOG2 = np.rint(256 * np.log2(1 + np.arange(256) / 256)).astype(np.int64)  # of a mantissa's first eight bits
RATIOS = np.rint(256 * np.log2(np.arange(1, 17))).astype(np.int64)  # of so many samples along a footprint


def log2(squared):
    """float32 -> its logarithm, s6.8: the exponent, and a table's entry for eight bits of the mantissa; of zero the least."""
    bits = np.asarray(squared, np.float32).view(np.int32).astype(np.int64)
    return np.where(bits < 1 << 23, 2 * LEAST, ((bits >> 23) - 127 << LOD) + LOG2[bits >> 15 & 255])


def quad_gradients(coordinates, coarse=False):
    """Differences within quads.

    Parameters
    ----------
    coordinates : ndarray of float32, shape (n, 2, 2, k), indexed [quad, y, x]
    coarse : bool
        Those of the first row and column for the whole quad; else of each row and column.

    Returns
    -------
    (ndarray, ndarray) of float32, shape (n, 2, 2, k)
        To the right; downwards.
    """
    across, down = coordinates[:, :, 1:] - coordinates[:, :, :1], coordinates[:, 1:] - coordinates[:, :1]
    if coarse:
        across, down = across[:, :1], down[:, :, :1]
    return np.broadcast_to(across, coordinates.shape), np.broadcast_to(down, coordinates.shape)


def footprint(across, down, width, height, anisotropy):
    """What gradients of u and v cover.

    Parameters
    ----------
    across, down : ndarray of float32, shape (n, 2)
    width, height : int
        Texels of level 0.
    anisotropy : int
        Most samples along a footprint, 1 to 16.

    Returns
    -------
    lod : ndarray of int64, shape (n,)
        s5.8, of the footprint's width: its length by its ratio, which is ``anisotropy`` at most.
    count : ndarray of int64, shape (n,)
        Samples along it.
    along : ndarray of float32, shape (n, 2)
        Its longer gradient.

    Source: numerics: squared lengths in texels, float32, u before v; logarithms by table, halved with floor.
    """
    scale = np.array([width, height], np.float32)
    squares = [np.nan_to_num(np.square(gradient * scale), nan=0.0) for gradient in (across, down)]
    lengths = [log2(square[:, 0] + square[:, 1]) for square in squares]
    longer = lengths[1] > lengths[0]
    major, minor = np.maximum(*lengths), np.minimum(*lengths)
    ratio = np.minimum(major - minor >> 1, RATIOS[anisotropy - 1])
    lod = np.clip((major >> 1) - ratio, LEAST, MOST)
    return lod, 1 + np.searchsorted(RATIOS[:anisotropy - 1], ratio, side="left").clip(0, anisotropy - 1), np.where(longer[:, None], down, across)
