# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.texture.filter.filter.Filter`."""

from dataclasses import replace

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.filter import BITS as UNIT_BITS
from fixfunc.models.texture.filter import SIGNED, filter_quads
from fixfunc.rtl.texture.filter.filter import Filter, FilterParams
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.filter import (
    CHANNELS,
    CORNERS,
    FILTER_STATE,
    FILTER_TAPS,
    FILTERED_QUAD,
    FilterKind,
    FilterOp,
    Unit,
)
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.states import parted

BITS = sum(f.bits for f in FILTER_TAPS)
ENDS = (0, 1, 127, 128, 254, 255)  # of fractions
ODD = (1, 1, 127, 255, 255)  # products of such fractions have all bits
# Two values of texels, as shares of the range and units beside it, and how many have the first: so
# that means are halfway between floats, just below a power of two, or next to nothing.
FEW = ((0, 0), (1, 0), 0.5), ((1, 0), (1, -1), 0.9), ((0, 0), (0, 1), 0.8)
# Of float32 that are compared, or pass: zeros, denormals, the least number, infinities, NaN.
WORDS = (0, 1, 0x7F, 0x80, 0x7F80, 0x7FC0, 0x8000, 0x8080, 0xBF80, 0xFF80, 0x3F80, 0xFFFF)

# Halves: zeros, denormals, the least and greatest numbers, infinities, NaN of either kind.
SPECIAL = (
    *(0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF),
    *(0x8000, 0x8001, 0x83FF, 0x8400, 0xBC00, 0xFBFF, 0xFC00, 0xFD55, 0xFFFF),
)


def requests(rng: np.random.Generator, count: int, params: FilterParams) -> np.ndarray:
    """Packed states, each with grids of quads; about as many beats."""
    out = []
    left = count
    while left > 0:
        state = draw(rng, params)
        beats = quads(rng, int(rng.integers(1, 20)), state, params)
        out += [codec.pack(state, FILTER_STATE, BITS), codec.pack(beats, FILTER_TAPS, BITS)]
        left -= 1 + len(beats)
    return np.concatenate(out)


def draw(rng: np.random.Generator, params: FilterParams) -> np.ndarray:
    """A state."""
    state = np.zeros(1, dtype(FILTER_STATE))
    state["kind"] = FilterKind.STATE
    state["op"] = rng.choice([FilterOp.MEAN, *FilterOp])
    state["component"] = rng.integers(0, 4)
    state["compares"] = rng.random() < 0.3
    state["function"] = rng.choice([*Compare])
    state["floats"] = params.floats & (rng.random() < 0.5)
    alike = rng.random() < 0.5
    if not alike and rng.random() < 0.5:
        state["op"] = FilterOp.GATHER  # of one channel, in that one's unit
    unit = rng.choice(params.units)
    integers = [unit for unit in params.units if unit not in (Unit.HALF, Unit.WORD)]
    if params.halves and rng.random() < 0.3:
        unit = Unit.HALF
    if params.words and rng.random() < 0.15:
        unit = Unit.WORD
    for name in CHANNELS:
        own = unit if alike or unit == Unit.HALF else rng.choice(integers)
        state[f"unit_{name}"] = own
    if unit == Unit.WORD:
        state["unit_r"] = Unit.WORD
        state["unit_g"] = rng.choice([Unit.WORD, Unit.UNORM16])
    state["compares"] &= unit not in (Unit.HALF, Unit.WORD)
    return state


def quads(
    rng: np.random.Generator, count: int, state: np.ndarray, params: FilterParams
) -> np.ndarray:
    """Grids of quads, one after the other."""
    samples = np.arange(1, 49 if params.footprints else 2)
    is_half = state["unit_r"][0] == Unit.HALF
    is_word = state["unit_r"][0] == Unit.WORD
    few = (None, *FEW)[rng.choice(4, p=[0.4, 0.2, 0.15, 0.25])]
    some, share = (ODD, 0.9) if few else (ENDS, 0.4)
    most = rng.choice([1, 1, 2, 4] if few else [1, 1, 1, 3, 7, 16, 16 if is_half else 48], count)
    numbers = np.array([[rng.choice(samples[samples <= n]) for _ in range(4)] for n in most])
    smooth = rng.random(count) < (0.6 if few else 0.3)  # between two levels
    if is_word:  # a point
        numbers[:], smooth[:] = 1, False
    times = numbers.max(1) << smooth
    beats = np.zeros(int(times.sum()), dtype(FILTER_TAPS))
    which = np.repeat(np.arange(count), times)
    place = np.arange(len(beats)) - np.repeat(np.cumsum(times) - times, times)
    for name in beats.dtype.names:
        beats[name] = texels(rng, state, name, len(beats), few) if name[0] == "t" else 0
    for pixel in range(4):
        own = numbers[which, pixel]
        level = np.where(rng.random(count) < share, rng.choice(some, count), _bytes(rng, count))
        level = np.where(smooth, level, 0)[which]
        fine = place % (1 + smooth[which]) == 0
        weight = np.where(fine, 256 - level, level)
        beats[f"weight{pixel}"] = np.where(place >> smooth[which] < own, weight, 0)
        beats[f"count{pixel}"] = own
        for axis in "uv":
            beats[f"{axis}{pixel}"] = np.where(
                rng.random(len(beats)) < share,
                rng.choice(some, len(beats)),
                _bytes(rng, len(beats)),
            )
        beats[f"reference{pixel}"] = _references(rng, beats, pixel)
        if is_half and params.corners:
            lacks = rng.random(len(beats)) < 0.2
            beats[f"missing{pixel}"] = np.where(lacks, 1 << rng.integers(0, 4, len(beats)), 0)
    _constant(rng, beats)
    beats["end"] = place == np.repeat(times, times) - 1
    beats["kind"] = FilterKind.TAPS
    return beats


def texels(
    rng: np.random.Generator, state: np.ndarray, name: str, count: int, few: tuple | None = None
) -> np.ndarray:
    """A channel of a texel, as its unit stores it, of FEW values or any; where texels are compared,
    anything.
    """
    unit = Unit(int(state[f"unit_{CHANNELS[int(name[-1])]}"][0]))
    if state["compares"][0]:
        return rng.choice(WORDS if state["floats"][0] else [0, 1, 0x7FFF, 0x8000, 0xFFFF], count)
    if unit == Unit.HALF:
        return _halves(rng, count)
    if state["unit_r"][0] == Unit.WORD:
        some = rng.choice(WORDS, count)
        return np.where(rng.random(count) < 0.5, some, rng.integers(0, 1 << 16, count))
    one = (1 << UNIT_BITS[unit]) - 1
    if few:
        first, second, share = few
        return np.where(rng.random(count) < share, *(a * one + b for a, b in (first, second)))
    least = -one if unit in SIGNED else 0
    ends = rng.choice([least, min(0, least + 1), 0, 1, one - 1, one], count)
    found = np.where(rng.random(count) < 0.3, ends, rng.integers(least, one + 1, count))
    return found & 0xFFFF


def _halves(rng, count):
    """Halves of any bits, of a few exponents, and those at the ends of their range."""
    kind = rng.choice(4, count, p=[0.3, 0.3, 0.3, 0.1])
    exponent = rng.integers(14, 17, count) << 10 | rng.integers(0, 2, count) << 15
    near = exponent | rng.integers(0, 1 << 10, count)
    least = rng.integers(0, 4, count) | rng.integers(0, 2, count) << 15
    any_bits = rng.integers(0, 1 << 16, count)
    return np.choose(kind, [any_bits, near, least, rng.choice(SPECIAL, count)])


def _bytes(rng, count):
    return rng.integers(0, 256, count)


def _references(rng, beats, pixel):
    """References, which are often a texel or beside it."""
    count = len(beats)
    red = np.zeros(count, np.int64)
    for corner in range(CORNERS):
        chosen = rng.random(count) < 0.5
        low, high = (beats[f"t{pixel}_{corner}_{n}"].astype(np.int64) for n in range(2))
        red = np.where(chosen, low | high << 16, red)
    near = red + rng.choice([-1, 0, 0, 1], count)
    return np.where(rng.random(count) < 0.8, near, rng.integers(0, 1 << 32, count)) & 0xFFFFFFFF


def _constant(rng, beats):
    """Some grids have four texels alike."""
    alike = rng.random(len(beats)) < 0.2
    for pixel in range(4):
        for corner in range(1, CORNERS):
            for n in range(len(CHANNELS)):
                own = beats[f"t{pixel}_{corner}_{n}"]
                beats[f"t{pixel}_{corner}_{n}"] = np.where(alike, beats[f"t{pixel}_0_{n}"], own)


def expected(rows: np.ndarray, _: FilterParams) -> np.ndarray:
    """Packed filtered texels of packed beats."""
    return codec.pack(filter_quads(*parted(rows, FILTER_STATE, FILTER_TAPS)), FILTERED_QUAD)


def describe(row: np.ndarray, _: FilterParams) -> str:
    """Filtered texels in words."""
    record = codec.unpack(row[None], FILTERED_QUAD, dtype(FILTERED_QUAD))[0]
    return ", ".join(f"{f.name} {int(record[f.name]):#x}" for f in FILTERED_QUAD)


class FilterBench(StreamBench):
    """Bench with one stream in, and one out."""

    stem = "filter"


# plan: filter-5
@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def quads_are_filtered(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = FilterBench(dut)
    await bench.run(requests(bench.rng, 150, bench.params), source, sink)


# plan: filter-3
@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_quad_takes_a_clock(dut: HierarchyObject) -> None:
    bench = FilterBench(dut)
    await bench.run(single(bench.rng, 100, bench.params))
    bench.beats_in = bench.beats_in[1:]
    bench.check_rate(Filter.latency)


def single(rng: np.random.Generator, count: int, params: FilterParams) -> np.ndarray:
    """A packed state, and quads of one grid a pixel."""
    state = draw(rng, replace(params, halves=False, words=False))
    beats = quads(rng, count, state, params)[:count]
    beats["end"] = 1
    for pixel in range(4):
        beats[f"weight{pixel}"] = 256
        beats[f"count{pixel}"] = 1
    return np.concatenate(
        [codec.pack(state, FILTER_STATE, BITS), codec.pack(beats, FILTER_TAPS, BITS)]
    )
