# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.texture.level_of_detail.level_of_detail.LevelOfDetail`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.level_of_detail import levels_of_quads
from fixfunc.rtl.texture.level_of_detail.level_of_detail import LevelOfDetail, LevelOfDetailParams
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.level_of_detail import (
    LOD,
    LOD_STATE,
    LodKind,
)
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.states import parted

PLAIN = LevelOfDetailParams()
LEAST = -(1 << LOD - 1)
SPECIAL = (0, 1, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000)


def bits(params: LevelOfDetailParams) -> int:
    """Of a packed beat."""
    return sum(f.bits for f in params.quad)


def requests(rng: np.random.Generator, count: int, params: LevelOfDetailParams) -> np.ndarray:
    """Packed states, each with quads; about as many beats."""
    out = []
    left = count
    while left > 0:
        beats = quads(rng, int(rng.integers(1, 30)), params)
        out += [
            codec.pack(draw(rng, params), LOD_STATE, bits(params)),
            codec.pack(beats, params.quad, bits(params)),
        ]
        left -= 1 + len(beats)
    return np.concatenate(out)


def draw(rng: np.random.Generator, _: LevelOfDetailParams) -> np.ndarray:
    """A state."""
    state = np.zeros(1, dtype(LOD_STATE))
    state["kind"] = LodKind.STATE
    for name in ("width", "height"):
        state[name] = rng.choice([1, rng.integers(1, (1 << EXTENT) + 1), 1 << rng.integers(15)])
    state["last"] = rng.integers(0, 15)
    state["coarse"] = rng.integers(0, 2)
    state["smooth"] = rng.random() < 0.7
    state["bias"] = some_lod(rng, 1)
    just = int(rng.integers(-1, 3))  # where a minifying filter begins
    state["minimum"] = rng.choice([0, 0, just, some_lod(rng, 1)[0]])
    state["maximum"] = rng.choice([31 << 8, 31 << 8, some_lod(rng, 1)[0]])
    state["least"] = rng.choice([0, 0, some_lod(rng, 1)[0]])
    state["explicit_level"] = rng.random() < 0.2
    state["explicit_gradients"] = rng.random() < 0.4
    most = [0, 1, 2, 16, rng.integers(0, 32)]
    state["anisotropy"] = rng.choice(most, p=(0.2, 0.1, 0.1, 0.3, 0.3))
    return state


def some_lod(rng: np.random.Generator, count: int) -> np.ndarray:
    """Levels of detail: none, a few, ends, any."""
    ends = rng.choice([LEAST, LEAST + 1, -LEAST - 2, -LEAST - 1], count)
    kinds = [
        np.zeros(count, np.int64),
        rng.integers(-1024, 1024, count),
        ends,
        rng.integers(LEAST, -LEAST, count),
    ]
    return np.choose(rng.choice([0, 0, 1, 1, 2, 3], count), kinds)


def quads(rng: np.random.Generator, count: int, params: LevelOfDetailParams = PLAIN) -> np.ndarray:
    """Quads: of plain gradients, of none along an axis, of special numbers, of any bits."""
    beats = np.zeros(count, dtype(params.quad))
    beats["kind"] = LodKind.QUAD
    for name in "uv":
        start = rng.uniform(-2, 2, count)
        slopes = rng.normal(0, 1, (2, count)) * np.exp2(rng.uniform(-16, 2, (2, count)))
        # Steps that are powers of two give levels that are whole.
        whole = rng.random(count) < 0.2
        slopes = np.where(whole, np.exp2(-rng.integers(0, 15, count)), slopes)
        # Squares of squares of small ones are the least numbers.
        small = rng.random(count) < 0.1
        slopes *= np.where(small, np.exp2(-rng.uniform(0, 70, count)), 1)
        start = np.where(whole | small, 0, start)
        slopes *= rng.random((2, count)) < 0.8
        for pixel in range(4):
            place = start + slopes[0] * (pixel & 1) + slopes[1] * (pixel >> 1)
            place *= 1 + rng.normal(0, 0.01, count) * (rng.random(count) < 0.3)
            beats[f"{name}{pixel}"] = _or_special(rng, place)
        for pixel in range(4 if params.gradients else 0):
            own = slopes * (1 + rng.normal(0, 0.3, (2, count)) * (rng.random(count) < 0.5))
            for way, slope in zip(("across", "down"), own, strict=True):
                beats[f"{way}_{name}{pixel}"] = _or_special(rng, slope)
    for pixel in range(4):
        beats[f"bias{pixel}"] = some_lod(rng, count)
    return beats


def _or_special(rng, value):
    """Bits of numbers; special ones, and any bits."""
    count = len(value)
    special = rng.choice(np.array(SPECIAL, np.uint32), count)
    special |= rng.integers(0, 2, count, dtype=np.uint32) << 31
    anything = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    kinds = rng.choice(3, count, p=(0.94, 0.03, 0.03))
    return np.choose(kinds, [value.astype(np.float32).view(np.uint32), special, anything])


def expected(rows: np.ndarray, params: LevelOfDetailParams) -> np.ndarray:
    """Packed levels of packed beats."""
    beats = parted(rows, LOD_STATE, params.quad)
    return codec.pack(levels_of_quads(*beats, params.footprints), params.levels)


def describe(row: np.ndarray, params: LevelOfDetailParams) -> str:
    """Levels of a quad in words."""
    record = codec.unpack(row[None], params.levels, dtype(params.levels))[0]
    return ", ".join(f"{f.name} {int(record[f.name])}" for f in params.levels)


class LevelOfDetailBench(StreamBench):
    """Bench with one stream in, and one out."""

    stem = "level_of_detail"


# plan: level-of-detail-4
@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def quads_get_levels(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = LevelOfDetailBench(dut)
    await bench.run(requests(bench.rng, 150, bench.params), source, sink)


# plan: level-of-detail-3
@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_quad_takes_a_clock(dut: HierarchyObject) -> None:
    bench = LevelOfDetailBench(dut)
    await bench.run(single(bench.rng, 100, bench.params, 1))
    bench.beats_in = bench.beats_in[1:]
    bench.check_rate(LevelOfDetail(bench.params).latency)


# plan: level-of-detail-3
@cocotb.test(timeout_time=2, timeout_unit="ms")
async def an_anisotropic_quad_takes_four(dut: HierarchyObject) -> None:
    bench = LevelOfDetailBench(dut)
    await bench.run(single(bench.rng, 100, bench.params, 16))
    clocks = [clock for _, clock in bench.beats_out]
    assert np.diff(clocks).tolist() == [4] * 99


def single(
    rng: np.random.Generator, count: int, params: LevelOfDetailParams, anisotropy: int
) -> np.ndarray:
    """A packed state, and quads behind it."""
    state = draw(rng, params)
    state["anisotropy"] = anisotropy
    state["explicit_level"] = 0
    state["explicit_gradients"] = 0
    return packed(params, state, quads(rng, count, params))


def packed(params: LevelOfDetailParams, state: np.ndarray, beats: np.ndarray) -> np.ndarray:
    """A packed state, and quads behind it."""
    size = bits(params)
    return np.concatenate(
        [codec.pack(state, LOD_STATE, size), codec.pack(beats, params.quad, size)]
    )
