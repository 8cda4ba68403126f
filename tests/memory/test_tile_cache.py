# SPDX-License-Identifier: BSD-2-Clause
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.depth.depth_cache import CacheShape, DepthCache, StencilCache, TrafficKind
from fixfunc.models.depth.depth_unit import DepthUnit
from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.memory.surface import samples_within
from fixfunc.models.payload import dtype
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.rtl.memory.tile_cache import tile_cache as rtl
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare, DepthFormat, TileMode
from fixfunc.tb.bench import depths
from fixfunc.tb.memory import tile_cache as harness
from tests.bench import check_bench
from tests.tiers import by_tier
from tests.volume import LIMIT, check, check_paces, volume

BLOCK = "tile_cache"

ONES = (1 << 24) - 1
SHAPES = [
    CacheShape(),
    CacheShape(sets=1, ways=1, table_lines=1),
    CacheShape(sets=4, ways=2, table_lines=2),
    CacheShape(sets=16, ways=3),
]


def play(rng, steps, shapes, size, samples=1, form=DepthFormat.D24):
    """Random draws and clears through a depth unit, and through caches of every shape.

    Caches are of both kinds, and flushed at the end.
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


@pytest.mark.plan("tile-cache-1")
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    samples=st.sampled_from([1, 2, 4, 8]),
    form=st.sampled_from([DepthFormat.D16, DepthFormat.D24]),
    coding=st.sampled_from(["differences", "anchor"]),
)
def test_memory_holds_every_value_whatever_the_cache(seed, samples, form, coding):
    """Memory decodes to the buffer after any history.

    It is the same to the byte, whatever the sets, ways and table.
    """
    rng = np.random.default_rng(seed)
    size = tuple(int(v) for v in rng.integers(1, 60, 2))
    shapes = [replace(shape, coding=coding) for shape in SHAPES]
    unit, caches = play(rng, 6, shapes, size, samples, form)
    for n, cache in enumerate(caches):
        assert same(cache, unit)
        assert cache.stored() == caches[n - n % len(SHAPES)].stored()


@pytest.mark.plan("tile-cache-2")
@pytest.mark.parametrize(
    "shape",
    [
        CacheShape(coding="anchor"),
        CacheShape(coding="raw"),
        CacheShape(fast_clear=False),
        CacheShape(sets=2, ways=1, coding="raw", fast_clear=False),
    ],
)
def test_features_change_no_value(shape):
    unit, caches = play(np.random.default_rng(0), 12, [shape], (70, 50), 4)
    assert same(caches[0], unit) and same(caches[1], unit)


@pytest.mark.plan("tile-cache-3")
def test_a_clear_is_the_table_alone_and_costs_nothing_to_fetch():
    state = draw_state(64, 64)
    cache = DepthCache(state)
    cache.clear((0, 0, 64, 64), ONES)
    assert dict(cache.bytes) == {TrafficKind("clear", TileMode.CLEARED): 32}
    tiles = rasterize(
        setup(depths.triangles(np.random.default_rng(1), 5, (64, 64)), state).records
    )[0]
    cache.run(tiles, *DepthUnit(state, bounds=None).test(tiles), state)
    assert not cache.traffic[TrafficKind("table_fill", None)]
    assert cache.traffic[TrafficKind("fill", TileMode.CLEARED)] > 0
    assert cache.bytes[TrafficKind("fill", TileMode.CLEARED)] == 0


@pytest.mark.plan("tile-cache-3")
def test_a_line_of_the_table_is_fetched_if_one_of_its_place_was_stored():
    """Two lines take turns in one place: both are known to be cleared until the first is stored."""
    state = draw_state(8 * 128, 8)
    cache = StencilCache(state, CacheShape(sets=1, ways=1, table_lines=1))
    cache.clear((0, 0, 8 * 128, 8), 0)
    fetched = []
    for tile, writes in ((0, False), (64, False), (0, True), (64, False), (0, False), (64, True)):
        cache.use(tile, True, writes, 1, np.full((8, 8), writes))
        fetched.append(cache.traffic[TrafficKind("table_fill", None)])
    cache.flush()
    assert fetched == [0, 0, 0, 1, 2, 3]
    assert cache.traffic[TrafficKind("table_write_back", None)] == 2
    assert (cache.values()[0, [0, 64]] == 1).all()


@pytest.mark.plan("tile-cache-1")
def test_what_lies_behind_the_bytes_of_a_tile_stays():
    cache = DepthCache(draw_state(8, 8), memory=np.full(512, 0xAA, np.uint8))
    cache.clear((0, 0, 8, 8), ONES)
    cache.use(0, False, True, 5, np.ones((8, 8), bool), (5 << 8, 0, 0))
    cache.flush()
    assert cache.stored()[0][0] == TileMode.PLANES_1
    assert (cache.memory[32:256] == 0xAA).all() and not (cache.memory[:32] == 0xAA).all()


@pytest.mark.plan("tile-cache-1")
@pytest.mark.parametrize(("plane", "is_clear"), [(None, False), ((ONES << 8, 0, 0), True)])
def test_a_tile_is_cleared_by_the_plane_of_the_clear_alone(plane, is_clear):
    cache = DepthCache(draw_state(8, 8))
    cache.clear((0, 0, 8, 8), ONES)
    cache.use(0, False, True, ONES, np.ones((8, 8), bool), plane)
    cache.flush()
    ((mode, _),) = cache.stored()
    assert (mode == TileMode.CLEARED) == is_clear
    assert (cache.values() == ONES).all()


@pytest.mark.plan("tile-cache-3")
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
    assert cache.bytes[TrafficKind("write_back", TileMode.PLANES_1)] == 32


@pytest.mark.plan("tile-cache-4")
@pytest.mark.parametrize("coding", ["differences", "anchor", "raw"])
def test_bytes_are_what_the_modes_say(coding):
    shape = CacheShape(sets=2, ways=1, coding=coding)
    _, (cache, stencil) = play(np.random.default_rng(8), 40, [shape], (90, 70))
    sizes = {TileMode.CLEARED: 0, TileMode.RAW: 192}
    if coding != "raw":
        sizes |= {1: 32, 2: 32, 3: 64, 4: 64}
    if coding == "anchor":
        sizes[TileMode.ANCHOR] = 64
    if coding == "differences":
        sizes |= {8 + n: 32 * n for n in (2, 3, 4, 5)}
    seen = {moved.mode for moved in cache.bytes if moved.cause in ("fill", "write_back")}
    assert seen <= set(sizes) and len(seen) >= min(len(sizes), 5)
    assert any(code > TileMode.RAW for code in seen) == (coding == "differences")
    for moved, count in cache.traffic.items():
        if moved.cause in ("fill", "write_back"):
            assert cache.bytes[moved] == count * sizes[moved.mode]
    for cause in ("fill", "write_back"):
        assert (
            stencil.bytes[TrafficKind(cause, TileMode.RAW)]
            == 64 * stencil.traffic[TrafficKind(cause, TileMode.RAW)]
            > 0
        )
        cleared = TrafficKind(cause, TileMode.CLEARED)
        assert not stencil.bytes[cleared]
        assert (stencil.traffic[cleared] > 0) == (cause == "fill" or coding != "raw")


@pytest.mark.plan("tile-cache-3")
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


@pytest.mark.plan("tile-cache-12")
def test_a_mode_that_there_is_not():
    for kind, codes in ((DepthCache, (1, 5, 7, 9)), (StencilCache, (5, 7))):
        cache = kind(draw_state(8, 8))
        cache.memory[31] = 1
        for code in codes:
            cache.memory[-32] = code
            cache.load_modes(0)
            with pytest.raises(InputError, match=rf"tile \(0, 0\) .* a code .*, not {code}"):
                cache.values()


@pytest.mark.plan("tile-cache-14")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"colours": "anchor"}, "colours must be one of differences, raw, not anchor"),
        ({"sets": 3}, "sets must be a power of two, not 3"),
        ({"ways": 0}, "ways must be above 0, not 0"),
        ({"table_lines": 0}, "table_lines must be a power of two, not 0"),
        ({"coding": True}, "coding must be one of differences, anchor, raw, not True"),
    ],
)
def test_wrong_shapes(arguments, message):
    with pytest.raises(InputError, match=message):
        CacheShape(**arguments)


@pytest.mark.plan("tile-cache-14")
def test_small_tiles_have_no_differences():
    """Of 4 by 4 depths; stencil values and floats are coded by neither way."""
    message = "edge must be 8 where tiles are coded by differences, not 4"
    with pytest.raises(InputError, match=message):
        DepthCache(draw_state(8, 8), edge=4)
    DepthCache(draw_state(8, 8), CacheShape(coding="anchor"), 4)
    DepthCache(draw_state(8, 8, depth_format=DepthFormat.D32F), edge=4)
    StencilCache(draw_state(8, 8), edge=4)


@pytest.mark.plan("tile-cache-4")
def test_codes_of_four_bits_come_back_from_memory():
    """Another cache on the same memory reads every tile by the table; it holds differences."""
    shape = CacheShape(sets=2, ways=1, table_lines=1)
    state = draw_state(90, 70, 4)
    cache = DepthCache(state, shape)
    cache.clear((0, 0, 90, 70), ONES)
    noise = np.random.default_rng(0).integers(0, 1 << 22, (8, 8))
    j, i = np.mgrid[:8, :8]
    for tile, values in enumerate((noise, 5 * i + j, noise >> 9, noise >> 16)):
        cache.use(tile, False, True, values, np.ones((8, 8), bool))
    cache.flush()
    again = DepthCache(state, shape, memory=cache.memory)
    again.load_modes(ONES)
    assert again.stored() == cache.stored()
    assert (again.values() == cache.values()).all()
    codes = [code for code, _ in again.stored()[:5]]
    assert codes == [TileMode.RAW, 10, 12, 11, TileMode.CLEARED]


@pytest.mark.plan("tile-cache-14")
def test_floats_lie_raw_or_cleared():
    """Every bit of a float of 0 to 1 comes back; memory with bits above is no tile."""
    cache = DepthCache(draw_state(16, 8, depth_format=DepthFormat.D32F))
    cache.clear((0, 0, 16, 8), 0x3F800000)
    values = np.random.default_rng(0).integers(0, 0x3F800001, (8, 8)).astype(np.uint32)
    cache.use(0, False, True, values, np.ones((8, 8), bool), (0, 0, 0))
    cache.flush()
    modes = [mode for mode, _ in cache.stored()]
    assert modes == [TileMode.RAW, TileMode.CLEARED]
    assert (cache.values()[0, 0] == values).all() and (cache.values()[0, 1] == 0x3F800000).all()
    assert cache.memory[:256].view("<u4").tolist() == values.ravel().tolist()
    cache.memory[7] |= 0x40
    with pytest.raises(InputError, match=r"tile \(0, 0\) .* must have a code .*, not 6"):
        cache.values()


# Hardware: whole histories, errors of memory, benches.


@pytest.mark.plan("tile-cache-5")
def test_a_victim_that_comes_back_waits_for_no_memory():
    """A tile of each set comes back at once: its write-back and its read would take two answers."""
    far = 800
    params = rtl.CONFIGS["tiny"]
    rows = harness.returns(params)
    memory = Memory(harness.memory(rows, params), (far, far))
    run = volume(BLOCK, "tiny").run({"i": rows}, 4096, memory=memory, limit=LIMIT)
    assert run.clocks < params.sets * far
    check(BLOCK, "tiny", rows)


@pytest.mark.plan("tile-cache-5")
@pytest.mark.parametrize(
    ("config", "count"),
    by_tier(
        [
            ("tiny", 400),
            ("default", 150),
            ("tiny_any_order", 400),
            ("tiny_floats", 400),
            ("floats", 150),
            ("tiny_stencil", 400),
            ("stencil", 150),
            ("tiny_coded", 200),
            ("coded", 100),
        ],
        later=["tiny_floats"],  # the cached depths of every format
    ),
)
def test_volume(config, count):
    check_paces(BLOCK, config, count)


@pytest.mark.plan("tile-cache-14")
def test_wrong_hardware():
    with pytest.raises(ValueError, match="ways must be a power of two above 1, not 3"):
        rtl.TileCacheParams(ways=3)
    with pytest.raises(ValueError, match="sets times ways must be at most 4096, not 8192"):
        rtl.TileCacheParams(sets=2048)
    with pytest.raises(ValueError, match="bits must be one of 8, 24, 30, 32, not 16"):
        rtl.TileCacheParams(bits=16)
    for edge, bits in ((4, payloads.COLOUR), (4, payloads.DEPTH), (8, payloads.STENCIL)):
        message = f"differences must be False but of .*, not of {bits} bits and {edge} by"
        with pytest.raises(ValueError, match=message):
            rtl.TileCacheParams(edge=edge, bits=bits, differences=True)


@pytest.mark.plan("tile-cache-5")
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
