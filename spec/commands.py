# SPDX-License-Identifier: BSD-2-Clause
"""Packets of the command stream and of the vertex ring, and its beats, as field tables: see
:mod:`fixfunc.spec.payloads`.

Of whole transfers of 32 bytes, little end first.
"""

from enum import IntEnum

from fixfunc.spec.colours import RESOLVE
from fixfunc.spec.payloads import (
    CLEAR,
    COLOUR_PLANES,
    DRAW_STATE,
    HEADER,
    KIND,
    TRIANGLE,
    Field,
    each,
)
from fixfunc.spec.pixels.pixel_state import PIXEL_STATE


class Opcode(IntEnum):
    """What a packet is; nothing else is one, zero least of all."""

    TARGET = 1  # where planes lie that are cleared as a whole from now on
    STATE = 2  # the draw state
    CLEAR = 3  # a rectangle of the target
    TRIANGLES = 4  # a list of snapped triangles
    FENCE = 5  # everything before it is in memory
    RESOLVE = 6  # samples of a coded surface in memory become pixels of another one
    VERTICES = 7  # they are written to the next slots of the vertex ring
    PRIMITIVES = 8  # triangles, by the slots of their corners
    RELEASE = 9  # the oldest slots are free when everything before it has left the pixel stage
    PIXEL_STATE = 10  # how pixels are shaded from here on


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
    VERTEX = 8  # the vertex ring refuses it: VertexError


VERTEX_OPCODES = Opcode.VERTICES, Opcode.PRIMITIVES, Opcode.RELEASE


def opcodes(resolves: bool, vertices: bool) -> tuple[Opcode, ...]:
    """Packets that a reader knows, which resolves surfaces, and has a vertex ring, or not."""
    lacks = () if resolves else (Opcode.RESOLVE,)
    lacks += () if vertices else (*VERTEX_OPCODES, Opcode.PIXEL_STATE)
    return tuple(opcode for opcode in Opcode if opcode not in lacks)


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
PIXEL_STATE_PACKET = (*PACKET, *PIXEL_STATE)
ALIGNED = 256  # of planes, in bytes
LENGTHS = {
    Opcode.TARGET: 1,
    Opcode.STATE: 2,
    Opcode.CLEAR: 1,
    Opcode.FENCE: 1,
    Opcode.RESOLVE: 1,
    Opcode.PIXEL_STATE: 1,
}  # of those whose length is fixed

START = (
    Field("address", 32),  # of the first packet, in bytes, on a boundary of 32
    Field("transfers", 24),  # how many there are to read
    Field("limit", 32),  # bytes of memory: planes lie below
)
STATUS = (
    Field("last", 1),  # of this START: nothing is under way any more
    Field("error", 4),  # CommandError, of the last
    Field("vertex_error", 4),  # VertexError, where that is VERTEX
    Field(
        "at", 24
    ),  # transfer of the packet that it stopped at, of the last; how many were read, if it did not
    Field("sequence", 32),  # of a FENCE
    Field("any", 1),  # see payloads.FENCE
    Field("passed", 64),
    Field("failed", 3),  # see payloads.FENCE; a resolve that fails counts as memory
)


class VertexError(IntEnum):
    """Why a packet was left, in the order in which rules are checked.

    Nothing of a VERTICES or of a RELEASE counts then; of PRIMITIVES the triangles before do.
    """

    OPCODE = 1  # there is no such packet
    LENGTH = 2  # it is not as long as its count says
    ATTRIBUTES = 3  # the ring does not hold so many, or there are weights in their place
    ROOM = 4  # there is not enough, and nothing before this packet will free it
    RELEASE = 5  # of no slot, or of more than are held
    NOT_WRITTEN = 6  # a corner's slot has never been written
    RELEASED = 7  # a corner's slot holds no vertex any more
    WEIGHTS = 8  # a corner of a cut triangle has none
    MISSING = 9  # a corner does not have as many attributes as are used


class RingKind(IntEnum):
    """What a beat of the vertex ring is."""

    TRIANGLE = 0
    RELEASE = 1  # comes back when it has left the pixel stage
    ERROR = 2  # the rest of a packet was left out


SLOT_BITS = 12
SLOT_LIMIT = 1 << SLOT_BITS  # slots of a ring, at most
COUNT_BITS = 24
# Of each of the three packets.
VERTEX_PACKET = (
    *PACKET,
    Field("count", COUNT_BITS),  # vertices, triangles or slots
    # Of VERTICES: how many each has. Of PRIMITIVES: how many are used, which every corner has.
    Field("attributes", 4),
    # VERTICES: weights take the place of attributes. PRIMITIVES: triangles were cut.
    Field("cut", 1),
)

# A vertex begins a transfer, and takes as many as it needs: 16 bytes of this, then 16 of each
# attribute, x, y, z, w as float32; or of its weights.
VERTEX_BYTES = 16
VERTEX_PLACE = (
    *each("x y", 24, signed=True),  # s15.8 pixels, y down
    Field("z", 40, signed=True),  # as of fixfunc.spec.payloads.TRIANGLE
    Field("rhw", 32),  # 1/w, float32
)
VERTEX_WEIGHTS = each("u v", 25)  # of the second and the third corner of what was cut, 1.24
VERTEX_ATTRIBUTE = each("x y z w", 32)  # float32

# Three slots, five bytes. Of a cut triangle there are two: where its corners are, which have
# weights; then where those of the primitive are, whose attributes it interpolates.
CORNER_SLOTS = (*each("slot0 slot1 slot2", SLOT_BITS), Field("unused", 4))
SLOTS_A_TRANSFER = 6  # of these


def vertex_transfers(attributes: int) -> int:
    """Transfers of a vertex."""
    return 1 + attributes // 2


RING_TRIANGLE = (
    KIND,
    Field("cut", 1),
    Field("attributes", 4),  # that are used
    *each("slot0 slot1 slot2", SLOT_BITS),  # where they are; of a cut triangle the primitive's
    *(
        Field(f"{f.name}{corner}", f.bits, f.signed)
        for f in (*VERTEX_PLACE, *VERTEX_WEIGHTS)  # weights of a whole triangle are 0
        for corner in range(3)
    ),
)
RING_RELEASE = (KIND, Field("count", SLOT_BITS + 1))
RING_ERROR = (
    KIND,
    Field("error", 4),  # VertexError
    Field("at", COUNT_BITS),  # which triangle of the packet; 0 where the header breaks a rule
)
