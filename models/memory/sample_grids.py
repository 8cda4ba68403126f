# SPDX-License-Identifier: BSD-2-Clause
"""Lanes of a tile as grids of pixels, one of each sample; groups of lanes that share a width."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.raster.edge_evaluator import LANE_SHAPE

EDGE = 8
LANES = EDGE**2


class Groups(NamedTuple):
    """Groups of lanes that share a width: places in grids that are flat."""

    squares: np.ndarray  # intp, shape (g, 4): two by two pixels of sample 0
    others: np.ndarray  # intp, shape (h, 3, 4 or 7): of the other samples


def groups_of(samples: int) -> Groups:
    """Groups of a tile; ``samples`` is log2 of the samples of a pixel."""
    lx, ly = LANE_SHAPE[samples]
    wide, high, count = EDGE >> lx, EDGE >> ly, 1 << samples
    place = np.arange(LANES).reshape(count, high, wide)

    def squares(grid):
        split = grid.reshape(high // 2, 2, wide // 2, 2).swapaxes(1, 2)
        return split.reshape(-1, 4)

    if count == 1:
        return Groups(squares(place[0]), np.zeros((0, 4), np.intp))
    others = squares(place[1]) if count == 2 else place[1:].reshape(count - 1, -1).T
    return Groups(squares(place[0]), others)


def grids(tiles: np.ndarray, samples: int) -> np.ndarray:
    """Lanes as pixels by sample: shape (n, samples, rows, columns, ...)."""
    lx, ly = LANE_SHAPE[samples]
    n = len(tiles)
    split = tiles.reshape(n, EDGE >> ly, 1 << ly, EDGE >> lx, 1 << lx, *tiles.shape[3:])
    order = (0, 2, 4, 1, 3, *range(5, split.ndim))
    return split.transpose(order).reshape(n, 1 << samples, EDGE >> ly, EDGE >> lx, *tiles.shape[3:])


def lanes(pixels: np.ndarray, samples: int) -> np.ndarray:
    """The inverse of :func:`grids`."""
    lx, ly = LANE_SHAPE[samples]
    n = len(pixels)
    split = pixels.reshape(n, 1 << ly, 1 << lx, EDGE >> ly, EDGE >> lx, *pixels.shape[4:])
    order = (0, 3, 1, 4, 2, *range(5, split.ndim))
    return split.transpose(order).reshape(n, EDGE, EDGE, *pixels.shape[4:])
