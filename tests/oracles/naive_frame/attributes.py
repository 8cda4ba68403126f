# SPDX-License-Identifier: BSD-2-Clause
"""Weights of corners at a position, attributes by them.

Source: docs/numerics.md, docs/pixel/interpolator.md and pixel_stage.md.
"""

import math

from tests.oracles.naive_frame import float32
from tests.oracles.naive_frame.clipping import WHOLE
from tests.oracles.naive_frame.triangles import Triangle

SUM = 34  # bits of a normalised sum
WEIGHT = 26  # fraction bits of a weight
END = 1 << WEIGHT + 8


def _edges(triangle, x, y):
    """Edge functions at 1/256 pixel, each of the edge across a corner; inside, none is negative."""
    out = []
    for k in range(3):
        (ax, ay), (bx, by) = triangle.corners[(k + 1) % 3], triangle.corners[(k + 2) % 3]
        value = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        out.append(value if triangle.area > 0 else -value)
    return out


def weights(triangle: Triangle, x: int, y: int, perspective: bool) -> tuple[int, int]:
    """Weights of the second and the third corner at a position in 1/256 pixel: s8.26."""
    products = _edges(triangle, x, y)
    if perspective:
        mantissas, exponents = zip(*(math.frexp(value) for value in triangle.rhw), strict=True)
        most = max(exponents)
        products = [
            edge * int(mantissa * (1 << 24)) << 24 >> most - exponent
            for edge, mantissa, exponent in zip(products, mantissas, exponents, strict=True)
        ]
    total = max(sum(products), 1)
    down = total.bit_length() - SUM
    reciprocal = (1 << SUM + WEIGHT) // _shifted(total, down)
    out = []
    for product in products[1:]:
        value = _shifted(product, down) * reciprocal >> SUM
        out.append(max(-END, min(END - 1, value)))
    return out[0], out[1]


def _shifted(value, down):
    """A number shifted to the right, cut, or to the left."""
    return value >> down if down >= 0 else value << -down


def _of_primitive(triangle, shares):
    """Weights of the primitive's second and third corner, of those of a triangle's corners."""
    second, third = shares
    first = (1 << WEIGHT) - second - third
    numbers = [float32.rounded(share, -WEIGHT) if share else 0.0 for share in (first, *shares)]
    if triangle.weights == WHOLE:
        return numbers[1:]
    out = []
    for k in (1, 2):
        its = [weights[k] for weights in triangle.weights]
        value = float32.multiply(numbers[0], its[0])
        for number, weight in zip(numbers[1:], its[1:], strict=True):
            value = float32.multiply_add(number, weight, value)
        out.append(value)
    return out


def attribute(triangle: Triangle, number: int, mode: str, x: int, y: int) -> tuple[float, ...]:
    """An attribute at a position in 1/256 pixel."""
    first, second, third = (values[number] for values in triangle.values)
    if mode == "constant":
        return first
    u, v = _of_primitive(triangle, weights(triangle, x, y, mode.startswith("perspective")))
    return tuple(
        float32.multiply_add(
            v,
            float32.subtract(c, a),
            float32.multiply_add(u, float32.subtract(b, a), a),
        )
        for a, b, c in zip(first, second, third, strict=True)
    )
