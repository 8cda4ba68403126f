# SPDX-License-Identifier: BSD-2-Clause
"""Grids of cubes: texels of several faces, and corners, where one is missing."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.texture.coordinates import cube
from fixfunc.spec.textures.cube import FACES
from fixfunc.spec.textures.filter import CHANNELS, CORNERS

PIXELS = 4
COLUMN, ROW = np.arange(CORNERS) & 1, np.arange(CORNERS) >> 1
SWAPPED = np.array([0, 2, 1, 3])  # corners, columns for rows


class Parts(NamedTuple):
    """What the cache reads for grids: of each its own face, then what lies beyond an edge."""

    grid: np.ndarray  # intp, shape (p,): of each part
    to_cache: np.ndarray  # as fixfunc.spec.textures.cache.CACHE_QUAD
    swaps: np.ndarray  # bool, shape (p, 4): a pixel's columns are its rows there
    missing: np.ndarray  # int64, shape (g, 4): a pixel's corner that counts and is none, or -1


def parts_of(
    to_cache: np.ndarray,
    outside: np.ndarray,
    faces: np.ndarray,
    extent: np.ndarray,
    is_cube: np.ndarray,
) -> Parts:
    """Parts of grids: those of a cube have three at most, others one.

    Parameters
    ----------
    to_cache : structured ndarray, shape (g,)
        Grids whose columns and rows are held to their face; a layer is that of a cube.
    outside : ndarray of bool, shape (g, 4, 4)
        Of each pixel, which of left, right, upper and lower lie beyond the face.
    faces, extent : ndarray of int64, shape (g, 4)
        Of each pixel its face, and how many texels that has along an edge.
    is_cube : ndarray of bool, shape (g,)

    Source: [fs 7.18.12].
    """
    own, beside, below = (to_cache.copy() for _ in range(3))
    kinds = np.zeros((3, len(to_cache), PIXELS), bool)
    missing = np.full((len(to_cache), PIXELS), -1)
    for pixel in range(PIXELS):
        over = outside[:, pixel] & is_cube[:, None]
        over_u, over_v = over[:, :2][:, COLUMN], over[:, 2:][:, ROW]
        reads = to_cache[f"reads{pixel}"][:, None] >> np.arange(CORNERS) & 1 == 1
        lacks = reads & over_u & over_v
        missing[:, pixel] = np.where(lacks.any(1), lacks.argmax(1), -1)
        own[f"reads{pixel}"] = _bits(reads & ~over_u & ~over_v)
        layer = to_cache[f"layer{pixel}"].astype(np.int64)
        own[f"layer{pixel}"] = np.where(is_cube, FACES * layer + faces[:, pixel], layer)
        size = extent[:, pixel]
        for axis, part, wanted in (
            (0, beside, reads & over_u & ~over_v),
            (1, below, reads & over_v & ~over_u),
        ):
            names = [("upper", "lower"), ("left", "right")][axis]
            beyond = np.where(over[:, 2 * axis + 1], size, -1)
            found = []
            for name in names:
                place = [beyond, to_cache[f"{name}{pixel}"].astype(np.int64)]
                found.append(cube.across_edges(faces[:, pixel], *place[:: 1 - 2 * axis], size))
            face = found[0][0]
            along_u = cube.AXES[0][face] == cube.AXES[1 - axis][faces[:, pixel]]
            swaps = along_u == (axis == 0)
            for n, sides in enumerate((("left", "right"), ("upper", "lower"))):
                for side, neighbour in zip(sides, found, strict=True):
                    part[f"{side}{pixel}"] = neighbour[1 + n]
            part[f"reads{pixel}"] = _bits(np.where(swaps[:, None], wanted[:, SWAPPED], wanted))
            part[f"layer{pixel}"] = FACES * layer + face
            kinds[1 + axis, :, pixel] = swaps
    read = [np.ones(len(own), bool)]
    read += [np.any([p[f"reads{n}"] > 0 for n in range(PIXELS)], 0) for p in (beside, below)]
    kind, grid = np.nonzero(read)
    order = np.lexsort((kind, grid))
    kind, grid = kind[order], grid[order]
    whole = np.stack([own, beside, below])[kind, grid]
    return Parts(grid, whole, kinds[kind, grid], missing)


def joined(texels: np.ndarray, parts: Parts) -> np.ndarray:
    """Texels of grids, of those of their parts; what a part has not read is 0."""
    out = np.zeros(len(parts.missing), texels.dtype)
    for pixel in range(PIXELS):
        for corner in range(CORNERS):
            for n in range(len(CHANNELS)):
                there = texels[f"t{pixel}_{SWAPPED[corner]}_{n}"]
                plain = texels[f"t{pixel}_{corner}_{n}"]
                value = np.where(parts.swaps[:, pixel], there, plain)
                np.add.at(out[f"t{pixel}_{corner}_{n}"], parts.grid, value)
    return out


def with_corners(
    taps: np.ndarray, number: np.ndarray, missing: np.ndarray, halves: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Grids with what lies beyond corners.

    A pixel of one sample whose first grid lacks a texel has three grids for each: one with each of
    the others in its place. Of halves one grid counts, and says what it lacks. Of several samples a
    pixel has the texel of its own face.

    Parameters
    ----------
    taps : structured ndarray, shape (g,)
        As :data:`fixfunc.spec.textures.filter.FILTER_TAPS`.
    number : ndarray of intp, shape (g,)
        The quad of each.
    missing : ndarray of int64, shape (g, 4)
    halves : ndarray of bool, shape (g,)

    Returns
    -------
    structured ndarray, and ndarray of intp
        Grids, and the quad of each.
    """
    first = np.flatnonzero(np.diff(number, prepend=-1))
    lone = np.stack([taps[f"count{pixel}"] == 1 for pixel in range(PIXELS)], 1)
    thrice = (lone & (missing >= 0))[first][np.searchsorted(number[first], number)]
    copies = np.where(thrice.any(1), 3, 1)
    which = np.repeat(np.arange(len(taps)), copies)
    copy = np.arange(len(which)) - np.searchsorted(which, which)
    out = taps[which]
    out["end"] &= np.append(which[1:] != which[:-1], True)[: len(which)]
    for pixel in range(PIXELS):
        own = thrice[which, pixel]
        out[f"weight{pixel}"][(~own | halves[which]) & (copy > 0)] = 0
        out[f"count{pixel}"][own] = 3
        lacks = missing[which, pixel]
        tells = own & halves[which] & (lacks >= 0)
        out[f"missing{pixel}"] = np.where(tells, 1 << np.maximum(lacks, 0), 0)
        for corner in range(CORNERS):
            for n, other in enumerate((corner ^ 3, corner ^ 2, corner ^ 1)):
                at = (lacks == corner) & (copy == n)
                for channel in range(len(CHANNELS)):
                    out[f"t{pixel}_{corner}_{channel}"][at] = out[f"t{pixel}_{other}_{channel}"][at]
    return out, number[which]


def _bits(flags):
    return (flags << np.arange(CORNERS)).sum(1)
