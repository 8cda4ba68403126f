# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.top.Top`: every stage, and every byte of memory."""

from collections.abc import Callable

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge

from fixfunc.cosim import codec
from fixfunc.cosim.reference.probed_top import Harness
from fixfunc.cosim.reference.top import (
    HizOutcomes,
    expected_of,
    machine,
    pack_colours,
)
from fixfunc.models.depth.depth_unit import BITS
from fixfunc.models.depth.hiz import BANKS
from fixfunc.models.formats import MOST
from fixfunc.models.memory.surface import tile_grid
from fixfunc.models.payload import dtype
from fixfunc.models.state import TARGET_FIELDS
from fixfunc.models.top.shades import Shades, Shading
from fixfunc.models.top.top import Machine
from fixfunc.rtl.top import TopParams
from fixfunc.spec import payloads
from fixfunc.spec.colours import colours
from fixfunc.spec.commands import START, STATUS, CommandError
from fixfunc.spec.state import DepthFormat
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.stream import StreamDriver
from fixfunc.tb.frontend import streams
from fixfunc.tb.frontend.streams import SIZE, memory, starts, unreadable

__all__ = ["Harness", "unreadable"]

MAY_BE_SILENT = ("quads",)  # where the pixel pipe shades all; the probe beside it has them
COUNTER_ADDRESSES = 1 << 8  # those behind the last counter read as zero


def requests(rng: np.random.Generator, count: int, params: TopParams) -> np.ndarray:
    """Command streams, right and wrong; every way to stop is among them."""
    return np.concatenate([streams.every_end(rng, params), streams.requests(rng, count, params)])


def ends(outputs: dict[str, np.ndarray]) -> set[CommandError]:
    """Why the STARTs of a run ended."""
    status = codec.unpack(outputs["o"], STATUS, dtype(STATUS))
    return {CommandError(error) for error in status["error"][status["last"] == 1]}


def shade(shading: Shading) -> Shades:
    """Everything is made up from where a sample is, and of which triangle.

    A draw whose tiles may be rejected early has no depths from the shader; of others, three tiles
    in four have.
    """
    tiles = shading.tiles
    n = shading.triangle[:, None] * 37 + np.arange(64)[: shading_lanes(shading)]
    edge = int(n.shape[1] ** 0.5)
    value = (
        n * 0x9E3779B1
        + tiles["x"].astype(np.int64)[:, None] * 0x85EBCA77
        + tiles["y"].astype(np.int64)[:, None] * 0xC2B2AE3D
    ) >> 3
    value = value.reshape(-1, edge, edge)
    colour = (value & 0xFFFFFFFF).astype(np.uint32)
    fractions = (value >> 5 & 0xFFFFFFFF).astype(np.uint32)
    survivors = value >> 7 & 3 != 0
    if shading.state["early_reject"]:
        return Shades(colour, survivors, fractions=fractions)
    most = MOST[DepthFormat(shading.state["depth_format"])]
    depths = ((value >> 9) % (most + 1)).astype(np.uint32)
    return Shades(colour, survivors, depths, value[:, 0, 0] >> 5 & 3 != 0, fractions)


def shader(params: TopParams) -> Callable[[Shading], Shades]:
    """The same for each output; other colours for each."""
    outputs = np.arange(params.colour.outputs, dtype=np.uint32)[:, None, None, None]
    if len(outputs) == 1:
        return shade

    def shade_outputs(shading: Shading) -> Shades:
        made = shade(shading)
        return made._replace(colours=made.colours[None] ^ outputs * np.uint32(0x3B9F52C7))

    return shade_outputs


def shading_lanes(shading: Shading) -> int:
    """Lanes of a tile, by the width of its mask."""
    return 64 if shading.tiles["mask"].dtype.itemsize == 8 else 16


def inputs(rows: np.ndarray, params: TopParams) -> dict[str, np.ndarray]:
    """What goes in: the STARTs; colours, which do not depend on when.

    In the end every address of a counter is read, and contexts of a few tiles saved.
    """
    golden = machine(params, memory(rows, params), shader=shader(params), in_memory=False)
    table = colours(params.raster.edge, params.depth.shader_depths, params.colour.outputs)
    shaded = [np.zeros((0, codec.words(payloads.width(table))), np.uint64)]
    given = [start for start, _ in starts(rows)]
    fault = unreadable(rows)
    for start in given:
        shaded += [
            pack_colours(part, params)
            for _, part in golden.draw(*map(int, start), fault).probes["colours"]
        ]
    beats = {
        "i": np.concatenate([codec.pack(start, START) for start in given]),
        "starts": np.array([[len(given)]], np.uint64),
        "counter_address": np.arange(COUNTER_ADDRESSES, dtype=np.uint64)[:, None],
        "context": codec.pack(contexts(params), payloads.context(params.raster.edge)),
    }
    return beats | {"colours": np.concatenate(shaded)}


def replay(
    rows: np.ndarray, outputs: dict[str, np.ndarray], params: TopParams
) -> dict[str, np.ndarray]:
    """What every probe should show, and memory hold, by what HiZ found, which depends on when."""
    data = memory(rows, params)
    golden = machine(
        params,
        data,
        outcomes=HizOutcomes(outputs["probe_hiz"], params.raster.edge),
        shader=shader(params),
    )
    fault = unreadable(rows)
    drawn = [golden.draw(*map(int, start), fault) for start, _ in starts(rows)]
    for begin, end in golden.undefined if "memory" in outputs else ():
        data[begin:end] = np.ascontiguousarray(outputs["memory"]).view(np.uint8).ravel()[begin:end]
    expected = expected_of(drawn, outputs, params)
    if "saved" in outputs:
        expected["saved"] = widened(golden, outputs["saved"], params)
    return expected | {"memory": data.view(np.uint64).reshape(-1, 4)}


def contexts(params: TopParams) -> np.ndarray:
    """Requests to save the first tiles of a target, and some anywhere; bounds in them are noise."""
    rng = np.random.default_rng(0)
    table = payloads.context(params.raster.edge)
    out = np.zeros(16, dtype(table))
    for field in table:
        if field.name != "restore":
            out[field.name] = rng.integers(0, 1 << field.bits, len(out))
    out["y"][:4], out["x"][:4] = np.divmod(np.arange(4), 2)
    return out


def widened(golden: Machine, saved: np.ndarray, params: TopParams) -> np.ndarray:
    """Bounds that HiZ has saved, widened to what the target holds: right ones stay as they are.

    How wide they are depends on when HiZ has heard of writes.
    """
    table = payloads.context(params.raster.edge)
    records = codec.unpack(saved, table, dtype(table))
    asked = contexts(params)
    for name in ("x", "y"):
        records[name] = asked[name][: len(records)]
    state = golden.depth.state
    if golden.depth.began and state[TARGET_FIELDS] == golden.depth.buffer.state[TARGET_FIELDS]:
        columns, rows = tile_grid(state, params.raster.edge)
        inside = np.flatnonzero((records["x"] < columns) & (records["y"] < rows))
        held = golden.depth.buffer.bounds(records[inside])
        shift = BITS[DepthFormat(state["depth_format"])] - payloads.HIZ_BITS
        records["low"][inside] = np.minimum(records["low"][inside], held[0] >> shift)
        records["high"][inside] = np.maximum(records["high"][inside], held[1] >> shift)
    return codec.pack(records, table)


class TopBench(MemoryBehind, StreamBench):
    """With memory behind every port, which is compared in the end."""

    stem = "top"

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.attach(dut, [f"{client}_memory" for client in self.params.ports], SIZE)

    @property
    def ports(self) -> tuple[str, ...]:
        probes = [
            f"probe_{name}" for name in ("commands", "setup", "raster", "hiz", "depth", "quads")
        ]
        return "o", *probes, "quads"

    async def draw(self, rows: np.ndarray, source: str = "full", sink: str = "full") -> None:
        """Draw what command streams say."""
        self._rows = rows
        beats = inputs(rows, self.params)
        self._dut.counter_address__valid.value = 0
        self._dut.starts__valid.value = 0
        self._dut.counter_value__ready.value = 1
        self._dut.context__valid.value = 0
        self._dut.saved__ready.value = 1
        self._dut.colours__valid.value = 0
        driver = StreamDriver(self._dut, "colours", PACES["full"](None))
        cocotb.start_soon(driver.send(codec.to_int(row) for row in beats["colours"]))
        self.fill(memory(rows, self.params), sink)
        await self.run(beats["i"], source, sink)

    def golden(self, _rows: np.ndarray) -> dict[str, np.ndarray]:
        golden = replay(self._rows, self.outputs, self.params)
        self.check_memory(golden.pop("memory"))
        return golden


# plan: top-4
@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(sink=["full", "random", "bursty"])
async def every_stage_and_every_byte(dut: HierarchyObject, sink: str) -> None:
    bench = TopBench(dut)
    await bench.draw(streams.requests(bench.rng, 60, bench.params), "full", sink)


# plan: top-7
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
