# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.raster.tile_rasterizer.TileRasterizer`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.geometry.triangle_setup import DTYPE, setup
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.rtl.raster.tile_rasterizer import TileRasterizerParams
from fixfunc.spec import payloads
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES

IN = payloads.width(payloads.SETUP)
PIXELS = {4: 130, 8: 320}  # greatest width or height of a target, by the tile's edge


def requests(rng: np.random.Generator, count: int, params: TileRasterizerParams) -> np.ndarray:
    """Packed draws: set-up triangles of every kind between control beats."""

    def work(triangles, state):
        return codec.pack(setup(triangles, state, params.edge).records, payloads.SETUP, IN)

    return scenes.beats(rng, count, IN, work, params.samples, PIXELS[params.edge], 0.6)


def out_width(params: TileRasterizerParams) -> int:
    """Bits of an output beat."""
    return max(
        payloads.width(table) for table in (payloads.tile(params.edge), *payloads.CONTROL.values())
    )


def expected(rows: np.ndarray, params: TileRasterizerParams) -> np.ndarray:
    """Covered tiles and control beats, packed."""

    def work(records, _state):
        parts = np.split(records, np.flatnonzero(np.diff(records["samples"])) + 1)
        tiles = [rasterize(part, params.edge, params.grid)[0] for part in parts]
        return codec.pack(np.concatenate(tiles), payloads.tile(params.edge), out_width(params))

    return scenes.through(rows, payloads.SETUP, DTYPE, out_width(params), work)


def describe(row: np.ndarray, params: TileRasterizerParams) -> str:
    return scenes.describe(row, payloads.tile(params.edge))


class TileRasterizerBench(StreamBench):
    stem = "tile_rasterizer"


# plan: tile-rasterizer-8
@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def tiles_of_triangles(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = TileRasterizerBench(dut)
    await bench.run(requests(bench.rng, 24, bench.params), source, sink)


# plan: tile-rasterizer-12
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def one_tile_a_clock(dut: HierarchyObject) -> None:
    """The tiles of a triangle over the whole target leave without a gap."""
    bench = TileRasterizerBench(dut)
    edge = bench.params.edge
    rows = scenes.whole_target(
        64,
        lambda triangles, state: codec.pack(
            setup(triangles, state, edge).records, payloads.SETUP, IN
        ),
    )
    await bench.run(rows)
    clocks = [clock for _, clock in bench.beats_out]
    assert len(clocks) == (64 // edge) ** 2
    assert clocks == list(range(clocks[0], clocks[0] + len(clocks)))
