# SPDX-License-Identifier: BSD-2-Clause
"""Facing, culls, samples, leading vertices, depth biases and clamps [fs 3.4, 8, 15, 17]."""

import math
from collections.abc import Sequence
from fractions import Fraction

from tests.oracles.specification import numbers
from tests.oracles.specification.numbers import Interval

# Figures of [fs 19.2.4]: sixteenths of a pixel from its centre, x to the right, y down.
SAMPLES = {
    1: [(0, 0)],
    2: [(4, 4), (-4, -4)],
    4: [(-2, -6), (6, -2), (-6, 2), (2, 6)],
    8: [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)],
}
MANTISSA = 23  # bits of float32, without the hidden one
# Where a list's primitives begin, or a strip's, and which vertex of one is not adjacent
# [fs 8.10, 8.14, 8.15]: step, first.
LEADING = {
    "POINT_LIST": (1, 0),
    "LINE_LIST": (2, 0),
    "LINE_STRIP": (1, 0),
    "TRIANGLE_LIST": (3, 0),
    "TRIANGLE_STRIP": (1, 0),
    "LINE_LIST_ADJ": (4, 1),
    "LINE_STRIP_ADJ": (1, 1),
    "TRIANGLE_LIST_ADJ": (6, 0),
    "TRIANGLE_STRIP_ADJ": (2, 0),
}

Corner = tuple[int, int]  # 1/256 pixel, y down


def area(corners: Sequence[Corner]) -> int:
    """Twice the area; above zero, if corners run clockwise on the screen, whose y points down."""
    (x0, y0), (x1, y1), (x2, y2) = corners
    return (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)


def is_front(corners: Sequence[Corner], front_ccw: bool) -> bool:
    """FrontCounterClockwise says which way faces front; what has no area faces back
    [fs 15.11-15.12].
    """
    twice = area(corners)
    return twice != 0 and (twice < 0) == front_ccw


def is_culled(front: bool, cull: str) -> bool:
    """CullMode: NONE, FRONT or BACK [fs 15.11]."""
    return cull == ("FRONT" if front else "BACK")


def covered(corners: Sequence[Corner], pixel: tuple[int, int], samples: int) -> int:
    """Samples of a pixel in a triangle, a bit each: inside, or on a top or a left edge
    [fs 3.4.2, 3.4.2.1].
    """
    if area(corners) == 0:
        return 0
    if area(corners) < 0:
        corners = corners[::-1]
    mask = 0
    for n, (dx, dy) in enumerate(SAMPLES[samples]):
        x = 256 * pixel[0] + 128 + 16 * dx
        y = 256 * pixel[1] + 128 + 16 * dy
        inside = True
        for k in range(3):
            (ax, ay), (bx, by) = corners[k], corners[(k + 1) % 3]
            side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
            top = by == ay and bx > ax
            left = by < ay
            inside &= side > 0 or (side == 0 and (top or left))
        mask |= inside << n
    return mask


def leading_vertex(topology: str, primitive: int) -> int:
    """The vertex that gives a primitive its constants: its first that is not adjacent [fs 8.14]."""
    step, first = LEADING[topology]
    return step * primitive + first


def plane(corners: Sequence[Corner], z: Sequence[Fraction]) -> tuple[Fraction, Fraction, Fraction]:
    """z at the origin, and how it changes a pixel to the right and down."""
    (x0, y0), (x1, y1), (x2, y2) = ((Fraction(x, 256), Fraction(y, 256)) for x, y in corners)
    twice = Fraction(area(corners), 256 * 256)
    dx = ((z[1] - z[0]) * (y2 - y0) - (z[2] - z[0]) * (y1 - y0)) / twice
    dy = ((z[2] - z[0]) * (x1 - x0) - (z[1] - z[0]) * (x2 - x0)) / twice
    return z[0] - dx * x0 - dy * y0, dx, dy


def bias(
    constant: int,
    slope_scaled: float,
    clamp: float,
    form: str,
    slopes: tuple[Fraction, Fraction],
    greatest: Fraction,
) -> Fraction:
    """Depth bias, as exact as its formula is [fs 15.10].

    ``form``: D16, D24 or D32F; ``slopes``: of z, a pixel to the right and down; ``greatest``: |z|
    of the primitive.
    """
    steep = max(abs(slope) for slope in slopes)
    if form == "D32F":
        step = Fraction(2) ** (_exponent(greatest) - MANTISSA)
    else:
        step = Fraction(1, (1 << (16 if form == "D16" else 24)) - 1)  # the least above zero
    found = constant * step + Fraction(slope_scaled) * steep
    if clamp > 0:
        return min(Fraction(clamp), found)
    return max(Fraction(clamp), found) if clamp < 0 else found


def _exponent(value):
    """exponent(max abs(z) in primitive); that of zero is the least."""
    return math.frexp(float(value))[1] - 1 if value else -126


def depth(z: Interval, ends: tuple[float, float], form: str) -> Interval:
    """Least and greatest that is stored: clamped to the viewport's range, then converted to the
    nearest, D16 and D24 within 0.6 of a unit [fs 17.10-17.11, 3.2.3.6]. D32F as a rational.
    """
    low, high = (Fraction(end) for end in ends)
    z = tuple(min(max(value, low), high) for value in z)
    if form == "D32F":
        return z
    found = numbers.stored(z, 16 if form == "D16" else 24, "UNORM")
    return Fraction(found.start), Fraction(found.stop - 1)
