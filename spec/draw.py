# SPDX-License-Identifier: BSD-2-Clause
"""Draw calls: topologies, marks of the index stream, step classes."""

from enum import IntEnum

from fixfunc.spec.payloads import Field

INDEX = (
    Field("index", 32, meaning="as it was read, without the base"),
    Field("cut", 1, meaning="the last one before a cut"),
    Field("primitive", 2, meaning="PrimitiveMark"),
    Field("instance", 2, meaning="InstanceMark"),
)

PATCH = 17  # Topology.PATCH_1
MOST_POINTS = 32  # control points of a patch


class Topology(IntEnum):
    """What a row of vertices is, numbered as in [fs 8.1.2].

    The documents' further ones stand at numbers that are reserved there. A patch of n control
    points is ``Topology(PATCH + n - 1)``.
    """

    POINT_LIST = 1
    LINE_LIST = 2
    LINE_STRIP = 3
    TRIANGLE_LIST = 4
    TRIANGLE_STRIP = 5
    TRIANGLE_FAN = 6
    LINE_LOOP = 7
    QUAD_LIST = 8
    QUAD_STRIP = 9
    LINE_LIST_ADJ = 10
    LINE_STRIP_ADJ = 11
    TRIANGLE_LIST_ADJ = 12
    TRIANGLE_STRIP_ADJ = 13
    POLYGON = 14
    PATCH_1 = 17
    PATCH_2 = 18
    PATCH_3 = 19
    PATCH_4 = 20
    PATCH_5 = 21
    PATCH_6 = 22
    PATCH_7 = 23
    PATCH_8 = 24
    PATCH_9 = 25
    PATCH_10 = 26
    PATCH_11 = 27
    PATCH_12 = 28
    PATCH_13 = 29
    PATCH_14 = 30
    PATCH_15 = 31
    PATCH_16 = 32
    PATCH_17 = 33
    PATCH_18 = 34
    PATCH_19 = 35
    PATCH_20 = 36
    PATCH_21 = 37
    PATCH_22 = 38
    PATCH_23 = 39
    PATCH_24 = 40
    PATCH_25 = 41
    PATCH_26 = 42
    PATCH_27 = 43
    PATCH_28 = 44
    PATCH_29 = 45
    PATCH_30 = 46
    PATCH_31 = 47
    PATCH_32 = 48


class PrimitiveMark(IntEnum):
    """Whether a primitive begins at an index: its number follows from marks alone [ia]."""

    NORMAL = 0
    PRIMITIVE_START = 1
    INSTANCE_START = 2


class InstanceMark(IntEnum):
    """Whether an instance begins at an index."""

    NORMAL = 0
    INSTANCE_START = 1
    DRAW_START = 2


class StepClass(IntEnum):
    """What a vertex buffer steps with [fs 8.1.3]."""

    PER_VERTEX = 0
    PER_INSTANCE = 1
