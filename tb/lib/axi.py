# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.axi`: reader and writer, and one memory behind both."""

import random
from collections.abc import Callable

import cocotb
import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge

from fixfunc.models.lib import axi as golden
from fixfunc.models.lib.axi import BYTES, Burst
from fixfunc.rtl.lib.axi import ADDRESS, Axi, AxiReader, AxiWriter, join
from fixfunc.spec.payloads import TRANSFER
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.stream import StreamDriver, StreamMonitor, StreamSink

MOST = 5  # transfers of a burst
IN_FLIGHT = 3  # requests
TAG = 6  # bits
INDEX = MOST.bit_length()
SIZE = 1 << 14  # bytes of the memory
LIMIT = 60_000  # clocks: far above what the slowest pace needs
CASES = {}  # none goes by the clock: memory decides when
EXAMPLES = {}


class AxiPort(wiring.Component):
    """A reader and a writer behind one port."""

    def __init__(self) -> None:
        self._reader = AxiReader(MOST, IN_FLIGHT, TAG)
        self._writer = AxiWriter(MOST, IN_FLIGHT, TAG)
        units = {"reader": self._reader, "writer": self._writer}
        self._streams = [
            (f"{name}_{member}", unit, member)
            for name, unit in units.items()
            for member in unit.signature.members
            if member != "memory"
        ]
        super().__init__(
            {name: unit.signature.members[member] for name, unit, member in self._streams}
            | {"memory": Out(Axi())}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.reader = self._reader
        m.submodules.writer = self._writer
        for name, unit, member in self._streams:
            if member == "idle":
                m.d.comb += getattr(self, name).eq(unit.idle)
            else:
                wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(unit, member))
        join(m, self.memory, self._reader.memory, self._writer.memory)
        return m


def requests(rng: np.random.Generator, count: int, least: int) -> list[Burst]:
    """Bursts of every length, at any transfer that leaves room for them."""
    out = []
    for _ in range(count):
        transfers = int(rng.integers(least, MOST + 1))
        first = int(rng.integers(0, SIZE // BYTES - transfers + 1))
        out.append(Burst(first * BYTES, transfers, int(rng.integers(0, 1 << TAG))))
    return out


def pack(burst: Burst) -> int:
    """A burst as a beat of ``request`` or ``burst``."""
    return burst.address | burst.transfers << ADDRESS | burst.tag << ADDRESS + INDEX


def unpack(beat: int) -> golden.Transfer:
    """A beat of ``o``, which must not have an error."""
    fields = []
    for bits in (TRANSFER, INDEX, 1, 1, 1, TAG):
        fields.append(beat % (1 << bits))
        beat >>= bits
    data, index, last, empty, error, tag = fields
    assert not error, "memory reports no error"
    return golden.Transfer(None if empty else data, index, bool(last), bool(empty), tag)


class AxiBench(MemoryBehind):
    """Streams of the harness's reader and writer, and memory."""

    def __init__(self, dut: HierarchyObject, pace: str) -> None:
        self.dut = dut
        self._pace = pace
        self._seeded = random.Random(cocotb.RANDOM_SEED)
        self.rng = np.random.default_rng(cocotb.RANDOM_SEED)
        self.before = self.rng.integers(0, 256, SIZE).astype(np.uint8)
        self._inputs = ("reader_request", "writer_burst", "writer_data")
        self._outputs = ("reader_o", "writer_answer")
        self.seen = {name: [] for name in (*self._inputs, *self._outputs)}

    async def start(self) -> None:
        """Reset, with memory attached and filled."""
        for name in self._inputs:
            getattr(self.dut, f"axi__{name}__valid").value = 0
        self.dut.rst.value = 1
        Clock(self.dut.clk, 10, unit="ns").start()
        self.attach(self.dut, ["axi__memory"], SIZE)
        self.fill(self.before, self._pace)
        await ClockCycles(self.dut.clk, 4)
        self.dut.rst.value = 0
        await RisingEdge(self.dut.clk)
        for name, beats in self.seen.items():
            StreamMonitor(self.dut, f"axi__{name}", lambda beat, _, beats=beats: beats.append(beat))
        for name in self._outputs:
            StreamSink(self.dut, f"axi__{name}", PACES[self._pace](self._seeded))

    def send(self, name: str, beats: list[int]) -> None:
        """Beats of an input, at the pace."""
        driver = StreamDriver(self.dut, f"axi__{name}", PACES[self._pace](self._seeded))
        cocotb.start_soon(driver.send(beats))

    async def until(self, done: Callable[[], bool]) -> None:
        """Wait; what takes too long fails."""
        for _ in range(LIMIT):
            await RisingEdge(self.dut.clk)
            if done():
                return
        raise AssertionError(f"not done after {LIMIT} clocks")


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(pace=list(PACES))
async def bursts_are_read(dut: HierarchyObject, pace: str) -> None:
    bench = AxiBench(dut, pace)
    await bench.start()
    bursts = requests(bench.rng, 60, 0)
    assert {burst.transfers for burst in bursts} == set(range(MOST + 1))
    wanted = golden.read(bench.before, bursts)
    assert dut.axi__reader_idle.value
    bench.send("reader_request", [pack(burst) for burst in bursts])
    await bench.until(lambda: bench.seen["reader_request"])
    assert not dut.axi__reader_idle.value
    await bench.until(lambda: len(bench.seen["reader_o"]) >= len(wanted))
    await ClockCycles(dut.clk, 50)
    for n, (beat, expected) in enumerate(zip(bench.seen["reader_o"], wanted, strict=True)):
        transfer = unpack(beat)
        transfer = transfer._replace(data=None) if transfer.empty else transfer
        assert transfer == expected, f"transfer {n}: {transfer}, expected {expected}"
    assert dut.axi__reader_idle.value


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(pace=list(PACES))
async def bursts_are_written(dut: HierarchyObject, pace: str) -> None:
    bench = AxiBench(dut, pace)
    await bench.start()
    bursts = requests(bench.rng, 60, 1)
    assert {burst.transfers for burst in bursts} == set(range(1, MOST + 1))
    count = sum(burst.transfers for burst in bursts)
    data = [int.from_bytes(bench.rng.bytes(BYTES), "little") for _ in range(count)]
    assert dut.axi__writer_idle.value
    bench.send("writer_burst", [pack(burst) for burst in bursts])
    bench.send("writer_data", data)
    await bench.until(lambda: len(bench.seen["writer_answer"]) >= len(bursts))
    await ClockCycles(dut.clk, 50)
    # An answer is a tag and, above it, whether memory reports an error.
    assert bench.seen["writer_answer"] == [burst.tag for burst in bursts]
    bench.check_memory(
        golden.write(bench.before, bursts, data).view(np.uint64).reshape(-1, BYTES // 8)
    )
    assert dut.axi__writer_idle.value
