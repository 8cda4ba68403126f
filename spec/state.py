# SPDX-License-Identifier: BSD-2-Clause
"""Encodings of the draw state and of the beats that carry it."""

from enum import IntEnum, IntFlag


class Kind(IntEnum):
    """What a beat is. Everything but ``WORK`` passes through every block in order."""

    WORK = 0  # a triangle or one of its tiles
    STATE = 1  # a new draw state
    CLEAR = 2  # clear a rectangle of the target
    FENCE = 3  # everything before it is done


class Cull(IntEnum):
    """Which triangles the setup drops by their winding."""

    NONE = 0
    FRONT = 1
    BACK = 2


class Compare(IntEnum):
    """Depth and stencil comparison, in the order of D3D11."""

    NEVER = 0
    LESS = 1
    EQUAL = 2
    LESS_EQUAL = 3
    GREATER = 4
    NOT_EQUAL = 5
    GREATER_EQUAL = 6
    ALWAYS = 7


class StencilOp(IntEnum):
    """What happens to a stencil value, in the order of D3D11."""

    KEEP = 0
    ZERO = 1
    REPLACE = 2
    INCR_SAT = 3
    DECR_SAT = 4
    INVERT = 5
    INCR = 6
    DECR = 7


class BlendFactor(IntEnum):
    """What a colour is multiplied by."""

    ZERO = 1
    ONE = 2
    SRC_COLOR = 3
    INV_SRC_COLOR = 4
    SRC_ALPHA = 5
    INV_SRC_ALPHA = 6
    DEST_ALPHA = 7
    INV_DEST_ALPHA = 8
    DEST_COLOR = 9
    INV_DEST_COLOR = 10
    SRC_ALPHA_SAT = 11  # min(source alpha, 1 - target alpha); of alpha 1
    BLEND_FACTOR = 14
    INV_BLEND_FACTOR = 15
    SRC1_COLOR = 16
    INV_SRC1_COLOR = 17
    SRC1_ALPHA = 18
    INV_SRC1_ALPHA = 19


class BlendOp(IntEnum):
    """How source and target, each times its factor, become one."""

    ADD = 1
    SUBTRACT = 2  # source less target
    REV_SUBTRACT = 3
    MIN = 4  # without factors
    MAX = 5


class LogicOp(IntEnum):
    """Operations on the bits of source and target."""

    CLEAR = 0
    SET = 1
    COPY = 2
    COPY_INVERTED = 3
    NOOP = 4
    INVERT = 5
    AND = 6
    NAND = 7
    OR = 8
    NOR = 9
    XOR = 10
    EQUIV = 11
    AND_REVERSE = 12  # source, not target
    AND_INVERTED = 13  # target, not source
    OR_REVERSE = 14
    OR_INVERTED = 15


SECOND_SOURCES = {factor for factor in BlendFactor if "SRC1" in factor.name}
COLOURS_OF_SOURCE = (  # factors that have no meaning for alpha
    BlendFactor.SRC_COLOR,
    BlendFactor.INV_SRC_COLOR,
    BlendFactor.DEST_COLOR,
    BlendFactor.INV_DEST_COLOR,
    BlendFactor.SRC1_COLOR,
    BlendFactor.INV_SRC1_COLOR,
)


SAMPLE_COUNTS = (1, 2, 4, 8)  # a field named ``samples`` holds log2 of one of these
TARGET_LIMIT = 16384  # pixels, the largest width or height of a D3D11 texture
TOP_LIMIT = 2048  # pixels, the largest width or height of a target of the top
# pixels [fs 15.6.1]
VIEWPORT_MIN = -32768
VIEWPORT_MAX = 32767
SUBPIXEL_BITS = 8  # fraction bits of a screen position


class FenceError(IntFlag):
    """Errors since the last fence, as the next one reports them."""

    STATE = 1  # tiles or clears were refused for their state
    PLACE = 2  # tiles were refused for their place
    MEMORY = 4  # memory failed


class Outcome(IntEnum):
    """What HiZ finds for a tile."""

    TEST = 0  # sample by sample
    DROP = 1  # no sample passes, and nothing changes
    ACCEPT = 2  # every covered sample passes: depths need not be read


class DepthFormat(IntEnum):
    """How a depth is stored."""

    D16 = 0
    D24 = 1
    D32F = 2


class Bound(IntEnum):
    """Which bound a HiZ of one bound a tile keeps."""

    # no draw has chosen since the target was cleared; nor is there a choice where both are kept
    OPEN = 0
    MAX = 1
    MIN = 2
    NONE = 3  # draws wrote both ways: it rests until the target is cleared


DIFFERENCES = 8  # the mode of a tile by differences is so much more than its transfers


class TileMode(IntEnum):
    """How a tile lies in memory: four bits of the mode table. Not every surface has all."""

    CLEARED = 0  # not at all
    PLANES_1 = 1  # planes of triangles, and which of them each sample belongs to
    PLANES_2 = 2
    PLANES_3 = 3
    PLANES_4 = 4
    ANCHOR = 5  # a depth, and differences
    RAW = 6
    DIFFERENCES_1 = 9  # of neighbours, in so many transfers
    DIFFERENCES_2 = 10
    DIFFERENCES_3 = 11
    DIFFERENCES_4 = 12
    DIFFERENCES_5 = 13
    DIFFERENCES_6 = 14
    DIFFERENCES_7 = 15  # of colours of 64 bits alone, whose steps are two transfers
    PALETTE = 1  # of colours: at most four of them, and which of them each sample has


class CacheOp(IntEnum):
    """What the depth cache is asked for."""

    USE = 0  # a tile on chip
    CLEAR = 1  # all of a target, which begins with it
    FLUSH = 2  # all that has been written goes to memory


class SlotOp(IntFlag):
    """What a tile cache wants done with a tile on chip, all in one command, in this order."""

    DONE = 0  # nothing: what was asked for is done
    EVICT = 1  # tell its values
    FILL = 2  # put these values there; a USE comes along
    USE = 4  # test it, or blend with it, and write it


class BlockFormat(IntEnum):
    """Of a block of 4 by 4 texels: signed (S) or unsigned (U) where there are both."""

    BC1 = 0
    BC2 = 1
    BC3 = 2
    BC4U = 3
    BC4S = 4
    BC5U = 5
    BC5S = 6
    BC6HU = 7
    BC6HS = 8
    BC7 = 9


class PointKind(IntEnum):
    """What a beat of domain points is."""

    POINT = 0
    END = 1  # of a draw
    # what waits in an unfinished wave is to be shaded: its users hold what the next point needs
    FLUSH = 2


# The four early permissions of a draw, and what withdraws them.
PERMISSIONS = ("hiz_drop", "hiz_accept", "early_reject", "early_write")  # fields of the draw state

# What a draw does -> the permissions that it has [fs 15.4, trip 7]. A draw that does several of
# these has the permissions that all of them have.
PERMITTED = {
    "plain": ("hiz_drop", "hiz_accept", "early_reject", "early_write"),
    "discard": (
        "hiz_drop",
        "early_reject",
    ),  # also alpha test and alpha to coverage: what passes may not be written
    "depth_output": (),
    "depth_greater_equal": ("hiz_drop",),  # the shader moves depths in one direction alone
    "depth_less_equal": ("hiz_drop",),
    "uav_writes": (),  # the shader must run wherever the triangle is, unless early tests are forced
}

# Directions of conservative depth [fs 16.9.3] -> fields of the draw state.
MOVED = {
    "depth_greater_equal": "depth_raised",
    "depth_less_equal": "depth_lowered",
}
# Functions under which depths that move permit no drop: neither side of the plane is safe.
UNSAFE = Compare.EQUAL, Compare.NOT_EQUAL, Compare.ALWAYS
