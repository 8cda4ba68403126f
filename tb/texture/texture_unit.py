# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.texture.unit.texture_unit.TextureUnit`."""

from itertools import product

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.cosim.reference.texture_cache import cache_shape
from fixfunc.models.payload import carried, dtype
from fixfunc.models.texture.texture_cache import forms_of
from fixfunc.models.texture.texture_unit import TextureUnit
from fixfunc.rtl.texture.unit.layouts import TextureUnitParams
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.cache import DEPTHS, FLOATS, POINT_SAMPLED, SNORMS, StoredFormat
from fixfunc.spec.textures.cube import FACES
from fixfunc.spec.textures.filter import CHANNELS, FilterOp
from fixfunc.spec.textures.unit import (
    COMPARED,
    LAST_CUBE,
    SAMPLE_STATE,
    TEXTURE_QUAD,
    TEXTURED_QUAD,
    TextureKind,
)
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.states import parted
from fixfunc.tb.texture.cube_faces import bring_gradients, directions
from fixfunc.tb.texture.filter import SPECIAL
from fixfunc.tb.texture.texture_cache import (
    CODED,
    FORMATS,
    LAST_LAYERS,
    LINEAR,
    SURFACES,
    WORDS,
    TextureCacheBench,
    memory,
    place_levels,
    place_rows,
    place_surface,
    put_format,
    unreadable,
)

BITS = max(sum(f.bits for f in table) for table in (SAMPLE_STATE, TEXTURE_QUAD))
CUBES = 0.2  # of the states
GRADIENTS = 0.3  # of the states of a unit that has them
EDGES = (0, 0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001, 0x4B800000)


def bits(params: TextureUnitParams) -> int:
    """Of a packed beat; without gradients ``BITS``."""
    return max(BITS, *(sum(f.bits for f in table) for table in (params.state, params.quad)))


def requests(rng: np.random.Generator, count: int, params: TextureUnitParams) -> np.ndarray:
    """Packed states, each with quads; about as many beats."""
    out = []
    left = count
    while left > 0:
        state = draw(rng, params)
        beats = quads(rng, int(rng.choice([1, 3, 30, 100])), state, params)
        out.append(packed(params, state, beats))
        left -= 1 + len(beats)
    return np.concatenate(out)


def packed(params: TextureUnitParams, state: np.ndarray, beats: np.ndarray) -> np.ndarray:
    """A packed state, of whose fields some may lack, and quads behind it."""
    size = bits(params)
    state = carried(state, params.state)
    return np.concatenate(
        [codec.pack(state, params.state, size), codec.pack(beats, params.quad, size)]
    )


def draw(rng: np.random.Generator, params: TextureUnitParams) -> np.ndarray:
    """A texture of any size, whose levels lie anywhere, and a sampler.

    Memory has levels of 64 texels: of a larger texture no greater ones are read.
    """
    state = np.zeros(1, dtype(params.state))
    most = 1 << params.addresses.extent
    largest = rng.choice([64, 64, most])
    for name in ("width", "height"):
        state[name] = rng.choice([1, 2, 5, largest, rng.integers(1, largest + 1)])
    known = [int(form) for form in params.stored.formats]
    state["cube"] = rng.random() < CUBES
    if state["cube"][0]:
        state["height"] = state["width"]
    size = int(max(state["width"][0], state["height"][0]))
    state["last"] = rng.choice([0, size.bit_length() - 1, rng.integers(0, size.bit_length())])
    put_format(state, rng.choice(known) if rng.random() < 0.9 else rng.integers(0, FORMATS))
    state["first_set"] = rng.choice([0, 255, rng.integers(0, 256)])
    state["last_layer"] = rng.choice(LAST_LAYERS)
    last = int(state["last_layer"][0])
    if state["cube"][0]:
        state["last_layer"] = rng.choice([0, 0, 1, 5, LAST_CUBE])
        last = FACES * int(state["last_layer"][0]) + FACES - 1
    place_levels(rng, state, last)
    for name in ("mode_u", "mode_v"):
        state[name] = rng.choice(list(Address))
    for name, chance in (("magnify", 0.7), ("minify", 0.7), ("smooth", 0.6), ("coarse", 0.3)):
        state[name] = rng.random() < chance
    state["bias"] = rng.choice([0, 0, 300, rng.integers(-4096, 4096)])
    state["minimum"] = rng.choice([0, -65536, rng.integers(-500, 2000)])
    state["maximum"] = rng.choice([31 << 8, 65535, rng.integers(-500, 4000)])
    state["least"] = rng.choice([0, rng.integers(0, 1000)])
    state["op"] = rng.choice(list(FilterOp), p=[0.7, 0.1, 0.1, 0.1])
    if size > 64:
        state["last"] = size.bit_length() - 1
        state["least"] = (size - 1).bit_length() - 6 << 8
        state["op"] = FilterOp.MEAN
    state["explicit_level"] = rng.random() < 0.15
    state["explicit_gradients"] = rng.random() < (GRADIENTS if params.gradients else 0.03)
    state["component"] = rng.integers(0, 4)
    for name in ("offset_u", "offset_v"):
        state[name] = rng.choice([0, 0, -8, 7, rng.integers(-32, 32)])
    state["compares"] = rng.random() < 0.3
    if state["compares"][0] and rng.random() < 0.8:
        put_format(state, rng.choice(COMPARED))
    if forms_of(state)[0] in DEPTHS and rng.random() < (0.5 if params.words else 0.8):
        state["compares"] = 1
    state["function"] = rng.choice(list(Compare))
    for name in CHANNELS:
        state[f"border_{name}"] = rng.choice([0, 0x3FF, rng.integers(0, 1024)])
    if forms_of(state)[0] in SNORMS:
        for name in CHANNELS:
            state[f"border_{name}"] = rng.choice([0, 16383, 32767, -16383, -32767]) & 0xFFFF
    if forms_of(state)[0] in FLOATS:
        for name in CHANNELS:
            state[f"border_{name}"] = rng.choice(SPECIAL)
    if forms_of(state)[0] in (*DEPTHS, *POINT_SAMPLED):
        word = int(rng.choice(WORDS))
        state["border_r"], state["border_g"] = word & 0xFFFF, word >> 16
        state["border_b"], state["border_a"] = state["border_g"], state["border_r"]
    most = [rng.integers(0, 2), 2, 16, rng.integers(2, 17), rng.integers(17, 32)]
    state["anisotropy"] = rng.choice(most, p=[0.58, 0.1, 0.1, 0.2, 0.02])
    if params.coded and size <= 64 and rng.random() < CODED:
        place_surface(state, int(rng.integers(0, SURFACES)))
        if rng.random() < 0.9:
            state["last"] = state["last_layer"] = state["cube"] = 0
            own = COMPARED if state["compares"][0] else params.cache.surfaces
            put_format(state, rng.choice(sorted(set(own) & set(params.stored.surfaces))))
    if params.cache.linear and size <= 64 and rng.random() < LINEAR:
        place_rows(rng, state)
        if rng.random() < 0.9:
            state["last"] = state["last_layer"] = state["cube"] = 0
            own = COMPARED if state["compares"][0] else params.cache.rows
            put_format(state, rng.choice(sorted(set(own) & set(params.stored.rows))))
    if forms_of(state)[0] in params.words and not state["compares"][0] and rng.random() < 0.8:
        state["magnify"] = state["minify"] = state["smooth"] = state["anisotropy"] = 0
    return state


def quads(
    rng: np.random.Generator, count: int, state: np.ndarray, params: TextureUnitParams
) -> np.ndarray:
    """Quads of walks over a texture, of steps of all sizes, of pixels anywhere."""
    beats = np.zeros(count, dtype(params.quad))
    beats["kind"] = TextureKind.QUAD
    kind = rng.choice(["walk", "any", "edges"], p=[0.6, 0.3, 0.1])
    walk = rng.uniform(-1, 2, 2)[:, None]
    step = 2.0 ** rng.integers(-3, 4) * rng.uniform(0.3, 1.2, (2, 2))
    size = np.array([state["width"][0], state["height"][0]], np.float64)
    for axis, name in enumerate("uv"):
        moves = np.cumsum(rng.integers(-1, 3, count)) * 2 * step[axis, axis]
        for pixel in range(4):
            within = step[axis, 0] * (pixel & 1) + step[axis, 1] * (pixel >> 1)
            place = (walk[axis] + (moves + within) / size[axis]).astype(np.float32)
            if kind == "any":
                place = rng.uniform(-3, 4, count).astype(np.float32)
            bits = place.view(np.uint32)
            if kind == "edges":
                bits = rng.choice(EDGES, count).astype(np.uint32)
            beats[f"{name}{pixel}"] = bits
    if state["cube"][0]:
        bits = directions(rng, count, int(size[0]) >> int(rng.integers(0, 4)) or 1).view(np.uint32)
        for name, pixel in product("uvw", range(4)):
            beats[f"{name}{pixel}"] = bits[:, pixel, "uvw".index(name)]
    last = int(state["last_layer"][0])
    one = rng.integers(0, last + 1)
    for pixel in range(4):
        beats[f"layer{pixel}"] = layers(rng, count, one, last)
        beats[f"reference{pixel}"] = references(rng, count, int(forms_of(state)[0]))
        beats[f"bias{pixel}"] = rng.choice([0, 0, 0, rng.integers(-600, 600)], count)
    if params.gradients:
        bring_gradients(rng, beats, np.append(size, size[0]))
    beats["live"] = np.where(rng.random(count) < 0.8, 15, rng.integers(0, 16, count))
    return beats


def layers(rng: np.random.Generator, count: int, one: int, last: int) -> np.ndarray:
    """Bits of layers: of one, halves beside it, any beyond, no numbers."""
    value = np.where(rng.random(count) < 0.7, one, rng.integers(-2, last + 3, count))
    value = value + rng.choice([0.0, 0.0, 0.5, -0.5, 0.25], count)
    bits = value.astype(np.float32).view(np.uint32)
    beside = (bits + rng.choice([-1, 0, 0, 1], count)).astype(np.uint32)
    return np.where(rng.random(count) < 0.9, beside, rng.choice(WORDS, count))


def references(rng: np.random.Generator, count: int, form: int) -> np.ndarray:
    """Bits of references: depths of memory, halves and units beside them, anything."""
    words = (rng.choice(WORDS, count) + rng.choice([-1, 0, 0, 0, 1], count)) & 0xFFFFFFFF
    if form != StoredFormat.R32_FLOAT:
        one = (1 << (24 if form in DEPTHS else 16)) - 1
        value = ((words & one) + rng.choice([-0.5, 0, 0, 0.5], count)) / one
        words = value.astype(np.float32).view(np.uint32)
    others = np.where(
        rng.random(count) < 0.5,
        rng.choice(WORDS, count),
        rng.uniform(0, 1, count).astype(np.float32).view(np.uint32),
    )
    return np.where(rng.random(count) < 0.7, words, others)


def expected(rows: np.ndarray, params: TextureUnitParams) -> dict[str, np.ndarray]:
    """Packed texels of packed beats, and memory, which stays as it is."""
    data = memory(rows, params)
    more = params.comparisons, params.footprints, params.layers, params.cubes, params.gradients
    unit = TextureUnit(cache_shape(params.cache), data, unreadable(rows), *more)
    found = unit.sample(*parted(rows, params.state, params.quad))
    return {
        "o": codec.pack(found, TEXTURED_QUAD),
        "memory": data.view(np.uint64).reshape(-1, TRANSFER // 64),
    }


def describe(row: np.ndarray, _: TextureUnitParams) -> str:
    """Texels of a quad in words."""
    record = codec.unpack(row[None], TEXTURED_QUAD, dtype(TEXTURED_QUAD))[0]
    return ", ".join(f"{f.name} {int(record[f.name])}" for f in TEXTURED_QUAD)


class TextureUnitBench(TextureCacheBench):
    """Bench with textures in the memory behind the port."""

    stem = "texture_unit"


# plan: texture-unit-2
@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def quads_are_sampled(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = TextureUnitBench(dut)
    await bench.read(requests(bench.rng, 120, bench.params), source, sink)


# plan: texture-unit-4
@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(smooth=[0, 1], samples=[1, 4])
async def a_grid_takes_a_clock(dut: HierarchyObject, smooth: int, samples: int) -> None:
    """On hits: a bilinear quad takes a clock, a trilinear one two, of each sample of a footprint;
    numbers of samples are powers of two, by which the filter divides at once.
    """
    bench = TextureUnitBench(dut)
    last = 24 // samples
    rows = tiled(bench.params, 48 + last, smooth, samples)
    await bench.read(rows, "full", "full")
    clocks = [clock for _, clock in bench.beats_out]
    assert clocks[-1] - clocks[-1 - last] == last * (1 + smooth) * samples


def tiled(params: TextureUnitParams, count: int, smooth: int, samples: int) -> np.ndarray:
    """Packed quads over 8x8 texels of 64x64, and of half of it if smooth, again and again.

    A footprint is as many texels wide as it has samples, and one high.
    """
    state = np.zeros(1, dtype(SAMPLE_STATE))
    state["width"] = state["height"] = 64
    state["last"] = 6
    state["magnify"] = state["minify"] = 1
    state["smooth"] = smooth
    state["base1"] = 256
    state["bias"] = 128 * smooth
    state["maximum"] = 31 << 8
    state["anisotropy"] = samples
    beats = np.zeros(count, dtype(params.quad))
    beats["kind"] = TextureKind.QUAD
    beats["live"] = 15
    place = np.arange(count) % 5, np.arange(count) // 5 % 5
    for pixel in range(4):
        for axis, name in enumerate("uv"):
            texel = (place[axis] + 1 + (pixel >> axis & 1) * (samples if axis == 0 else 1)) / 64
            beats[f"{name}{pixel}"] = texel.astype(np.float32).view(np.uint32)
    return packed(params, state, beats)
