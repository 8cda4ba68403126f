# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.scoreboard`."""

from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import scoreboard as golden
from fixfunc.rtl.lib.scoreboard import Scoreboard
from fixfunc.tb.bench.clocked import Case, Clock, Example, check, pace

KEYS = 5
MOST = 3


def trace(rng: np.random.Generator, clocks: int, threshold: int) -> list[Clock]:
    """Events of few keys, mostly of the one that is watched."""
    model = golden.Scoreboard(threshold)
    out = []
    for increment, decrement, lookup in zip(*(pace(rng, clocks) for _ in range(3)), strict=True):
        keys = [
            model.watched if rng.random() < 0.5 else int(rng.integers(0, KEYS)) for _ in range(3)
        ]
        inputs = {
            "increment": int(increment and model.in_flight[keys[0]] < MOST),
            "increment_key": keys[0],
            "decrement": int(decrement and model.in_flight[keys[1]] > 0),
            "decrement_key": keys[1],
            "lookup": int(lookup),
            "lookup_key": keys[2],
        }
        out.append(Clock(inputs, model.step(**inputs)))
    return out


def event(kind: str, clocks: int):
    """A bin: an event of a key so many clocks before its lookup, or after it if negative."""

    def hit(trace, n):
        lookup = trace[n].inputs if clocks >= 0 else trace[n - 1].inputs
        change = trace[n - max(clocks, 0)].inputs
        return bool(
            lookup["lookup"] and change[kind] and change[f"{kind}_key"] == lookup["lookup_key"]
        )

    return hit


def both(trace: list[Clock], n: int) -> bool:
    """A bin: a key is incremented and decremented in the same clock."""
    now = trace[n].inputs
    return bool(
        now["increment"] and now["decrement"] and now["increment_key"] == now["decrement_key"]
    )


def example() -> list[Clock]:
    """Key 1 is watched; two begin and end."""
    model = golden.Scoreboard()
    out = []
    for increment, decrement, lookup in (
        *((1, 0, 0), (0, 0, 1), (1, 0, 0), (0, 0, 0)),
        *((0, 1, 0), (0, 1, 0), (0, 0, 0), (0, 0, 0)),
    ):
        inputs = {
            "increment": increment,
            "increment_key": increment,
            "decrement": decrement,
            "decrement_key": decrement,
            "lookup": lookup,
            "lookup_key": lookup,
        }
        out.append(Clock(inputs, model.step(**inputs)))
    return out


BINS = {
    **{
        f"{kind} {clocks} clocks before a lookup": event(kind, clocks)
        for kind in ("increment", "decrement")
        for clocks in (3, 2, 1, 0, -1)
    },
    "both at once": both,
    "above": lambda trace, n: bool(trace[n].outputs["above"]),
    "not above": lambda trace, n: not trace[n].outputs["above"],
    "most in flight": lambda trace, n: trace[n].outputs["settled"] == MOST,
}
CASES = {
    f"scoreboard_{threshold}": Case(
        partial(Scoreboard, KEYS, MOST, threshold),
        partial(trace, threshold=threshold),
        BINS,
    )
    for threshold in range(MOST)
}
EXAMPLES = {
    "scoreboard_0": Example(
        CASES["scoreboard_0"].create,
        example,
        ("increment", "increment_key", "decrement", "decrement_key", "lookup", "lookup_key")
        + ("above",),
    )
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
