# SPDX-License-Identifier: BSD-2-Clause
"""Primitives cut by planes and by clip distances, one number at a time.

Source: docs/geometry/clipper.md.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tests.oracles.naive_frame import float32

WHOLE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
BAND = 32767.0  # pixels
UNIT = 2.0**-18  # of distances, a pixel


class Corner(NamedTuple):
    """A corner of what is left: float32 coordinates, and weights of the primitive's corners."""

    position: tuple[float, ...]
    weights: tuple[float, ...]
    distances: tuple[float, ...] = ()


def clipped(
    positions: list[tuple[float, ...]],
    viewport: tuple[float, ...],
    depth_clip: bool,
    distances: Sequence[tuple[float, ...]] = ((), (), ()),
) -> list[tuple[Corner, ...]]:
    """Triangles of a fan, what is left of a primitive."""
    points = [
        Corner(tuple(position), weights, tuple(its))
        for position, weights, its in zip(positions, WHOLE, distances, strict=True)
    ]
    for plane in _planes(viewport, depth_clip):
        points = _cut(points, [plane.distance(point.position) for point in points], plane.put)
    for n in range(len(distances[0])):
        points = _cut(points, [point.distances[n] for point in points], tuple)
    return [(points[0], *points[n : n + 2]) for n in range(1, len(points) - 1)]


class _Plane(NamedTuple):
    """slope * coordinate + (weight * w) is the distance; on it ``fixed`` is factor * ``other``."""

    slope: float
    coordinate: int
    weight: float
    fixed: int
    factor: float
    other: int

    def distance(self, position):
        """Not below zero inside."""
        share = float32.multiply(self.weight, position[3])
        return float32.multiply_add(self.slope, position[self.coordinate], share)

    def put(self, position):
        """A position on the plane."""
        on_it = list(position)
        on_it[self.fixed] = float32.multiply(self.factor, position[self.other])
        return tuple(on_it)


def _planes(viewport, depth_clip):
    """Near and far, or w = 0; left, right, bottom, top of the guard band."""
    if depth_clip:
        yield _Plane(1.0, 2, 0.0, 2, 0.0, 3)
        yield _Plane(-1.0, 2, 1.0, 3, 1.0, 2)
    else:
        yield _Plane(0.0, 0, 1.0, 3, 0.0, 3)
    for axis in (0, 1):
        half = float32.multiply(viewport[2 + axis], 0.5)
        centre = float32.add(viewport[axis], half)
        for sign in (1.0, -1.0):
            slope = float32.multiply(half, sign * UNIT)
            towards = -sign if axis else sign  # y points up
            weight = float32.multiply(float32.multiply_add(towards, centre, BAND), UNIT)
            factor = float32.divide(weight, -slope) if slope else 0.0  # nothing crosses it
            yield _Plane(slope, axis, weight, axis, factor, 3)


def _cut(points: list[Corner], distances: list[float], put: Callable) -> list[Corner]:
    """What of a polygon lies where distances are not below zero."""
    out = []
    for n, point in enumerate(points):
        behind = (n + 1) % len(points)
        own, its = distances[n], distances[behind]
        if own >= 0:
            out.append(point)
        if own >= 0 > its:
            out.append(_between(point, points[behind], own, its, put))
        elif its >= 0 > own:
            out.append(_between(points[behind], point, its, own, put))
    return out


def _between(inside, outside, near, far, put):
    """The new corner of an edge: from the corner inside to the corner outside."""
    share = float32.divide(near, float32.subtract(near, far))
    position, weights, distances = (
        tuple(
            float32.multiply_add(share, b, float32.multiply_add(-share, a, a))
            for a, b in zip(start, end, strict=True)
        )
        for start, end in zip(inside, outside, strict=True)
    )
    return Corner(put(position), weights, distances)
