# SPDX-License-Identifier: BSD-2-Clause
"""From clip space to snapped corners; edges, faces, planes of depths.

Source: docs/numerics.md, docs/geometry/viewport.md and triangle_setup.md.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Cull
from tests.oracles.naive_frame import float32
from tests.oracles.naive_frame.clipping import WHOLE, clipped
from tests.oracles.naive_frame.scene import SIZE, Draw, Vertex

MOST = (1 << 24) - 1  # units of D24
FLOATS = Format.D32_FLOAT, Format.D32_FLOAT_S8X24_UINT
WRAP = 1 << 36  # of slopes, units a pixel
FAR = 127.0  # depths end here, and at as much below zero


@dataclass(frozen=True)
class Triangle:
    """A triangle on the screen.

    ``corners``: 1/256 pixel; ``z``: 2^-8 of a unit; ``rhw``: 1/w; ``area``: twice, above zero if it
    is clockwise; ``values``: attributes of the primitive's corners; ``weights``: of those at
    each corner; ``exponent``: of D32F, whose unit is
    2^(exponent - 150).
    """

    corners: tuple[tuple[int, int], ...]
    z: tuple[int, ...]
    rhw: tuple[float, ...]
    area: int
    values: tuple[tuple[tuple[float, ...], ...], ...]
    exponent: int
    is_front: bool
    weights: tuple[tuple[float, ...], ...]


def screen(position: tuple[float, ...], viewport: tuple[float, ...]) -> tuple[float, ...]:
    """x, y, z after division and viewport, and 1/w: float32."""
    x, y, z, w = position
    left, top, width, height, near, far = viewport
    rhw = float32.reciprocal(w)
    x, y, z = (float32.multiply(value, rhw) for value in (x, y, z))
    half_width = float32.multiply(width, 0.5)
    half_height = float32.multiply(height, 0.5)
    return (
        float32.multiply_add(x, half_width, float32.add(left, half_width)),
        float32.multiply_add(y, -half_height, float32.add(top, half_height)),
        float32.multiply_add(z, float32.subtract(far, near), near),
        rhw,
    )


def snapped(value: float) -> int:
    """A coordinate in 1/256 pixel, to the nearest, ties to even."""
    if math.isinf(value):
        return (1 << 23) - 1 if value > 0 else -(1 << 23)
    return max(-(1 << 23), min((1 << 23) - 1, round(Fraction(value) * 256)))


def rejected(positions: list[tuple[float, ...]], depth_clip: bool) -> bool:
    """All corners lie outside of one plane of the view volume."""
    for axis in (0, 1, 2) if depth_clip else (0, 1):
        low = 0 if axis == 2 else -1
        if all(at[axis] < low * at[3] for at in positions):
            return True
        if all(at[axis] > at[3] for at in positions):
            return True
    return False


def block_depths(depths: list[float]) -> tuple[tuple[int, ...], int]:
    """Depths of D32F under the greatest exponent, or that of 1.0: 2^-8 units, cut; the exponent."""
    depths = [float32.flushed(depth) for depth in depths]
    exponent = min(max(float32.bits_of(abs(depth)) >> 23 for depth in depths), 127)
    unit = Fraction(2) ** (exponent - 150)
    return tuple(math.trunc(Fraction(depth) / unit * 256) for depth in depths), exponent


def set_up(corners: tuple[Vertex, ...], draw: Draw, depth: Format | None) -> list[tuple]:
    """Triangles of a primitive, each or None, and what became of it."""
    positions = [corner.position for corner in corners]
    if rejected(positions, draw.depth_clip):
        return [(None, "rejected")]
    values = tuple(corner.attributes for corner in corners)
    triangles = clipped(positions, draw.viewport, draw.depth_clip)
    found = [_set_up(triangle, values, draw, depth) for triangle in triangles]
    is_cut = [corner.weights for triangle in triangles for corner in triangle] != list(WHOLE)
    return [(triangle, f"cut {what}" if is_cut else what) for triangle, what in found]


def _set_up(corners, values, draw, depth):
    positions = [corner.position for corner in corners]
    at = [screen(position, draw.viewport) for position in positions]
    if any(math.isnan(value) for row in at for value in row[:3]):
        return None, "no number"
    points = tuple((snapped(x), snapped(y)) for x, y, _, _ in at)
    (x0, y0), (x1, y1), (x2, y2) = points
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    is_front = (area < 0) == draw.front_ccw
    face = "front" if is_front else "back"
    if area == 0:
        return None, "no area"
    if draw.cull == (Cull.FRONT if is_front else Cull.BACK):
        return None, f"{face} culled"
    depths = [min(max(z, -FAR), FAR) for _, _, z, _ in at]
    exponent = 0
    if depth in FLOATS:
        z, exponent = block_depths(depths)
    else:
        z = tuple(_units(Fraction(value), depth) for value in depths)
    weights = tuple(corner.weights for corner in corners)
    rhw = tuple(row[3] for row in at)
    return Triangle(points, z, rhw, area, values, exponent, is_front, weights), f"{face} drawn"


def _units(value, depth):
    """A depth in 2^-8 of a unit: the nearest, or its neighbour, which rounds as the depth does."""
    steps, unit = (MOST, MOST) if depth == Format.D24_UNORM_S8_UINT else (65535, 1 << 24)
    half = Fraction(1, 2)
    found = math.floor(value * unit * 256 + half)
    if not 0 <= value <= 1:
        return found
    found = min(found, MOST * 256)
    wanted = math.floor(value * steps + half)
    for units in (found, found - 1, found + 1):
        step = units << 4
        step = (
            (step + (1 << 11)) >> 12 if steps == MOST else (step - (step >> 16) + (1 << 19)) >> 20
        )
        if step == wanted:
            return units
    raise AssertionError(value)


def box(triangle: Triangle, draw: Draw) -> tuple[range, range]:
    """Pixels that may be drawn: columns and rows."""
    left, top, width, height = draw.viewport[:4]
    ends = [math.floor(left), math.floor(top)]
    ends += [math.floor(Fraction(left) + Fraction(width))]
    ends += [math.floor(Fraction(top) + Fraction(height))]
    rectangles = [(0, 0, SIZE, SIZE), tuple(ends)]
    if draw.scissor is not None:
        rectangles.append(draw.scissor)
    out = []
    for axis in (0, 1):
        values = [corner[axis] >> 8 for corner in triangle.corners]
        low = max(min(values) - 1, *(rectangle[axis] for rectangle in rectangles))
        high = min(max(values) + 2, *(rectangle[axis + 2] for rectangle in rectangles))
        out.append(range(low, high))
    return out[0], out[1]


class Plane:
    """The plane of a triangle's depths, in units: start and slopes are known to 2^-24."""

    def __init__(self, triangle: Triangle) -> None:
        (x0, y0), (x1, y1), (x2, y2) = triangle.corners
        z0, z1, z2 = triangle.z
        across = (z1 - z0) * (y2 - y0) - (z2 - z0) * (y1 - y0)
        down = (z2 - z0) * (x1 - x0) - (z1 - z0) * (x2 - x0)
        # Both determinants are of units and pixels, and the area of pixels: scales cancel.
        slopes = [(number << 24) // triangle.area for number in (across, down)]
        self.steep = any(not _fits(slope) for slope in slopes)
        self._x, self._y = (_signed(slope, WRAP << 24) for slope in slopes)
        self._corner = triangle.corners[0]
        self._z = z0
        # At a tile: 2^-8 of a unit a pixel, rounded half up.
        self.dx, self.dy = (
            _signed((slope + (1 << 15)) >> 16, WRAP << 8) for slope in (self._x, self._y)
        )

    def _start(self, x, y):
        """Depth at the centre of a tile's first pixel, 2^-8 of a unit."""
        dx = 256 * x + 128 - self._corner[0]
        dy = 256 * y + 128 - self._corner[1]
        exact = (self._z << 24) + self._x * dx + self._y * dy  # 2^-32 of a unit
        return ((exact >> 8) + (1 << 15)) >> 16

    def at(self, x: int, y: int, offset: tuple[int, int], shape: tuple[int, int]) -> int:
        """Depth of a pixel, ``offset`` 1/16 pixel from its centre: 2^-12 of a unit.

        ``shape``: pixels of a tile of 8 by 8 samples. It is known modulo 2^32 units, with a sign.
        """
        first_x, first_y = x - x % shape[0], y - y % shape[1]
        across = 16 * (x - first_x) + offset[0]
        down = 16 * (y - first_y) + offset[1]
        value = (self._start(first_x, first_y) << 4) + across * self.dx + down * self.dy
        return _signed(value, 1 << 44)


def _signed(value, modulus):
    """A number modulo another, with a sign."""
    return (value + modulus // 2) % modulus - modulus // 2


def _fits(slope):
    """A slope fits s23.24, and s23.8 when it is rounded."""
    most = 1 << 47
    return -most <= slope < most and -(1 << 31) <= (slope + (1 << 15)) >> 16 < 1 << 31
