# SPDX-License-Identifier: BSD-2-Clause
"""Clipper: triangles cut by the near and far planes and by the guard band."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

GUARD_BAND = 32767  # pixels [fs 15.16]


class Clipped(NamedTuple):
    """Clipped triangles, as :func:`clip` returns them."""

    triangles: np.ndarray  # float32, shape (m, 3, 4)
    source: np.ndarray  # intp, shape (m,): index of the triangle that each is part of
    rejected: int  # triangles outside one plane of the view volume
    clipped: int  # triangles that were cut


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
        Triangles in their order. A triangle that needs no cut passes bit for bit.

    A triangle outside one plane of the view volume is rejected. Only w, near, far and the guard
    band cut, in this order. A side is always cut from the vertex inside to the one outside, so that
    AB and BA give the same point. A triangle with a NaN passes; it is discarded after projection.

    Source: [trip 5].
    """
    triangles = np.asarray(triangles, np.float32)
    positions = triangles.astype(np.float64)
    planes = _cutting_planes(viewport)
    with np.errstate(invalid="ignore"):  # a NaN is outside of nothing
        rejected = (positions @ _view_volume().T < 0).all(1).any(1)
        clipped = (positions @ planes.T < 0).any((1, 2)) & ~rejected

    inside = np.flatnonzero(~rejected & ~clipped)
    parts = [triangles[inside]]
    sources = [inside]
    polygons = positions[clipped]
    owner = np.flatnonzero(clipped)
    counts = np.full(len(polygons), 3)
    with np.errstate(invalid="ignore", over="ignore"):
        for plane in planes:
            polygons, counts = _cut(polygons, counts, plane)
    for corner in range(2, polygons.shape[1] if len(polygons) else 0):
        present = counts > corner
        parts.append(polygons[present][:, [0, corner - 1, corner]].astype(np.float32))
        sources.append(owner[present])
    source = np.concatenate(sources)
    order = np.argsort(source, kind="stable")
    return Clipped(
        np.concatenate(parts)[order], source[order], int(rejected.sum()), int(clipped.sum())
    )


def _view_volume():
    """Planes of the view volume, as rows.

    A point is inside where its product with every row is not negative.
    """
    return np.array(
        [(1, 0, 0, 1), (-1, 0, 0, 1), (0, 1, 0, 1), (0, -1, 0, 1), (0, 0, 1, 0), (0, 0, -1, 1)],
        float,
    )


def _cutting_planes(viewport):
    x0, y0, x1, y1 = viewport
    half_x = (x1 - x0) / 2
    half_y = (y1 - y0) / 2
    centre_x = (x0 + x1) / 2
    centre_y = (y0 + y1) / 2
    return np.array(
        [
            (0, 0, 0, 1),
            (0, 0, 1, 0),
            (0, 0, -1, 1),  # w, near, far
            (half_x, 0, 0, GUARD_BAND + centre_x),
            (-half_x, 0, 0, GUARD_BAND - centre_x),
            (0, -half_y, 0, GUARD_BAND + centre_y),
            (0, half_y, 0, GUARD_BAND - centre_y),
        ],
        float,
    )


def _cut(polygons, counts, plane):
    """Cut polygons by a plane; return the polygons inside, and their numbers of corners.

    ``polygons`` has shape (n, corners, 4); the first ``counts`` corners of each are valid.
    """
    n, corners, _ = polygons.shape
    index = np.arange(corners)
    valid = index < counts[:, None]
    successor = np.where(index + 1 < counts[:, None], index + 1, 0)
    next_corner = np.take_along_axis(polygons, successor[..., None], 1)
    distance = polygons @ plane
    next_distance = next_corner @ plane
    inside = distance >= 0
    next_inside = next_distance >= 0
    crossing = valid & (inside != next_inside)

    # A side is cut from the inside to the outside, whatever its direction.
    inner = np.where(inside[..., None], polygons, next_corner)
    outer = np.where(inside[..., None], next_corner, polygons)
    inner_distance = np.where(inside, distance, next_distance)
    outer_distance = np.where(inside, next_distance, distance)
    t = inner_distance / np.where(crossing, inner_distance - outer_distance, 1)
    points = inner + t[..., None] * (outer - inner)

    # Each corner inside is followed by the point where the side behind it crosses the plane.
    candidates = np.stack([polygons, points], 2).reshape(n, 2 * corners, 4)
    selected = np.stack([valid & inside, crossing], 2).reshape(n, 2 * corners)
    order = np.argsort(~selected, axis=1, kind="stable")
    result = np.take_along_axis(candidates, order[..., None], 1)
    counts = selected.sum(1)
    return result[:, : max(int(counts.max(initial=0)), 3)], counts
