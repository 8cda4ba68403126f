# SPDX-License-Identifier: BSD-2-Clause
"""The MMU: virtual addresses become local or system ones, through a TLB, or fault."""

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.models.system.page_table import (
    ADDRESS_BITS,
    ENTRY,
    LARGE,
    LEVELS,
    SMALL,
    Aperture,
    Flag,
    index,
)
from fixfunc.spec.errors import InputError

REQUEST = np.dtype([("address", "u8"), ("write", "?"), ("client", "u1")])
TRANSLATED = np.dtype(
    [
        ("address", "u8"),  # physical
        ("aperture", "u1"),  # Aperture
        ("hit", "?"),  # in the TLB
        ("walk", "u1"),  # entries of page tables that were read
    ]
)


class FaultReason(Enum):
    """Why an address has no translation."""

    BEYOND = "lies beyond the address space"
    UNMAPPED = "is not mapped"
    READ_ONLY = "may not be written"


class PageFault(Exception):
    """A client's access that the MMU refuses.

    Attributes
    ----------
    address : int
        Virtual.
    client : int
    write : bool
    reason : FaultReason
    level : int or None
        Of the page table whose entry is missing, 0 being the root; None: the page is there, or the
        address is beyond.
    number : int
        The number of the request in its row; those before have been translated.
    """

    def __init__(
        self, request: np.void, reason: FaultReason, level: int | None, number: int
    ) -> None:
        self.address = int(request["address"])
        self.client = int(request["client"])
        self.write = bool(request["write"])
        self.reason = reason
        self.level = level
        self.number = number
        way = "write" if self.write else "read"
        super().__init__(f"{way} of {self.address:#x} by client {self.client} {reason.value}")


@dataclass(frozen=True)
class _Page:
    """What the TLB keeps."""

    address: int
    flags: Flag
    size: int


class Mmu:
    """Translates requests in order.

    A walk reads an entry a level, three in all. The TLB holds pages of either size, and forgets the
    one that has not been used for the longest time. What is not mapped is not kept.

    Parameters
    ----------
    memory : ndarray of uint8
        Local memory, which has the page table.
    root : int
        Where its first table lies.
    entries : int
        Of the TLB.
    """

    def __init__(self, memory: np.ndarray, root: int, entries: int = 64) -> None:
        integer("entries", entries, 1, 1 << 16)
        self._words = memory[: len(memory) // ENTRY * ENTRY].view("<u8")
        self._root = root
        self._entries = entries
        self._tlb: OrderedDict[tuple[int, int], _Page] = OrderedDict()

    def switch(self, root: int) -> None:
        """Translate by another page table from now on."""
        self._root = root
        self.invalidate()

    def invalidate(self) -> None:
        """Forget all pages: their entries may have changed."""
        self._tlb.clear()

    def translate(self, requests: np.ndarray) -> np.ndarray:
        """Physical addresses of requests: TRANSLATED, shape (n,).

        Parameters
        ----------
        requests : ndarray of REQUEST, shape (n,)

        Raises
        ------
        PageFault
            The first request that has no translation. The TLB keeps the pages of those before.
        """
        if requests.dtype != REQUEST or requests.ndim != 1:
            raise InputError("requests", "be a row of REQUEST", requests.dtype)
        found = np.zeros(len(requests), TRANSLATED)
        for number, request in enumerate(requests):
            virtual = int(request["address"])
            if virtual >> ADDRESS_BITS:
                raise PageFault(request, FaultReason.BEYOND, None, number)
            page, hit = self._page(request, number)
            if request["write"] and not page.flags & Flag.WRITABLE:
                raise PageFault(request, FaultReason.READ_ONLY, None, number)
            aperture = Aperture.SYSTEM if page.flags & Flag.SYSTEM else Aperture.LOCAL
            physical = page.address + virtual % page.size
            found[number] = (physical, aperture, hit, 0 if hit else LEVELS)
        return found

    def _page(self, request, number):
        """The page of a request, and whether the TLB had it."""
        virtual = int(request["address"])
        for size in (SMALL, LARGE):
            key = size, virtual // size
            if key in self._tlb:
                self._tlb.move_to_end(key)
                return self._tlb[key], True
        table = self._root
        for level in range(LEVELS):
            entry = int(self._words[table // ENTRY + index(virtual, level)])
            if not entry & Flag.VALID:
                raise PageFault(request, FaultReason.UNMAPPED, level, number)
            table = entry & -SMALL
        flags = Flag(entry & SMALL - 1)
        page = _Page(table, flags, LARGE if flags & Flag.LARGE else SMALL)
        if len(self._tlb) == self._entries:
            self._tlb.popitem(last=False)
        self._tlb[page.size, virtual // page.size] = page
        return page, False
