# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.frontend.command_reader.CommandReader`."""

from dataclasses import replace

import cocotb
import numpy as np
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.cosim.reference.top import limits_of, table_of
from fixfunc.models.frontend.command_reader import read
from fixfunc.models.payload import dtype
from fixfunc.rtl import top
from fixfunc.rtl.frontend.command_reader import CommandReader
from fixfunc.rtl.frontend.reader_params import CommandReaderParams
from fixfunc.rtl.lib.axi import Axi
from fixfunc.rtl.lib.bits import gated
from fixfunc.rtl.output.resolve.resolve import ResolveParams
from fixfunc.rtl.payload import beat, carried, layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import RESOLVE
from fixfunc.spec.commands import RESOLVE_PACKET, START, STATUS, CommandError
from fixfunc.spec.pixels.pixel_state import PIXEL_STATE
from fixfunc.spec.pixels.texture_stage import TextureOp
from fixfunc.spec.state import Kind
from fixfunc.spec.textures.descriptors import DESCRIPTOR
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.frontend import edges, streams
from fixfunc.tb.frontend.streams import unreadable

__all__ = ["unreadable"]

RESOLVE_CLOCKS = 20  # far more than a packet takes
MAY_BE_SILENT = "resolve", "pixel_state"  # streams out that not every run has beats of
# A pixel state, and the texture that it samples.
SHOWN_STATE = (*PIXEL_STATE, *(replace(f, name=f"texture_{f.name}") for f in DESCRIPTOR))
WIDTH = max(payloads.width(table) for table in (payloads.TRIANGLE, *payloads.CONTROL.values()))


class Harness(wiring.Component):
    """A reader whose FENCEs end at once, and a stream of why each START ended.

    What is to be resolved leaves at ``resolve``, and is done a few clocks later. ``failed`` of a
    status says that a beat did not wait for that.
    """

    def __init__(self, params: CommandReaderParams) -> None:
        self._params = params
        pixel_state = {"pixel_state": Out(stream.Signature(layout(SHOWN_STATE)))}
        super().__init__(
            {
                "i": In(stream.Signature(layout(START))),
                "o": Out(stream.Signature(beat(triangle=payloads.TRIANGLE, **payloads.CONTROL))),
                "status": Out(stream.Signature(layout(STATUS))),
                "resolve": Out(stream.Signature(layout(RESOLVE))),
                "memory": Out(Axi()),
            }
            | (pixel_state if params.ring else {})
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = CommandReader(self._params)
        wiring.connect(m, wiring.flipped(self.i), unit.i)
        fence = unit.o.payload.fence
        leaves = unit.o.valid & unit.o.ready & (fence.kind == Kind.FENCE)
        is_release = (fence.kind == Kind.FENCE) & fence.release
        m.d.comb += [
            self.o.valid.eq(unit.o.valid & ~is_release),
            self.o.payload.eq(unit.o.payload),
            unit.o.ready.eq(self.o.ready | is_release),
        ]
        if self._params.ring:
            shown = self.pixel_state
            textures = _textures(self._params)
            samples = unit.pixel_state.payload.op != TextureOp.NONE
            m.d.comb += [
                shown.valid.eq(unit.pixel_state.valid),
                unit.pixel_state.ready.eq(shown.ready),
                *carried(shown.payload, unit.pixel_state.payload),
                *(
                    shown.payload[f"texture_{name}"].eq(gated(unit.texture[name], samples))
                    for name in textures
                ),
            ]
            m.d.comb += self.status.payload.vertex_error.eq(unit.vertex_error)
            m.d.sync += unit.released.eq(Mux(leaves & is_release, fence.sequence, 0))
        wiring.connect(m, unit.resolve, wiring.flipped(self.resolve))
        remaining = Signal(range(RESOLVE_CLOCKS + 1))
        early = Signal()
        m.d.comb += unit.resolved.eq(remaining == 1)
        with m.If(self.resolve.valid & self.resolve.ready):
            m.d.sync += remaining.eq(RESOLVE_CLOCKS)
        with m.Elif(remaining.any()):
            m.d.sync += [
                remaining.eq(remaining - 1),
                early.eq(early | self.o.valid | self.resolve.valid),
            ]
        wiring.connect(m, unit.memory, wiring.flipped(self.memory))
        status = self.status
        fence_ended = Signal()
        m.d.sync += fence_ended.eq(leaves & ~fence.slot[0] & ~is_release)
        with m.If(leaves & fence.slot[0]):
            m.d.sync += status.valid.eq(1)
        with m.If(status.valid & status.ready):
            m.d.sync += status.valid.eq(0)
        m.d.comb += [
            status.payload.last.eq(1),
            status.payload.failed.eq(early),
            status.payload.error.eq(unit.error),
            status.payload.at.eq(unit.at),
            unit.ended.eq(fence_ended | (status.valid & status.ready)),
        ]
        return m


def shape_of(params: CommandReaderParams) -> top.TopParams:
    """The parameters of a top with this reader, for which command streams are generated."""
    whole = top.CONFIGS["tiny_bytes" if params.edge == 4 else "frame"]
    blocks = {
        name: replace(getattr(whole, name), samples=params.samples)
        for name in ("raster", "depth", "colour")
    }
    planes = {"planes": params.colour_planes, "formats": params.colour_formats}
    blocks["colour"] = replace(blocks["colour"], **planes)
    resolve = ResolveParams(params.resolve_samples, srgb=params.resolves_srgb)
    pixels = whole.pixels if params.ring else None
    if pixels and params.texture_formats:
        coded = 2 if params.texture_surfaces else 0
        cache = replace(
            pixels.texture.cache,
            formats=params.texture_formats,
            coded=coded,
            linear=len(params.texture_rows) > 0,
        )
        pixels = replace(pixels, texture=replace(pixels.texture, cache=cache))
    elif pixels:
        pixels = replace(pixels, texture=None)
    blocks["setup"] = replace(whole.setup, conservative=params.conservative)
    blocks |= {"reader": params, "pixels": pixels}
    return replace(whole, resolve=resolve if params.resolve_samples else None, **blocks)


def requests(rng: np.random.Generator, count: int, params: CommandReaderParams) -> np.ndarray:
    """Rows of packets behind their STARTs, many of them at the edge of a rule.

    Every way to stop is among them.
    """
    shape = shape_of(params)
    # A list that is longer than the FIFO, in front of those that end where memory does.
    lists = streams.one_list(rng, 80, shape, streams.SIZE - (1 << 14))
    return np.concatenate([streams.every_end(rng, shape), lists, edges.requests(rng, count, shape)])


def ends(outputs: dict[str, np.ndarray]) -> set[CommandError]:
    """Why the STARTs of a run ended."""
    return set(errors(outputs))


def errors(outputs: dict[str, np.ndarray]) -> list[CommandError]:
    """The same of each."""
    status = codec.unpack(outputs["status"], STATUS, dtype(STATUS))
    return [CommandError(error) for error in status["error"]]


def memory(rows: np.ndarray, params: CommandReaderParams) -> np.ndarray:
    """Initial contents of memory."""
    return streams.memory(rows, shape_of(params))


def inputs(rows: np.ndarray, _params: CommandReaderParams) -> dict[str, np.ndarray]:
    """Packed STARTs of rows."""
    return {"i": np.concatenate([codec.pack(start, START) for start, _ in streams.starts(rows)])}


def expected(rows: np.ndarray, params: CommandReaderParams) -> dict[str, np.ndarray]:
    """Packed beats, and why each stream ended; memory does not change."""
    data = memory(rows, params)
    limits = limits_of(shape_of(params))
    beats = []
    resolves = []
    pixel_states = [np.zeros(0, dtype(SHOWN_STATE))]
    starts = streams.starts(rows)
    status = np.zeros(len(starts), dtype(STATUS))
    fault = unreadable(rows)
    # Streams may be said to go on beyond what memory has: nobody reads so far.
    most = max((int(start["transfers"]) for start, _ in starts), default=0)
    addressed = np.zeros(len(data) + 32 * most, np.uint8)
    addressed[: len(data)] = data
    for n, (start, _) in enumerate(starts):
        result = read(addressed, *map(int, start), limits, fault)
        beats += [
            codec.pack(records, table_of(kind, payloads.TRIANGLE), WIDTH)
            for kind, records in result.beats
        ]
        resolves += [record for _, record in result.resolves]
        status["last"][n] = 1
        pixel_states += [_shown(result.assembly, params)] if params.ring else []
        status["error"][n] = result.error
        status["vertex_error"][n] = result.vertex_error
        status["at"][n] = result.at
    states = codec.pack(np.concatenate(pixel_states), SHOWN_STATE)
    return ({"pixel_state": states} if params.ring else {}) | {
        "o": np.concatenate(beats),
        "status": codec.pack(status, STATUS),
        "resolve": codec.pack(np.array(resolves, dtype(RESOLVE_PACKET)), RESOLVE),
        "memory": data.view(np.uint64).reshape(-1, 4),
    }


def _textures(params):
    """Names of what is shown of textures."""
    return [f.name for f in params.texture[1:]] if params.texture_formats else []


def _shown(assembly, params):
    """Pixel states, each with the texture that it samples."""
    out = np.zeros(len(assembly.states), dtype(SHOWN_STATE))
    for name in assembly.states.dtype.names:
        out[name] = assembly.states[name]
    for name in _textures(params):
        samples = assembly.states["op"] != TextureOp.NONE
        out[f"texture_{name}"] = np.where(samples, assembly.textures[name], 0)
    return out


def describe(row: np.ndarray, _params: CommandReaderParams) -> str:
    return scenes.describe(row, payloads.TRIANGLE)


class CommandReaderBench(MemoryBehind, StreamBench):
    """Bench with packets in the memory behind the port."""

    stem = "command_reader"

    @property
    def ports(self) -> tuple[str, ...]:
        return "o", "status", "resolve", *(("pixel_state",) if self.params.ring else ())

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.attach(dut, ["memory"], streams.SIZE)

    def golden(self, _rows: np.ndarray) -> dict[str, np.ndarray]:
        beats = expected(self._rows, self.params)
        return {name: rows for name, rows in beats.items() if name != "memory"}

    async def read(self, rows: np.ndarray, source: str, sink: str) -> None:
        """Read streams."""
        self._rows = rows
        self.fill(memory(rows, self.params), sink)
        await self.run(inputs(rows, self.params)["i"], source, sink)


# plan: command-reader-7
@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(source=["full", "random"], sink=list(PACES))
async def packets_become_beats(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = CommandReaderBench(dut)
    rows = edges.requests(bench.rng, 150, shape_of(bench.params))
    await bench.read(rows, source, sink)


# plan: command-reader-8
@cocotb.test(timeout_time=2, timeout_unit="ms")
async def one_triangle_a_clock(dut: HierarchyObject) -> None:
    """A list whose transfers have been fetched leaves without a gap."""
    bench = CommandReaderBench(dut)
    rows = streams.one_list(np.random.default_rng(1), 60, shape_of(bench.params))
    await bench.read(rows, "full", "full")
    clocks = [clock for beat, clock in bench.beats_out if beat & 3 == Kind.WORK]
    assert len(clocks) == 60
    assert clocks[-1] - clocks[30] == 29


# plan: command-reader-8
@cocotb.test(timeout_time=2, timeout_unit="ms")
async def eight_triangles_in_nine_clocks(dut: HierarchyObject) -> None:
    """The same of a list whose depths have upper bits."""
    bench = CommandReaderBench(dut)
    rng = np.random.default_rng(1)
    rows = streams.one_list(rng, 80, shape_of(bench.params), beyond=1)
    await bench.read(rows, "full", "full")
    clocks = [clock for beat, clock in bench.beats_out if beat & 3 == Kind.WORK]
    assert len(clocks) == 80
    assert clocks[-1] - clocks[39] == 45
