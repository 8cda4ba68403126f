# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.depth.depth_unit.DepthUnit`: what passes is what passes alone."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.depth.depth_unit import DepthUnit, DepthUnitParams
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind, Outcome
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.depth import depth_test, shading


def requests(rng: np.random.Generator, count: int, params: DepthUnitParams) -> np.ndarray:
    """Targets, each behind a whole clear; draws of tiles that nothing has looked at.

    Clears and fences in between.
    """
    rows = depth_test.requests(rng, count, params.test)
    table = payloads.tile(params.edge)
    work = rows[:, 0] & 3 == Kind.WORK
    tiles = codec.unpack(rows[work], table, dtype(table))
    tiles["outcome"] = Outcome.TEST
    tiles["note"] = 0
    tiles["last"] |= late_tiles(rows)[
        work
    ]  # such tiles all go out: those that HiZ drops must not get lost
    rows[work] = codec.pack(tiles, table, WIDTH)
    return rows


def late_tiles(rows: np.ndarray) -> np.ndarray:
    """Which beats come under a draw state that is written late: bool, one a beat."""
    state = rows[:, 0] & 3 == Kind.STATE
    late = np.zeros(len(rows), bool)
    states = codec.unpack(rows[state], payloads.DRAW_STATE, dtype(payloads.DRAW_STATE))
    late[state] = states["early_write"] == 0
    return late[np.maximum.accumulate(np.where(state, np.arange(len(rows)), 0))]


def Harness(params: DepthUnitParams) -> shading.Harness:
    """The depth unit, with a shader behind it."""
    return shading.Harness(DepthUnit(params), params.edge)


def replay(
    rows: np.ndarray, outputs: dict[str, np.ndarray], params: DepthUnitParams
) -> dict[str, np.ndarray]:
    """Expected beats, by the golden depth test alone.

    Outcomes of HiZ depend on when reports reach it, and are read from the outputs.

    Tiles dropped must have nothing that passes in the end, and tiles accepted nothing that fails:
    others are expected to be tested. Of those dropped nothing goes out.
    """
    received = outputs["o"]
    reference = depth_test.Reference(params.test)
    table = payloads.tested(params.edge)
    beats = reference.expected(rows)
    expected = beats["o"]
    covered = np.concatenate(reference.covered)
    answered = np.concatenate(reference.answered)
    late = np.concatenate(reference.late)
    work = np.flatnonzero(expected[:, 0] & 3 == Kind.WORK)
    work = work[work < len(received)]
    covered = covered[: len(work)]
    answered = answered[: len(work)]
    late = late[: len(work)]
    tiles = codec.unpack(expected[work], table, dtype(table))
    received_tiles = codec.unpack(received[work], table, dtype(table))
    dropped = received_tiles["outcome"] == Outcome.DROP
    accepted = received_tiles["outcome"] == Outcome.ACCEPT
    wrong = dropped & (answered > 0) | accepted & (answered != covered)
    tiles["outcome"] = np.where(wrong, Outcome.TEST, received_tiles["outcome"])
    tiles["note"] = received_tiles["note"]
    for name in ("mask", "full", "covered"):
        tiles[name][dropped & ~wrong] = 0
    expected[work] = codec.pack(tiles, table, WIDTH)

    # Tiles come back with what HiZ found.
    table = payloads.tile(params.edge)
    answers = codec.unpack(beats["answers"], table, dtype(table))
    for name in ("outcome", "note"):
        answers[name][: late.sum()] = tiles[name][late]
    return {"o": expected, "answers": codec.pack(answers, table)}


def describe(row: np.ndarray, params: DepthUnitParams) -> str:
    return scenes.describe(row, payloads.tested(params.edge))


class DepthUnitBench(StreamBench):
    stem = "depth_unit"
    ports = "o", "answers"


# plan: depth-unit-2
@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def hiz_changes_nothing(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = DepthUnitBench(dut)
    await bench.run(requests(bench.rng, 80, bench.params), source, sink)
