# SPDX-License-Identifier: BSD-2-Clause
"""The kernel-mode driver's main ring: command buffers in order, each with a sequence number."""

from collections import deque
from dataclasses import dataclass

from fixfunc.models.payload import integer
from fixfunc.models.system.sequence import WRAP, reached
from fixfunc.spec.errors import InputError, Stalled

ALIGNMENT = 256  # bytes, of a command buffer


@dataclass(frozen=True)
class Entry:
    """A command buffer in the ring: where it is, and its number."""

    address: int
    size: int
    sequence: int


class KernelRing:
    """Entries between a write pointer, of the driver, and a read pointer, of the card.

    Equal pointers are an empty ring, so that one entry stays free. The card writes the number of
    what it has completed; numbers follow each other and wrap.

    Parameters
    ----------
    entries : int
        A power of two of them.
    first : int
        Number of the first command buffer.

    Attributes
    ----------
    read, write : int
        The pointers, as the registers hold them.
    completed : int
        What the card has written last.
    """

    def __init__(self, entries: int, first: int = 1) -> None:
        integer("entries", entries, 2, 1 << 20)
        if entries & entries - 1:
            raise InputError("entries", "be a power of two", entries)
        integer("first", first, 0, WRAP - 1)
        if entries >= WRAP // 2:
            raise InputError("entries", "be fewer than half of the numbers", entries)
        self._ring: list[Entry | None] = [None] * entries
        self._next = first
        self._taken: deque[int] = deque()
        self.read = 0
        self.write = 0
        self.completed = (first - 1) % WRAP

    def submit(self, address: int, size: int) -> int:
        """Put a command buffer into the ring; returns its sequence number.

        Raises
        ------
        Stalled
            The ring is full.
        """
        behind = (self.write + 1) % len(self._ring)
        if behind == self.read:
            raise Stalled("the ring is full")
        sequence = self._next
        self._ring[self.write] = Entry(address, size, sequence)
        self._next = (sequence + 1) % WRAP
        self.write = behind
        return sequence

    def take(self) -> Entry | None:
        """The card reads the next entry, whose place is free then; None: there is none."""
        if self.read == self.write:
            return None
        entry = self._ring[self.read]
        self.read = (self.read + 1) % len(self._ring)
        self._taken.append(entry.sequence)
        return entry

    def complete(self) -> int:
        """The card has executed the oldest that it has taken; returns its number.

        Raises
        ------
        InputError
            It has taken none.
        """
        if not self._taken:
            raise InputError("complete", "come behind a take", "before one")
        self.completed = self._taken.popleft()
        return self.completed

    def done(self, sequence: int) -> bool:
        """Whether a command buffer has been executed: its fence has come back."""
        return reached(self.completed, sequence)


class CommandMemory:
    """Room for command buffers, given out in turn, and free again when they have been executed.

    The user-mode driver takes pieces of one large allocation. A piece never goes around the end.

    Parameters
    ----------
    first, size : int
        Bytes of the allocation, multiples of 256.
    ring : KernelRing
        Whose fences tell what is free.
    """

    def __init__(self, first: int, size: int, ring: KernelRing) -> None:
        for name, value in (("first", first), ("size", size)):
            if integer(name, value, 0, 1 << 48) % ALIGNMENT:
                raise InputError(name, f"be a multiple of {ALIGNMENT}", value)
        self._first = first
        self._size = size
        self._ring = ring
        self._live: deque[tuple[int, int, int | None]] = deque()  # begin, end, sequence

    def allocate(self, size: int) -> int:
        """An address for a command buffer of so many bytes.

        Raises
        ------
        InputError
            More than there is at all.
        Stalled
            What is there has not been executed yet.
        """
        room = -(-integer("size", size, 1, self._size) // ALIGNMENT) * ALIGNMENT
        while self._live and self._live[0][2] is not None and self._ring.done(self._live[0][2]):
            self._live.popleft()
        begin = self._live[-1][1] if self._live else 0
        oldest = self._live[0][0] if self._live else self._size
        wrapped = bool(self._live) and begin <= oldest
        if not wrapped and begin + room > self._size:
            begin = 0
            wrapped = bool(self._live)
        if begin + room > (oldest if wrapped else self._size):
            raise Stalled("command buffers are not executed yet")
        self._live.append((begin, begin + room, None))
        return self._first + begin

    def submitted(self, address: int, sequence: int) -> None:
        """A command buffer is in the ring: its room is free behind its number.

        Raises
        ------
        InputError
            No piece that waits for a number is there.
        """
        for place, (begin, end, own) in enumerate(self._live):
            if self._first + begin == address and own is None:
                self._live[place] = (begin, end, sequence)
                return
        raise InputError("address", "be of an allocation that is not submitted", address)
