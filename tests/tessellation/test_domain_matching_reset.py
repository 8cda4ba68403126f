# SPDX-License-Identifier: BSD-2-Clause
"""Domain matching after a reset: places are free, and releases of before it are wrong."""

import numpy as np
import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator

from fixfunc.models.payload import dtype
from fixfunc.rtl.tessellation.domain_matching import CONFIGS, DomainMatching
from fixfunc.spec.points import DOMAIN_POINT
from fixfunc.spec.state import PointKind

PARAMS = CONFIGS["tiny"]
PLACES = PARAMS.lanes * PARAMS.waves
DRAINED = 20  # clocks


class Bench:
    """A unit in Amaranth's simulator: what goes out, and how many releases were wrong."""

    def __init__(self):
        self._reset = Signal()
        self._unit = DomainMatching(PARAMS)
        self.out = []
        self.wrong = []

    async def send(self, ctx, points):
        """Points, one after the other; one that stalls is given up."""
        for point in points:
            for field in DOMAIN_POINT:
                ctx.set(self._unit.i.payload[field.name], int(point[field.name]))
            ctx.set(self._unit.i.valid, 1)
            ready = 0
            for _ in range(4 * PLACES):
                if not ready:
                    *_, ready = await ctx.tick().sample(self._unit.i.ready)
            ctx.set(self._unit.i.valid, 0)

    async def release(self, ctx, vertices):
        """One release a clock."""
        ctx.set(self._unit.release.valid, 1)
        for vertex in vertices:
            ctx.set(self._unit.release.payload, int(vertex))
            await ctx.tick()
        ctx.set(self._unit.release.valid, 0)

    async def reset(self, ctx):
        """Two clocks of reset; what was put out is forgotten."""
        ctx.set(self._reset, 1)
        await ctx.tick().repeat(2)
        ctx.set(self._reset, 0)
        self.out.clear()

    async def _watch(self, ctx):
        unit = self._unit
        ctx.set(unit.o.ready, 1)
        ctx.set(unit.counted.ready, 1)
        async for _, _, valid, kind, dsid, counted, wrong in ctx.tick().sample(
            unit.o.valid,
            unit.o.payload.kind,
            unit.o.payload.dsid,
            unit.counted.valid,
            unit.counted.payload.wrong,
        ):
            if valid:
                self.out.append((kind, dsid))
            if counted:
                self.wrong.append(wrong)

    def run(self, drive):
        """Run a testbench to its end."""
        simulator = Simulator(ResetInserter(self._reset)(self._unit))
        simulator.add_clock(1e-6)
        simulator.add_testbench(drive)
        simulator.add_testbench(self._watch, background=True)
        simulator.run()


def points(count, patches=1):
    """Different points; each of the first ``patches`` begins a patch."""
    records = np.zeros(count, dtype(DOMAIN_POINT))
    records["u"] = np.arange(count)
    records["first"][:patches] = 1
    return records


def end():
    """The end of a draw, which reports the counters."""
    record = np.zeros(1, dtype(DOMAIN_POINT))
    record["kind"] = PointKind.END
    return record


async def hold_places(bench, ctx):
    """All places have been taken, and half of them released."""
    await bench.send(ctx, points(PLACES))
    await bench.release(ctx, range(PLACES // 2))
    await ctx.tick().repeat(DRAINED)
    assert len(bench.out) == PLACES


@pytest.mark.plan("domain-matching-12")
@pytest.mark.parametrize("held", [False, True])
def test_releases_of_before_a_reset_free_nothing(held):
    """One vertex of wave 0 is held; its wave, which the last point needs, is not released."""
    bench = Bench()

    async def drive(ctx):
        if held:
            await hold_places(bench, ctx)
        await bench.reset(ctx)
        later = points(PLACES - PARAMS.lanes + 2, 2)  # the second patch begins with wave 1
        await bench.send(ctx, later[:1])
        await bench.release(ctx, range(1, PARAMS.lanes))
        await bench.send(ctx, later[1:])
        await ctx.tick().repeat(DRAINED)

    bench.run(drive)
    vertices = [0, *range(PARAMS.lanes, PLACES)]
    assert bench.out == [(PointKind.POINT, n) for n in vertices] + [(PointKind.FLUSH, 0)]


@pytest.mark.plan("domain-matching-12")
@pytest.mark.parametrize("held", [False, True])
def test_releases_in_the_first_clocks_are_wrong(held):
    """Counts are being set to zero, from the first vertex on."""
    bench = Bench()

    async def drive(ctx):
        if held:
            await hold_places(bench, ctx)
        await bench.reset(ctx)
        await bench.release(ctx, reversed(range(PLACES)))
        await bench.send(ctx, [*points(PLACES), *end()])
        await ctx.tick().repeat(DRAINED)

    bench.run(drive)
    assert bench.out[:PLACES] == [(PointKind.POINT, n) for n in range(PLACES)]
    assert bench.wrong == [PLACES]


@pytest.mark.plan("domain-matching-12")
def test_points_in_the_first_clocks_are_counted():
    """Every point begins a wave, so that places are taken sooner than counts are set to zero."""
    bench = Bench()
    first = range(0, PLACES, PARAMS.lanes)

    async def drive(ctx):
        await hold_places(bench, ctx)
        await bench.reset(ctx)
        await bench.send(ctx, points(PARAMS.waves, PARAMS.waves))
        await ctx.tick().repeat(DRAINED)
        await bench.release(ctx, first)
        await bench.send(ctx, [*points(1), *end()])
        await ctx.tick().repeat(DRAINED)

    bench.run(drive)
    assert bench.out[: PARAMS.waves] == [(PointKind.POINT, n) for n in first]
    assert (PointKind.FLUSH, 0) not in bench.out
    assert bench.wrong == [0]
