# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.depth.test.depth_test.DepthTest`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.depth.depth_test import DepthBuffer, new_depths
from fixfunc.models.depth.depth_unit import BITS
from fixfunc.models.depth.hiz import rounds
from fixfunc.models.formats import MOST
from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.memory.contract import StageContract
from fixfunc.models.memory.surface import tile_grid
from fixfunc.models.payload import carried, dtype
from fixfunc.models.raster.edge_evaluator import pack
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.test.depth_test import DepthTest, DepthTestParams
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat, Kind, Outcome
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.depth import shading

PIXELS = {4: 16, 8: 90}  # largest side of a target, by the tile's edge


def requests(rng: np.random.Generator, count: int, params: DepthTestParams) -> np.ndarray:
    """Targets, each behind a whole clear; draws of tiles; clears and fences in between."""
    table = payloads.tile(params.edge)
    out = [scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, begin=1)]
    while sum(map(len, out)) < count:
        size = tuple(int(v) for v in rng.integers(1, PIXELS[params.edge] + 1, 2))
        samples = 1 << int(rng.integers(0, len(params.modes)))
        form = rng.choice(depths.formats(params))
        target = rng.integers(0, 8)
        for n in range(5):
            draw = depths.state(rng, size, samples, form, params.stencil)
            draw["target"] = target
            if len(out) == 1:  # at least one draw is written late
                draw["early_write"] = draw["hiz_accept"] = 0
            triangles = depths.triangles(rng, int(rng.integers(1, 8)), size, form)
            tiles = rasterize(setup(triangles, draw, params.edge).records, params.edge)[0]
            tiles["outcome"] = rng.choice(
                [Outcome.TEST, Outcome.ACCEPT, Outcome.DROP], len(tiles), p=[0.8, 0.1, 0.1]
            )
            tiles["note"] = rng.integers(0, 1 << 24)
            # A steep triangle's plane is no tile's in memory, whatever it looks like.
            tiles["steep"] |= rng.random(len(tiles)) < 0.1
            if rng.random() < 0.05:
                tiles["x"] += rng.integers(0, 2, len(tiles), dtype=np.uint16) * 900
            new = new_depths(tiles[:4], draw, params.edge).ravel()
            if n and rng.random() < 0.1:
                draw = depths.spoil(rng, draw)
            out.append(codec.pack(depths.unread(rng, draw), payloads.DRAW_STATE, WIDTH))
            if not n or rng.random() < 0.3:
                cleared = depths.clear(rng, size, form, whole=not n)
                if len(new) and rng.random() < 0.5:  # to the depth of a sample, which then equals
                    cleared["depth_value"] = min(rng.choice(new), MOST[form])
                out.append(depths.clear_beat(rng, **cleared))
            out.append(codec.pack(tiles, table, WIDTH))
            if rng.random() < 0.5:
                out.append(
                    scenes.control_beat(
                        payloads.FENCE,
                        Kind.FENCE,
                        WIDTH,
                        begin=rng.integers(0, 2),
                        sequence=rng.integers(0, 1 << 32),
                        error=rng.choice([0, rng.integers(0, 8)]),
                    )
                )
    return np.concatenate(out)


def Harness(params: DepthTestParams) -> shading.Harness:
    """The depth test, with a shader behind it."""
    return shading.Harness(DepthTest(params), params.edge)


class Reference:
    """The golden depth test behind a stream of beats."""

    def __init__(self, params: DepthTestParams) -> None:
        self._params = params
        self._contract = StageContract(depths.limits(params, params.tiles))
        self.table = payloads.tile(params.edge)
        self.tested = payloads.tested(params.edge)
        self.covered = []
        self.answered = []
        # of the tiles left: masks as they came, and at the end; whether they come back
        self.late = []

    def expected(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Packed beats in -> packed beats out, by port."""
        out = []
        reports = []
        answers = []
        for tiles, beat in scenes.draws(rows, self.table, dtype(self.table)):
            if len(tiles):
                tested, reported, answered = self._tiles(tiles)
                answers.append(codec.pack(answered, self.table))
                out.append(codec.pack(tested, self.tested, WIDTH))
                reports.append(codec.pack(reported, payloads.feedback(self._params.edge)))
            if len(beat):
                out.append(self._pass(beat))
        return {
            "o": np.concatenate(out),
            "feedback": np.concatenate(reports),
            "answers": np.concatenate(answers),
        }

    def _pass(self, beat):
        kind, record = scenes.control_record(beat)
        if kind == Kind.STATE:
            self._set_state(record[0])
        elif kind == Kind.CLEAR:
            self._clear(record[0])
        else:
            self._contract.fence.report(record[0])
        return codec.pack(record, scenes.CONTROL[kind], WIDTH)

    def _clear(self, record):
        cleared = self._contract.clear(record)
        if cleared:
            if cleared.begins_target:
                self._buffer = DepthBuffer(self._contract.state, self._params.edge)
            self._buffer.clear(cleared.rectangle, **cleared.values)

    def _set_state(self, state):
        self._late = not state["early_write"]
        if self._contract.set_state(state):
            self._buffer.state = state

    def _tiles(self, tiles):
        """Tiles that go out, reports to HiZ, and tiles after shading."""
        edge = self._params.edge
        state = self._contract.state
        columns = tile_grid(state, edge)[0]
        accepted = self._contract.accepted(tiles)
        tested = np.flatnonzero(accepted & (tiles["outcome"] != Outcome.DROP))
        passed = np.zeros((len(tiles), edge, edge), bool)
        bounds = np.zeros((len(tiles), 2), np.int64)
        bounds[:, 1] = (1 << payloads.HIZ_BITS) - 1  # nothing is known of a refused tile
        out = np.zeros_like(passed)
        for batch in rounds(tiles["y"][tested].astype(np.int64) * columns + tiles["x"][tested]):
            out[tested[batch]], passed[tested[batch]] = self._test(tiles[tested[batch]])
            cut = BITS[DepthFormat(state["depth_format"])] - payloads.HIZ_BITS
            bounds[tested[batch]] = np.stack(self._buffer.bounds(tiles[tested[batch]]), -1) >> cut
        self._contract.fence.passed += int(passed.sum())
        sent = carried(tiles, self.tested)
        sent["covered"] = tiles["mask"]
        answered = tiles.copy()
        for records, masks in ((sent, out), (answered, passed)):
            records["mask"] = pack(masks)
            records["full"] = masks.all((1, 2))
        awaited = tiles["outcome"] != Outcome.DROP
        reported = np.zeros(awaited.sum(), dtype(payloads.feedback(edge)))
        for name in ("x", "y", "note"):
            reported[name] = tiles[name][awaited]
        reported["low"], reported["high"] = bounds[awaited].T
        emitted = out.any((1, 2)) | tiles["last"].astype(bool) | self._late
        self.covered.append(np.where(accepted, tiles["mask"], 0)[emitted])
        self.answered.append(pack(passed)[emitted])
        self.late.append(np.full(emitted.sum(), self._late))
        return (
            sent[emitted],
            reported[: len(reported) if state["depth_test"] and state["depth_write"] else 0],
            answered[: len(answered) * self._late],
        )

    def _test(self, tiles):
        """Samples that go out of tiles of different places, and those that pass in the end."""
        if not self._late:
            passed = self._buffer.test(tiles).passed
            return passed, passed
        tiles, out = tiles.copy(), self._buffer.early(tiles)
        state = self._buffer.state
        edge = self._params.edge
        shaded = shading.shade(tiles, state, edge, self._params.shader_depths)
        tiles["mask"] = pack(out & shaded.mask)
        return out, self._buffer.test(tiles, shaded.depths(tiles, state, edge)).passed


def expected(rows: np.ndarray, params: DepthTestParams) -> dict[str, np.ndarray]:
    """Packed tiles and control beats, reports to HiZ, and tiles after shading, by port."""
    return Reference(params).expected(rows)


def describe(row: np.ndarray, params: DepthTestParams) -> str:
    return scenes.describe(row, payloads.tested(params.edge))


class DepthTestBench(StreamBench):
    stem = "depth_test"
    ports = "o", "feedback", "answers"


# plan: depth-test-13
@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def tiles_are_tested(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = DepthTestBench(dut)
    await bench.run(requests(bench.rng, 60, bench.params), source, sink)


# plan: depth-test-14
@cocotb.test(timeout_time=2, timeout_unit="ms")
async def one_tile_a_clock(dut: HierarchyObject) -> None:
    """Tiles of one place, of two, and of many: each sees what the one before it has written."""
    bench = DepthTestBench(dut)
    params, size = bench.params, 4 * bench.params.edge
    draw = draw_state(size, size, depth_compare=4, depth_format=params.formats[-1])
    rng = bench.rng
    tiles = np.zeros(120, dtype(payloads.tile(params.edge)))
    tiles["x"][40:] = np.arange(80) % 2
    tiles["y"][80:] = np.arange(40) // 2 % 4
    tiles["mask"] = (1 << params.edge**2) - 1
    tiles["last"] = 1
    tiles["z0"] = np.arange(120) << 24
    tiles["dx"], tiles["dy"] = rng.integers(-1 << 16, 1 << 16, (2, 120))
    clear = scenes.control_beat(
        payloads.CLEAR, Kind.CLEAR, WIDTH, depth=1, stencil=1, x1=size, y1=size
    )
    late = draw.copy()
    late["early_write"] = 0
    first = codec.pack(draw, payloads.DRAW_STATE, WIDTH)
    last = codec.pack(late, payloads.DRAW_STATE, WIDTH)
    packed = codec.pack(tiles, payloads.tile(params.edge), WIDTH)
    await bench.run(np.concatenate([first, clear, packed, last, packed]))
    clocks = [clock for _, clock in bench.beats_out[2:122]]
    assert clocks == list(range(clocks[0], clocks[0] + 120))
