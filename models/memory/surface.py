# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of a target, and where its pixels lie in them."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.raster.tile_rasterizer import write_tiles
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS


def tile_grid(state: np.void, edge: int = 8) -> tuple[int, int]:
    """Columns and rows of a target's tiles.

    Parameters
    ----------
    state : numpy.void
        From :func:`fixfunc.models.state.draw_state`.
    edge : int
        Samples along a tile's edge.
    """
    lx, ly = LANE_SHAPE[state["samples"]]
    columns = -(-int(state["target_width"]) // (edge >> lx))
    rows = -(-int(state["target_height"]) // (edge >> ly))
    return columns, rows


def check_places(tiles: np.ndarray, columns: int, rows: int) -> None:
    """Raise :class:`~fixfunc.spec.errors.InputError` for a tile outside a target of so many."""
    for name, count in (("x", columns), ("y", rows)):
        outside = tiles[name] >= count
        if outside.any():
            raise InputError(f"tile {name}", f"lie in 0..{count - 1}", int(tiles[name][outside][0]))


def samples_within(rectangle: Sequence[int], shape: Sequence[int], samples: int) -> np.ndarray:
    """Which samples of tiles lie in a rectangle of pixels.

    Parameters
    ----------
    rectangle : (x0, y0, x1, y1) of int
        Pixels, ``x1`` and ``y1`` exclusive.
    shape : (rows, columns, edge, edge)
        Of the tiles.
    samples : int
        log2 of the samples of a pixel.

    Returns
    -------
    ndarray of bool, of that shape
    """
    rows, columns, edge, _ = shape
    lx, ly = LANE_SHAPE[samples]
    (x0, y0, x1, y1) = (int(v) for v in rectangle)
    x = np.arange(columns * edge).reshape(columns, edge) >> lx
    y = np.arange(rows * edge).reshape(rows, edge) >> ly
    return ((y0 <= y) & (y < y1))[:, None, :, None] & ((x0 <= x) & (x < x1))[None, :, None, :]


def to_image(tiles: np.ndarray, width: int, height: int, samples: int) -> np.ndarray:
    """Tiles of a target as an image, shape (height, width, samples).

    ``tiles`` has shape (rows, columns, edge, edge).
    """
    rows, columns, edge, _ = tiles.shape
    lx, ly = LANE_SHAPE[SAMPLE_COUNTS.index(samples)]
    out = np.zeros((1, rows * (edge >> ly), columns * (edge >> lx), samples), tiles.dtype)
    y, x = np.divmod(np.arange(rows * columns), columns)
    write_tiles(out, np.zeros_like(x), x, y, tiles[y, x], samples)
    return out[0, :height, :width]


PLANE_BITS = {"depth": payloads.DEPTH, "stencil": payloads.STENCIL, "colour": payloads.COLOUR}


def plane_bytes(count: int, plane: str, edge: int = 8) -> int:
    """Bytes of a plane of so many tiles, and of its table."""
    bits = PLANE_BITS["colour" if plane.startswith("colour") else plane]
    raw = -(-bits * edge**2 // 256) * 32
    room = 1 << (raw - 1).bit_length()
    return count * room + -(-count // 64) * 32


def tiles_of(state: np.void, edge: int = 8) -> int:
    """Number of tiles of a target."""
    columns, rows = tile_grid(state, edge)
    return columns * rows


def overlap(first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Whether two ranges, each of a first byte and the one behind the last, have one in common."""
    return first[0] < second[1] and second[0] < first[1]
