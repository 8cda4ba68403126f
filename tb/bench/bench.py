# SPDX-License-Identifier: BSD-2-Clause
"""One stream in, one stream out: driver, monitors, golden model and checker, wired."""

import os
import random
from collections.abc import Sequence

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.library import PROBE
from fixfunc.tb import catalogue
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.stream import StreamDriver, StreamMonitor, StreamSink

RESET_CLOCKS = 4


class StreamBench:
    """Holds a block with a stream ``i`` in, and one or several out, to its golden model.

    Attributes
    ----------
    stem : str
        The block, by its name; a subclass says it. Its golden model, ``expected`` or ``replay``,
        and its ``describe`` are those that volume runs use.
    ports : sequence of str
        The streams out, whose beats are compared.
    params
        Parameters of the configuration that the runner built.
    """

    stem: str
    ports: Sequence[str] = ("o",)
    IDLE_CLOCKS = 600  # clocks without a transfer, after which a block counts as drained
    POLL_CLOCKS = 50  # clocks from one count of transfers to the next

    def __init__(self, dut: HierarchyObject) -> None:
        self._dut = dut
        block = catalogue.block(self.stem)
        self._model = block.bench
        self.params = block.parameters(os.environ["FIXFUNC_CONFIG"])
        self._bits = {name: len(getattr(dut, f"{name}__payload")) for name in ("i", *self.ports)}
        # Beats are (payload, clock); ``beats_out`` are those of ``o``.
        self.beats_in = []
        self.out = {port: [] for port in self.ports}
        self.beats_out = self.out["o"]

    def golden(self, rows: np.ndarray) -> np.ndarray | dict[str, np.ndarray]:
        """Packed beats out, of several streams by port, for the packed beats that went in."""
        if hasattr(self._model, "replay"):
            return self._model.replay(rows, self.outputs, self.params)
        return self._model.expected(rows, self.params)

    def describe(self, row: np.ndarray) -> str:
        """A packed beat of ``o`` in words."""
        return self._model.describe(row, self.params)

    @property
    def rng(self) -> np.random.Generator:
        """Stimuli from the run's seed."""
        return np.random.default_rng(cocotb.RANDOM_SEED)

    @property
    def outputs(self) -> dict[str, np.ndarray]:
        """All that came out so far, packed, by port."""
        return {port: self._packed(port, beats) for port, beats in self.out.items()}

    async def reset(self) -> None:
        """Reset, with nothing offered; state would leak from one test to the next without it."""
        self._dut.rst.value = 1
        self._dut.i__valid.value = 0
        self._dut.i__payload.value = 0
        for port in self.out:
            getattr(self._dut, f"{port}__ready").value = 0
        Clock(self._dut.clk, 10, unit="ns").start()
        await ClockCycles(self._dut.clk, RESET_CLOCKS)
        self._dut.rst.value = 0
        await RisingEdge(self._dut.clk)

    async def run(self, rows: np.ndarray, source: str = "full", sink: str = "full") -> None:
        """Send packed beats at a pace, wait until the block has drained, check what came out."""
        seeded = random.Random(cocotb.RANDOM_SEED)
        await self.reset()
        driver = StreamDriver(self._dut, "i", PACES[source](seeded))
        StreamMonitor(self._dut, "i", lambda *beat: self.beats_in.append(beat))
        for port, beats in self.out.items():
            StreamSink(self._dut, port, PACES["full" if port.startswith(PROBE) else sink](seeded))
            StreamMonitor(self._dut, port, lambda *beat, beats=beats: beats.append(beat))
        await driver.send(codec.to_int(row) for row in rows)
        await self._drain()
        self.check(len(rows))

    async def _drain(self):
        count = idle = 0
        while idle < self.IDLE_CLOCKS:
            await ClockCycles(self._dut.clk, self.POLL_CLOCKS)
            idle = idle + self.POLL_CLOCKS if count == (count := self.transfers()) else 0

    def transfers(self) -> int:
        """Beats out so far; a bench with other traffic adds it."""
        return sum(map(len, self.out.values()))

    def check(self, count: int) -> None:
        """All beats went in, some came out, and those are the golden model's."""
        assert len(self.beats_in) == count > 0, f"{len(self.beats_in)} of {count} beats taken"
        golden = codec.by_port(self.golden(self._packed("i", self.beats_in)))
        for port, beats in self.out.items():
            rows = self._packed(port, beats)
            expected = golden[port]
            for n, (actual, row) in enumerate(zip(rows, expected, strict=False)):
                words = self.describe if port == "o" else codec.to_hex
                assert (actual == row).all(), (
                    f"{port}: beat {n} at clock {beats[n][1]}\n  got      {words(actual)}\n  "
                    f"expected {words(row)}"
                )
            silent = not len(expected) and port in getattr(self._model, "MAY_BE_SILENT", ())
            assert len(rows) == len(expected) and (len(rows) or silent), (
                f"{port}: {len(rows)} beats out, {len(expected)} expected"
            )
        self._dut._log.info(
            "%d beats in, %d beats out, all as expected", len(self.beats_in), len(self.beats_out)
        )

    def _packed(self, port, beats):
        rows = [codec.from_int(beat, self._bits[port]) for beat, _ in beats]
        return np.array(rows, np.uint64).reshape(len(rows), codec.words(self._bits[port]))

    def check_rate(self, latency: int, interval: int = 1) -> None:
        """At full speed: the first beat after ``latency`` clocks, then one every ``interval``."""
        first_in = self.beats_in[0][1]
        for beats, first in ((self.beats_in, first_in), (self.beats_out, first_in + latency)):
            clocks = [clock for _, clock in beats]
            assert clocks == list(range(first, first + interval * len(beats), interval))
