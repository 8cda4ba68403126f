# SPDX-License-Identifier: BSD-2-Clause
"""Formats and payloads of the texture cache, as field tables: see :mod:`fixfunc.spec.payloads`."""

from enum import IntEnum

from fixfunc.spec.payloads import COLOUR, Field, each
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.filter import CHANNELS, CORNERS

LINE = 64  # bytes of a line of memory
LEVELS = EXTENT + 1
LINE_NUMBER = 26  # bits: lines of 4 GB
LAYER = 11  # bits: numbers of 2,048 layers


class CacheKind(IntEnum):
    """What a beat to the texture cache is."""

    STATE = 0
    QUAD = 1


class StoredFormat(IntEnum):
    """Format of a texture in memory, by its name in DXGI."""

    R8G8B8A8_UNORM = 0
    R8G8B8A8_UNORM_SRGB = 1
    B8G8R8A8_UNORM = 2
    B8G8R8A8_UNORM_SRGB = 3
    B8G8R8X8_UNORM = 4
    B8G8R8X8_UNORM_SRGB = 5
    R10G10B10A2_UNORM = 6
    R16G16_UNORM = 7
    R8G8_UNORM = 8
    R16_UNORM = 9
    B5G6R5_UNORM = 10
    B5G5R5A1_UNORM = 11
    B4G4R4A4_UNORM = 12
    R8_UNORM = 13
    A8_UNORM = 14
    BC1_UNORM = 15
    BC1_UNORM_SRGB = 16
    BC2_UNORM = 17
    BC2_UNORM_SRGB = 18
    BC3_UNORM = 19
    BC3_UNORM_SRGB = 20
    BC4_UNORM = 21
    BC4_SNORM = 22
    BC5_UNORM = 23
    BC5_SNORM = 24
    BC7_UNORM = 25
    BC7_UNORM_SRGB = 26
    R24_UNORM_X8_TYPELESS = 27
    R32_FLOAT = 28
    # Formats of EXTENDED.
    R8_SNORM = 32
    R8G8_SNORM = 33
    R8G8B8A8_SNORM = 34
    R16_SNORM = 35
    R16G16_SNORM = 36
    R16G16B16A16_UNORM = 37
    R16G16B16A16_SNORM = 38
    R16_FLOAT = 39
    R16G16_FLOAT = 40
    R16G16B16A16_FLOAT = 41
    R11G11B10_FLOAT = 42
    R9G9B9E5_SHAREDEXP = 43
    BC6H_UF16 = 44
    BC6H_SF16 = 45
    R32G32_FLOAT = 46


# Formats that comparisons read: red as it lies, bits from 16 on are in green.
DEPTHS = (StoredFormat.R24_UNORM_X8_TYPELESS, StoredFormat.R32_FLOAT)
FORMAT = 5  # bits of a number of a format, but for those of EXTENDED
# Formats of float32, which are sampled by points alone: a word is two channels, its low half first.
POINT_SAMPLED = (StoredFormat.R32_FLOAT, StoredFormat.R32G32_FLOAT)
# Those of EXTENDED that are filtered.
MORE = tuple(form for form in StoredFormat if form >> FORMAT and form not in POINT_SAMPLED)
SNORMS = tuple(form for form in MORE if form.name.endswith("SNORM"))
FLOATS = tuple(form for form in MORE if "NORM" not in form.name)  # halves, or exact as these
COLOURS = tuple(form for form in StoredFormat if form not in (*DEPTHS, *MORE, *POINT_SAMPLED))


class CacheStatus(IntEnum):
    """How texels of a quad came: what could not be read is zero."""

    OKAY = 0
    MEMORY = 1  # memory answered a line with an error
    FORMAT = 2  # the cache has no such format


_KIND = Field("kind", 1, meaning="CacheKind")
# Where the levels of a texture are, and as what.
LEVELS_STATE = (
    Field("format", FORMAT, meaning="StoredFormat"),
    Field("first_set", 8, meaning="number of the set of block 0 of level 0, modulo all sets"),
    *(
        Field(f"base{level}", LINE_NUMBER, meaning="of a level: its first line of 64 bytes")
        for level in range(LEVELS)
    ),
)
DISTANCE = Field("distance", LINE_NUMBER, meaning="from a layer to the next: lines, modulo 2^26")
EXTENDED = Field("extended", 1, meaning="the format's number is 32 more")
TABLE = 27  # bits: transfers of 4 GB
# Where the modes of a surface are, and which colour its cleared tiles have.
SURFACE = (
    Field("mode_table", TABLE, meaning="address of the mode table / 32"),
    Field("cleared", COLOUR, meaning="colour that the surface was cleared to, as it is stored"),
)
# A texture that was drawn: from the first line of level 0 on, rows of tiles ``distance`` apart.
CODED_STATE = (Field("coded", 1, meaning="it lies as a coded surface of colours"), *SURFACE)
# A texture whose level 0 lies as rows of texels, ``distance`` lines apart: fewer than 2^PITCH.
LINEAR = Field("linear", 1, meaning="it lies as rows of texels")
PITCH = 12  # bits
CACHE_STATE = (_KIND, *LEVELS_STATE, DISTANCE, EXTENDED, *CODED_STATE, LINEAR)
# Of pixel (x, y), whose number is 2 y + x; as ADDRESSED_QUAD, and the level.
CACHE_QUAD = (
    _KIND,
    *(
        field
        for pixel in range(4)
        for field in (
            Field(f"level{pixel}", 4, meaning="number of the level, below 15"),
            Field(f"layer{pixel}", LAYER, meaning="number of the layer"),
            *each(f"left{pixel} right{pixel}", EXTENT, meaning="column of the grid, texels"),
            *each(f"upper{pixel} lower{pixel}", EXTENT, meaning="row of the grid, texels"),
            Field(f"reads{pixel}", CORNERS, meaning="corners that are read; others are zero"),
            Field(f"u{pixel}", 8, meaning="weight of the right column, passed on"),
            Field(f"v{pixel}", 8, meaning="weight of the lower row, passed on"),
        )
    ),
)
TEXEL_QUAD = (
    Field("status", 2, meaning="CacheStatus"),
    Field("lookups", 5, meaning="blocks of 4x4 texels that were looked up for it"),
    Field("misses", 5, meaning="of those, blocks that were not on chip"),
    Field("lines", 6, meaning="lines of those that were read from memory, modulo 64"),
    *(
        field
        for pixel in range(4)
        for field in (
            Field(f"u{pixel}", 8, meaning="weight of the right column, of 256"),
            Field(f"v{pixel}", 8, meaning="weight of the lower row, of 256"),
        )
    ),
    *(
        Field(f"t{pixel}_{corner}_{n}", 16, meaning="texel's channel, an integer by Unit")
        for pixel in range(4)
        for corner in range(CORNERS)
        for n in range(len(CHANNELS))
    ),
)
