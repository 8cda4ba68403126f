import numpy as np
import pytest

from models.depth.depth_test import D24_MAX, DepthBuffer, rounds, sample_depths
from models.payload import dtype
from models.raster.edge_evaluator import lane_positions, unpack
from spec import payloads
from spec.state import Compare


def tiles(rng, count):
    out = np.zeros(count, dtype(payloads.TILE))
    out["x"], out["y"] = rng.integers(0, 3, count), rng.integers(0, 2, count)
    out["mask"] = rng.integers(0, 1 << 63, count, dtype=np.uint64)
    out["z0"] = rng.integers(1 << 20, 1 << 31, count)
    out["dx"], out["dy"] = rng.integers(-1 << 22, 1 << 22, (2, count))
    return out


@pytest.mark.parametrize("samples", range(4))
def test_depths_are_the_plane_rounded(samples):
    some = tiles(np.random.default_rng(0), 50)
    x, y = lane_positions(samples)
    got = sample_depths(some, samples)
    for t, depths in zip(some, got, strict=True):
        value = (int(t["z0"]) * 16 + int(x[2, 5]) * int(t["dx"]) + int(y[2, 5]) * int(t["dy"]) + 2048) >> 12
        assert int(depths[2, 5]) == value % (1 << 24)


@pytest.mark.parametrize("compare", Compare)
def test_a_batch_is_as_if_one_by_one(compare):
    some = tiles(np.random.default_rng(compare), 200)
    batch, single = DepthBuffer(24, 16, 1, compare), DepthBuffer(24, 16, 1, compare)
    got = batch.test(some)
    assert (got == np.concatenate([single.test(some[n:n + 1]) for n in range(len(some))])).all()
    assert (batch.image() == single.image()).all()
    assert not (got & ~unpack(some["mask"])).any()


def test_rounds_visit_each_place_in_order():
    place = np.random.default_rng(0).integers(0, 5, 60)
    seen = np.concatenate(rounds(place))
    assert sorted(seen.tolist()) == list(range(60))
    for p in range(5):
        assert (np.diff(seen[place[seen] == p]) > 0).all()
    assert all(len(np.unique(place[turn])) == len(turn) for turn in rounds(place))
    assert DepthBuffer(8, 8, 1).image().max() == D24_MAX
