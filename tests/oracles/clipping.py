# SPDX-License-Identifier: BSD-2-Clause
"""Triangles cut by planes in exact rationals, as [fs 15.4] has the volume."""

from fractions import Fraction

GUARD_BAND = 32767  # pixels


def fractions(vertex):
    return [Fraction(float(value)) for value in vertex]


def planes(viewport, depth_clip=True):
    """Planes that cut, each a function of an exact vertex."""
    half_x = Fraction(viewport.width) / 2
    half_y = Fraction(viewport.height) / 2
    x = Fraction(viewport.x) + half_x
    y = Fraction(viewport.y) + half_y
    ends = [lambda v: v[2], lambda v: v[3] - v[2]] if depth_clip else [lambda v: v[3]]
    return [
        *ends,
        lambda v: half_x * v[0] + (GUARD_BAND + x) * v[3],
        lambda v: -half_x * v[0] + (GUARD_BAND - x) * v[3],
        lambda v: -half_y * v[1] + (GUARD_BAND + y) * v[3],
        lambda v: half_y * v[1] + (GUARD_BAND - y) * v[3],
    ]


def exact_polygon(triangle, cutting):
    """A triangle cut in exact arithmetic: vertices of the view and weights of its corners."""
    polygon = [
        (fractions(vertex), [Fraction(n == k) for n in range(len(triangle))])
        for k, vertex in enumerate(triangle)
    ]
    for plane in cutting:
        out = []
        for (a, weights_a), (b, weights_b) in zip(polygon, polygon[1:] + polygon[:1], strict=True):
            da = plane(a)
            db = plane(b)
            if da >= 0:
                out.append((a, weights_a))
            if (da >= 0) != (db >= 0):
                t = da / (da - db)
                mix = [
                    [p + t * (q - p) for p, q in zip(start, end, strict=True)]
                    for start, end in ((a, b), (weights_a, weights_b))
                ]
                out.append(tuple(mix))
        polygon = out
    return polygon


def pixel(vertex, viewport):
    """Where an exact vertex is projected to, pixels."""
    x, y, _, w = vertex
    half_x = Fraction(viewport.width) / 2
    half_y = Fraction(viewport.height) / 2
    return (
        x / w * half_x + half_x + Fraction(viewport.x),
        half_y - y / w * half_y + Fraction(viewport.y),
    )
