# SPDX-License-Identifier: BSD-2-Clause
"""Tessellator: a patch's domain divided into points and primitives."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fixfunc.models.tessellation.edge import ONE, Edge, even_strip, strip, triangles
from fixfunc.spec.errors import InputError

# Range of a factor, by partitioning.
RANGES = {
    "integer": (1, 64),
    "pow2": (1, 64),
    "fractional_odd": (1, 63),
    "fractional_even": (2, 64),
}
# Numbers of outer and inner factors, by domain.
FACTORS = {
    "isoline": (2, 0),
    "triangle": (3, 1),
    "quad": (4, 2),
}
OUTPUTS = {
    "isoline": ("point", "line"),
    "triangle": ("point", "triangle_cw", "triangle_ccw"),
    "quad": ("point", "triangle_cw", "triangle_ccw"),
}
INNER_MINIMUM = 1 + 1 / ONE  # least inner factor if any factor is above 1
TWO_THIRDS = 0xAAAA
THIRD = 0x5555


class Tessellation(NamedTuple):
    """Points and primitives of a domain, as :func:`tessellate` returns them."""

    points: np.ndarray  # uint32, shape (n, 2): u and v, 1.16
    primitives: np.ndarray  # int64, shape (m, 1 to 3): indices of points, in order of emission


def tessellate(
    domain: str,
    outer: Sequence[float] | np.ndarray,
    inner: Sequence[float] | np.ndarray,
    partitioning: str,
    output: str,
) -> Tessellation:
    """Divide a domain.

    Parameters
    ----------
    domain : "isoline", "triangle" or "quad"
        Shape of the domain.
    outer : sequence of float
        Factors, read as float32. An isoline has the number of lines, and the segments of each. A
        triangle has those of the edges u = 0, v = 0, w = 0; a quad those of u = 0, v = 0, u = 1,
        v = 1.
    inner : sequence of float
        Factors inside: none, one, or two along u and v.
    partitioning : "integer", "pow2", "fractional_odd" or "fractional_even"
        Rounding of the factors. With pow2 they must be powers of two already.
    output : "point", "line", "triangle_cw" or "triangle_ccw"
        Kind of the primitives: lines of an isoline, triangles of the others, or points of any.

    Returns
    -------
    Tessellation
        It is empty if an outer factor is not above zero, or no number.

    Raises
    ------
    InputError
        A name is unknown, or a number of factors wrong.

    Source: [fs 11.7.10-14]; the order of points and triangles is D3D11's.
    """
    check_names(domain, partitioning, output)
    factors = [np.asarray(values, np.float32).reshape(-1) for values in (outer, inner)]
    for name, values, count in zip(("outer", "inner"), factors, FACTORS[domain], strict=True):
        if len(values) != count:
            raise InputError(f"{name} factors", f"be {count} for a {domain}", len(values))
    size = 1 if output == "point" else 2 if output == "line" else 3
    if not (factors[0] > 0).all():  # nor is NaN
        return Tessellation(np.zeros((0, 2), np.uint32), np.zeros((0, size), np.int64))
    points, primitives = _DOMAINS[domain](*_edges(domain, *factors, partitioning))
    points = np.asarray(points, np.uint32).reshape(-1, 2)
    if output == "point":
        return Tessellation(points, np.arange(len(points))[:, None])
    primitives = np.asarray(primitives, np.int64).reshape(-1, size)
    return Tessellation(
        points, primitives[:, [0, 2, 1]] if output == "triangle_ccw" else primitives
    )


def check_names(domain: str, partitioning: str, output: str) -> None:
    """Raise ``InputError`` for a name that :func:`tessellate` does not know."""
    for name, value, valid in (
        ("domain", domain, FACTORS),
        ("partitioning", partitioning, RANGES),
        ("output", output, OUTPUTS.get(domain, ())),
    ):
        if value not in valid:
            raise InputError(name, f"be one of {', '.join(valid)}", value)


def _edges(domain, outer, inner, partitioning):
    """Outer and inner edges of factors, which are clamped and rounded."""
    kinds = ["integer" if domain == "isoline" else partitioning, *[partitioning] * (len(outer) - 1)]
    outer = [_edge(factor, kind) for factor, kind in zip(outer, kinds, strict=True)]
    inner = [_edge(factor, partitioning) for factor in inner]
    if any(edge.factor > ONE for edge in (*outer, *inner)):
        inner = [
            _edge(INNER_MINIMUM, partitioning) if edge.factor == ONE else edge for edge in inner
        ]
    return outer, inner


def _edge(factor, partitioning):
    low, high = RANGES[partitioning]
    factor = low if np.isnan(factor) else min(max(factor, low), high)
    if partitioning in ("integer", "pow2"):
        segments = int(np.ceil(factor))
        return Edge(segments * ONE, bool(segments & 1))
    return Edge(int(np.rint(np.float64(factor) * ONE)), partitioning == "fractional_odd")


def _isoline(outer, _inner):
    lines = outer[0].places[:-1]
    u = outer[1].places
    count = len(lines) * len(u)
    return [(x, y) for y in lines for x in u], [
        (n, n + 1) for n in range(count) if (n + 1) % len(u)
    ]


def _triangle(outer, inner):
    if all(edge.count == 2 for edge in (*outer, *inner)):
        return [(0, ONE), (0, 0), (ONE, 0)], [(0, 1, 2)]
    first, second, third = (edge.places for edge in outer)
    rings = [
        [
            [(0, v) for v in first[::-1]],
            [(u, 0) for u in second],
            [(u, ONE - u) for u in third[::-1]],
        ]
    ]
    places = inner[0].places
    for n in range(1, len(places) // 2):
        inset = int(places[n]) * TWO_THIRDS + ONE // 2 >> 16
        along = places[n : len(places) - n] - (inset + 1) // 2
        rings.append(
            [
                [(inset, v) for v in along[::-1]],
                [(u, inset) for u in along],
                [(u, ONE - u - inset) for u in along[::-1]],
            ]
        )
    if len(places) % 2:
        rings.append([[(THIRD, THIRD)]] * 3)
    points, sides = _number(rings)
    faces = _between(sides, outer, [inner[0]] * 3)
    return points, faces if len(places) % 2 else [*faces, tuple(side[0] for side in sides[-1])]


def _quad(outer, inner):
    if all(edge.count == 2 for edge in (*outer, *inner)):
        return [(0, 0), (ONE, 0), (ONE, ONE), (0, ONE)], [(0, 1, 3), (1, 2, 3)]
    u, v = (edge.places for edge in inner)
    left, bottom, right, top = (edge.places for edge in outer)
    rings = [_rectangle(left, bottom, right, top, (0, ONE), (0, ONE))]
    for n in range(1, (min(len(u), len(v)) + 1) // 2):
        across = u[n : len(u) - n]
        along = v[n : len(v) - n]
        rings.append(_rectangle(along, across, along, across, across[[0, -1]], along[[0, -1]]))
    points, sides = _number(rings)
    faces = _between(sides, outer, [inner[1], inner[0]] * 2)
    left, bottom, right, top = sides[-1]
    wide = len(bottom) - 1
    high = len(left) - 1
    if wide > high > 0:  # a row of squares remains within the last ring
        faces += triangles("mi" * wide, bottom, top[::-1])
    elif high and wide:
        faces += triangles(
            "oi" * (high // 2) + "ao" + "oi" * (high // 2) if high % 2 else "mi" * high,
            left,
            right[::-1],
        )
    return points, faces


def _rectangle(left, bottom, right, top, u, v):
    """Sides of a ring, counter-clockwise from its upper left corner.

    ``left``, ``bottom``, ``right`` and ``top`` are the points' positions along each side, ``u`` and
    ``v`` the ends of the ring.
    """
    return [
        [(u[0], y) for y in left[::-1]],
        [(x, v[0]) for x in bottom],
        [(u[1], y) for y in right],
        [(x, v[1]) for x in top[::-1]],
    ]


def _number(rings):
    """Points of rings in their order, and the points' numbers on each side, both ends included.

    The innermost ring may be a line, which is walked forth and back, or a point.
    """
    points = []
    numbers = []
    for sides in rings:
        first = len(points)
        lengths = [len(side) - 1 for side in sides]
        if all(lengths):
            points += [point for side in sides for point in side[:-1]]
            around = [*range(first, len(points)), first]
            at = np.cumsum([0, *lengths])
        else:
            line = max(sides[:2], key=len)
            points += line
            forth = list(range(first, len(points)))
            around = forth + forth[-2::-1]
            at = np.cumsum([0, *lengths])
        numbers.append(
            [
                around[begin : begin + length + 1]
                for begin, length in zip(at[:-1], lengths, strict=True)
            ]
        )
    return points, numbers


def _between(rings, outer, inner):
    """Triangles between each ring and the next, side by side.

    The outermost ring is divided by factors of its own.
    """
    faces = []
    for n, (outside, inside) in enumerate(pairwise(rings)):
        for outer_side, inner_side, outer_edge, inner_edge in zip(
            outside, inside, outer, inner, strict=True
        ):
            steps = even_strip(len(inner_side) - 1) if n else strip(inner_edge, outer_edge)
            faces += triangles(steps, outer_side, inner_side)
    return faces


_DOMAINS = {"isoline": _isoline, "triangle": _triangle, "quad": _quad}
