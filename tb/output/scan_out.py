# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.output.display.scan_out.ScanOut`."""

from enum import IntEnum
from functools import lru_cache

import cocotb
import numpy as np
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.output.colour_coder import encode
from fixfunc.models.output.colour_compression import DEPTHS, size
from fixfunc.models.output.display.turns import Turns
from fixfunc.models.output.scan_out import Scan
from fixfunc.models.payload import dtype
from fixfunc.rtl.lib.axi import Axi
from fixfunc.rtl.output.display.scan_out import ScanOut, ScanOutParams
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import SCAN_SETUP, scanned
from fixfunc.spec.errors import Stalled
from fixfunc.spec.payloads import KIND, width
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.reading import ReadingBench
from fixfunc.tb.output.colour_compression import random_tiles

COMMAND = (KIND, *SCAN_SETUP)
WIDTH = width(COMMAND)
SIZE = 1 << 20  # bytes of memory
LARGEST = 1 << 28  # of one in which buffers may lie beyond that
TILES = 600  # of a buffer, at most
TILE = 256  # bytes
COMMANDS = 12  # of a bench: Icarus takes a second for a few clocks of a decoder


class Order(IntEnum):
    """What a command orders."""

    SETUP = 0
    PRESENT = 1
    FRAME = 2


class Harness(wiring.Component):
    """Setups, frames and buffers that have been drawn, in the order of one stream."""

    def __init__(self, params: ScanOutParams) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(layout(COMMAND))),
                "o": Out(stream.Signature(layout(scanned(params.pixels)))),
                "memory": Out(Axi()),
                "underruns": Out(32),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = ScanOut(self._params)
        wiring.connect(m, unit.o, wiring.flipped(self.o))
        wiring.connect(m, unit.memory, wiring.flipped(self.memory))
        command = self.i.payload
        m.d.comb += self.underruns.eq(unit.underruns)
        m.d.comb += [unit.setup.payload[f.name].eq(command[f.name]) for f in SCAN_SETUP]
        with m.Switch(command.kind):
            with m.Case(Order.SETUP):
                m.d.comb += [
                    unit.setup.valid.eq(self.i.valid),
                    self.i.ready.eq(unit.setup.ready),
                ]
            with m.Case(Order.PRESENT):
                m.d.comb += [
                    unit.present.eq(self.i.valid),
                    self.i.ready.eq(unit.drawable),
                ]
            with m.Default():
                m.d.comb += [
                    unit.enable.eq(self.i.valid),
                    self.i.ready.eq(unit.begins),
                ]
        return m


def commands(rows: np.ndarray) -> np.ndarray:
    """Records of packed commands."""
    return codec.unpack(rows, COMMAND, dtype(COMMAND))


def order(kind: Order, setup: np.void | None = None) -> np.ndarray:
    """A packed command."""
    record = np.zeros(1, dtype(COMMAND))
    record["kind"] = kind
    if setup is not None:
        for f in SCAN_SETUP:
            record[f.name] = setup[f.name]
    return codec.pack(record, COMMAND)


def beats_a_frame(setup: np.void, params: ScanOutParams) -> int:
    """Beats of a frame."""
    return max(-(-int(setup["width"]) // params.pixels) * int(setup["height"]), 1)


def tiles_of(setup: np.void) -> int:
    """Tiles of a buffer."""
    return -(-int(setup["width"]) // 8) * -(-int(setup["height"]) // 8)


def _side(rng, most):
    """A width or a height: an end of the range, one beside a tile's border, or any."""
    near = int(rng.integers(1, most // 8 + 1)) * 8 + int(rng.integers(-1, 2))
    chosen = rng.choice([1, most, near, int(rng.integers(1, most + 1)), int(rng.integers(1, 18))])
    return int(np.clip(chosen, 1, most))


def random_setup(rng: np.random.Generator, params: ScanOutParams, begin: int) -> np.void:
    """A setup whose buffers lie from ``begin`` on, or from 0 if there they go beyond memory."""
    setup = np.zeros(1, dtype(SCAN_SETUP))[0]
    wide = _side(rng, params.side)
    high = _side(rng, min(params.side, max(TILES * 8 // -(-wide // 8) // 8 * 8, 8)))
    turned = high <= params.side and rng.random() < 0.3
    setup["width"], setup["height"] = (high, wide) if turned else (wide, high)
    setup["buffers"] = rng.integers(1, 4)
    for name in ("vsync", "dither", "blue_first", "coded"):
        setup[name] = rng.integers(0, 2)
    setup["coded"] |= rng.integers(0, 2)
    if rng.random() < 0.08:
        name = rng.choice(["buffers", "width", "height"])
        many = 0 if name == "buffers" else rng.choice([0, params.side + 1, 4095])
        setup[name] = many
    count = min(tiles_of(setup), TILES)
    table = -(-count // 64) * 32
    for n in range(3):
        if begin + count * TILE + table + 512 > SIZE:
            begin = 0
        # The table lies behind its tiles, or a little later. Lower bits count for nothing.
        setup[f"base{n}"] = begin + rng.integers(0, TILE)
        behind = begin + count * TILE + 32 * int(rng.integers(0, 3))
        setup[f"table{n}"] = behind + rng.integers(0, 32)
        setup[f"cleared{n}"] = rng.integers(0, 1 << 32)
        begin = (behind + table + TILE - 1) // TILE * TILE
    return setup, begin


def requests(rng: np.random.Generator, count: int, params: ScanOutParams) -> np.ndarray:
    """Setups, each with a few frames, and buffers that are presented before and within them.

    With two buffers and vsync no more than one is presented between two frames: the next one
    would wait for a frame that has not been ordered.
    """
    rows = []
    begin = 0
    budget = 40 * count  # beats
    while len(rows) < count and budget > 0:
        setup, begin = random_setup(rng, params, begin)
        rows.append(order(Order.SETUP, setup))
        beats = beats_a_frame(setup, params)
        most = 1 if setup["buffers"] == 2 and setup["vsync"] else 3
        for _ in range(1 + int(rng.integers(0, 2 + 400 // beats % 5))):
            rows += [order(Order.PRESENT)] * int(rng.integers(0, most + 1))
            rows.append(order(Order.FRAME))
            budget -= beats
        rows += [order(Order.PRESENT)] * int(rng.integers(0, most + 1))
    return np.concatenate(rows)


def stored(rng: np.random.Generator, count: int, cleared: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes and bytes of tiles: right ones mostly, of every code, with anything behind them."""
    tiles = random_tiles(rng, count, np.zeros(count, int))
    colour = np.array([cleared], "<u4").view(np.uint8)
    tiles[rng.random(count) < 0.1] = colour
    codes, data = encode(tiles, 0, colour)
    sizes = np.array([size(code, DEPTHS[np.dtype(np.uint8)]) for code in codes])
    behind = np.arange(TILE) >= sizes[:, None]
    data[behind] = rng.integers(0, 256, int(behind.sum()), np.uint8)
    if rng.random() < 0.5:
        spoilt = rng.random(count) < 0.1
        codes[spoilt] = rng.integers(0, 16, int(spoilt.sum()))
        data[rng.random(count) < 0.1, rng.integers(0, 40)] ^= np.uint8(1 << rng.integers(0, 8))
    return codes, data


@lru_cache(4)
def _memory(commands_in):
    rows = np.frombuffer(commands_in, np.uint64).reshape(-1, codec.words(WIDTH))
    setups = commands(rows)
    places = [setups[f"{name}{n}"].max(initial=0) for name in ("base", "table") for n in range(3)]
    room = SIZE if max(places) < SIZE else LARGEST
    data = np.random.default_rng(len(rows)).integers(0, 256, room, np.uint8)
    for row, setup in zip(rows, setups, strict=True):
        rng = np.random.default_rng(row)
        count = min(tiles_of(setup), TILES) if setup["kind"] == Order.SETUP else 0
        for n in range(3 if count else 0):
            codes, tiles = stored(rng, count, int(setup[f"cleared{n}"]))
            begin = int(setup[f"base{n}"]) // TILE * TILE
            table = int(setup[f"table{n}"]) // 32 * 32
            data[begin : begin + count * TILE] = tiles.reshape(-1)
            even = np.append(codes, 0)[: (count + 1) // 2 * 2].reshape(-1, 2)
            data[table : table + len(even)] = even[:, 0] | even[:, 1] << 4
    return data


def memory(rows: np.ndarray, _params: ScanOutParams) -> np.ndarray:
    """What lies behind the port: tiles of the buffers of all setups."""
    return _memory(np.ascontiguousarray(rows).tobytes()).copy()


def unreadable(rows: np.ndarray) -> int | None:
    """A byte that cannot be read, of a tile or a table; mostly there is one."""
    rng = np.random.default_rng(rows[:, 0] ^ np.uint64(len(rows)))
    setups = [command for command in commands(rows) if command["kind"] == Order.SETUP]
    if not setups or rng.random() < 0.3:
        return None
    setup = setups[rng.integers(0, len(setups))]
    count = max(min(tiles_of(setup), TILES), 1)
    buffer = int(rng.integers(0, max(int(setup["buffers"]), 1)))
    if rng.random() < 0.3:
        return int(setup[f"table{buffer}"]) // 32 * 32 + int(rng.integers(0, -(-count // 2)))
    place = int(rng.integers(0, count)) * TILE + int(rng.integers(0, rng.choice([32, TILE])))
    return int(setup[f"base{buffer}"]) // TILE * TILE + place


def _presented(states, most):
    """States after more presents: all that there may be, up to so many in all."""
    found = set(states)
    new = found
    while new:
        after = set()
        for turns, done in new:
            if done < most:
                try:
                    after.add((turns.present(), done + 1))
                except Stalled:
                    continue
        new = after - found
        found |= new
    return found


def _frames(rows):
    """Setups, and for each of their frames how many buffers have been presented before it for
    sure, and at most before its end.
    """
    found = []
    for command in commands(rows):
        if command["kind"] == Order.SETUP:
            found.append((command, [], [0]))
        elif command["kind"] == Order.PRESENT:
            found[-1][2][0] += 1
            if found[-1][1]:
                found[-1][1][-1][1] += 1
        else:
            presented = found[-1][2][0]
            found[-1][1].append([presented, presented])
    return [(setup, frames) for setup, frames, _ in found]


def replay(
    rows: np.ndarray, outputs: dict[str, np.ndarray], params: ScanOutParams
) -> dict[str, np.ndarray]:
    """Packed beats. When a buffer was presented within a frame is the hardware's affair: which
    buffer each row of tiles is of is read from its beats, if at that time it may be so.
    """
    fields = scanned(params.pixels)
    seen = codec.unpack(outputs["o"], fields, dtype(fields))["buffer"]
    data = memory(rows, params)
    fault = unreadable(rows)
    out = [np.zeros((0, codec.words(width(fields))), np.uint64)]
    at = 0
    for setup, frames in _frames(rows):
        scan = Scan(data, setup, params.side, fault)
        states = {(Turns.begun(int(setup["buffers"]), bool(setup["vsync"])), 0)}
        beats = 8 * -(-int(setup["width"]) // params.pixels)  # of a row of tiles
        for least, most in frames:
            states = {state for state in _presented(states, least) if state[1] == least}
            fronts = []
            for row in range(scan.rows):
                if row and not setup["vsync"]:
                    states = _presented(states, most)
                places = {turns.front for turns, _ in states}
                place = at + row * beats
                front = int(seen[place]) if place < len(seen) else -1
                front = front if front in places else min(places)
                if not scan.refused:
                    states = {state for state in states if state[0].front == front}
                fronts.append(front)
            states = {(turns.frame_ended(), n) for turns, n in _presented(states, most)}
            frame = codec.pack(scan.frame(fronts, params.pixels), fields)
            out.append(frame)
            at += len(frame)
    return {"o": np.concatenate(out), "memory": data.view(np.uint64).reshape(-1, 4)}


def describe(row: np.ndarray, params: ScanOutParams) -> str:
    """A beat in words."""
    fields = scanned(params.pixels)
    beat = codec.unpack(row[None], fields, dtype(fields))[0]
    return " ".join(f"{f.name}={int(beat[f.name]):#x}" for f in fields)


class ScanOutBench(ReadingBench):
    """Bench with buffers in the memory behind the port."""

    stem = "scan_out"
    size = SIZE


def setup_at(
    size: tuple[int, int], begin: int = 0, room: int = SIZE // 4, **fields: int
) -> np.void:
    """A setup of buffers that lie ``room`` bytes apart, with their tables behind them."""
    setup = np.zeros(1, dtype(SCAN_SETUP))[0]
    setup["width"], setup["height"] = size
    setup["buffers"] = 1
    setup["vsync"] = 1
    for name, value in fields.items():
        setup[name] = value
    for n in range(3):
        setup[f"base{n}"] = begin + n * room
        setup[f"table{n}"] = setup[f"base{n}"] + tiles_of(setup) * TILE
    return setup


def ordered(setup: np.void, orders: str) -> np.ndarray:
    """A setup, then frames (F) and presents (P)."""
    kinds = {"F": Order.FRAME, "P": Order.PRESENT}
    return np.concatenate([order(Order.SETUP, setup), *(order(kinds[kind]) for kind in orders)])


# plan: scan-out-4
@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(source=["full", "random"], sink=list(PACES))
async def buffers_become_lines(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = ScanOutBench(dut)
    await bench.read(requests(bench.rng, COMMANDS, bench.params), source, sink)


# plan: scan-out-5
@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(coded=[0, 1])
async def one_beat_a_clock(dut: HierarchyObject, coded: int) -> None:
    """Lines of two frames leave without a gap, if memory does not stall; none is late."""
    bench = ScanOutBench(dut)
    setup = setup_at((64, 24), buffers=2, coded=coded)
    await bench.read(ordered(setup, "FPF"), "full", "full")
    count = beats_a_frame(setup, bench.params)
    clocks = [clock for _, clock in bench.beats_out]
    for n in range(0, 2 * count, count):
        assert clocks[n + count - 1] - clocks[n] == count - 1
    assert int(dut.underruns.value) == 0


# plan: scan-out-5
@cocotb.test(timeout_time=3, timeout_unit="ms")
async def what_is_late_is_counted(dut: HierarchyObject) -> None:
    """Before a memory that starves, every clock that a begun frame waits counts."""
    bench = ScanOutBench(dut)
    setup = setup_at((16, 16))
    await bench.read(ordered(setup, "FF"), "full", "full", pace="starved")
    count = beats_a_frame(setup, bench.params)
    clocks = [clock for _, clock in bench.beats_out]
    late = sum(clocks[n + count - 1] - clocks[n] - count + 1 for n in (0, count))
    assert int(dut.underruns.value) == late > 0
