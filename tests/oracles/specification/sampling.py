# SPDX-License-Identifier: BSD-2-Clause
"""Levels of detail, ideal ones [fs 7.18.11]. Roots and logarithms are float64."""

import math
from collections.abc import Sequence

Vector = Sequence[float]  # gradients in texels


def isotropic(dx: Vector, dy: Vector) -> float:
    """log2 of the longer gradient."""
    return math.log2(max(math.hypot(*dx), math.hypot(*dy)))


def ellipse(dx: Vector, dy: Vector) -> tuple[float, float]:
    """Lengths of the axes of the ellipse that two gradients make, the greater first."""
    a = dx[1] ** 2 + dy[1] ** 2
    b = -2 * (dx[0] * dx[1] + dy[0] * dy[1])
    c = dx[0] ** 2 + dy[0] ** 2
    f = (dx[0] * dy[1] - dy[0] * dx[1]) ** 2
    p, q = a - c, a + c
    t = math.hypot(p, b)
    # new_dX and new_dY: squares of their u and v added, t cancels.
    return math.sqrt(2 * f / (q - t)), math.sqrt(2 * f / (q + t))


def anisotropic(dx: Vector, dy: Vector, most: int) -> float:
    """log2 of the minor axis, or of the major one by the greatest ratio of anisotropy."""
    major, _ = ellipse(dx, dy)
    determinant = abs(dx[0] * dy[1] - dx[1] * dy[0])
    ratio = major * major / determinant
    return math.log2(major / most if ratio > most else determinant / major)


def clamped(level: float, bias: float, low: float, high: float) -> float:
    """Biased, and within bounds, of which the lower prevails."""
    return max(low, min(high, level + bias))
