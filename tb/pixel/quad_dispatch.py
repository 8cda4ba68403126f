# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.pixel.quad_dispatch.QuadDispatch`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.pixel.quad_dispatch import dispatch
from fixfunc.rtl.pixel.quad_dispatch import QuadDispatchParams
from fixfunc.spec.points import QUAD, quad_tile
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES


def requests(rng: np.random.Generator, count: int, params: QuadDispatchParams) -> np.ndarray:
    """Packed tiles: masks that are full, empty, of one lane, of a half plane or of any lanes."""
    lanes = params.edge**2
    table = quad_tile(params.edge)
    tiles = np.zeros(count, dtype(table))
    for field in table:
        tiles[field.name] = rng.integers(0, 1 << min(field.bits, 63), count)
    tiles["samples"] = rng.integers(0, len(params.modes), count)
    covered = masks(rng, count, lanes)
    # Samples to shade are covered, and some of these fail a test.
    left = np.where(rng.random(count) < 0.5, masks(rng, count, lanes), np.uint64((1 << lanes) - 1))
    tiles["covered"] = covered
    tiles["mask"] = covered & left
    # Places that are reached, so that no bit of a pixel is lost.
    for name in ("x", "y"):
        tiles[name] >>= rng.integers(1, 14, count).astype(tiles[name].dtype)
    return codec.pack(tiles, table)


def masks(rng: np.random.Generator, count: int, lanes: int) -> np.ndarray:
    """Lanes of tiles: uint64."""
    every = np.uint64((1 << lanes) - 1)
    arbitrary = rng.integers(0, 1 << 63, count).astype(np.uint64) << np.uint64(1)
    arbitrary |= rng.integers(0, 2, count).astype(np.uint64)
    few = arbitrary & np.roll(arbitrary, 1) & np.roll(arbitrary, 2)
    one = np.uint64(1) << rng.integers(0, lanes, count).astype(np.uint64)
    below = every >> rng.integers(0, lanes, count).astype(np.uint64)
    nothing = np.zeros(count, np.uint64)
    kind = rng.integers(0, 6, count)
    full = np.full(count, every)
    return np.choose(kind, [arbitrary, few, one, below, full, nothing]) & every


def expected(rows: np.ndarray, params: QuadDispatchParams) -> np.ndarray:
    """Packed quads of packed tiles."""
    table = quad_tile(params.edge)
    return codec.pack(dispatch(codec.unpack(rows, table, dtype(table)), params.edge), QUAD)


def describe(row: np.ndarray, _: QuadDispatchParams) -> str:
    """A quad in words."""
    record = codec.unpack(row[None], QUAD, dtype(QUAD))[0]
    return ", ".join(f"{f.name} {int(record[f.name]):#x}" for f in QUAD)


class QuadDispatchBench(StreamBench):
    """Bench with one stream in, and one out."""

    stem = "quad_dispatch"


# plan: quad-dispatch-4
@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def tiles_become_quads(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = QuadDispatchBench(dut)
    await bench.run(requests(bench.rng, 200, bench.params), source, sink)


# plan: quad-dispatch-3
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_quad_a_clock(dut: HierarchyObject) -> None:
    """Of tiles that each have a quad one leaves each clock."""
    bench = QuadDispatchBench(dut)
    table = quad_tile(bench.params.edge)
    rows = requests(bench.rng, 200, bench.params)
    tiles = codec.unpack(rows, table, dtype(table))
    rows = rows[tiles["mask"] != 0]
    await bench.run(rows)
    clocks = [clock for _, clock in bench.beats_out]
    assert clocks == list(range(clocks[0], clocks[0] + len(clocks)))
