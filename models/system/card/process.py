# SPDX-License-Identifier: BSD-2-Clause
"""A process: its address space, command buffers on their way, and what is to be uploaded."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fixfunc.models.host.packets import RING, STATES
from fixfunc.models.machine.machine import Machine
from fixfunc.models.machine.memory.undo import Saved
from fixfunc.models.system.card.recording import RecordingDevice, octets
from fixfunc.models.system.kernel_ring import CommandMemory, KernelRing
from fixfunc.models.system.page_table import LARGE, SMALL, Aperture, PageTable
from fixfunc.models.system.user_mode_driver import UserModeDriver
from fixfunc.spec.errors import InputError, Stalled
from fixfunc.spec.ring import STATE_KINDS, TRANSFER

ROOM = 1 << 17  # bytes of command buffers


class DeviceLost(Exception):
    """The card has dropped a process: a command buffer of it hung, or had no translation.

    Attributes
    ----------
    process : str
    reason : Exception
        A ``PageFault``, or :class:`Hung`.
    """

    def __init__(self, process: str, reason: Exception) -> None:
        super().__init__(f"the device of {process} is lost: {reason}")
        self.process = process
        self.reason = reason


class Hung(Exception):
    """A command buffer that takes longer than the timeout."""


@dataclass(frozen=True)
class CommandBuffer:
    """Packets in memory that wait for the card.

    Parameters
    ----------
    address, size : int
        Bytes, virtual.
    uploads : int
        Value of the process' upload fence that it waits for.
    """

    address: int
    size: int
    uploads: int

    @property
    def transfers(self) -> int:
        """Of its packets."""
        return self.size // TRANSFER


class Services(Protocol):
    """What a process asks of the card's kernel-mode driver."""

    machine: Machine
    ring: KernelRing
    memories: Mapping[Aperture, np.ndarray]

    def page_table(self) -> PageTable:
        """A page table for another process."""

    def take_pages(self, count: int) -> list[int]:
        """Free pages of local memory."""

    def give_pages(self, pages: list[int]) -> None:
        """Pages are free again, and have no translation."""

    def upload(self, process: "Process", spans: Mapping[int, int]) -> None:
        """Copy spans of virtual memory, address to bytes, from the host's copies."""

    def download(self, process: "Process", spans: Mapping[int, int]) -> None:
        """Copy spans to the host, behind the last drawing of a process."""

    def run(self) -> object:
        """Execute what processes have submitted."""


class Process:
    """A program that draws: create resources by :attr:`device`, draw by :attr:`context`.

    Virtual addresses of its resources are those of the device. Behind them, from ``space`` on, the
    same addresses are the host's copies, for the DMA engine.

    Parameters
    ----------
    name : str
    card : Services
    base : int
        Where its part of system memory begins.
    space : int
        Bytes of it, and of its virtual memory.
    words : int
        Of a command buffer, as :class:`~fixfunc.models.system.user_mode_driver.UserModeDriver`
        counts them.

    Attributes
    ----------
    device : RecordingDevice
    context : RecordingContext
    table : PageTable
    pending : deque of CommandBuffer
    executed : int
        Command buffers that the card has completed.
    lost : DeviceLost or None
    error : InputError or None
        The first piece of work that broke a rule on the card, until :meth:`finish` raises it.
    """

    def __init__(self, name: str, card: Services, base: int, space: int, words: int) -> None:
        self.name = name
        self._card = card
        self.base = base
        self.space = space
        memory = card.memories[Aperture.SYSTEM][base : base + space]
        self._spans: dict[int, list[int]] = {}  # pages of local memory, by address of a resource
        self._in_system: dict[int, int] = {}  # bytes, by address
        self._stale: set[int] = set()  # resources that the host has written
        self.driver = UserModeDriver(STATE_KINDS, words)
        self.device = RecordingDevice(memory, card.machine, self.driver, self)
        self.context = self.device.context
        self.table: PageTable = card.page_table()
        self._map_host()
        self._memory = memory
        at = self.device.heap.take(ROOM + SMALL)  # a page more: packets are fetched ahead
        self.created(at, in_system=True)
        self.room = CommandMemory(at, ROOM, card.ring)
        self.pending: deque[CommandBuffer] = deque()
        self.uploads = 0
        self.executed = 0
        self.lost: DeviceLost | None = None
        self.error: InputError | None = None
        self.saved = Saved({}, False, {}, ())
        self.pieces = [b""] * STATE_KINDS

    def submit(self) -> None:
        """Give what has been recorded to the card, which executes it with :meth:`Card.run`.

        Raises
        ------
        DeviceLost
        """
        self._check()
        self.driver.flush()
        self._upload()
        buffers, self.driver.buffers = self.driver.buffers, []
        for data in map(octets, buffers):
            try:
                address = self.room.allocate(len(data))
            except Stalled:
                self._card.run()
                self._check()
                address = self.room.allocate(len(data))
            self._memory[address : address + len(data)] = np.frombuffer(data, np.uint8)
            self.pending.append(CommandBuffer(address, len(data), self.uploads))

    def finish(self) -> None:
        """Execute all that has been recorded, and bring results to the host's memory.

        Raises
        ------
        DeviceLost
            The card has dropped this process.
        InputError
            Work that broke a rule on the card: the first.
        """
        self.submit()
        self._card.run()
        self._check()
        self._card.download(self, self._lengths(self._spans))
        if self.error:
            error, self.error = self.error, None
            raise error

    def lose(self, reason: Exception) -> None:
        """The card drops this process."""
        self.lost = DeviceLost(self.name, reason)
        self.pending.clear()

    def written(self, address: int) -> None:
        """The host has written to a resource: the card's copy is stale."""
        if address not in self._in_system:
            self._stale.add(address)

    def created(self, address: int, in_system: bool) -> None:
        """Map a resource: in local memory, or where the host has it."""
        size = self.device.heap.taken[address]
        if in_system:
            self._in_system[address] = size
            self.table.map(address, self.base + address, size, Aperture.SYSTEM)
            return
        pages = self._card.take_pages(size // SMALL)
        self._spans[address] = pages
        for number, page in enumerate(pages):
            self.table.map(address + number * SMALL, page, SMALL)
        self._stale.add(address)

    def released(self, address: int) -> None:
        """Unmap a resource, whose pages are free again."""
        pages = self._spans.pop(address, [])
        size = self._in_system.pop(address, len(pages) * SMALL)
        self._stale.discard(address)
        self.table.unmap(address, size)
        self._card.give_pages(pages)

    def _map_host(self):
        """The main ring, tables of state, and the host's copies, in pages of 64 KB."""
        self.table.map(0, 0, RING, Aperture.SYSTEM, writable=False, page=LARGE)
        state = RING, self.base + RING, STATES
        self.table.map(*state, Aperture.SYSTEM, writable=False, page=LARGE)
        self.table.map(self.space, self.base, self.space, Aperture.SYSTEM, page=LARGE)

    def _upload(self):
        """Copies of what the card does not have yet; others of the heap are mapped first."""
        for address in self.device.heap.taken:
            if address not in self._spans and address not in self._in_system:
                self.created(address, in_system=False)  # of queries, and counters
        if self._stale:
            self.uploads += 1
            self._card.upload(self, self._lengths(self._stale))
            self._stale.clear()

    def _lengths(self, addresses):
        return {address: len(self._spans[address]) * SMALL for address in sorted(addresses)}

    def _check(self):
        if self.lost:
            raise self.lost
