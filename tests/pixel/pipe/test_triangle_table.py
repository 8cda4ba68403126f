# SPDX-License-Identifier: BSD-2-Clause
import pytest
from amaranth.sim import Simulator

from fixfunc.rtl.pixel.pixel_pipe.triangle_table import TriangleTable
from fixfunc.spec.state import Kind

TRIANGLES = 8


@pytest.mark.plan("pixel-pipe-18")
def test_a_late_fence_frees_no_row_that_is_held():
    """Quads of a triangle behind it were shaded before it came back: the table stays full."""
    table = TriangleTable(TRIANGLES, 2)
    accepted = []

    async def drive(ctx):
        async def put(clocks):
            """Offer triangles for so many clocks; how many were taken."""
            before = len(accepted)
            ctx.set(table.i.valid, 1)
            for _ in range(clocks):
                if ctx.get(table.i.ready):
                    accepted.append(1)
                await ctx.tick()
            ctx.set(table.i.valid, 0)
            return len(accepted) - before

        async def tell(port, **fields):
            """A beat of one clock."""
            for name, value in (fields | {"valid": 1}).items():
                ctx.set(port[name], value)
            await ctx.tick()
            ctx.set(port.valid, 0)

        ctx.set(table.o.ready, 1)
        ctx.set(table.i.payload.draw_state.kind, Kind.STATE)
        ctx.set(table.i.payload.draw_state.built_in, 1)
        ctx.set(table.i.valid, 1)
        await ctx.tick()
        ctx.set(table.i.payload.as_value(), 0)
        ctx.set(table.i.payload.triangle.kind, Kind.WORK)
        assert await put(2 * TRIANGLES) == TRIANGLES
        await tell(table.shaded, slot=5)
        assert await put(2 * TRIANGLES) == 5
        # A RELEASE that was sent behind four triangles, and before the sixth.
        await tell(table.returned, passed=4, sequence=1)
        assert await put(2 * TRIANGLES) == 0
        await tell(table.returned, passed=7, sequence=1)
        assert await put(2 * TRIANGLES) == 2

    simulator = Simulator(table)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
