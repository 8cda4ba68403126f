# SPDX-License-Identifier: BSD-2-Clause
"""Formats of textures: their own bytes, or others, and then said so."""

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded.frame import Base
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture import create
from fixfunc.spec.dxgi import Format
from tests.cosim.record.shading.uploads import OCTETS, RNG, SIDE, frame_with, smooth, upload

FLOATS = RNG.uniform(-2, 2, (SIDE, SIDE, 4)).astype(np.float32)
RGBA = OCTETS


def texel(frame):
    """Level 0 of its texture, as the golden model reads it: shape (height, width, channels)."""
    row = frame.textures[0]
    name, srgb = DXGI[Format(int(row["form"]))]
    size = frame.octets[: len(frame.octets)].reshape(1, -1)
    made = create(name, int(row["width"]), int(row["height"]), [size], srgb=srgb)
    return made.image()


# Internal format -> what is uploaded, in which form and type; what is stored; where channels are,
# and which take part.
OWN = {
    "RGBA8": (RGBA, "RGBA", "UNSIGNED_BYTE", "R8G8B8A8_UNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    "SRGB8_ALPHA8": (
        *(RGBA, "RGBA", "UNSIGNED_BYTE", "R8G8B8A8_UNORM_SRGB"),
        *((0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "R8": (RGBA[..., :1], "RED", "UNSIGNED_BYTE", "R8_UNORM", (0, 4, 4, 5), Base.COLOUR),
    "RG8": (RGBA[..., :2], "RG", "UNSIGNED_BYTE", "R8G8_UNORM", (0, 1, 4, 5), Base.COLOUR),
    "ALPHA8": (RGBA[..., :1], "ALPHA", "UNSIGNED_BYTE", "A8_UNORM", (4, 4, 4, 3), Base.ALPHA),
    "LUMINANCE8": (
        *(RGBA[..., :1], "LUMINANCE", "UNSIGNED_BYTE", "R8_UNORM", (0, 0, 0, 5), Base.COLOUR),
    ),
    "INTENSITY8": (
        *(RGBA[..., :1], "RED", "UNSIGNED_BYTE", "R8_UNORM", (0, 0, 0, 0), Base.INTENSITY),
    ),
    "LUMINANCE8_ALPHA8": (
        *(RGBA[..., :2], "LUMINANCE_ALPHA", "UNSIGNED_BYTE", "R8G8_UNORM", (0, 0, 0, 1)),
        Base.COLOUR_ALPHA,
    ),
    "RGBA32F": (FLOATS, "RGBA", "FLOAT", "R32G32B32A32_FLOAT", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    "R32F": (FLOATS[..., :1], "RED", "FLOAT", "R32_FLOAT", (0, 4, 4, 5), Base.COLOUR),
    "RGBA16F": (
        *(np.float16(FLOATS), "RGBA", "HALF_FLOAT", "R16G16B16A16_FLOAT", (0, 1, 2, 3)),
        Base.COLOUR_ALPHA,
    ),
    "RGBA16": (
        *(RNG.integers(0, 65536, (SIDE, SIDE, 4), np.uint16), "RGBA", "UNSIGNED_SHORT"),
        *("R16G16B16A16_UNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "RGBA8_SNORM": (
        *(RNG.integers(-127, 128, (SIDE, SIDE, 4), np.int8), "RGBA", "BYTE"),
        *("R8G8B8A8_SNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "RGBA8UI": (
        *(RGBA, "RGBA_INTEGER", "UNSIGNED_BYTE", "R8G8B8A8_UINT", (0, 1, 2, 3)),
        Base.COLOUR_ALPHA,
    ),
    "R32I": (
        *(RNG.integers(-(2**31), 2**31, (SIDE, SIDE, 1), np.int32), "RED_INTEGER", "INT"),
        *("R32_SINT", (0, 4, 4, 5), Base.COLOUR),
    ),
    "RGB565": (
        *(RNG.integers(0, 65536, (SIDE, SIDE), np.uint16), "RGB", "UNSIGNED_SHORT_5_6_5"),
        *("B5G6R5_UNORM", (0, 1, 2, 5), Base.COLOUR),
    ),
    "RGB5_A1": (
        *(RNG.integers(0, 65536, (SIDE, SIDE), np.uint16), "BGRA", "UNSIGNED_SHORT_1_5_5_5_REV"),
        *("B5G5R5A1_UNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "RGBA4": (
        *(RNG.integers(0, 65536, (SIDE, SIDE), np.uint16), "BGRA", "UNSIGNED_SHORT_4_4_4_4_REV"),
        *("B4G4R4A4_UNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "RGB10_A2": (
        *(RNG.integers(0, 2**32, (SIDE, SIDE), np.uint32), "RGBA", "UNSIGNED_INT_2_10_10_10_REV"),
        *("R10G10B10A2_UNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "RGB9_E5": (
        *(RNG.integers(0, 2**32, (SIDE, SIDE), np.uint32), "RGB", "UNSIGNED_INT_5_9_9_9_REV"),
        *("R9G9B9E5_SHAREDEXP", (0, 1, 2, 5), Base.COLOUR),
    ),
    "DEPTH_COMPONENT16": (
        *(RNG.integers(0, 65536, (SIDE, SIDE), np.uint16), "DEPTH_COMPONENT", "UNSIGNED_SHORT"),
        *("R16_UNORM", (0, 0, 0, 5), Base.COLOUR),
    ),
    "DEPTH_COMPONENT32F": (
        *(np.abs(FLOATS[..., 0]) / 2, "DEPTH_COMPONENT", "FLOAT", "R32_FLOAT", (0, 0, 0, 5)),
        Base.COLOUR,
    ),
}


@pytest.mark.plan("record-12")
@pytest.mark.parametrize("internal", OWN)
def test_a_format_keeps_its_bytes(internal):
    data, form, kind, name, swizzle, base = OWN[internal]
    frame = frame_with(lambda gl: upload(gl, internal, data, form, kind))
    (row,) = frame.textures
    assert Format(int(row["form"])).name == name and row["converted"] == -1
    assert tuple(row["swizzle"]) == swizzle and row["base"] == base
    assert frame.octets.tobytes() == np.ascontiguousarray(data).tobytes()
    assert (row["width"], row["height"], row["depth"], row["levels"]) == (SIDE, SIDE, 1, 1)


@pytest.mark.plan("record-12")
def test_depths_of_24_bits_are_shifted():
    words = RNG.integers(0, 1 << 24, (SIDE, SIDE)).astype(np.uint32)
    data = words << 8 | words >> 16
    frame = frame_with(
        lambda gl: upload(gl, "DEPTH_COMPONENT24", data, "DEPTH_COMPONENT", "UNSIGNED_INT")
    )
    assert frame.textures[0]["form"] == Format.R24_UNORM_X8_TYPELESS
    assert np.array_equal(frame.octets.view("<u4"), words.ravel())


# Internal format -> data, form and type; what it becomes, and OpenGL's channels in words.
OTHERS = {
    "RGB16": (RGBA[..., :3], "RGB", "UNSIGNED_BYTE", "R32G32B32A32_FLOAT", "RGB of 16, 16, 16"),
    "RGB32F": (FLOATS[..., :3], "RGB", "FLOAT", "R32G32B32A32_FLOAT", "RGB of 32, 32, 32"),
    "RGB32UI": (
        *(RGBA[..., :3], "RGB_INTEGER", "UNSIGNED_BYTE"),
        *("R32G32B32A32_UINT", "RGB of 32, 32, 32"),
    ),
    "R3_G3_B2": (
        *(RGBA[..., :3] & np.uint8([0, 255, 0]), "RGB", "UNSIGNED_BYTE"),
        *("R8G8B8A8_UNORM", "RGB of 3, 3, 2"),
    ),
    "DEPTH_COMPONENT32": (
        *(np.abs(FLOATS[..., :1]) / 2, "DEPTH_COMPONENT", "FLOAT"),
        *("R32_FLOAT", "D of 32"),
    ),
}


@pytest.mark.plan("record-12")
@pytest.mark.parametrize("internal", OTHERS)
def test_other_formats_are_converted_by_name(internal):
    """Values are those that OpenGL has of them."""
    data, form, kind, name, words = OTHERS[internal]
    frame = frame_with(lambda gl: upload(gl, internal, data, form, kind))
    (row,) = frame.textures
    assert Format(int(row["form"])).name == name
    assert frame.names[row["converted"]].startswith(f"{words} bits, 0x")
    found = texel(frame)[..., : data.shape[-1]].astype(np.float64)
    if internal == "RGB16":
        data = data / 255
    steps = {"R3_G3_B2": 255 / 7, "RGB16": 1 / 65535, "DEPTH_COMPONENT32": 2.0**-24}
    assert np.abs(found - data).max() <= steps.get(internal, 0)


BLOCKS = {
    "COMPRESSED_RGB_S3TC_DXT1_EXT": ("BC1_UNORM", 8, (0, 1, 2, 5)),
    "COMPRESSED_RGBA_S3TC_DXT1_EXT": ("BC1_UNORM", 8, (0, 1, 2, 3)),
    "COMPRESSED_RGBA_S3TC_DXT3_EXT": ("BC2_UNORM", 16, (0, 1, 2, 3)),
    "COMPRESSED_RGBA_S3TC_DXT5_EXT": ("BC3_UNORM", 16, (0, 1, 2, 3)),
    "COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT": ("BC3_UNORM_SRGB", 16, (0, 1, 2, 3)),
    "COMPRESSED_RED_RGTC1": ("BC4_UNORM", 8, (0, 4, 4, 5)),
    "COMPRESSED_SIGNED_RG_RGTC2": ("BC5_SNORM", 16, (0, 1, 4, 5)),
    "COMPRESSED_RGBA_BPTC_UNORM": ("BC7_UNORM", 16, (0, 1, 2, 3)),
    "COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT": ("BC6H_UF16", 16, (0, 1, 2, 5)),
}


@pytest.mark.plan("record-12")
@pytest.mark.parametrize("internal", BLOCKS)
def test_blocks_stay_as_they_are(internal):
    name, size, swizzle = BLOCKS[internal]
    data = RNG.integers(0, 256, 4 * size, np.uint8).tobytes()

    def change(gl):
        gl.glGenTextures(1, [5])
        gl.glBindTexture(T.TEXTURE_2D, 5)
        gl.glCompressedTexImage2D(
            *(T.TEXTURE_2D, 0, getattr(T, internal), 8, 8, 0, len(data), data)
        )
        smooth(gl, "TEXTURE_2D")
        gl.glEnable(T.TEXTURE_2D)

    frame = frame_with(change)
    (row,) = frame.textures
    assert Format(int(row["form"])).name == name and frame.octets.tobytes() == data
    assert tuple(row["swizzle"]) == swizzle and row["converted"] == -1
