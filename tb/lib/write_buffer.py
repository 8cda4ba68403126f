# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.write_buffer`."""

from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import write_buffer as golden
from fixfunc.rtl.lib.write_buffer import WriteBuffer
from fixfunc.tb.bench.clocked import Case, Clock, Example, check, pace

BITS = 8


def step(model: golden.WriteBuffer, push: int, i: int, commit: int, ready: int) -> Clock:
    """One clock of the golden model, with the ports of the hardware."""
    inputs = {"push": int(push), "i": i, "commit": int(commit), "o__ready": int(ready)}
    outputs = model.step(*inputs.values())
    ports = {"valid": "o__valid", "payload": "o__payload"}
    return Clock(inputs, {ports.get(name, name): outputs[name] for name in outputs})


def trace(rng: np.random.Generator, clocks: int, depth: int) -> list[Clock]:
    """Rows are pushed while there is room, and committed or dropped."""
    model = golden.WriteBuffer(depth)
    out = []
    for push, commit, ready in zip(*(pace(rng, clocks) for _ in range(3)), strict=True):
        out.append(
            step(
                model,
                push and model.available,
                int(rng.integers(0, 1 << BITS)),
                commit and model.pushed is not None,
                ready,
            )
        )
    return out


def example() -> list[Clock]:
    """Rows 1, 2 and 3, of which 2 is dropped."""
    model = golden.WriteBuffer(4)
    rows = {0: 1, 1: 2, 2: 3}
    return [step(model, n in rows, rows.get(n, 0), n in (1, 3), 1) for n in range(8)]


BINS = {
    "no room": lambda trace, n: not trace[n].outputs["available"],
    "dropped": lambda trace, n: bool(trace[n - 1].inputs["push"] and not trace[n].inputs["commit"]),
    "pushed behind one that is dropped": lambda trace, n: bool(
        trace[n - 1].inputs["push"] and not trace[n].inputs["commit"] and trace[n].inputs["push"]
    ),
    "pushed, committed and popped at once": lambda trace, n: bool(
        trace[n].outputs["o__valid"]
        and all(trace[n].inputs[k] for k in ("push", "commit"))
        and trace[n].inputs["o__ready"]
    ),
    "the output waits": lambda trace, n: bool(
        trace[n].outputs["o__valid"] and not trace[n].inputs["o__ready"]
    ),
    "a row every clock": lambda trace, n: all(
        trace[n - k].outputs["o__valid"] and trace[n - k].inputs["o__ready"] for k in range(4)
    ),
}
CASES = {
    f"write_buffer_{depth}": Case(
        partial(WriteBuffer, BITS, depth),
        partial(trace, depth=depth),
        BINS,
    )
    for depth in (4, 8)
}
EXAMPLES = {
    "write_buffer_4": Example(
        CASES["write_buffer_4"].create,
        example,
        ("push", "i", "commit", "available", "o__valid", "o__ready", "o__payload"),
    )
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
