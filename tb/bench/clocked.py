# SPDX-License-Identifier: BSD-2-Clause
"""Primitives held to their golden models in every clock.

A case is replayed: its inputs are chosen beside the golden model, which knows what the primitive
allows. So the same clocks run on every simulator, and in Python.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import cocotb
import numpy as np
from amaranth.hdl import Value
from amaranth.lib import wiring
from amaranth.sim import Simulator
from cocotb.clock import Clock as Oscillator
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

COUNT = 2000  # clocks of a case
HISTORY = 8  # clocks before the first that is looked at for bins


class Clock(NamedTuple):
    """One clock: all inputs, by port; outputs that the golden model gives, where they count."""

    inputs: dict[str, int]
    outputs: dict[str, int]


Hit = Callable[[list[Clock], int], bool]  # whether a clock of a trace is in a bin


class Case(NamedTuple):
    """A primitive with parameters, and what holds it to its golden model.

    ``trace(rng, clocks)`` chooses inputs and computes outputs; each of ``bins`` must hit some clock
    of it, ``hit(trace, n)``.
    """

    create: Callable[[], wiring.Component]
    trace: Callable[[np.random.Generator, int], list[Clock]]
    bins: Mapping[str, Hit]


class Example(NamedTuple):
    """A primitive, clocks of it, and the ports that the waveform on its page shows."""

    create: Callable[[], wiring.Component]
    trace: Callable[[], list[Clock]]
    shown: tuple[str, ...]


def pace(rng: np.random.Generator, clocks: int) -> np.ndarray:
    """Whether a port moves, clock by clock: never, always, and in between, for a while each."""
    share = rng.choice([0, 0.1, 0.5, 0.9, 1], clocks)
    lengths = rng.integers(1, 24, clocks)
    return rng.random(clocks) < np.repeat(share, lengths)[:clocks]


def missed(case: Case, trace: list[Clock]) -> list[str]:
    """Bins that no clock of a trace is in."""
    return [
        name
        for name, hit in case.bins.items()
        if not any(hit(trace, n) for n in range(HISTORY, len(trace)))
    ]


def port(component: wiring.Component, name: str) -> Value:
    """A port by its name in Verilog."""
    for part in name.split("__"):
        component = getattr(component, part)
    return Value.cast(component).as_unsigned()


def simulate(
    component: wiring.Component, trace: list[Clock], also: Iterable[str] = ()
) -> list[dict[str, int]]:
    """Outputs of a component in every clock of a trace, by Amaranth's own simulator: those that the
    trace names, and ``also`` others.
    """
    names = {name for clock in trace for name in clock.outputs} | set(also)
    seen = []

    async def replay(context):
        for clock in trace:
            for name, value in clock.inputs.items():
                context.set(port(component, name), value)
            seen.append({name: context.get(port(component, name)) for name in names})
            await context.tick()

    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(replay)
    simulator.run()
    return seen


def difference(trace: list[Clock], seen: list[dict[str, int]]) -> str | None:
    """The first output that is not the golden model's, in words, or None."""
    for n, (clock, outputs) in enumerate(zip(trace, seen, strict=True)):
        for name, golden in clock.outputs.items():
            if outputs[name] != golden:
                return f"clock {n}: {name} is {outputs[name]}, expected {golden}"
    return None


async def check(dut: HierarchyObject, name: str, case: Case) -> None:
    """Replay a case on a simulator, and compare in every clock; every bin must be hit."""
    trace = case.trace(np.random.default_rng(cocotb.RANDOM_SEED), COUNT)
    assert not missed(case, trace), f"{name}: not covered: {missed(case, trace)}"
    names = {output for clock in trace for output in clock.outputs}
    pins = {pin: getattr(dut, f"{name}__{pin}") for pin in (*trace[0].inputs, *names)}
    dut.rst.value = 1
    for pin in trace[0].inputs:
        pins[pin].value = 0
    Oscillator(dut.clk, 10, unit="ns").start()
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0
    seen = []
    for n, clock in enumerate(trace):
        for pin, value in clock.inputs.items():
            pins[pin].value = value
        await FallingEdge(dut.clk)
        for pin in clock.outputs:
            assert pins[pin].value.is_resolvable, f"{name}: clock {n}: {pin} has X"
        seen.append({pin: int(pins[pin].value) for pin in clock.outputs})
        await RisingEdge(dut.clk)
    first = difference(trace, seen)
    assert first is None, f"{name}: {first}"
