# SPDX-License-Identifier: BSD-2-Clause
"""The tile cache and its memory: order of transfers, and memory that fails."""

import numpy as np
import pytest

from fixfunc.cosim import catalogue, codec
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.payload import dtype
from fixfunc.rtl.memory.tile_cache import tile_cache as rtl
from fixfunc.spec.state import CacheOp
from fixfunc.tb.memory import tile_cache as bench
from tests.volume import check, volume

BLOCK = "tile_cache"
NOWHERE = (1 << 64) - 1
ONES = (1 << 24) - 1
SETS = rtl.CONFIGS["tiny"].sets
FAR = 400  # clocks


def fresh(*rows):
    """Packed requests: a target of 2 by 2 tiles whose tile 0 is written as a whole by one plane."""
    table = bench.work(4)
    records = np.zeros(len(rows), dtype(table))
    known = {
        "clear": {"op": CacheOp.CLEAR, "number": 4, "x": 2, "y": 2, "cleared": ONES},
        "write": {"op": CacheOp.USE, "writes": 1, "written": 0xFFFF, "exact": 1, "z0": 5 << 8},
        "read": {"op": CacheOp.USE, "needed": 1},
        "flush": {"op": CacheOp.FLUSH},
    }
    for record, row in zip(records, rows, strict=True):
        for name, value in known[row].items():
            record[name] = value
    return codec.pack(records, table)


def errors(rows, memory, config="tiny"):
    """What every DONE tells."""
    table = bench.answer(rtl.CONFIGS[config])
    run = volume(BLOCK, config).run({"i": rows}, len(rows), memory=memory, limit=200_000)
    answers = codec.unpack(run.outputs["o"], table, dtype(table))
    assert len(answers) == len(rows)
    return answers["error"][answers["op"] != CacheOp.USE].tolist()


@pytest.mark.plan("tile-cache-8")
def test_a_fifth_plane_makes_all_of_them_unknown():
    """Even when the first covers all of the tile again, until one does at once."""
    written = [0xFFFF, 1, 2, 4, 8, 0xF, 0xFFFF]
    rows = codec.unpack(
        fresh("clear", *["write"] * 7, "flush"), bench.work(4), dtype(bench.work(4))
    )
    rows["written"][1:8] = written
    rows["z0"][1:8] = np.array([1, 2, 3, 4, 5, 1, 7]) << 12
    rows["needed"][1:8] = 1
    for last in (7, 8):  # without the one that covers it, and with it
        check(BLOCK, "tiny", codec.pack(np.concatenate([rows[:last], rows[-1:]]), bench.work(4)))


def tiles(width, height, *parts):
    """Packed requests of a target of so many tiles: a clear, tiles and a flush.

    ``(writes, numbers)``: tiles are written as a whole, or read.
    """
    records = [np.zeros(1, dtype(bench.work(4)))]
    records[0]["op"] = CacheOp.CLEAR
    records[0]["number"] = width * height
    records[0]["cleared"] = ONES
    records[0]["x"] = width
    records[0]["y"] = height
    for writes, numbers in parts:
        part = np.zeros(len(numbers), dtype(bench.work(4)))
        part["op"] = CacheOp.USE
        part["number"] = numbers
        part["x"] = np.array(numbers) % width
        part["y"] = np.array(numbers) // width
        part["needed"] = not writes
        part["writes"] = writes
        part["written"] = 0xFFFF * writes
        part["exact"] = writes
        part["z0"] = part["number"] << 12
        records.append(part)
    records.append(np.zeros(1, dtype(bench.work(4))))
    records[-1]["op"] = CacheOp.FLUSH
    return codec.pack(np.concatenate(records), bench.work(4))


@pytest.mark.plan("tile-cache-6")
@pytest.mark.parametrize(
    "rows",
    [
        tiles(
            12, 1, (1, [1]), (0, [5]), (1, [9]), (0, [1])
        ),  # at once, in the place of one that need not leave; 0 is what a reset leaves
        *(
            tiles(16, 8, (1, range(128)), (0, [tile])) for tile in range(60, 112, 4)
        ),  # while very many leave
    ],
    ids=len,
)
def test_a_tile_that_left_is_read_when_it_is_in_memory(rows):
    check(BLOCK, "tiny", rows)


@pytest.mark.plan("tile-cache-6")
def test_a_target_knows_no_victim_of_the_one_before_it():
    """Both lie at one place. Tiles that have just left come back, and are cleared."""
    first = tiles(6, 6, (1, range(36)))[:-1]
    for tile in range(36):
        check(BLOCK, "tiny", np.concatenate([first, tiles(6, 6, (0, [tile]))]))


@pytest.mark.plan("tile-cache-7")
def test_a_tile_that_leaves_at_the_end_of_a_flush_is_in_the_table():
    """The last tile of the last set, alone on chip: the table follows in the next clock."""
    check(BLOCK, "tiny", tiles(4, 2, (1, [7])))


@pytest.mark.plan("tile-cache-16")
@pytest.mark.parametrize(("again", "most"), [(("read",), SETS + 24), ((), 13)])
def test_a_flush_takes_a_clock_a_set_without_dirty_tiles(again, most):
    """More are those of the read, of one line of the mode table, and of the answer.

    A flush behind which nothing has been used is over at once.
    """
    clocks = []
    for count in (1, 11):
        rows = fresh("clear", "read", "flush", *[*again, "flush"] * count)
        memory = Memory(np.zeros(1024, np.uint8), (0, 0), ready=256)
        clocks.append(volume(BLOCK, "tiny").run({"i": rows}, 64, memory=memory).clocks)
    assert (clocks[1] - clocks[0]) / 10 <= most


@pytest.mark.plan("tile-cache-20")
@pytest.mark.parametrize(
    ("ends", "most"), [((), 60), (("flush",), FAR + 80)], ids=["targets", "flushes"]
)
def test_a_target_waits_for_no_memory_and_a_flush_once(ends, most):
    """Of a target that is forgotten only its table is written; a flush has tiles and lines."""
    clocks = []
    for count in (2, 12):
        rows = fresh(*["clear", "write", *ends] * count)
        memory = Memory(np.zeros(1024, np.uint8), (FAR, FAR), ready=256)
        clocks.append(volume(BLOCK, "tiny").run({"i": rows}, 64, memory=memory).clocks)
    assert (clocks[1] - clocks[0]) / 10 <= most


@pytest.mark.plan("tile-cache-11")
@pytest.mark.parametrize("own", [False, True], ids=["older", "own"])
def test_a_write_of_an_older_target_that_fails_is_told_and_stops_nothing(own):
    """Tables of two targets cannot be written; a third one behind them is drawn all the same, but
    where its own table cannot be. Memory tells of any of them before a target begins, while it
    does, or later.
    """
    table = bench.work(4)
    rows = codec.unpack(
        fresh("clear", "clear", "clear", *["read"] * 600, "write", "flush", "flush"),
        table,
        dtype(table),
    )
    rows["number"][3:-3] = rows["x"][3:-3] = 1  # on chip, until memory has told of the tables
    base = 0 if own else 1 << 12
    rows["base"][2] = base
    tiles_end = 4 << rtl.CONFIGS["tiny"].surface.room  # the table follows
    for latency in (*range(24), FAR):
        data = np.zeros(1 << 13, np.uint8)
        memory = Memory(data, (latency, latency), ready=256, faults=(NOWHERE, tiles_end))
        told = errors(codec.pack(rows, table), memory)
        assert 2 in told[:4]
        assert not told[4]
        assert data[base : base + tiles_end].any() != own


@pytest.mark.plan("tile-cache-18")
@pytest.mark.parametrize("modes_change", [False, True])
def test_a_tile_that_takes_the_place_of_another_takes_a_clock(modes_change):
    """Each is fetched, written, and later evicted; all lines of modes are on chip.

    Where it leaves by another mode than it came, no more than a write-back is waited for: each is
    fetched again so soon.
    """
    clocks = []
    for passes in (2, 12):
        rows = codec.unpack(
            tiles(16, 8, *[(1, range(128))] * passes), bench.work(4), dtype(bench.work(4))
        )
        rows["needed"][1:-1] = 1
        if modes_change:  # in every other pass tiles are as they were cleared
            rows["z0"][1:-1].reshape(passes, -1)[1::2] = ONES << 8
        memory = Memory(np.zeros(1 << 16, np.uint8), (0, 0), ready=256)
        packed = codec.pack(rows, bench.work(4))
        clocks.append(volume(BLOCK, "tiny").run({"i": packed}, len(rows), memory=memory).clocks)
    count = 10 * 128
    assert count <= clocks[1] - clocks[0] <= (1.2 * count if modes_change else count)


@pytest.mark.plan("tile-cache-11")
def test_a_write_that_fails_is_told_and_no_tile_follows():
    """Lines of the flush that finds out are on their way by then. Of the table of the target before
    it memory tells before the target begins, or later.
    """
    table = bench.work(4)
    rows = codec.unpack(
        fresh("clear", "clear", "write", "flush", "write", "flush"), table, dtype(table)
    )
    rows["number"][4] = rows["x"][4] = 1
    for latency in (0, FAR):
        data = np.zeros(1024, np.uint8)
        memory = Memory(data, (latency, latency), ready=256, faults=(NOWHERE, 0))
        assert errors(codec.pack(rows, table), memory) == [0, 0, 2, 0]
        assert not data[: 4 << rtl.CONFIGS["tiny"].surface.room].any()


@pytest.mark.plan("tile-cache-11")
def test_a_read_that_fails_is_told_and_nothing_is_written_until_a_clear():
    data = np.zeros(1024, np.uint8)
    rows = "clear", "write", "flush", "read", "flush"
    assert errors(fresh(*rows), Memory(data, faults=(0, NOWHERE))) == [0, 0, 1]
    written = data.copy()
    assert written.any()
    assert errors(fresh(*rows, "write", "flush"), Memory(data, faults=(0, NOWHERE))) == [0, 0, 1, 0]
    assert (data == written).all()
    assert errors(fresh(*rows, "clear", "write", "flush"), Memory(data, faults=(0, NOWHERE))) == [
        0,
        0,
        1,
        0,
        0,
    ]
    assert (data == written).all()


@pytest.mark.plan("tile-cache-12")
@pytest.mark.parametrize(
    ("config", "value"),
    [
        ("tiny", {"z0": 6 << 8}),  # all of it becomes 7
        ("tiny_coded", {"z0": 0x777777 << 8, "exact": 1}),  # a palette begins with it
    ],
)
def test_a_tile_in_memory_that_cannot_be_is_told(config, value):
    """Tile 64 lies where the modes of the others do: it makes that of tile 0 one there is not."""
    edge = rtl.CONFIGS[config].edge
    table = bench.work(edge)
    records = np.zeros(7, dtype(table))
    write = {"op": CacheOp.USE, "writes": 1, "written": (1 << edge**2) - 1}
    rows = (
        {"op": CacheOp.CLEAR, "number": 64, "x": 8, "y": 8, "cleared": ONES},
        write | {"number": 128, "exact": 1},  # of a line in the place of tile 0's
        {"op": CacheOp.FLUSH},
        write | {"number": 64} | value,
        {"op": CacheOp.FLUSH},
        {"op": CacheOp.USE, "needed": 1},
        {"op": CacheOp.FLUSH},
    )
    for record, row in zip(records, rows, strict=True):
        for name, value in row.items():
            record[name] = value
    memory = Memory(np.zeros(1 << 17, np.uint8))
    assert errors(codec.pack(records, table), memory, config) == [0, 0, 0, 4]


@pytest.mark.plan("tile-cache-11")
def test_memory_that_ends_too_early():
    """The table is not there: its clear does not wait for that, the flush does."""
    assert errors(fresh("clear", "write", "flush"), Memory(np.zeros(64, np.uint8))) == [0, 2]


@pytest.mark.plan("tile-cache-13")
@pytest.mark.parametrize("config", ["tiny", "tiny_stencil", "tiny_colour"])
def test_cleared_tiles_overtake_no_values(config):
    """Tiles that go to memory as cleared have nothing to send, however many follow one that has."""
    numbers = np.arange(600) * 7 % 128
    rows = codec.unpack(tiles(16, 8, (1, numbers)), bench.work(4), dtype(bench.work(4)))
    rows["z0"] = ONES << 8
    raw = np.arange(len(rows)) % 40 < 16  # the others are as they were cleared
    rows["exact"] = ~raw
    rows["dx"][raw] = 1 << 20
    rows["dy"][raw] = 77777777
    rows = codec.pack(rows, bench.work(4))
    params = catalogue.block(BLOCK).parameters(config)
    memory = Memory(bench.memory(rows, params), (0, 8), ready=4)
    run = volume(BLOCK, config).run({"i": rows}, 2000, memory=memory, limit=1_000_000)
    expected = bench.expected(rows, params)["memory"]
    assert (memory.data.view(np.uint64).reshape(expected.shape) == expected).all()
    assert len(run.outputs["o"]) == len(rows)
