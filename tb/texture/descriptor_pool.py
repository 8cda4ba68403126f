# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.texture.descriptors.descriptor_pool.DescriptorPool`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import carried, dtype
from fixfunc.models.texture.descriptor_pool import DescriptorPool
from fixfunc.models.texture.texture_cache import block_bytes
from fixfunc.models.texture.unit.texture_rules import TextureRules
from fixfunc.rtl.texture.descriptors.descriptor_pool import CONFIGS, DescriptorPoolParams
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.cache import FORMAT, LAYER, LEVELS, LINE, LINE_NUMBER, PITCH
from fixfunc.spec.textures.cube import FACES
from fixfunc.spec.textures.descriptors import (
    DESCRIPTOR,
    POOL,
    POOL_PLACE,
    POOL_SELECT,
    REFUSED,
    STRIDE,
    DescriptorKind,
    Refusal,
)
from fixfunc.spec.textures.unit import (
    INSTRUCTION_STATE,
    LAST_CUBE,
    TextureKind,
)
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.reading import ReadingBench

SAMPLE = [f.name for f in INSTRUCTION_STATE]  # how an instruction samples
SIZE = 1 << 16  # bytes of memory
DESCRIPTORS = SIZE // STRIDE
LIMIT = 1 << 20  # bytes: levels mostly lie below it
LAYERS = 1 << LAYER
FORMATS = 64  # numbers of formats
MAY_BE_SILENT = ("refused",)


def bits(params: DescriptorPoolParams) -> int:
    """Of a packed beat."""
    return max(sum(f.bits for f in table) for table in (POOL_PLACE, POOL_SELECT, params.quad))


def unit_bits(params: DescriptorPoolParams) -> int:
    """Of a packed beat to the texture unit."""
    return max(sum(f.bits for f in table) for table in (params.state, params.unit_quad))


def requests(rng: np.random.Generator, count: int, params: DescriptorPoolParams) -> np.ndarray:
    """Packed beats: pools anywhere in memory, numbers mostly of a few, quads between them."""
    out = [_place(rng, params)]
    left = count - 1
    while left > 0:
        kind = rng.choice(["select", "quads", "place"], p=[0.55, 0.4, 0.05])
        if kind == "place":
            rows = _place(rng, params)
        elif kind == "select":
            sample = {name: rng.integers(0, 2) for name in SAMPLE}
            number = rng.choice([rng.integers(0, 4), rng.integers(0, POOL)], 1)
            rows = selected(number, params, **sample)
        else:
            rows = _quads(rng, int(rng.integers(1, 6)), params)
        out.append(rows)
        left -= len(rows)
    return np.concatenate(out)


def placed(
    base: int, count: int, limit: int, params: DescriptorPoolParams = CONFIGS["tiny"]
) -> np.ndarray:
    """A packed POOL."""
    values = {"kind": DescriptorKind.POOL, "base": base, "count": count, "limit": limit}
    return _packed(POOL_PLACE, 1, params, **values)


def selected(
    numbers: np.ndarray, params: DescriptorPoolParams = CONFIGS["tiny"], **sample: int
) -> np.ndarray:
    """Packed SELECTs; ``sample``: how the quads behind them are sampled."""
    values = {"kind": DescriptorKind.SELECT, "number": numbers} | sample
    return _packed(POOL_SELECT, len(numbers), params, **values)


def _place(rng, params):
    most = DESCRIPTORS - POOL  # nothing is read beyond memory
    base = rng.choice([0, most, rng.integers(0, most + 1)])
    limit = rng.choice([LIMIT // LINE, LIMIT // LINE // 4, 0], p=[0.7, 0.2, 0.1])
    count = rng.choice([0, 3, 8, POOL, 255], p=[0.05, 0.15, 0.2, 0.5, 0.1])
    return placed(base, count, limit, params)


def _quads(rng, count, params):
    values = {f.name: rng.integers(0, 1 << min(f.bits, 16), count) for f in params.quad}
    return _packed(params.quad, count, params, **(values | {"kind": DescriptorKind.QUAD}))


def _packed(table, beats, params, **values):
    records = np.zeros(beats, dtype(table))
    for name, value in values.items():
        records[name] = value
    return codec.pack(records, table, bits(params))


def memory(rows: np.ndarray, params: DescriptorPoolParams) -> np.ndarray:
    """Descriptors: mostly legal, and one of each rule that is broken; nothing between them."""
    rng = np.random.default_rng(len(rows))
    records = np.zeros(DESCRIPTORS, dtype(DESCRIPTOR))
    for f in DESCRIPTOR:
        low = -(1 << f.bits - 1) if f.signed else 0
        records[f.name] = rng.integers(low, low + (1 << f.bits), DESCRIPTORS)
    most = 1 << params.extent
    for name in ("width", "height"):
        sizes = rng.integers(1, most + 1, DESCRIPTORS)
        edges = rng.choice([1, most, most + 1, 0], DESCRIPTORS, p=[0.4, 0.5, 0.05, 0.05])
        records[name] = np.where(rng.random(DESCRIPTORS) < 0.5, sizes, edges)
    is_cube = rng.random(DESCRIPTORS) < (0.2 if params.cubes else 0.02)
    records["cube"] = is_cube
    square = is_cube & (rng.random(DESCRIPTORS) < 0.95)
    records["height"] = np.where(square, records["width"], records["height"])
    longest = np.maximum(records["width"], records["height"]).astype(np.int64)
    levels = np.frexp(np.maximum(longest, 1).astype(np.float64))[1] - 1
    more = rng.choice([-1, 0, 1], DESCRIPTORS, p=[0.5, 0.45, 0.05])
    records["last"] = np.clip(levels + more, 0, LEVELS - 1)
    known = [int(form) for form in params.formats]
    forms = np.where(
        rng.random(DESCRIPTORS) < 0.93,
        rng.choice(known, DESCRIPTORS),
        rng.integers(0, FORMATS, DESCRIPTORS),
    )
    records["extended"], records["format"] = np.divmod(forms, 1 << FORMAT)
    for name in ("mode_u", "mode_v"):
        records[name] = np.where(
            rng.random(DESCRIPTORS) < 0.96,
            rng.integers(0, len(Address), DESCRIPTORS),
            rng.integers(len(Address), 8, DESCRIPTORS),
        )
    for level in range(LEVELS):
        records[f"base{level}"] = rng.integers(0, 16, DESCRIPTORS)
    samples = rng.integers(0, params.anisotropy + 1, DESCRIPTORS)
    beyond = rng.integers(params.anisotropy + 1, 32, DESCRIPTORS)
    records["anisotropy"] = np.where(rng.random(DESCRIPTORS) < 0.97, samples, beyond)
    layers = rng.choice([0, 0, 0, 1, 5, LAYERS - 1], DESCRIPTORS) * params.layers
    cubes = rng.choice([0, 0, 0, 1, 5, LAST_CUBE, LAST_CUBE + 1], DESCRIPTORS) * params.layers
    layers = np.where(is_cube, cubes, layers)
    records["last_layer"] = np.where(rng.random(DESCRIPTORS) < 0.97, layers, 3)
    last = records["last_layer"].astype(np.int64)
    last = np.where(is_cube, FACES * last + FACES - 1, last)
    room = LIMIT // LINE // np.maximum(last, 1)
    distance = room * rng.choice([0.0, 0.2, 0.5, 0.9, 1.1], DESCRIPTORS)
    anything = rng.integers(0, 1 << LINE_NUMBER, DESCRIPTORS)
    records["distance"] = np.where(rng.random(DESCRIPTORS) < 0.97, distance, anything)
    points = rng.random(DESCRIPTORS) < 0.5
    for name in ("magnify", "minify", "smooth", "anisotropy"):
        records[name] = np.where(points, 0, records[name])
    put_surfaces(rng, records, params)
    put_rows(rng, records, params)
    data = codec.pack(records, DESCRIPTOR, STRIDE * 8)
    return np.ascontiguousarray(data).view(np.uint8).reshape(-1)


def put_surfaces(
    rng: np.random.Generator, records: np.ndarray, params: DescriptorPoolParams
) -> None:
    """Some descriptors are of coded surfaces, mostly such as there may be, near the limit."""
    count = len(records)
    records["coded"] = chosen = rng.random(count) < (0.3 if params.surfaces else 0.02)
    known = [int(form) for form in params.surfaces or params.formats]
    forms = rng.choice(known, count)
    for name, value in zip(("extended", "format"), np.divmod(forms, 1 << FORMAT), strict=True):
        records[name] = np.where(chosen & (rng.random(count) < 0.95), value, records[name])
    for name in ("last", "last_layer", "cube"):
        records[name] = np.where(chosen & (rng.random(count) < 0.97), 0, records[name])
    rows = -(-records["height"].astype(np.int64) // 8)
    columns = -(-records["width"].astype(np.int64) // 8)
    room = LIMIT // LINE // 4
    pitch = 4 * rng.choice([columns, columns + 1, room // np.maximum(rows, 1)], 1)[0]
    part = rng.random(count) < 0.03  # of a tile
    records["distance"] = np.where(chosen, pitch + part, records["distance"])
    last = LIMIT // LINE - (np.maximum(rows, 1) - 1) * pitch - 4 * columns
    near = np.maximum(last + rng.choice([-8, -4, 0, 0, 4], count), 0)
    base = np.where(rng.random(count) < 0.5, near, rng.integers(0, 16, count) * 4)
    records["base0"] = np.where(chosen, base + (rng.random(count) < 0.03), records["base0"])
    modes = -(-((np.maximum(rows, 1) - 1) * pitch // 4 + columns) // 64)
    table = np.maximum(LIMIT // 32 - modes + rng.choice([-1, 0, 0, 1], count), 0)
    some = rng.integers(0, LIMIT // 64, count)
    records["mode_table"] = np.where(rng.random(count) < 0.6, table, some)


def put_rows(rng: np.random.Generator, records: np.ndarray, params: DescriptorPoolParams) -> None:
    """Some descriptors are of rows of texels, mostly such as there may be, near the limit."""
    count = len(records)
    records["linear"] = chosen = rng.random(count) < (0.3 if params.rows else 0.02)
    known = [int(form) for form in params.rows or params.formats]
    forms = rng.choice(known, count)
    for name, value in zip(("extended", "format"), np.divmod(forms, 1 << FORMAT), strict=True):
        records[name] = np.where(chosen & (rng.random(count) < 0.95), value, records[name])
    for name in ("last", "last_layer", "cube", "coded"):
        records[name] = np.where(chosen & (rng.random(count) < 0.97), 0, records[name])
    rows = (records["height"].astype(np.int64) + 3) // 4 * 4
    room = LIMIT // LINE
    pitch = rng.choice([0, 1, 2, 7, (1 << PITCH) - 1, 1 << PITCH], count)
    pitch = np.where(rng.random(count) < 0.5, np.minimum(pitch, room // (rows + 1)), pitch)
    records["distance"] = np.where(chosen, pitch, records["distance"])
    size = np.array([block_bytes(int(form)) // 16 for form in forms])
    lines = -(-records["width"].astype(np.int64) * size // LINE)
    last = room - (np.maximum(rows, 1) - 1) * pitch - lines
    near = np.maximum(last + rng.choice([-1, 0, 0, 1], count), 0)
    base = np.where(rng.random(count) < 0.6, near, rng.integers(0, 16, count))
    records["base0"] = np.where(chosen, base, records["base0"])


def unreadable(rows: np.ndarray) -> int | None:
    """A byte that cannot be read, of an early descriptor; mostly there is one."""
    rng = np.random.default_rng(len(rows))
    return None if rng.random() < 0.2 else int(rng.integers(0, 4 * STRIDE))


def pool_of(
    data: np.ndarray, params: DescriptorPoolParams, unreadable: int | None = None
) -> DescriptorPool:
    """The golden pool of a configuration, over memory."""
    more = params.layers, params.cubes, bool(params.surfaces), bool(params.rows), params.points
    rules = TextureRules(params.formats, params.extent, params.anisotropy, *more)
    return DescriptorPool(data, rules, params.size, unreadable)


def expected(rows: np.ndarray, params: DescriptorPoolParams) -> dict[str, np.ndarray]:
    """Packed states and quads, refusals, and memory, which stays as it is."""
    data = memory(rows, params)
    pool = pool_of(data, params, unreadable(rows))
    kinds = rows[:, 0] & np.uint64(3)
    size = unit_bits(params)
    out = np.zeros((len(rows), codec.words(size)), np.uint64)
    is_quad = kinds == DescriptorKind.QUAD
    quads = codec.unpack(rows[is_quad], params.quad, dtype(params.quad))
    quads = carried(quads, params.unit_quad)
    quads["kind"] = TextureKind.QUAD
    out[is_quad] = codec.pack(quads, params.unit_quad, size)
    refused = []
    for n in np.flatnonzero(~is_quad):
        if kinds[n] == DescriptorKind.SELECT:
            select = codec.unpack(rows[n : n + 1], POOL_SELECT, dtype(POOL_SELECT))
            texture, refusal = pool.select(int(select["number"][0]))
            state = carried(texture.reshape(1), params.state)
            for name in SAMPLE:
                state[name] = select[name]
            out[n] = codec.pack(state, params.state, size)[0]
            if refusal is not None:
                refused.append((select["number"][0], refusal))
        else:
            place = codec.unpack(rows[n : n + 1], POOL_PLACE, dtype(POOL_PLACE))[0]
            pool.place(*(int(place[name]) for name in ("base", "count", "limit")))
    return {
        "o": out[kinds != DescriptorKind.POOL],
        "refused": codec.pack(np.array(refused, dtype(REFUSED)), REFUSED),
        "memory": data.view(np.uint64).reshape(-1, TRANSFER // 64),
    }


def describe(row: np.ndarray, params: DescriptorPoolParams) -> str:
    """A state or a quad in words."""
    table = params.unit_quad if int(row[0]) & 1 else params.state
    record = codec.unpack(row[None], table, dtype(table))[0]
    return ", ".join(f"{f.name} {int(record[f.name])}" for f in table)


class DescriptorPoolBench(ReadingBench):
    """Bench with descriptors in the memory behind the port."""

    stem = "descriptor_pool"
    size = SIZE
    ports = ("o", "refused")


# plan: descriptor-pool-2
@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def numbers_become_states(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = DescriptorPoolBench(dut)
    await bench.read(requests(bench.rng, 120, bench.params), source, sink)


# plan: descriptor-pool-4
@cocotb.test(timeout_time=3, timeout_unit="ms")
async def a_descriptor_on_chip_costs_nothing(dut: HierarchyObject) -> None:
    """SELECTs of a descriptor that is known, and quads between them: a beat a clock."""
    bench = DescriptorPoolBench(dut)
    rows = requests(bench.rng, 1, bench.params)
    legal = first_legal(bench.params)
    params = bench.params
    again = [selected(np.full(3, legal), params), _quads(bench.rng, 2, params)]
    rows = np.concatenate([placed(0, POOL, LIMIT // LINE, params), *again * 10])
    await bench.read(rows, "full", "full")
    clocks = [clock for _, clock in bench.beats_out]
    assert clocks[-1] - clocks[-40] == 39
    assert Refusal.STATE not in bench.out["refused"]


def first_legal(params: DescriptorPoolParams) -> int:
    """Number of a legal descriptor of memory beside as many rows as the rate's test has."""
    rows = np.zeros((51, 1), np.uint64)
    pool = pool_of(memory(rows, params), params, unreadable(rows))
    pool.place(0, params.size, LIMIT // LINE)
    return next(n for n in range(params.size) if pool.select(n).refusal is None)
