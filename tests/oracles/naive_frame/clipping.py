# SPDX-License-Identifier: BSD-2-Clause
"""Primitives cut by the near and the far plane, exactly.

Source: docs/geometry/clipper.md. The guard band is not there: no frame reaches it.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from tests.oracles.naive_frame import float32

WHOLE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Corner(NamedTuple):
    """A corner of what is left: float32 coordinates, and weights of the primitive's corners."""

    position: tuple[float, ...]
    weights: tuple[float, ...]


class _Point(NamedTuple):
    """A corner in exact numbers."""

    position: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]


def _near(position):
    return position[2]


def _far(position):
    return position[3] - position[2]


def clipped(positions: list[tuple[float, ...]], depth_clip: bool) -> list[tuple[Corner, ...]]:
    """Triangles of a fan, what is left of a primitive."""
    points = [
        _Point(tuple(map(Fraction, position)), tuple(map(Fraction, weights)))
        for position, weights in zip(positions, WHOLE, strict=True)
    ]
    if depth_clip:
        for distance in (_near, _far):
            points = _cut(points, distance)
    corners = [
        Corner(
            tuple(float32.nearest(value) for value in point.position),
            tuple(float32.nearest(value) for value in point.weights),
        )
        for point in points
    ]
    return [(corners[0], *corners[n : n + 2]) for n in range(1, len(corners) - 1)]


def _cut(points: list[_Point], distance: Callable) -> list[_Point]:
    """What of a polygon lies where a distance is not below zero."""
    out = []
    for n, point in enumerate(points):
        behind = points[(n + 1) % len(points)]
        height, height_behind = distance(point.position), distance(behind.position)
        if height >= 0:
            out.append(point)
        if (height < 0) != (height_behind < 0):
            share = height / (height - height_behind)
            out.append(
                _Point(
                    *(
                        tuple(a + share * (b - a) for a, b in zip(start, end, strict=True))
                        for start, end in zip(point, behind, strict=True)
                    )
                )
            )
    return out
