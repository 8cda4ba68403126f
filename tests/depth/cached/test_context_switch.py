# SPDX-License-Identifier: BSD-2-Clause
"""What HiZ knows of a target is saved, forgotten and restored, by every unit with HiZ in it."""

from functools import cache

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Memory, Volume
from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.payload import dtype
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.cached_depth import CONFIGS, CachedDepth
from fixfunc.rtl.depth.depth_unit import CONFIGS as UNCACHED
from fixfunc.rtl.depth.depth_unit import DepthUnit
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind, Outcome
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.depth import switching
from tests.volume import LIMIT

PARAMS = CONFIGS["tiny"]
EDGE = PARAMS.edge
SIZE = 32
TABLE = payloads.tile(EDGE)
CONTEXT = payloads.context(EDGE)


@cache
def block(stem):
    unit = (
        CachedDepth(PARAMS, probes=True) if stem == "cached_depth" else DepthUnit(UNCACHED["tiny"])
    )
    return Volume(switching.Harness(unit), f"switching_{stem}")


def state_beat(state):
    return codec.pack(state, payloads.DRAW_STATE, WIDTH)


def fence():
    return scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, begin=1)


def drawn(seed, state, count):
    """Tiles of triangles, each marked as its triangle's last."""
    triangles = depths.triangles(np.random.default_rng(seed), count, (SIZE, SIZE), beyond=0)
    tiles = rasterize(setup(triangles, state, EDGE).records, EDGE)[0]
    tiles["last"] = 1
    return codec.pack(tiles, TABLE, WIDTH)


def requests(saved=None):
    """Requests for every tile of the target: to save it, or to restore what was saved."""
    columns = SIZE // EDGE
    out = np.zeros(columns**2, dtype(TABLE))
    out["y"], out["x"] = np.divmod(np.arange(columns**2), columns)
    if saved is not None:
        for name in ("x", "y"):
            out[name] = saved[name]
        out["full"] = saved["restore"]
        out["outcome"] = saved["bound"]
        out["zmin"] = saved["low"]
        out["zmax"] = saved["high"]
        out["z0"] = saved["stencil_low"].astype(int) | saved["stencil_high"].astype(int) << 8
    return codec.pack(out, TABLE, WIDTH)


def run(stem, between, paces=("full", "full")):
    """Draws, a fence, ``between``, and draws that write nothing.

    Tiles of the second draws, as HiZ decides about them; answers; samples that passed.
    """
    writes = draw_state(SIZE, SIZE)
    reads = draw_state(SIZE, SIZE, depth_write=0)
    clear = scenes.control_beat(
        payloads.CLEAR,
        Kind.CLEAR,
        WIDTH,
        depth=1,
        stencil=1,
        x1=SIZE,
        y1=SIZE,
        depth_value=int(writes["depth_max"]),
        stencil_base=1 << 16,
    )
    second = drawn(2, reads, 40)
    rows = [state_beat(writes), clear, drawn(1, writes, 30), fence(), *between]
    rows += [state_beat(reads), second, fence()]
    memory = Memory(np.zeros(1 << 17, np.uint8), (0, 8))
    done = block(stem).run({"i": np.concatenate(rows)}, 1 << 16, paces, limit=LIMIT, memory=memory)
    behind_hiz = done.outputs["probe_hiz" if stem == "cached_depth" else "o"]
    begin = np.flatnonzero(behind_hiz[:, 0] & 3 == Kind.STATE)[-1]
    tiles = behind_hiz[begin:]
    tiles = codec.unpack(tiles[tiles[:, 0] & 3 == Kind.WORK], TABLE, dtype(TABLE))
    saved = codec.unpack(done.outputs["saved"], CONTEXT, dtype(CONTEXT))
    tiles["note"] = 0
    fences = done.outputs["o"][done.outputs["o"][:, 0] & 3 == Kind.FENCE]
    passed = codec.unpack(fences, payloads.FENCE, dtype(payloads.FENCE))["passed"][-1]
    return tiles, saved, passed


@pytest.mark.plan("cached-depth-9", "depth-unit-7")
@pytest.mark.parametrize("paces", [("full", "full"), ("random", "bursty")])
@pytest.mark.parametrize("stem", ["cached_depth", "depth_unit"])
def test_bounds_restored_decide_as_before(stem, paces):
    """A state of another target makes HiZ forget; the depths are still there."""
    other = draw_state(SIZE, SIZE, target=1)
    forget = [state_beat(other), state_beat(draw_state(SIZE, SIZE)), fence()]
    undisturbed, saved, passed = run(stem, [requests()], paces)
    forgotten, saved_then, passed_then = run(stem, [requests(), *forget], paces)
    restored, answers, passed_now = run(stem, [*forget, requests(saved)], paces)
    assert (saved == saved_then).all()
    assert len(saved) == len(answers) == (SIZE // EDGE) ** 2
    assert (saved["high"] >= saved["low"]).all()
    assert (saved["high"] < (1 << payloads.HIZ_BITS) - 1).any(), "nothing was known"
    assert (forgotten["outcome"] == Outcome.TEST).all()
    assert (undisturbed["outcome"] != Outcome.TEST).any()
    assert (undisturbed["outcome"] == Outcome.DROP).any()
    assert (restored == undisturbed).all()
    assert (answers == saved).all()
    assert passed == passed_then == passed_now > 0


@pytest.mark.plan("cached-depth-9", "depth-unit-7")
@pytest.mark.parametrize("stem", ["cached_depth", "depth_unit"])
def test_requests_wait_until_no_test_is_in_flight(stem):
    """Saved right behind the fence of draws, bounds hold every report of them."""
    tiles = [run(stem, [requests()], paces)[1] for paces in (("full", "full"), ("full", "starved"))]
    assert (tiles[0] == tiles[1]).all()
