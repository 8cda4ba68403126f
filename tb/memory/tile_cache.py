# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.memory.tile_cache.tile_cache.TileCache`."""

from collections import Counter

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.depth.compression.codes import TRANSFER
from fixfunc.models.depth.compression.planes import PLANE, evaluate
from fixfunc.models.depth.depth_cache import CacheShape, DepthCache, StencilCache
from fixfunc.models.memory.counters import counter_record
from fixfunc.models.output.colour_write import ColourCache
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE, pack, unpack
from fixfunc.models.state import draw_state
from fixfunc.rtl.memory.tile_cache.layouts import TILES
from fixfunc.rtl.memory.tile_cache.tile_cache import TileCacheParams
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching
from fixfunc.spec.state import CacheOp, DepthFormat
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.memory.slots import Harness, answer, work

__all__ = ["Harness"]
PLACES = 4  # of targets in memory,
PLACE = 1 << 18  # so many bytes apart
KINDS = {
    payloads.DEPTH: DepthCache,
    payloads.FLOAT_DEPTH: DepthCache,
    payloads.STENCIL: StencilCache,
    payloads.COLOUR: ColourCache,
}
ONES = (1 << payloads.DEPTH) - 1


def memory(rows: np.ndarray, params: TileCacheParams) -> np.ndarray:
    """What lies behind the port at first: as much as requests need."""
    records = codec.unpack(rows, work(params.edge), dtype(work(params.edge)))
    clears = records[records["op"] == CacheOp.CLEAR]
    number = clears["number"].astype(np.int64)
    return np.zeros(
        int(
            (
                clears["base"] + (number << params.surface.room) + -(-number // TILES) * TRANSFER
            ).max()
        ),
        np.uint8,
    )


def requests(rng: np.random.Generator, count: int, params: TileCacheParams) -> np.ndarray:
    """Targets one after the other, each cleared again now and then.

    Tiles near one another, some again at once; flushes, also between them.
    """
    table = work(params.edge)
    rows = []
    edge = params.edge
    while len(rows) < count:
        columns, lines = (int(v) for v in rng.integers(1, 21, 2))
        target = {
            "samples": rng.integers(0, params.samples.bit_length()),
            "base": int(rng.integers(0, PLACES)) * PLACE,
            "is_float": params.bits == payloads.FLOAT_DEPTH and rng.random() < 0.5,
        }
        pool = planes(rng, 6)
        if params.differences:  # flat, smooth or noise
            for name in ("dx", "dy"):
                pool[name] >>= rng.choice([0, 8, 12, 30], len(pool))
        for _ in range(int(rng.integers(1, 4))):
            cleared = int(rng.choice([0, ONES, rng.integers(0, ONES)]))
            pool[0] = cleared << 8, 0, 0
            if target["is_float"]:
                cleared |= (cleared & 63) << payloads.DEPTH
            rows.append(
                {
                    "op": CacheOp.CLEAR,
                    "number": columns * lines,
                    "cleared": cleared,
                    "x": columns,
                    "y": lines,
                }
                | target
            )
            x = 0
            y = 0
            for _ in range(int(rng.integers(1, 120)) if rng.random() < 0.95 else 0):
                if rng.random() < 0.6:
                    x, y = (
                        (int(v) + int(step)) % n
                        for v, n, step in zip(
                            (x, y), (columns, lines), rng.integers(-1, 2, 2), strict=True
                        )
                    )
                else:
                    x = int(rng.integers(0, columns))
                    y = int(rng.integers(0, lines))
                rows += [
                    use(rng, x, y, columns, pool, edge) | target
                    for _ in range(int(rng.choice([1, 1, 1, 1, 12])))
                ]
                if rng.random() < 0.03:
                    rows.append({"op": CacheOp.FLUSH})
            if rng.random() < 0.7:
                rows.append({"op": CacheOp.FLUSH})
    rows.append({"op": CacheOp.FLUSH})
    records = np.zeros(len(rows), dtype(table))
    for record, row in zip(records, rows, strict=True):
        for name, value in row.items():
            record[name] = value
    return codec.pack(records, table)


def planes(rng: np.random.Generator, n: int) -> np.ndarray:
    """Planes of triangles."""
    out = np.zeros(n, PLANE)
    out["z0"] = rng.integers(0, 1 << 32, n, dtype=np.uint32)
    for name in ("dx", "dy"):
        out[name] = rng.integers(-1 << 14, 1 << 14, n) << rng.integers(0, 17, n)
    return out


def use(
    rng: np.random.Generator, x: int, y: int, columns: int, pool: np.ndarray, edge: int
) -> dict[str, int | np.generic]:
    """A tile, and what is written to it."""
    kind = rng.integers(0, 4)
    mask = rng.integers(0, 2, (edge, edge)).astype(bool)
    if kind == 0:
        mask[:] = True
    elif kind == 1:
        mask = np.arange(edge)[:, None] * rng.integers(-3, 4) + np.arange(edge) * rng.integers(
            -3, 4
        ) > rng.integers(-9, 9)
    elif rng.random() < 0.5:
        mask[:] = False
    plane = rng.choice(pool)
    return {
        "op": CacheOp.USE,
        "x": x,
        "y": y,
        "number": y * columns + x,
        "needed": not mask.all() or rng.random() < 0.5,
        "writes": mask.any() or rng.random() < 0.5,
        "written": pack(mask[None])[0],
        "exact": rng.random() < 0.85,
        **{name: plane[name] for name in PLANE.names},
    }


def hits(params: TileCacheParams, tiles: int, count: int) -> np.ndarray:
    """A target as large as the cache, or of so many tiles, cleared.

    Then as many requests, which write a sample of each of them in turn.
    """
    records = np.zeros(1 + count, dtype(work(params.edge)))
    columns = 1 << params.slots.bit_length() // 2
    tile_count = max(params.slots, tiles)
    number = np.arange(count) % tiles
    records["op"][0] = CacheOp.CLEAR
    records["number"][0] = tile_count
    records["x"][0] = columns
    records["y"][0] = tile_count // columns
    records["number"][1:] = number
    records["x"][1:] = number % columns
    records["y"][1:] = number // columns
    records["needed"][1:] = records["written"][1:] = records["writes"][1:] = records["exact"][
        1:
    ] = 1
    records["z0"][1:] = 5 << 8
    return codec.pack(records, work(params.edge))


def returns(params: TileCacheParams) -> np.ndarray:
    """Of each set as many tiles as it has ways and one more, then the first again; a flush."""
    columns = 1 << params.sets.bit_length() // 2
    lines = params.sets // columns
    x, y = (n.ravel() for n in np.meshgrid(np.arange(columns), np.arange(lines)))
    rounds = [*range(params.ways + 1), 0]
    records = np.zeros(2 + len(rounds) * params.sets, dtype(work(params.edge)))
    places = records[1:-1].reshape(params.sets, len(rounds))
    places["x"] = x[:, None]
    places["y"] = y[:, None] + lines * np.array(rounds)
    places["number"] = places["y"] * columns + places["x"]
    for name in ("needed", "written", "writes", "exact"):
        places[name] = 1
    places["z0"] = 5 << 8
    count = columns * lines * (params.ways + 1)
    for name, value in {"number": count, "x": columns, "y": count // columns}.items():
        records[name][0] = value
    records["op"][[0, -1]] = CacheOp.CLEAR, CacheOp.FLUSH
    return codec.pack(records, work(params.edge))


class Reference:
    """Golden caches, one for each place in memory."""

    def __init__(self, params: TileCacheParams) -> None:
        self._params = params
        self._traffic = Counter()
        self.shape = CacheShape(
            params.sets,
            params.ways,
            params.table_lines,
            coding="differences" if params.differences else "anchor",
            colours="differences" if params.differences else "raw",
        )

    def expected(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Packed requests in -> what tiles were, what has been counted, the memory in the end."""
        edge = self._params.edge
        counts = []
        self.memory = memory(rows, self._params)
        tiles = np.zeros(len(rows), dtype(answer(self._params)))
        records = codec.unpack(rows, work(edge), dtype(work(edge)))
        new = new_values(records, edge) & (1 << self._params.bits) - 1
        for n, record in enumerate(records):
            op = tiles["op"][n] = CacheOp(record["op"])
            if op == CacheOp.USE:
                values = self._use(record, new[n]).ravel()
                for lane in range(edge**2):
                    tiles[f"value{lane}"][n] = values[lane]
            elif op == CacheOp.CLEAR:
                self._clear(record)
            elif op == CacheOp.FLUSH:
                self._cache.flush()
            if op != CacheOp.USE:
                counts.append(self._counted())
        return {
            "o": codec.pack(tiles, answer(self._params)),
            "counted": codec.pack(
                np.concatenate(counts), caching.counted(self._params.differences)
            ),
            "memory": self.memory.view(np.uint64).reshape(-1, 4),
        }

    def _use(self, record, new):
        tile = int(record["number"])
        exact = bool(record["exact"])
        plane = tuple(int(record[name]) for name in PLANE.names)
        values = self._cache.use(
            tile,
            bool(record["needed"]),
            bool(record["writes"]),
            new,
            unpack(record["written"][None], self._params.edge)[0],
            plane if exact else None,
        )
        return values * record["needed"]

    def _clear(self, record):
        """A target takes its place in memory, and nothing else does."""
        base = int(record["base"])
        columns, lines = (int(record[name]) for name in "xy")
        lx, ly = LANE_SHAPE[record["samples"]]
        edge = self._params.edge
        pixels = columns * (edge >> lx), lines * (edge >> ly)
        form = DepthFormat.D32F if record["is_float"] else DepthFormat.D24
        state = draw_state(*pixels, 1 << int(record["samples"]), depth_format=form)
        if hasattr(self, "_cache"):
            self._traffic += self._cache.counts()
        self._cache = KINDS[self._params.bits](state, self.shape, edge, self.memory[base:])
        self._cache.clear((0, 0, *pixels), int(record["cleared"]) & (1 << self._params.bits) - 1)

    def _counted(self):
        return counter_record(
            self._traffic + self._cache.counts(), caching.counted(self._params.differences)
        )


def new_values(records: np.ndarray, edge: int) -> np.ndarray:
    """Values that requests write: depths of their planes, or with the lowest bit inverted.

    Above those of D32F come their lowest bits once more.
    """
    written_planes = np.zeros((len(records), 1), PLANE)
    for name in PLANE.names:
        written_planes[name][:, 0] = records[name]
    out = np.zeros((len(records), edge, edge), np.uint32)
    for samples in range(4):
        selected = records["samples"] == samples
        index = np.zeros((selected.sum(), edge, edge), np.int64)
        out[selected] = evaluate(written_planes[selected], index, samples)
    out[records["is_float"] == 1] |= (out[records["is_float"] == 1] & 63) << payloads.DEPTH
    return out ^ (records["exact"] == 0)[:, None, None].astype(np.uint32)


def expected(rows: np.ndarray, params: TileCacheParams) -> dict[str, np.ndarray]:
    """What comes out, and what memory holds in the end."""
    return Reference(params).expected(rows)


def describe(row: np.ndarray, params: TileCacheParams) -> str:
    """A beat in words."""
    record = codec.unpack(row[None], answer(params), dtype(answer(params)))[0]
    values = " ".join(f"{record[f'value{n}']:0{params.bits // 4}x}" for n in range(params.edge**2))
    return f"{CacheOp(record['op']).name} error={record['error']} {values}"


class TileCacheBench(MemoryBehind, StreamBench):
    """With a memory of bytes behind the AXI4 port, which is compared in the end."""

    stem = "tile_cache"
    ports = "o", "counted"

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.attach(dut, ["memory"], PLACES * PLACE)

    def golden(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        golden = super().golden(rows)
        self.check_memory(golden["memory"])
        return golden


# plan: tile-cache-9
@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def memory_holds_what_was_written(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = TileCacheBench(dut)
    rows = requests(bench.rng, 40, bench.params)
    bench.fill(memory(rows, bench.params), sink)
    await bench.run(rows, source, sink)


# plan: tile-cache-10
@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(tiles=["all", "one", "two"])
async def one_hit_a_clock(dut: HierarchyObject, tiles: str) -> None:
    """Tiles on chip: all of them in turn, one again and again, two in turn."""
    bench = TileCacheBench(dut)
    table = work(bench.params.edge)
    slots = bench.params.slots
    flush = np.zeros(1, dtype(table))
    flush["op"] = CacheOp.FLUSH
    count = {"all": slots, "one": 1, "two": 2}[tiles]
    await bench.run(
        np.concatenate([hits(bench.params, count, 12 * slots), codec.pack(flush, table)])
    )
    clocks = [clock for _, clock in bench.beats_in[1 + 11 * slots : -1]]
    assert clocks == list(range(clocks[0], clocks[0] + slots))
