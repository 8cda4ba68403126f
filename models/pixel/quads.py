# SPDX-License-Identifier: BSD-2-Clause
"""Quads: two by two pixels of a tile, of which one at least has a sample to shade."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE, pack, unpack
from fixfunc.spec.colours import format_name
from fixfunc.spec.colours import quads as quads_table

ALL = -1  # samples of a quad's pixels are shaded at once


class Quads(NamedTuple):
    """Quads of tiles: tile by tile, row by row, and sample by sample where each has its own."""

    tile: np.ndarray  # intp, shape (q,): which of the tiles
    x: np.ndarray  # int64, shape (q,): of the upper left pixel, on the target
    y: np.ndarray
    covered: np.ndarray  # bool, shape (q, 2, 2, samples): [quad, y, x, sample]; helpers have none
    sample: np.ndarray  # int64, shape (q,): the only sample that is shaded, or ALL

    @property
    def helpers(self) -> np.ndarray:
        """Pixels that are shaded for their neighbours' derivatives alone: shape (q, 2, 2)."""
        return ~self.covered.any(3)


def split(
    x: np.ndarray, y: np.ndarray, mask: np.ndarray, samples: int, by_sample: bool = False
) -> Quads:
    """Quads of tiles.

    Parameters
    ----------
    x, y : ndarray of int, shape (n,)
        Places of tiles.
    mask : ndarray of bool, shape (n, edge, edge)
        Samples to shade, by lane.
    samples : int
        log2 of the samples of a pixel.
    by_sample : bool
        Each sample has a quad of its own, if one of its four is to be shaded [fs 3.5.4.1].

    Returns
    -------
    Quads
    """
    quads = _quads(mask, samples)
    count = 1 << samples
    wide, high = pixels_of(samples, mask.shape[1])
    if by_sample:
        tile, j, i, sample = np.nonzero(quads.any((3, 4)))
        covered = quads[tile, j, i] & (np.arange(count) == sample[:, None])[:, None, None]
    else:
        tile, j, i = np.nonzero(quads.any((3, 4, 5)))
        covered = quads[tile, j, i]
        sample = np.full(len(tile), ALL)
    return Quads(
        tile,
        x[tile].astype(np.int64) * wide + 2 * i,
        y[tile].astype(np.int64) * high + 2 * j,
        covered,
        sample,
    )


def samples_of(mask: np.ndarray, quads: Quads, samples: int) -> np.ndarray:
    """Lanes of tiles at quads' pixels: the type of ``mask``, shape (q, 2, 2, samples)."""
    wide, high = pixels_of(samples, mask.shape[1])
    return _quads(mask, samples)[quads.tile, quads.y % high // 2, quads.x % wide // 2]


def join(values: np.ndarray, quads: Quads, tiles: int, samples: int, edge: int = 8) -> np.ndarray:
    """Values of pixels at the lanes of their samples, zeros elsewhere.

    Parameters
    ----------
    values : ndarray, shape (q, 2, 2), or (q, 2, 2, samples) with one of each sample
    quads : Quads
        Of one that has a sample of its own, the value goes to that sample alone.
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
    wide, high = pixels_of(samples, edge)
    count = 1 << samples
    out = np.zeros((tiles, high // 2, wide // 2, 2, 2, count), values.dtype)
    place = quads.tile, quads.y % high // 2, quads.x % wide // 2
    if values.ndim == 3:
        values = np.broadcast_to(values[..., None], (*values.shape, count))
    if (quads.sample == ALL).all():
        out[place] = values
    else:
        own = quads.sample
        out[(*place, slice(None), slice(None), own)] = values[np.arange(len(own)), :, :, own]
    pixels = out.swapaxes(2, 3).reshape(tiles, high, wide, 1 << ly, 1 << lx)
    return pixels.swapaxes(2, 3).reshape(tiles, edge, edge)


def lane_pixels(
    tiles: np.ndarray, j: np.ndarray, i: np.ndarray, samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of the target of lanes (i, j) of tiles: x and y, int64."""
    lx, ly = LANE_SHAPE[samples]
    wide, high = pixels_of(samples)
    return (
        tiles["x"].astype(np.int64) * wide + (i >> lx),
        tiles["y"].astype(np.int64) * high + (j >> ly),
    )


def sample_numbers(samples: int, edge: int = 8) -> np.ndarray:
    """Which sample of its pixel each lane of a tile is: int64, shape (edge, edge)."""
    lx, ly = LANE_SHAPE[samples]
    j, i = np.mgrid[:edge, :edge]
    return (i & (1 << lx) - 1) + ((j & (1 << ly) - 1) << lx)


def pixels_of(samples: int, edge: int = 8) -> tuple[int, int]:
    """Columns and rows of pixels of a tile."""
    lx, ly = LANE_SHAPE[samples]
    return edge >> lx, edge >> ly


def merges(quads: Quads, triangle: np.ndarray) -> int:
    """How many quads could be shaded with one of the triangle before theirs.

    Parameters
    ----------
    quads : Quads
    triangle : ndarray of int, shape (q,)
        That of each, in drawing order.

    Two quads of a place may share one if their triangles follow one another and no pixel is covered
    by both: a mesh's triangles meet so along their edges, and each quad there is shaded twice.
    """
    live = (~quads.helpers).reshape(-1, 4)
    place = quads.y << 20 | quads.x << 4 | quads.sample + 1
    order = np.lexsort((triangle, place))
    first, second = order[:-1], order[1:]
    apart = (place[first] == place[second]) & (triangle[second] == triangle[first] + 1)
    apart &= ~(live[first] & live[second]).any(1)
    # Of three in a row the one between is counted once.
    count = 0
    taken = False
    for joins in apart.tolist():
        taken = joins and not taken
        count += taken
    return count


def quads_of(
    tiles: np.ndarray, state: np.void, formats: Sequence[int], edge: int = 8
) -> np.ndarray:
    """What is handed out to a shader for tiles.

    Parameters
    ----------
    tiles : structured ndarray, shape (n,)
        As in :func:`fixfunc.spec.payloads.tested`.
    state : numpy.void
        Of the draw.
    formats : sequence of int
        Of each colour that is asked for; 0 of those that are not.
    edge : int

    Returns
    -------
    structured ndarray, shape (n,)
        As in :func:`fixfunc.spec.colours.quads`.
    """
    out = np.zeros(len(tiles), dtype(quads_table(edge, len(formats))))
    for name in ("kind", "state", "slot", "x", "y", "back", "mask", "covered"):
        out[name] = tiles[name]
    lx, ly = LANE_SHAPE[state["samples"]]
    lanes = unpack(tiles["mask"], edge)
    pixels = lanes.reshape(len(tiles), edge >> ly, 1 << ly, edge >> lx, 1 << lx).any((2, 4))
    wide = np.zeros_like(lanes)
    wide[:, : edge >> ly, : edge >> lx] = pixels
    live = (
        wide.reshape(len(tiles), edge // 2, 2, edge // 2, 2).any((2, 4)).repeat(2, 1).repeat(2, 2)
    )
    out["samples"] = state["samples"]
    for name in ("flat_colour", "built_in"):
        out[name] = state[name]
    for output, form in enumerate(formats):
        out[format_name(output)] = form
    out["live"] = pack(wide)
    out["helpers"] = pack(live & ~wide)
    return out


def _quads(lanes, samples):
    """Lanes of tiles by quads: shape (n, rows, columns, 2, 2, samples)."""
    lx, ly = LANE_SHAPE[samples]
    wide, high = pixels_of(samples, lanes.shape[1])
    split = lanes.reshape(len(lanes), high, 1 << ly, wide, 1 << lx)
    pixels = split.swapaxes(2, 3).reshape(len(lanes), high // 2, 2, wide // 2, 2, 1 << samples)
    return pixels.swapaxes(2, 3)
