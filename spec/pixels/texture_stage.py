# SPDX-License-Identifier: BSD-2-Clause
"""Operations and payloads of the texture stage, as field tables: see
:mod:`fixfunc.spec.payloads`.
"""

from enum import IntEnum

from fixfunc.spec.payloads import Field
from fixfunc.spec.pixels.interpolation import attribute_quad
from fixfunc.spec.points import QUAD

CHANNELS = "rgba"


class StageKind(IntEnum):
    """What a beat to the texture stage is."""

    STATE = 0
    QUAD = 1


class TextureOp(IntEnum):
    """What becomes of a colour and a texel."""

    NONE = 0  # the colour, bit for bit
    REPLACE = 1  # the texel
    MODULATE = 2  # colour * texel
    DECAL = 3  # colour + texel alpha * (texel - colour); the colour's alpha
    ADD = 4  # colour + texel, at most 1; alphas as MODULATE has them


_KIND = Field("kind", 1)  # StageKind
STAGE_STATE = (
    _KIND,
    Field("interpolated", 1),  # the colour is an attribute; else the constant
    Field("attribute", 4),  # its number
    Field("op", 3),  # TextureOp
    Field("alpha_test", 3),  # fixfunc.spec.state.Compare, of alpha with the reference
    Field("alpha_reference", 32),  # float32
    *(Field(f"constant_{name}", 32) for name in CHANNELS),  # float32
)
STAGE_QUAD = (
    _KIND,
    *attribute_quad(4),
    # Texels of pixel (x, y), whose number is 2 y + x: UNORM of 16 bits. They come with the end.
    *(Field(f"t{pixel}_{n}", 16) for pixel in range(4) for n in range(4)),
)
SHADED_QUAD = (
    *QUAD,  # its mask without what the alpha test rejects
    *(Field(f"c{pixel}_{n}", 32) for pixel in range(4) for n in range(4)),  # float32
)
