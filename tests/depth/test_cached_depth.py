# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.depth.cached_depth import CachedDepth
from fixfunc.models.depth.depth_cache import CacheShape
from fixfunc.models.depth.depth_test import DepthBuffer
from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth import cached_depth as rtl
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare, DepthFormat, Outcome
from fixfunc.tb.bench import depths
from tests.bench import check_bench
from tests.volume import check_paces

BLOCK = "cached_depth"
BASES = {"depth": 1 << 16, "stencil": 0}


def draws(rng, size, samples, form, count):
    """Draws that write early, and clears of a part in between."""
    for _ in range(count):
        state = depths.state(rng, size, samples, form)
        state["early_write"] = 1
        cleared = depths.clear(rng, size, form) if rng.random() < 0.3 else None
        yield state, cleared, rasterize(setup(depths.triangles(rng, 5, size), state).records)[0]


@pytest.mark.plan("cached-depth-1")
@pytest.mark.parametrize("form", [DepthFormat.D16, DepthFormat.D24])
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("shape", [CacheShape(), CacheShape(sets=2, ways=1, table_lines=1)])
def test_memory_is_the_depth_buffer(shape, samples, form):
    """Whatever the caches, and whoever says what HiZ found."""
    rng = np.random.default_rng([samples, int(form), shape.sets])
    size = (44, 36)
    units = [CachedDepth(np.zeros(1 << 17, np.uint8), shape) for _ in range(2)]
    plain = DepthBuffer(draw_state(*size, samples, depth_format=form))
    most = depths.MOST[form]
    plain.clear((0, 0, *size), most, 3)
    for unit in units:
        unit.state = draw_state(*size, samples, depth_format=form)
        unit.clear((0, 0, *size), most, 3, BASES)
    for state, cleared, tiles in draws(rng, size, samples, form, 30):
        plain.state = state
        for unit in units:
            unit.state = state
        if cleared:
            rectangle = tuple(
                int(min(cleared[name], side))
                for name, side in zip(("x0", "y0", "x1", "y1"), size * 2, strict=True)
            )
            values = [
                int(min(cleared[f"{plane}_value"], most)) if cleared[plane] else None
                for plane in ("depth", "stencil")
            ]
            for one in (plain, *units):
                one.clear(rectangle, *values, *(() if one is plain else (BASES,)))
        passed, outcome = units[0].test(tiles)
        again, _ = units[1].test(
            tiles, np.where(rng.random(len(tiles)) < 0.5, outcome, Outcome.TEST)
        )
        assert (passed == again).all()
        for n, tile in enumerate(tiles):
            assert (plain.test(tile[None])[0] == passed[n]).all()
    for unit in units:
        unit.flush()
        assert (unit.caches["depth"].values()[plain._seen] == plain.depth[plain._seen]).all()
        assert (unit.caches["stencil"].values()[plain._seen] == plain.stencil[plain._seen]).all()


@pytest.mark.plan("cached-depth-2")
def test_a_dropped_tile_moves_nothing():
    unit = CachedDepth(np.zeros(1 << 17, np.uint8))
    state = draw_state(32, 32, depth_compare=Compare.NEVER)
    unit.state = state
    unit.clear((0, 0, 32, 32), 5, 0, BASES)
    triangle = depths.triangles(np.random.default_rng(0), 9, (32, 32))
    tiles = rasterize(setup(triangle, state).records)[0]
    passed, outcome = unit.test(tiles)
    assert len(tiles) > 3
    assert (outcome == Outcome.DROP).all()
    assert not passed.any()
    unit.flush()
    assert all(moved.cause == "clear" for moved in unit.traffic["depth"])


@pytest.mark.plan("cached-depth-3")
def test_targets_take_turns():
    """What is on chip of the one before is forgotten; its memory stays."""
    memory = np.zeros(1 << 17, np.uint8)
    state = draw_state(16, 16, depth_compare=Compare.ALWAYS)
    unit = CachedDepth(memory)
    unit.state = state
    unit.clear((0, 0, 16, 16), 7, 0, BASES)
    unit.flush()
    before = memory.copy()
    unit.clear((0, 0, 16, 16), 9, 0, {"depth": 1 << 15, "stencil": 1 << 14})
    assert (memory[1 << 16 :] == before[1 << 16 :]).all()
    assert (unit.caches["depth"].values() == 9).all()
    assert unit.traffic["depth"].total() == 2


@pytest.mark.plan("cached-depth-4")
def test_beyond_memory():
    unit = CachedDepth(np.zeros(1 << 10, np.uint8))
    unit.state = draw_state(64, 64)
    with pytest.raises(InputError, match="memory must hold 16416 bytes from there on, not 1024"):
        unit.clear((0, 0, 64, 64), 0, 0, {"depth": 0, "stencil": 0})


@pytest.mark.plan("cached-depth-7")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"edge": 5}, "edge must be"),
        ({"sets": 3}, "sets must be a power of two above 1, not 3"),
        ({"entries": 3}, "entries must be"),
        ({"samples": 3}, "samples must be"),
    ],
)
def test_wrong_parameters(fields, message):
    with pytest.raises(ValueError, match=message):
        rtl.CachedDepthParams(**fields).cache(24)


@pytest.mark.plan("cached-depth-6")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.plan("cached-depth-5")
@pytest.mark.parametrize("config", ["tiny"])
def test_volume(config):
    check_paces(BLOCK, config, 200)
