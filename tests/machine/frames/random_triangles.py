# SPDX-License-Identifier: BSD-2-Clause
"""Triangles for the naive renderer: large, tiny, without area, beyond the target, repeated."""

import math
import random
import struct

from fixfunc.spec.dxgi import Format
from tests.oracles.naive_frame.scene import Vertex

SHAPES = (
    *("any", "any", "any", "large", "large", "large", "large", "again", "again", "grid"),
    *("tiny", "thin", "point", "line", "beyond", "cut", "cut"),
)
ODD = math.nan, math.inf, -math.inf


def float32(value: float) -> float:
    """The nearest float32."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def triangles(
    rng: random.Random,
    count: int,
    colours: list[Format],
    planes: list[float],
    before: list[tuple[Vertex, ...]],
    clips: bool,
) -> tuple[tuple[Vertex, Vertex, Vertex], ...]:
    """Triangles of a draw, above w = 0 unless it ``clips``; ``planes``: depths they share."""
    out = []
    for _ in range(count):
        shape = rng.choice(SHAPES)
        same = [its for its in before if clips or min(v.position[3] for v in its) > 0]
        if shape == "again" and same:
            positions = [vertex.position for vertex in rng.choice(same)]
        elif shape == "cut" and clips:
            positions = _cut(rng)
        else:
            positions = _positions(rng, shape, planes)
        attributes = _attributes(rng, colours)
        corners = zip(positions, attributes, strict=True)
        out.append(tuple(Vertex(place, values) for place, values in corners))
    return tuple(out)


def _cut(rng):
    """Corners in front of the near plane, behind the eye, and beyond the far plane."""
    near, far = 0.5, rng.choice((3.0, 100.0))
    out = []
    for _ in range(3):
        w = rng.uniform(-1, 5)
        z = far / (far - near) * (w - near)
        out.append(tuple(float32(its) for its in (rng.uniform(-2, 2), rng.uniform(-2, 2), z, w)))
    return out


def _positions(rng, shape, planes):
    points = _points(rng, shape)
    depths = rng.choice(("flat", "flat", "any", "ends", "beyond"))
    near = rng.choice(planes)
    choices = (1.0, 0.5, 4.0, 100.0, rng.uniform(0.1, 10))
    one_w = rng.choice((None, None, 1.0))
    out = []
    for x, y in points:
        w = float32(one_w or rng.choice(choices))
        z = {"flat": near, "any": rng.random(), "ends": rng.choice((0.0, 1.0))}
        z = z.get(depths, rng.choice((-1e9, -0.25, 0.5, 1.5, 3e9)))
        *place, depth = (float32(value * w) for value in (x, y, z))
        if depths != "beyond":
            depth = min(max(depth, 0.0), w)
        out.append((*place, depth, w))
    return out


def _points(rng, shape):
    """Corners, normalised: the target is -1 to 1."""

    def point(low=-1.2, high=1.2):
        return rng.uniform(low, high), rng.uniform(low, high)

    if shape == "large":
        return rng.choice(
            (
                [(-1, 3), (3, -1), (-1, -1)],
                [(-1, -1), (-1, 1), (1, 1)],
                [point(-9, 9) for _ in range(3)],
            )
        )
    if shape == "grid":  # corners of pixels, their centres, halves of them
        step = rng.choice((32, 64, 128))
        return [tuple(rng.randint(-step, step) / step for _ in range(2)) for _ in range(3)]
    if shape == "beyond":
        x, y = rng.choice(((1.02, 0), (-3, 0), (0, 1.1), (0.9, 0.9), (-1, -1)))
        return [(x + dx, y + dy) for dx, dy in (point(0, 2), point(0, 2), point(-0.1, 0.1))]
    x, y = point()
    if shape == "tiny":
        size = rng.choice((0.02, 0.05, 0.15))
        return [(x + dx, y + dy) for dx, dy in (point(-size, size) for _ in range(3))]
    if shape == "point":
        return [(x, y), (x, y), point()]
    if shape == "line":
        return [(-0.5, -0.5), (0, 0), (0.75, 0.75)]
    if shape == "thin":
        dx, dy = point(-0.02, 0.02)
        return [(x, y), (-x, -y), (dx - x, dy - y)]
    return [point() for _ in range(3)]


def _attributes(rng, colours):
    """Attributes of three corners: colours of targets, that of a second source, what steers."""
    count = max(len(colours), 2)
    out = []
    same = rng.random() < 0.2
    for _ in range(3):
        forms = [colours[min(n, len(colours) - 1)] if colours else None for n in range(count)]
        row = [_colour(rng, form) for form in forms]
        steers = [float32(rng.choice((0.0, 1.0, rng.uniform(-1, 1.5)))) for _ in range(4)]
        if rng.random() < 0.1:
            steers[1] = rng.choice(ODD)
        row.append(tuple(steers))
        out.append(out[0] if same and out else tuple(row))
    return out


def _colour(rng, form):
    if form is not None and form.name.endswith("UINT") and rng.random() < 0.7:
        bits = [rng.choice((0, 1, 255, 256, rng.randrange(256), 1 << 30)) for _ in range(4)]
        return tuple(struct.unpack("<4f", struct.pack("<4I", *bits)))
    values = (0.0, 1.0, 0.5, -1.0, 2.0, 1e-3)
    if form is not None and form.name.endswith("FLOAT"):
        values += (65519.0, 65520.0, -1e30, 6e-5, 3e-8, 1e-38, -0.0)
    if rng.random() < 0.05:
        values += ODD
    return tuple(
        float32(rng.choice((*values, *[rng.uniform(-0.5, 1.5) for _ in values]))) for _ in range(4)
    )
