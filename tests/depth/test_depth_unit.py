# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.depth.depth_unit import DepthUnit
from fixfunc.models.depth.hiz import rounds
from fixfunc.models.formats import MOST
from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth import depth_unit as rtl
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare, DepthFormat, Kind, Outcome
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.bench.depths import WIDTH as WIDEST
from fixfunc.tb.bench.depths import float_bits
from tests.bench import check_bench
from tests.tiers import by_tier
from tests.volume import check, check_paces

BLOCK = "depth_unit"
# tiles beyond both edges
WIDTH = 44
HEIGHT = 36


def draws(rng, form, count):
    """Draw after draw: a state, and the tiles of a few triangles.

    Triangles are often large, and close in depth.
    """
    for _ in range(count):
        op = {
            name: rng.choice([0, 0, 0, rng.integers(0, 8)])
            for face in ("front", "back")
            for name in (
                f"stencil_{face}_fail",
                f"stencil_{face}_depth_fail",
                f"stencil_{face}_pass",
            )
        }
        stencil = {
            "stencil_test": rng.random() < 0.3,
            "stencil_ref": rng.integers(0, 4),
            "stencil_read": 255,
            "stencil_write": 255,
            "stencil_front_func": rng.integers(0, 8),
            "stencil_back_func": rng.integers(0, 8),
        }
        bias = {
            "bias_constant": rng.choice([0, 0, 1, 0xFFFFFFF0]),
            "bias_slope": float_bits(rng.choice([0, 0, 1.5])),
        }
        state = draw_state(
            WIDTH,
            HEIGHT,
            4,
            depth_format=form,
            depth_max=MOST[form],
            depth_compare=rng.integers(0, 8),
            depth_test=rng.random() < 0.9,
            depth_write=rng.random() < 0.8,
            does=depths.does(rng),
            **op,
            **stencil,
            **bias,
        )
        triangles = scenes.triangles(rng, 6, WIDTH, HEIGHT)
        level = rng.integers(0, 1 << 32)
        for k in range(3):
            triangles[f"z{k}"] = np.clip(
                level + rng.integers(0, 1 << rng.integers(8, 31)), 0, ((1 << 24) - 1) << 8
            )
        yield state, rasterize(setup(triangles, state).records)[0]


@pytest.mark.plan("depth-unit-1", "hiz-6")
@pytest.mark.parametrize("bounds", ["both", "max"])
@pytest.mark.parametrize("form", list(DepthFormat))
def test_hiz_on_is_hiz_off(form, bounds):
    """Results do not depend on HiZ.

    Draws vary function, write mask, stencil, bias, format and permissions.
    """
    rng = np.random.default_rng([int(form), len(bounds)])
    found = np.zeros(3, int)
    for _ in range(12):
        units = None
        for state, tiles in draws(rng, form, 12):
            if not units:
                units = [DepthUnit(state, bounds=b) for b in (bounds, None)]
                late = []
                feedback = units[0].hiz.feedback
                units[0].hiz.feedback = lambda *report, late=late: late.append(report)
            for unit in units:
                unit.state = state
            if rng.random() < 0.4:
                given = depths.clear(rng, (WIDTH, HEIGHT), form)
                for unit in units:
                    unit.clear(
                        [given[name] for name in ("x0", "y0", "x1", "y1")],
                        min(given["depth_value"], MOST[form]) if given["depth"] else None,
                        given["stencil_value"] if given["stencil"] else None,
                    )
            while late and rng.random() < 0.8:  # reports come as late as they like
                feedback(*late.pop(0))
            (passed, outcome), (wanted, _) = (unit.test(tiles) for unit in units)
            assert (passed == wanted).all()
            assert (units[0].buffer.depth == units[1].buffer.depth).all() and (
                units[0].buffer.stencil == units[1].buffer.stencil
            ).all()
            found += np.bincount(outcome, minlength=3)
            accepted = outcome == Outcome.ACCEPT
            assert (passed[accepted] == unpack(tiles["mask"])[accepted]).all()
    assert found.min() > 50, found


@pytest.mark.plan("depth-test-12", "depth-unit-3")
@pytest.mark.parametrize("compare", Compare)
def test_a_batch_is_as_if_one_by_one(compare):
    state, tiles = next(draws(np.random.default_rng(compare), DepthFormat.D24, 1))
    state["depth_compare"] = compare
    state["depth_test"] = 1
    state["depth_write"] = 1
    batch = DepthUnit(state)
    single = DepthUnit(state)
    passed, outcome = batch.test(tiles)
    ones = [single.test(tiles[n : n + 1]) for n in range(len(tiles))]
    assert len(tiles) and (passed == np.concatenate([result[0] for result in ones])).all()
    assert (outcome == np.concatenate([result[1] for result in ones])).all()
    assert (batch.buffer.image() == single.buffer.image()).all()


def test_rounds_visit_each_place_in_order():
    place = np.random.default_rng(0).integers(0, 5, 60)
    seen = np.concatenate(rounds(place))
    assert sorted(seen.tolist()) == list(range(60))
    for p in range(5):
        assert (np.diff(seen[place[seen] == p]) > 0).all()
    assert all(len(np.unique(place[turn])) == len(turn) for turn in rounds(place))


# Parameter errors.


@pytest.mark.parametrize("bounds", ["both", None])
def test_a_tile_outside_the_target(bounds):
    tile = np.zeros(1, dtype(payloads.TILE))
    unit = DepthUnit(draw_state(WIDTH, HEIGHT), bounds=bounds)
    tile["x"] = 6
    with pytest.raises(InputError, match=r"tile x must lie in 0\.\.5, not 6"):
        unit.test(tile)


def test_a_state_of_another_target():
    unit = DepthUnit(draw_state(WIDTH, HEIGHT))
    with pytest.raises(InputError, match="depth_format must be the target's 1, not 0"):
        unit.state = draw_state(WIDTH, HEIGHT, depth_format=DepthFormat.D16)


@pytest.mark.plan("depth-unit-6")
def test_wrong_parameters():
    with pytest.raises(ValueError, match="tiles must be a power of two above 1, not 3"):
        rtl.DepthUnitParams(tiles=3)
    with pytest.raises(ValueError, match="entries must be a power of two in 8..131072, not 3"):
        rtl.DepthUnitParams(entries=3)


# Elaborates; benches: HiZ on is HiZ off in hardware too.


@pytest.mark.plan("depth-unit-2", "hiz-14")
@pytest.mark.parametrize(("config", "count"), by_tier([("tiny", 400), ("default", 100)]))
def test_volume(config, count):
    check_paces(BLOCK, config, count)


@pytest.mark.plan("depth-unit-4")
@pytest.mark.parametrize("beyond", ["a target that was not cleared", "the tiles on chip"])
def test_reports_of_tiles_that_are_refused(beyond):
    """HiZ counts tiles that it lets through: more than it can count are refused untested."""
    params = rtl.CONFIGS["tiny"]
    edge = 4
    pixels = params.tiles * edge if beyond == "the tiles on chip" else WIDTH
    state = draw_state(pixels, 2 * edge)
    tiles = np.zeros(300, dtype(payloads.tile(edge)))
    state["early_write"] = state["hiz_accept"] = 0  # so that answers come as well
    tiles["x"] = np.arange(300) % (pixels // edge)
    tiles["y"] = beyond == "the tiles on chip"
    tiles["mask"] = 1
    tiles["last"] = 1
    cleared = {
        "depth": 1,
        "stencil": 1,
        "x1": pixels if beyond == "the tiles on chip" else edge,
        "y1": 2 * edge,
    }
    rows = [
        codec.pack(state, payloads.DRAW_STATE, WIDEST),
        scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDEST, **cleared),
        codec.pack(tiles, payloads.tile(edge), WIDEST),
        scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDEST),
    ]
    out = check(BLOCK, "tiny", np.concatenate(rows))
    assert len(out) == 303
    assert codec.unpack(out[-1:], payloads.FENCE, dtype(payloads.FENCE))["error"][0] != 0


@pytest.mark.plan("depth-unit-5")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)
