# SPDX-License-Identifier: BSD-2-Clause
"""Virtual memory as the machine sees it: pages that the MMU has translated, until a fence."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from fixfunc.models.machine.memory.accesses import Access, Client
from fixfunc.models.system.mmu import REQUEST, FaultReason, Mmu, PageFault
from fixfunc.models.system.page_table import SMALL, Aperture

UNKNOWN = 0xCD  # bytes of pages that nobody has translated


class Window:
    """The memory of a machine whose addresses are virtual.

    Every access is translated. A page is copied to the window when it is first touched, and what
    may have been written goes back to its memory with :meth:`write_back`: at each fence memory has
    the bytes that it had if every access went there.

    Parameters
    ----------
    size : int
        Bytes of virtual memory, whole pages.
    memories : mapping of Aperture to ndarray of uint8
    mmu : Mmu

    Attributes
    ----------
    data : ndarray of uint8
    counts : dict of Client to Counter
        Of each client: ``pages`` of its accesses, those in ``system`` memory, ``hits`` of the TLB,
        and entries of page tables that were read (``walk``).
    """

    def __init__(self, size: int, memories: Mapping[Aperture, np.ndarray], mmu: Mmu) -> None:
        self.data = np.full(size, UNKNOWN, np.uint8)
        self.counts = {client: Counter() for client in Client}
        self._memories = memories
        self._mmu = mmu
        self._pages: dict[int, tuple[np.ndarray, bool]] = {}  # where it lies, whether it is written

    def touch(self, access: Access) -> None:
        """Translate the pages of an access, and bring those that are not there yet.

        Raises
        ------
        PageFault
            The first one that has no translation, or may not be written; or lies beyond.
        """
        end = access.address + access.size
        numbers = range(access.address // SMALL, -(-end // SMALL))
        requests = np.zeros(len(numbers), REQUEST)
        requests["address"] = [max(page * SMALL, access.address) for page in numbers]
        requests["write"] = access.write
        requests["client"] = access.client
        for number, request in enumerate(requests):
            if request["address"] >= len(self.data):
                raise PageFault(request, FaultReason.BEYOND, None, number)
        found = self._mmu.translate(requests)
        for page, place in zip(numbers, found, strict=True):
            if page not in self._pages or (access.write and not self._pages[page][1]):
                self._bring(page, place, access.write)
        self.counts[access.client].update(
            pages=len(found),
            system=int((found["aperture"] == Aperture.SYSTEM).sum()),
            hits=int(found["hit"].sum()),
            walk=int(found["walk"].sum()),
        )

    def write_back(self) -> None:
        """Bring what may have been written to the memories."""
        for page, (memory, is_written) in self._pages.items():
            if is_written:
                memory[:] = self._span(page)

    def forget(self) -> None:
        """Keep no page: others may write to them, or another process may have the machine."""
        self._pages.clear()
        self.data[:] = UNKNOWN

    def _bring(self, page, place, is_written):
        begin = int(place["address"]) // SMALL * SMALL
        memory = self._memories[Aperture(int(place["aperture"]))][begin : begin + SMALL]
        if page not in self._pages:
            self._span(page)[:] = memory
        self._pages[page] = memory, is_written

    def _span(self, page):
        return self.data[page * SMALL : (page + 1) * SMALL]
