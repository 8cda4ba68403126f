# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.skid_buffer`."""

from functools import partial

import cocotb
import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import skid_buffer as golden
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.skid_buffer import SkidBuffer, StallablePipeline
from fixfunc.tb.bench.clocked import Case, Clock, Example, check, pace

BITS = 8


class Increment(wiring.Component):
    """A unit of a pipeline: one more, ``latency`` clocks later."""

    i: In(BITS)
    o: Out(BITS)

    def __init__(self, latency: int) -> None:
        self._latency = latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.o.eq(delay(m, self.i, self._latency, "stage") + 1)
        return m


def pushed(rng: np.random.Generator, clocks: int, places: int) -> list[Clock]:
    """A pipeline that holds its beat while ``enable`` is low."""
    model = golden.SkidBuffer(places)
    beat = None
    out = []
    for push, ready in zip(pace(rng, clocks), pace(rng, clocks), strict=True):
        out.append(pushed_step(model, beat, ready))
        if out[-1].outputs["enable"]:
            beat = int(rng.integers(0, 1 << BITS)) if push else None
    return out


def pushed_step(model: golden.SkidBuffer, beat: int | None, ready: int) -> Clock:
    """One clock of the golden model, with the ports of the hardware."""
    inputs = {"push": int(beat is not None), "i": beat or 0, "o__ready": int(ready)}
    outputs = model.step(*inputs.values())
    ports = {"valid": "o__valid", "payload": "o__payload"}
    return Clock(inputs, {ports.get(name, name): outputs[name] for name in outputs})


def streamed(rng: np.random.Generator, clocks: int, latency: int, places: int) -> list[Clock]:
    """Beats that are offered until they move."""
    model = golden.StallablePipeline(lambda beat: (beat + 1) % (1 << BITS), latency, places)
    beat = None
    out = []
    for offer, ready in zip(pace(rng, clocks), pace(rng, clocks), strict=True):
        if beat is None and offer:
            beat = int(rng.integers(0, 1 << BITS))
        inputs = {
            "i__valid": int(beat is not None),
            "i__payload": beat or 0,
            "o__ready": int(ready),
        }
        outputs = model.step(*inputs.values())
        ports = {"ready": "i__ready", "valid": "o__valid", "payload": "o__payload"}
        out.append(Clock(inputs, {ports[name]: outputs[name] for name in outputs}))
        if outputs["ready"]:
            beat = None
    return out


def example() -> list[Clock]:
    """Four beats; the output waits for three clocks."""
    model = golden.SkidBuffer()
    beats = [1, 2, 3, 4]
    out = []
    for n in range(9):
        clock = pushed_step(model, beats[0] if beats else None, n not in (1, 2, 3))
        if clock.outputs["enable"] and beats:
            del beats[0]
        out.append(clock)
    return out


def example_pipeline() -> list[Clock]:
    """Four beats through a unit of a clock; the output waits for two clocks."""
    model = golden.StallablePipeline(lambda beat: (beat + 1) % (1 << BITS), 1)
    beats = [1, 2, 3, 4]
    out = []
    for n in range(11):
        inputs = {
            "i__valid": int(bool(beats)),
            "i__payload": beats[0] if beats else 0,
            "o__ready": int(n not in (3, 4)),
        }
        outputs = model.step(*inputs.values())
        ports = {"ready": "i__ready", "valid": "o__valid", "payload": "o__payload"}
        out.append(Clock(inputs, {ports[name]: outputs[name] for name in outputs}))
        if outputs["ready"] and beats:
            del beats[0]
    return out


def waits(trace: list[Clock], n: int) -> bool:
    """A bin: the output waits."""
    return bool(trace[n].outputs["o__valid"] and not trace[n].inputs["o__ready"])


def flows(trace: list[Clock], n: int) -> bool:
    """A bin: a beat every clock."""
    return all(
        trace[n - k].outputs["o__valid"] and trace[n - k].inputs["o__ready"] for k in range(8)
    )


SKID_BINS = {
    "full": lambda trace, n: not trace[n].outputs["enable"],
    "empty": lambda trace, n: not trace[n].outputs["o__valid"],
    "a push that does not count": lambda trace, n: bool(
        trace[n].inputs["push"] and not trace[n].outputs["enable"]
    ),
    "pushed and popped at once": lambda trace, n: bool(
        trace[n].inputs["push"]
        and trace[n].outputs["enable"]
        and trace[n].inputs["o__ready"]
        and trace[n].outputs["o__valid"]
    ),
    "the output waits": waits,
    "a beat every clock": flows,
}
CASES = {
    name: Case(
        partial(SkidBuffer, BITS, places),
        partial(pushed, places=places),
        SKID_BINS,
    )
    for name, places in (("skid_buffer", 2), ("skid_buffer_of_one", 1))
} | {
    name: Case(
        lambda latency=latency, places=places: StallablePipeline(
            Increment(latency), latency, places
        ),
        partial(streamed, latency=latency, places=places),
        {
            "stalled": lambda trace, n: not trace[n].outputs["i__ready"],
            "the output waits": waits,
            "a beat every clock": flows,
        },
    )
    for name, latency, places in (
        ("stallable_pipeline_1", 1, 2),
        ("stallable_pipeline_4", 4, 2),
        ("stallable_pipeline_of_one", 2, 1),
    )
}
EXAMPLES = {
    "skid_buffer": Example(
        CASES["skid_buffer"].create,
        example,
        ("enable", "push", "i", "o__valid", "o__ready", "o__payload"),
    ),
    "stallable_pipeline_1": Example(
        CASES["stallable_pipeline_1"].create,
        example_pipeline,
        ("i__valid", "i__ready", "i__payload", "o__valid", "o__ready", "o__payload"),
    ),
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
