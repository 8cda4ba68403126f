# SPDX-License-Identifier: BSD-2-Clause
"""Packets of the command stream, as field tables: see :mod:`fixfunc.spec.payloads`.

Of whole transfers of 32 bytes, little end first.
"""

from enum import IntEnum

from fixfunc.spec.colours import RESOLVE
from fixfunc.spec.payloads import CLEAR, COLOUR_PLANES, DRAW_STATE, HEADER, TRIANGLE, Field, each


class Opcode(IntEnum):
    """What a packet is; nothing else is one, zero least of all."""

    TARGET = 1  # where planes lie that are cleared as a whole from now on
    STATE = 2  # the draw state
    CLEAR = 3  # a rectangle of the target
    TRIANGLES = 4  # a list of snapped triangles
    FENCE = 5  # everything before it is in memory
    RESOLVE = 6  # samples of a coded surface in memory become pixels of another one


class CommandError(IntEnum):
    """Why reading stopped.

    Whatever came before the packet is in memory; nothing of the packet or after it is.
    """

    NONE = 0
    OPCODE = 1  # there is no such packet
    LENGTH = 2  # it is not as long as its kind is, or goes on beyond the end
    STATE = 3  # no one can obey it
    ADDRESS = 4  # it is not on a boundary, or a plane goes on beyond the memory's limit
    # there is no state, or a plane that is drawn to has not been cleared as a whole; or a target
    # begins before colour planes of the last but the first are in memory; or what is resolved may
    # not be in memory yet
    ORDER = 5
    READ = 6  # memory could not be read
    # a plane lies on another one of its target, or on the packets; or a RESOLVE would write its
    # source, the packets or the target that is drawn
    OVERLAP = 7


PACKET = (Field("opcode", 8), Field("length", 24))  # transfers, this one included
# Of targets with several colour planes, the one that is meant.
COLOUR_PLANE = Field("colour_plane", (COLOUR_PLANES - 1).bit_length())
TARGET_PACKET = (
    *PACKET,
    *each("depth_base stencil_base colour_base", 32),  # bytes, on boundaries of 256
    COLOUR_PLANE,
)
STATE_PACKET = (*PACKET, *DRAW_STATE[1:])  # without kind; slot is the colour plane
CLEAR_PACKET = (
    *PACKET,
    *(field for field in CLEAR[len(HEADER) :] if not field.name.endswith("_base")),
    COLOUR_PLANE,
)
TRIANGLES_PACKET = (*PACKET, Field("upper", 1))  # then a transfer for each of them:
# without kind, state, and the upper bits of depths, which are 0 then; or
TRIANGLE_PACKET = (*TRIANGLE[2:-3], *each("z0 z1 z2", 32))
# with ``upper`` a transfer of these before every eight of them, and before what is left.
UPPER_TRIANGLES = 8
UPPER_PACKET = tuple(
    Field(f"z{k}_{n}", 8, signed=True) for n in range(UPPER_TRIANGLES) for k in range(3)
)
FENCE_PACKET = (*PACKET, Field("sequence", 32), Field("begin", 1))
RESOLVE_PACKET = (*PACKET, *RESOLVE)
ALIGNED = 256  # of planes, in bytes
LENGTHS = {
    Opcode.TARGET: 1,
    Opcode.STATE: 2,
    Opcode.CLEAR: 1,
    Opcode.FENCE: 1,
    Opcode.RESOLVE: 1,
}  # of those whose length is fixed

START = (
    Field("address", 32),  # of the first packet, in bytes, on a boundary of 32
    Field("transfers", 24),  # how many there are to read
    Field("limit", 32),  # bytes of memory: planes lie below
)
STATUS = (
    Field("last", 1),  # of this START: nothing is under way any more
    Field("error", 3),  # CommandError, of the last
    Field(
        "at", 24
    ),  # transfer of the packet that it stopped at, of the last; how many were read, if it did not
    Field("sequence", 32),  # of a FENCE
    Field("any", 1),  # see payloads.FENCE
    Field("passed", 64),
    Field("failed", 3),  # see payloads.FENCE; a resolve that fails counts as memory
)
