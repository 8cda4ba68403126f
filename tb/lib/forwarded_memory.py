# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.forwarded_memory`."""

from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import forwarded_memory as golden
from fixfunc.rtl.lib.forwarded_memory import ForwardedMemory
from fixfunc.tb.lib.clocked import Case, Clock, Example, check, pace

BITS = 8
DEPTH = 5  # rows: few, so that they repeat
FILL = {2: 1, 3: 1, 4: 2}  # clocks from an operation to its fill, by latency


def step(model: golden.ForwardedMemory, latency: int, **inputs: int) -> Clock:
    """One clock of the golden model, with the ports of the hardware."""
    ports = {name: value for name, value in inputs.items() if name != "read_address_0"}
    outputs = model.step(**ports, read_address=inputs.get("read_address_0", 0))
    read = outputs.pop("read")
    if "read_address_0" in inputs:
        outputs["read_data_0"] = read
    if latency == 2:
        del outputs["early"], outputs["repeat"]
    return Clock(inputs, outputs)


def trace(
    rng: np.random.Generator, clocks: int, latency: int, write_delay: int, read_port: bool
) -> list[Clock]:
    """Operations on few rows: runs of the same one, of two by turns, of any."""
    model = golden.ForwardedMemory(DEPTH, latency, write_delay, FILL[latency])
    out = []
    pool = [0]
    for valid in pace(rng, clocks):
        if rng.random() < 0.1:
            pool = rng.integers(0, DEPTH, rng.integers(1, 4))
        change = int(rng.choice([0, 1, rng.integers(0, 1 << BITS)]))
        inputs = {
            "valid": int(valid),
            "address": int(rng.choice(pool)),
            "result": (model.value + change) % (1 << BITS),
            "fill": int(rng.random() < 0.2),
            "filled": int(rng.integers(0, 1 << BITS)),
        }
        if read_port:
            inputs["read_address_0"] = int(rng.choice(pool))
        out.append(step(model, latency, **inputs))
    return out


def distance(operations: int):
    """A bin: a row comes again after so many operations, and not in between."""

    def hit(trace, n):
        now = trace[n].inputs
        earlier = [trace[n - k].inputs for k in range(1, operations + 1)]
        same = [one["valid"] and one["address"] == now["address"] for one in earlier]
        return bool(now["valid"] and same.pop() and not any(same))

    return hit


def case(latency: int, write_delay: int, read_port: bool) -> Case:
    """The memory with these parameters."""
    reach = latency + write_delay
    return Case(
        partial(ForwardedMemory, BITS, DEPTH, latency, write_delay, int(read_port)),
        partial(trace, latency=latency, write_delay=write_delay, read_port=read_port),
        {f"the same row {n} clocks later": distance(n) for n in range(1, reach + 2)}
        | {
            "a row is filled": lambda trace, n: bool(
                trace[n].inputs["fill"] and trace[n - FILL[latency]].inputs["valid"]
            ),
            "nothing enters": lambda trace, n: not trace[n].inputs["valid"],
        },
    )


def example(latency: int, write_delay: int) -> list[Clock]:
    """Row 1 three times, with row 2 in between; each time one is added."""
    model = golden.ForwardedMemory(DEPTH, latency, write_delay, FILL[latency])
    out = []
    for address in (None, 1, 1, 2, 1, None, None, None):
        inputs = {
            "valid": int(address is not None),
            "address": address or 0,
            "result": model.value + 1 if model.operation["valid"] else 0,
            "fill": 0,
            "filled": 0,
        }
        out.append(step(model, latency, **inputs))
    return out


CASES = {
    f"forwarded_memory_{latency}_{write_delay}": case(latency, write_delay, read_port)
    for latency, write_delay, read_port in (
        (2, 0, True),
        (2, 1, False),
        (3, 0, False),
        (3, 1, True),
        (4, 1, False),
    )
}
EXAMPLES = {
    name: Example(
        CASES[name].create,
        partial(example, latency, write_delay),
        ("valid", "address", "value", "result", "written"),
    )
    for name, latency, write_delay in (
        ("forwarded_memory_2_1", 2, 1),
        ("forwarded_memory_4_1", 4, 1),
    )
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
