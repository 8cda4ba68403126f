# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.axi`: reader and writer, and one memory behind both."""

import random
from collections.abc import Callable
from functools import partial

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
from fixfunc.tb.bench import clocked
from fixfunc.tb.bench.clocked import Example
from fixfunc.tb.bench.memory import MemoryBehind
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.stream import StreamDriver, StreamMonitor, StreamSink

MOST = 5  # transfers of a burst
IN_FLIGHT = 3  # requests
TAG = 6  # bits
INDEX = MOST.bit_length()
SIZE = 1 << 14  # bytes of the memory
PAGE = 1 << 12  # bytes
LIMIT = 60_000  # clocks: far above what the slowest pace needs
CASES = {}  # none goes by the clock: memory decides when


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
        # Data of an empty beat may change while it waits, which the monitor of a stream refuses.
        with m.If(self._reader.o.payload.empty):
            m.d.comb += self.reader_o.payload.data.eq(0)
        join(m, self.memory, self._reader.memory, self._writer.memory)
        return m


def requests(rng: np.random.Generator, count: int, least: int) -> list[Burst]:
    """Bursts of every length, anywhere in a page: AXI4 lets none cross its end."""
    out = []
    for _ in range(count):
        transfers = int(rng.integers(least, MOST + 1))
        page = int(rng.integers(0, SIZE // PAGE)) * PAGE
        first = int(rng.choice([0, PAGE // BYTES - transfers, rng.integers(0, 100)]))
        out.append(Burst(page + first * BYTES, transfers, int(rng.integers(0, 1 << TAG))))
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


def example_read() -> list[clocked.Clock]:
    """A burst of two, one of none, and one of a transfer; the address waits for a clock."""
    bursts = {0: Burst(64, 2, 1), 1: Burst(0, 0, 2), 2: Burst(32, 1, 3)}
    out = []
    for n in range(9):
        # Bursts 1 and 2 are offered while the address of the first waits; 1 needs none.
        burst = bursts.get(n)
        inputs = {
            "request__valid": int(burst is not None),
            "request__payload": pack(burst) if burst else 0,
            "o__ready": 1,
            "memory__arready": int(n != 1),
            "memory__rvalid": int(n in (4, 5, 7)),
            "memory__rdata": n,
        }
        out.append(clocked.Clock(inputs, {}))
    return out


def example_write() -> list[clocked.Clock]:
    """A burst of two transfers; memory takes the second a clock late."""
    return [
        clocked.Clock(
            {
                "burst__valid": int(n == 0),
                "burst__payload": pack(Burst(64, 2, 1)),
                "data__valid": int(n < 4),
                "data__payload": 10 + (n > 2),
                "response__ready": 1,
                "memory__awready": 1,
                "memory__wready": int(n != 4),
                "memory__bvalid": int(n == 7),
            },
            {},
        )
        for n in range(9)
    ]


EXAMPLES = {
    "axi_reader": Example(
        partial(AxiReader, MOST, IN_FLIGHT, TAG),
        example_read,
        ("request__valid", "request__ready", "memory__arvalid", "memory__arready")
        + ("memory__araddr", "memory__arlen", "memory__rvalid", "memory__rready", "memory__rdata")
        + ("o__valid", "o__payload__index", "o__payload__last", "o__payload__empty")
        + ("o__payload__tag", "idle"),
    ),
    "axi_writer": Example(
        partial(AxiWriter, MOST, IN_FLIGHT, TAG),
        example_write,
        ("burst__valid", "burst__ready", "memory__awvalid", "memory__awaddr", "memory__awlen")
        + ("data__valid", "data__ready", "data__payload", "memory__wvalid", "memory__wready")
        + ("memory__wdata", "memory__wlast", "memory__bvalid", "response__valid", "idle"),
    ),
}


class AxiBench(MemoryBehind):
    """Streams of the harness's reader and writer, and memory."""

    def __init__(self, dut: HierarchyObject, pace: str) -> None:
        self.dut = dut
        self._pace = pace
        self._seeded = random.Random(cocotb.RANDOM_SEED)
        self.rng = np.random.default_rng(cocotb.RANDOM_SEED)
        self.before = self.rng.integers(0, 256, SIZE).astype(np.uint8)
        self._inputs = ("reader_request", "writer_burst", "writer_data")
        self._outputs = ("reader_o", "writer_response")
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

    def watch_idle(self, unit: str, begun: Callable[[], int], done: Callable[[], int]) -> None:
        """Idle is low in just those clocks before which more has begun than is done."""

        async def watch():
            pin = getattr(self.dut, f"axi__{unit}_idle")
            pending = 0
            while True:
                await RisingEdge(self.dut.clk)
                assert pin.value == (not pending), f"{unit}: {pending} pending, idle {pin.value}"
                pending = begun() - done()

        cocotb.start_soon(watch())

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
    transfers = golden.read(bench.before, bursts)
    bench.watch_idle(
        "reader",
        lambda: len(bench.seen["reader_request"]),
        lambda: sum(unpack(beat).last for beat in bench.seen["reader_o"]),
    )
    bench.send("reader_request", [pack(burst) for burst in bursts])
    await bench.until(lambda: len(bench.seen["reader_o"]) >= len(transfers))
    await ClockCycles(dut.clk, 50)
    for n, (beat, expected) in enumerate(zip(bench.seen["reader_o"], transfers, strict=True)):
        transfer = unpack(beat)
        transfer = transfer._replace(data=None) if transfer.empty else transfer
        assert transfer == expected, f"transfer {n}: {transfer}, expected {expected}"


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(pace=list(PACES))
async def bursts_are_written(dut: HierarchyObject, pace: str) -> None:
    bench = AxiBench(dut, pace)
    await bench.start()
    bursts = requests(bench.rng, 60, 1)
    assert {burst.transfers for burst in bursts} == set(range(1, MOST + 1))
    count = sum(burst.transfers for burst in bursts)
    data = [int.from_bytes(bench.rng.bytes(BYTES), "little") for _ in range(count)]
    bench.watch_idle(
        "writer",
        lambda: len(bench.seen["writer_burst"]),
        lambda: len(bench.seen["writer_response"]),
    )
    bench.send("writer_burst", [pack(burst) for burst in bursts])
    bench.send("writer_data", data)
    await bench.until(lambda: len(bench.seen["writer_response"]) >= len(bursts))
    await ClockCycles(dut.clk, 50)
    # A response is a tag and, above it, whether memory reports an error.
    assert bench.seen["writer_response"] == [burst.tag for burst in bursts]
    bench.check_memory(
        golden.write(bench.before, bursts, data).view(np.uint64).reshape(-1, BYTES // 8)
    )
