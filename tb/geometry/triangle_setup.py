# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.geometry.triangle_setup.TriangleSetup`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.geometry.triangle_setup import DTYPE, TRIANGLE, setup
from fixfunc.models.state import draw_state
from fixfunc.rtl.geometry.triangle_setup import TriangleSetup, TriangleSetupParams
from fixfunc.spec import payloads
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES

IN = payloads.width(payloads.DRAW_STATE)
OUT = payloads.width(payloads.SETUP)


def requests(rng: np.random.Generator, count: int, params: TriangleSetupParams) -> np.ndarray:
    """Packed draws: triangles of every kind between control beats."""
    return scenes.beats(
        rng,
        count,
        IN,
        lambda triangles, _: codec.pack(triangles, payloads.TRIANGLE, IN),
        most_pixels=16384,
        conservative=0.6 * params.conservative,
    )


def expected(rows: np.ndarray, params: TriangleSetupParams) -> np.ndarray:
    """Packed set-up triangles and control beats."""

    def work(triangles, state):
        records = (
            setup(triangles, state, params.edge).records
            if state is not None
            else np.zeros(0, DTYPE)
        )
        return codec.pack(records, payloads.SETUP, OUT)

    return scenes.through(rows, payloads.TRIANGLE, TRIANGLE, OUT, work)


def describe(row: np.ndarray, _params: TriangleSetupParams) -> str:
    return scenes.describe(row, payloads.SETUP)


class TriangleSetupBench(StreamBench):
    stem = "triangle_setup"

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.latency = TriangleSetup(self.params).latency


# plan: triangle-setup-9
@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def triangles_set_up(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = TriangleSetupBench(dut)
    await bench.run(requests(bench.rng, 60, bench.params), source, sink)


# plan: triangle-setup-10
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def one_a_clock(dut: HierarchyObject) -> None:
    """One visible triangle an interval behind a STATE, with the latency of the unit.

    A FIFO shorter than the pipeline cannot sustain the rate.
    """
    bench = TriangleSetupBench(dut)
    triangles = np.zeros(200, TRIANGLE)
    triangles["x1"] = triangles["y2"] = bench.rng.integers(512, 4096, 200)
    rows = [
        codec.pack(np.atleast_1d(draw_state(64, 64)), payloads.DRAW_STATE, IN),
        codec.pack(triangles, payloads.TRIANGLE, IN),
    ]
    await bench.run(np.concatenate(rows))
    assert len(bench.beats_out) == 201
    # The latency of a control beat is not checked.
    bench.beats_in = bench.beats_in[1:]
    bench.beats_out = bench.beats_out[1:]
    if bench.params.queue * bench.params.interval > bench.latency:
        bench.check_rate(bench.latency, bench.params.interval)
