# SPDX-License-Identifier: BSD-2-Clause
"""The range check of planes, by its contract: so late after the last change of any input."""

import pytest
from amaranth.sim import Simulator

from fixfunc.rtl.frontend.state_check import PlaneCheck


@pytest.mark.parametrize("first", [8, 64])
def test_the_check_is_settled_after_its_latency(first):
    """A target of 64x64 pixels needs 16 KB and a table; one of 8x8 fits."""
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
