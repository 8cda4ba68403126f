# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.output.colour_write.ColourWrite`: quads, and bytes of memory."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge

from fixfunc.cosim import codec
from fixfunc.models.depth.depth_cache import CacheShape
from fixfunc.models.memory.contract import StageContract
from fixfunc.models.memory.counters import counter_record
from fixfunc.models.output.colour_write import ColourPlanes, constant_of
from fixfunc.models.output.output_merger import Numbers
from fixfunc.models.payload import carried, dtype
from fixfunc.models.pixel.quads import quads_of
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.state import SECOND_FACTORS
from fixfunc.rtl.output.colour_write import ColourWriteParams
from fixfunc.spec import payloads
from fixfunc.spec.colours import quads
from fixfunc.spec.memory import caching
from fixfunc.spec.state import BlendFactor, BlendOp, Kind
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.depth import depth_test
from fixfunc.tb.output import colour_planes, plane_formats
from fixfunc.tb.output.shaded_write import FRACTION_BITS, PLANE_BITS, Harness, of_planes

__all__ = ["Harness"]

PLACES = 3
PLACE = 1 << 18
LARGEST = 1 << 24  # bytes of the largest plane of a bench, which lies beyond the places


def shade(tiles: np.ndarray, state: np.void, edge: int) -> np.ndarray:
    """The same colours: uint32, shape (n, edge, edge)."""
    n = np.arange(edge**2)
    x = tiles["x"].astype(np.int64)[:, None]
    y = tiles["y"].astype(np.int64)[:, None]
    slot = tiles["slot"].astype(np.int64)[:, None]
    red = (x % 32 * 8 + n) & 255
    green = (y ^ slot >> 4) & 255
    blue = (~x ^ n) & 255
    alpha = (slot ^ int(state["flat_colour"]) & n) & 255
    return (red | green << 8 | blue << 16 | alpha << 24).astype(np.uint32).reshape(-1, edge, edge)


def fractions(colours: np.ndarray) -> np.ndarray:
    """What the same shader says that its colours were rounded by: uint32."""
    return (colours << np.uint32(13) | colours >> np.uint32(19)) ^ np.uint32(FRACTION_BITS)


def survivors(tiles: np.ndarray, edge: int) -> np.ndarray:
    """Samples that the same shader keeps: bool, shape (n, edge, edge)."""
    n = np.arange(edge**2)
    slot = tiles["slot"].astype(np.int64)[:, None] >> n % 12
    x = tiles["x"].astype(np.int64)[:, None] >> n % 2
    return (~(slot & ~x) & 1).astype(bool).reshape(-1, edge, edge)


def memory(rows: np.ndarray, params: ColourWriteParams) -> np.ndarray:
    """What lies behind the port at first: the places, or as much as a large plane needs."""
    clears = codec.unpack(rows[rows[:, 0] & 3 == Kind.CLEAR], payloads.CLEAR, dtype(payloads.CLEAR))
    bases = clears["colour_base"][clears["colour"] == 1]
    last = int(bases.max(initial=0))
    size = params.planes * PLACES * PLACE
    size = size if last < size else last + LARGEST
    return np.random.default_rng(len(rows)).integers(0, 256, size, np.uint8)


def requests(rng: np.random.Generator, count: int, params: ColourWriteParams) -> np.ndarray:
    """Targets, each behind a clear; draws of tiles of which a part passes.

    Clears and fences in between.
    """
    rows = depth_test.requests(rng, count, params.obeyed)
    own = {"formats": params.formats, "floats": params.floats}
    mixes = partial(_mixes, second=params.second, **own)
    kind = rows[:, 0] & 3
    table, tested = payloads.tile(params.edge), payloads.tested(params.edge)
    for chosen, fields, change in (
        (Kind.STATE, payloads.DRAW_STATE, mixes),
        (Kind.CLEAR, payloads.CLEAR, _somewhere),
        (Kind.FENCE, payloads.FENCE, _flush),
    ):
        records = codec.unpack(rows[kind == chosen], fields, dtype(fields))
        change(rng, records)
        rows[kind == chosen] = codec.pack(records, fields, WIDTH)
    tiles = carried(codec.unpack(rows[kind == Kind.WORK], table, dtype(table)), tested)
    tiles["covered"] = tiles["mask"]
    tiles["slot"] = rng.choice([0, 0xFF, 0x80], len(tiles)) ^ rng.integers(
        0, 1 << 12, len(tiles)
    ) * rng.integers(0, 2, len(tiles))
    sparse = rng.random(len(tiles)) < 0.3
    tiles["mask"] = np.where(
        sparse, tiles["mask"] & rng.integers(0, 1 << 63, len(tiles), np.uint64), tiles["mask"]
    )
    tiles["mask"][rng.random(len(tiles)) < 0.1] = 0
    rows[kind == Kind.WORK] = codec.pack(tiles, tested, WIDTH)
    if params.planes > 1:
        others = partial(_mixes, second=False, **own)
        rows = colour_planes.spread(rng, rows, params.planes, PLACES, PLACE, others)
    return np.concatenate(
        [rows, scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1, sequence=0xE)]
    )


def _mixes(rng, states, formats, second, floats):
    states["blend_enable"] = rng.integers(0, 2, len(states))
    states["logic_op_enable"] = rng.random(len(states)) < 0.2
    known = rng.random(len(states)) < 0.95  # the others blend as noise says, or are refused
    for field in payloads.BLEND_STATE:
        values = blend_values(rng, field.name, len(states), second)
        if values is not None:
            states[field.name] = np.where(known, values, states[field.name])
    states["flat_colour"] = rng.integers(0, 1 << 32, len(states))
    states["colour_write"] = np.where(
        rng.random(len(states)) < 0.6, 15, rng.integers(0, 16, len(states))
    )
    states["early_write"] = rng.random(len(states)) < 0.6
    plane_formats.choose(rng, states, formats, floats=floats)


def blend_values(
    rng: np.random.Generator, name: str, count: int, second: bool = False
) -> np.ndarray | None:
    """Values of a field of ``BLEND_STATE`` that there are; None of one that may have any.

    Half of them mix colours by their alpha. ``second``: shaders give two colours.
    """
    if name.startswith(("src", "dest")):
        usual = BlendFactor.SRC_ALPHA if name.startswith("src") else BlendFactor.INV_SRC_ALPHA
        known = [factor for factor in BlendFactor if second or factor not in SECOND_FACTORS]
        return np.where(rng.random(count) < 0.3, usual, rng.choice(known, count))
    if name.startswith("blend_op"):
        return np.where(rng.random(count) < 0.5, BlendOp.ADD, rng.choice(list(BlendOp), count))
    return None


def _somewhere(rng, clears):
    clears["colour"] = clears["depth"] | (rng.random(len(clears)) < 0.5)
    noise = rng.integers(0, 1 << 32, len(clears)) * rng.integers(0, 2, len(clears))
    clears["colour_value"] = rng.choice([0, 0xFFFFFFFF, 0x80402010], len(clears)) ^ noise
    clears["colour_base"] = rng.integers(0, PLACES, len(clears)) * PLACE
    constants = np.array([depths.blend_constant(rng) for _ in clears]).reshape(-1, 4)
    for field, values in zip(payloads.BLEND_CONSTANT, constants.T, strict=True):
        clears[field.name] = np.ascontiguousarray(values).view(np.uint32)


def constant_beat(rng: np.random.Generator, constant: bool = True) -> np.ndarray:
    """A packed beat that brings a blend constant, or does not, and clears nothing."""
    values = depths.blend_constant(rng).view(np.uint32)
    given = {f.name: value for f, value in zip(payloads.BLEND_CONSTANT, values, strict=True)}
    return scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, constant=constant, **given)


def _flush(rng, fences):
    fences["flush"] = rng.random(len(fences)) < 0.3


class Reference:
    """Golden colours behind a stream of beats."""

    def __init__(
        self,
        params: ColourWriteParams,
        data: np.ndarray,
        shade: Callable[[np.ndarray, np.void, int], np.ndarray],
    ) -> None:
        self._params = params
        self._shade = shade
        self.memory = data
        self.table = payloads.tested(params.edge)
        self.unit = ColourPlanes(
            data,
            CacheShape(
                params.sets,
                params.ways,
                params.table_lines,
                colours="differences" if params.differences else "raw",
            ),
            params.edge,
            params.planes,
            params.formats,
            params.second,
            params.floats,
        )
        colours = {"colour_formats": params.formats, "colour_planes": params.planes}
        limits = replace(
            depths.limits(params.obeyed), second=params.second, floats=params.floats, **colours
        )
        self._contract = StageContract(limits, ("colour",))
        self.counts = {name: [] for name in params.names}
        self.quads = []
        self.fences = []

    def expected(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Packed beats in -> packed beats out, by port, and the memory."""
        for tiles, control in scenes.draws(rows, self.table, dtype(self.table)):
            if len(tiles):
                self.tiles(tiles)
            if len(control):
                kind, record = scenes.control_record(control)
                {Kind.STATE: self.state, Kind.CLEAR: self.clear, Kind.FENCE: self.fence}[kind](
                    record[0]
                )
                if kind == Kind.FENCE:
                    self.fences.append(codec.pack(record, payloads.FENCE))
        return {
            "o": np.concatenate(self.fences),
            "probe_quads": np.concatenate(self.quads),
            "memory": self.memory.view(np.uint64).reshape(-1, 4),
        } | {
            f"{name}_counted": codec.pack(
                np.concatenate(counts), caching.counted(self._params.differences)
            )
            for name, counts in self.counts.items()
        }

    def _count(self, number):
        table = caching.counted(self._params.differences)
        name = self._params.names[number]
        self.counts[name].append(counter_record(self.unit.planes[number].traffic, table))

    def state(self, state: np.void) -> None:
        """A draw state."""
        self.unit.state = state
        self._contract.set_state(state)

    def clear(self, record: np.void) -> None:
        """A clear of colours, and counters where it clears all of the target."""
        if record["constant"]:
            self.unit.constant = constant_of(record)
        number = int(record["slot"]) if self._params.planes > 1 else 0
        cleared = self._contract.clear(record, may_begin=number == 0)
        if cleared:
            self.unit.clear(
                cleared.rectangle, cleared.values["colour"], cleared.bases["colour"], number
            )
            if cleared.covers_target and number < self._params.planes:
                self._count(number)

    def fence(self, record: np.void) -> None:
        """A fence, and counters where it flushes."""
        self._contract.fence.report(record, counts_samples=False)
        if record["flush"]:
            self.unit.flush()
            for number in range(self._params.planes):
                self._count(number)

    def tiles(self, tiles: np.ndarray) -> None:
        """Shade and write tiles."""
        edge = self._params.edge
        shaded = tiles[self._contract.accepted(tiles) & (tiles["mask"] != 0)]
        if len(shaded):
            handed_out = quads_of(shaded, self.unit.state, self.unit.written, edge)
            self.quads.append(codec.pack(handed_out, quads(edge, self._params.outputs)))
            passed = unpack(shaded["mask"], edge) & survivors(shaded, edge)
            colours = self._shade(shaded, self.unit.state, edge)
            outputs = np.arange(self._params.outputs, dtype=np.uint32)[:, None, None, None]
            packed = colours ^ outputs * np.uint32(PLANE_BITS)
            self.unit.draw(shaded, Numbers(packed, fractions(packed)), passed)


def expected(rows: np.ndarray, params: ColourWriteParams) -> dict[str, np.ndarray]:
    """What should come out, and the memory."""
    return Reference(params, memory(rows, params), shade).expected(rows)


def describe(row: np.ndarray, _params: ColourWriteParams) -> str:
    record = codec.unpack(row[None], payloads.FENCE, dtype(payloads.FENCE))[0]
    return "FENCE " + " ".join(f"{name}={int(record[name]):#x}" for name in record.dtype.names[1:])


class ColourWriteBench(MemoryBehind, StreamBench):
    """With memory behind the port, which is compared in the end."""

    stem = "colour_write"

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        memories = [name for name in of_planes(self.params) if name.endswith("memory")]
        self.attach(dut, memories, self.params.planes * PLACES * PLACE)

    @property
    def ports(self) -> tuple[str, ...]:
        counted = [name for name in of_planes(self.params) if name.endswith("counted")]
        return "o", "probe_quads", *counted

    def golden(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        golden = super().golden(rows)
        self.check_memory(golden["memory"])
        return golden


# plan: colour-write-8
@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(source=["full", "random"], sink=list(PACES))
async def memory_holds_the_picture(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = ColourWriteBench(dut)
    rows = requests(bench.rng, 120, bench.params)
    bench.fill(memory(rows, bench.params), sink)
    await bench.run(rows, source, sink)


# plan: colour-write-7
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_flush_goes_ahead_of_its_fence(dut: HierarchyObject) -> None:
    """When a fence comes that was announced long before, all has been written."""
    bench = ColourWriteBench(dut)
    rows = requests(bench.rng, 60, bench.params)
    rows = rows[rows[:, 0] & 3 != Kind.FENCE]
    rows = np.concatenate(
        [rows, scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1, sequence=1)]
    )
    bench.fill(memory(rows, bench.params), "full")
    # bursts so far, and when each beat came
    written = 0
    bursts_before = []
    handshakes = [
        (getattr(dut, f"{name}__awvalid"), getattr(dut, f"{name}__awready"))
        for name in of_planes(bench.params)
        if name.endswith("memory")
    ]

    async def count():
        nonlocal written
        while True:
            await RisingEdge(dut.clk)
            if dut.i__valid.value and dut.i__ready.value:
                bursts_before.append(written)
            for valid, ready in handshakes:
                written += bool(valid.value and ready.value)

    counting = cocotb.start_soon(count())
    await bench.run(rows)
    counting.cancel()
    assert len(bursts_before) == len(rows)
    assert bursts_before[-2] < bursts_before[-1] == written
