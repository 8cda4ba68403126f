# SPDX-License-Identifier: BSD-2-Clause
"""Quads: two by two pixels of a tile, of which one at least has a sample to shade."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.raster.edge_evaluator import LANE_SHAPE


class Quads(NamedTuple):
    """Quads of tiles: tile by tile, row by row."""

    tile: np.ndarray  # intp, shape (q,): which of the tiles
    x: np.ndarray  # int64, shape (q,): of the upper left pixel, on the target
    y: np.ndarray
    covered: np.ndarray  # bool, shape (q, 2, 2, samples): [quad, y, x, sample]; helpers have none

    @property
    def helpers(self) -> np.ndarray:
        """Pixels that are shaded for their neighbours' derivatives alone: shape (q, 2, 2)."""
        return ~self.covered.any(3)


def split(x: np.ndarray, y: np.ndarray, mask: np.ndarray, samples: int) -> Quads:
    """Quads of tiles.

    Parameters
    ----------
    x, y : ndarray of int, shape (n,)
        Places of tiles.
    mask : ndarray of bool, shape (n, edge, edge)
        Samples to shade, by lane.
    samples : int
        log2 of the samples of a pixel.

    Returns
    -------
    Quads
    """
    pixels = _pixels(mask, samples)
    n, high, wide, count = pixels.shape
    quads = pixels.reshape(n, high // 2, 2, wide // 2, 2, count).swapaxes(2, 3)
    tile, j, i = np.nonzero(quads.any((3, 4, 5)))
    return Quads(
        tile,
        x[tile].astype(np.int64) * wide + 2 * i,
        y[tile].astype(np.int64) * high + 2 * j,
        quads[tile, j, i],
    )


def join(values: np.ndarray, quads: Quads, tiles: int, samples: int, edge: int = 8) -> np.ndarray:
    """Values of pixels at the lanes of their samples, zeros elsewhere.

    Parameters
    ----------
    values : ndarray, shape (q, 2, 2)
    quads : Quads
    tiles : int
        How many there are.
    samples : int
        log2 of the samples of a pixel.
    edge : int

    Returns
    -------
    ndarray, shape (tiles, edge, edge)
    """
    lx, ly = LANE_SHAPE[samples]
    wide = edge >> lx
    high = edge >> ly
    out = np.zeros((tiles, high // 2, wide // 2, 2, 2), values.dtype)
    out[quads.tile, quads.y % high // 2, quads.x % wide // 2] = values
    pixels = out.swapaxes(2, 3).reshape(tiles, high, wide)
    return pixels.repeat(1 << ly, 1).repeat(1 << lx, 2)


def sample_numbers(samples: int, edge: int = 8) -> np.ndarray:
    """Which sample of its pixel each lane of a tile is: int64, shape (edge, edge)."""
    lx, ly = LANE_SHAPE[samples]
    j, i = np.mgrid[:edge, :edge]
    return (i & (1 << lx) - 1) + ((j & (1 << ly) - 1) << lx)


def _pixels(lanes, samples):
    """Lanes of tiles as pixels: shape (n, rows, columns, samples)."""
    lx, ly = LANE_SHAPE[samples]
    n, edge, _ = lanes.shape
    split = lanes.reshape(n, edge >> ly, 1 << ly, edge >> lx, 1 << lx)
    return split.swapaxes(2, 3).reshape(n, edge >> ly, edge >> lx, 1 << samples)
