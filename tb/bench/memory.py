# SPDX-License-Identifier: BSD-2-Clause
"""A memory behind the AXI4 ports of a block."""

import random
from collections.abc import Callable, Sequence

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.tb.bench.pace import PACES


class MemoryBehind:
    """For a bench: one memory of bytes behind several ports."""

    IDLE_CLOCKS = 1200  # clocks: a starved memory may take as long from one transfer to the next

    def attach(self, dut: HierarchyObject, ports: Sequence[str], size: int) -> None:
        """Put a memory of ``size`` bytes behind all ``ports``, which share it."""
        from cocotbext.axi import AxiBus, AxiRam
        from cocotbext.axi.memory import Memory

        shared = Memory(size).mem
        self._transfers = 0
        self._unreadable = -1
        self._rams = [
            AxiRam(AxiBus.from_prefix(dut, f"{port}_"), dut.clk, dut.rst, size=size, mem=shared)
            for port in ports
        ]
        for ram in self._rams:
            ram.write_if.write = self._counted(ram.write_if.write)
            ram.read_if.read = self._counted(self._readable(ram.read_if.read))

    def _counted(self, access: Callable) -> Callable:
        """``access``, counted as a transfer."""

        def count(*request):
            self._transfers += 1
            return access(*request)

        return count

    def _readable(self, access: Callable) -> Callable:
        """``access``, but for a transfer that cannot be read: the memory answers SLVERR."""

        def read(address, length):
            if address <= self._unreadable < address + length:
                raise OSError(f"{self._unreadable:#x} cannot be read")
            return access(address, length)

        return read

    def fail_at(self, byte: int | None) -> None:
        """Reads of the transfer that holds a byte fail from now on; of None, no read does."""
        self._unreadable = -1 if byte is None else byte

    def transfers(self) -> int:
        """Beats out, and transfers to and from memory."""
        return super().transfers() + self._transfers

    def fill(self, data: np.ndarray, pace: str) -> None:
        """Write the first contents; every channel gets a pace of its own."""
        self._rams[0].write(0, data.tobytes())
        channels = [
            channel
            for ram in self._rams
            for channel in (
                ram.write_if.aw_channel,
                ram.write_if.w_channel,
                ram.write_if.b_channel,
                ram.read_if.ar_channel,
                ram.read_if.r_channel,
            )
        ]
        for n, channel in enumerate(channels):
            channel.set_pause_generator(
                not ready for ready in PACES[pace](random.Random(cocotb.RANDOM_SEED + n))
            )

    def hold_answers(self) -> None:
        """What has been read, and what is asked for, is not answered before memory is filled."""
        for ram in self._rams:
            ram.read_if.r_channel.clear_pause_generator()
            ram.read_if.r_channel.pause = True

    def check_memory(self, golden: np.ndarray) -> None:
        """It holds these bytes, as rows of 32."""
        stored = np.frombuffer(self._rams[0].read(0, golden.nbytes), np.uint64).reshape(
            golden.shape
        )
        assert stored.any() and (stored == golden).all(), (
            f"memory: transfers {np.flatnonzero((stored != golden).any(1))[:8]}"
        )
