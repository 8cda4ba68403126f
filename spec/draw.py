# SPDX-License-Identifier: BSD-2-Clause
"""Draw calls: topologies, marks of the index stream, vertex formats of DXGI."""

from enum import IntEnum

from fixfunc.spec.payloads import Field

INDEX = (
    Field("index", 32),  # as it was read, without the base
    Field("cut", 1),  # the last one before a cut
    Field("primitive", 2),  # PrimitiveMark
    Field("instance", 2),  # InstanceMark
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


class Format(IntEnum):
    """Formats of vertex data, by DXGI's numbers; channels from the lowest bits on [fs 19.1.3.1]."""

    R32G32B32A32_FLOAT = 2
    R32G32B32A32_UINT = 3
    R32G32B32A32_SINT = 4
    R32G32B32_FLOAT = 6
    R32G32B32_UINT = 7
    R32G32B32_SINT = 8
    R16G16B16A16_FLOAT = 10
    R16G16B16A16_UNORM = 11
    R16G16B16A16_UINT = 12
    R16G16B16A16_SNORM = 13
    R16G16B16A16_SINT = 14
    R32G32_FLOAT = 16
    R32G32_UINT = 17
    R32G32_SINT = 18
    R10G10B10A2_UNORM = 24
    R10G10B10A2_UINT = 25
    R11G11B10_FLOAT = 26
    R8G8B8A8_UNORM = 28
    R8G8B8A8_UINT = 30
    R8G8B8A8_SNORM = 31
    R8G8B8A8_SINT = 32
    R16G16_FLOAT = 34
    R16G16_UNORM = 35
    R16G16_UINT = 36
    R16G16_SNORM = 37
    R16G16_SINT = 38
    R32_FLOAT = 41
    R32_UINT = 42
    R32_SINT = 43
    R8G8_UNORM = 49
    R8G8_UINT = 50
    R8G8_SNORM = 51
    R8G8_SINT = 52
    R16_FLOAT = 54
    R16_UNORM = 56
    R16_UINT = 57
    R16_SNORM = 58
    R16_SINT = 59
    R8_UNORM = 61
    R8_UINT = 62
    R8_SNORM = 63
    R8_SINT = 64
    B5G6R5_UNORM = 85
    B5G5R5A1_UNORM = 86
    B8G8R8A8_UNORM = 87
    B8G8R8X8_UNORM = 88
    B4G4R4A4_UNORM = 115
