# SPDX-License-Identifier: BSD-2-Clause
"""Address modes, and payloads of texel addresses, as field tables: see
:mod:`fixfunc.spec.payloads`.
"""

from enum import IntEnum

from fixfunc.spec.payloads import Field, each

EXTENT = 14  # log2 of the greatest width and height


class AddressKind(IntEnum):
    """What a beat to the addresses is."""

    STATE = 0
    QUAD = 1


class Address(IntEnum):
    """What lies beyond a texture's edges [fs 7.18.9]."""

    WRAP = 0
    MIRROR = 1
    CLAMP = 2
    BORDER = 3
    MIRROR_ONCE = 4


_KIND = Field("kind", 1, meaning="AddressKind")
ADDRESS_STATE = (
    _KIND,
    *each("width height", EXTENT + 1, meaning="of level 0: 1 to 16,384 texels"),
    *each("mode_u mode_v", 3, meaning="Address"),
    *each("offset_u offset_v", 6, signed=True, meaning="texels of whatever level"),
    Field("gathers", 1, meaning="texels count without weight, too"),
)
_PLACE = "place in texels of the level, s16.8; of WRAP and MIRROR within two sizes of 0"
# Of pixel (x, y), whose number is 2 y + x.
ADDRESS_QUAD = (
    _KIND,
    *(
        field
        for pixel in range(4)
        for field in (
            *each(f"x{pixel} y{pixel}", 25, signed=True, meaning=_PLACE),
            Field(f"level{pixel}", 4, meaning="number of the level"),
            Field(f"smooth{pixel}", 1, meaning="four texels; else the one that the place is in"),
        )
    ),
)
# Columns and rows of the grid: from bit 2 on they are those of its blocks of 4x4 texels. Bit 0 of a
# corner's number is its step along u, bit 1 along v.
ADDRESSED_QUAD = tuple(
    field
    for pixel in range(4)
    for field in (
        *each(f"left{pixel} right{pixel}", EXTENT, meaning="column of the grid, texels"),
        *each(f"upper{pixel} lower{pixel}", EXTENT, meaning="row of the grid, texels"),
        Field(f"u{pixel}", 8, meaning="weight of the right column, of 256"),
        Field(f"v{pixel}", 8, meaning="weight of the lower row, of 256"),
        Field(f"borders{pixel}", 4, meaning="corners that are the border"),
        Field(f"reads{pixel}", 4, meaning="corners that are texels, and have weight"),
    )
)
