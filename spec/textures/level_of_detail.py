# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of the level of detail, as field tables: see :mod:`fixfunc.spec.payloads`."""

from enum import IntEnum

from fixfunc.spec.payloads import Field, each
from fixfunc.spec.textures.addresses import EXTENT

LOD = 17  # bits of s8.8
LEVELS = 15  # of a texture of 16,384 texels


class LodKind(IntEnum):
    """What a beat to the level of detail is."""

    STATE = 0
    QUAD = 1


_KIND = Field("kind", 1)  # LodKind
LOD_STATE = (
    _KIND,
    *each("width height", EXTENT + 1),  # of level 0: 1 to 16,384 texels
    Field("last", 4),  # number of the smallest level: 0 to 14
    Field("coarse", 1),  # gradients of the first row and column for all pixels
    Field("smooth", 1),  # between two levels; else of the nearest
    *each("bias minimum maximum least", LOD, signed=True),  # s8.8; the least is the texture's own
)
LOD_QUAD = (
    _KIND,
    # Of pixel (x, y), whose number is 2 y + x.
    *(Field(f"{name}{pixel}", 32) for pixel in range(4) for name in "uv"),  # float32
    *(Field(f"bias{pixel}", LOD, True) for pixel in range(4)),  # s8.8
)
LOD_OF_QUAD = tuple(
    field
    for pixel in range(4)
    for field in (
        Field(f"unclamped{pixel}", LOD, True),  # s8.8, before any bias
        Field(f"level{pixel}", 4),
        Field(f"fraction{pixel}", 8),  # weight of the level below, of 256
        Field(f"minifies{pixel}", 1),  # above 0: the filter of minification counts
    )
)
