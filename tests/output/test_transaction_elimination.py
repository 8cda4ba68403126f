# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import NOWHERE, Memory
from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.output.transaction_elimination import (
    SignatureTable,
    TransactionElimination,
    signatures,
)
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.display import signature
from fixfunc.spec.colours import DRAWN, SIGNED
from fixfunc.spec.descriptors import VIEW
from fixfunc.tb.output import transaction_elimination as bench
from tests.bench import check_bench
from tests.host.drawing import Scene
from tests.volume import LIMIT, check_paces, volume

BLOCK = "transaction_elimination"


def run(rows, data, **memory):
    """Records of beats; memory is written."""
    done = volume(BLOCK, "tiny").run(
        {"i": rows}, len(rows) + 1, memory=Memory(data, (0, 8), **memory), limit=LIMIT
    )
    return codec.unpack(done.outputs["o"], SIGNED, dtype(SIGNED)), done.clocks


def frames(*tiles, table=0):
    """Packed frames of the same places."""
    numbers = np.arange(len(tiles[0]))
    return codec.pack(
        np.concatenate([bench.frame_of(table, numbers, tile) for tile in tiles]), DRAWN
    )


def noise(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, 256), np.uint8)


# Golden.


@pytest.mark.plan("transaction-elimination-1")
def test_a_table_in_memory_outlives_its_writer():
    """Another writer goes on with it; a signature of 0 is that of no tile."""
    scene = Scene(32, 24)
    memory = scene.device.memory
    view = piece(scene.target.encode(), VIEW)
    table = len(memory) - 128
    memory[table:] = 0
    tiles = np.random.default_rng(1).integers(0, 256, (3, 4, 8, 8, 4), np.uint8)
    assert TransactionElimination(memory, view, table).write(tiles).all()
    assert not TransactionElimination(memory, view, table).write(tiles).any()
    memory[table + 8 : table + 16] = 0
    changed = TransactionElimination(memory, view, table).write(tiles)
    assert np.argwhere(changed).tolist() == [[0, 1]]


@pytest.mark.plan("transaction-elimination-1")
def test_a_table_behind_a_line_is_a_table():
    """Tile by tile or frame by frame: the same signatures, and the same tiles are moved."""
    scene = Scene(32, 24)
    memory = scene.device.memory
    view = piece(scene.target.encode(), VIEW)
    table = len(memory) - 128
    memory[table:] = 0
    other = np.zeros(1024, np.uint8)
    tiles = np.random.default_rng(1).integers(0, 256, (3, 4, 8, 8, 4), np.uint8)
    for n in range(4):
        tiles[n % 3, n, 0, 0, 0] ^= 1
        golden = TransactionElimination(memory, view, table).write(tiles).reshape(-1)
        line = SignatureTable(other)
        found = signatures(tiles.reshape(12, 256))
        moved = [line.renew(512, k, found[k], k == 11) for k in range(12)]
        assert [one for one, _ in moved] == golden.tolist()
        assert not any(error for _, error in moved)
        assert (other[512:608] == memory[table : table + 96]).all()


# Hardware.


@pytest.mark.plan("transaction-elimination-2")
def test_volume():
    check_paces(BLOCK, "tiny", 300)


@pytest.mark.plan("transaction-elimination-2")
def test_the_matrix_is_that_of_a_serial_register():
    """Every bit of a transfer, one at a time, beside the golden table of bytes."""
    data = np.unpackbits(np.zeros((256, 32), np.uint8), axis=1, bitorder="little")
    data[np.arange(256), np.arange(256)] = 1
    single = np.packbits(data, axis=1, bitorder="little")
    none = signatures(np.zeros((1, 32), np.uint8))
    golden = signatures(single) ^ none
    assert signature.columns(256) == golden.tolist()


@pytest.mark.plan("transaction-elimination-4")
def test_an_identical_frame_reads_signatures_and_writes_none():
    tiles = noise(40)
    data = np.zeros(bench.SIZE, np.uint8)
    beats, _ = run(frames(tiles), data, ready=256)
    assert beats["moved"].all()
    before = data.copy()
    beats, clocks = run(frames(tiles, tiles), data, ready=256)
    assert not beats["moved"].any() and (data == before).all()
    assert clocks < 8 * 80 + 20 * 16
    for at in range(0, 320, 32):  # of these no byte could be written
        beats, _ = run(frames(tiles, tiles), data, faults=(NOWHERE, at))
        assert not beats["moved"].any() and not beats["error"].any()
    tiles[7, 255] ^= 128
    beats, _ = run(frames(tiles, tiles), data)
    assert np.flatnonzero(beats["moved"]).tolist() == [7]
    assert np.flatnonzero(data != before).min() >= 56
    assert np.flatnonzero(data != before).max() < 64


@pytest.mark.plan("transaction-elimination-4")
def test_a_tile_in_eight_clocks():
    """The next one's signature is computed while a tile is compared."""
    clocks = []
    for count in (20, 60):
        rows = codec.pack(bench.frame_of(0, np.zeros(count, int), noise(count)), DRAWN)
        clocks.append(run(rows, np.zeros(bench.SIZE, np.uint8), ready=256)[1])
    assert clocks[1] - clocks[0] == 8 * 40


def of_no_signature():
    """A tile whose CRC is 0: the serial register is run backwards from its end."""
    tile = noise(1)[0]
    register = (1 << 64) - 1
    for _ in range(64):
        feedback = register >> 63
        register = ((register ^ signature.POLYNOMIAL) << 1 | 1) if feedback else register << 1
    before = ~int(signatures(tile[None, :248])[0]) & (1 << 64) - 1
    tile[248:] = np.array([register ^ before], "<u8").view(np.uint8)
    assert not signatures(tile[None]).any()
    return tile


@pytest.mark.plan("transaction-elimination-1")
def test_a_tile_whose_crc_is_that_of_no_tile_always_moves():
    tiles = noise(6)
    tiles[3] = of_no_signature()
    data = np.zeros(bench.SIZE, np.uint8)
    beats, _ = run(frames(tiles, tiles, tiles), data)
    moved = beats["moved"].reshape(3, 6)
    assert moved[0].all()
    assert np.argwhere(moved[1:]).tolist() == [[0, 3], [1, 3]]
    table = SignatureTable(np.zeros(32, np.uint8))
    assert table.renew(0, 0, 0, False) == table.renew(0, 0, 0, True) == (True, False)


@pytest.mark.plan("transaction-elimination-5")
@pytest.mark.parametrize("at", [0, 31, 32, 95, 96])
def test_memory_that_cannot_be_read(at):
    """Tiles of that line are moved, and one says so; the others are kept."""
    tiles = noise(12)
    data = np.zeros(bench.SIZE, np.uint8)
    run(frames(tiles), data)
    rows = frames(tiles)
    golden_data = data.copy()
    golden = bench.signed(rows, golden_data, at)
    beats, _ = run(rows, data, faults=(at, NOWHERE))
    assert (codec.pack(beats, SIGNED) == golden).all() and (data == golden_data).all()
    inside = np.arange(12) // 4 == at // 32
    assert (beats["moved"] == inside).all()
    assert beats["error"].sum() == (at < 96)


@pytest.mark.plan("transaction-elimination-5")
@pytest.mark.parametrize("at", [0, 32, 95, 96])
def test_memory_that_cannot_be_written(at):
    """Behind a line that could not be written no tile is kept: its signature may be an old one."""
    first, second = noise(12), noise(12, 1)
    data = np.zeros(bench.SIZE, np.uint8)
    run(frames(first), data)
    rows = frames(second, second, first, first)
    golden_data = data.copy()
    golden = bench.signed(rows, golden_data, None, at)
    beats, _ = run(rows, data, faults=(NOWHERE, at))
    assert (codec.pack(beats, SIGNED) == golden).all() and (data == golden_data).all()
    moved = beats["moved"].reshape(4, 12)
    if at < 96:
        assert moved.all() and beats["error"].any()
    else:
        assert moved.all(1).tolist() == [True, False, True, False] and not beats["error"].any()


@pytest.mark.plan("transaction-elimination-5")
def test_a_table_that_memory_does_not_have():
    """At addresses of all bits: every line fails, and every tile moves."""
    for table in (1 << 31, (1 << 32) - 64):
        beats, _ = run(frames(noise(8), table=table), np.zeros(bench.SIZE, np.uint8))
        assert beats["moved"].all()
        assert beats["error"].tolist() == [1, 0, 0, 0, 1, 0, 0, 1]


@pytest.mark.plan("transaction-elimination-3")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)
