# SPDX-License-Identifier: BSD-2-Clause
"""Driver, sink and monitor of a valid/ready stream.

Drive behind the rising edge, observe at the falling one: the same on every simulator.
"""

from collections.abc import Callable, Iterable, Iterator

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, RisingEdge


class _Port:
    def __init__(self, dut, name):
        self._clk = dut.clk
        self._name = name
        self._valid = getattr(dut, f"{name}__valid")
        self._ready = getattr(dut, f"{name}__ready")
        self._payload = getattr(dut, f"{name}__payload")


class StreamDriver(_Port):
    """Sends beats; ``pace`` says in which clocks a new one may be offered.

    What is not valid says the opposite of the last beat, in every bit.
    """

    def __init__(self, dut: HierarchyObject, name: str, pace: Iterator[bool]) -> None:
        super().__init__(dut, name)
        self._pace = pace
        self._valid.value = 0

    async def send(self, beats: Iterable[int]) -> None:
        for beat in beats:
            while not next(self._pace):
                await RisingEdge(self._clk)
            self._payload.value = beat
            self._valid.value = 1
            await FallingEdge(self._clk)
            while not self._ready.value:
                await FallingEdge(self._clk)
            await RisingEdge(self._clk)
            self._valid.value = 0
            self._payload.value = beat ^ (1 << len(self._payload)) - 1


class StreamSink(_Port):
    """Takes beats; ``pace`` says in which clocks."""

    def __init__(self, dut: HierarchyObject, name: str, pace: Iterator[bool]) -> None:
        super().__init__(dut, name)
        self._ready.value = 0
        cocotb.start_soon(self._take(pace))

    async def _take(self, pace):
        while True:
            self._ready.value = int(next(pace))
            await RisingEdge(self._clk)


class StreamMonitor(_Port):
    """Calls ``seen(payload, clock)`` with every beat that moves, and holds the stream to its rules.

    Valid and ready are never X; valid stays until the beat has moved, and so does its payload.
    """

    def __init__(self, dut: HierarchyObject, name: str, seen: Callable[[int, int], object]) -> None:
        super().__init__(dut, name)
        self._rst = dut.rst
        cocotb.start_soon(self._watch(seen))

    async def _watch(self, seen):
        waiting = None
        clock = 0
        while True:
            await FallingEdge(self._clk)
            clock += 1
            if self._rst.value:
                waiting = None
                continue
            valid = self._valid.value
            ready = self._ready.value
            assert valid.is_resolvable, f"{self._name}: valid is {valid}"
            assert ready.is_resolvable, f"{self._name}: ready is {ready}"
            if not valid:
                assert waiting is None, f"{self._name}: valid fell before its beat moved"
                continue
            assert self._payload.value.is_resolvable, f"{self._name}: payload has X"
            payload = self._payload.value.to_unsigned()
            assert waiting in (None, payload), (
                f"{self._name}: payload changed while its beat waited"
            )
            waiting = payload
            if ready:
                waiting = None
                seen(payload, clock)
