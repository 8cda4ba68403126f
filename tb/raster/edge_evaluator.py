# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.raster.edge_evaluator.EdgeEvaluator`."""

from dataclasses import replace

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import evaluate, pack
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import payloads
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES


def fields(params: EdgeEvaluatorParams) -> tuple[payloads.Field, ...]:
    """Field table of an input beat, with the widths of a configuration."""
    return tuple(
        replace(f, bits=params.step_bits) if f.name in "ab" else f
        for f in payloads.edge(params.width)
    )


def requests(rng: np.random.Generator, count: int, params: EdgeEvaluatorParams) -> np.ndarray:
    """Packed edges: random ones, ones with extreme steps, and ones that pass through samples."""
    table = fields(params)
    records = np.zeros(count, dtype(table))
    records["samples"] = rng.integers(0, params.samples.bit_length(), count)
    limit = 1 << params.step_bits - 1
    for name in "ab":
        records[name] = rng.integers(-limit, limit, count)
        extreme = rng.random(count) < 0.3
        steps = [-limit, 1 - limit, -1, 0, 1, limit - 1]
        records[name][extreme] = rng.choice(steps, int(extreme.sum()))
    distance = params.span * limit >> rng.integers(0, params.step_bits + 4, count)
    lowest = -(1 << params.width - 1)
    records["c"] = np.clip(rng.integers(-distance - 1, distance + 2), lowest, -lowest - 1)
    return codec.pack(records, table)


def expected(rows: np.ndarray, params: EdgeEvaluatorParams) -> np.ndarray:
    """Packed masks of packed edges."""
    records = codec.unpack(rows, fields(params), dtype(fields(params)))
    masks = np.zeros(len(records), np.uint64)
    for samples in np.unique(records["samples"]):
        selected = records["samples"] == samples
        a = records["a"][selected].astype(np.int64)
        b = records["b"][selected].astype(np.int64)
        c = records["c"][selected].astype(np.int64)
        if params.samples == 1:  # steps are for a pixel, not for 1/16 pixel
            value = evaluate(0, a, b, c << 4, params.edge) >> 4
        else:
            value = evaluate(samples, a, b, c, params.edge)
        masks[selected] = pack((value >> params.width - 1 & 1) == 0)
    return masks[:, None]


def describe(row: np.ndarray, _params: EdgeEvaluatorParams) -> str:
    return f"mask={int(row[0]):#x}"


class EdgeEvaluatorBench(StreamBench):
    stem = "edge_evaluator"


# plan: edge-evaluator-7
@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def masks_of_edges(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = EdgeEvaluatorBench(dut)
    await bench.run(requests(bench.rng, 100, bench.params), source, sink)


# plan: edge-evaluator-8
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def one_a_clock(dut: HierarchyObject) -> None:
    bench = EdgeEvaluatorBench(dut)
    await bench.run(requests(bench.rng, 100, bench.params))
    bench.check_rate(bench.params.latency)
