"""Bench of :class:`rtl.depth.depth_unit.DepthUnit`: what passes is what passes without HiZ."""

import cocotb
import numpy as np

from cosim import codec
from models.payload import dtype
from rtl.depth.depth_unit import CONFIGS
from spec import payloads
from spec.state import Kind, Outcome
from tb.bench import scenes
from tb.bench.bench import StreamBench, configuration
from tb.bench.pace import PACES
from tb.depth import depth_test


def requests(rng, count, params):
    """Targets, each behind a whole clear; draws of tiles that nothing has looked at; clears and fences in between."""
    rows, table = depth_test.requests(rng, count, params.test), payloads.tile(params.edge)
    work = rows[:, 0] & 3 == Kind.WORK
    tiles = codec.unpack(rows[work], table, dtype(table))
    tiles["outcome"], tiles["note"] = Outcome.TEST, 0
    rows[work] = codec.pack(tiles, table, depth_test.WIDTH)
    return rows


def replay(rows, given, params):
    """What should come out, by the golden depth test alone; what HiZ found, which depends on when, is taken from what came.

    Tiles dropped must have nothing that passes, and tiles accepted nothing that fails: others are expected to be tested.
    """
    twin, table = depth_test.Twin(params.test), payloads.tile(params.edge)
    expected = twin.expected(rows)["o"]
    work, covered = np.flatnonzero(expected[:, 0] & 3 == Kind.WORK), np.concatenate(twin.covered)
    work, covered = work[work < len(given)], covered[:(work < len(given)).sum()]
    tiles, found = (codec.unpack(beats[work], table, dtype(table)) for beats in (expected, given))
    wrong = (found["outcome"] == Outcome.DROP) & (tiles["mask"] > 0) | (found["outcome"] == Outcome.ACCEPT) & (tiles["mask"] != covered)
    tiles["outcome"], tiles["note"] = np.where(wrong, Outcome.TEST, found["outcome"]), found["note"]
    expected[work] = codec.pack(tiles, table, depth_test.WIDTH)
    return expected


def describe(row, params):
    return scenes.describe(row, payloads.tile(params.edge))


class DepthUnitBench(StreamBench):
    def __init__(self, dut):
        self.params = configuration(CONFIGS)
        super().__init__(dut, lambda rows: replay(rows, self._packed("o", self.given), self.params), lambda row: describe(row, self.params))


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def hiz_changes_nothing(dut, source, sink):
    bench = DepthUnitBench(dut)
    await bench.run(requests(bench.rng, 80, bench.params), source, sink)
