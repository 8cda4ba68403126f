# SPDX-License-Identifier: BSD-2-Clause
"""Packets of the ring that the command processor reads: of whole transfers of 32 bytes."""

from enum import IntEnum

from fixfunc.spec.commands import PACKET, START
from fixfunc.spec.payloads import Field, each

TRANSFER = 32  # bytes
REGISTERS = 16  # that processor and host share
CALLS = 4  # depth
STATE_BYTES = 32  # of a piece of state
DISPLAYS = 16
SYNC_INTERVAL = 4  # frames, at most


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
    DRAW_INDIRECT = 26  # a draw call whose numbers lie in memory
    DRAW_AUTO = 27  # a draw call of all that stream output has written
    DISPATCH = 28  # thread groups
    DISPATCH_INDIRECT = 29
    CLEAR = 30  # of a view
    COPY = 31  # of a box of a subresource
    COPY_BYTES = 32  # of a buffer
    RESOLVE = 33  # samples of a subresource become one
    MIPS = 34  # smaller levels of a view
    QUERY = 35  # totals are written to memory
    PREDICATE = 36  # work from now on depends on two of those
    PRESENT = 37  # a view comes to a display, when that has a buffer for it


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


class StateKind(IntEnum):
    """What a piece of state is about; see :mod:`fixfunc.spec.descriptors`."""

    INPUT = 0  # topology, indices, where the input layout and vertex buffers lie
    SHADERS = 1
    RASTERIZER = 2
    VIEWPORTS = 3
    DEPTH_STENCIL = 4
    BLEND = 5
    TARGETS = 6
    STREAM_OUTPUT = 7
    BINDINGS = 8  # constants, resources and samplers of all stages


STATE_KINDS = len(StateKind)


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
DRAW_INDIRECT = (*PACKET, Field("indexed", 1), Field("address", 32))
DISPATCH = (*PACKET, *each("x y z", 32))
DISPATCH_INDIRECT = (*PACKET, Field("address", 32))
CLEAR = (  # then a VIEW
    *PACKET,
    *each("colour depth stencil", 1),
    Field("stencil_value", 8),
    Field("integer", 1, meaning="values are integers, else floats"),
    *each("value0 value1 value2 value3", 32),
    Field("rectangle", 1, meaning="of colours: texels of that alone, else all"),
    *each("x0 y0 x1 y1", 15, meaning="ends exclusive; what lies beyond the view is left out"),
)
COPY = (  # then two VIEWs: source and target
    *PACKET,
    *each("source_level target_level", 4),
    *each("source_layer target_layer", 12),
    *each("x0 y0 z0 x1 y1 z1", 15, meaning="of the source, ends exclusive"),
    *each("x y z", 15),
)
COPY_BYTES = (*PACKET, *each("source target size", 32))
RESOLVE = (  # then two VIEWs: source and target
    *PACKET,
    Field("form", 8),
    *each("source_level target_level", 4),
    *each("source_layer target_layer", 12),
)
MIPS = PACKET  # then a VIEW
QUERY = (*PACKET, Field("address", 32, meaning="of spec.descriptors.TOTALS, bytes"))
PREDICATE = (
    *PACKET,
    Field("enable", 1),
    Field("value", 1, meaning="work is left out if the predicate is so"),
    *each("begin end", 32, meaning="addresses of two TOTALS"),
    Field("overflow", 1, meaning="predicate: a stream has overflowed; else samples passed"),
    Field("streams", 4, meaning="which streams"),
)
PRESENT = (  # then a VIEW
    *PACKET,
    Field("display", 4),
    Field("sync_interval", 3, meaning="ends of frames until it is shown, at most 4; 0: at once"),
)
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
    RingOp.DRAW_INDIRECT: 1,
    RingOp.DRAW_AUTO: 1,
    RingOp.DISPATCH: 1,
    RingOp.DISPATCH_INDIRECT: 1,
    RingOp.CLEAR: 2,
    RingOp.COPY: 3,
    RingOp.COPY_BYTES: 1,
    RingOp.RESOLVE: 3,
    RingOp.MIPS: 2,
    RingOp.QUERY: 1,
    RingOp.PREDICATE: 1,
    RingOp.PRESENT: 2,
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
    RingOp.DRAW_INDIRECT: DRAW_INDIRECT,
    RingOp.DRAW_AUTO: PACKET,
    RingOp.DISPATCH: DISPATCH,
    RingOp.DISPATCH_INDIRECT: DISPATCH_INDIRECT,
    RingOp.CLEAR: CLEAR,
    RingOp.COPY: COPY,
    RingOp.COPY_BYTES: COPY_BYTES,
    RingOp.RESOLVE: RESOLVE,
    RingOp.MIPS: MIPS,
    RingOp.QUERY: QUERY,
    RingOp.PREDICATE: PREDICATE,
    RingOp.PRESENT: PRESENT,
}
# Packets that become work, in order.
WORK = frozenset(RingOp) - {
    RingOp.NOP,
    RingOp.JUMP,
    RingOp.CALL,
    RingOp.RETURN,
    RingOp.WAIT,
    RingOp.EVENT,
    RingOp.WRITE,
    RingOp.SET_STATE,
}
