# SPDX-License-Identifier: BSD-2-Clause
"""Weights of corners at a position, attributes by them.

Source: docs/numerics.md, docs/pixel/interpolator.md and pixel_stage.md.
"""

import math
from fractions import Fraction

from tests.oracles.naive_frame import float32
from tests.oracles.naive_frame.clipping import WHOLE
from tests.oracles.naive_frame.triangles import Triangle

SUM = 28  # bits of a normalised sum
WEIGHT = 24  # fraction bits of a weight
RECIPROCAL = 54  # the sum divides this power of two
END = 1 << SUM + 8


def _edges(triangle, x, y):
    """Edge functions at 1/256 pixel, each of the edge across a corner; inside, none is negative."""
    out = []
    for k in range(3):
        (ax, ay), (bx, by) = triangle.corners[(k + 1) % 3], triangle.corners[(k + 2) % 3]
        value = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        out.append(value if triangle.area > 0 else -value)
    return out


def weights(triangle: Triangle, x: int, y: int, perspective: bool) -> tuple[int, int]:
    """Weights of the primitive's second and third corner at a position in 1/256 pixel: 2^-24."""
    shares = [1 << 31] * 3
    if perspective:
        mantissas, exponents = zip(*(math.frexp(value) for value in triangle.rhw), strict=True)
        most = max(exponents)
        shares = [
            int(mantissa * (1 << 32)) >> most - exponent
            for mantissa, exponent in zip(mantissas, exponents, strict=True)
        ]
    edges = _edges(triangle, x, y)
    total = max(sum(edge * share for edge, share in zip(edges, shares, strict=True)), 1)
    down = total.bit_length() - SUM
    reciprocal = (1 << RECIPROCAL) // _shifted(total, down)
    found = []
    for k in (1, 2):
        if triangle.weights == WHOLE:
            product = edges[k] * shares[k]
        else:
            product = sum(
                edge * math.floor(share * Fraction(its[k]) + Fraction(1, 2))
                for edge, share, its in zip(edges, shares, _fixed(triangle), strict=True)
            )
        found.append(max(-END, min(END - 1, _shifted(product, down))))
    units = 0
    while not all(-1 << SUM + units <= value < 1 << SUM + units for value in found):
        units += 1
    cut = RECIPROCAL - WEIGHT
    u, v = (((value >> units) * reciprocal + (1 << cut - 1) >> cut) << units for value in found)
    return u, v


def _fixed(triangle):
    """Weights of the primitive's corners at those of a triangle: multiples of 2^-24."""
    return [
        [Fraction(round(Fraction(weight) * (1 << 24)), 1 << 24) for weight in its]
        for its in triangle.weights
    ]


def _shifted(value, down):
    """A number shifted to the right, cut, or to the left."""
    return value >> down if down >= 0 else value << -down


def attribute(triangle: Triangle, number: int, mode: str, x: int, y: int) -> tuple[float, ...]:
    """An attribute at a position in 1/256 pixel."""
    first, second, third = (values[number] for values in triangle.values)
    if mode == "constant":
        return first
    u, v = weights(triangle, x, y, mode.startswith("perspective"))
    return tuple(_between(corners, u, v) for corners in zip(first, second, third, strict=True))


def _between(corners, u, v):
    """One component at weights of 2^-24."""
    if not all(map(math.isfinite, corners)):
        return math.nan
    corners = [float32.flushed(value) for value in corners]
    if not any(corners):
        return 0.0
    unit = max(math.frexp(value)[1] for value in corners if value) - 24
    a, b, c = (_nearest(value, unit) for value in corners)
    total = (a << WEIGHT) + u * (b - a) + v * (c - a)
    return float32.rounded(total, unit - WEIGHT) if total else 0.0


def _nearest(value, unit):
    """A float32 as a multiple of 2^unit; of two the one further from zero."""
    over, under = math.ldexp(value, -unit).as_integer_ratio()  # of integers, exactly
    magnitude = (2 * abs(over) + under) // (2 * under)
    return magnitude if value > 0 else -magnitude
