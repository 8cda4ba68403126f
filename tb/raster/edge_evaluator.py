# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.raster.edge_evaluator.EdgeEvaluator`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import evaluate, pack
from fixfunc.rtl.raster.edge_evaluator import CONFIGS, EdgeEvaluatorParams
from fixfunc.spec import payloads
from fixfunc.tb.bench.bench import StreamBench, configuration
from fixfunc.tb.bench.pace import PACES


def fields(params: EdgeEvaluatorParams) -> tuple[payloads.Field, ...]:
    """The table of a beat in, at this configuration's widths."""
    return tuple(f._replace(bits=params.step_bits) if f.name in "ab" else f for f in payloads.edge(params.width))


def requests(rng: np.random.Generator, count: int, params: EdgeEvaluatorParams) -> np.ndarray:
    """Random edges, edges with steps at both ends of their range, and edges that pass through samples."""
    table = fields(params)
    records = np.zeros(count, dtype(table))
    records["samples"] = rng.integers(0, params.samples.bit_length(), count)
    most = 1 << params.step_bits - 1
    for name in "ab":
        records[name] = rng.integers(-most, most, count)
        ends = rng.random(count) < 0.3
        records[name][ends] = rng.choice([-most, 1 - most, -1, 0, 1, most - 1], int(ends.sum()))
    near = params.span * most >> rng.integers(0, params.step_bits + 4, count)
    records["c"] = np.clip(rng.integers(-near - 1, near + 2), -(1 << params.width - 1), (1 << params.width - 1) - 1)
    return codec.pack(records, table)


def expected(rows: np.ndarray, params: EdgeEvaluatorParams) -> np.ndarray:
    """Masks of packed edges."""
    records = codec.unpack(rows, fields(params), dtype(fields(params)))
    masks = np.zeros(len(records), np.uint64)
    for samples in np.unique(records["samples"]):
        those = records["samples"] == samples
        a, b, c = (records[name][those].astype(np.int64) for name in "abc")
        if params.samples == 1:  # steps of a pixel, not of 1/16
            value = evaluate(0, a, b, c << 4, params.edge) >> 4
        else:
            value = evaluate(samples, a, b, c, params.edge)
        masks[those] = pack((value >> params.width - 1 & 1) == 0)
    return masks[:, None]


def describe(row: np.ndarray, _params: EdgeEvaluatorParams) -> str:
    return f"mask={int(row[0]):#x}"


class EdgeEvaluatorBench(StreamBench):
    def __init__(self, dut: HierarchyObject) -> None:
        self.params = configuration(CONFIGS)
        super().__init__(dut, lambda rows: expected(rows, self.params), lambda row: describe(row, self.params))


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def masks_of_edges(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = EdgeEvaluatorBench(dut)
    await bench.run(requests(bench.rng, 100, bench.params), source, sink)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def one_a_clock(dut: HierarchyObject) -> None:
    bench = EdgeEvaluatorBench(dut)
    await bench.run(requests(bench.rng, 100, bench.params))
    bench.check_rate(bench.params.latency)
