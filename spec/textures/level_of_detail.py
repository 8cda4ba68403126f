# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of the level of detail, as field tables: see :mod:`fixfunc.spec.payloads`."""

from enum import IntEnum

from fixfunc.spec.payloads import Field, each
from fixfunc.spec.textures.addresses import EXTENT

LOD = 17  # bits of s8.8
LEVELS = 15  # of a texture of 16,384 texels
ANISOTROPY = 16  # samples along a footprint, at most [fs 7.18.11]


class LodKind(IntEnum):
    """What a beat to the level of detail is."""

    STATE = 0
    QUAD = 1


_KIND = Field("kind", 1, meaning="LodKind")
EXPLICIT_GRADIENTS = Field(
    "explicit_gradients", 1, meaning="quads bring gradients: coordinates do not count"
)
EXPLICIT_LEVEL = Field(
    "explicit_level", 1, meaning="the pixel's bias is its level: gradients do not count"
)
LOD_STATE = (
    _KIND,
    *each("width height", EXTENT + 1, meaning="of level 0: 1 to 16,384 texels"),
    Field("last", 4, meaning="number of the smallest level: 0 to 14"),
    Field("coarse", 1, meaning="gradients of the first row and column for all pixels"),
    Field("smooth", 1, meaning="between two levels; else of the nearest"),
    Field("bias", LOD, signed=True, meaning="added to the level, s8.8"),
    *each("minimum maximum", LOD, signed=True, meaning="of the level, behind the bias, s8.8"),
    Field("least", LOD, signed=True, meaning="the texture's own least level, s8.8"),
    EXPLICIT_LEVEL,
    EXPLICIT_GRADIENTS,
    Field("anisotropy", 5, meaning="most samples along a footprint: 2 to 16; 0 and 1: no such"),
)
# Of pixel (x, y), whose number is 2 y + x.
LOD_QUAD = (
    _KIND,
    *(
        Field(f"{name}{pixel}", 32, meaning="coordinate, float32")
        for pixel in range(4)
        for name in "uv"
    ),
    *(Field(f"bias{pixel}", LOD, True, "of the pixel, s8.8") for pixel in range(4)),
)
# Where quads may bring gradients, of u and v, to the right and downwards.
GRADIENTS = tuple(
    Field(f"{way}_{name}{pixel}", 32, meaning="gradient, float32")
    for pixel in range(4)
    for way in ("across", "down")
    for name in "uv"
)
LOD_OF_QUAD = tuple(
    field
    for pixel in range(4)
    for field in (
        Field(f"unclamped{pixel}", LOD, True, "level before any bias, s8.8"),
        Field(f"level{pixel}", 4, meaning="number of the level"),
        Field(f"fraction{pixel}", 8, meaning="weight of the level below, of 256"),
        Field(f"minifies{pixel}", 1, meaning="above 0: the filter of minification counts"),
    )
)
# With footprints of anisotropic filters.
FOOTPRINTS_OF_QUAD = (
    *LOD_OF_QUAD,
    *(
        field
        for pixel in range(4)
        for field in (
            Field(f"count{pixel}", 5, meaning="samples along the footprint: 1 to 16"),
            *each(
                f"along_u{pixel} along_v{pixel}", 32, meaning="its axis, float32; of one sample 0"
            ),
        )
    ),
)
