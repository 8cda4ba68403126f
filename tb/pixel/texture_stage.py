# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.pixel.texture_stage.TextureStage`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.pixel.texture_stage import shade
from fixfunc.rtl.pixel.texture_stage import TextureStageParams
from fixfunc.spec.pixels.texture_stage import (
    CHANNELS,
    SHADED_QUAD,
    STAGE_QUAD,
    STAGE_STATE,
    StageKind,
    TextureOp,
)
from fixfunc.spec.state import Compare
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.states import parted

BITS = sum(f.bits for f in STAGE_QUAD)
SPECIAL = (0, 1, 0x7FFFFF, 0x800000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x7F800000, 0x7FC00000)


def requests(rng: np.random.Generator, count: int, params: TextureStageParams) -> np.ndarray:
    """Packed states, each with quads of one to four attributes; about as many beats."""
    out = []
    left = count
    while left > 0:
        quads = int(rng.integers(1, 30))
        state, reference = draw(rng, params)
        beats = attributes(rng, quads, reference)
        out += [codec.pack(state, STAGE_STATE, BITS), codec.pack(beats, STAGE_QUAD, BITS)]
        left -= 1 + len(beats)
    return np.concatenate(out)


def draw(rng: np.random.Generator, params: TextureStageParams) -> tuple[np.ndarray, int]:
    """A state, and its reference."""
    state = np.zeros(1, dtype(STAGE_STATE))
    state["kind"] = StageKind.STATE
    state["interpolated"] = rng.integers(0, 2)
    state["attribute"] = rng.choice([0, 0, 1, 2, 15])
    state["op"] = rng.choice([*TextureOp]) if params.textured else TextureOp.NONE
    state["alpha_test"] = rng.choice([*Compare])
    for name in CHANNELS:
        state[f"constant_{name}"] = floats(rng, 1)
    state["alpha_reference"] = state["constant_a"] if rng.random() < 0.2 else floats(rng, 1)
    return state, int(state["alpha_reference"][0])


def floats(rng: np.random.Generator, count: int) -> np.ndarray:
    """Bits of float32: from 0 to 1 and about, near multiples of 1/65535, ends, any."""
    inside = rng.uniform(-0.1, 1.1, count).astype(np.float32)
    near = ((rng.integers(0, 1 << 17, count) / 2) / 65535).astype(np.float32)
    near_bits = near.view(np.uint32) + rng.integers(-1, 2, count).astype(np.uint32)
    arbitrary = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    special = rng.choice(np.array(SPECIAL, np.uint32), count)
    special |= rng.integers(0, 2, count, dtype=np.uint32) << 31
    kinds = [inside.view(np.uint32), near_bits, arbitrary, special]
    return np.choose(rng.integers(0, 4, count), kinds)


def attributes(rng: np.random.Generator, quads: int, reference: int) -> np.ndarray:
    """Attributes of quads, one after the other."""
    times = rng.choice([1, 1, 2, 4], quads)
    count = int(times.sum())
    out = np.zeros(count, dtype(STAGE_QUAD))
    for f in STAGE_QUAD:
        if f.bits == 32 and f.name[0] == "p":
            out[f.name] = floats(rng, count)
        else:
            out[f.name] = rng.integers(0, 1 << f.bits, count)
    for pixel in range(4):
        same = rng.random(count) < 0.1
        out[f"p{pixel}_3"][same] = reference
        for n in range(4):
            ends = rng.choice([0, 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF], count)
            own = out[f"t{pixel}_{n}"]
            out[f"t{pixel}_{n}"] = np.where(rng.random(count) < 0.3, ends, own)
    first = np.repeat(np.cumsum(times) - times, times)
    out["attribute"] = np.arange(count) - first
    out["end"] = np.arange(count) == first + np.repeat(times, times) - 1
    out["kind"] = StageKind.QUAD
    return out


def expected(rows: np.ndarray, _: TextureStageParams) -> np.ndarray:
    """Packed quads with colours of packed beats."""
    return codec.pack(shade(*parted(rows, STAGE_STATE, STAGE_QUAD)), SHADED_QUAD)


def describe(row: np.ndarray, _: TextureStageParams) -> str:
    """A quad with colours in words."""
    record = codec.unpack(row[None], SHADED_QUAD, dtype(SHADED_QUAD))[0]
    return ", ".join(f"{f.name} {int(record[f.name]):#x}" for f in SHADED_QUAD)


class TextureStageBench(StreamBench):
    """Bench with one stream in, and one out."""

    stem = "texture_stage"


# plan: texture-stage-5
@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def quads_get_colours(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = TextureStageBench(dut)
    await bench.run(requests(bench.rng, 200, bench.params), source, sink)
