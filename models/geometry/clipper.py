# SPDX-License-Identifier: BSD-2-Clause
"""Clipper: triangles, lines and points, cut by planes of the view volume and by clip distances."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.lib import float32
from fixfunc.spec.errors import InputError

GUARD_BAND = 32767  # pixels [fs 15.16]
MOST_DISTANCES = 8  # clip and cull distances [fs 15.4.3]
BAND_UNIT = 2.0**-18  # of distances from the guard band, a pixel: their differences stay finite
LARGEST = np.float32(2.0**126)  # clip distances count as no larger: likewise
COORDINATES = 4
CORNERS = 3
X, Y, Z, W = range(COORDINATES)


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

    A primitive outside one plane of the view volume is rejected. Near and far cut, or w = 0 where
    they do not; then the four sides of the guard band and the clip distances, in this order. All
    is float32 arithmetic of :mod:`fixfunc.models.lib.float32`: a corner's distance from a plane is
    slope * coordinate + (weight * w), inside where it is not negative; t is the distance of the
    corner inside divided by its difference from that of the corner outside; each coordinate and
    weight of the new corner is t * outside + (inside - t * inside), two multiply-adds. One
    coordinate is then set by the plane. So AB and BA give the same, whatever else is cut.

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
    clip_distances = float32.flush(np.clip(clip_distances, -LARGEST, LARGEST))
    with np.errstate(invalid="ignore"):  # a distance that is no number is outside
        culled = ~(cull_distances >= 0).any(1)
    culled = culled.any(1) & finite
    live = finite & ~culled
    outside = _outside_view(positions, depth_clip) | (clip_distances < 0).all(1).any(1)
    rejected = live & outside
    live &= ~outside
    planes = _cutting_planes(viewport, depth_clip)
    needed = (clip_distances < 0).any((1, 2))
    for plane in planes:
        needed |= (plane.distance(positions) < 0).any(1)

    whole = np.flatnonzero(live & ~needed)
    cut = np.flatnonzero(live & needed)
    channels = [
        positions[cut],
        np.broadcast_to(np.eye(k, dtype=np.float32), (len(cut), k, k)),
        clip_distances[cut],
    ]
    flags = (edges[cut, None] >> np.arange(k) & 1).astype(bool)
    polygons = _Polygons(np.concatenate(channels, 2), flags, np.full(len(cut), k))
    polygons = _cut_all(polygons, planes, clip_distances.shape[2])
    parts, owner, kept = _fans(polygons, k)
    source = np.concatenate([whole, cut[owner]])
    order = np.argsort(source, kind="stable")
    whole_weights = np.broadcast_to(np.eye(k, dtype=np.float32), (len(whole), k, k))
    return Clipped(
        np.concatenate([positions[whole], parts[..., :COORDINATES]])[order],
        np.concatenate([whole_weights, parts[..., COORDINATES : COORDINATES + k]])[order],
        source[order],
        np.concatenate([edges[whole], kept])[order],
        int(rejected.sum()),
        len(cut),
        int(culled.sum()),
        int((~finite).sum()),
    )


def _distances(distances, n, k):
    """Distances with their shape, none of them if there are none."""
    if distances is None:
        return np.zeros((n, k, 0), np.float32)
    distances = np.asarray(distances, np.float32)
    return distances.reshape(n, k, distances.shape[2])


def _outside_view(positions, depth_clip):
    """Primitives all of whose corners are outside of one plane of the view volume: comparisons."""
    x, y, z, w = np.moveaxis(float32.flush(positions), -1, 0)
    sides = [x < -w, x > w, y < -w, y > w]
    ends = [z < 0, z > w]
    return np.any([side.all(1) for side in sides + ends * depth_clip], 0)


class _Plane(NamedTuple):
    """A plane that cuts, and how a new corner is put onto it."""

    slope: np.float32  # of the distance, for one coordinate
    coordinate: int
    weight: np.float32  # of the distance, for w
    fixed: int  # the coordinate of a new corner that is a multiple of another one
    factor: np.float32
    other: int

    def distance(self, corners):
        """float32 distances of corners; inside where they are not negative."""
        share = float32.multiply(self.weight, corners[..., W])
        return float32.multiply_add(self.slope, corners[..., self.coordinate], share)

    def put(self, corners):
        """Put new corners onto the plane."""
        corners[:, self.fixed] = float32.multiply(self.factor, corners[:, self.other])


def _cutting_planes(viewport, depth_clip):
    """Planes that cut, in order.

    No w is below zero behind the first ones: near leaves no z below zero, and far sets w to z;
    where they do not cut, w = 0 does. A new corner between two such has no negative w, either.
    """
    zero, one = np.float32([0, 1])
    ends = [_Plane(zero, X, one, W, zero, W)]
    if depth_clip:
        ends = [_Plane(one, Z, zero, Z, zero, W), _Plane(-one, Z, one, W, one, Z)]
    across = _band(X, viewport.x, viewport.width, 1)
    return ends + across + _band(Y, viewport.y, viewport.height, -1)


def _band(coordinate, corner, size, direction):
    """Two sides of the guard band, the one of lesser coordinates in clip space first.

    ``direction`` is that of the screen's axis in clip space: -1 for y, which points up there.
    """
    half = np.float32(size / 2)
    centre = float32.multiply(float32.add(corner, half), np.float32(direction))
    sides = []
    for sign in (1, -1):
        slope = float32.multiply(half, np.float32(sign * BAND_UNIT))
        reach = float32.add(np.float32(GUARD_BAND), float32.multiply(np.float32(sign), centre))
        weight = float32.multiply(reach, np.float32(BAND_UNIT))
        # A viewport without a size has no sides: all of it lies at one place.
        factor = float32.divide(weight, -slope) if slope else np.float32(0)
        sides.append(_Plane(slope, coordinate, weight, coordinate, factor, W))
    return sides


class _Polygons(NamedTuple):
    """Polygons of up to so many corners."""

    channels: np.ndarray  # float32, shape (n, corners, channels): position, weights, distances
    flags: np.ndarray  # bool, shape (n, corners): the edge behind it is one of the primitive
    counts: np.ndarray  # shape (n,): the first so many corners are valid


def _cut_all(polygons, planes, distances):
    """Cut by every plane, then by the distances, which are the last channels."""
    k = polygons.channels.shape[1]
    width = polygons.channels.shape[2]
    for plane in planes:
        polygons = _cut(polygons, plane.distance(polygons.channels), k, plane.put)
    for place in range(width - distances, width):
        polygons = _cut(polygons, polygons.channels[..., place], k)
    return polygons


def _fans(polygons, k):
    """Triangles, lines or points of polygons.

    Parts, the index of each one's polygon, and flags of its edges.
    """
    parts = [np.zeros((0, k, polygons.channels.shape[2]), np.float32)]
    owners = [np.zeros(0, np.intp)]
    kept = [np.zeros(0, np.uint8)]
    for last in range(k - 1, polygons.channels.shape[1]):
        present = np.flatnonzero(polygons.counts > last)
        fan = {1: [0], 2: [0, 1], 3: [0, last - 1, last]}[k]
        parts.append(polygons.channels[present][:, fan])
        owners.append(present)
        kept.append(_fan_edges(polygons.flags[present], polygons.counts[present], last, k))
    return np.concatenate(parts), np.concatenate(owners), np.concatenate(kept)


def _fan_edges(flags, counts, last, k):
    """Flags of the edges of a fan's triangle, whose last corner is given."""
    if k < CORNERS:
        return np.full(len(flags), (1 << k) - 1, np.uint8)
    first = flags[:, 0] if last == CORNERS - 1 else np.zeros(len(flags), bool)
    closing = flags[:, last] & (counts == last + 1)
    return (first | flags[:, last - 1] << 1 | closing << 2).astype(np.uint8)


def _cut(polygons, distance, k, put=None):
    """Cut polygons by a plane: each corner inside is followed by the point where the edge behind it
    crosses the plane, onto which ``put`` puts it.
    """
    corners = distance.shape[1]
    index = np.arange(corners)
    valid = index < polygons.counts[:, None]
    following = np.where(index + 1 < polygons.counts[:, None], index + 1, 0)
    inside = distance >= 0
    crossing = valid & (inside != np.take_along_axis(inside, following, 1))
    points = np.zeros_like(polygons.channels)
    row, corner = np.nonzero(crossing)
    leaves = inside[row, corner]
    after = following[row, corner]
    ends = np.where(leaves, [corner, after], [after, corner])  # inside, outside
    new = _crossing(polygons.channels[row, ends], distance[row, ends])
    if put:
        put(new)
    points[row, corner] = new
    selected = _interleaved(valid & inside, crossing)
    order = np.argsort(~selected, axis=1, kind="stable")
    counts = selected.sum(1)
    if k < CORNERS:
        counts = np.minimum(counts, k)  # there and back
    order = order[:, : max(int(counts.max(initial=0)), k)]
    # The edge behind a new corner is that of the corner before it, if it leads inside.
    flags = _interleaved(polygons.flags, polygons.flags & ~inside)
    channels = _interleaved(polygons.channels, points)
    return _Polygons(
        np.take_along_axis(channels, order[..., None], 1),
        np.take_along_axis(flags, order, 1),
        counts,
    )


def _interleaved(old, new):
    """Each corner of one array followed by that of the other."""
    return np.stack([old, new], 2).reshape(len(old), 2 * old.shape[1], *old.shape[2:])


def _crossing(ends, distance):
    """Where edges meet the plane: channels of the new corners.

    ``ends``: shape (2, m, channels), the corners inside and those outside; ``distance``: (2, m).
    """
    inside, outside = ends
    share = float32.divide(distance[0], float32.subtract(distance[0], distance[1]))[:, None]
    return float32.multiply_add(share, outside, float32.multiply_add(-share, inside, inside))
