# SPDX-License-Identifier: BSD-2-Clause
"""Command processor: packets of a ring become work, waits and writes."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.state.slots import POOL, StateSlots
from fixfunc.models.payload import integer, unpack
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import (
    CALLS,
    FIELDS,
    LENGTHS,
    REGISTERS,
    STATE_KINDS,
    TRANSFER,
    WORK,
    Condition,
    Event,
    Place,
    RingError,
    RingOp,
    Stop,
    Strategy,
)

WORD = 1 << 32
AHEAD = 16  # transfers in the prefetch FIFO
ENDLESS = 1 << 16  # packets between two stops that are too many, beside those that memory holds


class Work(NamedTuple):
    """A packet that is executed in order, such as a draw call, with the state it begins with."""

    op: RingOp
    packet: np.void  # fields of FIELDS[op]
    slots: tuple[int, ...]  # of each kind of state
    more: tuple[bytes, ...] = ()  # its further transfers


class Stopped(NamedTuple):
    """Where the processor stands."""

    stop: Stop
    error: RingError
    at: int  # address of the packet that it stands at


@dataclass
class _Pending:
    """A write that waits for an event of the work before it."""

    packet: np.void
    work: int  # how many pieces of work lie before it


class CommandProcessor:
    """A processor with its ring, its registers and the work in flight.

    Parameters
    ----------
    memory : ndarray of uint8
        Read and written in place.
    base, size : int
        Of the ring, in bytes: whole transfers.
    strategy : Strategy
        How state changes.
    pool : int
        Slots of a kind of state.
    can_present : callable, optional
        Whether the display of a PRESENT packet has a buffer for it; by default it always has.
    reach : callable, optional
        Is told address, bytes, and whether they are written, before packets are fetched and before
        they read or write memory.

    Attributes
    ----------
    registers : list of int
        Host and packets read and write them.
    work : deque of Work
        Begun and not over, oldest first.
    interrupts : int
        So far.
    slots : StateSlots

    Nothing hangs: packets without an end are an error once they are 2^16 more than memory holds.
    """

    def __init__(
        self,
        memory: np.ndarray,
        base: int,
        size: int,
        strategy: Strategy = Strategy.POOL,
        pool: int = POOL,
        can_present: Callable[[np.void], bool] = lambda _packet: True,
        reach: Callable[[int, int, bool], None] = lambda _address, _size, _write: None,
    ) -> None:
        integer("base", base, 0, len(memory) - TRANSFER)
        integer("size", size, TRANSFER, len(memory) - base)
        for name, value in (("base", base), ("size", size)):
            if value % TRANSFER:
                raise InputError(name, f"be a multiple of {TRANSFER}", value)
        self._memory = memory
        self._ring = range(base, base + size)
        self._write = base
        self._fetch = base
        self._fifo: deque[tuple[int, bytes]] = deque()
        self._returns: list[int] = []
        self._error = RingError.NONE
        self._at = base
        self._pending: list[_Pending] = []
        self._begun = 0
        self._done = dict.fromkeys(Event, 0)
        self.registers = [0] * REGISTERS
        self.work: deque[Work] = deque()
        self.interrupts = 0
        self._can_present = can_present
        self._reach = reach
        self.slots = StateSlots(strategy, pool)

    @property
    def read(self) -> int:
        """The read pointer: packets before it may be overwritten."""
        return self._fifo[0][0] if self._fifo else self._fetch

    def submit(self, write: int) -> Stopped:
        """Move the write pointer: packets before it are there. Then go on.

        Raises
        ------
        InputError
            It does not lie in the ring, or not on a transfer.
        """
        integer("write pointer", write, self._ring.start, self._ring.stop - 1)
        if write % TRANSFER:
            raise InputError("write pointer", f"be a multiple of {TRANSFER}", write)
        self._write = write
        return self.run()

    def set_register(self, number: int, value: int) -> Stopped:
        """The host writes a register. Then go on."""
        integer("register", number, 0, REGISTERS - 1)
        integer("value", value, 0, WORD - 1)
        self.registers[number] = value
        return self.run()

    def finish(self, event: Event = Event.ALL_DONE, count: int = 1) -> Stopped:
        """So many more pieces of work, oldest first, have come to an event, and to those before it.

        Then go on.
        """
        done = self._done[event] + count
        integer("count", done, 0, self._begun)
        for lesser in Event:
            if lesser <= event:
                self._done[lesser] = max(self._done[lesser], done)
        while self._begun - len(self.work) < self._done[Event.ALL_DONE]:
            self.slots.release(self.work.popleft().slots)
        self._happen()
        return self.run()

    def run(self) -> Stopped:
        """Execute packets until something is missing, or wrong."""
        for _ in range(ENDLESS + len(self._memory) // TRANSFER):
            if self._error:
                return Stopped(Stop.ERROR, self._error, self._at)
            self._prefetch()
            if not self._fifo:
                return Stopped(Stop.EMPTY, RingError.NONE, self.read)
            self._at = self._fifo[0][0]
            stop = self._packet()
            if stop is not None:
                return Stopped(stop, self._error, self._at)
        self._error = RingError.LOOP
        return Stopped(Stop.ERROR, self._error, self._at)

    def _prefetch(self):
        """Fill the FIFO, as long as there is something to read."""
        while len(self._fifo) < AHEAD:
            in_ring = self._fetch in self._ring
            if in_ring and self._fetch == self._write:
                return
            if self._fetch + TRANSFER > len(self._memory):
                return
            self._reach(self._fetch, TRANSFER, False)
            data = self._memory[self._fetch : self._fetch + TRANSFER].tobytes()
            self._fifo.append((self._fetch, data))
            self._fetch += TRANSFER
            if in_ring and self._fetch == self._ring.stop:
                self._fetch = self._ring.start

    def _packet(self):
        """Execute the next packet; returns why the processor stops, or None."""
        rows = np.frombuffer(self._fifo[0][1], np.uint8)[None]
        opcode = int(rows[0, 0])
        if opcode not in list(RingOp):
            return self._fail(RingError.OPCODE)
        op = RingOp(opcode)
        packet = unpack(rows, FIELDS[op])[0]
        length = int(packet["length"])
        if not 1 <= length <= (LENGTHS.get(op, AHEAD)) or LENGTHS.get(op, length) != length:
            return self._fail(RingError.LENGTH)
        if length > len(self._fifo):
            return self._fail(RingError.LENGTH)
        if op == RingOp.WAIT:
            met = self._test(packet)
            if met is None:
                return Stop.ERROR
            if not met:
                return Stop.WAIT
        if op == RingOp.PRESENT and not self._may_present(packet):
            return Stop.WAIT
        if op == RingOp.SET_STATE:
            if packet["state_kind"] >= STATE_KINDS:
                return self._fail(RingError.FIELD)
            if not self.slots.change(int(packet["state_kind"]), self._fifo[1][1]):
                return Stop.STATE
        transfers = [self._fifo.popleft()[1] for _ in range(length)]
        return self._execute(op, packet, tuple(transfers[1:]))

    def _execute(self, op, packet, more):
        """What is left of a packet that has been taken from the FIFO."""
        if op in (RingOp.JUMP, RingOp.CALL):
            target = int(packet["address"])
            if target == self._at and op == RingOp.JUMP:
                return self._fail(RingError.LOOP)
            if op == RingOp.CALL:
                if len(self._returns) == CALLS:
                    return self._fail(RingError.CALLS)
                self._returns.append(self.read)
            return self._go_to(target)
        if op == RingOp.RETURN:
            if not self._returns:
                return self._fail(RingError.RETURN)
            return self._go_to(self._returns.pop())
        if op == RingOp.EVENT:
            if not self._exists(packet["place"], packet["where"]):
                return Stop.ERROR
            self._pending.append(_Pending(packet, self._begun))
            self._happen()
        if op == RingOp.WRITE:
            met = self._test(packet)
            if met is None or not self._exists(packet["to"], packet["to_where"]):
                return Stop.ERROR
            if met:
                self._put(packet["to"], packet["to_where"], packet["value"])
        if op in WORK:
            self.work.append(Work(op, packet, self.slots.hold(), more))
            self._begun += 1
        return None

    def _go_to(self, address):
        """Packets go on elsewhere: what has been prefetched is dropped."""
        if address % TRANSFER or address + TRANSFER > len(self._memory):
            return self._fail(RingError.ADDRESS)
        self._fifo.clear()
        self._fetch = address
        return None

    def _fail(self, error):
        self._error = error
        return Stop.ERROR

    def _exists(self, place, where, write=True):
        """Whether a register or a word of memory exists; if not, the packet is in error."""
        where = int(where)
        is_there = (
            where < REGISTERS
            if place == Place.REGISTER
            else where % 4 == 0 and where + 4 <= len(self._memory)
        )
        if not is_there:
            self._fail(RingError.ADDRESS)
        elif place == Place.MEMORY:
            self._reach(where, 4, write)
        return is_there

    def _get(self, place, where):
        where = int(where)
        if place == Place.REGISTER:
            return self.registers[where]
        return int.from_bytes(self._memory[where : where + 4].tobytes(), "little")

    def _put(self, place, where, value):
        where = int(where)
        value = int(value)
        if place == Place.REGISTER:
            self.registers[where] = value
        else:
            self._memory[where : where + 4] = np.frombuffer(value.to_bytes(4, "little"), np.uint8)

    def _may_present(self, packet):
        """Whether a buffer is there: those before may take it until they are over."""
        is_last = all(work.op != RingOp.PRESENT for work in self.work)
        return is_last and self._can_present(packet)

    def _test(self, packet):
        """Whether a comparison holds; None if it cannot be."""
        if packet["test"] not in list(Condition):
            self._fail(RingError.FIELD)
            return None
        if packet["test"] == Condition.ALWAYS:
            return True
        if not self._exists(packet["place"], packet["where"], write=False):
            return None
        apart = (self._get(packet["place"], packet["where"]) - int(packet["reference"])) % WORD
        return apart == 0 if packet["test"] == Condition.EQUAL else apart < WORD // 2

    def _happen(self):
        """Write what waits for events that have happened, in the order of their packets."""
        waiting = []
        for pending in self._pending:
            packet = pending.packet
            event = Event(int(packet["event"]))
            if event != Event.REACHED and self._done[event] < pending.work:
                waiting.append(pending)
                continue
            self._put(packet["place"], packet["where"], packet["value"])
            self.interrupts += int(packet["interrupt"])
        self._pending = waiting
