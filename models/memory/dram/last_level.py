# SPDX-License-Identifier: BSD-2-Clause
"""A cache of all clients before DRAM, as the last level [rtr 23.4, 23.10.2, 23.10.3]."""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from fixfunc.models.memory.dram.accesses import ACCESS, COLUMN, check
from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

CLIENTS = 256


@dataclass(frozen=True)
class Filtered:
    """What comes of accesses.

    Parameters
    ----------
    hit : ndarray of bool, shape (n,)
        Accesses that ask DRAM for nothing. A write always is one: its column is not fetched.
    accesses : ndarray of ACCESS
        What DRAM is asked for: columns that are fetched, and written ones of lines that go. Those
        have the client that wrote them last, and the clock of the access that they go for.
    """

    hit: np.ndarray
    accesses: np.ndarray

    @property
    def read(self) -> int:
        """Bytes that are fetched."""
        return COLUMN * int((~self.accesses["write"]).sum())

    @property
    def written(self) -> int:
        """Bytes that are written back."""
        return COLUMN * int(self.accesses["write"].sum())


@dataclass(frozen=True)
class LastLevelCache:
    """Lines of columns of 32 bytes, each of which is there or not, and written or not.

    Parameters
    ----------
    size : int
        Bytes.
    ways : int
        Of a set; the least recently used line goes.
    line : int
        Bytes, whole columns: a power of two.
    """

    size: int
    ways: int = 16
    line: int = 128

    def __post_init__(self):
        integer("line", self.line, COLUMN, 1 << 12)
        integer("ways", self.ways, 1, 1 << 16)
        integer("size", self.size, self.line * self.ways, 1 << 32)
        sets = self.size // (self.line * self.ways)
        if self.line & self.line - 1:
            raise InputError("line", "be a power of two", self.line)
        if sets & sets - 1 or sets * self.line * self.ways != self.size:
            raise InputError("size", "make a power of two of sets of lines", self.size)

    @property
    def sets(self) -> int:
        """How many there are."""
        return self.size // (self.line * self.ways)

    def filter(self, accesses: np.ndarray, flush: bool = True) -> Filtered:
        """Put accesses through the cache, which is empty before.

        Parameters
        ----------
        accesses : ndarray of ACCESS, shape (n,)
            Of a DRAM, with its errors.
        flush : bool
            At the end all written columns go to DRAM.
        """
        check(accesses)
        columns = self.line // COLUMN
        sets: list[OrderedDict[int, list]] = [OrderedDict() for _ in range(self.sets)]
        hit = np.zeros(len(accesses), bool)
        out: list[tuple[int, int, bool, int]] = []
        clock = 0
        for n, (clock, address, write, client) in enumerate(
            zip(*(accesses[it].tolist() for it in ("clock", "address", "write", "client")))
        ):
            number, column = divmod(address // COLUMN, columns)
            lines = sets[number % self.sets]
            if number not in lines:
                if len(lines) == self.ways:
                    out += self._written(*lines.popitem(last=False), clock)
                lines[number] = [None] * columns  # not there; else who has written it, or -1
            lines.move_to_end(number)
            line = lines[number]
            hit[n] = write or line[column] is not None
            if write:
                line[column] = client
            elif line[column] is None:
                line[column] = -1
                out.append((clock, address, False, client))
        if flush:
            for lines in sets:
                for number, line in lines.items():
                    out += self._written(number, line, clock)
        return Filtered(hit, _records(out))

    def _written(self, number, line, clock):
        """Columns of a line that must go to DRAM."""
        begin = number * self.line
        return [
            (clock, begin + COLUMN * column, True, client)
            for column, client in enumerate(line)
            if client is not None and client >= 0
        ]


def hits(found: Filtered, accesses: np.ndarray) -> dict[int, float]:
    """Share of each client's reads that ask DRAM for nothing; clients without reads have none."""
    reads = ~accesses["write"]
    own = accesses["client"][reads]
    count = np.bincount(own, minlength=CLIENTS)
    there = np.bincount(own, found.hit[reads], minlength=CLIENTS)
    return {int(it): float(there[it] / count[it]) for it in np.flatnonzero(count)}


def _records(rows):
    found = np.zeros(len(rows), ACCESS)
    for name, column in zip(("clock", "address", "write", "client"), zip(*rows)):
        found[name] = column
    return found


# 256 KB beside each of eight memory controllers, 2 MB in all [rtr 23.10.2]; ways and lines are
# *ours*.
GTX_1080_L2 = LastLevelCache(2 << 20)
