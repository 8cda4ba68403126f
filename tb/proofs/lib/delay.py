# SPDX-License-Identifier: BSD-2-Clause
"""Delays: registers of a timeline, a delay line in block RAM, a timer."""

from types import ModuleType

from amaranth.hdl import Module, Mux, Signal

from fixfunc.rtl.lib import delay, timeline
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties

BITS = 2
CLOCKS = 5


def delay_line(module: ModuleType = delay) -> Properties:
    """A delay of five clocks."""
    p = Properties()
    unit = module.DelayLine(BITS, CLOCKS)
    p.add(unit)
    elapsed = Signal(range(CLOCKS + 1))
    p.m.d.sync += elapsed.eq(Mux(elapsed == CLOCKS, CLOCKS, elapsed + 1))
    following = p.inner("unit.following")
    memory = "unit.memory"
    p.prove("delay", (elapsed < CLOCKS) | (unit.o == p.past(unit.i, CLOCKS)))
    p.prove("in_range", following < CLOCKS - 1)
    p.prove("apart", p.write_address(memory) != p.read_address(memory))
    p.reach("delayed", (elapsed == CLOCKS) & (unit.o == 3))
    return p


def drain_timer(module: ModuleType = delay) -> Properties:
    """A timer of three clocks."""
    p = Properties()
    latency = 3
    unit = module.DrainTimer(latency)
    p.add(unit)
    entered = Signal(latency + 1)
    p.m.d.sync += entered.eq((entered << 1) | unit.enter)
    p.prove("drained", unit.drained == ~entered.any())
    p.prove("in_range", p.inner("unit.remaining") <= latency)
    p.reach("drains", unit.drained & p.past(~unit.drained))
    return p


def values(module: ModuleType = timeline) -> Properties:
    """A timeline with values that enter in two clocks."""
    p = Properties()
    first = p.free(BITS, "first")
    second = p.free(BITS, "second")
    unit = Module()
    t = module.Timeline(unit)
    t.enter(1, first=first)
    t.enter(3, second=second)
    later = [(t[n].first, n - 1, first) for n in (1, 2, 5)]
    later += [(t[n].second, n - 3, second) for n in (4, 6)]
    p.add_module(unit)
    for n, (value, clocks, source) in enumerate(later):
        p.prove(f"value_{n}", value == p.past(source, clocks))
    p.reach("any", (t[5].first == 3) & (t[6].second == 2))
    return p


PROOFS = [
    Proof(
        "delay_line",
        "lib/delay.py DelayLine",
        "The output is the input of as many clocks before; no row is read in the clock that writes "
        "it.",
        delay_line,
        depth=7,
        size="2 bits, 5 clocks",
    ),
    Proof(
        "drain_timer",
        "lib/delay.py DrainTimer",
        "`drained` says exactly that nothing entered in this long.",
        drain_timer,
        depth=6,
        size="3 clocks",
    ),
    Proof(
        "timeline",
        "lib/timeline.py Timeline",
        "A value in a later clock is the value that entered, as many clocks before.",
        values,
        depth=6,
        size="2 bits, 6 clocks",
    ),
]
