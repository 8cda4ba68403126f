# SPDX-License-Identifier: BSD-2-Clause
"""Operations and payloads of the texture stage, as field tables: see
:mod:`fixfunc.spec.payloads`.
"""

from enum import IntEnum

from fixfunc.spec.payloads import Field, each
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


_KIND = Field("kind", 1, meaning="StageKind")


def _channels(name, bits, meaning):
    names = " ".join(f"{name}{pixel}_{n}" for pixel in range(4) for n in range(4))
    return each(names, bits, meaning=meaning)


STAGE_STATE = (
    _KIND,
    Field("interpolated", 1, meaning="the colour is an attribute; else the constant"),
    Field("attribute", 4, meaning="number of the attribute that is the colour"),
    Field("op", 3, meaning="TextureOp"),
    Field("alpha_test", 3, meaning="Compare, of alpha with the reference"),
    Field("alpha_reference", 32, meaning="of the alpha test, float32"),
    *each(" ".join(f"constant_{name}" for name in CHANNELS), 32, meaning="the constant, float32"),
)
STAGE_QUAD = (
    _KIND,
    *attribute_quad(4),
    *_channels("t", 16, "texel's channel of pixel (x, y), number 2 y + x: UNORM16; with the end"),
)
SHADED_QUAD = (
    *QUAD,  # its mask without what the alpha test rejects
    *_channels("c", 32, "colour's channel of pixel (x, y), number 2 y + x: float32"),
)


def shaded_quad(outputs: int) -> tuple[Field, ...]:
    """A colour of a quad from a shader that may give so many, one behind the other.

    They are SV_Target0, SV_Target1 and so on; all else is the same in each.
    """
    if outputs == 1:
        return SHADED_QUAD
    meaning = "the next colour of the quad follows; else this is that of all outputs behind it"
    return (*SHADED_QUAD, Field("more", 1, meaning=meaning))
