# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.pixel.interpolator.interpolator.Interpolator`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.pixel.attribute_quads import Beats, interpolate
from fixfunc.rtl.pixel.interpolator.interpolator import InterpolatorParams
from fixfunc.spec.pixels.interpolation import (
    ATTRIBUTE,
    COMPONENTS,
    CORNERS,
    QUAD_TO_SHADE,
    How,
    InterpolatorKind,
    Where,
    attribute_quad,
)
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES

TABLES = (CORNERS, ATTRIBUTE, QUAD_TO_SHADE)
BITS = max(sum(f.bits for f in table) for table in TABLES)


def requests(rng: np.random.Generator, count: int, params: InterpolatorParams) -> np.ndarray:
    """Packed triangles with attributes and quads, about as many beats."""
    out = []
    left = count
    while left > 0:
        corners = triangle(rng)
        if params.inner:
            ask_inner(rng.spawn(1)[0], corners)
        attributes = attributes_of(rng, corners, int(rng.integers(0, params.attributes + 1)))
        some = quads(rng, corners, int(rng.choice([0, 1, 1, 2, 3, 12])))
        for table, records in zip(TABLES, (corners, attributes, some), strict=True):
            out.append(codec.pack(records, table, BITS))
        left -= 1 + len(attributes) + len(some)
    return np.concatenate(out)


def triangle(rng: np.random.Generator) -> np.ndarray:
    """Corners of a triangle: of any size, without area, or a sliver; near and far."""
    out = np.zeros(1, dtype(CORNERS))
    size = int(rng.choice([2, 64, 256, 4096, 1 << 18, 1 << 22]))
    base = rng.integers(0, 1 << 19, 2)
    for k in range(3):
        for axis, start in zip("xy", base, strict=True):
            place = start + rng.integers(-size, size + 1)
            out[f"{axis}{k}"] = np.clip(place, -(1 << 23), (1 << 23) - 1)
    kind = rng.integers(0, 12)
    if kind == 0:
        out["x2"], out["y2"] = out["x1"], out["y1"]
    elif kind == 1:  # as far as corners go
        for k in range(3):
            for axis in "xy":
                out[f"{axis}{k}"] = rng.choice([-(1 << 23), (1 << 23) - 1, 0])
    ratio = rng.choice([0, 1, 3, 8, 40])
    for k in range(3):
        exponent = np.clip(127 + rng.integers(-ratio, ratio + 1), 1, 254)
        out[f"rhw{k}"] = exponent << 23 | _mantissa(rng)
    if rng.random() < 0.05:
        out["rhw0"] = 0
    out["cut"] = rng.random() < 0.3
    share = rng.dirichlet((0.5, 0.5, 0.5), 3)
    share = np.where(rng.random((3, 1)) < 0.4, np.eye(3)[rng.integers(0, 3, 3)], share)
    for k in range(3):
        out[f"u{k}"], out[f"v{k}"] = np.rint(share[k, 1:] * (1 << 24))
    out["linear"], out["perspective"] = rng.permutation([1, rng.integers(0, 2)])
    out["sample_mask"] = rng.choice([255, rng.integers(0, 256)])
    out["kind"] = InterpolatorKind.CORNERS
    return out


def ask_inner(rng: np.random.Generator, corners: np.ndarray) -> None:
    """Most triangles ask for inner coverage; edges of some lie along pixels, and just beside."""
    corners["conservative"] = rng.random() < 0.8
    if rng.random() < 0.4:
        across, down = rng.permutation(3)[:2]
        corners[f"x{across}"], corners[f"y{down}"] = corners["x0"], corners["y0"]
        beside = rng.integers(-2, 3, 2)
        for k in range(3):
            for axis, units in zip("xy", beside, strict=True):
                place = corners[f"{axis}{k}"] // 256 * 256 + units
                corners[f"{axis}{k}"] = np.clip(place, -(1 << 23), (1 << 23) - 1)


def _mantissa(rng):
    """A fraction of a float32, of which the ends are as likely as all the rest."""
    return int(rng.choice([0, (1 << 23) - 1, rng.integers(0, 1 << 23)]))


def attributes_of(rng: np.random.Generator, corners: np.ndarray, count: int) -> np.ndarray:
    """Attributes of a triangle, which are as it says."""
    out = np.zeros(count, dtype(ATTRIBUTE))
    hows = [How.CONSTANT]
    hows += [How.LINEAR] * int(corners["linear"][0])
    hows += [How.PERSPECTIVE] * int(corners["perspective"][0])
    out["how"] = rng.choice(hows, count)
    out["where"] = rng.choice([*Where], count)
    for name in COMPONENTS:
        for n in range(count):
            kind = rng.integers(0, 8)
            middle = int(rng.choice([127, 127, 3, 252]))
            for k in range(3):
                exponent = np.clip(middle + rng.integers(-3, 4), 0, 255)
                if kind == 0:
                    exponent = rng.choice([0, 1, 127, 254, 255])
                elif kind == 1:
                    exponent = rng.integers(0, 256)
                sign = int(rng.integers(0, 2))
                out[f"{name}{k}"][n] = sign << 31 | int(exponent) << 23 | _mantissa(rng)
            if kind == 2:
                out[f"{name}1"][n] = out[f"{name}2"][n] = out[f"{name}0"][n]
    out["kind"] = InterpolatorKind.ATTRIBUTE
    return out


def quads(rng: np.random.Generator, corners: np.ndarray, count: int) -> np.ndarray:
    """Quads near a triangle, or anywhere."""
    out = np.zeros(count, dtype(QUAD_TO_SHADE))
    for f in QUAD_TO_SHADE:
        out[f.name] = rng.integers(0, 1 << f.bits, count, dtype=np.uint64)
    share = rng.dirichlet((0.6, 0.6, 0.6), count)
    near = rng.random(count) < 0.85
    for axis in "xy":
        place = sum(share[:, k] * corners[f"{axis}{k}"] for k in range(3)) / 256
        place = np.rint(place + rng.integers(-1, 2, count)).astype(np.int64)
        out[axis] = np.where(near, np.clip(place, 0, (1 << 14) - 1), out[axis]) & ~1
    samples = out["samples"].astype(np.int64)
    bits = rng.integers(0, 1 << 32, count)
    whole = (1 << (1 << samples)) - 1
    covered = np.zeros(count, np.int64)
    for pixel in range(4):
        own = np.choose(rng.integers(0, 3, count), [bits >> 8 * pixel & 255, 255, 0]) & whole
        covered |= own << 8 * pixel
    out["covered"] = covered
    out["sample"] = np.where(out["by_sample"], out["sample"] % (1 << samples), 0)
    out["kind"] = InterpolatorKind.QUAD
    return out


def beats_of(rows: np.ndarray) -> Beats:
    """Packed beats by kind."""
    kind = rows[:, 0] & np.uint64(3)
    triangle = np.cumsum(kind == InterpolatorKind.CORNERS) - 1
    corners, attributes, some = (
        codec.unpack(rows[kind == number], table, dtype(table))
        for number, table in zip(InterpolatorKind, TABLES, strict=True)
    )
    attribute_of, quad_of = (
        triangle[kind == number] for number in (InterpolatorKind.ATTRIBUTE, InterpolatorKind.QUAD)
    )
    return Beats(corners, attributes, attribute_of, some, quad_of)


def expected(rows: np.ndarray, params: InterpolatorParams) -> np.ndarray:
    """Packed quads with attributes of packed beats."""
    found = interpolate(beats_of(rows), params.components)
    return codec.pack(found, attribute_quad(params.components))


def describe(row: np.ndarray, params: InterpolatorParams) -> str:
    """A quad with an attribute in words."""
    table = attribute_quad(params.components)
    record = codec.unpack(row[None], table, dtype(table))[0]
    return ", ".join(f"{f.name} {int(record[f.name]):#x}" for f in table)


class InterpolatorBench(StreamBench):
    """Bench with one stream in, and one out."""

    stem = "interpolator"


# plan: interpolator-10
@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def quads_get_attributes(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = InterpolatorBench(dut)
    await bench.run(requests(bench.rng, 120, bench.params), source, sink)
