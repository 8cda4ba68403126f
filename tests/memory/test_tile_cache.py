# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixfunc.cosim import catalogue, codec
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.depth.depth_cache import CacheShape, DepthCache, Moved, StencilCache
from fixfunc.models.depth.depth_unit import DepthUnit
from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.memory.surface import samples_within
from fixfunc.models.payload import dtype
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.rtl.memory.tile_cache import tile_cache as rtl
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import CacheOp, Compare, DepthFormat, TileMode
from fixfunc.tb.bench import depths
from fixfunc.tb.memory import tile_cache as bench
from tests.bench import check_bench
from tests.tiers import by_tier
from tests.volume import check, check_paces, volume

BLOCK = "tile_cache"
NOWHERE = (1 << 64) - 1
TABLE = bench.answer(rtl.CONFIGS["tiny"])

ONES = (1 << 24) - 1
SHAPES = [
    CacheShape(),
    CacheShape(sets=1, ways=1, table_lines=1),
    CacheShape(sets=4, ways=2, table_lines=2),
    CacheShape(sets=16, ways=3),
]


def play(rng, steps, shapes, size, samples=1, form=DepthFormat.D24):
    """Random draws and clears through a depth unit, and through caches of every shape and both
    kinds, each flushed at the end.
    """
    state = draw_state(*size, samples, depth_format=form, depth_compare=Compare.ALWAYS)
    unit = DepthUnit(state)
    caches = [kind(state, shape) for kind in (DepthCache, StencilCache) for shape in shapes]
    most = int(unit.buffer.depth.max())

    def clear(rectangle, *values):
        unit.clear(rectangle, *values)
        for cache in caches:
            value = values[isinstance(cache, StencilCache)]
            if value is not None:
                cache.clear(rectangle, value)

    clear((0, 0, *size), most, 0)
    for _ in range(steps):
        if rng.random() < 0.3:
            fields = depths.clear(rng, size, form)
            x0 = int(fields["x0"])
            y0 = int(fields["y0"])
            x1 = int(fields["x1"])
            y1 = int(fields["y1"])
            values = {
                "depth": int(min(fields["depth_value"], most)),
                "stencil": int(fields["stencil_value"]),
            }
            clear(
                (x0, y0, min(x1, size[0]), min(y1, size[1])),
                *(value if fields[name] else None for name, value in values.items()),
            )
        state = depths.state(rng, size, samples, form)
        unit.state = state
        tiles = rasterize(
            setup(depths.triangles(rng, int(rng.integers(1, 6)), size), state).records
        )[0]
        done = unit.test(tiles)
        for cache in caches:
            cache.run(tiles, *done, state)
    for cache in caches:
        cache.flush()
    return unit, caches


def same(cache, unit):
    """Memory holds what the unit does, of all samples on the target."""
    size = int(unit.state["target_width"]), int(unit.state["target_height"])
    inside = samples_within((0, 0, *size), unit.buffer.depth.shape, int(unit.state["samples"]))
    buffer = unit.buffer.stencil if isinstance(cache, StencilCache) else unit.buffer.depth
    return (cache.values() == buffer)[inside].all()


# Model truths.


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    samples=st.sampled_from([1, 2, 4, 8]),
    form=st.sampled_from([DepthFormat.D16, DepthFormat.D24]),
)
def test_memory_holds_every_value_whatever_the_cache(seed, samples, form):
    """Any history: memory decodes to the buffer, and is the same to the byte whatever the sets,
    ways and table.
    """
    rng = np.random.default_rng(seed)
    size = tuple(int(v) for v in rng.integers(1, 60, 2))
    unit, caches = play(rng, 6, SHAPES, size, samples, form)
    for n, cache in enumerate(caches):
        assert same(cache, unit)
        assert cache.stored() == caches[n - n % len(SHAPES)].stored()


@pytest.mark.parametrize(
    "shape",
    [
        CacheShape(coding=False),
        CacheShape(fast_clear=False),
        CacheShape(sets=2, ways=1, coding=False, fast_clear=False),
    ],
)
def test_features_change_no_value(shape):
    unit, caches = play(np.random.default_rng(0), 12, [shape], (70, 50), 4)
    assert same(caches[0], unit) and same(caches[1], unit)


def test_a_clear_is_the_table_alone_and_costs_nothing_to_fetch():
    state = draw_state(64, 64)
    cache = DepthCache(state)
    cache.clear((0, 0, 64, 64), ONES)
    assert dict(cache.bytes) == {Moved("clear", TileMode.CLEARED): 32}
    tiles = rasterize(
        setup(depths.triangles(np.random.default_rng(1), 5, (64, 64)), state).records
    )[0]
    cache.run(tiles, *DepthUnit(state, bounds=None).test(tiles), state)
    assert cache.moves[Moved("fill", TileMode.CLEARED)] > 0
    assert cache.bytes[Moved("fill", TileMode.CLEARED)] == 0


def test_a_tile_written_as_a_whole_is_not_fetched():
    state = draw_state(8, 8, depth_compare=Compare.ALWAYS)
    cache = DepthCache(state, CacheShape(fast_clear=False))
    tiles = np.zeros(1, dtype(payloads.TILE))
    tiles["mask"] = ~np.uint64(0)
    tiles["z0"] = 5 << 8
    cache.run(tiles, *DepthUnit(state).test(tiles), state)
    cache.run(tiles, *DepthUnit(state).test(tiles), state)
    cache.flush()
    assert (cache.uses, cache.hits) == (2, 1)
    assert {moved.cause for moved in cache.bytes} == {
        "write_back",
        "table_fill",
        "table_write_back",
    }
    assert cache.bytes[Moved("write_back", TileMode.PLANES_1)] == 32


def test_bytes_are_what_the_modes_say():
    _, (cache, stencil) = play(np.random.default_rng(3), 20, [CacheShape(sets=2, ways=1)], (90, 70))
    sizes = {
        TileMode.CLEARED: 0,
        TileMode.PLANES_1: 32,
        TileMode.PLANES_2: 32,
        TileMode.PLANES_3: 64,
        TileMode.PLANES_4: 64,
        TileMode.ANCHOR: 64,
        TileMode.RAW: 192,
    }
    seen = {moved.mode for moved in cache.bytes if moved.cause in ("fill", "write_back")}
    assert len(seen) > 4
    for moved, count in cache.moves.items():
        if moved.cause in ("fill", "write_back"):
            assert cache.bytes[moved] == count * sizes[moved.mode]
    for cause in ("fill", "write_back"):
        assert (
            stencil.bytes[Moved(cause, TileMode.RAW)]
            == 64 * stencil.moves[Moved(cause, TileMode.RAW)]
            > 0
        )
        assert (
            stencil.bytes[Moved(cause, TileMode.CLEARED)]
            == 0
            < stencil.moves[Moved(cause, TileMode.CLEARED)]
        )


def test_draws_without_stencil_test_move_no_stencil_value():
    state = draw_state(64, 64)
    cache = StencilCache(state)
    tiles = rasterize(
        setup(depths.triangles(np.random.default_rng(1), 5, (64, 64)), state).records
    )[0]
    cache.run(tiles, *DepthUnit(state, bounds=None).test(tiles), state)
    cache.flush()
    assert len(tiles) and not cache.bytes


# Wrong memory, wrong parameters.


def test_a_mode_that_there_is_not():
    cache = DepthCache(draw_state(8, 8))
    cache._modes[0] = TileMode.PLANES_1
    cache.memory[31] = 1
    with pytest.raises(InputError, match="tile in memory must be one of mode 1, not 00"):
        cache.values()

    cache = StencilCache(draw_state(8, 8))
    cache._modes[0] = TileMode.ANCHOR
    with pytest.raises(InputError, match="tile's mode must be CLEARED or RAW, not 5"):
        cache.values()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sets": 3}, "sets must be a power of two, not 3"),
        ({"ways": 0}, "ways must be above 0, not 0"),
        ({"table_lines": 0}, "table_lines must be a power of two, not 0"),
    ],
)
def test_wrong_shapes(arguments, message):
    with pytest.raises(InputError, match=message):
        CacheShape(**arguments)


def test_a_format_that_is_not_coded():
    with pytest.raises(InputError, match="depth_format must be D16 or D24, not D32F"):
        DepthCache(draw_state(8, 8, depth_format=DepthFormat.D32F))


# Hardware: whole histories, errors of memory, benches.


@pytest.mark.parametrize(
    ("config", "count"),
    by_tier([("tiny", 400), ("default", 150), ("tiny_stencil", 400), ("stencil", 150)]),
)
def test_volume(config, count):
    check_paces(BLOCK, config, count)


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


def errors(rows, memory):
    """What every DONE tells."""
    run = volume(BLOCK, "tiny").run({"i": rows}, 64, memory=memory, limit=200_000)
    answers = codec.unpack(run.outputs["o"], TABLE, dtype(TABLE))
    assert len(answers) == len(rows)
    return answers["error"][answers["op"] != CacheOp.USE].tolist()


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
    """Packed requests of a target of so many tiles: a clear, then (writes, numbers), tiles that are
    written as a whole, or read, and a flush.
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


def test_a_tile_that_leaves_at_the_end_of_a_flush_is_in_the_table():
    """The last tile of the last set, alone on chip: the table follows in the next clock."""
    check(BLOCK, "tiny", tiles(4, 2, (1, [7])))


def test_a_write_that_fails_is_told_and_is_the_last():
    data = np.zeros(1024, np.uint8)
    assert errors(
        fresh("clear", "write", "flush", "write", "flush"), Memory(data, faults=(NOWHERE, 0))
    ) == [0, 2, 0]
    assert not data.any()


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


def test_memory_that_ends_too_early():
    assert errors(fresh("clear", "write", "flush"), Memory(np.zeros(64, np.uint8))) == [2, 0]


def test_wrong_hardware():
    with pytest.raises(ValueError, match="ways must be a power of two above 1, not 3"):
        rtl.TileCacheParams(ways=3)
    with pytest.raises(ValueError, match="sets times ways must be at most 4096, not 8192"):
        rtl.TileCacheParams(sets=2048)
    with pytest.raises(ValueError, match="bits must be 24, 8 or 32, not 16"):
        rtl.TileCacheParams(bits=16)


@pytest.mark.parametrize(
    "config",
    [
        "tiny",
        *(
            pytest.param(config, marks=pytest.mark.qualify)
            for config in ("tiny_stencil", "tiny_colour")
        ),
    ],
)
def test_bench(config, simulator):
    check_bench(BLOCK, config, simulator)


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
