# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from fixfunc.models.geometry.expand import (
    HALF,
    PIXEL,
    WIDTHS,
    aliased,
    antialiased,
    points,
    rectangles,
    wireframe,
)
from fixfunc.models.geometry.triangle_setup import TRIANGLE, setup
from fixfunc.models.geometry.viewport import snap
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.spec.errors import InputError
from tests.oracles.coverage import SIZE

NEAR = Fraction(2, PIXEL)  # llvmpipe rounds: a decision nearer than this is not compared


def image(pixels):
    """Pixels of the target, as they are hit: none twice."""
    out = np.zeros((SIZE, SIZE), int)
    on = (pixels.x >= 0) & (pixels.x < SIZE) & (pixels.y >= 0) & (pixels.y < SIZE)
    np.add.at(out, (pixels.y[on], pixels.x[on]), 1)
    assert out.max(initial=0) <= 1
    return out.astype(bool)


def naive_line(start, end):
    """Pixel by pixel, in rationals: where the line lies within the diamond, if it leaves it."""
    out = set()
    (x0, y0), (x1, y1) = start, end
    if start == end:
        return out
    is_steep = abs(y1 - y0) > abs(x1 - x0)
    reach = range(min(x0, x1, y0, y1) // PIXEL - 1, max(x0, x1, y0, y1) // PIXEL + 2)
    for x in reach:
        for y in reach:
            cx, cy = x * PIXEL + HALF, y * PIXEL + HALF

            def inside(t, cx=cx, cy=cy):
                dx = x0 + t * (x1 - x0) - cx
                dy = y0 + t * (y1 - y0) - cy
                total = abs(dx) + abs(dy)
                return total < HALF or (
                    total == HALF and (dy > 0 or (is_steep and dx == HALF and dy == 0))
                )

            # Where the line crosses the boundary, the axes of the diamond, and the ends.
            times = {Fraction(0), Fraction(1)}
            for sx in (-1, 1):
                for sy in (-1, 1):
                    slope = sx * (x1 - x0) + sy * (y1 - y0)
                    if slope:
                        times.add(Fraction(HALF - sx * (x0 - cx) - sy * (y0 - cy), slope))
            for a, b, c in ((x0, x1, cx), (y0, y1, cy)):
                if a != b:
                    times.add(Fraction(c - a, b - a))
            times = sorted(t for t in times if 0 <= t <= 1)
            between = [(a + b) / 2 for a, b in pairwise(times)]
            if any(inside(t) for t in (*times, *between)) and not inside(Fraction(1)):
                out.add((x, y))
    return out


# Points.


@pytest.mark.plan("expand-1")
def test_points_cover_what_llvmpipe_covers(llvmpipe):
    oracle = llvmpipe()
    rng = np.random.default_rng(0)
    state = draw_state(SIZE, SIZE)
    for n in range(200):
        centre = rng.integers(0, SIZE * PIXEL, 2) if n % 2 else rng.integers(0, 2 * SIZE, 2) * HALF
        quad = points((centre / PIXEL)[None].astype(np.float32))
        assert np.array_equal(drawn(quad, state), oracle.coverage([centre], "points")[..., 0])


def drawn(quads, state):
    """Pixels that triangles cover, each once."""
    triangles = np.zeros(2 * len(quads.source), TRIANGLE)
    corners = quads.positions.reshape(-1, 3, 2)
    for k in range(3):
        triangles[f"x{k}"] = corners[:, k, 0]
        triangles[f"y{k}"] = corners[:, k, 1]
    out = np.zeros((SIZE, SIZE), int)
    tiles, _ = rasterize(setup(triangles, state).records)
    for tile in tiles:
        bits = int(tile["mask"]) >> np.arange(64, dtype=object) & 1
        y, x = 8 * int(tile["y"]), 8 * int(tile["x"])
        out[y : y + 8, x : x + 8] += bits.reshape(8, 8).astype(int)
    assert out.max(initial=0) <= 1
    return out.astype(bool)


# Rectangular lines.


@pytest.mark.plan("expand-2")
@pytest.mark.parametrize("width", WIDTHS)
def test_rectangles_are_exact_ones_to_a_unit(width):
    rng = np.random.default_rng(1)
    screen = rng.uniform(-3000, 3000, (300, 2, 2)).astype(np.float32)
    screen[:50, 1] = screen[:50, 0] + rng.uniform(-2, 2, (50, 2))
    quads = rectangles(screen, width)
    assert quads.vertices.tolist() == [[0, 1, 0], [1, 1, 0]]
    # The diagonal is the same for both.
    assert np.array_equal(quads.positions[:, 0, 1], quads.positions[:, 1, 0])
    assert np.array_equal(quads.positions[:, 0, 2], quads.positions[:, 1, 2])
    ends = screen.astype(np.float64)
    step = ends[:, 1] - ends[:, 0]
    normal = np.stack([-step[:, 1], step[:, 0]], 1) / np.linalg.norm(step, axis=1)[:, None]
    for corner, end, side in ((0, 0, -1), (1, 1, -1), (2, 0, 1)):
        wanted = (ends[:, end] + side * normal * width / 2) * PIXEL
        assert np.abs(quads.positions[:, 0, corner] - wanted).max() < 0.6
    a, b = (quads.positions[:, 0, k].astype(int) - quads.positions[:, 0, 0] for k in (1, 2))
    area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    assert (area > 0).all()  # clockwise


@pytest.mark.plan("expand-2")
def test_a_rectangle_covers_each_sample_once():
    rng = np.random.default_rng(2)
    state = draw_state(SIZE, SIZE)
    covered = 0
    for line in rng.uniform(0, SIZE, (60, 1, 2, 2)).astype(np.float32):
        covered += drawn(rectangles(line), state).sum()
    assert covered > 500


@pytest.mark.plan("expand-2")
def test_lines_of_no_length_and_other_widths():
    same = np.ones((1, 2, 2), np.float32)
    assert len(rectangles(same).source) == 0
    with pytest.raises(InputError, match="width must be one of"):
        rectangles(same, 2.0)


# Wireframes.


@pytest.mark.plan("expand-3")
def test_wireframes_draw_edges_of_the_primitive_alone():
    source, ends = wireframe(np.array([0b111, 0b101, 0, 0b010], np.uint8))
    assert source.tolist() == [0, 0, 0, 1, 1, 3]
    assert ends.tolist() == [[0, 1], [1, 2], [2, 0], [0, 1], [2, 0], [1, 2]]


# Aliased lines.


def decides(start, end):
    """How near the line comes to another decision: where it crosses columns, and at its ends."""
    (x0, y0), (x1, y1) = start, end
    if abs(y1 - y0) > abs(x1 - x0):
        x0, y0, x1, y1 = y0, x0, y1, x1
    nearest = [Fraction(1)]
    for column in range(min(x0, x1) // PIXEL - 1, max(x0, x1) // PIXEL + 2):
        centre = column * PIXEL + HALF
        crossing = Fraction(y0) + Fraction(y1 - y0, x1 - x0) * (centre - x0)
        nearest.append(abs(crossing / PIXEL - round(crossing / PIXEL)))
    for x, y in (start, end):
        dx = abs(x % PIXEL - HALF)
        dy = abs(y % PIXEL - HALF)
        nearest.append(abs(Fraction(dx + dy - HALF, PIXEL)))
        nearest.append(Fraction(min(dx, dy), PIXEL))
    return min(nearest)


@pytest.mark.plan("expand-4")
def test_aliased_lines_hit_what_llvmpipe_hits(llvmpipe):
    oracle = llvmpipe()
    rng = np.random.default_rng(3)
    lines = 0
    while lines < 300:
        ends = rng.integers(0, SIZE * PIXEL, (2, 2))
        if lines % 2:
            ends[1] = np.clip(ends[0] + rng.integers(-600, 600, 2), 0, SIZE * PIXEL - 1)
        start, end = ends.tolist()
        if start[0] == end[0] or start[1] == end[1] or decides(start, end) < NEAR:
            continue
        lines += 1
        assert np.array_equal(image(aliased(ends[None])), oracle.coverage(ends, "lines")[..., 0])


@pytest.mark.plan("expand-4")
@pytest.mark.parametrize("grid", [1, 32, 64, 128])
def test_aliased_lines_are_those_of_exact_diamonds(grid):
    """Ties too: ends on centres, corners and edges of diamonds."""
    rng = np.random.default_rng(grid)
    ends = rng.integers(-2 * PIXEL // grid, 6 * PIXEL // grid, (150, 2, 2)) * grid
    pixels = aliased(ends)
    for n, (start, end) in enumerate(ends.tolist()):
        hit = pixels.source == n
        got = set(zip(pixels.x[hit].tolist(), pixels.y[hit].tolist(), strict=True))
        assert got == naive_line(tuple(start), tuple(end)), (start, end)


@pytest.mark.plan("expand-5")
def test_lines_that_follow_one_another_hit_no_pixel_twice():
    """A straight line in pieces hits what the whole one hits."""
    rng = np.random.default_rng(5)
    pieces = 0
    for _ in range(200):
        step = rng.integers(-40, 41, 2)
        start = rng.integers(3000, 8000, 2)
        cuts = np.sort(rng.choice(np.arange(1, 60), 3, replace=False))
        places = start + np.array([0, *cuts, 60])[:, None] * step
        parts = aliased(np.stack([places[:-1], places[1:]], 1))
        whole = aliased(np.stack([places[:1], places[-1:]], 1))
        assert np.array_equal(image(parts), image(whole))
        pieces += len(whole.x)
    assert pieces > 500


@pytest.mark.plan("expand-5")
def test_screen_positions_are_snapped_before_they_are_lines():
    screen = np.array([[[0.5, 0.5], [3.501, 0.5]]], np.float32)
    assert aliased(snap(screen)).x.tolist() == [0, 1, 2]


@pytest.mark.plan("expand-4")
def test_aliased_lines_of_45_degrees_follow_the_longer_axis_as_if_it_were_x():
    """Along edges and through corners of diamonds, both ways, and beside them by a unit."""
    rng = np.random.default_rng(9)
    steps = [HALF // 2 * n for n in range(-9, 10)]
    hit = 0
    for _ in range(1500):
        start = rng.choice(steps, 2) + rng.choice([-1, 0, 0, 0, 1], 2)
        length = int(rng.choice([HALF // 2, HALF, PIXEL, 3 * HALF, 700, 1000]))
        end = start + length * rng.choice([-1, 1], 2)
        ends = np.array([[start, end]])
        found = aliased(ends)
        wanted = naive_line(*(tuple(map(int, point)) for point in (start, end)))
        assert set(zip(found.x.tolist(), found.y.tolist(), strict=True)) == wanted
        hit += len(wanted)
    assert hit > 1500


@pytest.mark.plan("expand-8")
def test_antialiased_lines_cover_what_lies_in_their_rectangle():
    """Point by point of 64, each of a row and a column of its own; the sum is the line's area."""
    points = np.array(
        [(4 * (8 * n + k) + 2, 4 * (8 * k + 7 - n) + 2) for k in range(8) for n in range(8)]
    )
    assert len(set(points[:, 0])) == len(set(points[:, 1])) == 64
    rng = np.random.default_rng(11)
    screen = rng.uniform(0, 24, (60, 2, 2)).astype(np.float32)
    screen[:8, 1] = screen[:8, 0] + rng.choice([-6, 6], (8, 2))
    screen[8:12, 1, 0] = screen[8:12, 0, 0]
    screen[12:20, 1] = screen[12:20, 0] + rng.uniform(-0.3, 0.3, (8, 2))
    screen[20:28, 1] = screen[20:28, 0] + rng.uniform(-0.004, 0.004, (8, 2))
    pixels, coverage = antialiased(screen)
    places = zip(pixels.source.tolist(), pixels.x.tolist(), pixels.y.tolist(), strict=True)
    found = dict(zip(places, coverage.tolist(), strict=True))
    assert len(found) == len(coverage)
    side = PIXEL * np.arange(-8, 32)
    x, y = np.meshgrid(side, side)
    x, y = (axis[..., None] + points[:, n] for n, axis in enumerate((x, y)))
    for n, triangles in enumerate(rectangles(screen, 1.0).positions.astype(int)):
        inside = np.zeros(x.shape, bool)
        for triangle in triangles:
            within = np.ones(x.shape, bool)
            for k in range(3):
                (ax, ay), (bx, by) = triangle[k], triangle[(k + 1) % 3]
                within &= (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0
            inside |= within
        share = inside.mean(2)
        wanted = {
            (n, int(column) - 8, int(row) - 8): share[row, column]
            for row, column in zip(*np.nonzero(share), strict=True)
        }
        assert {place: value for place, value in found.items() if place[0] == n} == wanted
    length = np.linalg.norm(screen[:, 1] - screen[:, 0], axis=1)
    total = np.bincount(pixels.source, coverage, len(screen))
    assert (np.abs(total - length) < 0.04 * length + 0.1).all()
    assert not len(antialiased(np.ones((1, 2, 2), np.float32))[1])
