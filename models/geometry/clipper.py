# SPDX-License-Identifier: BSD-2-Clause
"""Clipper: triangles, lines and points, cut by planes of the view volume and by clip distances."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.lib import float32
from fixfunc.spec.errors import InputError

GUARD_BAND = 32767  # pixels [fs 15.16]
MOST_DISTANCES = 8  # clip and cull distances [fs 15.4.3]
DOUBT = 1e-9  # float64 may be wrong about the sign of a distance that is smaller, of its terms
LARGEST = np.finfo(np.float32).max  # what an infinite clip distance counts as
COORDINATES = 4
CORNERS = 3
NEW = -1


class Clipped(NamedTuple):
    """Clipped primitives, as :func:`clip` returns them, in their order."""

    positions: np.ndarray  # float32, shape (m, k, 4)
    weights: np.ndarray  # float32, shape (m, k, k): of each corner, its primitive's corners
    source: np.ndarray  # intp, shape (m,): index of the primitive that each is part of
    edges: np.ndarray  # uint8, shape (m,): bit n: the edge from corner n on is one of the primitive
    rejected: int  # primitives outside one plane of the view volume
    clipped: int  # primitives that were cut
    culled: int  # by a cull distance
    discarded: int  # a coordinate is no number or infinite, or a clip distance is no number


def clip(
    positions: np.ndarray,
    viewport: Viewport,
    *,
    depth_clip: bool = True,
    clip_distances: np.ndarray | None = None,
    cull_distances: np.ndarray | None = None,
    edges: np.ndarray | None = None,
) -> Clipped:
    """Clip primitives.

    Parameters
    ----------
    positions : ndarray of float32, shape (n, k, 4)
        Clip-space positions of k corners: 3 of triangles, 2 of lines, 1 of points.
    viewport : Viewport
        Of all of them.
    depth_clip : bool
        Near and far cut.
    clip_distances, cull_distances : ndarray of float32, shape (n, k, c), optional
    edges : ndarray of uint8, shape (n,), optional
        Which edges are those of the primitive; by default all are.

    Returns
    -------
    Clipped
        What needs no cut passes bit for bit, and so does every corner that is inside. Corners of a
        cut carry their weights in the primitive, for its attributes.

    Raises
    ------
    InputError
        More than eight distances.

    A primitive outside one plane of the view volume is rejected. Near, far, the four sides of the
    guard band and the clip distances cut, in this order; w is above zero then. A new corner is
    where an edge of the primitive meets a plane, or where two planes meet within it: each of its
    coordinates is the float32 that is nearest to the exact one, so that AB and BA give the same,
    whatever else is cut.

    Source: [fs 15.4], [trip 5].
    """
    positions = np.asarray(positions, np.float32)
    n, k, _ = positions.shape
    clip_distances = _distances(clip_distances, n, k)
    cull_distances = _distances(cull_distances, n, k)
    if clip_distances.shape[2] + cull_distances.shape[2] > MOST_DISTANCES:
        counts = clip_distances.shape[2], cull_distances.shape[2]
        raise InputError("clip_distances, cull_distances", "be at most 8 together", counts)
    edges = np.full(n, (1 << k) - 1, np.uint8) if edges is None else np.asarray(edges, np.uint8)

    finite = np.isfinite(positions).all((1, 2)) & ~np.isnan(clip_distances).any((1, 2))
    clip_distances = np.clip(clip_distances, -LARGEST, LARGEST)
    with np.errstate(invalid="ignore"):  # a distance that is no number is outside
        culled = ~(cull_distances >= 0).any(1)
    culled = culled.any(1) & finite
    live = finite & ~culled
    values = np.where(live[:, None, None], float32.flush(positions), 0).astype(np.float64)
    outside = (values @ _view_volume(depth_clip).T < 0).all(1).any(1)
    outside |= (clip_distances < 0).all(1).any(1)
    rejected = live & outside
    live &= ~outside
    planes = _cutting_planes(viewport, depth_clip)
    needed = live & (_perhaps_outside(values, planes) | (clip_distances < 0).any((1, 2)))

    whole = np.flatnonzero(live & ~needed)
    cut = np.flatnonzero(needed)
    channels = np.concatenate(
        [
            positions[cut],
            np.broadcast_to(np.eye(k, dtype=np.float32), (len(cut), k, k)),
            clip_distances[cut],
        ],
        2,
    )
    polygons = _Polygons(
        float32.integers(channels),
        np.full(channels.shape[:2], 1, object),
        np.broadcast_to(np.arange(k), channels.shape[:2]),
        (edges[cut, None] >> np.arange(k) & 1).astype(bool),
        np.full(len(cut), k),
    )
    parts, owner, kept, is_cut = _cut_all(polygons, channels, planes)
    source = np.concatenate([whole, cut[owner]])
    order = np.argsort(source, kind="stable")
    whole_weights = np.broadcast_to(np.eye(k, dtype=np.float32), (len(whole), k, k))
    return Clipped(
        np.concatenate([positions[whole], parts[..., :COORDINATES]])[order],
        np.concatenate([whole_weights, parts[..., COORDINATES : COORDINATES + k]])[order],
        source[order],
        np.concatenate([edges[whole], kept])[order],
        int(rejected.sum()),
        int(is_cut.sum()),
        int(culled.sum()),
        int((~finite).sum()),
    )


def _distances(distances, n, k):
    """Distances with their shape, none of them if there are none."""
    if distances is None:
        return np.zeros((n, k, 0), np.float32)
    distances = np.asarray(distances, np.float32)
    return distances.reshape(n, k, distances.shape[2])


def _view_volume(depth_clip):
    """Planes of the view volume, as rows.

    A point is inside where its product with every row is not negative: float64 has the right sign.
    """
    sides = [(1, 0, 0, 1), (-1, 0, 0, 1), (0, 1, 0, 1), (0, -1, 0, 1)]
    ends = [(0, 0, 1, 0), (0, 0, -1, 1)]
    return np.array(sides + ends * depth_clip, float)


def _cutting_planes(viewport, depth_clip):
    """Planes that cut, in order: rows of exact coefficients of x, y, z, w."""
    half_x = Fraction(viewport.width) / 2
    half_y = Fraction(viewport.height) / 2
    centre_x = Fraction(viewport.x) + half_x
    centre_y = Fraction(viewport.y) + half_y
    ends = [(0, 0, 1, 0), (0, 0, -1, 1)]
    sides = [
        (half_x, 0, 0, GUARD_BAND + centre_x),
        (-half_x, 0, 0, GUARD_BAND - centre_x),
        (0, -half_y, 0, GUARD_BAND + centre_y),
        (0, half_y, 0, GUARD_BAND - centre_y),
    ]
    return ends * depth_clip + sides


def _perhaps_outside(values, planes):
    """Whether any corner is outside of any plane, or so near to it that float64 cannot tell."""
    perhaps = np.zeros(values.shape[:2], bool)
    for plane in planes:
        terms = [values[..., n] * float(c) for n, c in enumerate(plane) if c]
        perhaps |= sum(terms) < DOUBT * sum(map(np.abs, terms))
    return perhaps.any(1)


class _Polygons(NamedTuple):
    """Polygons of up to so many corners, exact: corners are quotients of Python's integers."""

    numerators: np.ndarray  # object, shape (n, corners, channels): coordinates, weights, distances
    denominators: np.ndarray  # object, shape (n, corners): above zero
    origin: np.ndarray  # shape (n, corners): which corner of the primitive it is, or NEW
    flags: np.ndarray  # bool, shape (n, corners): the edge behind it is one of the primitive
    counts: np.ndarray  # shape (n,): the first so many corners are valid


def _cut_all(polygons, channels, planes):
    """Cut by every plane and clip distance; returns triangles, lines or points.

    Parts, the index of each one's primitive, flags of its edges, and which primitives were cut.
    """
    n, k, width = channels.shape
    is_cut = np.zeros(n, bool)
    forms = [(_whole_numbers(plane), range(COORDINATES)) for plane in planes]
    forms += [([1], [place]) for place in range(COORDINATES + k, width)]
    for coefficients, places in forms:
        distance = _distance(polygons.numerators, coefficients, places)
        valid = np.arange(distance.shape[1]) < polygons.counts[:, None]
        is_cut |= ((distance < 0) & valid).any(1)
        polygons = _cut(polygons, distance, k)
    corners = _rounded(polygons, channels)
    parts = [np.zeros((0, k, width), np.float32)]
    owners = [np.zeros(0, np.intp)]
    kept = [np.zeros(0, np.uint8)]
    for last in range(k - 1, corners.shape[1]):
        present = np.flatnonzero(polygons.counts > last)
        fan = {1: [0], 2: [0, 1], 3: [0, last - 1, last]}[k]
        parts.append(corners[present][:, fan])
        owners.append(present)
        kept.append(_fan_edges(polygons.flags[present], polygons.counts[present], last, k))
    return np.concatenate(parts), np.concatenate(owners), np.concatenate(kept), is_cut


def _rounded(polygons, channels):
    """Corners as float32: new ones are the nearest, others those that came in, bit for bit."""
    origin = polygons.origin
    corners = np.take_along_axis(channels, np.maximum(origin, 0)[..., None], 1)
    new = (origin == NEW) & (np.arange(origin.shape[1]) < polygons.counts[:, None])
    if new.any():
        corners[new] = float32.nearest_quotient(
            polygons.numerators[new], polygons.denominators[new][:, None], float32.UNIT
        )
    return corners


def _fan_edges(flags, counts, last, k):
    """Flags of the edges of a fan's triangle, whose last corner is given."""
    if k < CORNERS:
        return np.full(len(flags), (1 << k) - 1, np.uint8)
    first = flags[:, 0] if last == CORNERS - 1 else np.zeros(len(flags), bool)
    closing = flags[:, last] & (counts == last + 1)
    return (first | flags[:, last - 1] << 1 | closing << 2).astype(np.uint8)


def _whole_numbers(plane):
    """Coefficients as integers, all times the same."""
    fractions = [Fraction(coefficient) for coefficient in plane]
    denominator = max(fraction.denominator for fraction in fractions)  # powers of two
    return [int(fraction * denominator) for fraction in fractions]


def _distance(numerators, coefficients, places):
    """Distances of corners from a plane, times their denominators: shape (n, corners)."""
    total = np.zeros(numerators.shape[:2], object)
    for coefficient, place in zip(coefficients, places, strict=True):
        if coefficient:
            total = total + coefficient * numerators[..., place]
    return total


def _cut(polygons, distance, k):
    """Cut polygons by a plane: each corner inside is followed by the point where the edge behind it
    crosses the plane.
    """
    n, corners, width = polygons.numerators.shape
    index = np.arange(corners)
    valid = index < polygons.counts[:, None]
    following = np.where(index + 1 < polygons.counts[:, None], index + 1, 0)
    inside = distance >= 0
    crossing = valid & (inside != np.take_along_axis(inside, following, 1))
    points = np.zeros((n, corners, width), object)
    denominators = np.full((n, corners), 1, object)
    row, corner = np.nonzero(crossing)
    if len(row):
        points[row, corner], denominators[row, corner] = _crossing(
            polygons, distance, (row, corner), (row, following[row, corner])
        )
    selected = _interleaved(valid & inside, crossing)
    order = np.argsort(~selected, axis=1, kind="stable")
    counts = selected.sum(1)
    if k < CORNERS:
        counts = np.minimum(counts, k)  # there and back
    order = order[:, : max(int(counts.max(initial=0)), k)]
    fields = (
        (polygons.numerators, points),
        (polygons.denominators, denominators),
        (polygons.origin, np.full((n, corners), NEW)),
        # The edge behind a new corner is that of the corner before it, if it leads inside.
        (polygons.flags, polygons.flags & ~inside),
    )
    taken = []
    for old, new in fields:
        both = _interleaved(old, new)
        places = order.reshape(*order.shape, *[1] * (both.ndim - 2))
        taken.append(np.take_along_axis(both, places, 1))
    return _Polygons(*taken, counts)


def _interleaved(old, new):
    """Each corner of one array followed by that of the other."""
    return np.stack([old, new], 2).reshape(len(old), 2 * old.shape[1], *old.shape[2:])


def _crossing(polygons, distance, start, end):
    """Where edges meet the plane: numerators and denominators, the latter above zero."""
    a = polygons.numerators[start]
    b = polygons.numerators[end]
    a_distance = distance[start]
    b_distance = distance[end]
    denominator = a_distance * polygons.denominators[end]
    denominator = denominator - b_distance * polygons.denominators[start]
    numerator = b * a_distance[:, None] - a * b_distance[:, None]
    sign = np.where(denominator > 0, 1, -1).astype(object)
    return numerator * sign[:, None], denominator * sign
