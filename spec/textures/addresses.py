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


_KIND = Field("kind", 1)  # AddressKind
ADDRESS_STATE = (
    _KIND,
    *each("width height", EXTENT + 1),  # of level 0: 1 to 16,384 texels
    *each("mode_u mode_v", 3),  # Address
    *each("offset_u offset_v", 6, signed=True),  # texels of whatever level
    Field("gathers", 1),  # texels count without weight, too
)
ADDRESS_QUAD = (
    _KIND,
    # Of pixel (x, y), whose number is 2 y + x.
    *(
        field
        for pixel in range(4)
        for field in (
            # Places in texels of the level, s16.8; of WRAP and MIRROR within two sizes of 0.
            Field(f"x{pixel}", 25, True),
            Field(f"y{pixel}", 25, True),
            Field(f"level{pixel}", 4),
            Field(f"smooth{pixel}", 1),  # four texels; else the one that the place is in
        )
    ),
)
ADDRESSED_QUAD = tuple(
    field
    for pixel in range(4)
    for field in (
        # Columns and rows of the grid: from bit 2 on they are those of its blocks of 4x4 texels.
        *each(f"left{pixel} right{pixel} upper{pixel} lower{pixel}", EXTENT),
        Field(f"u{pixel}", 8),  # weight of the right column, of 256
        Field(f"v{pixel}", 8),  # weight of the lower row
        # Of corners: bit 0 of a corner's number is its step along u, bit 1 along v.
        Field(f"borders{pixel}", 4),  # they are the border
        Field(f"reads{pixel}", 4),  # they are texels, and have weight
    )
)
