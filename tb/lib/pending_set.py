# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.pending_set`."""

from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import pending_set as golden
from fixfunc.rtl.lib.pending_set import PendingSet
from fixfunc.tb.bench.clocked import Case, Clock, Example, check, pace

BITS = 4
ALL = slice(None)


def trace(
    rng: np.random.Generator, clocks: int, places: int, lookups: tuple[slice, ...]
) -> list[Clock]:
    """Few keys are inserted and removed; each is looked up before, between and after."""
    model = golden.PendingSet(places, BITS, lookups)
    removed = 0
    out = []
    for insert, remove in zip(pace(rng, clocks), pace(rng, clocks), strict=True):
        key = int(rng.integers(0, 1 << BITS))
        if model.keys and rng.random() < 0.9:
            removed = int(rng.choice(sorted(model.keys)))
        inputs = {
            "insert": int(insert and model.available and key not in model.keys),
            "key": key,
            "remove": int(remove),
            "removed": removed,
        }
        for n, compared in enumerate(lookups):
            start, end, _ = compared.indices(BITS)
            wanted = int(rng.choice([key, removed, rng.integers(0, 1 << BITS)]))
            inputs[f"lookup_{n}"] = wanted % (1 << end) >> start
        if inputs["insert"] and key == removed:
            inputs["remove"] = 0
        out.append(Clock(inputs, model.step(**inputs)))
    return out


def example() -> list[Clock]:
    """Keys 5 and 6 are inserted; 5 is removed."""
    model = golden.PendingSet(2, BITS)
    out = []
    for insert, key, remove in (
        *((0, 0, 0), (1, 5, 0), (1, 6, 0), (0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, 0)),
    ):
        inputs = {"insert": insert, "key": key, "remove": remove, "removed": 5, "lookup_0": 5}
        out.append(Clock(inputs, model.step(**inputs)))
    return out


BINS = {
    "full": lambda trace, n: not trace[n].outputs["available"],
    "looked up as it is inserted": lambda trace, n: bool(
        trace[n].inputs["insert"] and trace[n].inputs["key"] == trace[n].inputs["lookup_0"]
    ),
    "looked up as it is removed": lambda trace, n: bool(
        trace[n].inputs["remove"]
        and trace[n].inputs["removed"] == trace[n].inputs["lookup_0"]
        and trace[n].outputs["pending_0"]
    ),
    "looked up after it was removed": lambda trace, n: bool(
        trace[n - 1].inputs["remove"]
        and trace[n - 1].inputs["removed"] == trace[n].inputs["lookup_0"]
        and not trace[n].outputs["pending_0"]
    ),
    "removed and not pending": lambda trace, n: bool(
        trace[n].inputs["remove"]
        and trace[n].inputs["removed"] == trace[n].inputs["lookup_0"]
        and not trace[n].outputs["pending_0"]
    ),
    "inserted and removed at once": lambda trace, n: bool(
        trace[n].inputs["insert"] and trace[n].inputs["remove"]
    ),
}
CASES = {
    f"pending_set_{places}": Case(
        partial(PendingSet, BITS, places, lookups),
        partial(trace, places=places, lookups=lookups),
        BINS,
    )
    for places, lookups in ((2, (ALL,)), (7, (ALL, slice(1, 3))))
}
EXAMPLES = {
    "pending_set_2": Example(
        CASES["pending_set_2"].create,
        example,
        ("insert", "key", "remove", "removed", "lookup_0", "pending_0", "available"),
    )
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
