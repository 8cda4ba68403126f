# SPDX-License-Identifier: BSD-2-Clause
"""Pages on demand: local memory is a cache of system memory, page by page [rtr 23.10.3]."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.models.system.bus import PCIE_3_X16, Bus
from fixfunc.models.system.mmu import FaultReason, Mmu, PageFault
from fixfunc.models.system.page_table import SMALL, Aperture, PageTable
from fixfunc.spec.errors import InputError


@dataclass
class Moved:
    """What pages on demand have cost.

    Parameters
    ----------
    brought, written_back, dropped : int
        Pages from system memory, back to it, and taken away without having been written.
    time : int
        Nanoseconds of the bus.
    """

    brought: int = 0
    written_back: int = 0
    dropped: int = 0
    time: int = 0


class DemandPaging:
    """Virtual memory that lies in system memory, of which local memory holds what is in use.

    An access whose page is not mapped faults; the page is copied to a page of local memory, and
    mapped. If none is free the one that has not been used for the longest time goes: back to system
    memory, if it may have been written.

    Parameters
    ----------
    memories : mapping of Aperture to ndarray of uint8
    table : PageTable
    mmu : Mmu
        Of that table.
    home : int
        Where virtual address 0 lies in system memory, on a page's boundary.
    size : int
        Bytes of virtual memory, whole pages.
    frames : sequence of int
        Pages of local memory that may be used, by address.
    bus : Bus

    Attributes
    ----------
    moved : Moved
    """

    def __init__(
        self,
        memories: Mapping[Aperture, np.ndarray],
        table: PageTable,
        mmu: Mmu,
        home: int,
        size: int,
        frames: Sequence[int],
        bus: Bus = PCIE_3_X16,
    ) -> None:
        for name, value in (("home", home), ("size", size), *(("frame", it) for it in frames)):
            if integer(name, value, 0, 1 << 48) % SMALL:
                raise InputError(name, f"be a multiple of {SMALL}", value)
        integer("home and size", home + size, 0, len(memories[Aperture.SYSTEM]))
        integer("frames", len(set(frames)), max(1, len(frames)), 1 << 36)
        integer("last frame", max(frames), 0, len(memories[Aperture.LOCAL]) - SMALL)
        self._memories = memories
        self._table = table
        self._mmu = mmu
        self._home = home
        self._size = size
        self._free = list(frames)
        self._bus = bus
        self._resident: OrderedDict[int, tuple[int, bool]] = OrderedDict()  # frame, may be written
        self.moved = Moved()

    @property
    def resident(self) -> list[int]:
        """Virtual pages in local memory, the least recently used first."""
        return list(self._resident)

    def translate(self, requests: np.ndarray) -> np.ndarray:
        """As :meth:`Mmu.translate`, and pages come where they are missing.

        A translation holds until the next one whose page is missing.

        Raises
        ------
        PageFault
            A request beyond virtual memory.
        """
        parts = []
        first = 0
        while first < len(requests):
            try:
                parts.append(self._mmu.translate(requests[first:]))
                number = len(requests) - first
            except PageFault as fault:
                number = fault.number
                if number:
                    parts.append(self._mmu.translate(requests[first : first + number]))
                self._use(requests[first : first + number])
                if fault.reason != FaultReason.UNMAPPED or fault.address >= self._size:
                    raise
                self._bring(fault.address // SMALL)
            else:
                self._use(requests[first:])
            first += number
        return np.concatenate(parts) if parts else self._mmu.translate(requests)

    def flush(self) -> None:
        """Bring everything that may have been written to system memory, and unmap all pages."""
        while self._resident:
            self._evict()

    def _use(self, requests):
        """Accesses of pages that are there: their order is what is forgotten first."""
        for page, write in zip(requests["address"] // SMALL, requests["write"], strict=True):
            frame, is_written = self._resident[int(page)]
            self._resident[int(page)] = frame, is_written or bool(write)
            self._resident.move_to_end(int(page))

    def _bring(self, page):
        if not self._free:
            self._evict()
        frame = self._free.pop(0)
        self._local(frame)[:] = self._system(page)
        self._table.map(page * SMALL, frame, SMALL)
        self._resident[page] = frame, False
        self.moved.brought += 1
        self.moved.time += self._bus.time(SMALL)

    def _evict(self):
        """Take away the least recently used page."""
        page, (frame, is_written) = self._resident.popitem(last=False)
        self._table.unmap(page * SMALL, SMALL)
        self._mmu.invalidate()
        self._free.insert(0, frame)
        if not is_written:
            self.moved.dropped += 1
            return
        self._system(page)[:] = self._local(frame)
        self.moved.written_back += 1
        self.moved.time += self._bus.time(SMALL)

    def _local(self, frame):
        return self._memories[Aperture.LOCAL][frame : frame + SMALL]

    def _system(self, page):
        begin = self._home + page * SMALL
        return self._memories[Aperture.SYSTEM][begin : begin + SMALL]
