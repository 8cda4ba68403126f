# SPDX-License-Identifier: BSD-2-Clause
"""Packets of a context, and the tables that they name, on their way to the machine."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.frontend.command_processor import Stopped
from fixfunc.models.frontend.state.pieces import encode
from fixfunc.models.machine.machine import Machine
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import FIELDS, LENGTHS, TRANSFER, RingOp

RING = 1 << 16  # bytes, from 0 on
STATES = 1 << 20  # bytes of tables, behind the ring
MOST = 1 << 18  # bytes of the tables of a draw, at most


def encoded(op: RingOp, *more: bytes, **fields: int) -> bytes:
    """A packet, with further transfers."""
    return encode(FIELDS[op], opcode=op, length=LENGTHS[op], **fields) + b"".join(more)


class Packets:
    """The host's end of a ring.

    Parameters
    ----------
    memory : ndarray of uint8
    machine : Machine
    """

    def __init__(self, memory: np.ndarray, machine: Machine) -> None:
        self._memory = memory
        self._machine = machine
        self._write = 0
        self._next = RING

    def has_room(self) -> bool:
        """Whether tables of a draw fit; if not, they begin anew, and all state must be set."""
        if self._next + MOST <= RING + STATES:
            return True
        self._next = RING
        return False

    def place(self, rows: Sequence[bytes]) -> int:
        """Put a table into memory; returns its address."""
        data = b"".join(rows)
        address = self._next
        self._memory[address : address + len(data)] = np.frombuffer(data, np.uint8)
        self._next += len(data)
        return address

    def put(self, op: RingOp, *more: bytes, **fields: int) -> None:
        """Put a packet into the ring, with further transfers."""
        data = encoded(op, *more, **fields)
        for n in range(0, len(data), TRANSFER):
            transfer = np.frombuffer(data[n : n + TRANSFER], np.uint8)
            self._memory[self._write : self._write + TRANSFER] = transfer
            self._write = (self._write + TRANSFER) % RING

    def emit(self, op: RingOp, *more: bytes, **fields: int) -> Stopped:
        """Put a packet into the ring, and let the machine execute what is there: :meth:`go_on`."""
        self.put(op, *more, **fields)
        return self.go_on()

    def go_on(self) -> Stopped:
        """Let the machine execute what is in the ring; returns why it stops.

        Raises
        ------
        InputError
            Work that breaks a rule, or an error of the ring.
        """
        stopped = self._machine.submit(self._write)
        if stopped.error:
            raise InputError("ring", "be free of errors", stopped.error.name)
        return stopped
