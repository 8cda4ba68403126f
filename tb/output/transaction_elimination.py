# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.output.display.transaction_elimination.TransactionElimination`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.output.transaction_elimination import SignatureTable, signatures
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.display.transaction_elimination import TransactionEliminationParams
from fixfunc.spec.colours import DRAWN, SIGNED
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.output.colour_compression import octets, words

SIZE = 1 << 14  # bytes of memory
LARGEST = 1 << 28  # of one in which tables may lie beyond that
COLOURS = 64
TABLES = 4  # of which the last one holds anything at first
ROOM = SIZE // TABLES  # bytes of a table


def frame_of(table: int, numbers: np.ndarray, tiles: np.ndarray) -> np.ndarray:
    """Records of a frame: tiles, uint8 of shape (n, 256), by their numbers."""
    record = np.zeros(len(numbers), dtype(DRAWN))
    record["signatures"] = table
    record["number"] = numbers
    record["last"][-1:] = 1
    words(record, "colour", tiles)
    return record


def requests(
    rng: np.random.Generator, count: int, _params: TransactionEliminationParams
) -> np.ndarray:
    """Frames of a few surfaces over and over, a part of their tiles changed, a bit or all of them.

    Tiles come in the order of their numbers mostly; some frames in any order, with a tile twice.
    """
    rows = []
    surfaces = [rng.integers(0, 256, (ROOM // 8, 256), np.uint8) for _ in range(TABLES)]
    while sum(map(len, rows)) < count:
        n = int(rng.integers(0, TABLES))
        most = int(rng.choice([1, 3, 4, 5, 9, 30, ROOM // 8]))
        # Signatures of two surfaces may share no line, but begin at any.
        table = n * ROOM + 32 * int(rng.integers(0, 2)) * (most < 9)
        first = int(rng.integers(0, ROOM // 8 - 4 - min(most, 30) + 1))
        numbers = np.arange(first, first + min(most, 30))
        if rng.random() < 0.2:
            numbers = rng.choice(numbers, len(numbers) + 2)
        share = rng.choice([0, 0.1, 1])
        changed = numbers[rng.random(len(numbers)) < share]
        bit = rng.random() < 0.5
        for at in changed:
            if bit:
                surfaces[n][at, rng.integers(0, 256)] ^= np.uint8(1 << rng.integers(0, 8))
            else:
                surfaces[n][at] = rng.integers(0, 256, 256, np.uint8)
        rows.append(frame_of(table, numbers, surfaces[n][numbers]))
    return codec.pack(np.concatenate(rows), DRAWN)


def memory(rows: np.ndarray, _params: TransactionEliminationParams) -> np.ndarray:
    """Tables that know no tile, and one of anything."""
    tiles = codec.unpack(rows, DRAWN, dtype(DRAWN))
    last = (tiles["signatures"].astype(np.int64) + 8 * tiles["number"].astype(np.int64)).max()
    data = np.zeros(SIZE if last < SIZE else LARGEST, np.uint8)
    data[-ROOM:] = np.random.default_rng(len(rows)).integers(0, 256, ROOM, np.uint8)
    return data


def unreadable(rows: np.ndarray) -> int | None:
    """A byte of a table that cannot be read; mostly there is one."""
    rng = np.random.default_rng(rows[:, 0] ^ np.uint64(len(rows)))
    return None if rng.random() < 0.3 else int(rng.integers(0, SIZE))


def signed(
    rows: np.ndarray, data: np.ndarray, unread: int | None = None, unwritten: int | None = None
) -> np.ndarray:
    """Packed beats out; ``data`` is memory, and is written."""
    tiles = codec.unpack(rows, DRAWN, dtype(DRAWN))
    table = SignatureTable(data, unread, unwritten)
    out = np.zeros(len(tiles), dtype(SIGNED))
    for name in out.dtype.names[2:]:
        out[name] = tiles[name]
    found = signatures(octets(tiles, "colour", COLOURS))
    for n, (tile, signature) in enumerate(zip(tiles, found, strict=True)):
        out["moved"][n], out["error"][n] = table.renew(
            int(tile["signatures"]), int(tile["number"]), signature, bool(tile["last"])
        )
    return codec.pack(out, SIGNED)


def expected(rows: np.ndarray, params: TransactionEliminationParams) -> dict[str, np.ndarray]:
    """Packed beats out, and the tables."""
    data = memory(rows, params)
    beats = signed(rows, data, unreadable(rows))
    return {"o": beats, "memory": data.view(np.uint64).reshape(-1, 4)}


def describe(row: np.ndarray, _params: TransactionEliminationParams) -> str:
    """A beat in words."""
    beat = codec.unpack(row[None], SIGNED, dtype(SIGNED))[0]
    return " ".join(f"{f.name}={int(beat[f.name]):#x}" for f in SIGNED[:6])


class TransactionEliminationBench(MemoryBehind, StreamBench):
    """Bench with tables of signatures in memory."""

    stem = "transaction_elimination"

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.attach(dut, ["memory"], SIZE)

    def golden(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        golden = super().golden(rows)
        self.check_memory(golden["memory"])
        return {"o": golden["o"]}


# plan: transaction-elimination-3
@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(source=["full", "random"], sink=list(PACES))
async def tiles_that_changed_move(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = TransactionEliminationBench(dut)
    rows = requests(bench.rng, 60, bench.params)
    bench.fill(memory(rows, bench.params), sink)
    bench.fail_at(unreadable(rows))
    await bench.run(rows, source, sink)


# plan: transaction-elimination-4
@cocotb.test(timeout_time=3, timeout_unit="ms")
async def a_tile_in_eight_clocks(dut: HierarchyObject) -> None:
    """Of one line; each is compared with the one before it, whose place it has."""
    bench = TransactionEliminationBench(dut)
    tiles = np.random.default_rng(1).integers(0, 256, (12, 256), np.uint8)
    tiles[5] = tiles[4]
    rows = codec.pack(frame_of(0, np.zeros(12, int), tiles), DRAWN)
    bench.fill(memory(rows, bench.params), "full")
    await bench.run(rows)
    clocks = [clock for _, clock in bench.beats_out]
    # The last one waits for memory.
    assert np.diff(clocks[1:-1]).tolist() == [8] * 9
    moved = [beat & 1 for beat, _ in bench.beats_out]
    assert moved == [1, 1, 1, 1, 1, 0] + [1] * 6
