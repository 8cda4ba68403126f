# SPDX-License-Identifier: BSD-2-Clause
"""Packets of the ring that the command processor reads: of whole transfers of 32 bytes."""

from enum import IntEnum

from fixfunc.spec.commands import PACKET, START
from fixfunc.spec.payloads import Field, each

TRANSFER = 32  # bytes
REGISTERS = 16  # that processor and host share
CALLS = 4  # depth
STATE_KINDS = 8
STATE_BYTES = 32  # of a piece of state


class RingOp(IntEnum):
    """What a packet of the ring is."""

    NOP = 16  # of any length: the end of a ring is filled up with it
    JUMP = 17  # packets go on at an address
    CALL = 18  # and behind this one after a RETURN
    RETURN = 19
    WAIT = 20  # until a register, or a word of memory, has a value
    EVENT = 21  # something is written when something has happened; the processor goes on
    WRITE = 22  # a register or a word of memory is written, on a condition
    SET_STATE = 23  # a piece of state for all work from now on
    DRAW = 24  # a draw call
    LIST = 25  # a command stream, as a START of the command reader


class RingError(IntEnum):
    """Why the processor stopped."""

    NONE = 0
    OPCODE = 1  # there is no such packet
    LENGTH = 2  # it is not as long as its kind is, or goes on beyond what was written
    ADDRESS = 3  # it is not on a boundary, or beyond memory
    LOOP = 4  # a jump to itself, or packets without an end
    CALLS = 5  # one call too many
    RETURN = 6  # without a call
    FIELD = 7  # an enumeration, or a kind of state, that there is not


class Place(IntEnum):
    """Where a value is."""

    REGISTER = 0
    MEMORY = 1


class Condition(IntEnum):
    """How a value is compared with a reference."""

    ALWAYS = 0
    EQUAL = 1
    REACHED = 2  # it is not less, as sequence numbers are that wrap at 32 bits


class Event(IntEnum):
    """What has happened to all work before the packet."""

    REACHED = 0  # it has been read: work may not have begun
    READS_DONE = 1  # it reads memory no more
    WRITES_DONE = 2  # what it writes is in memory
    ALL_DONE = 3  # it is over


class Strategy(IntEnum):
    """How state changes while work is in flight [trip 2]."""

    FLUSH = 0  # work ends first
    TWO = 1  # the other of two slots
    POOL = 2  # any free slot of many


class Stop(IntEnum):
    """Why the processor does not go on."""

    EMPTY = 0  # the ring has been read
    WAIT = 1  # for a value
    STATE = 2  # for a slot
    ERROR = 3


COMPARE = (Field("test", 2), Field("place", 1), *each("where reference", 32))
JUMP = (*PACKET, Field("address", 32))
WAIT = (*PACKET, *COMPARE)
EVENT = (
    *PACKET,
    Field("event", 2),
    Field("place", 1),
    *each("where value", 32),
    Field("interrupt", 1),
)
WRITE = (*PACKET, *COMPARE, Field("to", 1), *each("to_where value", 32))
SET_STATE = (*PACKET, Field("state_kind", 8))  # then a transfer of it
DRAW = (
    *PACKET,
    Field("indexed", 1),
    *each("count instances start base first_instance", 32),
)
LIST = (*PACKET, *START)
LENGTHS = {
    RingOp.JUMP: 1,
    RingOp.CALL: 1,
    RingOp.RETURN: 1,
    RingOp.WAIT: 1,
    RingOp.EVENT: 1,
    RingOp.WRITE: 1,
    RingOp.SET_STATE: 2,
    RingOp.DRAW: 1,
    RingOp.LIST: 1,
}
FIELDS = {
    RingOp.NOP: PACKET,
    RingOp.JUMP: JUMP,
    RingOp.CALL: JUMP,
    RingOp.RETURN: PACKET,
    RingOp.WAIT: WAIT,
    RingOp.EVENT: EVENT,
    RingOp.WRITE: WRITE,
    RingOp.SET_STATE: SET_STATE,
    RingOp.DRAW: DRAW,
    RingOp.LIST: LIST,
}
