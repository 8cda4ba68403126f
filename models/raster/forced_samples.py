# SPDX-License-Identifier: BSD-2-Clause
"""Coverage at a number of samples that targets do not have [fs 3.5.6].

Tiles are those of the targets' samples: all of a pixel are covered where the triangle has one of
the forced pattern. Its own samples are bits beside it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.geometry import triangle_setup
from fixfunc.models.raster import tile_rasterizer
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE, SAMPLE_POSITIONS, pack, unpack
from fixfunc.spec.errors import InputError

EDGE = 8
STEP = 16  # 1/256 pixel, in 1/16 pixel
# The standard pattern of 16 samples, from the pixel's centre, 1/16 pixel [fs 19.2.4].
SIXTEEN = (
    *((1, 1), (-1, -3), (-3, 2), (4, -1), (-5, -2), (2, 5), (5, 3), (3, -5)),
    *((-2, 6), (0, -7), (-4, -6), (-6, 4), (-8, 0), (7, -4), (6, 7), (-7, -8)),
)
PATTERNS = dict(zip((1, 2, 4, 8), SAMPLE_POSITIONS, strict=True)) | {16: SIXTEEN}
FORCED = (0, 1, 4, 8, 16)  # 0: the samples of the targets


def positions_of(samples: int, number: ArrayLike) -> np.ndarray:
    """Where samples lie, by their numbers, from a pixel's centre [fs 22.4.22].

    Parameters
    ----------
    samples : int
        Of a pixel; 0: there are none.
    number : array_like of int

    Returns
    -------
    ndarray of float32, shape (..., 2)
        x and y, pixels; zeros of a number that there is not.

    Raises
    ------
    InputError
        Numbers that are no integers.
    """
    number = np.asarray(number)
    if number.dtype.kind not in "iu":
        raise InputError("number", "be integers", number.dtype.name)
    places = np.array([*PATTERNS.get(samples, ()), (0, 0)], np.float32) / np.float32(16)
    return places[np.where((number >= 0) & (number < samples), number, samples)]


class ForcedTiles(NamedTuple):
    """Tiles of triangles, and which samples of the forced pattern they cover."""

    tiles: np.ndarray  # structured, shape (n,): in the layout of the targets' samples
    index: np.ndarray  # intp, shape (n,): triangles
    pattern: np.ndarray  # uint32, shape (n, 8, 8): by lane, the same of all of a pixel


def check_count(count: int) -> None:
    """Raise ``InputError`` for a number that no rasterizer is forced to."""
    if count not in FORCED:
        names = ", ".join(map(str, FORCED))
        raise InputError("forced_sample_count", f"be one of {names}", count)


def rasterize(
    triangles: np.ndarray,
    state: np.void,
    count: int,
    faces: np.ndarray | None = None,
) -> ForcedTiles:
    """Rasterize triangles at a forced number of samples.

    Parameters
    ----------
    triangles : ndarray of :data:`~fixfunc.models.geometry.triangle_setup.TRIANGLE`, shape (n,)
    state : numpy.void
        From :func:`fixfunc.models.state.draw_state`, with the samples of the targets: with a count
        of more than 1, or conservative coverage, these are 1. Conservative coverage is that of all
        samples.
    count : int
        1, 4, 8 or 16.
    faces
        As :func:`fixfunc.models.geometry.triangle_setup.setup` has them.
    """
    single = state.copy()
    single["samples"] = 0
    has_many = count > 1
    outer = single.copy()
    outer["conservative"] |= has_many
    tiles, index = _tiles(triangles, outer, faces)
    pattern = unpack(tiles["mask"]).astype(np.uint32)
    if has_many and single["conservative"]:
        pattern *= (1 << count) - 1
    elif has_many:
        pattern = _pattern(triangles, single, count, faces, tiles, index)
    return _split(tiles, index, pattern, int(state["samples"]))


def passed_count(passed: np.ndarray, pattern: np.ndarray, samples: int) -> int:
    """Samples of the pattern in pixels of which a target's sample passed [fs 20.4.6].

    Parameters
    ----------
    passed : ndarray of bool, shape (n, 8, 8)
        By lane of the targets' samples.
    pattern : ndarray of uint32, shape (n, 8, 8)
    samples : int
        log2 of the targets' samples.
    """
    lx, ly = LANE_SHAPE[samples]
    lanes = passed.reshape(len(passed), EDGE >> ly, 1 << ly, EDGE >> lx, 1 << lx)
    pixels = pattern[:, :: 1 << ly, :: 1 << lx]
    return int(np.bitwise_count(pixels[lanes.any((2, 4))]).sum())


def _tiles(triangles, state, faces):
    """Tiles of one sample a pixel, and the triangles that they belong to."""
    made = triangle_setup.setup(triangles, state, faces=faces)
    tiles, owner = tile_rasterizer.rasterize(made.records)
    return tiles, made.index[owner]


def _pattern(triangles, state, count, faces, tiles, index):
    """Samples that triangles cover, by pixel of tiles: a pass for each, with all moved by it."""
    pattern = np.zeros((len(tiles), EDGE, EDGE), np.uint32)
    places = _places(tiles, index)
    order = np.argsort(places)
    for bit, (x, y) in enumerate(PATTERNS[count]):
        moved = triangles.copy()
        for corner in range(3):
            moved[f"x{corner}"] -= STEP * x
            moved[f"y{corner}"] -= STEP * y
        covered, owner = _tiles(moved, state, faces)
        # Outer coverage has every tile in which a sample is covered.
        at = order[np.searchsorted(places, _places(covered, owner), sorter=order)]
        pattern[at] |= unpack(covered["mask"]).astype(np.uint32) << bit
    return pattern


def _places(tiles, index):
    """A number for each tile of each triangle."""
    return (index.astype(np.int64) << 24) + (tiles["y"].astype(np.int64) << 12) + tiles["x"]


def _split(tiles, index, pattern, samples):
    """Tiles of one sample a pixel as those of several, which are smaller; empty ones are left."""
    lx, ly = LANE_SHAPE[samples]
    wide = EDGE >> lx
    high = EDGE >> ly
    parts = pattern.reshape(len(tiles), 1 << ly, high, 1 << lx, wide).swapaxes(2, 3)
    parts = parts.repeat(1 << ly, 3).repeat(1 << lx, 4)
    tile, v, u = np.nonzero(parts.any((3, 4)))
    lanes = parts[tile, v, u]
    out = tiles[tile].copy()
    out["x"] = (out["x"] << lx) + u
    out["y"] = (out["y"] << ly) + v
    # Exact: slopes are of whole pixels.
    begin = out["z0"].astype(np.int64) + out["dx"] * (u * wide) + out["dy"] * (v * high)
    out["z0"] = begin & 0xFFFFFFFF
    out["mask"] = pack(lanes != 0)
    out["full"] = (lanes != 0).all((1, 2))
    return ForcedTiles(out, index[tile], lanes)
