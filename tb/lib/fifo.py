# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.fifo` and :mod:`fixfunc.rtl.lib.credit`."""

from collections import deque
from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import fifo as golden
from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.fifo import CreditedFIFO, StreamFIFO
from fixfunc.tb.bench.clocked import Case, Clock, Example, check, pace

BITS = 8
PIPELINE = 3  # clocks of the pipeline before a credited FIFO


def credits(rng: np.random.Generator, clocks: int, places: int, lookahead: int) -> list[Clock]:
    """A pipeline that takes whatever it may; of what is in it, some leaves and some is dropped."""
    model = golden.CreditCounter(places, lookahead)
    allowed = deque([0] * (lookahead - 1))
    out = []
    for consume, release in zip(pace(rng, clocks), pace(rng, clocks), strict=True):
        allowed.append(model.available)
        in_flight = places - model.free
        inputs = {
            "consume": int(allowed.popleft() and consume),
            "release": int(release and in_flight > 0),
            "cancel": int(in_flight > 1 and rng.random() < 0.4),
        }
        out.append(Clock(inputs, model.step(**inputs)))
    return out


def credited(rng: np.random.Generator, clocks: int, depth: int, lookahead: int) -> list[Clock]:
    """A pipeline before the FIFO: what enters it is pushed, or cancelled, clocks later."""
    model = golden.CreditedFIFO(depth, lookahead)
    allowed = deque([0] * (lookahead - 1))
    pipeline = deque([0] * PIPELINE)
    out = []
    for consume, ready, drop in zip(*(pace(rng, clocks) for _ in range(3)), strict=True):
        allowed.append(model.credit.available)
        enter = int(allowed.popleft() and consume)
        pipeline.append(enter)
        arrives = pipeline.popleft()
        cancel = int(arrives and drop and rng.random() < 0.5)
        out.append(
            credited_step(
                model, enter, cancel, arrives and not cancel, int(rng.integers(0, 1 << BITS)), ready
            )
        )
    return out


def credited_step(
    model: golden.CreditedFIFO, consume: int, cancel: int, push: int, i: int, ready: int
) -> Clock:
    """One clock of the golden model, with the ports of the hardware."""
    inputs = {
        "consume": int(consume),
        "cancel": int(cancel),
        "push": int(push),
        "i": i,
        "o__ready": int(ready),
    }
    outputs = model.step(consume, cancel, push, i, int(ready))
    return Clock(
        inputs,
        {f"o__{key}" if key in ("valid", "payload") else key: outputs[key] for key in outputs},
    )


def streamed(rng: np.random.Generator, clocks: int, depth: int) -> list[Clock]:
    """Beats that are offered until they move."""
    model = golden.StreamFIFO(depth)
    beat = None
    out = []
    for offer, ready in zip(pace(rng, clocks), pace(rng, clocks), strict=True):
        if beat is None and offer:
            beat = int(rng.integers(0, 1 << BITS))
        clock = streamed_step(model, beat, ready)
        if clock.outputs["i__ready"]:
            beat = None
        out.append(clock)
    return out


def streamed_step(model: golden.StreamFIFO, beat: int | None, ready: int) -> Clock:
    """One clock of the golden model, with the ports of the hardware."""
    inputs = {
        "i__valid": int(beat is not None),
        "i__payload": beat or 0,
        "o__ready": int(ready),
    }
    outputs = model.step(*inputs.values())
    ports = {"ready": "i__ready", "valid": "o__valid", "payload": "o__payload"}
    return Clock(inputs, {ports.get(name, name): outputs[name] for name in outputs})


def example_credit() -> list[Clock]:
    """Four places, all consumed; two are released, the second with a cancel."""
    model = golden.CreditCounter(4, 1)
    out = []
    for consume, release, cancel in (
        *((1, 0, 0), (1, 0, 0), (1, 0, 0), (1, 0, 0), (0, 0, 0)),
        *((0, 1, 0), (0, 1, 1), (0, 1, 0), (0, 0, 0), (0, 0, 0)),
    ):
        inputs = {"consume": consume, "release": release, "cancel": cancel}
        out.append(Clock(inputs, model.step(**inputs)))
    return out


def example_credited() -> list[Clock]:
    """Two beats, of which the second waits for a clock; a third is cancelled."""
    model = golden.CreditedFIFO(3)
    pushed = {2: 1, 3: 2}
    return [
        credited_step(model, n in (0, 1, 2), n == 4, n in pushed, pushed.get(n, 0), n != 6)
        for n in range(11)
    ]


def example_streamed() -> list[Clock]:
    """Three beats through a FIFO of two, which fills as its output waits."""
    model = golden.StreamFIFO(3)
    beats = deque([1, 2, 3, 4, 5])
    out = []
    for n in range(13):
        clock = streamed_step(model, beats[0] if beats else None, n > 7)
        if clock.outputs["i__ready"] and beats:
            beats.popleft()
        out.append(clock)
    return out


def moved(clock: Clock, port: str) -> bool:
    """A beat moves at a stream."""
    values = clock.inputs | clock.outputs
    return bool(values[f"{port}__valid"] and values[f"{port}__ready"])


CREDIT_BINS = {
    "no place": lambda trace, n: not trace[n].outputs["available"],
    "idle": lambda trace, n: bool(trace[n].outputs["idle"]),
    "all at once": lambda trace, n: all(trace[n].inputs.values()),
    "cancelled and released": lambda trace, n: bool(
        trace[n].inputs["release"] and trace[n].inputs["cancel"]
    ),
}
CREDITED_BINS = {
    "no place": lambda trace, n: not trace[n].outputs["available"],
    "idle": lambda trace, n: bool(trace[n].outputs["idle"]),
    "a beat at once to the output": lambda trace, n: bool(
        trace[n - golden.StreamFIFO.LATENCY].inputs["push"]
        and trace[n].outputs["o__valid"]
        and not trace[n - 1].outputs["o__valid"]
    ),
    "the output waits": lambda trace, n: bool(
        trace[n].outputs["o__valid"] and not trace[n].inputs["o__ready"]
    ),
    "cancelled": lambda trace, n: bool(trace[n].inputs["cancel"]),
}
# With fewer places than clocks from a credit to its release, no beat can move every clock.
FLOWING_BINS = CREDITED_BINS | {
    "a beat every clock": lambda trace, n: all(moved(trace[n - k], "o") for k in range(8))
}
STREAMED_BINS = {
    "full": lambda trace, n: not trace[n].outputs["i__ready"],
    "empty": lambda trace, n: not trace[n].outputs["occupied"],
    "not valid, yet occupied": lambda trace, n: bool(
        trace[n].outputs["occupied"] and not trace[n].outputs["o__valid"]
    ),
    "a beat every clock": lambda trace, n: all(
        moved(trace[n - k], port) for k in range(8) for port in "io"
    ),
}
CASES = {
    **{
        f"credit_{places}_{lookahead}": Case(
            partial(CreditCounter, places, lookahead),
            partial(credits, places=places, lookahead=lookahead),
            CREDIT_BINS,
        )
        for places, lookahead in ((4, 1), (3, 1), (7, 3))
    },
    **{
        f"credited_fifo_{depth}_{lookahead}": Case(
            partial(CreditedFIFO, BITS, depth, lookahead),
            partial(credited, depth=depth, lookahead=lookahead),
            FLOWING_BINS if depth > 8 else CREDITED_BINS,
        )
        for depth, lookahead in ((3, 1), (9, 1), (24, 3))
    },
    **{
        f"stream_fifo_{depth}": Case(
            partial(StreamFIFO, BITS, depth),
            partial(streamed, depth=depth),
            STREAMED_BINS,
        )
        for depth in (3, 8)
    },
}
EXAMPLES = {
    "credit_4_1": Example(
        CASES["credit_4_1"].create,
        example_credit,
        ("consume", "release", "cancel", "available", "idle"),
    ),
    "credited_fifo_3_1": Example(
        CASES["credited_fifo_3_1"].create,
        example_credited,
        ("consume", "cancel", "available", "idle", "push", "i")
        + ("o__valid", "o__ready", "o__payload"),
    ),
    "stream_fifo_3": Example(
        CASES["stream_fifo_3"].create,
        example_streamed,
        ("i__valid", "i__ready", "i__payload", "o__valid", "o__ready", "o__payload", "occupied"),
    ),
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
