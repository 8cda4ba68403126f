# SPDX-License-Identifier: BSD-2-Clause
"""What the command reader checks of planes, and the fence with which a START ends."""

from dataclasses import replace

import pytest
from amaranth.sim import Simulator

from fixfunc.cosim.commands import CommandList
from fixfunc.models.state import draw_state
from fixfunc.rtl.frontend.state_check import PlaneCheck
from fixfunc.rtl.top_params import CONFIGS
from fixfunc.spec.commands import CommandError
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Kind
from tests.frontend.test_resolve_packet import FREE, SIZE, both


@pytest.mark.parametrize("first", [8, 64])
def test_the_check_is_settled_after_its_latency(first):
    """A target of 64x64 pixels needs 16 KB and a table; one of 8x8 fits.

    The result is there so late after the last change of any input.
    """
    unit = PlaneCheck(8)
    seen = []

    async def bench(ctx):
        ctx.set(unit.planes, 1)
        ctx.set(unit.limit, 4096)
        for side in (first, 72 - first):
            ctx.set(unit.state.target_width, side)
            ctx.set(unit.state.target_height, side)
            await ctx.tick().repeat(PlaneCheck.LATENCY)
            seen.append(ctx.get(unit.o))

    simulator = Simulator(unit)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == [side == 8 for side in (first, 72 - first)]


OUTER = {"conservative": 1, "depth_test": 0, "depth_write": 0}


@pytest.mark.plan("command-reader-2")
@pytest.mark.parametrize("config", ["tiny", "tiny_planes"])
def test_conservative_coverage_is_of_one_sample_without_tests(config):
    """Where there is any: each rule by itself; what breaks none is accepted."""
    others = {}, {"depth_test": 1}, {"depth_write": 1}, {"stencil_test": 1}, {"samples": 1}
    for fields in others:
        state = draw_state(*SIZE)
        for name, value in (OUTER | fields).items():
            state[name] = value
        known = config == "tiny" and not fields
        result = both(CommandList().state(state), config=config)
        assert result.error == (CommandError.NONE if known else CommandError.STATE), fields


@pytest.mark.plan("top-13")
def test_a_top_accepts_what_its_setup_can():
    reader = replace(CONFIGS["tiny"].reader, conservative=False)
    rule = r"reader\.conservative must be setup\.conservative True, not False"
    with pytest.raises(InputError, match=rule):
        replace(CONFIGS["tiny"], reader=reader)


def packets():
    """A target that is cleared."""
    out = CommandList().target(0, 1 << 14, 1 << 15).state(draw_state(*SIZE))
    return out.clear((0, 0, *SIZE), depth=1, stencil=1, colour=1)


@pytest.mark.plan("command-reader-15")
@pytest.mark.parametrize(
    ("ends", "count"),
    [
        (lambda given: given, 1),
        (lambda given: given.fence(7), 1),
        (lambda given: given.fence(7).fence(8), 2),
        (lambda given: given.fence(7).target(FREE, FREE + (1 << 14), FREE + (1 << 15)), 2),
    ],
    ids=["no fence", "a fence", "two", "a packet behind it"],
)
def test_the_last_fence_ends_a_start(ends, count):
    """One follows packets that do not end with a FENCE; whichever is the last says so."""
    result = both(ends(packets()))
    assert result.error == CommandError.NONE
    slots = [int(records["slot"][0]) for kind, records in result.beats if kind == Kind.FENCE]
    assert slots == [0] * (count - 1) + [1]
