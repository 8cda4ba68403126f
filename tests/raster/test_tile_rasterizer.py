# SPDX-License-Identifier: BSD-2-Clause
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.cosim import codec
from fixfunc.models.geometry.triangle_setup import TRIANGLE, setup
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.raster.tile_rasterizer import coverage, rasterize, write_tiles
from fixfunc.models.state import draw_state
from fixfunc.rtl.raster import tile_rasterizer as rtl
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import scenes
from fixfunc.tb.raster import tile_rasterizer as tb
from tests.bench import check_bench
from tests.oracles.coverage import SIZE
from tests.oracles.naive import POSITIONS, covered, sample_points
from tests.tiers import by_tier
from tests.volume import check, check_paces, volume

BLOCK = "tile_rasterizer"
LOW = -(1 << 23)
HIGH = (1 << 23) - 1


def records(corners):
    """Corners (n, 3, 2) as records of TRIANGLE."""
    out = np.zeros(len(corners), TRIANGLE)
    for k in range(3):
        out[f"x{k}"], out[f"y{k}"] = np.asarray(corners)[:, k].T
    return out


def area(corners):
    """Twice the signed area, clockwise on the screen positive."""
    u = corners[:, 1] - corners[:, 0]
    v = corners[:, 2] - corners[:, 0]
    return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]


# Truths of the model.


@pytest.mark.plan("tile-rasterizer-1")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_coverage_is_the_fill_rule(samples):
    corners = scenes.corners(np.random.default_rng(samples), 120, 13, 11)
    covered_samples = coverage(corners, 13, 11, samples)
    for triangle, image in zip(corners, covered_samples, strict=True):
        for row, column, n, x, y in sample_points(13, 11, samples):
            assert image[row, column, n] == covered(triangle, x, y)


@pytest.mark.plan("tile-rasterizer-3")
def test_every_triangle_of_a_lattice():
    points = np.array(list(itertools.product(range(0, 769, 128), repeat=2)))
    index = np.array(list(itertools.combinations(range(len(points)), 3)))
    corners = points[index]
    covered_samples = coverage(corners, 3, 3)
    assert (coverage(corners[:, ::-1], 3, 3) == covered_samples).all()
    for row, column, n, x, y in sample_points(3, 3, 1):
        wanted = [covered(triangle, x, y) for triangle in corners]
        assert (covered_samples[:, row, column, n] == wanted).all()


@pytest.mark.plan("tile-rasterizer-4")
@pytest.mark.parametrize("samples", [1, 4])
def test_two_triangles_of_a_lattice_share_no_sample_of_their_edge(samples):
    points = np.array(list(itertools.product(range(-64, 449, 128), repeat=2)))
    edges = list(itertools.combinations(range(len(points)), 2))
    checked = 0
    for a, b in edges:
        corners = np.stack(
            [
                np.broadcast_to(points[a], points.shape),
                np.broadcast_to(points[b], points.shape),
                points,
            ],
            1,
        )
        along = points[b] - points[a]
        side = along[0] * (points[:, 1] - points[a][1]) - along[1] * (points[:, 0] - points[a][0])
        images = coverage(corners, 2, 2, samples)
        for one_side, other_side in itertools.product(
            np.flatnonzero(side > 0)[::5], np.flatnonzero(side < 0)[::5]
        ):
            assert not (images[one_side] & images[other_side]).any()
            checked += 1
    assert checked > 1000


@st.composite
def fans(draw):
    """A point and the corners of a convex ring around it, 1/256 pixel."""
    count = draw(st.integers(3, 9))
    radius = draw(st.integers(50, 12000))
    step = draw(st.sampled_from([1, 16, 64, 128, 256]))
    offset = draw(st.floats(0, 1))
    centre = np.array([draw(st.integers(0, 24)), draw(st.integers(0, 24))]) * 128
    angles = (np.arange(count) + offset) / count * 2 * np.pi
    ring = (
        np.rint(radius * np.stack([np.cos(angles), np.sin(angles)], -1) / step).astype(int) * step
        + centre
    )
    return centre, ring


@pytest.mark.plan("tile-rasterizer-4")
@given(fans(), st.sampled_from([1, 2, 4, 8]))
def test_a_fan_owns_every_sample_once(fan, samples):
    centre, ring = fan
    spokes = np.stack([np.broadcast_to(centre, ring.shape), ring, np.roll(ring, -1, 0)], 1)
    count = coverage(spokes, 12, 12, samples).sum(0)
    # Another fan of the same ring, from its first corner, owns the same samples.
    corner_fan = np.stack([np.broadcast_to(ring[0], ring[1:-1].shape), ring[1:-1], ring[2:]], 1)
    if (area(corner_fan) > 0).all() and (area(spokes) > 0).all():
        assert count.max(initial=0) <= 1
        assert (coverage(corner_fan, 12, 12, samples).sum(0) == count).all()


@pytest.mark.plan("tile-rasterizer-4")
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 4, 8]))
def test_a_mesh_of_shared_edges_owns_every_sample_once(seed, samples):
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(5), np.arange(5)), -1) * 1024
    grid[1:-1, 1:-1] += rng.integers(-240, 241, (3, 3, 2))
    if rng.random() < 0.5:  # ties with sample positions
        grid = grid // 128 * 128
    a = grid[:-1, :-1]
    b = grid[:-1, 1:]
    c = grid[1:, :-1]
    d = grid[1:, 1:]
    corners = np.concatenate(
        [np.stack([a, b, c], 2).reshape(-1, 3, 2), np.stack([b, d, c], 2).reshape(-1, 3, 2)]
    )
    assert (area(corners) > 0).all()
    assert (coverage(corners, 16, 16, samples).sum(0) == 1).all()


@pytest.mark.plan("tile-rasterizer-5")
def test_tiles_come_in_zigzag_and_the_last_is_marked():
    triangles = records([[(0, 0), (4 * 65536, 0), (0, 4 * 65536)], [(0, 0), (2000, 0), (0, 2000)]])
    tiles, owner = rasterize(setup(triangles, draw_state(200, 200)).records)
    assert np.flatnonzero(tiles["last"]).tolist() == [
        np.flatnonzero(owner == 0)[-1],
        len(tiles) - 1,
    ]
    first = [(int(t["x"]), int(t["y"])) for t in tiles[:24]]
    assert first[:16] == [(x, 0) for x in range(8)] + [(x, 1) for x in range(7, -1, -1)]
    blocks = list(dict.fromkeys((int(t["x"]) // 8, int(t["y"]) // 8) for t in tiles[owner == 0]))
    assert blocks == [
        (0, 0),
        (1, 0),
        (2, 0),
        (3, 0),
        (3, 1),
        (2, 1),
        (1, 1),
        (0, 1),
        (0, 2),
        (1, 2),
        (2, 2),
        (3, 2),
        (3, 3),
        (2, 3),
        (1, 3),
        (0, 3),
    ]


@pytest.mark.plan("tile-rasterizer-6")
def test_nothing_is_drawn_outside_viewport_scissor_and_target():
    everything = records([[(LOW, LOW), (HIGH, LOW), (HIGH // 2, HIGH)]])
    for samples in (1, 2, 4, 8):
        state = draw_state(50, 40, samples, viewport=(-3, 5, 33, 60), scissor=(9, 0, 70, 31))
        tiles, _ = rasterize(setup(everything, state).records)
        image = np.zeros((1, 64, 64, samples), bool)
        first = np.zeros(len(tiles), int)
        write_tiles(image, first, tiles["x"], tiles["y"], unpack(tiles["mask"]), samples)
        wanted = np.zeros((64, 64), bool)
        wanted[5:31, 9:33] = True
        assert (image[0] == wanted[..., None]).all(), samples


# Outside oracle.


def oracle_corners(rng, count):
    """Triangles of every kind on the oracle's target.

    They lie in the range that the oracle's viewport keeps exact.
    """
    kinds = [
        rng.integers(-SIZE * 256, 2 * SIZE * 256, (count // 4, 3, 2)),
        rng.integers(0, 2 * SIZE, (count // 4, 3, 2)) * 128,
        rng.integers(0, SIZE * 16, (count // 4, 3, 2)) * 16,
        np.clip(scenes.corners(rng, count // 4, SIZE, SIZE), -SIZE * 256, 3 * SIZE * 256),
    ]
    return np.concatenate(kinds)


@pytest.mark.plan("tile-rasterizer-2")
@pytest.mark.parametrize("samples", [1, 4])
def test_coverage_equals_llvmpipe(llvmpipe, samples):
    oracle = llvmpipe(samples)
    corners = oracle_corners(np.random.default_rng(samples), 4000)
    wanted = np.stack([oracle.coverage(triangle) for triangle in corners])
    assert wanted.any(axis=(1, 2, 3)).sum() > 1000
    assert (coverage(corners, SIZE, SIZE, samples) == wanted).all()


@pytest.mark.plan("tile-rasterizer-2")
@pytest.mark.parametrize("samples", [2, 8])
def test_shifted_triangles_equal_llvmpipe(llvmpipe, samples):
    """llvmpipe lacks these patterns, so it draws shifted triangles with one sample a pixel.

    A sample of a triangle equals the pixel's centre of the triangle shifted the corner_fan way.
    """
    oracle = llvmpipe(1)
    corners = oracle_corners(np.random.default_rng(samples), 400)
    covered_samples = coverage(corners, SIZE, SIZE, samples)
    for n, (dx, dy) in enumerate(POSITIONS[samples]):
        wanted = np.stack(
            [oracle.coverage(triangle - 16 * np.array([dx, dy])) for triangle in corners]
        )
        assert (covered_samples[..., n] == wanted[..., 0]).all()


# Errors.


def test_bad_input():
    with pytest.raises(InputError, match="triangles must have shape"):
        coverage(np.zeros((1, 3)), 4, 4)
    with pytest.raises(InputError, match="triangles must be integers, 1/256 pixel, .* not float32"):
        coverage(np.float32([[[10, 5], [90, 20], [40, 60]]]), 128, 64)
    assert not coverage(np.zeros((0, 3, 2)), 8, 8).size
    with pytest.raises(InputError, match="samples must be one of 1, 2, 4, 8, not 3"):
        coverage(np.zeros((1, 3, 2)), 4, 4, 3)
    with pytest.raises(InputError, match="width must lie in 1..16384, not 0"):
        coverage(np.zeros((1, 3, 2)), 0, 4)
    with pytest.raises(InputError, match="x1 must lie in -8388608..8388607, not 8388608"):
        coverage([[(0, 0), (1 << 23, 0), (0, 9)]], 4, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"coarse": 32}, "coarse must be 16 or 64, not 32"),
        ({"edge": 5}, "edge must be 4 or 8, not 5"),
        ({"samples": 16}, "samples must be 1, 2, 4 or 8, not 16"),
        ({"adder": "fast"}, "adder must be 'carry_save' or 'shared', not 'fast'"),
    ],
)
def test_wrong_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        rtl.TileRasterizerParams(**arguments)


# Benches and volume.


@pytest.mark.plan("tile-rasterizer-8")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.plan("tile-rasterizer-9")
@pytest.mark.parametrize("config", by_tier(rtl.CONFIGS))
def test_volume(config):
    check_paces(BLOCK, config, 100)


@pytest.mark.plan("tile-rasterizer-7")
def test_the_whole_guard_band():
    """Triangles between the ends of the range are drawn on the largest target."""
    corners = np.random.default_rng(0).choice([LOW, HIGH, 0, 1 << 21, 1 << 22], (30, 3, 2))
    rows = [
        codec.pack(
            setup(records(corners[n::4]), draw_state(16384, 700, 1 << n)).records,
            payloads.SETUP,
            tb.IN,
        )
        for n in range(4)
    ]
    check(BLOCK, "shared", np.concatenate(rows))


@pytest.mark.plan("tile-rasterizer-7")
def test_the_tallest_target():
    """16,384 tiles, one below the other: pixels are four samples high."""
    end = 16384 * 256
    slivers = [[[0, 0], [512, 0], [80 * 256, end]], [[80 * 256, 0], [0, end], [512, end]]]
    setups = setup(records(slivers), draw_state(80, 16384, 8), 4).records
    assert len(check(BLOCK, "tiny", codec.pack(setups, payloads.SETUP, tb.IN))) > 2 * 16384


def small_boxes(samples, edge=8):
    """Setup beats of triangles of a few pixels, and their records.

    Their boxes begin and end anywhere in a tile; half of the triangles have ties. Every fourth is
    as tall as a small box may be: five tiles of 4x4, and two blocks. Another fourth are slivers,
    which cover few samples. Nearly a third lie about a scissor of 9x7 pixels, which cuts
    their boxes.
    """
    rng = np.random.default_rng(samples)
    corners = rng.integers(0, 257 * 256, (4000, 1, 2)) + rng.integers(-1500, 1501, (4000, 3, 2))
    corners[::4, :, 1] = corners[::4, :1, 1] + rng.permuted(
        np.tile([-1980, 0, 1980], (1000, 1)), axis=1
    )
    corners[1::4, 2] = corners[1::4, 1] + rng.integers(-100, 101, (1000, 2))
    corners[::2] = corners[::2] // 128 * 128
    cut = rng.integers(95 * 256, 114 * 256, (4000, 1, 2)) + rng.integers(-1500, 1501, (4000, 3, 2))
    setups = np.concatenate(
        [
            setup(records(corners), draw_state(256, 256, samples), edge).records,
            setup(
                records(cut), draw_state(256, 256, samples, scissor=(101, 102, 110, 109)), edge
            ).records,
        ]
    )
    return codec.pack(setups, payloads.SETUP, tb.IN), setups


@pytest.mark.plan("tile-rasterizer-10")
@pytest.mark.parametrize("config", ["shared", "tiny"])
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_small_boxes_lose_no_tile(samples, config):
    check(BLOCK, config, small_boxes(samples, rtl.CONFIGS[config].edge)[0])


@pytest.mark.plan("tile-rasterizer-11")
def test_rejected_tiles_of_small_boxes_cost_no_clock():
    """A clock for each tile with a place of the pixel grid that no edge rejects.

    A triangle costs one clock at least.
    """
    beats, setups = small_boxes(1)
    wanted = sum(max(1, len(visited_tiles(r, 2))) for r in setups)
    coarse = sum(max(1, len(visited_tiles(r, 0))) for r in setups)
    clocks = volume(BLOCK, "shared").run({"i": beats}, len(beats) * 9).clocks
    assert wanted < clocks < wanted + 300 < coarse


@pytest.mark.plan("tile-rasterizer-13")
def test_superblocks_outside_of_a_sliver_cost_no_clock():
    """Along both diagonals of 16 by 16 superblocks, of which it crosses a few: a clock a tile."""
    size = 1024
    end = size * 256 - 1
    corners = [[[0, 0], [end, end], [0, 600]], [[end, 0], [0, end], [end, 600]]]
    edge = rtl.CONFIGS["tiny"].edge
    setups = setup(records(corners * 8), draw_state(size, size), edge).records
    tiles = len(rasterize(setups, edge)[0])
    beats = codec.pack(setups, payloads.SETUP, tb.IN)
    run = volume(BLOCK, "tiny").run({"i": beats}, 2 * tiles)
    assert len(run.outputs["o"]) == tiles > 5000
    assert run.clocks < 1.25 * tiles


def visited_tiles(record, small):
    """Tiles of a box with a place of the pixel grid that no edge rejects.

    A place is a pixel; two by two pixels where the box has more than eight pixels along an axis; a
    whole tile where the box has more than ``small`` tiles along an axis.
    """
    first, last = np.array([[record["x0"], record["y0"]], [record["x1"], record["y1"]]], int)
    origin = first // 8 * 8
    large = last // 8 - first // 8 >= small
    pitch = np.where(large.any(), 8, np.where(last - first >= 8, 2, 1))
    count = np.where(large.any(), last // 8 - first // 8 + 1, 8)
    low = [
        begin + size * np.arange(n)
        for begin, size, n in zip(np.where(pitch == 1, first, origin), pitch, count, strict=True)
    ]
    inside = np.ones([len(places) for places in low], bool)
    for k in range(3):
        steps = int(record[f"a{k}"]), int(record[f"b{k}"])
        x, y = (
            step * (places + (step > 0) * (size - 1) - begin)
            for step, places, size, begin in zip(steps, low, pitch, origin, strict=True)
        )
        inside &= int(record[f"c{k}"]) - int(record[f"reach{k}"]) + 16 * (x[:, None] + y) >= 0
    x, y = (places[index] // 8 for places, index in zip(low, np.nonzero(inside), strict=True))
    return {(i, j) for i, j in zip(x, y, strict=True) if i <= last[0] // 8 and j <= last[1] // 8}
