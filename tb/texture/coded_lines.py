# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.texture.coded_lines.coded_lines.CodedLines`."""

import random

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge

from fixfunc.cosim import codec
from fixfunc.models.memory.coded_tiles import CodedTiles, table_bytes
from fixfunc.models.payload import dtype
from fixfunc.models.texture.coded_lines import read_lines
from fixfunc.rtl.texture.coded_lines.layouts import CodedLinesParams
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.state import TileMode
from fixfunc.spec.textures.cache import LINE
from fixfunc.spec.textures.coded_lines import HALVES, TILE_LINES
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.reading import ReadingBench
from fixfunc.tb.bench.stream import StreamDriver
from fixfunc.tb.output.colour_compression import put_few, random_tiles

SURFACES = 4  # of a bench
TILES = 200  # of each: its modes take four transfers
ROOM = 1 << 16  # bytes from one to the next
SIZE = SURFACES * ROOM
BYTES = TRANSFER // 8
TILE = TILE_LINES * LINE  # bytes
PER_LINE = 2 * BYTES  # tiles of a line of a mode table
# Surfaces begin at any tile of memory; tables lie behind all tiles of theirs, or further on.
FIRSTS = tuple(ROOM * n + TILE * tile for n, tile in enumerate((0, 3, 17, 50)))
PLACES = tuple(
    first + TILES * TILE + gap for first, gap in zip(FIRSTS, (0, 512, 1024, 32), strict=True)
)


def requests(rng: np.random.Generator, count: int, params: CodedLinesParams) -> np.ndarray:
    """Lines of walks over tiles, a tile's one after the other, of tiles anywhere."""
    reads = np.zeros(count, dtype(params.read))
    reads["id"] = np.arange(count) % params.places
    begin = 0
    firsts, tables = np.array(FIRSTS), np.array(PLACES)
    colours = rng.choice([0, 0xFFFFFFFF, *rng.integers(0, 1 << 32, 2)], SURFACES)
    while begin < count:
        part = reads[begin : begin + int(rng.choice([1, 5, 40, 160]))]
        begin += len(part)
        kind = rng.choice(["walk", "few", "any", "turns"])
        step = np.arange(len(part))
        tile = {
            "walk": rng.integers(0, TILES) + step // TILE_LINES,
            "few": rng.integers(0, TILES) + rng.integers(0, params.tiles + 1, len(part)),
            "any": rng.integers(0, TILES, len(part)),
            "turns": 66 * step,  # lines of the table in turn
        }[kind] % TILES
        square = step if kind == "walk" else rng.integers(0, TILE_LINES, len(part))
        surface = rng.integers(0, SURFACES, 1 if rng.random() < 0.8 else len(part))
        part["tile"] = tile
        part["line"] = firsts[surface] // LINE + TILE_LINES * tile + square % TILE_LINES
        part["mode_table"] = tables[surface] // BYTES
        part["cleared"] = colours[surface]
    return codec.pack(reads, params.read)


def memory(rows: np.ndarray, params: CodedLinesParams) -> np.ndarray:
    """Surfaces of tiles of every kind, among them some that cannot be."""
    rng = np.random.default_rng(len(rows))
    reads = records(rows, params)
    data = rng.integers(0, 256, SIZE, np.uint8)
    for first, place in zip(FIRSTS, PLACES, strict=True):
        own = reads["cleared"][reads["mode_table"] == place // BYTES]
        colour = own[0] if len(own) else 0
        put_surface(rng, data[first:], TILES, place - first, colour)
    return data


def put_surface(
    rng: np.random.Generator, data: np.ndarray, count: int, table: int, cleared: int
) -> None:
    """Some tiles at the beginning of bytes, and their modes further on."""
    colour = np.array([cleared], "<u4").view(np.uint8)
    tiles = random_tiles(rng, count, np.zeros(count, int))
    put_few(rng, tiles, 0.1)
    tiles[rng.random(count) < 0.15] = colour
    size = CodedTiles.bytes_of(1, count, 4, colour)
    room = data[:size].copy()
    CodedTiles(room, 1, count, 4, 0, colour).write(tiles.reshape(1, count, 8, 8, 4))
    modes = size - table_bytes(count)
    wrong = rng.random(modes) < 2e-4  # bits of tiles, most of them beyond their transfers
    room[:modes][wrong] = rng.integers(0, 256, wrong.sum())
    wrong = rng.random(size - modes) < 0.04
    room[modes:][wrong] = rng.integers(0, 256, wrong.sum())
    data[:modes] = room[:modes]
    data[table : table + size - modes] = room[modes:]


def unreadable(rows: np.ndarray) -> int | None:
    """A byte that cannot be read, of a table or of tiles; sometimes there is none."""
    rng = np.random.default_rng(len(rows))
    place = rng.choice(PLACES) + rng.choice([0, BYTES, -rng.integers(1, ROOM // 2)])
    return None if rng.random() < 0.3 else int(place)


def records(rows: np.ndarray, params: CodedLinesParams) -> np.ndarray:
    """Lines that are to be read."""
    return codec.unpack(rows, params.read, dtype(params.read))


def expected(rows: np.ndarray, params: CodedLinesParams) -> dict[str, np.ndarray]:
    """Packed transfers, and memory, which stays as it is."""
    data = memory(rows, params)
    found = transfers(data, rows, params, unreadable(rows))
    return {"o": found, "memory": data.view(np.uint64).reshape(-1, TRANSFER // 64)}


def transfers(
    data: np.ndarray, rows: np.ndarray, params: CodedLinesParams, byte: int | None
) -> np.ndarray:
    """Packed transfers of lines from memory."""
    reads = records(rows, params)
    lines = read_lines(data, reads, byte)
    out = np.zeros(HALVES * len(reads), dtype(params.transfer))
    out["id"] = np.repeat(reads["id"], HALVES)
    out["last"] = np.arange(len(out)) % HALVES
    out["error"] = np.repeat(lines.failed, HALVES)
    words = np.ascontiguousarray(lines.data).view("<u8").reshape(len(out), -1)
    for n, word in enumerate(words.T):
        out[f"data{n}"] = word
    return codec.pack(out, params.transfer)


def describe(row: np.ndarray, params: CodedLinesParams) -> str:
    """Half a line in words."""
    record = codec.unpack(row[None], params.transfer, dtype(params.transfer))[0]
    return ", ".join(f"{f.name} {int(record[f.name]):#x}" for f in params.transfer)


class CodedLinesBench(ReadingBench):
    """Bench with surfaces in the memory behind the port."""

    stem = "coded_lines"
    size = SIZE


# plan: coded-lines-5
@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def lines_are_those_of_the_surface(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = CodedLinesBench(dut)
    await bench.read(requests(bench.rng, 40, bench.params), source, sink)


# plan: coded-lines-6
@cocotb.test(timeout_time=3, timeout_unit="ms")
async def a_line_of_a_tile_on_chip_takes_two_clocks(dut: HierarchyObject) -> None:
    bench = CodedLinesBench(dut)
    reads = np.zeros(60, dtype(bench.params.read))
    reads["id"] = np.arange(60) % bench.params.places
    reads["line"] = np.arange(60) % TILE_LINES
    reads["mode_table"] = PLACES[0] // BYTES
    await bench.read(codec.pack(reads, bench.params.read), "full", "full")
    clocks = [clock for _, clock in bench.beats_out]
    assert clocks[-1] - clocks[-61] == 60


# plan: coded-lines-8
@cocotb.test(timeout_time=3, timeout_unit="ms")
async def what_memory_held_is_forgotten(dut: HierarchyObject) -> None:
    """Other tiles and other modes at the same place: those on chip count until ``forget``."""
    bench = CodedLinesBench(dut)
    reads = np.zeros(TILE_LINES, dtype(bench.params.read))
    reads["line"] = np.arange(TILE_LINES)
    reads["mode_table"] = PLACES[0] // BYTES
    rows = codec.pack(reads, bench.params.read)
    await bench.read(rows, "full", "full")
    before = bench.outputs["o"]
    changed = memory(rows, bench.params)
    changed[: TILE_LINES * LINE] = 0x5A
    changed[PLACES[0]] = TileMode.RAW
    after = transfers(changed, rows, bench.params, None)
    assert (before != after).any()
    bench.fill(changed, "full")
    bench.fail_at(None)
    driver = StreamDriver(dut, "i", PACES["full"](random.Random(0)))
    for forgets in (0, 1):
        dut.forget.value = forgets
        await RisingEdge(dut.clk)
        dut.forget.value = 0
        await driver.send(codec.to_int(row) for row in rows)
        await ClockCycles(dut.clk, 200)
        assert (bench.outputs["o"][-len(after) :] == (after if forgets else before)).all()


# plan: coded-lines-8
@cocotb.test(timeout_time=3, timeout_unit="ms")
async def modes_under_way_are_forgotten(dut: HierarchyObject) -> None:
    """Modes that are fetched ahead while ``forget`` comes, and were read before they changed."""
    bench = CodedLinesBench(dut)
    reads = np.zeros(3, dtype(bench.params.read))
    reads["tile"] = 0, 1, PER_LINE
    reads["line"] = FIRSTS[0] // LINE + TILE_LINES * reads["tile"]
    reads["mode_table"] = PLACES[0] // BYTES
    reads["cleared"] = 0x40302010
    rows = codec.pack(reads, bench.params.read)
    old = memory(rows, bench.params)
    old[PLACES[0] : PLACES[0] + 2 * BYTES] = TileMode.CLEARED * 17
    changed = old.copy()
    changed[PLACES[0] + BYTES : PLACES[0] + 2 * BYTES] = TileMode.RAW * 17
    wanted = transfers(changed, rows[2:], bench.params, None)
    await bench.read(rows, "full", "full")
    bench.fail_at(None)
    driver = StreamDriver(dut, "i", PACES["full"](random.Random(0)))
    await _forget(dut)
    bench.fill(old, "full")
    await driver.send(codec.to_int(row) for row in rows[:2])
    while not dut.memory__rvalid.value:
        await RisingEdge(dut.clk)
    bench.hold_answers()
    await ClockCycles(dut.clk, 100)
    assert len(bench.beats_out) == 5 * HALVES
    await _forget(dut)
    bench.fill(changed, "full")
    await driver.send([codec.to_int(rows[2])])
    await ClockCycles(dut.clk, 200)
    assert (bench.outputs["o"][-HALVES:] == wanted).all()


async def _forget(dut):
    dut.forget.value = 1
    await RisingEdge(dut.clk)
    dut.forget.value = 0
