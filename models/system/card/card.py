# SPDX-License-Identifier: BSD-2-Clause
"""The card: its memories, main ring, DMA engine and machine, and which process has them."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from fixfunc.models.host.packets import RING, STATES, Packets
from fixfunc.models.machine.machine import Machine
from fixfunc.models.machine.memory.accesses import Client
from fixfunc.models.payload import integer
from fixfunc.models.system.bus import PCIE_2_X16, Bus
from fixfunc.models.system.card.process import ROOM, CommandBuffer, Hung, Process
from fixfunc.models.system.card.window import Window
from fixfunc.models.system.dma_engine import Copy, Engines, Place, Run, Signal, Wait
from fixfunc.models.system.kernel_ring import KernelRing
from fixfunc.models.system.mmu import REQUEST, Mmu, PageFault
from fixfunc.models.system.page_table import LARGE, SMALL, Aperture, PageTable
from fixfunc.models.system.scheduler import Execution, Scheduler, Submission
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import STATE_BYTES, Event, RingOp, Stop
from fixfunc.spec.ring import Place as Kind

QUEUE = "dma"
COMPLETED = 0  # the register that fences are written to
REACH = 2 << 20  # bytes of virtual addresses that a table of pages has
SCHEDULER = Scheduler(switch=100_000, time_slice=1_000_000, timeout=2 * 10**9, reset=10**6)


class Card:
    """A card with one golden machine for several processes.

    Parameters
    ----------
    local : int
        Bytes of local memory; page tables take the first of it.
    space : int
        Bytes of virtual memory of a process, and of its part of system memory.
    processes : int
        How many there may be.
    scheduler : Scheduler
    bus : Bus
    entries : int
        Of the TLB.
    packet_time : int
        Nanoseconds that the machine takes for 32 bytes of packets, *ours*: it has no clocks.

    Attributes
    ----------
    machine : Machine
        Its memory is :attr:`window`.
    memories : dict of Aperture to ndarray of uint8
    executions : list of Execution
        What became of command buffers, in order.
    spans : list of Span
        Copies of the DMA engine, in the order in which they ended.
    switches, resets : int
    """

    def __init__(
        self,
        local: int = 16 << 20,
        space: int = 4 << 20,
        processes: int = 4,
        scheduler: Scheduler = SCHEDULER,
        bus: Bus = PCIE_2_X16,
        entries: int = 64,
        packet_time: int = 1000,
    ) -> None:
        integer("space", space, RING + STATES + 2 * ROOM, 1 << 28)
        if space % LARGE:
            raise InputError("space", f"be a multiple of {LARGE}", space)
        integer("processes", processes, 1, 64)
        self._tables = 2 + -(-2 * space // REACH) + 1  # the root, two tables of tables, pages
        tables = processes * self._tables * SMALL
        integer("local", local, tables + SMALL, 1 << 32)
        self.memories = {
            Aperture.LOCAL: np.zeros(local, np.uint8),
            Aperture.SYSTEM: np.zeros(RING + processes * space, np.uint8),
        }
        self._free = list(range(tables, local - SMALL + 1, SMALL))
        self._most = processes
        self._space = space
        self._packet_time = integer("packet_time", packet_time, 1, 1 << 30)
        self.scheduler = scheduler
        self.processes: dict[str, Process] = {}
        self.ring = KernelRing(64)
        self._mmu = Mmu(self.memories[Aperture.LOCAL], 0, entries)
        self.window = Window(space, self.memories, self._mmu)
        self.machine = Machine(self.window.data, 0, RING, {})
        self.machine.access = self.window.touch
        self._packets = Packets(self.memories[Aperture.SYSTEM], self.machine)
        self._engines = Engines(self.memories, bus)
        self._copies = Run(self._engines)
        self._current: Process | None = None
        self.now = 0
        self.executions: list[Execution] = []
        self.spans = []
        self.switches = self.resets = 0

    def process(self, name: str, words: int = 256) -> Process:
        """A new process.

        Raises
        ------
        InputError
            One of that name, or one too many.
        """
        if name in self.processes:
            raise InputError("name", "be new", name)
        integer("processes", len(self.processes) + 1, 1, self._most)
        base = RING + len(self.processes) * self._space
        self.processes[name] = Process(name, self, base, self._space, words)
        return self.processes[name]

    def run(self) -> list[Execution]:
        """Execute what processes have submitted, one at a time, as the scheduler says.

        A command buffer that hangs, or whose access has no translation, is reset; its process is
        lost, and others go on.
        """
        submissions = {
            name: [
                Submission(self.now, partial(self._execute, process, buffer))
                for buffer in process.pending
            ]
            for name, process in self.processes.items()
        }
        found = self.scheduler.run(submissions)
        for execution in found:
            process = self.processes[execution.process]
            if not execution.completed and not process.lost:
                process.lose(Hung(f"longer than {self.scheduler.timeout} ns"))
        for process in self.processes.values():
            process.pending.clear()
        if found:
            self.now = found[-1].end
        self.spans += self._copies.advance(self.now)
        self.executions += found
        return found

    # Memory.

    def page_table(self) -> PageTable:
        """A page table for another process."""
        first = len(self.processes) * self._tables * SMALL
        return PageTable(self.memories[Aperture.LOCAL], first, self._tables)

    def take_pages(self, count: int) -> list[int]:
        """Free pages of local memory; too many raise ``InputError``."""
        if count > len(self._free):
            raise InputError("local memory", f"have {count} free pages", len(self._free))
        found, self._free = self._free[:count], self._free[count:]
        return found

    def give_pages(self, pages: list[int]) -> None:
        """Pages are free again, the next ones, and have no translation."""
        self._free = pages[::-1] + self._free
        self.invalidate()

    def invalidate(self) -> None:
        """Entries of page tables have changed: the TLB keeps none."""
        self._mmu.invalidate()

    def upload(self, process: Process, spans: Mapping[int, int]) -> None:
        """Copy spans of virtual memory, address to bytes, from the host's copies."""
        copies = self._translated(process, spans, to_host=False)
        name = _uploaded(process)
        self._copies.submit(QUEUE, [*copies, Signal(name, process.uploads)])

    def download(self, process: Process, spans: Mapping[int, int]) -> None:
        """Copy spans to the host, behind the last drawing of a process, and wait for it."""
        copies = self._translated(process, spans, to_host=True)
        self._copies.submit(QUEUE, [Wait(_drawn(process), process.executed), *copies])
        self.spans += self._copies.advance()
        self._copies.check()
        self.now = max(self.now, self._copies.now)

    def _translated(self, process, spans, to_host):
        """Copies by physical addresses: pieces that lie in one row on both sides."""
        mmu = Mmu(self.memories[Aperture.LOCAL], process.table.root)
        found = []
        for begin, size in spans.items():
            pages = np.arange(begin, begin + size, SMALL)
            requests = np.zeros((2, len(pages)), REQUEST)
            requests["client"] = Client.DMA
            requests["address"] = pages, pages + process.space
            requests["write"][int(to_host)] = True
            local, host = (mmu.translate(row) for row in requests)
            ends = zip(host, local, strict=True)
            for source, target in ((b, a) if to_host else (a, b) for a, b in ends):
                _append(found, *(_place(it) for it in (source, target)))
        return found

    # Execution.

    def _execute(self, process: Process, buffer: CommandBuffer, begin: int) -> int | None:
        """Execute a command buffer; returns nanoseconds, or None: it is reset."""
        self.spans += self._copies.advance(begin)
        uploaded = Wait(_uploaded(process), buffer.uploads)
        while not self._engines.over(uploaded):
            self.spans += self._copies.advance(self._copies.next_end)
        waited = self._copies.now - begin
        self._switch(process)
        self.window.forget()
        sequence = self.ring.submit(buffer.address, buffer.size)
        process.room.submitted(buffer.address, sequence)
        entry = self.ring.take()
        reason = self._call(process, entry)
        self.machine.settle()
        self.window.write_back()
        self.ring.complete()
        if reason:
            self._reset(process, reason)
            return None
        process.executed += 1
        time = waited + buffer.transfers * self._packet_time
        self.spans += self._copies.advance(begin + time)
        self._engines.fences[_drawn(process)] = process.executed
        return time

    def _call(self, process, entry):
        """Let the machine execute an entry of the ring; returns why it does not come back."""
        packets = self._packets
        packets.put(RingOp.CALL, address=entry.address)
        fence = {"place": Kind.REGISTER, "where": COMPLETED, "value": entry.sequence}
        try:
            stopped = packets.emit(RingOp.EVENT, event=Event.ALL_DONE, interrupt=1, **fence)
            if stopped.stop != Stop.EMPTY:
                return Hung(f"command buffer {entry.sequence} waits for ever")
        except PageFault as fault:
            return fault
        except InputError as error:
            process.error = process.error or error
        if self.machine.processor.registers[COMPLETED] != entry.sequence:
            return Hung(f"command buffer {entry.sequence} has no end: {process.error}")
        return None

    def _switch(self, process):
        """Save the state of the process that has the machine, and bring another one's."""
        if self._current is process:
            return
        if self._current:
            slots = self.machine.processor.slots
            self._current.pieces = [
                slots.value(kind, n) if n >= 0 else b"" for kind, n in enumerate(slots.current)
            ]
            self._current.saved = self.machine.saved({})
        self._current = process
        self.switches += 1
        self._mmu.switch(process.table.root)
        self.window.forget()
        self.machine.restore(process.saved)
        for kind, value in enumerate(process.pieces):
            self._packets.put(RingOp.SET_STATE, value.ljust(STATE_BYTES, b"\0"), state_kind=kind)

    def _reset(self, process, reason):
        """Begin anew with an empty ring, and without the process that was there."""
        process.lose(reason)
        self.window.forget()
        self.machine.reset()
        self._packets = Packets(self.memories[Aperture.SYSTEM], self.machine)
        self._current = None
        self.resets += 1


def _uploaded(process):
    return f"{process.name} uploaded"


def _drawn(process):
    return f"{process.name} drawn"


def _place(translated):
    return Place(Aperture(int(translated["aperture"])), int(translated["address"]))


def _append(copies, source, target):
    """Copy a page; as part of the copy before, if it lies behind that on both sides."""
    if copies:
        last = copies[-1]
        ends = (
            Place(last.source.aperture, last.source.address + last.size),
            Place(last.destination.aperture, last.destination.address + last.size),
        )
        if ends == (source, target):
            copies[-1] = Copy(last.source, last.destination, last.size + SMALL)
            return
    copies.append(Copy(source, target, SMALL))
