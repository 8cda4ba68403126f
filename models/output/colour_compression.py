# SPDX-License-Identifier: BSD-2-Clause
"""Colour compression: codes, groups and channels that coder and decoder share."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.spec.errors import InputError

EDGE = 8
LANES = EDGE**2
CLEARED, PALETTE, RAW, DIFFERENCES = 0, 1, 6, 8  # codes of the tile table; 8 + n of n steps
COLOURS = 4  # of a palette
PART = 4096  # tiles that are coded, or decoded, at a time


class Depth(NamedTuple):
    """What depends on the bits of a channel."""

    bits: int
    widths: tuple[int, ...]  # of differences, by their code
    code: int  # bits of a code
    step: int  # bits of memory that a tile takes at least
    most: int  # steps of differences, at most


DEPTHS = {
    np.dtype(np.uint8): Depth(8, (0, 1, 2, 3, 4, 5, 6, 8), 3, 256, 6),
    np.dtype(np.uint16): Depth(16, (*range(15), 16), 4, 512, 7),
}


class Groups(NamedTuple):
    """Groups of lanes that share a width: places in grids that are flat."""

    squares: np.ndarray  # intp, shape (g, 4): two by two pixels of sample 0
    others: np.ndarray  # intp, shape (h, 3, 4 or 7): of the other samples


def size(code: int, depth: Depth) -> int:
    """Bytes of a tile by its code in the tile table.

    Raises
    ------
    InputError
        There is no such code.
    """
    steps = {CLEARED: 0, PALETTE: 1, RAW: LANES * 4 * depth.bits // depth.step}
    steps |= {DIFFERENCES + n: n for n in range(1, depth.most + 1)}
    if int(code) not in steps:
        raise InputError("code of a tile", f"be one of {sorted(steps)}", int(code))
    return steps[int(code)] * depth.step // 8


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


def channels(pixels: np.ndarray, depth: Depth) -> np.ndarray:
    """G, R - G, B - G, A, modulo 2^bits, of red, green, blue, alpha."""
    wide = pixels.astype(np.int64)
    red, green, blue, alpha = np.moveaxis(wide, -1, 0)
    return np.stack([green, red - green, blue - green, alpha], -1) & (1 << depth.bits) - 1


def room(depth: Depth) -> int:
    """Bits of a row: all that a tile may take, and a place for what is left out."""
    return behind(depth) + LANES * depth.code


def behind(depth: Depth) -> int:
    """Bits that no tile fills: a place for what is left out."""
    return 4 * depth.bits + 4 + LANES * (4 * depth.bits + depth.code)
