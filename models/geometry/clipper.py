# SPDX-License-Identifier: BSD-2-Clause
"""Clipper: triangles cut by the near and far planes and by the guard band."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

GUARD_BAND = 32767  # pixels [fs 15.16]


class Clipped(NamedTuple):
    """What :func:`clip` returns."""

    triangles: np.ndarray  # float32, shape (m, 3, 4)
    source: np.ndarray  # intp, shape (m,): the triangle each one is part of
    rejected: int  # outside one plane of the view volume altogether
    clipped: int  # cut, or cut away


def clip(triangles: np.ndarray, viewport: Sequence[float]) -> Clipped:
    """Clip triangles.

    Parameters
    ----------
    triangles : ndarray of float32, shape (n, 3, 4)
        Clip-space positions.
    viewport : (x0, y0, x1, y1)
        Pixels.

    Returns
    -------
    Clipped
        In order. A triangle that needs no cut is passed on bit for bit.

    A triangle outside one plane of the view volume is rejected; only w, near, far and the guard band ever cut, in
    this order. A cut always runs from the vertex inside to the one outside, so that AB and BA give the same point.
    A triangle with a NaN is passed on: the rasterizer's front discards it once it has been projected.

    Source: [trip 5].
    """
    triangles = np.asarray(triangles, np.float32)
    positions = triangles.astype(np.float64)
    planes = _cutting_planes(viewport)
    with np.errstate(invalid="ignore"):  # a NaN is outside of nothing
        rejected = (positions @ _view_volume().T < 0).all(1).any(1)
        needs = (positions @ planes.T < 0).any((1, 2)) & ~rejected

    whole = np.flatnonzero(~rejected & ~needs)
    parts, sources = [triangles[whole]], [whole]
    polygons, owner = positions[needs], np.flatnonzero(needs)
    counts = np.full(len(polygons), 3)
    with np.errstate(invalid="ignore", over="ignore"):
        for plane in planes:
            polygons, counts = _cut(polygons, counts, plane)
    for corner in range(2, polygons.shape[1] if len(polygons) else 0):
        has = counts > corner
        parts.append(polygons[has][:, [0, corner - 1, corner]].astype(np.float32))
        sources.append(owner[has])
    source = np.concatenate(sources)
    order = np.argsort(source, kind="stable")
    return Clipped(np.concatenate(parts)[order], source[order], int(rejected.sum()), int(needs.sum()))


def _view_volume():
    """Planes of the view volume: a point is inside where its product with every row is not negative."""
    return np.array([(1, 0, 0, 1), (-1, 0, 0, 1), (0, 1, 0, 1), (0, -1, 0, 1), (0, 0, 1, 0), (0, 0, -1, 1)], float)


def _cutting_planes(viewport):
    x0, y0, x1, y1 = viewport
    half_x, half_y = (x1 - x0) / 2, (y1 - y0) / 2
    centre_x, centre_y = (x0 + x1) / 2, (y0 + y1) / 2
    return np.array([
        (0, 0, 0, 1), (0, 0, 1, 0), (0, 0, -1, 1),  # w, near, far
        (half_x, 0, 0, GUARD_BAND + centre_x), (-half_x, 0, 0, GUARD_BAND - centre_x),
        (0, -half_y, 0, GUARD_BAND + centre_y), (0, half_y, 0, GUARD_BAND - centre_y),
    ], float)


def _cut(polygons, counts, plane):
    """Keep the side of a plane: polygons (n, corners, 4), of which the first ``counts`` corners of each are used."""
    n, corners, _ = polygons.shape
    index = np.arange(corners)
    used = index < counts[:, None]
    following = np.where(index + 1 < counts[:, None], index + 1, 0)
    ahead = np.take_along_axis(polygons, following[..., None], 1)
    here_d, ahead_d = polygons @ plane, ahead @ plane
    here_in, ahead_in = here_d >= 0, ahead_d >= 0
    crosses = used & (here_in != ahead_in)

    # From the inside to the outside, whichever way the side runs.
    inner, outer = np.where(here_in[..., None], polygons, ahead), np.where(here_in[..., None], ahead, polygons)
    inner_d, outer_d = np.where(here_in, here_d, ahead_d), np.where(here_in, ahead_d, here_d)
    t = inner_d / np.where(crosses, inner_d - outer_d, 1)
    points = inner + t[..., None] * (outer - inner)

    # A corner kept, then the point where the side behind it crosses.
    both = np.stack([polygons, points], 2).reshape(n, 2 * corners, 4)
    keep = np.stack([used & here_in, crosses], 2).reshape(n, 2 * corners)
    order = np.argsort(~keep, axis=1, kind="stable")
    out = np.take_along_axis(both, order[..., None], 1)
    kept = keep.sum(1)
    return out[:, :max(int(kept.max(initial=0)), 3)], kept
