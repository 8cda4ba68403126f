# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.frontend.command_reader.CommandReader`: streams right and wrong, their beats, and why each ended."""

import cocotb
import numpy as np
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.frontend.command_reader import CommandLimits, read
from fixfunc.models.payload import dtype
from fixfunc.rtl import top
from fixfunc.rtl.axi import Axi
from fixfunc.rtl.frontend.command_reader import CONFIGS, CommandReader, CommandReaderParams
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.commands import START, STATUS
from fixfunc.spec.state import Kind
from fixfunc.tb import top as whole
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.bench import StreamBench, configuration
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.frontend import _streams

WIDTH = max(payloads.width(table) for table in (payloads.TRIANGLE, *payloads.CONTROL.values()))


class Harness(wiring.Component):
    """The reader, told at once that its last fence is through; and then why it ended."""

    def __init__(self, params: CommandReaderParams) -> None:
        self._params = params
        super().__init__({
            "i": In(stream.Signature(layout(START))), "o": Out(stream.Signature(beat(triangle=payloads.TRIANGLE, **payloads.CONTROL))),
            "ends": Out(stream.Signature(layout(STATUS))), "memory": Out(Axi()),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = CommandReader(self._params)
        wiring.connect(m, wiring.flipped(self.i), unit.i)
        wiring.connect(m, unit.o, wiring.flipped(self.o))
        wiring.connect(m, unit.memory, wiring.flipped(self.memory))
        end, given = self.ends, unit.o.payload
        with m.If(unit.o.valid & unit.o.ready & (given.kind == Kind.FENCE) & given.fence.slot[0]):
            m.d.sync += end.valid.eq(1)
        with m.If(end.valid & end.ready):
            m.d.sync += end.valid.eq(0)
        m.d.comb += [end.payload.last.eq(1), end.payload.error.eq(unit.error), end.payload.at.eq(unit.at), unit.ended.eq(end.valid & end.ready)]
        return m


def shape_of(params: CommandReaderParams) -> top.TopParams:
    """A top with this reader, whose streams are drawn."""
    return top.CONFIGS["tiny" if params.edge == 4 else "default"]


def requests(rng: np.random.Generator, count: int, params: CommandReaderParams) -> np.ndarray:
    """As of the top: packets behind their STARTs, some of them spoilt."""
    return _streams.requests(rng, count, shape_of(params))


def memory(rows: np.ndarray, params: CommandReaderParams) -> np.ndarray:
    """What lies behind the port."""
    return _streams.memory(rows, shape_of(params))


def inputs(rows: np.ndarray, _params: CommandReaderParams) -> dict[str, np.ndarray]:
    """The STARTs."""
    return {"i": np.concatenate([codec.pack(start, START) for start, _ in _streams.starts(rows)])}


def expected(rows: np.ndarray, params: CommandReaderParams) -> dict[str, np.ndarray]:
    """Beats, and why each stream ended; memory stays as it is."""
    data, out, ends = memory(rows, params), [], np.zeros(len(_streams.starts(rows)), dtype(STATUS))
    for n, (start, _) in enumerate(_streams.starts(rows)):
        found = read(data, *(int(v) for v in start), CommandLimits(params.edge, params.samples, params.pixels, params.stencil))
        out += [codec.pack(records, whole.table_of(kind, payloads.TRIANGLE), WIDTH) for kind, records in found.beats]
        ends["last"][n], ends["error"][n], ends["at"][n] = 1, found.error, found.at
    return {"o": np.concatenate(out), "ends": codec.pack(ends, STATUS), "memory": data.view(np.uint64).reshape(-1, 4)}


def describe(row: np.ndarray, _params: CommandReaderParams) -> str:
    return scenes.describe(row, payloads.TRIANGLE)


class CommandReaderBench(MemoryBehind, StreamBench):
    """With packets behind the port."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.params = configuration(CONFIGS)
        self.attach(dut, ["memory"], _streams.SIZE)
        super().__init__(dut, lambda _: {name: rows for name, rows in expected(self._rows, self.params).items() if name != "memory"},
                         lambda row: describe(row, self.params), ("o", "ends"))

    async def read(self, rows: np.ndarray, source: str, sink: str) -> None:
        """Read streams."""
        self._rows = rows
        self.fill(memory(rows, self.params), sink)
        await self.run(inputs(rows, self.params)["i"], source, sink)


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(source=["full", "random"], sink=list(PACES))
async def packets_become_beats(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = CommandReaderBench(dut)
    await bench.read(requests(bench.rng, 150, bench.params), source, sink)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def one_triangle_a_clock(dut: HierarchyObject) -> None:
    """Of a list whose transfers are there."""
    bench = CommandReaderBench(dut)
    rows = _streams.one_list(np.random.default_rng(1), 60, shape_of(bench.params))
    await bench.read(rows, "full", "full")
    clocks = [clock for beat, clock in bench.given if beat & 3 == Kind.WORK]
    assert len(clocks) == 60
    assert clocks[-1] - clocks[30] == 29
