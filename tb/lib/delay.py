# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.delay` and :mod:`fixfunc.rtl.lib.timeline`."""

from functools import partial

import cocotb
import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import delay as golden
from fixfunc.rtl.lib.delay import DelayLine, DrainTimer
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.tb.bench.clocked import Case, Clock, Example, check, pace

BITS = 8


class TwoClocks(wiring.Component):
    """A value that enters a timeline in clock 2, and is read in clocks 2 and 5."""

    i: In(BITS)
    clock_2: Out(BITS)
    clock_5: Out(BITS)

    def __init__(self, timeline: type[Timeline] = Timeline) -> None:
        self._timeline = timeline
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = self._timeline(m)
        t.enter(2, value=self.i)
        m.d.comb += [
            self.clock_2.eq(t[2].value),
            self.clock_5.eq(t[5].value),
        ]
        return m


def read_twice(values: np.ndarray) -> list[Clock]:
    """Values, and what a timeline says of them in the two clocks."""
    return [
        Clock(
            clock.inputs,
            {"clock_2": int(value)} | ({"clock_5": clock.outputs["o"]} if clock.outputs else {}),
        )
        for value, clock in zip(values, delayed(values, 3), strict=True)
    ]


def delayed(values: np.ndarray, clocks: int) -> list[Clock]:
    """Values of a delay line, and its output once it is filled."""
    return [
        Clock({"i": int(value)}, {"o": int(later)} if n >= clocks else {})
        for n, (value, later) in enumerate(zip(values, golden.delayed(values, clocks), strict=True))
    ]


def random_values(rng: np.random.Generator, count: int, clocks: int) -> list[Clock]:
    """Any value in any clock."""
    return delayed(rng.integers(0, 1 << BITS, count), clocks)


def timed(enter: np.ndarray, latency: int) -> list[Clock]:
    """What enters a pipeline, and whether it is drained."""
    return [
        Clock({"enter": int(value)}, {"drained": int(drained)})
        for value, drained in zip(enter, golden.drained(enter, latency), strict=True)
    ]


def random_entries(rng: np.random.Generator, clocks: int, latency: int) -> list[Clock]:
    """Bursts, single beats, and pauses that are too short by a clock."""
    return timed(pace(rng, clocks), latency)


def pause(clocks: int):
    """A bin: between two entries nothing entered in so many clocks."""
    return lambda trace, n: (
        [trace[n - k].inputs["enter"] for k in range(clocks + 2)]
        == [
            1,
            *[0] * clocks,
            1,
        ]
    )


CASES = {
    "timeline": Case(
        TwoClocks,
        lambda rng, clocks: read_twice(rng.integers(0, 1 << BITS, clocks)),
        {"it is filled": lambda trace, n: "clock_5" in trace[n].outputs},
    ),
    **{
        f"delay_line_{clocks}{'_near' if near else ''}": Case(
            partial(DelayLine, BITS, clocks, near),
            partial(random_values, clocks=clocks),
            {"it is filled": lambda trace, n: bool(trace[n].outputs)},
        )
        for clocks, near in ((3, False), (4, True), (17, True), (33, False))
    },
    **{
        f"drain_timer_{latency}": Case(
            partial(DrainTimer, latency),
            partial(random_entries, latency=latency),
            {
                "a pause too short by a clock": pause(latency),
                "a pause just long enough": pause(latency + 1),
            },
        )
        for latency in (1, 3, 4)
    },
}
EXAMPLES = {
    "timeline": Example(
        TwoClocks, lambda: read_twice(np.arange(1, 9)), ("i", "clock_2", "clock_5")
    ),
    "delay_line_3": Example(
        CASES["delay_line_3"].create, lambda: delayed(np.arange(1, 9), 3), ("i", "o")
    ),
    "drain_timer_3": Example(
        CASES["drain_timer_3"].create,
        lambda: timed(np.array([0, 1, 1, 0, 0, 0, 0, 0, 1, 0]), 3),
        ("enter", "drained"),
    ),
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
