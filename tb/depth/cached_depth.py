# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.depth.cached_depth.CachedDepth`: samples, and bytes of memory."""

from collections.abc import Callable

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.cosim.reference.top import HizOutcomes, take_notes
from fixfunc.models.depth.cached_depth import CachedDepth
from fixfunc.models.depth.depth_cache import CacheShape
from fixfunc.models.memory.contract import StageContract
from fixfunc.models.memory.counters import counter_record
from fixfunc.models.payload import carried, dtype
from fixfunc.models.raster.edge_evaluator import pack
from fixfunc.rtl.depth import cached_depth as rtl
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching
from fixfunc.spec.state import Kind, Outcome
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.depth import depth_test, shading

# of planes in memory, so many bytes apart: enough for any target of a bench
PLACES = 6
PLACE = 1 << 17
LARGEST = 1 << 24  # bytes of the largest plane of a bench, which lies beyond the places


def Harness(params: rtl.CachedDepthParams) -> shading.Harness:
    """The block, with what HiZ found in view, and a shader behind it."""
    return shading.Harness(rtl.CachedDepth(params, probes=True), params.edge)


def memory(rows: np.ndarray, _params: rtl.CachedDepthParams) -> np.ndarray:
    """What lies behind the ports at first: the places, or as much as a large plane needs."""
    clears = codec.unpack(rows[rows[:, 0] & 3 == Kind.CLEAR], payloads.CLEAR, dtype(payloads.CLEAR))
    begins = clears[(clears["x0"] == 0) & (clears["y0"] == 0)]
    last = max(int(begins[f"{name}_base"].max(initial=0)) for name in ("depth", "stencil"))
    size = PLACES * PLACE if last < PLACES * PLACE else last + LARGEST
    return np.random.default_rng(len(rows)).integers(0, 256, size, np.uint8)


def requests(rng: np.random.Generator, count: int, params: rtl.CachedDepthParams) -> np.ndarray:
    """Requests of the depth test, on targets at random places in memory.

    Some fences wait for memory, and the last one does.
    """
    rows = depth_test.requests(rng, count, params.test)
    kind = rows[:, 0] & 3
    for chosen, table, change in (
        (Kind.STATE, payloads.DRAW_STATE, _accept),
        (Kind.CLEAR, payloads.CLEAR, _somewhere),
        (Kind.FENCE, payloads.FENCE, _flush),
    ):
        records = codec.unpack(rows[kind == chosen], table, dtype(table))
        change(rng, records)
        rows[kind == chosen] = codec.pack(records, table, WIDTH)
    table = payloads.tile(params.edge)
    tiles = codec.unpack(rows[kind == Kind.WORK], table, dtype(table))
    tiles["outcome"] = 0
    tiles["note"] = 0
    rows[kind == Kind.WORK] = codec.pack(tiles, table, WIDTH)
    return np.concatenate(
        [rows, scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1, sequence=0xE)]
    )


def _accept(rng, states):
    """HiZ may accept what is discarded later: such tiles are read all the same."""
    states["hiz_accept"] |= states["early_reject"] & (rng.random(len(states)) < 0.5)


def _somewhere(rng, clears):
    """Each plane at places of its own: another may take them over only behind a fence."""
    for n, plane in enumerate(("depth", "stencil")):
        clears[f"{plane}_base"] = (2 * rng.integers(0, PLACES // 2, len(clears)) + n) * PLACE


def _flush(rng, fences):
    fences["flush"] = rng.random(len(fences)) < 0.3


class Reference:
    """Golden cached depth behind a stream of beats.

    Parameters
    ----------
    params : CachedDepthParams
    data : ndarray of uint8
        Memory.
    outcomes : callable
        Takes tiles in front of HiZ, returns what HiZ found of each.
    """

    def __init__(
        self,
        params: rtl.CachedDepthParams,
        data: np.ndarray,
        outcomes: Callable[[np.ndarray], np.ndarray],
    ) -> None:
        self._params = params
        self._outcomes = outcomes
        self.table = payloads.tile(params.edge)
        self.tested = payloads.tested(params.edge)
        self.memory = data
        self.unit = CachedDepth(
            data,
            CacheShape(
                params.sets,
                params.ways,
                params.table_lines,
                coding="differences" if params.differences else "anchor",
            ),
            params.edge,
            params.stencil,
        )
        begins = ("depth", "stencil") if params.stencil else ("depth",)
        self._contract = StageContract(depths.limits(params.test), begins=begins)
        self.counts = {name: [] for name in self.unit.traffic}
        self.answers = [np.zeros(0, np.uint64)]

    def expected(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Packed beats in -> packed beats out, by port, and the memory."""
        out = [np.zeros((0, rows.shape[1]), np.uint64)]
        for tiles, beat in scenes.draws(rows, self.table, dtype(self.table)):
            if len(tiles):
                out.append(codec.pack(self.tiles(tiles), self.tested, WIDTH))
            if len(beat):
                out.append(self._pass(beat))
        counts = {
            f"{name}_counted": codec.pack(np.concatenate(records), self._table(name))
            for name, records in self.counts.items()
        }
        return {
            "o": np.concatenate(out),
            "answers": np.concatenate(self.answers)[:, None],
            "memory": self.memory.view(np.uint64).reshape(-1, 4),
        } | counts

    def _table(self, name):
        """What is counted of a cache."""
        return caching.counted(self._params.differences and name == "depth")

    def _pass(self, beat):
        kind, record = scenes.control_record(beat)
        {Kind.STATE: self.state, Kind.CLEAR: self.clear, Kind.FENCE: self.fence}[kind](record[0])
        return codec.pack(record, scenes.CONTROL[kind], WIDTH)

    def state(self, state: np.void) -> None:
        """A draw state."""
        self.unit.state = state
        self._contract.set_state(state)

    def clear(self, record: np.void) -> None:
        """A clear, and counters of the planes of which all is cleared."""
        cleared = self._contract.clear(record)
        if cleared:
            self.unit.clear(cleared.rectangle, **cleared.values, bases=cleared.bases)
            for name in self.counts:
                if cleared.covers_target and name in cleared.values:
                    self._count(name)

    def fence(self, record: np.void) -> None:
        """A fence, and counters where it flushes."""
        self._contract.fence.report(record)
        if record["flush"]:
            self.unit.flush()
            for name in self.counts:
                self._count(name)

    def _count(self, name):
        self.counts[name].append(counter_record(self.unit.traffic[name], self._table(name)))

    def tiles(self, tiles: np.ndarray) -> np.ndarray:
        """Tiles with the samples that passed, or that are to be shaded."""
        edge = self._params.edge
        passed = np.zeros((len(tiles), edge, edge), bool)
        shaded = np.zeros_like(passed)
        accepted = self._contract.accepted(tiles)
        out = carried(tiles, self.tested)
        out["outcome"] = self._outcomes(tiles)
        out["covered"] = np.where(out["outcome"] == Outcome.DROP, 0, tiles["mask"])
        if accepted.any():
            passed[accepted], _, shaded[accepted] = self.unit.test(
                tiles[accepted], out["outcome"][accepted], self._shade
            )
        self._contract.fence.passed += int(passed.sum())
        out["mask"] = pack(shaded)
        out["full"] = shaded.all((1, 2))
        any_shaded = shaded.any((1, 2))
        if not self._contract.state["early_write"]:
            self.answers.append(pack(passed)[any_shaded].astype(np.uint64))
        return out[any_shaded | tiles["last"].astype(bool)]

    def _shade(self, tiles, _numbers):
        return shading.shade(
            tiles, self._contract.state, self._params.edge, self._params.shader_depths
        )


def replay(
    rows: np.ndarray, outputs: dict[str, np.ndarray], params: rtl.CachedDepthParams
) -> dict[str, np.ndarray]:
    """What should come out: samples as if there were no HiZ, all of whose drops are tested.

    Memory, and what goes to the shader, by what HiZ found, which depends on when.
    """
    behind_hiz = outputs["probe_hiz"]
    rows = rows.copy()
    table = payloads.FENCE
    before = np.flatnonzero(rows[:, 0] & 3 == Kind.FENCE)
    after = np.flatnonzero(behind_hiz[:, 0] & 3 == Kind.FENCE)[: len(before)]
    fences = codec.unpack(rows[before], table, dtype(table))
    fences["error"][: len(after)] = codec.unpack(behind_hiz[after], table, dtype(table))["error"]
    rows[before] = codec.pack(fences, table, WIDTH)
    outcomes = HizOutcomes(behind_hiz, params.edge)
    expected = Reference(params, memory(rows, params), outcomes).expected(rows)
    take_notes(expected["o"], outputs["o"], params.edge)
    return expected


def describe(row: np.ndarray, params: rtl.CachedDepthParams) -> str:
    return scenes.describe(row, payloads.tested(params.edge))


class CachedDepthBench(MemoryBehind, StreamBench):
    """With memory behind both ports, which is compared in the end."""

    stem = "cached_depth"

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.attach(dut, [f"{name}_memory" for name in self._planes], PLACES * PLACE)

    @property
    def _planes(self):
        return ("depth", "stencil") if self.params.stencil else ("depth",)

    @property
    def ports(self) -> tuple[str, ...]:
        return "o", "answers", "probe_hiz", *(f"{name}_counted" for name in self._planes)

    def golden(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        golden = super().golden(rows)
        self.check_memory(golden["memory"])
        return golden | {"probe_hiz": self.outputs["probe_hiz"]}


# plan: cached-depth-6
@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(source=["full", "random"], sink=list(PACES))
async def memory_holds_what_passed(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = CachedDepthBench(dut)
    rows = requests(bench.rng, 80, bench.params)
    bench.fill(memory(rows, bench.params), sink)
    await bench.run(rows, source, sink)
