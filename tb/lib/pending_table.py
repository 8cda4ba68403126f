# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.pending_table`."""

from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import pending_table as golden
from fixfunc.rtl.lib.pending_table import PendingTable
from fixfunc.tb.bench.clocked import Case, Clock, Example, check, pace


def trace(rng: np.random.Generator, clocks: int, rows: int, columns: int) -> list[Clock]:
    """Few keys are inserted and removed; each is looked up before, between and after."""
    model = golden.PendingTable(rows, columns)
    out = []
    removed = 0
    removes = False
    paces = [pace(rng, clocks) for _ in range(3)]
    for lookup, insert, remove in zip(*map(np.ndarray.tolist, paces), strict=True):
        candidates = sorted(model.keys - ({removed} if removes else set()))
        removes = remove and bool(candidates)
        if removes:
            removed = int(rng.choice(candidates))
        keys = [int(rng.choice([removed, rng.integers(0, rows * columns)])) for _ in range(2)]
        said = model.said()
        inputs = {
            "lookup": int(lookup),
            "lookup_0": keys[0],
            "lookup_1": keys[1],
            "insert": int(insert and said["ready"] and not said["pending_1"]),
            "remove": int(removes),
            "removed": removed,
        }
        out.append(Clock(inputs, model.step(**inputs)))
    return out


def example() -> list[Clock]:
    """Key 5 is inserted, then removed."""
    model = golden.PendingTable(2, 4)
    out = []
    for lookup, insert, remove in (
        *((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, 0)),
    ):
        inputs = {"lookup": lookup, "lookup_0": 4, "lookup_1": 5, "insert": insert}
        inputs |= {"remove": remove, "removed": 5}
        out.append(Clock(inputs, model.step(**inputs)))
    return out


def _repeats(trace, n):
    """A key is inserted in the clock in which it has ceased to be pending."""
    return bool(
        trace[n].inputs["insert"]
        and trace[n - 2].inputs["remove"]
        and trace[n - 1].outputs["pending_1"]
    )


BINS = {
    "pending": lambda trace, n: bool(trace[n].outputs["pending_0"]),
    "another of its row": lambda trace, n: (
        trace[n].outputs["any_0"] > trace[n].outputs["pending_0"]
    ),
    "inserted and looked up at once": lambda trace, n: bool(
        trace[n].inputs["insert"]
        and trace[n].inputs["lookup"]
        and trace[n].inputs["lookup_0"] == trace[n - 1].inputs["lookup_1"]
        and trace[n - 1].inputs["lookup"]
    ),
    "inserted as it ceases to be pending": _repeats,
    "inserted and removed at once": lambda trace, n: bool(
        trace[n].inputs["insert"] and trace[n].inputs["remove"]
    ),
    "removed twice in a row": lambda trace, n: bool(
        trace[n].inputs["remove"] and trace[n - 1].inputs["remove"]
    ),
    "removed while it is watched": lambda trace, n: (
        trace[n].outputs["pending_1"] < trace[n - 1].outputs["pending_1"]
        and not trace[n - 1].inputs["lookup"]
    ),
}
CASES = {
    f"pending_table_{rows}": Case(
        partial(PendingTable, rows, columns),
        partial(trace, rows=rows, columns=columns),
        BINS,
    )
    for rows, columns in ((2, 4), (8, 2))
}
EXAMPLES = {
    "pending_table_2": Example(
        CASES["pending_table_2"].create,
        example,
        ("lookup", "lookup_1", "insert", "remove", "removed", "pending_1", "any_0", "ready"),
    )
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
