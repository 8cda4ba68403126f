# SPDX-License-Identifier: BSD-2-Clause
"""Edge function over the samples of a tile."""

import numpy as np

# Sample positions from the pixel's centre, 1/16 pixel, by log2 of the samples [fs 19.2].
SAMPLE_POSITIONS = (
    ((0, 0),),
    ((4, 4), (-4, -4)),
    ((-2, -6), (6, -2), (-6, 2), (2, 6)),
    ((1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)),
)
LANE_SHAPE = ((0, 0), (0, 1), (1, 1), (1, 2))  # log2 of a pixel's columns and rows of lanes


def lane_positions(samples: int, edge: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Position of each lane's sample, from the centre of the tile's first pixel.

    Parameters
    ----------
    samples : int
        log2 of the samples of a pixel.
    edge : int
        Samples along a tile's edge.

    Returns
    -------
    x, y : ndarray of int64, shape (edge, edge)
        1/16 pixel, indexed [j, i]; lane (i, j) is bit ``j * edge + i`` of a mask.
    """
    lx, ly = LANE_SHAPE[samples]
    j, i = np.mgrid[:edge, :edge]
    sample = (i & (1 << lx) - 1) + ((j & (1 << ly) - 1) << lx)
    offsets = np.array(SAMPLE_POSITIONS[samples], np.int64)[sample]
    return 16 * (i >> lx) + offsets[..., 0], 16 * (j >> ly) + offsets[..., 1]


def evaluate(
    samples: int, a: np.ndarray, b: np.ndarray, c: np.ndarray, edge: int = 8
) -> np.ndarray:
    """Values of edge functions at every sample of a tile.

    Parameters
    ----------
    samples : int
        log2 of the samples of a pixel.
    a, b : ndarray of int64, shape (n,)
        Steps of E for 1/16 pixel.
    c : ndarray of int64, shape (n,)
        E at the centre of the tile's first pixel.
    edge : int
        Samples along a tile's edge.

    Returns
    -------
    ndarray of int64, shape (n, edge, edge)
        E, indexed [tile, j, i]. A sample is inside where E >= 0; c contains the fill rule.

    Source: [trip 6], [rtr 23.1].
    """
    x, y = lane_positions(samples, edge)
    a = np.asarray(a, np.int64)[:, None, None]
    b = np.asarray(b, np.int64)[:, None, None]
    c = np.asarray(c, np.int64)[:, None, None]
    return a * x + b * y + c


def pack(inside: np.ndarray) -> np.ndarray:
    """Masks of boolean lanes: bool (n, edge, edge) -> uint64 (n,).

    Lane (i, j) is bit ``j * edge + i``.
    """
    bits = np.packbits(
        inside.reshape(len(inside), np.prod(inside.shape[1:])), axis=1, bitorder="little"
    )
    padded = np.zeros((len(inside), 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view("<u8")[:, 0]


def unpack(masks: np.ndarray, edge: int = 8) -> np.ndarray:
    """The inverse of :func:`pack`: uint64 (n,) -> bool (n, edge, edge)."""
    octets = np.ascontiguousarray(masks, "<u8").view(np.uint8).reshape(len(masks), 8)
    return (
        np.unpackbits(octets, axis=1, bitorder="little")[:, : edge * edge]
        .reshape(-1, edge, edge)
        .astype(bool)
    )
