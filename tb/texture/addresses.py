# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.texture.addresses.addresses.Addresses`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.addresses import address_quads
from fixfunc.rtl.texture.addresses.addresses import Addresses, AddressesParams
from fixfunc.spec.textures.addresses import (
    ADDRESS_QUAD,
    ADDRESS_STATE,
    ADDRESSED_QUAD,
    Address,
    AddressKind,
)
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.states import parted

BITS = sum(f.bits for f in ADDRESS_QUAD)
FAR = 1 << 24  # 2^16 texels, in 1/256
REPEATING = Address.WRAP, Address.MIRROR


def requests(rng: np.random.Generator, count: int, params: AddressesParams) -> np.ndarray:
    """Packed states, each with quads; about as many beats."""
    out = []
    left = count
    while left > 0:
        state = draw(rng, params)
        beats = quads(rng, int(rng.integers(1, 30)), state)
        out += [codec.pack(state, ADDRESS_STATE, BITS), codec.pack(beats, ADDRESS_QUAD, BITS)]
        left -= 1 + len(beats)
    return np.concatenate(out)


def draw(rng: np.random.Generator, params: AddressesParams) -> np.ndarray:
    """A state."""
    state = np.zeros(1, dtype(ADDRESS_STATE))
    state["kind"] = AddressKind.STATE
    most = 1 << params.extent
    for name in ("width", "height"):
        few, any_size = rng.integers(1, 8), rng.integers(1, most + 1)
        power = 1 << rng.integers(0, params.extent + 1)
        state[name] = rng.choice([1, few, any_size, any_size, power, most - 1, most])
    modes = [Address.BORDER] if rng.random() < 0.2 else [*Address]
    for axis in "uv":
        state[f"mode_{axis}"] = rng.choice(modes)
        state[f"offset_{axis}"] = rng.choice([0, -32, 31, rng.integers(-32, 32)])
    state["gathers"] = rng.random() < 0.2
    return state


def quads(rng: np.random.Generator, count: int, state: np.ndarray) -> np.ndarray:
    """Quads of a state."""
    beats = np.zeros(count, dtype(ADDRESS_QUAD))
    beats["kind"] = AddressKind.QUAD
    for pixel in range(4):
        level = np.where(rng.random(count) < 0.5, 0, rng.integers(0, 16, count))
        beats[f"level{pixel}"] = level
        beats[f"smooth{pixel}"] = rng.random(count) < 0.7
        for place, size, axis in (("x", "width", "u"), ("y", "height", "v")):
            extent = np.maximum(state[size].astype(np.int64) >> level, 1) << 8
            repeats = state[f"mode_{axis}"][0] in REPEATING
            beats[f"{place}{pixel}"] = places(rng, extent, repeats)
    return beats


def places(rng: np.random.Generator, extent: np.ndarray, repeats: bool) -> np.ndarray:
    """Places along an axis: near its edges and its multiples, on it, and as far as they may be."""
    count = len(extent)
    near = rng.integers(-2, 3, count) * extent + rng.integers(-3, 4, count) * 128
    near += rng.integers(-1, 2, count)
    most = np.minimum(2 * extent, FAR)
    kinds = [
        near,
        rng.integers(0, extent),
        rng.integers(-most, most),
        rng.choice([-1, 1], count) * (most if repeats else FAR),
        near if repeats else rng.integers(-FAR, FAR, count),
    ]
    limit = most if repeats else np.full(count, FAR)
    chosen = np.choose(rng.integers(0, len(kinds), count), kinds)
    return np.clip(chosen, -limit, np.minimum(limit, FAR - 1))


def expected(rows: np.ndarray, _: AddressesParams) -> np.ndarray:
    """Packed texels of packed beats."""
    return codec.pack(address_quads(*parted(rows, ADDRESS_STATE, ADDRESS_QUAD)), ADDRESSED_QUAD)


def describe(row: np.ndarray, _: AddressesParams) -> str:
    """Texels of a quad in words."""
    record = codec.unpack(row[None], ADDRESSED_QUAD, dtype(ADDRESSED_QUAD))[0]
    return ", ".join(f"{f.name} {int(record[f.name])}" for f in ADDRESSED_QUAD)


class AddressesBench(StreamBench):
    """Bench with one stream in, and one out."""

    stem = "addresses"


# plan: addresses-4
@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def quads_are_addressed(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = AddressesBench(dut)
    await bench.run(requests(bench.rng, 200, bench.params), source, sink)


# plan: addresses-3
@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_quad_takes_a_clock(dut: HierarchyObject) -> None:
    bench = AddressesBench(dut)
    state = draw(bench.rng, bench.params)
    beats = quads(bench.rng, 100, state)
    packed = [codec.pack(state, ADDRESS_STATE, BITS), codec.pack(beats, ADDRESS_QUAD, BITS)]
    await bench.run(np.concatenate(packed))
    bench.beats_in = bench.beats_in[1:]
    bench.check_rate(Addresses.latency)
