# SPDX-License-Identifier: BSD-2-Clause
"""Expansion: points, lines and wireframes become triangles, or pixels."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.topology import ragged
from fixfunc.models.geometry.viewport import snap
from fixfunc.models.lib import float32
from fixfunc.spec.errors import InputError

PIXEL = 256  # of a position's units
HALF = PIXEL // 2
WIDTHS = (1.4, 1.0)  # of rectangular lines: D3D11's [fs 3.4.5], and the documents' [trip 6]
# Points of a pixel, of which antialiased lines cover some: no two share a row or a column.
GRID = [(32 * n + 4 * k + 2, 32 * k + 4 * (7 - n) + 2) for k in range(8) for n in range(8)]
Z_PATTERN = np.array([[0, 1, 3], [1, 2, 3]])  # of a quad, clockwise from its upper left corner


class Quads(NamedTuple):
    """Two triangles for each of m primitives, clockwise on the screen."""

    positions: np.ndarray  # int32, shape (m, 2, 3, 2): s15.8
    vertices: np.ndarray  # intp, shape (2, 3): whose attributes each corner has
    source: np.ndarray  # intp, shape (m,): the primitive


class Pixels(NamedTuple):
    """Pixels that lines hit: all of their samples."""

    x: np.ndarray  # int64, shape (m,)
    y: np.ndarray
    source: np.ndarray  # intp, shape (m,): the line


def points(screen: np.ndarray) -> Quads:
    """Squares of one pixel around points.

    Parameters
    ----------
    screen : ndarray of float32, shape (n, 2)
        Pixels.

    Returns
    -------
    Quads
        Every corner has the attributes of the point.

    Source: [fs 3.4.6]. Half a pixel is a whole number of units: the centre is snapped.
    """
    centre = snap(screen)[:, None]
    offsets = np.array([(-HALF, -HALF), (HALF, -HALF), (HALF, HALF), (-HALF, HALF)], np.int32)
    corners = centre + offsets
    return Quads(corners[:, Z_PATTERN], np.zeros((2, 3), np.intp), np.arange(len(screen)))


def rectangles(screen: np.ndarray, width: float = WIDTHS[0]) -> Quads:
    """Rectangles around lines: their ends are at right angles to them.

    Parameters
    ----------
    screen : ndarray of float32, shape (n, 2, 2)
        Ends of lines, pixels.
    width : float
        Pixels: one of :data:`WIDTHS`.

    Returns
    -------
    Quads
        Each corner has the attributes of the end that it belongs to. A line of no length has none.

    Raises
    ------
    InputError
        Another width.

    Source: [fs 3.4.5], [trip 6]. In float32: s = dx dx + (dy dy), the sum with its first product
    rounded once; (width / 2) / sqrt(s); its products with -dy and dx; the sums with the ends, which
    are snapped. Both triangles share the snapped diagonal.
    """
    if width not in WIDTHS:
        raise InputError("width", f"be one of {WIDTHS}", width)
    screen = np.asarray(screen, np.float32)
    step = float32.subtract(screen[:, 1], screen[:, 0])
    dx = step[:, 0]
    dy = step[:, 1]
    length = np.sqrt(float32.multiply_add(dx, dx, float32.multiply(dy, dy)))
    source = np.flatnonzero(length > 0)
    scale = float32.divide(np.float32(width / 2), length[source])
    normal = np.stack(
        [float32.multiply(-dy[source], scale), float32.multiply(dx[source], scale)], 1
    )
    start = screen[source, 0]
    end = screen[source, 1]
    corners = snap(
        np.stack(
            [
                float32.subtract(start, normal),
                float32.subtract(end, normal),
                float32.add(end, normal),
                float32.add(start, normal),
            ],
            1,
        )
    )
    ends = np.array([0, 1, 1, 0])
    return Quads(corners[:, Z_PATTERN], ends[Z_PATTERN], source)


def wireframe(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lines of triangles whose edges are drawn.

    Parameters
    ----------
    edges : ndarray of uint8, shape (n,)
        Bit k: the edge from corner k to the next one is an edge of the primitive [fs 15.13].

    Returns
    -------
    source : ndarray of intp, shape (m,)
        The triangle, in order.
    ends : ndarray of intp, shape (m, 2)
        Corners of it.
    """
    source, first = np.nonzero(np.asarray(edges)[:, None] >> np.arange(3) & 1)
    return source, np.stack([first, (first + 1) % 3], 1)


def aliased(ends: np.ndarray) -> Pixels:
    """Pixels of lines without width, by diamond exit.

    Parameters
    ----------
    ends : ndarray of int, shape (n, 2, 2)
        Snapped, s15.8: where each line begins, and where it ends.

    Returns
    -------
    Pixels
        A pixel is hit if the line leaves its diamond: the points less than half a pixel from the
        centre, as ``|x| + |y|``. The lower edges and the lower corner are part of it; for lines
        that run rather down than across the right corner is, too. So lines that follow one another
        hit no pixel twice.

    Source: [fs 3.4.3]. Exact, in integers.
    """
    ends = np.asarray(ends, np.int64)
    distance = np.abs(ends[:, 1] - ends[:, 0])
    is_steep = distance[:, 1] > distance[:, 0]
    # Along the longer axis, and across it.
    along = np.where(is_steep[:, None], ends[..., 1], ends[..., 0])
    across = np.where(is_steep[:, None], ends[..., 0], ends[..., 1])
    first = (along.min(1) - 1) // PIXEL  # an end may be the lower corner of the pixel before
    counts = np.where(distance.any(1), along.max(1) // PIXEL - first + 1, 0)
    line, step = ragged(counts)
    column = first[line] + step
    centre = column * PIXEL + HALF

    # Where the line crosses the middle of the column: the lower half of a pixel's end is its own.
    run = along[line, 1] - along[line, 0]
    rise = across[line, 1] - across[line, 0]
    numerator = across[line, 0] * run + rise * (centre - along[line, 0])
    sign = np.where(run < 0, -1, 1)
    row = -(-(numerator * sign) // (np.abs(run) * PIXEL)) - 1

    middle = row * PIXEL + HALF
    steep = is_steep[line]
    centre_x = np.where(steep, middle, centre)
    centre_y = np.where(steep, centre, middle)
    begins = _in_diamond(ends[line, 0], centre_x, centre_y, steep)
    finishes = _in_diamond(ends[line, 1], centre_x, centre_y, steep)
    begins |= sign * along[line, 0] < sign * centre
    leaves = ~finishes & (sign * along[line, 1] > sign * centre)
    hit = np.flatnonzero(begins & leaves)
    return Pixels(centre_x[hit] // PIXEL, centre_y[hit] // PIXEL, line[hit])


def antialiased(screen: np.ndarray) -> tuple[Pixels, np.ndarray]:
    """Pixels that lines of one pixel's width touch, and how much of each they cover.

    Parameters
    ----------
    screen : ndarray of float32, shape (n, 2, 2)
        Ends of lines, pixels.

    Returns
    -------
    Pixels
    coverage : ndarray of float32, shape (m,)
        How many of the points of :data:`GRID` lie in the line's rectangle, in 64ths; above 0.

    Source: [fs 3.4.4], which leaves the filter open.
    """
    quads = rectangles(screen, WIDTHS[1])
    ends = snap(screen)[quads.source].astype(np.int64)
    quad = quads.positions.astype(np.int64)
    corners = np.stack([quad[:, 0, 0], quad[:, 0, 1], quad[:, 1, 1], quad[:, 0, 2]], 1)
    distance = np.abs(ends[:, 1] - ends[:, 0])
    axis = (distance[:, 1] > distance[:, 0]).astype(np.intp)
    row = np.arange(len(ends))
    extent = corners[row, :, axis] // PIXEL
    first = extent.min(1)
    last = extent.max(1)
    line, step = ragged(last - first + 1)
    column = first[line] + step
    run = ends[line, 1, axis[line]] - ends[line, 0, axis[line]]
    rise = ends[line, 1, 1 - axis[line]] - ends[line, 0, 1 - axis[line]]
    along_line = column * PIXEL + HALF - ends[line, 0, axis[line]]
    # About where the line crosses the column: no rectangle reaches two pixels beyond.
    crossing = ends[line, 0, 1 - axis[line]] + along_line * rise // np.where(run == 0, 1, run)
    middle = crossing // PIXEL
    across = middle[:, None] + np.arange(-2, 3)
    along_it = np.broadcast_to(column[:, None], across.shape)
    steep = axis[line][:, None] == 1
    x = np.where(steep, across, along_it)
    y = np.where(steep, along_it, across)
    counts = _points_within(corners[line], x, y)
    hit = np.nonzero(counts)
    pixels = Pixels(x[hit], y[hit], quads.source[line[hit[0]]])
    return pixels, (counts[hit] / len(GRID)).astype(np.float32)


def _points_within(corners, x, y):
    """How many of a pixel's points lie within a clockwise quadrangle: shape of x and y."""
    counts = np.zeros(x.shape, np.int64)
    for point_x, point_y in GRID:
        at_x = x * PIXEL + point_x
        at_y = y * PIXEL + point_y
        inside = np.ones(x.shape, bool)
        for k in range(4):
            begin = corners[:, k, None]
            side = corners[:, (k + 1) % 4, None] - begin
            inside &= (
                side[..., 0] * (at_y - begin[..., 1]) - side[..., 1] * (at_x - begin[..., 0]) >= 0
            )
        counts += inside
    return counts


def along(ends: np.ndarray, pixels: Pixels) -> np.ndarray:
    """How far along its line each pixel lies: float32, shape (m,), 0 to 1.

    Of the longer axis, the centre's place between the ends, to the nearest; ``ends`` are those of
    :func:`aliased`.
    """
    ends = np.asarray(ends, np.int64)[pixels.source]
    step = ends[:, 1] - ends[:, 0]
    axis = (np.abs(step[:, 1]) > np.abs(step[:, 0])).astype(np.intp)
    row = np.arange(len(ends))
    centre = np.where(axis == 1, pixels.y, pixels.x) * PIXEL + HALF
    # Two integers below 2^26: their quotient in float64 rounds to the same float32 as the exact.
    share = (centre - ends[row, 0, axis]) / step[row, axis]
    return np.clip(share, 0, 1).astype(np.float32)


def squares(pixels: Pixels) -> np.ndarray:
    """Two triangles for each pixel, its whole area: int32, shape (m, 2, 3, 2)."""
    corner = np.stack([pixels.x, pixels.y], -1)[:, None] * PIXEL
    offsets = np.array([(0, 0), (PIXEL, 0), (PIXEL, PIXEL), (0, PIXEL)])
    return (corner + offsets).astype(np.int32)[:, Z_PATTERN]


def _in_diamond(point, centre_x, centre_y, steep):
    """Whether points lie in the diamonds of pixels."""
    dx = point[:, 0] - centre_x
    dy = point[:, 1] - centre_y
    reach = np.abs(dx) + np.abs(dy)
    return (reach < HALF) | ((reach == HALF) & ((dy > 0) | (steep & (dx == HALF))))
