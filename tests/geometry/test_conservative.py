# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.geometry import triangle_setup
from fixfunc.models.payload import check
from fixfunc.models.pixel import interpolator
from fixfunc.models.raster import tile_rasterizer
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TARGET_LIMIT
from fixfunc.tb.bench import scenes
from tests import tiers

FINE = 16  # units of a vertex before it is snapped, of 1/256 pixel
PIXEL = 256 * FINE
SIDE = 8  # pixels, of the target: a tile


def outer_state(*size, **fields):
    """A draw state of conservative coverage."""
    tests = dict.fromkeys(("depth_test", "depth_write"), 0)
    return draw_state(*size, conservative=1, **tests | fields)


def triangles(rng, count):
    """Vertices around one tile, in fine units: a third slivers, a third on multiples of 1/256."""
    centre = rng.integers(-PIXEL, (SIDE + 1) * PIXEL, (count, 1, 2))
    spread = rng.choice([40, 700, 9000, 60000], (count, 1, 1))
    points = centre + rng.integers(-1 << 16, 1 << 16, (count, 3, 2)) * spread // (1 << 16)
    sliver = rng.random(count) < 0.33
    share = rng.random((count, 1))
    points[sliver, 2] = (points[:, 0] + share * (points[:, 1] - points[:, 0])).astype(int)[sliver]
    points[sliver, 2] += rng.integers(-20, 21, (count, 2))[sliver]
    snapped = rng.random(count) < 0.33
    points[snapped] = points[snapped] // FINE * FINE
    return points


def covered(points):
    """Outer and inner coverage of triangles once they are snapped, and which of them have area."""
    records = np.zeros(len(points), triangle_setup.TRIANGLE)
    snapped = -((FINE // 2 - 1 - points) // FINE)
    for k in range(3):
        records[f"x{k}"], records[f"y{k}"] = snapped[:, k].T
    setup = triangle_setup.setup(records, outer_state(SIDE, SIDE))
    tiles, owner = tile_rasterizer.rasterize(setup.records)
    outer = np.zeros((len(points), SIDE, SIDE), bool)
    outer[setup.index[owner]] = unpack(tiles["mask"])
    corners = interpolator.corners(records, np.ones((len(points), 3), np.float32))
    y, x = np.mgrid[:SIDE, :SIDE].reshape(2, -1) * 256 + 128
    inner = np.stack(
        [
            interpolator.inside(corners, *(np.full(len(points), v) for v in place))
            for place in zip(x, y, strict=True)
        ],
        1,
    ).reshape(len(points), SIDE, SIDE)
    return outer, inner, ~setup.zero_area


def overlaps(points, grown, first=(0, 0), side=SIDE):
    """Which pixels' squares, grown by so many units, meet each triangle: by separating axes."""
    y, x = np.mgrid[:side, :side]
    low = (np.stack([x, y], -1).reshape(1, -1, 2) + first) * PIXEL - grown
    high = low + PIXEL + 2 * grown
    meets = (points.max(1)[:, None] >= low).all(2) & (points.min(1)[:, None] <= high).all(2)
    turn = np.sign(_cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]))
    for k in range(3):
        a, b = points[:, k], points[:, (k + 1) % 3]
        normal = np.stack([a[:, 1] - b[:, 1], b[:, 0] - a[:, 0]], -1) * turn[:, None]
        far = np.where(normal[:, None] > 0, high, low)
        meets &= ((far - a[:, None]) * normal[:, None]).sum(2) >= 0
    return meets.reshape(-1, side, side)


def contains(points, grown=0, side=SIDE):
    """Which pixels' squares, grown by so many units, lie in each triangle whole."""
    y, x = np.mgrid[:side, :side] * PIXEL
    low = np.stack([x, y], -1).reshape(1, -1, 2) - grown
    high = low + PIXEL + 2 * grown
    turn = np.sign(_cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]))
    holds = np.ones((len(points), side * side), bool)
    for k in range(3):
        a, b = points[:, k], points[:, (k + 1) % 3]
        normal = np.stack([a[:, 1] - b[:, 1], b[:, 0] - a[:, 0]], -1) * turn[:, None]
        near = np.where(normal[:, None] > 0, low, high)
        holds &= ((near - a[:, None]) * normal[:, None]).sum(2) >= 0
    return holds.reshape(-1, side, side) & (turn != 0)[:, None, None]


def _cross(a, b):
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


@pytest.mark.plan("triangle-setup-14", "interpolator-12")
def test_no_pixel_is_missed_and_none_is_hit_from_afar():
    rng = np.random.default_rng(tiers.SEED if tiers.QUALIFY else 3)
    total = np.zeros(4, int)
    for _ in range(50 if tiers.QUALIFY else 3):
        points = triangles(rng, 20000)
        outer, inner, counts = covered(points)
        truth = overlaps(points, 0)[counts]
        near = overlaps(points, 2 * FINE)[counts]
        assert not (truth & ~outer[counts]).any()  # of vertices before they were snapped
        assert not (outer[counts] & ~near).any()
        assert not (inner & ~contains(points)).any()
        assert not (inner & ~outer).any()
        # What lies within by more than snapping may have moved a vertex is told.
        assert not (contains(points, 2 * FINE) & ~inner).any()
        total += [truth.sum(), (outer[counts] & ~truth).sum(), inner.sum(), counts.sum()]
    assert (total[[0, 2, 3]] > 10000).all() and 0 < total[1] < total[0] / 5


def clip(points, square):
    """A polygon, cut to a square: exact."""
    for axis, bound, sign in square:
        kept = []
        for n, point in enumerate(points):
            last = points[n - 1]
            distance, last_distance = ((p[axis] - bound) * sign for p in (point, last))
            if (distance < 0) != (last_distance < 0):
                t = Fraction(last_distance) / (last_distance - distance)
                kept.append(tuple(c + (d - c) * t for c, d in zip(last, point, strict=True)))
            if distance >= 0:
                kept.append(point)
        points = kept
    return points


@pytest.mark.plan("triangle-setup-14")
def test_coverage_is_that_of_exact_clipping():
    rng = np.random.default_rng(4)
    points = triangles(rng, 60) // FINE * FINE
    outer, _, counts = covered(points)
    seen = 0
    for n in np.flatnonzero(counts):
        corners = [tuple(Fraction(int(v), FINE) for v in point) for point in points[n]]
        for y in range(SIDE):
            for x in range(SIDE):
                low = [256 * v - 1 for v in (x, y)]
                square = [(a, low[a], 1) for a in (0, 1)] + [(a, low[a] + 258, -1) for a in (0, 1)]
                assert bool(clip(corners, square)) == outer[n, y, x]
                seen += outer[n, y, x]
    assert seen > 300


@pytest.mark.plan("triangle-setup-14")
@pytest.mark.parametrize(("side", "count", "places"), [(20, 150, 12), (140, 80, 4)])
def test_coverage_anywhere_on_the_largest_target(side, count, places):
    """Triangles of every kind, up to the ends of 16.8, in a part of the target: tile by tile."""
    rng = np.random.default_rng(side)
    seen = np.zeros(2, int)
    for _ in range(places):
        first = rng.choice([0, 1, TARGET_LIMIT // 2 - 5, TARGET_LIMIT - side], 2)
        rectangle = tuple(int(v) for v in (*first, *(first + side)))
        records = scenes.at_borders(rng, scenes.triangles(rng, count, side, side))
        for axis, begin in zip("xy", first, strict=True):
            for k in range(3):
                place = records[f"{axis}{k}"].astype(np.int64)
                near = (np.abs(place) < scenes.HIGH) & (rng.random() < 0.9)
                records[f"{axis}{k}"] = np.minimum(place + 256 * int(begin) * near, scenes.HIGH)
        setup = triangle_setup.setup(
            records, outer_state(TARGET_LIMIT, TARGET_LIMIT, scissor=rectangle)
        )
        check(setup.records, payloads.SETUP)  # every value has the bits that it needs
        tiles, owner = tile_rasterizer.rasterize(setup.records)
        image = np.zeros((count, side + 16, side + 16), bool)
        x = 8 * (tiles["x"].astype(int) - first[0] // 8)
        y = 8 * (tiles["y"].astype(int) - first[1] // 8)
        for tile, mask in enumerate(unpack(tiles["mask"])):
            image[setup.index[owner[tile]], y[tile] :, x[tile] :][:8, :8] |= mask
        left, top = first % 8
        image = image[:, top : top + side, left : left + side]
        points = np.stack(triangle_setup.vertices(records)[:2], -1)
        truth = overlaps(points * FINE, FINE, first, side)
        assert (image == truth)[~setup.zero_area].all()
        far = np.abs(points).max((1, 2)) == -scenes.LOW
        seen += [image.sum(), image[far].any((1, 2)).sum()]
    assert seen[0] > 10000 and seen[1] > 2


@pytest.mark.plan("triangle-setup-14")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"samples": 4}, "samples must be 1 with conservative coverage, not 4"),
        ({"depth_test": 1}, "depth_test must be 0 with conservative coverage, not 1"),
        ({"depth_write": 1}, "depth_write must be 0 with conservative coverage, not 1"),
        ({"stencil_test": 1}, "stencil_test must be 0 with conservative coverage, not 1"),
    ],
)
def test_samples_and_tests_are_refused(fields, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        outer_state(8, 8, **fields)
