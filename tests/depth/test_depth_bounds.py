# SPDX-License-Identifier: BSD-2-Clause
"""Queries of HiZ: bounds of a tile's depths, and permissions of its draw."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.depth.depth_bounds import drawn_bounds, plane_bounds
from fixfunc.models.depth.depth_test import sample_depths
from fixfunc.models.formats import store
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.state import PERMITTED, Compare, DepthFormat, Kind, Outcome
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH, float_bits
from tests.volume import check

BLOCK = "hiz"


@pytest.mark.plan("hiz-2")
@pytest.mark.parametrize("samples", range(4))
def test_bounds_hold_every_covered_sample(samples):
    rng = np.random.default_rng(samples)
    tiles = np.zeros(4000, dtype(payloads.TILE))
    tiles["z0"] = rng.integers(0, 1 << 32, len(tiles))
    tiles["z0"][::2] = rng.integers(-2000, 2000, len(tiles) // 2)  # planes that leave the range
    scale = 1 << rng.integers(1, 31, len(tiles))
    tiles["dx"] = rng.integers(-scale, scale)
    tiles["dy"] = rng.integers(-scale, scale)
    tiles["mask"] = rng.integers(0, 1 << 63, len(tiles), dtype=np.uint64)
    state = draw_state(64, 64, 1 << samples)
    depths = store(sample_depths(tiles, samples), DepthFormat.D24).astype(np.int64)
    covered = unpack(tiles["mask"])
    # The vertices bound what is covered.
    tiles["zmin"] = np.where(covered, depths, 1 << 24).min((1, 2))
    tiles["zmax"] = np.where(covered, depths, -1).max((1, 2))
    low, high = plane_bounds(tiles, state)
    inside = ~covered | ((low[:, None, None] <= depths) & (depths <= high[:, None, None]))
    assert inside.all()
    assert (low > tiles["zmin"]).sum() + (
        high < tiles["zmax"]
    ).sum() == 0  # the tightest vertices leave nothing to gain
    tiles["zmin"] = 0
    tiles["zmax"] = (1 << 24) - 1
    low, high = plane_bounds(tiles, state)
    assert ((low > 0) | (high < (1 << 24) - 1)).mean() > 0.2


@pytest.mark.plan("hiz-2")
def test_a_sample_may_lie_a_tenth_of_a_unit_beyond_the_vertices():
    tile = np.zeros(2, dtype(payloads.TILE))
    tile["z0"] = [(1 << 20) - 25, (1 << 20) + 25]
    tile["zmin"] = 1 << 12
    tile["zmax"] = 1 << 12
    tile["exponent"] = 127
    state = draw_state(64, 64, depth_format=DepthFormat.D32F)
    depth = store(sample_depths(tile, 0), DepthFormat.D32F, 127)[:, 0, 0]
    low, high = plane_bounds(tile, state)
    assert (low <= depth).all() and (depth <= high).all() and depth[0] < depth[1]


@pytest.mark.plan("hiz-10")
def test_the_plane_tightens_what_the_vertices_say():
    tile = np.zeros(1, dtype(payloads.TILE))
    tile["z0"] = 5000 << 8
    tile["dx"] = 10 << 8
    tile["zmax"] = (1 << 24) - 1
    assert [v.item() for v in plane_bounds(tile, draw_state(64, 64))] == [4995, 5075]


@pytest.mark.plan("hiz-5")
@pytest.mark.parametrize("does", PERMITTED)
def test_what_a_draw_does_decides_what_hiz_may_know(does):
    tile = np.zeros(1, dtype(payloads.TILE))
    tile["z0"] = 5000 << 8
    tile["zmin"] = 5000
    tile["zmax"] = 5000
    tile["mask"] = ~np.uint64(0)
    got = drawn_bounds(tile, draw_state(8, 8, does=[does], depth_min=10, depth_max=9000))[0]
    known = does not in ("depth_output", "uav_writes")
    assert got["low"] == (5000 if known and does != "depth_less_equal" else 10)
    assert got["high"] == (5000 if known and does != "depth_greater_equal" else 9000)
    assert (got["drop"], got["accept"], got["full"]) == (known, does == "plain", does == "plain")


@pytest.mark.plan("hiz-18")
@pytest.mark.parametrize(
    ("end", "slope", "steep"),
    [("low", 160, 0), ("high", 96, 0), ("low", 0, 1), ("high", 0, 1)],
)
def test_a_bound_lies_just_where_the_next_one_begins(end, slope, steep):
    """Vertices with an eighth of a unit, and a bias that makes it half of one: it rounds up.

    What is stored lies below the low bound, and at the high one. Of steep tiles the vertices count
    alone.
    """
    edge = 4
    table = payloads.tile(edge)
    tiles = np.zeros(16, dtype(table))
    tiles["y"], tiles["x"] = np.divmod(np.arange(16), 4)
    wanted = np.linspace(5, (1 << payloads.HIZ_BITS) - 5, 16).astype(int)
    unit = 1 << 24 - payloads.HIZ_BITS
    vertex = wanted * unit - (0 if steep else 2)
    tiles["zmin"] = vertex - (end == "high") * 5000
    tiles["zmax"] = vertex + (end == "low") * 5000
    tiles["z0"] = vertex << 8
    tiles["dx"] = 0 if steep else slope + 256
    tiles["steep"] = steep
    tiles["mask"] = (1 << edge**2) - 1
    tiles["full"] = tiles["last"] = 1
    stored = np.zeros(16, dtype(table))  # requests: bounds are restored, of one value each
    stored["x"], stored["y"] = tiles["x"], tiles["y"]
    stored["full"] = 1
    stored["zmin"] = stored["zmax"] = wanted - (end == "low")
    state = draw_state(
        16,
        16,
        depth_compare=Compare.LESS_EQUAL if end == "low" else Compare.GREATER_EQUAL,
        depth_write=0,
        bias_slope=float_bits(0 if steep else 1),
    )
    rows = [
        codec.pack(state, payloads.DRAW_STATE, WIDTH),
        scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, depth=1, x1=16, y1=16),
        codec.pack(stored, table, WIDTH),
        codec.pack(tiles, table, WIDTH),
    ]
    out = check(BLOCK, "tiny", np.concatenate(rows))[2:]
    outcome = codec.unpack(out, table, dtype(table))["outcome"]
    assert (outcome == (Outcome.DROP if end == "low" else Outcome.TEST)).all()
