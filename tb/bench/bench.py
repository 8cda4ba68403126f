# SPDX-License-Identifier: BSD-2-Clause
"""One stream in, one stream out: driver, monitors, golden model and checker, wired."""

import os
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.library import PROBE
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.bench.stream import StreamDriver, StreamMonitor, StreamSink

RESET_CLOCKS = 4


def configuration(configs: Mapping[str, Any]) -> Any:
    """Parameters of the configuration that the runner built."""
    return configs[os.environ["FIXFUNC_CONFIG"]]


class StreamBench:
    """Holds a block with a stream ``i`` in, and one or several out, to its golden model.

    Parameters
    ----------
    dut
    expected : callable
        Packed beats in -> packed beats out, of several streams by port. The beats in are those
        that the input monitor saw.
    describe : callable
        A packed beat of ``o`` in words.
    outputs : sequence of str
        The ports.
    """

    IDLE_CLOCKS = 600  # clocks without a transfer, after which a block counts as drained
    POLL_CLOCKS = 50  # clocks from one count of transfers to the next

    def __init__(
        self,
        dut: HierarchyObject,
        expected: Callable[[np.ndarray], np.ndarray | dict[str, np.ndarray]],
        describe: Callable[[np.ndarray], str],
        outputs: Sequence[str] = ("o",),
    ) -> None:
        self._dut = dut
        self._expected = expected
        self._describe = describe
        self._bits = {name: len(getattr(dut, f"{name}__payload")) for name in ("i", *outputs)}
        # Beats are (payload, clock); ``beats_out`` are those of ``o``.
        self.beats_in = []
        self.out = {port: [] for port in outputs}
        self.beats_out = self.out["o"]

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
        wanted = codec.by_port(self._expected(self._packed("i", self.beats_in)))
        for port, beats in self.out.items():
            rows = self._packed(port, beats)
            expected = wanted[port]
            for n, (actual, row) in enumerate(zip(rows, expected, strict=False)):
                words = self._describe if port == "o" else codec.to_hex
                assert (actual == row).all(), (
                    f"{port}: beat {n} at clock {beats[n][1]}\n  got      {words(actual)}\n  "
                    f"expected {words(row)}"
                )
            assert len(rows) == len(expected) > 0, (
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
