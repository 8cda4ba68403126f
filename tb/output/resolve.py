# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.output.resolve.resolve.Resolve`: bytes of memory."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.output.resolve import resolve
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.rtl.output.resolve.resolve import ResolveParams
from fixfunc.spec.colours import RESOLVE, RESOLVED, ResolveError
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import TARGET_LIMIT
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.output.colour_compression import put_few, random_tiles

EDGE = 8
PLACE = 1 << 17  # bytes from one surface of a bench to the next
BEATS = 4  # requests of a bench
FEW = 12  # tiles of a surface of a bench: simulators of the protocol tier are slow
TILES = 32  # of samples, on average, of a request
MOST = 300  # tiles of a surface, which fits its place
SPARE = 200  # tiles of a place that may lie in front of its surface
ENDS = 1, 7, 8, 9, 63, 64, 65  # of sides


def surface_shape(record: np.void) -> tuple[int, int]:
    """Rows and columns of tiles of a source."""
    lx, ly = LANE_SHAPE[record["samples"]]
    return -(-int(record["height"]) // (EDGE >> ly)), -(-int(record["width"]) // (EDGE >> lx))


def is_obeyed(record: np.void | np.ndarray, params: ResolveParams) -> np.ndarray:
    """Whether nothing of it is refused: bool, of one request or of many."""
    sides = np.stack([record["width"], record["height"]]).astype(np.int64)
    shrinks = 3 - np.moveaxis(np.array(LANE_SHAPE)[record["samples"]], -1, 0)
    right = ((sides >= 1) & (sides <= TARGET_LIMIT)).all(0) & (record["samples"] <= params.most)
    right &= record["srgb"] <= params.srgb
    return right & ((-(-sides >> shrinks)).prod(0) < 1 << TILE_NUMBER)


def records_of(rows: np.ndarray) -> np.ndarray:
    """Requests."""
    return codec.unpack(rows, RESOLVE, dtype(RESOLVE))


def requests(rng: np.random.Generator, count: int, params: ResolveParams) -> np.ndarray:
    """Surfaces of all sizes, near the ends of a tile and of a line of the mode table.

    A request stands for :data:`TILES`, so that ``count`` is that of tiles; none has more. Some
    resolve what the request before has written.
    """
    records = np.zeros(max(BEATS, count // TILES), dtype(RESOLVE))
    for n, record in enumerate(records):
        for k, name in enumerate(("source", "target")):
            record[name] = (2 * n + k) * PLACE + 256 * rng.integers(0, SPARE)
        for name in ("source", "target"):
            record[f"{name}_cleared"] = rng.choice([0, 0xFFFFFFFF, rng.integers(0, 1 << 32)])
        if rng.random() < 0.5:
            record["target_cleared"] = record["source_cleared"]
        if params.srgb:
            record["srgb"] = rng.integers(0, 2)
        before = records[n - 1]
        if n and is_obeyed(before, params) and rng.random() < 0.2:
            for name in ("width", "height"):
                record[name] = before[name]
            record["source"] = before["target"]
            record["source_cleared"] = before["target_cleared"]
            continue
        record["samples"] = rng.integers(0, params.most + 1)
        _choose_size(rng, record, min(count, MOST))
        if rng.random() < 0.12:
            _spoil(rng, record, params)
    return codec.pack(records, RESOLVE)


def _choose_size(rng, record, limit):
    """A size of few tiles."""
    lx, ly = LANE_SHAPE[record["samples"]]
    wide = rng.random() < 0.2  # more tiles in a row than a line of the table has
    width = int(rng.integers(1, 2000 >> lx) if wide else rng.choice([*ENDS, rng.integers(1, 90)]))
    width = min(width, limit * EDGE >> lx)
    most = max(1, limit // -(-width // (EDGE >> lx))) * EDGE >> ly
    record["width"] = width
    record["height"] = min(int(rng.choice([*ENDS, rng.integers(1, 90)])), most)


def _spoil(rng, record, params):
    """No pixels, or too many, or too many tiles, or samples or sRGB that are not known."""
    if not params.srgb and rng.random() < 0.2:
        record["srgb"] = 1
    elif rng.random() < 0.7:
        record[rng.choice(["width", "height"])] = rng.choice([0, TARGET_LIMIT + 1, (1 << 15) - 1])
    elif rng.random() < 0.5 and params.most < len(LANE_SHAPE) - 1:
        record["samples"] = rng.integers(params.most + 1, len(LANE_SHAPE))
    else:
        record["width"] = record["height"] = TARGET_LIMIT


def memory(rows: np.ndarray, params: ResolveParams) -> np.ndarray:
    """A source in every place that one is read from and none is written to; noise elsewhere."""
    rng = np.random.default_rng(len(rows))
    records = records_of(rows)
    ends = [_end(record) for record in records if is_obeyed(record, params)]
    data = rng.integers(0, 256, max([2 * BEATS * PLACE, *ends]), np.uint8)
    for record in records:
        if is_obeyed(record, params) and record["source"] not in records["target"]:
            # Tiles that are all cleared take no memory: the target is written at full pace.
            is_small = np.prod(surface_shape(record)) <= MOST
            put_source(rng, data, record, rng.choice([0.2, 0.2, 0.2, 1]) if is_small else 0.2)
    return data


def _end(record):
    """Behind both surfaces and their tables."""
    tiles = int(np.prod(surface_shape(record)))
    begin = int(max(record["source"], record["target"]))
    return begin + EDGE**2 * 4 * tiles + -(-tiles // 64) * 32


def put_source(
    rng: np.random.Generator, data: np.ndarray, record: np.void, share: float = 0.2
) -> None:
    """A source of tiles of every kind, of which a share is cleared."""
    shape = surface_shape(record)
    samples = int(record["samples"])
    count = shape[0] * shape[1]
    tiles = random_tiles(rng, count, np.full(count, samples))
    put_few(rng, tiles, 0.1)
    # All ones in front of noise: as a header, the widths of every payload at their most.
    noisy = rng.random(count) < 0.03
    tiles[noisy] = rng.integers(0, 256, (int(noisy.sum()), EDGE, EDGE, 4))
    tiles[noisy, :2] = 255
    tiles = tiles.reshape(*shape, EDGE, EDGE, 4)
    cleared = np.array([record["source_cleared"]], "<u4").view(np.uint8)
    tiles[rng.random(shape) < share] = cleared
    CodedTiles(data[int(record["source"]) :], *shape, 4, samples, cleared).write(tiles)


def expected(rows: np.ndarray, params: ResolveParams) -> dict[str, np.ndarray]:
    """Errors, and the memory in the end."""
    return resolved(rows, params, memory(rows, params))


def resolved(rows: np.ndarray, params: ResolveParams, data: np.ndarray) -> dict[str, np.ndarray]:
    """The same of memory that holds this at first."""
    data = data.copy()
    done = np.zeros(len(rows), dtype(RESOLVED))
    for n, record in enumerate(records_of(rows)):
        done["error"][n] = resolve(data, record, params.most, params.srgb)
    return {"o": codec.pack(done, RESOLVED), "memory": data.view(np.uint64).reshape(-1, 4)}


def describe(row: np.ndarray, _params: ResolveParams) -> str:
    """A beat in words."""
    return repr(ResolveError(int(codec.unpack(row[None], RESOLVED, dtype(RESOLVED))["error"][0])))


def request(**fields: int) -> np.ndarray:
    """One request, of a surface at 0 to one behind it."""
    record = np.zeros(1, dtype(RESOLVE))
    record["target"] = PLACE
    for name, value in fields.items():
        record[name] = value
    return codec.pack(record, RESOLVE)


class ResolveBench(MemoryBehind, StreamBench):
    """With memory behind the port, which is compared in the end unless a request failed."""

    stem = "resolve"

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.attach(dut, ["memory"], 2 * BEATS * PLACE)

    def fill(self, data: np.ndarray, pace: str) -> None:
        super().fill(data, pace)
        self._data = data

    def golden(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        golden = resolved(rows, self.params, self._data)
        failed = codec.unpack(golden["o"], RESOLVED, dtype(RESOLVED))["error"]
        if not (failed == ResolveError.WRONG_TILE).any():
            self.check_memory(golden["memory"])
        return golden


# plan: resolve-4
@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(source=["full", "random"], sink=list(PACES))
async def memory_holds_the_means(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = ResolveBench(dut)
    rows = requests(bench.rng, FEW, bench.params)
    bench.fill(memory(rows, bench.params), sink)
    await bench.run(rows, source, sink)


# plan: resolve-5
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_tile_of_samples_a_clock(dut: HierarchyObject) -> None:
    """Of tiles that take no memory: a line of the table in sixty-four of them costs a clock."""
    bench = ResolveBench(dut)
    rows = request(samples=1, width=512, height=32)
    bench.fill(np.zeros(2 * BEATS * PLACE, np.uint8), "full")
    await bench.run(rows)
    tiles = np.prod(surface_shape(records_of(rows)[0]))
    clocks = bench.beats_out[0][1] - bench.beats_in[0][1]
    assert tiles < clocks < tiles * 65 / 64 + 120


# plan: resolve-6
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def what_goes_wrong_is_told(dut: HierarchyObject) -> None:
    """A tile that cannot be, then a request that finds nothing wrong."""
    bench = ResolveBench(dut)
    sizes = {"samples": 1, "width": 40, "height": 20}
    wrong = request(source=2 * PLACE, target=3 * PLACE, **sizes)
    rows = np.concatenate([wrong, request(**sizes)])
    data = memory(rows, bench.params)
    tiles = int(np.prod(surface_shape(records_of(wrong)[0])))
    data[2 * PLACE + 256 * tiles] = 0xFF  # modes of the first two tiles
    bench.fill(data, "full")
    await bench.run(rows)
    errors = codec.unpack(bench.outputs["o"], RESOLVED, dtype(RESOLVED))["error"]
    assert errors.tolist() == [ResolveError.WRONG_TILE, ResolveError.NONE]
