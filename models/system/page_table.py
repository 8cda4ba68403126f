# SPDX-License-Identifier: BSD-2-Clause
"""Page tables in memory: which page of local or of system memory a virtual address is."""

from enum import IntEnum, IntFlag

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

SMALL = 4 << 10  # bytes of a page
LARGE = 64 << 10
LEVELS = 3
INDEX = 9  # bits of an address that one level looks at
ENTRIES = 1 << INDEX
ENTRY = 8  # bytes
ADDRESS_BITS = 12 + LEVELS * INDEX
REACH = 1 << 48  # physical addresses lie below


class Flag(IntFlag):
    """Bits of an entry below the page's, or the table's, address."""

    VALID = 1
    WRITABLE = 2
    SYSTEM = 4  # the page is in system memory, across the bus; otherwise in local memory
    LARGE = 8  # the entry is one of 16 that are the same, of a page of 64 KB


class Aperture(IntEnum):
    """Which memory a physical address is in."""

    LOCAL = 0
    SYSTEM = 1


class PageTable:
    """A tree of tables in local memory, which the kernel-mode driver writes.

    An address has three numbers of 9 bits, one a level, and 12 bits within a small page. An entry
    of the last level is a page; one above is a table. A table is a page of 512 entries of 8 bytes.
    A large page takes 16 entries of the last level.

    Parameters
    ----------
    memory : ndarray of uint8
        Local memory, written in place.
    first : int
        Where tables begin, a multiple of 4 KB; the root is the first.
    tables : int
        How many there is room for.
    """

    def __init__(self, memory: np.ndarray, first: int, tables: int) -> None:
        _aligned("first", first, SMALL)
        integer("tables", tables, 1, 1 << 20)
        end = first + tables * SMALL
        if end > len(memory):
            raise InputError("tables", f"end within {len(memory)} bytes", end)
        self.root = first
        self._end = end
        self._free = first + SMALL
        self._words = memory[: len(memory) // ENTRY * ENTRY].view("<u8")
        self._words[first // ENTRY : end // ENTRY] = 0

    def map(
        self,
        virtual: int,
        physical: int,
        size: int,
        aperture: Aperture = Aperture.LOCAL,
        writable: bool = True,
        page: int = SMALL,
    ) -> None:
        """Make pages of physical memory those of virtual addresses.

        Parameters
        ----------
        virtual, physical, size : int
            Bytes, multiples of the page.
        aperture : Aperture
        writable : bool
        page : int
            4 or 64 KB.

        Raises
        ------
        InputError
            What is not on a page's boundary, out of reach, or mapped already; no room for another
            table. Nothing is mapped then, though tables may have been made.
        """
        if page not in (SMALL, LARGE):
            raise InputError("page", f"be {SMALL} or {LARGE} bytes", page)
        for name, value in (("virtual", virtual), ("physical", physical), ("size", size)):
            _aligned(name, value, page)
        if virtual + size > 1 << ADDRESS_BITS:
            raise InputError("virtual", f"end within {ADDRESS_BITS} bits", virtual + size)
        if physical + size > REACH:
            raise InputError("physical", f"end below {REACH}", physical + size)
        flags = Flag.VALID
        flags |= Flag.WRITABLE if writable else 0
        flags |= Flag.SYSTEM if aperture == Aperture.SYSTEM else 0
        flags |= Flag.LARGE if page == LARGE else 0
        places = [self._place(virtual + offset) for offset in range(0, size, SMALL)]
        for number, place in enumerate(places):
            if self._words[place]:
                raise InputError("virtual", "not be mapped yet", virtual + number * SMALL)
        for number, place in enumerate(places):
            self._words[place] = (physical + number * SMALL // page * page) | flags

    def unmap(self, virtual: int, size: int) -> None:
        """Forget pages; those of 64 KB as a whole. What an MMU has kept of them stays there."""
        _aligned("virtual", virtual, SMALL)
        _aligned("size", size, SMALL)
        places = [self._place(virtual + offset) for offset in range(0, size, SMALL)]
        for number, place in enumerate(places):
            entry = int(self._words[place])
            if not entry:
                raise InputError("virtual", "be mapped", virtual + number * SMALL)
            if entry & Flag.LARGE and (virtual % LARGE or size % LARGE):
                raise InputError("virtual and size", f"be of pages of {LARGE} bytes", virtual)
        for place in places:
            self._words[place] = 0

    def _place(self, virtual):
        """Which word of memory the last level's entry is; tables on the way are made."""
        table = self.root
        for level in range(LEVELS - 1):
            place = table // ENTRY + index(virtual, level)
            if not self._words[place]:
                if self._free == self._end:
                    raise InputError("tables", "leave room for another one", self._end)
                self._words[place] = self._free | Flag.VALID
                self._free += SMALL
            table = int(self._words[place]) & -SMALL
        return table // ENTRY + index(virtual, LEVELS - 1)


def index(virtual: int, level: int) -> int:
    """Which entry of its table an address is, at a level from 0, the root."""
    return virtual >> 12 + INDEX * (LEVELS - 1 - level) & ENTRIES - 1


def _aligned(name, value, page):
    integer(name, value, 0, 1 << 52)
    if value % page:
        raise InputError(name, f"be a multiple of {page}", value)
