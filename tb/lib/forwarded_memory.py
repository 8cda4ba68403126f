# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.forwarded_memory`."""

from collections.abc import Callable
from functools import partial

import cocotb
import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import forwarded_memory as golden
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.forwarded_memory import ForwardedMemory, Forwarding
from fixfunc.tb.bench.clocked import Case, Clock, Example, check, pace

BITS = 8
DEPTH = 5  # rows: few, so that they repeat
FILL = {2: 1, 3: 1, 4: 2}  # clocks from an operation to its fill, by latency
AROUND = 2  # registers behind the memory of Around


class Around(wiring.Component):
    """Forwarding of five results around a memory of its own, as one with banks would use it."""

    def __init__(self) -> None:
        self._forwarding = Forwarding(BITS, range(DEPTH), AROUND + 3, replaced=True)
        members = self._forwarding.signature.members
        super().__init__({name: members[name] for name in members if name != "stored"})

    @staticmethod
    def latencies() -> tuple[int, int, int]:
        """Clocks from an operation to its word, from a result to memory, and to a fill."""
        return AROUND + 2, 1, AROUND + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.forwarding = forwarding = self._forwarding
        m.submodules.rows = rows = Memory(shape=BITS, depth=DEPTH, init=[])
        read = rows.read_port()
        write = rows.write_port()
        clocks = sum(self.latencies()[:2])
        m.d.comb += [
            read.addr.eq(self.address),
            forwarding.valid.eq(delay(m, self.valid, AROUND, "valid")),
            forwarding.address.eq(delay(m, self.address, AROUND, "address")),
            forwarding.stored.eq(delay(m, read.data, AROUND, "stored")),
            forwarding.fill.eq(self.fill),
            forwarding.filled.eq(self.filled),
            forwarding.result.eq(self.result),
            self.value.eq(forwarding.value),
            self.replaced.eq(forwarding.replaced),
            self.written.eq(forwarding.written),
            write.en.eq(delay(m, self.valid, clocks, "write")),
            write.addr.eq(delay(m, self.address, clocks, "row")),
            write.data.eq(forwarding.written),
        ]
        return m


def step(
    model: golden.ForwardedMemory, split: bool, replaced: bool = False, **inputs: int
) -> Clock:
    """One clock of the golden model, with the ports of the hardware."""
    ports = {name: value for name, value in inputs.items() if name != "read_address_0"}
    outputs = model.step(**ports, read_address=inputs.get("read_address_0", 0))
    read = outputs.pop("read")
    if "read_address_0" in inputs:
        outputs["read_data_0"] = read
    if not split:
        del outputs["early"], outputs["repeat"]
    if not replaced:
        outputs.pop("replaced", None)
    return Clock(inputs, outputs)


def trace(
    rng: np.random.Generator,
    clocks: int,
    latencies: tuple[int, int, int],
    split: bool,
    read_port: bool,
    replaced: bool,
) -> list[Clock]:
    """Operations on few rows: runs of the same one, of two by turns, of any.

    ``latencies`` are clocks from an operation to its row, from a result to memory, and to a fill.
    """
    model = golden.ForwardedMemory(DEPTH, *latencies)
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
        out.append(step(model, split, replaced, **inputs))
    return out


def distance(operations: int):
    """A bin: a row comes again after so many operations, and not in between."""

    def hit(trace, n):
        now = trace[n].inputs
        earlier = [trace[n - k].inputs for k in range(1, operations + 1)]
        same = [access["valid"] and access["address"] == now["address"] for access in earlier]
        return bool(now["valid"] and same.pop() and not any(same))

    return hit


def case(
    create: Callable[[], wiring.Component],
    latencies: tuple[int, int, int],
    split: bool,
    read_port: bool = False,
    replaced: bool = False,
) -> Case:
    """A memory with these clocks: see :func:`trace`."""
    latency, write_delay, fill = latencies
    reach = latency + write_delay
    return Case(
        create,
        partial(trace, latencies=latencies, split=split, read_port=read_port, replaced=replaced),
        {f"the same row {n} clocks later": distance(n) for n in range(1, reach + 2)}
        | {
            "a row is filled": lambda trace, n: bool(
                trace[n].inputs["fill"] and trace[n - fill].inputs["valid"]
            ),
            "a row that is filled again": lambda trace, n: bool(
                n > fill
                and all(
                    trace[k].inputs["fill"] and trace[k - fill].inputs["valid"] for k in (n - 1, n)
                )
                and trace[n - fill].inputs["address"] == trace[n - fill - 1].inputs["address"]
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
        out.append(step(model, latency > 2, **inputs))
    return out


CASES = {"forwarding": case(Around, Around.latencies(), False, replaced=True)} | {
    f"forwarded_memory_{latency}_{write_delay}": case(
        partial(ForwardedMemory, BITS, DEPTH, latency, write_delay, int(read_port), replaced),
        (latency, write_delay, FILL[latency]),
        latency > 2,
        read_port,
        replaced,
    )
    for latency, write_delay, read_port, replaced in (
        (2, 0, True, False),
        (2, 1, False, False),
        (3, 0, False, True),
        (3, 1, True, True),
        (4, 1, False, False),
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
