# SPDX-License-Identifier: BSD-2-Clause
"""Heap of a device: where resources lie in memory."""

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

ALIGNED = 256  # bytes


class Heap:
    """Spans of memory, given out first fit.

    Parameters
    ----------
    begin, end : int
        Bytes.
    aligned : int
        Spans begin on a boundary of so many bytes, and take whole ones.
    """

    def __init__(self, begin: int, end: int, aligned: int = ALIGNED) -> None:
        self._aligned = aligned
        self._free = [(-(-begin // aligned) * aligned, end)]
        self._taken: dict[int, int] = {}

    @property
    def taken(self) -> dict[int, int]:
        """Spans that are given out: address to bytes."""
        return dict(self._taken)

    def take(self, size: int) -> int:
        """Address of a free span.

        Raises
        ------
        InputError
            There is none of that size.
        """
        size = -(-integer("size", size, 1, 1 << 32) // self._aligned) * self._aligned
        for n, (begin, end) in enumerate(self._free):
            if end - begin >= size:
                self._free[n] = begin + size, end
                self._taken[begin] = size
                return begin
        most = max((end - begin for begin, end in self._free), default=0)
        raise InputError("size", f"fit memory, of which {most} bytes in a row are free", size)

    def give(self, address: int) -> None:
        """Give a span back; what was not taken raises ``InputError``."""
        if address not in self._taken:
            raise InputError("address", "be that of a span that is taken", address)
        spans = sorted([*self._free, (address, address + self._taken.pop(address))])
        self._free = []
        for begin, end in spans:
            joins = self._free and self._free[-1][1] == begin
            self._free.append((self._free.pop()[0] if joins else begin, end))
