# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.texture.cache.texture_cache.TextureCache`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.cosim.reference.texture_cache import cache_shape
from fixfunc.models.payload import dtype
from fixfunc.models.texture.texture_cache import QuadCache
from fixfunc.rtl.texture.cache.layouts import TextureCacheParams
from fixfunc.rtl.texture.cache.texture_cache import TextureCache
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.textures.cache import (
    CACHE_QUAD,
    CACHE_STATE,
    FORMAT,
    LAYER,
    LEVELS,
    LINE,
    LINE_NUMBER,
    TEXEL_QUAD,
    CacheKind,
)
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.reading import ReadingBench
from fixfunc.tb.bench.states import parted
from fixfunc.tb.texture.coded_lines import put_surface

BITS = max(sum(f.bits for f in table) for table in (CACHE_STATE, CACHE_QUAD))
SIZE = 1 << 18  # bytes of memory: 2,048 layers of a line each, and levels
LINES = SIZE // LINE
LEVEL = 512  # lines of 64x64 texels of 8 bytes
FORMATS = 64  # numbers of formats
LAYERS = 1 << LAYER
CODED = 0.3  # of the states where textures may be coded surfaces
LINEAR = 0.25  # of the states where textures may be rows of texels
SIDE = 64  # texels of a level
PITCHES = (0, 1, 2, 3, 4, 8, 16, 63, 1 << 12)  # of which the last is refused
SURFACES = 2
TILE = 256  # bytes
TRANSFER_BYTES = TRANSFER // 8
TILES = 128  # of a surface
PITCH = 64  # lines from a row of tiles to the next
ROOM = 1 << 16  # bytes of a surface and its table
SURFACE = SIZE - SURFACES * ROOM  # where they begin
CLEARED = 0x40302010
LAST_LAYERS = (0, 0, 1, 5, 6, 300, LAYERS - 1)
# Depths at the ends, as UNORM of 16 and 24 bits and as float32: zeros, denormals, ones, NaN.
WORDS = np.array(
    [
        *(0, 1, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0xFFFFFE, 0xFFFFFF),
        *(0x3F000000, 0x3F7FFFFF, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000),
        *(0x80000000, 0x80000001, 0x807FFFFF, 0x80800000, 0xBF800000, 0xFF800000, 0xFFFFFFFF),
    ],
    np.uint32,
)


def requests(rng: np.random.Generator, count: int, params: TextureCacheParams) -> np.ndarray:
    """Packed states, each with quads; about as many beats."""
    out = []
    left = count
    while left > 0:
        state = draw(rng, params)
        beats = quads(rng, int(rng.choice([1, 3, 30, 100])), state)
        out += [codec.pack(state, CACHE_STATE, BITS), codec.pack(beats, CACHE_QUAD, BITS)]
        left -= 1 + len(beats)
    return np.concatenate(out)


def draw(rng: np.random.Generator, params: TextureCacheParams) -> np.ndarray:
    """A state, whose levels lie anywhere, the same as of other states or over each other."""
    state = np.zeros(1, dtype(CACHE_STATE))
    known = [int(form) for form in params.formats]
    put_format(state, rng.choice(known) if rng.random() < 0.9 else rng.integers(0, FORMATS))
    state["first_set"] = rng.choice([0, 0, 255, rng.integers(0, 256)])
    place_levels(rng, state, int(rng.choice(LAST_LAYERS)))
    if params.coded and rng.random() < CODED:
        place_surface(state, int(rng.integers(0, SURFACES)))
        if rng.random() < 0.9:
            put_format(state, rng.choice([int(form) for form in params.surfaces]))
    if params.linear and rng.random() < LINEAR:
        place_rows(rng, state)
        if rng.random() < 0.9:
            put_format(state, rng.choice([int(form) for form in params.rows]))
    return state


def place_rows(rng: np.random.Generator, state: np.ndarray) -> None:
    """All levels of a state lie as rows of texels, some of which overlap; seldom too far apart."""
    state["linear"] = 1
    state["distance"] = pitch = int(rng.choice(PITCHES))
    if rng.random() < 0.9:
        state["coded"] = 0
    room = max(LINES - SIDE * pitch, 1)
    for level in range(LEVELS):
        state[f"base{level}"] = rng.choice([0, 1, rng.integers(0, room)]) % room


def place_surface(state: np.ndarray, number: int) -> None:
    """All levels of a state are a coded surface; those of two numbers have different pitches."""
    state["coded"] = 1
    state["distance"] = PITCH >> number
    state["mode_table"] = (SURFACE + number * ROOM + TILES * TILE) // TRANSFER_BYTES
    state["cleared"] = CLEARED + number
    for level in range(LEVELS):
        state[f"base{level}"] = (SURFACE + number * ROOM) // LINE


def put_format(state: np.ndarray, number: int) -> None:
    """The number of a format, in two fields."""
    state["extended"], state["format"] = divmod(int(number), 1 << FORMAT)


def place_levels(rng: np.random.Generator, state: np.ndarray, last: int) -> None:
    """Where levels begin, and how far apart layers lie: upwards or downwards, all in memory."""
    room = LINES - LEVEL
    most = room // max(last, 1)
    distance = int(rng.choice([0, most, -most, rng.integers(-most, most + 1)]))
    state["distance"] = distance % (1 << LINE_NUMBER)
    low, high = max(0, -last * distance), room - max(0, last * distance)
    for level in range(LEVELS):
        first = rng.choice([0, 256, 512, SURFACE // LINE, rng.integers(low, high + 1)])
        state[f"base{level}"] = np.clip(first, low, high)


def _last_layer(state):
    """The greatest number of a layer whose levels are in memory, wherever those begin."""
    if state["linear"][0]:
        return LAYERS - 1
    distance = int(state["distance"][0])
    distance -= (distance >> LINE_NUMBER - 1) << LINE_NUMBER
    bases = [int(state[f"base{level}"][0]) for level in range(LEVELS)]
    room = LINES - LEVEL - max(bases) if distance > 0 else min(bases)
    return min(room // abs(distance), LAYERS - 1) if distance else LAYERS - 1


def quads(rng: np.random.Generator, count: int, state: np.ndarray) -> np.ndarray:
    """Quads of walks over 64x64 texels of a level, of pixels anywhere, of what wraps."""
    beats = np.zeros(count, dtype(CACHE_QUAD))
    beats["kind"] = CacheKind.QUAD
    kind = rng.choice(["walk", "hot", "any", "wraps"], p=[0.4, 0.2, 0.2, 0.2])
    level = rng.integers(0, LEVELS)
    last = _last_layer(state)
    layer = (
        rng.integers(0, last + 1, count) if kind in ("any", "hot") else rng.integers(0, last + 1)
    )
    silent = rng.random(count) < 0.02
    walk = rng.integers(0, 64, 2)[:, None] + np.cumsum(rng.integers(-1, 3, (2, count)), 1)
    for pixel in range(4):
        other = rng.integers(0, last + 1, count)
        beats[f"layer{pixel}"] = np.where(rng.random(count) < 0.1, other, layer)
        beats[f"level{pixel}"] = level if kind != "any" else rng.integers(0, LEVELS, count)
        beats[f"u{pixel}"] = rng.integers(0, 256, count)
        beats[f"v{pixel}"] = rng.integers(0, 256, count)
        some = np.where(rng.random(count) < 0.7, 15, rng.integers(0, 16, count))
        beats[f"reads{pixel}"] = np.where(silent, 0, some)
        for axis, (first, second) in enumerate((("left", "right"), ("upper", "lower"))):
            step = pixel >> axis & 1
            place = {
                "walk": walk[axis] + step,
                "hot": 5 + step + rng.integers(0, 2, count),
                "any": rng.integers(0, 64, count),
                "wraps": rng.choice([0, 1, 2, 62, 63], count),
            }[kind]
            far = {
                "walk": place + 1,
                "hot": place + 1,
                "any": place + rng.integers(0, 2, count),
                "wraps": rng.choice([0, 1, 2, 62, 63], count),
            }[kind]
            beats[f"{first}{pixel}"] = place % 64
            beats[f"{second}{pixel}"] = far % 64
    return beats


def memory(rows: np.ndarray, params: TextureCacheParams) -> np.ndarray:
    """What lies behind the port: bytes that differ, depths at the ends, coded surfaces."""
    rng = np.random.default_rng(len(rows))
    data = rng.integers(0, 256, SIZE, np.uint8)
    words = data.view(np.uint32)
    chosen = rng.random(len(words)) < 0.3
    words[chosen] = rng.choice(WORDS, chosen.sum())
    if params.coded:
        for number in range(SURFACES):
            place = SURFACE + number * ROOM
            put_surface(rng, data[place:], TILES, TILES * TILE, CLEARED + number)
    return data


def unreadable(rows: np.ndarray) -> int | None:
    """A byte that cannot be read, near the beginning of levels; mostly there is one."""
    rng = np.random.default_rng(len(rows))
    if rng.random() < 0.2:
        return None
    first = rng.choice([0, 256, 512, SURFACE // LINE, (SURFACE + TILES * TILE) // LINE])
    return int(first + rng.integers(0, 64)) * LINE + int(rng.integers(0, LINE))


def expected(rows: np.ndarray, params: TextureCacheParams) -> dict[str, np.ndarray]:
    """Packed texels of packed beats, and memory, which stays as it is."""
    data = memory(rows, params)
    shape = cache_shape(params)
    found = QuadCache(shape, data, unreadable(rows)).read(*parted(rows, CACHE_STATE, CACHE_QUAD))
    return {
        "o": codec.pack(found, TEXEL_QUAD),
        "memory": data.view(np.uint64).reshape(-1, TRANSFER // 64),
    }


def describe(row: np.ndarray, _: TextureCacheParams) -> str:
    """Texels of a quad in words."""
    record = codec.unpack(row[None], TEXEL_QUAD, dtype(TEXEL_QUAD))[0]
    return ", ".join(f"{f.name} {int(record[f.name])}" for f in TEXEL_QUAD)


class TextureCacheBench(ReadingBench):
    """Bench with textures in the memory behind the port."""

    stem = "texture_cache"
    size = SIZE


# plan: texture-cache-9
@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def quads_have_their_texels(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = TextureCacheBench(dut)
    await bench.read(requests(bench.rng, 120, bench.params), source, sink)


# plan: texture-cache-10
@cocotb.test(timeout_time=3, timeout_unit="ms")
async def a_bilinear_quad_takes_a_clock(dut: HierarchyObject) -> None:
    """On hits: quads of four pixels side by side, whose taps lie in four blocks at most."""
    bench = TextureCacheBench(dut)
    rows = bilinear(100)
    await bench.read(rows, "full", "full")
    clocks = [clock for _, clock in bench.beats_out]
    assert bench.beats_in[-1][1] - bench.beats_in[-50][1] == 49
    assert clocks[-1] - clocks[-50] == 49


# plan: texture-cache-10
@cocotb.test(timeout_time=3, timeout_unit="ms")
async def a_hit_has_its_latency(dut: HierarchyObject) -> None:
    bench = TextureCacheBench(dut)
    await bench.read(bilinear(40), "starved", "full")
    taken = [clock for _, clock in bench.beats_in[1:]]
    given = [clock for _, clock in bench.beats_out]
    waits = [out - into for into, out in zip(taken, given, strict=True)]
    assert min(waits) == TextureCache(bench.params).latency == waits[-1]


def bilinear(count: int) -> np.ndarray:
    """Packed quads over 8x8 texels, four blocks, which the first of them reads from memory."""
    state = np.zeros(1, dtype(CACHE_STATE))
    beats = np.zeros(count, dtype(CACHE_QUAD))
    beats["kind"] = CacheKind.QUAD
    places = np.arange(count) % 6, np.arange(count) // 6 % 6
    for pixel in range(4):
        beats[f"reads{pixel}"] = 15
        for axis, names in enumerate((("left", "right"), ("upper", "lower"))):
            for step, name in enumerate(names):
                beats[f"{name}{pixel}"] = places[axis] + (pixel >> axis & 1) + step
    return np.concatenate(
        [codec.pack(state, CACHE_STATE, BITS), codec.pack(beats, CACHE_QUAD, BITS)]
    )
