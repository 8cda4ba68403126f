# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.top.Top`: every stage held to the golden one, and every byte of
memory.
"""

from collections.abc import Sequence
from typing import Any

import cocotb
import numpy as np
from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In
from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge

from fixfunc.cosim import codec
from fixfunc.models.depth.depth_cache import CacheShape
from fixfunc.models.depth.hiz import BANKS
from fixfunc.models.frontend.command_reader import CommandLimits
from fixfunc.models.payload import dtype
from fixfunc.models.top import Drawn, Machine, Shading
from fixfunc.rtl import top as rtl
from fixfunc.rtl.top import CONFIGS, TopParams
from fixfunc.spec import payloads
from fixfunc.spec.commands import START, STATUS, CommandError
from fixfunc.spec.counters import COUNTERS
from fixfunc.spec.quads import colours, quads
from fixfunc.spec.state import Kind, Outcome
from fixfunc.tb.bench.bench import StreamBench, configuration
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.stream import StreamDriver
from fixfunc.tb.frontend.streams import SIZE, memory, requests, starts


class Harness(wiring.Component):
    """The top, with all its probes in view; counters are read when the last of ``starts`` is done.

    Parameters
    ----------
    params : TopParams
    """

    def __init__(self, params: TopParams) -> None:
        self._top = rtl.Top(params, probes=True)
        super().__init__(dict(self._top.signature.members) | {"starts": In(stream.Signature(8))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.top = top = self._top
        for name in top.signature.members:
            if name != "counter_address":
                wiring.connect(
                    m,
                    *(
                        (wiring.flipped(getattr(self, name)), getattr(top, name))
                        if top.signature.members[name].flow is In
                        else (getattr(top, name), wiring.flipped(getattr(self, name)))
                    ),
                )
        done = Signal(8)
        wanted = Signal(8, init=255)
        m.d.sync += done.eq(done + (self.o.valid & self.o.ready & self.o.payload.last))
        m.d.comb += self.starts.ready.eq(1)
        with m.If(self.starts.valid):
            m.d.sync += wanted.eq(self.starts.payload)
        m.d.comb += [
            top.counter_address.valid.eq(self.counter_address.valid & (done >= wanted)),
            self.counter_address.ready.eq(top.counter_address.ready & (done >= wanted)),
            top.counter_address.payload.eq(self.counter_address.payload),
        ]
        return m


def limits_of(params: TopParams) -> CommandLimits:
    """What the reader takes."""
    return CommandLimits(
        params.reader.edge, params.reader.samples, params.reader.pixels, params.reader.stencil
    )


def machine(params: TopParams, data: np.ndarray, **more: Any) -> Machine:
    """The golden one."""
    shape = CacheShape(params.depth.sets, params.depth.ways, params.depth.table_lines)
    return Machine(data, limits_of(params), shape, params.raster.grid, **more)


def shade(shading: Shading) -> np.ndarray:
    """Colours made up from where a sample is, and of which triangle."""
    tiles = shading.tiles
    n = shading.triangle[:, None] * 37 + np.arange(64)[: shading_lanes(shading)]
    edge = int(n.shape[1] ** 0.5)
    value = (
        n * 0x9E3779B1
        + tiles["x"].astype(np.int64)[:, None] * 0x85EBCA77
        + tiles["y"].astype(np.int64)[:, None] * 0xC2B2AE3D
    ) >> 3
    return (value & 0xFFFFFFFF).astype(np.uint32).reshape(-1, edge, edge)


def shading_lanes(shading: Shading) -> int:
    """Lanes of a tile, by the width of its mask."""
    return 64 if shading.tiles["mask"].dtype.itemsize == 8 else 16


def inputs(rows: np.ndarray, params: TopParams) -> dict[str, np.ndarray]:
    """What goes in: the STARTs; colours, which do not depend on when.

    In the end counters are read.
    """
    golden = machine(params, memory(rows, params), shader=shade, in_memory=False)
    shaded = [np.zeros((0, codec.words(32 * params.raster.edge**2)), np.uint64)]
    edge = params.raster.edge
    for start, _ in starts(rows):
        shaded += [
            pack_colours(part, edge)
            for _, part in golden.draw(*(int(v) for v in start)).probes["colours"]
        ]
    given = {
        "i": np.concatenate([codec.pack(start, START) for start, _ in starts(rows)]),
        "starts": np.array([[len(starts(rows))]], np.uint64),
        "counter_address": np.arange(len(COUNTERS), dtype=np.uint64)[:, None],
    }
    return given if params.flat else given | {"colours": np.concatenate(shaded)}


def pack_colours(shaded: np.ndarray, edge: int) -> np.ndarray:
    """Colours of tiles as beats."""
    assert payloads.width(colours(edge)) == 32 * edge**2
    return np.ascontiguousarray(shaded.reshape(len(shaded), edge**2).astype("<u4")).view(np.uint64)


class Found:
    """What the hardware's HiZ found, handed to the golden pipeline tile by tile: what did not come
    out was dropped.
    """

    SAME = (
        "slot",
        "x",
        "y",
        "last",
        "back",
        "z0",
        "dx",
        "dy",
    )  # the mask of what was dropped is gone

    def __init__(self, rows: np.ndarray, edge: int) -> None:
        table = payloads.tile(edge)
        tiles = codec.unpack(rows[rows[:, 0] & 3 == Kind.WORK], table, dtype(table))
        self._keys = list(zip(*(tiles[name].tolist() for name in self.SAME), strict=True))
        self._outcome = tiles["outcome"]
        self._at = 0

    def __call__(self, tiles):
        out = np.full(len(tiles), Outcome.DROP, np.uint8)
        for n, key in enumerate(zip(*(tiles[name].tolist() for name in self.SAME), strict=True)):
            if self._at < len(self._keys) and self._keys[self._at] == key:
                out[n] = self._outcome[self._at]
                self._at += 1
        return out


def replay(
    rows: np.ndarray, outputs: dict[str, np.ndarray], params: TopParams
) -> dict[str, np.ndarray]:
    """What every probe should show, and memory hold, by what HiZ found, which depends on when."""
    data = memory(rows, params)
    golden = machine(
        params,
        data,
        found=Found(outputs["probe_hiz"], params.raster.edge),
        **({} if params.flat else {"shader": shade}),
    )
    drawn = [golden.draw(*(int(v) for v in start)) for start, _ in starts(rows)]
    return expected_of(drawn, outputs, params) | {"memory": data.view(np.uint64).reshape(-1, 4)}


def expected_of(
    drawn: Sequence[Drawn], outputs: dict[str, np.ndarray], params: TopParams
) -> dict[str, np.ndarray]:
    """Beats of every probe, in the order of the stages, and of the status."""
    edge = params.raster.edge
    out = {}
    tables = {
        "commands": payloads.TRIANGLE,
        "setup": payloads.SETUP,
        "raster": payloads.tile(edge),
        "hiz": payloads.tile(edge),
        "depth": payloads.tile(edge),
    }
    for name, work in tables.items():
        bits = max(payloads.width(table) for table in (work, *payloads.CONTROL.values()))
        beats = ((kind, records) for part in drawn for kind, records in part.probes[name])
        out[f"probe_{name}"] = np.concatenate(
            [codec.pack(records, table_of(kind, work), bits) for kind, records in beats]
        )
    for name in ("hiz", "depth"):  # a note is HiZ's own
        take_notes(out[f"probe_{name}"], outputs[f"probe_{name}"], edge)
    shaded = [
        codec.pack(records, quads(edge)) for part in drawn for _, records in part.probes["quads"]
    ]
    out["probe_quads"] = np.concatenate(
        [np.zeros((0, codec.words(payloads.width(quads(edge)))), np.uint64), *shaded]
    )
    if not params.flat:
        out["quads"] = out["probe_quads"]
    return out | {"o": np.concatenate([codec.pack(part.status, STATUS) for part in drawn])}


def table_of(kind: Kind, work: tuple[payloads.Field, ...]) -> tuple[payloads.Field, ...]:
    return {
        Kind.WORK: work,
        Kind.STATE: payloads.DRAW_STATE,
        Kind.CLEAR: payloads.CLEAR,
        Kind.FENCE: payloads.FENCE,
    }[kind]


def take_notes(rows: np.ndarray, given: np.ndarray, edge: int) -> None:
    """HiZ's notes, as they came."""
    low = 0
    bits = 0
    at = 0
    for field in payloads.tile(edge):
        low, bits = (at, field.bits) if field.name == "note" else (low, bits)
        at += field.bits
    work = np.flatnonzero(rows[:, 0] & 3 == Kind.WORK)
    work = work[work < len(given)]
    for word in range(low // 64, (low + bits - 1) // 64 + 1):
        first = max(low - 64 * word, 0)
        last = min(low + bits - 64 * word, 64)
        mask = np.uint64(((1 << last) - 1) & ~((1 << first) - 1))
        rows[work, word] = (rows[work, word] & ~mask) | (given[work, word] & mask)


def describe(row: np.ndarray, _params: TopParams) -> str:
    record = codec.unpack(row[None], STATUS, dtype(STATUS))[0]
    return f"{CommandError(record['error']).name} " + " ".join(
        f"{name}={int(record[name]):#x}" for name in record.dtype.names
    )


class TopBench(MemoryBehind, StreamBench):
    """With memory behind every port, which is compared in the end."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.params = configuration(CONFIGS)
        self.attach(
            dut, [f"{client}_memory" for client in ("commands", *self.params.clients)], SIZE
        )
        probes = [
            f"probe_{name}" for name in ("commands", "setup", "raster", "hiz", "depth", "quads")
        ]
        super().__init__(
            dut,
            self._wanted,
            lambda row: describe(row, self.params),
            ("o", *probes, *(() if self.params.flat else ("quads",))),
        )

    async def draw(self, rows: np.ndarray, source: str = "full", sink: str = "full") -> None:
        """Draw what command streams say."""
        self._rows = rows
        given = inputs(rows, self.params)
        self._dut.counter_address__valid.value = 0
        self._dut.starts__valid.value = 0
        self._dut.counter_value__ready.value = 1
        if not self.params.flat:
            self._dut.colours__valid.value = 0
            driver = StreamDriver(self._dut, "colours", PACES["full"](None))
            cocotb.start_soon(driver.send(codec.to_int(row) for row in given["colours"]))
        self.fill(memory(rows, self.params), sink)
        await self.run(given["i"], source, sink)

    def _wanted(self, _rows):
        wanted = replay(self._rows, self.outputs, self.params)
        self.check_memory(wanted.pop("memory"))
        return wanted


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(sink=["full", "random", "bursty"])
async def every_stage_and_every_byte(dut: HierarchyObject, sink: str) -> None:
    bench = TopBench(dut)
    await bench.draw(requests(bench.rng, 60, bench.params), "full", sink)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_start_waits_until_hiz_is_wiped(dut: HierarchyObject) -> None:
    """Or a frame's clocks would begin with those of the reset."""
    bench = TopBench(dut)
    await bench.reset()
    places = bench.params.depth.entries // BANKS
    clocks = 0
    while not dut.i__ready.value:
        await RisingEdge(dut.clk)
        clocks += 1
        assert clocks <= 2 * places
    assert clocks >= places
