# SPDX-License-Identifier: BSD-2-Clause
"""Conservative depth: a shader moves depths in one direction, and HiZ knows no more than that."""

import numpy as np
import pytest

from fixfunc.models.depth.depth_test import in_range, new_depths
from fixfunc.models.depth.depth_unit import DepthUnit, Shaded
from fixfunc.models.formats import MOST
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.state import MOVED, Compare, DepthFormat, Outcome

D24_MOST = MOST[DepthFormat.D24]
RAISES = "depth_greater_equal"
LOWERS = "depth_less_equal"


def flat_tile(depth):
    """A tile of which every sample is covered, at one depth of 0..1."""
    tile = np.zeros(1, dtype(payloads.TILE))
    tile["zmin"] = tile["zmax"] = depth * D24_MOST
    tile["z0"] = tile["zmin"].astype(np.int64) << 8
    tile["mask"] = ~np.uint64(0)
    tile["full"] = 1
    tile["last"] = 1
    return tile


def stores(depth):
    """A shader that gives every sample one depth of 0..1."""

    def shade(tiles, _numbers):
        shape = (len(tiles), 8, 8)
        return Shaded(np.ones(shape, bool), np.full(shape, int(depth * D24_MOST), np.uint32))

    return shade


def moves(seed, state):
    """A shader that moves depths in the direction of a state: not at all, a little, to its end.

    How far depends on the sample alone, since HiZ may drop the tiles beside it.
    """
    most = MOST[DepthFormat(state["depth_format"])]

    def shade(tiles, _numbers):
        depths = in_range(new_depths(tiles, state), state).astype(np.int64)
        place = (tiles["x"].astype(np.int64) * 5 + tiles["y"] * 11)[:, None, None]
        lane = np.arange(64).reshape(8, 8)
        step = np.array([0, 0, 1, most // 3, most])[(place + lane * 7 + seed) % 5]
        moved = depths + (step if state["depth_raised"] else -step)
        return Shaded(np.ones(depths.shape, bool), np.clip(moved, 0, most).astype(np.uint32))

    return shade


@pytest.mark.plan("hiz-17")
@pytest.mark.parametrize("compare", [Compare.ALWAYS, Compare.NOT_EQUAL])
@pytest.mark.parametrize(
    ("does", "cleared", "drawn", "stored", "then", "after"),
    [
        (RAISES, 0.2, 0.3, 0.9, Compare.LESS, 0.5),
        (LOWERS, 0.8, 0.7, 0.1, Compare.GREATER, 0.5),
    ],
)
def test_what_was_moved_is_seen_before_it_is_reported(
    compare, does, cleared, drawn, stored, then, after
):
    """A report is late; the draw after it is visible, and HiZ must not drop it."""
    state = draw_state(8, 8, does=[does], depth_compare=compare)
    unit = DepthUnit(state)
    unit.clear((0, 0, 8, 8), int(cleared * D24_MOST), 0)
    unit.hiz.feedback = lambda *_report: None
    assert unit.test(flat_tile(drawn), stores(stored))[0].all()
    unit.state = draw_state(8, 8, depth_compare=then)
    passed, outcome = unit.test(flat_tile(after))
    assert passed.all() and outcome[0] != Outcome.DROP


@pytest.mark.plan("hiz-17")
@pytest.mark.parametrize(("does", "drawn"), [(RAISES, 0.3), (LOWERS, 0.7)])
def test_a_depth_that_moves_may_become_equal(does, drawn):
    state = draw_state(8, 8, does=[does], depth_compare=Compare.EQUAL)
    assert not state["hiz_drop"]
    unit = DepthUnit(state)
    unit.clear((0, 0, 8, 8), D24_MOST // 2, 0)
    assert unit.test(flat_tile(drawn), stores(0.5))[0].all()


@pytest.mark.plan("hiz-17")
@pytest.mark.parametrize(
    ("does", "compare", "drawn", "drops"),
    [
        (RAISES, Compare.LESS, 0.6, True),
        (RAISES, Compare.LESS_EQUAL, 0.6, True),
        (RAISES, Compare.LESS, 0.4, False),
        (RAISES, Compare.GREATER, 0.4, False),
        (LOWERS, Compare.GREATER, 0.4, True),
        (LOWERS, Compare.GREATER_EQUAL, 0.4, True),
        (LOWERS, Compare.GREATER, 0.6, False),
        (LOWERS, Compare.LESS, 0.6, False),
    ],
)
def test_depths_that_move_away_from_what_passes_are_dropped(does, compare, drawn, drops):
    """[fs 16.9.3]: early depth cull where direction and function are compatible."""
    unit = DepthUnit(draw_state(8, 8, does=[does], depth_compare=compare))
    unit.clear((0, 0, 8, 8), D24_MOST // 2, 0)
    outcome = unit.test(flat_tile(drawn), stores(drawn))[1]
    assert (outcome[0] == Outcome.DROP) == drops


@pytest.mark.plan("hiz-17")
@pytest.mark.parametrize("form", list(DepthFormat))
@pytest.mark.parametrize("does", MOVED)
def test_hiz_on_is_hiz_off(does, form):
    """Draws of every function move depths; reports come as late as they like."""
    rng = np.random.default_rng([int(form), len(does)])
    most = MOST[form]
    outcomes = np.zeros(3, int)
    for _ in range(30):
        late = []
        units = None
        for _ in range(12):
            does_now = [does] if rng.random() < 0.6 else ["plain"]
            state = draw_state(
                16, 16, does=does_now, depth_format=form, depth_compare=rng.integers(0, 8)
            )
            if not units:
                units = [DepthUnit(state, bounds=bounds) for bounds in ("both", None)]
                feedback = units[0].hiz.feedback
                units[0].hiz.feedback = lambda *report, late=late: late.append(report)
                cleared = int(rng.integers(0, most + 1))
                for unit in units:
                    unit.clear((0, 0, 16, 16), cleared, 0)
            while late and rng.random() < 0.6:
                feedback(*late.pop(0))
            tiles = np.concatenate([flat_tile(rng.choice([0, 1, rng.random()])) for _ in range(4)])
            tiles["x"] = [0, 1, 0, 1]
            tiles["y"] = [0, 0, 1, 1]
            seed = int(rng.integers(0, 1 << 30))
            passed = []
            for unit in units:
                unit.state = state
                shader = moves(seed, state) if does_now == [does] else None
                done, outcome = unit.test(tiles, shader)
                passed.append(done)
                if unit.hiz:
                    outcomes += np.bincount(outcome, minlength=3)
            assert (passed[0] == passed[1]).all()
            assert (units[0].buffer.depth == units[1].buffer.depth).all()
    assert outcomes.min() > 20, outcomes
