# SPDX-License-Identifier: BSD-2-Clause
"""Packets of the command stream and of the vertex ring, and its beats, as field tables: see
:mod:`fixfunc.spec.payloads`.

Of whole transfers of 32 bytes, little end first.
"""

from enum import IntEnum

from fixfunc.spec.colours import RESOLVE
from fixfunc.spec.payloads import (
    BLEND_CONSTANT,
    CLEAR,
    COLOUR_PLANES,
    DRAW_STATE,
    FENCE,
    HEADER,
    KIND,
    PASSED,
    TRIANGLE,
    Field,
    each,
)
from fixfunc.spec.pixels.pixel_state import PIXEL_STATE
from fixfunc.spec.textures.descriptors import DESCRIPTOR


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
    TEXTURE = 11  # the texture and the sampler of pixel states from here on
    BLEND_CONSTANT = 12  # that of colours from here on


class CommandError(IntEnum):
    """Why reading stopped.

    Whatever came before the packet is in memory; nothing of the packet or after it is.
    """

    NONE = 0
    OPCODE = 1  # there is no such packet
    LENGTH = 2  # it is not as long as its kind is, or goes on beyond the end
    STATE = 3  # no one can obey it
    ADDRESS = 4  # it is not on a boundary, or a plane goes on beyond the memory's limit
    # there is no state, no texture or no blend constant, or a plane that is drawn to has not been
    # cleared as a whole; or a target
    # begins before colour planes of the last but the first are in memory; or what is resolved may
    # not be in memory yet
    ORDER = 5
    READ = 6  # memory could not be read
    # a plane lies on another one of its target, or on the packets; or a RESOLVE would write its
    # source, the packets or the target that is drawn
    OVERLAP = 7
    VERTEX = 8  # the vertex ring refuses it: VertexError


VERTEX_OPCODES = Opcode.VERTICES, Opcode.PRIMITIVES, Opcode.RELEASE


def opcodes(resolves: bool, vertices: bool, textures: bool) -> tuple[Opcode, ...]:
    """Packets that a reader knows: all, or without resolves, a vertex ring, textures."""
    lacks = () if resolves else (Opcode.RESOLVE,)
    lacks += () if vertices else (*VERTEX_OPCODES, Opcode.PIXEL_STATE)
    lacks += () if textures else (Opcode.TEXTURE,)
    return tuple(opcode for opcode in Opcode if opcode not in lacks)


PACKET = (
    Field("opcode", 8, meaning="Opcode"),
    Field("length", 24, meaning="transfers of 32 bytes, this one included"),
)
COLOUR_PLANE = Field(
    "colour_plane",
    (COLOUR_PLANES - 1).bit_length(),
    meaning="of targets with several, the one that is meant",
)
TARGET_PACKET = (
    *PACKET,
    *each(
        "depth_base stencil_base colour_base",
        32,
        meaning="address of the plane, bytes, on a boundary of 256",
    ),
    COLOUR_PLANE,
)
STATE_PACKET = (*PACKET, *DRAW_STATE[1:])  # without kind; slot is the colour plane
_CONSTANT = CLEAR[-1 - len(BLEND_CONSTANT) :]  # of a beat that a packet of its own becomes
CLEAR_PACKET = (
    *PACKET,
    *(f for f in CLEAR[len(HEADER) :] if not f.name.endswith("_base") and f not in _CONSTANT),
    COLOUR_PLANE,
)
TRIANGLES_PACKET = (
    *PACKET,
    Field("upper", 1, meaning="transfers of the depths' upper bits stand between triangles"),
)
# Then a transfer for each triangle: without kind, state, and the upper bits of depths, which are 0
# then; or with ``upper`` a transfer of these before every eight triangles, and before what is left.
TRIANGLE_PACKET = (
    *TRIANGLE[2:-3],
    *each("z0 z1 z2", 32, meaning="lowest bits of a depth: s31.8 units; of D32F float32 bits"),
)
UPPER_TRIANGLES = 8
UPPER_PACKET = tuple(
    Field(f"z{k}_{n}", 8, signed=True, meaning="upper bits of a triangle's depth")
    for n in range(UPPER_TRIANGLES)
    for k in range(3)
)
FENCE_PACKET = (*PACKET, *(field for field in FENCE if field.name in ("sequence", "begin")))
RESOLVE_PACKET = (*PACKET, *RESOLVE)
PIXEL_STATE_PACKET = (*PACKET, *PIXEL_STATE)
TEXTURE_PACKET = (*PACKET, *DESCRIPTOR)
BLEND_CONSTANT_PACKET = (*PACKET, *BLEND_CONSTANT)
ALIGNED = 256  # of planes, in bytes
LENGTHS = {
    Opcode.TARGET: 1,
    Opcode.STATE: 2,
    Opcode.CLEAR: 1,
    Opcode.FENCE: 1,
    Opcode.RESOLVE: 1,
    Opcode.PIXEL_STATE: 1,
    Opcode.TEXTURE: 3,
    Opcode.BLEND_CONSTANT: 1,
}  # of those whose length is fixed

START = (
    Field("address", 32, meaning="of the first packet, bytes, on a boundary of 32"),
    Field("transfers", 24, meaning="to read, of 32 bytes"),
    Field("limit", 32, meaning="bytes of memory: planes lie below it"),
)
STATUS = (
    Field("last", 1, meaning="the last of this START: nothing is under way any more"),
    Field("error", 4, meaning="of the last: CommandError"),
    Field("vertex_error", 4, meaning="VertexError, where that is VERTEX"),
    Field(
        "at",
        24,
        meaning="of the last: transfer of the packet that it stopped at, else transfers read",
    ),
    Field("sequence", 32, meaning="number of the fence"),
    *PASSED,
    Field(
        "failed",
        3,
        meaning="since the last fence: 1 a state, 2 a place was refused, 4 memory or a resolve",
    ),
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
    Field("count", COUNT_BITS, meaning="vertices, triangles or slots"),
    Field(
        "attributes",
        4,
        meaning="of VERTICES: of each; of PRIMITIVES: those used, which every corner has",
    ),
    Field(
        "cut",
        1,
        meaning="of VERTICES: weights in place of attributes; of PRIMITIVES: triangles were cut",
    ),
)

# A vertex begins a transfer, and takes as many as it needs: 16 bytes of this, then 16 of each
# attribute, x, y, z, w as float32; or of its weights.
VERTEX_BYTES = 16
VERTEX_PLACE = (
    *each("x y", 24, signed=True, meaning="s15.8 pixels, y down"),
    Field("z", 40, signed=True, meaning=TRIANGLE[-1].meaning),
    Field("rhw", 32, meaning="1/w, float32"),
)
VERTEX_WEIGHTS = (
    Field("u", 25, meaning="weight of the second corner of what was cut, u1.24"),
    Field("v", 25, meaning="weight of the third corner of what was cut, u1.24"),
)
VERTEX_ATTRIBUTE = each("x y z w", 32, meaning="component of the attribute, float32")

# Three slots, five bytes. Of a cut triangle there are two: where its corners are, which have
# weights; then where those of the primitive are, whose attributes it interpolates.
CORNER_SLOTS = (
    *each("slot0 slot1 slot2", SLOT_BITS, meaning="slot of a corner's vertex"),
    Field("unused", 4, meaning="not read"),
)
SLOTS_A_TRANSFER = 6  # of these


def vertex_transfers(attributes: int) -> int:
    """Transfers of a vertex."""
    return 1 + attributes // 2


_RING_KIND = Field("kind", KIND.bits, meaning="RingKind: which table reads the beat")
RING_TRIANGLE = (
    _RING_KIND,
    Field("cut", 1, meaning="the triangle was cut from a primitive"),
    Field("attributes", 4, meaning="that are used"),
    *each(
        "slot0 slot1 slot2",
        SLOT_BITS,
        meaning="where a corner's attributes are; of a cut triangle the primitive's",
    ),
    *(
        Field(f"{f.name}{corner}", f.bits, f.signed, f.meaning)
        for f in (*VERTEX_PLACE, *VERTEX_WEIGHTS)  # weights of a whole triangle are 0
        for corner in range(3)
    ),
)
RING_RELEASE = (_RING_KIND, Field("count", SLOT_BITS + 1, meaning="slots that are released"))
RING_ERROR = (
    _RING_KIND,
    Field("error", 4, meaning="VertexError"),
    Field("at", COUNT_BITS, meaning="triangle of the packet; 0 where the header breaks a rule"),
)
