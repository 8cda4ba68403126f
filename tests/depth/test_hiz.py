# SPDX-License-Identifier: BSD-2-Clause
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixfunc.models.depth.compare import COMPARE
from fixfunc.models.depth.depth_bounds import DRAWN_BOUNDS, drawn_bounds
from fixfunc.models.depth.hiz import HiZ, outcome
from fixfunc.models.depth.stencil import OPERATE
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.hiz import hiz as rtl
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Bound, Compare, Outcome, StencilOp
from tests.bench import check_bench
from tests.tiers import by_tier
from tests.volume import check_paces

BLOCK = "hiz"


def drawn(low, high, compare, full=False, write=True, drop=True, accept=True, x=0, y=0):
    return np.array(
        [(x, y, low, high, full, compare, write, drop, accept, 0, 0, 0, 0, 0, 0, 0)], DRAWN_BOUNDS
    )


# Model truths.


@pytest.mark.plan("hiz-1")
@pytest.mark.parametrize("compare", Compare)
def test_outcomes_are_what_all_samples_say(compare):
    """Dropped, or accepted, exactly where no, or every, pair of depths passes.

    Every pair of ranges of three bits is tried.
    """
    ranges = [r for r in itertools.product(range(8), repeat=2) if r[0] <= r[1]]
    for (low, high), (zmin, zmax) in itertools.product(ranges, repeat=2):
        new, old = np.meshgrid(np.arange(low, high + 1), np.arange(zmin, zmax + 1))
        passed = COMPARE[compare](new, old)
        drop, accept = outcome(compare, *(np.array([v]) for v in (low, high, zmin, zmax)))
        assert drop[0] == (not passed.any()), (low, high, zmin, zmax)
        # One value against one value may be equal; the contract never accepts that, since bounds
        # are rounded outward.
        if not (compare == Compare.EQUAL and low == high == zmin == zmax):
            assert accept[0] == passed.all(), (low, high, zmin, zmax)


draws = st.tuples(
    st.sampled_from(list(Compare)),
    st.integers(0, 7),
    st.integers(0, 7),
    st.booleans(),
    st.booleans(),
    st.integers(1, 7),
)
events = st.lists(
    st.one_of(
        st.tuples(st.just("draw"), draws),
        st.tuples(st.just("write"), st.none()),
        st.tuples(st.just("clear"), st.tuples(st.integers(0, 7), st.booleans())),
        st.tuples(st.just("switch"), st.none()),
    ),
    min_size=1,
    max_size=40,
)


@pytest.mark.plan("hiz-3")
@pytest.mark.parametrize("bounds", ["both", "max"])
@settings(max_examples=600, deadline=None)
@given(events=events, seed=st.integers(0, 1 << 30))
def test_no_visible_sample_is_dropped_and_no_hidden_one_accepted(bounds, events, seed):
    """A tile of three samples, three bits deep, under random events.

    Events are draws, clears, saves, and writes and reports that come late.
    """
    rng = np.random.default_rng(seed)
    shape = {"width": 3, "height": 1, "edge": 4, "bounds": bounds, "bits": 3, "stored": 2}
    hiz = HiZ(**shape)
    held = np.full(3, 7)
    late = []
    hiz.clear(7)

    def finish():
        kind, given = late.pop(0)
        if kind == "clear":
            depth, part = given
            held[: 1 if part else 3] = depth
            return
        compare, depths, mask, certain, write, found, serial = given
        passed = COMPARE[compare](depths, held) & mask
        assert not (found == Outcome.DROP and passed.any())
        assert not (found == Outcome.ACCEPT and (passed != mask).any())
        if write:
            kept = passed & (certain | (rng.random(3) < 0.5))
            held[kept] = depths[kept]
        if found != Outcome.DROP and write:
            hiz.feedback([0], [0], [held.min()], [held.max()], serial)

    for kind, what in events:
        if kind == "draw":
            compare, a, b, certain, write, mask = what
            low = min(a, b)
            high = max(a, b)
            mask = np.array([mask & 1, mask & 2, mask & 4], bool)
            found = hiz.step(drawn(low, high, compare, full=certain and mask.all(), write=write))[0]
            late.append(
                (
                    "draw",
                    (
                        compare,
                        rng.integers(low, high + 1, 3),
                        mask,
                        certain,
                        write,
                        found,
                        hiz.serial,
                    ),
                )
            )
        elif kind == "clear":
            hiz.clear(what[0], (0, 0, 1, 1) if what[1] else None)
            late.append(("clear", what))
        elif kind == "switch":
            while late:
                finish()
            saved = hiz.save()
            hiz = HiZ(**shape)
            hiz.restore(saved)
            assert (hiz.save() == saved).all()
        elif late:
            finish()
    while late:
        finish()


@pytest.mark.plan("hiz-7")
def test_one_bound_turns_off_until_the_next_whole_clear():
    hiz = HiZ(8, 8, bounds="max")
    hiz.clear(5 << 20)
    assert hiz.step(drawn(6 << 20, 7 << 20, Compare.LESS)) == Outcome.DROP
    assert hiz.step(drawn(1 << 20, 2 << 20, Compare.GREATER)) == Outcome.TEST
    hiz.feedback([0], [0], [5 << 20], [5 << 20], 1)
    assert hiz.step(drawn(6 << 20, 7 << 20, Compare.LESS)) == Outcome.TEST
    hiz.clear(5 << 20, (0, 0, 4, 8))
    assert hiz.step(drawn(6 << 20, 7 << 20, Compare.LESS)) == Outcome.TEST
    hiz.clear(5 << 20)
    assert hiz.step(drawn(1 << 20, 2 << 20, Compare.GREATER)) == Outcome.DROP


@pytest.mark.plan("hiz-7")
@pytest.mark.parametrize(("value", "bound"), [((1 << 24) - 1, Bound.MAX), (0, Bound.MIN)])
def test_a_rectangle_cleared_first_chooses_the_bound(value, bound):
    hiz = HiZ(16, 8, bounds="max")
    hiz.clear(1 << 22)
    hiz.clear(value, (0, 0, 8, 8))
    assert hiz.bound == bound
    hiz.clear(1 << 22, (0, 0, 4, 8))
    hiz.clear(1 << 23, (8, 0, 16, 8))
    assert hiz.save()["low" if bound == Bound.MIN else "high"].tolist() == [
        value >> 10 if bound == Bound.MAX else 0,
        1 << 13,
    ]


@pytest.mark.plan("hiz-8")
def test_one_bound_comes_back_only_where_none_or_the_same_has_been_chosen():
    saved = HiZ(16, 8, bounds="max").save()
    saved["bound"] = Bound.MIN
    saved["low"] = 5
    saved["high"] = (1 << 14) - 1
    fresh = HiZ(16, 8, bounds="max")
    same = HiZ(16, 8, bounds="max")
    opposite = HiZ(16, 8, bounds="max")
    for hiz, compare in ((same, Compare.GREATER), (opposite, Compare.LESS)):
        hiz.clear(0)
        hiz.step(drawn(9, 9, compare, write=False))
    for hiz in (fresh, same, opposite):
        hiz.restore(saved)
    assert (fresh.save() == saved).all()
    assert (same.save() == saved).all()
    assert opposite.save()[["bound", "low", "high"]].tolist() == 2 * [(Bound.MAX, 0, 0)]


@pytest.mark.plan("hiz-8")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"x": 2}, "tile x must lie in 0..1, not 2"),
        ({"low": 9}, "low must be at most high 8, not 9"),
        ({"stencil_low": 9}, "stencil_low must be at most stencil_high 8, not 9"),
        ({"high": 1 << 14}, "high must lie in 0..16383, not 16384"),
        ({"bound": 4}, "bound must lie in 0..3, not 4"),
    ],
)
def test_what_comes_back_is_checked_before_anything_is_put_back(fields, message):
    hiz = HiZ(16, 8)
    saved = hiz.save()
    saved["low"] = 3
    saved["high"] = 8
    saved["stencil_high"] = 8
    before = hiz.save()
    for name, value in fields.items():
        saved[name][1] = value
    with pytest.raises(InputError, match=message):
        hiz.restore(saved)
    assert (hiz.save() == before).all()


@pytest.mark.plan("hiz-11")
def test_a_larger_target_is_covered_in_part():
    hiz = HiZ(32, 16, entries=4)
    hiz.clear(0)
    found = [
        hiz.step(drawn(1 << 20, 1 << 20, Compare.LESS, x=x, y=y))[0]
        for y in range(2)
        for x in range(4)
    ]
    assert found == 2 * ([Outcome.DROP] * 2 + [Outcome.TEST] * 2)


def test_permissions_are_kept():
    hiz = HiZ(8, 8)
    hiz.clear(1 << 23)
    assert hiz.step(drawn(1 << 23, 1 << 23, Compare.LESS, drop=False, write=False)) == Outcome.TEST
    assert hiz.step(drawn(1, 1, Compare.LESS, accept=False, write=False)) == Outcome.TEST
    assert hiz.step(drawn(1, 1, Compare.LESS, write=False)) == Outcome.ACCEPT


@pytest.mark.plan("hiz-4")
@pytest.mark.parametrize("func", Compare)
def test_a_range_of_stencil_values_drops_what_can_only_fail(func):
    """Dropped if, and only if, no value that may be stored passes.

    The range is cleared to one value, then widened by every operation.
    """
    operations = [
        (op, fail_op)
        for op in StencilOp
        for fail_op in (StencilOp.KEEP, StencilOp.ZERO, StencilOp.INCR_SAT)
    ]
    for (op, fail_op), cleared, ref in itertools.product(operations, (0, 3, 255), (0, 2, 3)):
        hiz = HiZ(8, 8)
        stored = {cleared}
        hiz.clear(stencil=cleared)
        draws = [{"front_pass": op, "front_depth_fail": fail_op}, {}, {"read": 2}]
        for n, fields in enumerate(draws):
            values = {"func": Compare.ALWAYS} if not n else {"func": func}
            state = draw_state(
                8,
                8,
                stencil_test=1,
                stencil_read=fields.get("read", 255),
                stencil_write=255,
                stencil_ref=ref,
                stencil_front_func=values["func"],
                **{f"stencil_{k}": v for k, v in fields.items() if k != "read"},
            )
            found = hiz.step(drawn_bounds(np.zeros(1, dtype(payloads.TILE)), state))[0]
            if n:
                read = int(state["stencil_read"])
                may_pass = any(COMPARE[func](ref & read, value & read) for value in stored)
                assert not (found == Outcome.DROP and may_pass)
                if len(stored) == 1 and {op, fail_op} <= {
                    StencilOp.KEEP,
                    StencilOp.ZERO,
                    StencilOp.REPLACE,
                }:
                    assert (found == Outcome.DROP) == (not may_pass)
            else:
                stored |= {int(OPERATE[o](np.int64(cleared), ref)) for o in (op, fail_op)}


# Parameter errors.


@pytest.mark.plan("hiz-15")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width": 0}, "width must be above 0, not 0"),
        ({"entries": 3}, "entries must be a power of two above 3, not 3"),
        ({"samples": 3}, "samples must be one of 1, 2, 4, 8, not 3"),
        ({"bounds": "min"}, "bounds must be 'both' or 'max', not 'min'"),
        ({"stored": 25}, "stored must lie in 1..24 bits, not 25"),
    ],
)
def test_wrong_parameters(arguments, message):
    with pytest.raises(InputError, match=message):
        HiZ(**({"width": 8, "height": 8} | arguments))


@pytest.mark.plan("hiz-15")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge": 16}, "edge must be 4 or 8, not 16"),
        ({"samples": 3}, "samples must be 1, 2, 4 or 8, not 3"),
        ({"entries": 12}, "entries must be a power of two in 8..131072, not 12"),
        ({"clears": 0}, "clears must be 1 to 8, not 0"),
        ({"bounds": "min"}, "bounds must be 'both' or 'max', not 'min'"),
    ],
)
def test_wrong_shapes(arguments, message):
    with pytest.raises(ValueError, match=message):
        rtl.HizParams(**arguments)


# Elaborates, in every configuration; benches.


@pytest.mark.plan("hiz-12")
@pytest.mark.parametrize(
    ("config", "count"),
    by_tier(
        [
            ("tiny", 400),
            ("tiny_one_bound", 400),
            ("small", 150),
            ("one_bound", 150),
            ("default", 60),
        ]
    ),
)
def test_volume(config, count):
    check_paces(BLOCK, config, count)


@pytest.mark.plan("hiz-13")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)
