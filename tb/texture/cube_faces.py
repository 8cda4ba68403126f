# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.texture.cube.cube_faces.CubeFaces`."""

from itertools import product

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.cube_faces import faces_of_quads
from fixfunc.rtl.texture.cube.cube_faces import CubeFaces, CubeFacesParams
from fixfunc.spec.textures.cube import CUBE_STATE, FACED_QUAD, CubeKind
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.states import parted

SPECIAL = (0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800001)


def bits(params: CubeFacesParams) -> int:
    """Of a packed beat."""
    return sum(f.bits for f in params.quad)


def requests(rng: np.random.Generator, count: int, params: CubeFacesParams) -> np.ndarray:
    """Packed states, each with quads; about as many beats."""
    out = []
    left = count
    while left > 0:
        state = np.zeros(1, dtype(CUBE_STATE))
        state["coarse"] = rng.integers(0, 2)
        state["explicit_gradients"] = rng.integers(0, 2)
        beats = quads(rng, int(rng.integers(1, 30)), params)
        out.append(packed(params, state, beats))
        left -= 1 + len(beats)
    return np.concatenate(out)


def packed(params: CubeFacesParams, state: np.ndarray, beats: np.ndarray) -> np.ndarray:
    """A packed state, and quads behind it."""
    size = bits(params)
    return np.concatenate(
        [codec.pack(state, CUBE_STATE, size), codec.pack(beats, params.quad, size)]
    )


def quads(rng: np.random.Generator, count: int, params: CubeFacesParams) -> np.ndarray:
    """Quads of :func:`directions`."""
    beats = np.zeros(count, dtype(params.quad))
    beats["kind"] = CubeKind.QUAD
    found = directions(rng, count, 64).view(np.uint32)
    for pixel in range(4):
        for axis, name in enumerate("uvw"):
            beats[f"{name}{pixel}"] = found[:, pixel, axis]
    if params.gradients:
        bring_gradients(rng, beats, np.array([64, 64, 64]))
    return beats


def bring_gradients(rng: np.random.Generator, beats: np.ndarray, size: np.ndarray) -> None:
    """Gradients of some texels of a size by axis, which pixels of a quad share or do not; of none
    along an axis, special ones, and any bits.
    """
    count = len(beats)
    names = [name for name in "uvw" if f"across_{name}0" in beats.dtype.names]
    shape = 2, len(names), count
    slopes = rng.normal(0, 1, shape) * np.exp2(rng.uniform(-4, 4, shape))
    slopes *= (rng.random(shape) < 0.8) / size[None, : len(names), None]
    for pixel in range(4):
        own = slopes * (1 + rng.normal(0, 1, shape) * (rng.random(count) < 0.5))
        found = own.astype(np.float32).view(np.uint32)
        special = rng.choice(np.array(SPECIAL, np.uint32), shape)
        special |= rng.integers(0, 2, shape, dtype=np.uint32) << 31
        anything = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
        found = np.choose(rng.choice(3, shape, p=(0.96, 0.02, 0.02)), [found, special, anything])
        for way, n in product(range(2), range(len(names))):
            beats[f"{('across', 'down')[way]}_{names[n]}{pixel}"] = found[way, n]


def directions(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    """Directions of quads, float32 of shape (n, 4, 3): anywhere, at edges and corners of faces of
    so many texels, with ties, of any length, and some bits that are anything.
    """
    middle = rng.uniform(-1, 1, (count, 1, 3))
    # At an edge two components are nearly as long, at a corner all three.
    kind = rng.choice(4, count, p=(0.3, 0.3, 0.3, 0.1))
    signs = rng.choice([-1.0, 1.0], (count, 1, 3))
    beside = rng.choice([0, 0, 0.3, 1, 4], (count, 1, 3)) / size * rng.uniform(-1, 1, (count, 1, 3))
    ends = signs * (1 + beside)
    free = rng.integers(0, 3, count)
    for axis in range(3):
        at_edge = (kind == 2) | ((kind == 1) & (free != axis))
        middle[:, :, axis] = np.where(at_edge[:, None], ends[:, :, axis], middle[:, :, axis])
    step = rng.normal(0, 1, (count, 2, 3)) * np.exp2(rng.uniform(-12, 1, (count, 1, 1)))
    step *= rng.random((count, 2, 3)) < 0.8
    x, y = np.arange(4) & 1, np.arange(4) >> 1
    place = middle + step[:, :1] * x[None, :, None] + step[:, 1:] * y[None, :, None]
    ties = rng.choice([-1.0, 1.0, 0.5, 0.0, -0.0], (count, 4, 3))
    place = np.where((kind == 3)[:, None, None], ties, place)
    place *= np.exp2(np.where(rng.random(count) < 0.3, rng.integers(-60, 60, count), 0))[
        :, None, None
    ]
    found = place.astype(np.float32).view(np.uint32)
    special = rng.choice(np.array(SPECIAL, np.uint32), found.shape)
    special |= rng.integers(0, 2, found.shape, dtype=np.uint32) << 31
    anything = rng.integers(0, 1 << 32, found.shape, dtype=np.uint32)
    kinds = rng.choice(3, found.shape, p=(0.96, 0.02, 0.02))
    return np.choose(kinds, [found, special, anything]).view(np.float32)


def expected(rows: np.ndarray, params: CubeFacesParams) -> np.ndarray:
    """Packed faces of packed beats."""
    return codec.pack(faces_of_quads(*parted(rows, CUBE_STATE, params.quad)), FACED_QUAD)


def describe(row: np.ndarray, _: CubeFacesParams) -> str:
    """Faces of a quad in words."""
    record = codec.unpack(row[None], FACED_QUAD, dtype(FACED_QUAD))[0]
    return ", ".join(f"{f.name} {int(record[f.name])}" for f in FACED_QUAD)


class CubeFacesBench(StreamBench):
    """Bench with one stream in, and one out."""

    stem = "cube_faces"


# plan: cube-faces-3
@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def quads_get_faces(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = CubeFacesBench(dut)
    await bench.run(requests(bench.rng, 100, bench.params), source, sink)


# plan: cube-faces-4
@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_quad_takes_four_clocks(dut: HierarchyObject) -> None:
    bench = CubeFacesBench(dut)
    state = np.zeros(1, dtype(CUBE_STATE))
    await bench.run(packed(bench.params, state, quads(bench.rng, 50, bench.params)))
    clocks = [clock for _, clock in bench.beats_out]
    assert np.diff(clocks).tolist() == [4] * 49
    # A quad is taken in its last clock.
    assert clocks[0] - bench.beats_in[1][1] == CubeFaces.latency
