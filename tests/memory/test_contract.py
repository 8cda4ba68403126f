# SPDX-License-Identifier: BSD-2-Clause
"""What stages obey, what they refuse, what a fence reports."""

from collections import Counter

import numpy as np
import pytest

from fixfunc.models.memory.contract import FenceCounts, StageContract, StageLimits
from fixfunc.models.memory.counters import cause_of, counter_record
from fixfunc.models.memory.surface import tile_grid
from fixfunc.models.memory.tile_cache import TrafficKind
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.memory import caching
from fixfunc.spec.state import BlendFactor, DepthFormat, FenceError, TileMode

SIZE = 20, 12


def state(**fields):
    return draw_state(*SIZE, **fields)


def clear(rectangle=(0, 0, *SIZE), **fields):
    record = np.zeros(1, dtype(payloads.CLEAR))
    for name, value in zip(("x0", "y0", "x1", "y1"), rectangle, strict=True):
        record[name] = value
    for name, value in ({"depth": 1, "stencil": 1} | fields).items():
        record[name] = value
    return record[0]


def fence(**fields):
    record = np.zeros(1, dtype(payloads.FENCE))
    for name, value in fields.items():
        record[name] = value
    return record[0]


def tiles(*places):
    out = np.zeros(len(places), dtype(payloads.tile(8)))
    out["x"], out["y"] = np.reshape(places, (-1, 2)).T
    return out


def begun(limits=None, **more):
    contract = StageContract(limits or StageLimits(), **more)
    contract.set_state(state())
    contract.clear(clear(colour=1))
    assert contract.fence.error == 0
    return contract


@pytest.mark.plan("contract-1")
@pytest.mark.parametrize(
    ("limits", "fields", "message"),
    [
        ({}, {"depth_format": 3}, "depth_format must be one of D16, D24, D32F, not 3"),
        ({}, {"bias_slope": 0x7F800000}, "bias_slope must be the bits of a finite float32"),
        ({}, {"depth_min": 5, "depth_max": 4}, "depth_min must not exceed depth_max 4, not 5"),
        (
            {"formats": (DepthFormat.D16, DepthFormat.D24)},
            {"depth_format": DepthFormat.D32F},
            "depth_format must be one of D16, D24, not D32F",
        ),
        ({"samples": 2}, {"samples": 2}, "samples must be at most 2, not 4"),
        (
            {"stencil": False},
            {"stencil_test": 1},
            "stencil_test must be 0 without stencil values, not 1",
        ),
    ],
)
def test_states_that_are_refused(limits, fields, message):
    limits = StageLimits(**limits)
    wrong = state()
    for name, value in fields.items():
        wrong[name] = value
    with pytest.raises(InputError, match=message):
        limits.check(wrong)
    assert not limits.supports(wrong)
    assert limits.supports(state())
    contract = begun(limits)
    assert not contract.set_state(wrong)
    assert not contract.accepted(tiles((0, 0))).any()
    assert contract.clear(clear()) is None
    assert contract.fence.error == FenceError.STATE
    assert contract.set_state(state())


@pytest.mark.plan("contract-2")
def test_a_target_begins_with_a_clear_of_all_of_it():
    contract = StageContract(StageLimits())
    assert not contract.set_state(state())
    assert not contract.accepted(tiles((0, 0), (1, 1))).any()
    for wrong in (clear((0, 0, 19, 12)), clear((1, 0, *SIZE)), clear(stencil=0), clear(depth=0)):
        assert contract.clear(wrong) is None
    assert contract.fence.error == FenceError.STATE
    contract.fence.error = 0
    cleared = contract.clear(clear((0, 0, 30, 99), depth_value=7, depth_base=64))
    assert cleared.begins_target
    assert cleared.covers_target
    assert cleared.rectangle == (0, 0, *SIZE)
    assert cleared.values == {"depth": 7, "stencil": 0}
    assert cleared.bases == {"depth": 64, "stencil": 0}
    assert contract.accepted(tiles((0, 0), (2, 1))).all()
    part = contract.clear(clear((3, 2, 9, 90), stencil=0))
    assert not part.begins_target
    assert not part.covers_target
    assert part.rectangle == (3, 2, 9, 12)
    assert list(part.values) == ["depth"]
    assert not contract.clear(clear()).begins_target
    assert contract.fence.error == 0


@pytest.mark.plan("contract-2")
def test_a_clear_that_may_not_begin_a_target():
    """Of a colour plane but the first: it is refused, unless the target has begun."""
    contract = StageContract(StageLimits(), planes=("colour",))
    contract.set_state(state())
    whole = clear(depth=0, stencil=0, colour=1)
    assert contract.clear(whole, may_begin=False) is None
    assert contract.fence.error == FenceError.STATE
    assert contract.clear(whole).begins_target
    assert not contract.clear(whole, may_begin=False).begins_target


@pytest.mark.plan("contract-3")
@pytest.mark.parametrize("name", ["target", "target_width", "target_height", "samples"])
def test_another_target_is_refused_until_it_begins(name):
    contract = begun()
    other = state()
    other[name] += 1
    assert not contract.set_state(other)
    assert contract.clear(clear((0, 0, 5, 5))) is None
    assert contract.set_state(state())  # the first one is in force still
    contract.set_state(other)
    assert contract.clear(clear((0, 0, 99, 99))).begins_target
    assert not contract.set_state(state())


@pytest.mark.plan("contract-4")
def test_a_depth_that_the_format_cannot_store_is_refused():
    contract = StageContract(StageLimits())
    contract.set_state(state(depth_format=DepthFormat.D16, depth_max=0xFFFF))
    assert contract.clear(clear(depth_value=0x10000)) is None
    assert contract.fence.error == FenceError.STATE
    assert contract.clear(clear(depth_value=0xFFFF))
    assert contract.clear(clear(depth=0, depth_value=0x10000))


@pytest.mark.plan("contract-5")
def test_planes_of_a_stage():
    """Colours begin with colours alone, and know nothing of depths."""
    contract = StageContract(StageLimits(), ("colour",))
    contract.set_state(state())
    assert contract.clear(clear()) is None
    assert contract.fence.error == 0
    cleared = contract.clear(clear(colour=1, colour_value=9, depth_value=(1 << 32) - 1))
    assert cleared.values == {"colour": 9}
    assert cleared.begins_target
    without = StageContract(StageLimits(stencil=False), begins=("depth",))
    without.set_state(state())
    assert without.clear(clear(stencil=0)).begins_target


@pytest.mark.plan("contract-5")
def test_a_stage_that_begins_with_every_state():
    contract = StageContract(StageLimits(), begins=())
    assert contract.set_state(state())
    assert contract.accepted(tiles((0, 0))).all()
    assert contract.clear(clear((0, 0, 1, 1)))
    assert contract.fence.error == 0


@pytest.mark.plan("contract-6")
@pytest.mark.parametrize("held", [None, 4])
def test_tiles_outside_are_refused(held):
    contract = begun(StageLimits(tiles=held))
    places = [(x, y) for y in range(3) for x in range(4)]
    columns, rows = tile_grid(state())
    assert (columns, rows) == (3, 2)
    wanted = [
        x < columns and y < rows and (held is None or y * columns + x < held) for x, y in places
    ]
    assert contract.accepted(tiles(*places)).tolist() == wanted
    assert contract.fence.error == FenceError.PLACE
    contract.fence.error = 0
    assert contract.accepted(tiles((0, 0))).all()
    assert not len(contract.accepted(tiles()))
    assert contract.fence.error == 0


@pytest.mark.plan("contract-7")
def test_fences_report_what_came_since_the_last_one():
    counts = FenceCounts()
    counts.passed = 5
    counts.error = FenceError.PLACE
    first = fence(error=FenceError.MEMORY)
    counts.report(first)
    assert (first["any"], first["passed"], first["error"]) == (1, 5, 6)
    second = fence(begin=1)
    counts.report(second)
    assert (second["passed"], second["error"]) == (5, 0)
    third = fence()
    counts.report(third)
    assert (third["any"], third["passed"]) == (0, 0)
    counts.passed = 3
    apart = fence(begin=1, passed=8, any=1)
    counts.report(apart, counts_samples=False)
    assert (apart["any"], apart["passed"], counts.passed) == (1, 8, 3)


@pytest.mark.plan("contract-8")
def test_every_counter_has_a_cause():
    causes = [cause_of(field.name) for field in caching.COUNTED]
    assert len(set(causes)) == len(causes)
    moves = dict.fromkeys(causes, 0) | {
        TrafficKind("fill", TileMode.RAW): 3,
        TrafficKind("table_fill", None): 2,
    }
    record = counter_record(moves)
    assert {name: record[name][0] for name in record.dtype.names if record[name]} == {
        f"fill_{int(TileMode.RAW)}": 3,
        "table_fill": 2,
    }


@pytest.mark.plan("contract-8")
def test_tiles_by_differences_are_no_transfers_of_the_hardware():
    moves = Counter({TrafficKind("fill", TileMode.DIFFERENCES_3): 1})
    with pytest.raises(InputError, match="transfers must be of modes that the hardware counts"):
        counter_record(moves)


@pytest.mark.plan("contract-1")
def test_a_stage_that_blends_refuses_what_it_cannot():
    """Factors of a second colour, where shaders give one. Other stages do not look at them."""
    wrong = state()
    first, other = BlendFactor.BLEND_FACTOR, BlendFactor.SRC1_COLOR
    for second, factor, planes, enable, legal in (
        (False, other, ("colour",), 1, False),
        (False, other, ("colour",), 0, True),
        (False, other, ("depth", "stencil"), 1, True),
        (False, first, ("colour",), 1, True),
        (True, other, ("colour",), 1, True),
    ):
        wrong["src_blend"] = factor
        contract = StageContract(StageLimits(second=second), planes)
        contract.set_state(state())
        contract.clear(clear(**dict.fromkeys(planes, 1)))
        wrong["blend_enable"] = enable
        assert contract.set_state(wrong) == legal
