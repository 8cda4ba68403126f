# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of the texture unit, as field tables: see :mod:`fixfunc.spec.payloads`."""

from enum import IntEnum

from fixfunc.spec.payloads import Field, each
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.cache import (
    DEPTHS,
    DISTANCE,
    EXTENDED,
    LAYER,
    LEVELS_STATE,
    StoredFormat,
)
from fixfunc.spec.textures.cube import FACES
from fixfunc.spec.textures.filter import CHANNELS
from fixfunc.spec.textures.level_of_detail import EXPLICIT_GRADIENTS, EXPLICIT_LEVEL, LOD


class TextureKind(IntEnum):
    """What a beat to the texture unit is."""

    STATE = 0
    QUAD = 1


_KIND = Field("kind", 1, meaning="TextureKind")
TEXTURE_STATE = (
    _KIND,
    *each("width height", EXTENT + 1, meaning="of level 0: 1 to 16,384 texels"),
    Field("last", 4, meaning="number of the smallest level: 0 to 14"),
    *LEVELS_STATE,
    *each("mode_u mode_v", 3, meaning="Address"),
    Field("magnify", 1, meaning="four texels where the level is 0 or less; else the nearest"),
    Field("minify", 1, meaning="four texels where the level is above 0; else the nearest"),
    Field("smooth", 1, meaning="between two levels; else of the nearest"),
    Field("coarse", 1, meaning="gradients of the first row and column for all pixels"),
    Field("bias", LOD, signed=True, meaning="added to the level, s8.8"),
    *each("minimum maximum", LOD, signed=True, meaning="of the level, behind the bias, s8.8"),
    Field("least", LOD, signed=True, meaning="the texture's own least level, s8.8"),
    Field("op", 2, meaning="FilterOp; of GATHER four texels of level 0, whatever the filters"),
    Field("component", 2, meaning="of a gather"),
    *(
        Field(f"border_{name}", 16, meaning="of the border, an integer by Unit")
        for name in CHANNELS
    ),
    Field("anisotropy", 5, meaning="most samples along a footprint: 2 to 16; 0 and 1: no such"),
)
# Of an array of textures, or of cubes, which have six layers each.
ARRAY_STATE = (
    Field("last_layer", LAYER, meaning="number of the last layer, or cube: 0 of no array"),
    Field("cube", 1, meaning="layers are faces: +x, -x, +y, -y, +z, -z"),
    DISTANCE,
)
# How an instruction samples.
INSTRUCTION_STATE = (
    *each("offset_u offset_v", 6, signed=True, meaning="texels of whatever level"),
    Field("compares", 1, meaning="of a comparison: its reference, with red, of a COMPARED format"),
    Field("function", 3, meaning="Compare, the reference on its left"),
    EXPLICIT_LEVEL,
    EXPLICIT_GRADIENTS,
)
# What the texture unit takes: a texture and a sampler, and how an instruction samples them.
SAMPLE_STATE = (*TEXTURE_STATE, *ARRAY_STATE, EXTENDED, *INSTRUCTION_STATE)
LAST_CUBE = (1 << LAYER) // FACES - 1  # number of the last cube that there may be
NO_FORMAT = 31  # a number that no format has: the cache refuses it
COMPARED = (StoredFormat.R16_UNORM, *DEPTHS)  # formats that a reference is compared with
# Of pixel (x, y), whose number is 2 y + x.
TEXTURE_QUAD = (
    _KIND,
    *(
        Field(f"{name}{pixel}", 32, meaning="coordinate, 0 to 1 across the texture, float32")
        for pixel in range(4)
        for name in "uv"
    ),
    *(Field(f"bias{pixel}", LOD, True, "of the pixel's level, s8.8") for pixel in range(4)),
    *(Field(f"reference{pixel}", 32, meaning="of a comparison, float32") for pixel in range(4)),
    *(
        Field(f"layer{pixel}", 32, meaning="of an array, float32: the nearest layer that there is")
        for pixel in range(4)
    ),
    *(
        Field(f"w{pixel}", 32, meaning="with u and v a cube's direction, float32")
        for pixel in range(4)
    ),
    Field("live", 4, meaning="pixels that read texels; of others coordinates alone count"),
)
_COUNT = 10  # bits: two grids of 16 taps of each of 16 samples
TEXTURED_QUAD = (
    Field("status", 2, meaning="CacheStatus, the greatest of its texels"),
    Field("lookups", _COUNT, meaning="blocks of 4x4 texels that were looked up for it"),
    Field("misses", _COUNT, meaning="of those, blocks that were not on chip"),
    Field("lines", _COUNT, meaning="lines of those that were read from memory, modulo 1,024"),
    *(
        Field(f"c{pixel}_{n}", 32, meaning="channel of pixel (x, y), number 2 y + x: float32")
        for pixel in range(4)
        for n in range(len(CHANNELS))
    ),
)
