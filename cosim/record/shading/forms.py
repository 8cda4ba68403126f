# SPDX-License-Identifier: BSD-2-Clause
"""Formats of OpenGL's textures in DXGI's: of their own bytes where there is such a one."""

from typing import NamedTuple

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded.frame import Base
from fixfunc.spec.dxgi import Format

ZERO, ONE = 4, 5  # of a swizzle, beside channels
RGBA = (0, 1, 2, 3)
# What of a format's channels OpenGL makes a colour of, and what takes part in an environment.
_CHANNELS = {
    "RGBA": (RGBA, Base.COLOUR_ALPHA),
    "RGB": ((0, 1, 2, ONE), Base.COLOUR),
    "RG": ((0, 1, ZERO, ONE), Base.COLOUR),
    "R": ((0, ZERO, ZERO, ONE), Base.COLOUR),
    "A": ((ZERO, ZERO, ZERO, 3), Base.ALPHA),
    "L": ((0, 0, 0, ONE), Base.COLOUR),
    "LA": ((0, 0, 0, 1), Base.COLOUR_ALPHA),
    "I": ((0, 0, 0, 0), Base.INTENSITY),
}
# How channels are read: OpenGL's format.
_READ = {
    "RGBA": T.RGBA,
    "RG": T.RG,
    "R": T.RED,
    "A": T.ALPHA,
    "L": T.RED,
    "LA": T.LUMINANCE_ALPHA,
    "I": T.RED,
}
_READ_AS_RGBA = {"L": (0, 0, 0, ONE), "LA": (0, 0, 0, 3), "I": (0, 0, 0, 0)}
_KINDS = {  # of OpenGL's types of channels, by bits: type of a word, and DXGI's name
    T.UNSIGNED_NORMALIZED: ({8: T.UNSIGNED_BYTE, 16: T.UNSIGNED_SHORT}, "UNORM"),
    T.SIGNED_NORMALIZED: ({8: T.BYTE, 16: T.SHORT}, "SNORM"),
    T.FLOAT: ({16: T.HALF_FLOAT, 32: T.FLOAT}, "FLOAT"),
    T.INT: ({8: T.BYTE, 16: T.SHORT, 32: T.INT}, "SINT"),
    T.UNSIGNED_INT: ({8: T.UNSIGNED_BYTE, 16: T.UNSIGNED_SHORT, 32: T.UNSIGNED_INT}, "UINT"),
}
_INTEGERS = {
    T.RGBA: T.RGBA_INTEGER,
    T.RG: T.RG_INTEGER,
    T.RED: T.RED_INTEGER,
    T.ALPHA: T.ALPHA_INTEGER,
}
# Packed ones, by channels and their bits.
_PACKED = {
    ("RGB", (8, 8, 8)): (Format.B8G8R8X8_UNORM, T.BGRA, T.UNSIGNED_BYTE),
    ("RGB", (5, 6, 5)): (Format.B5G6R5_UNORM, T.RGB, T.UNSIGNED_SHORT_5_6_5),
    ("RGBA", (5, 5, 5, 1)): (Format.B5G5R5A1_UNORM, T.BGRA, T.UNSIGNED_SHORT_1_5_5_5_REV),
    ("RGBA", (4, 4, 4, 4)): (Format.B4G4R4A4_UNORM, T.BGRA, T.UNSIGNED_SHORT_4_4_4_4_REV),
    ("RGBA", (10, 10, 10, 2)): (Format.R10G10B10A2_UNORM, T.RGBA, T.UNSIGNED_INT_2_10_10_10_REV),
}
_NAMED = {
    T.R11F_G11F_B10F: (
        Format.R11G11B10_FLOAT,
        T.RGB,
        T.UNSIGNED_INT_10F_11F_11F_REV,
    ),
    T.RGB9_E5: (Format.R9G9B9E5_SHAREDEXP, T.RGB, T.UNSIGNED_INT_5_9_9_9_REV),
}
_SRGB = {T.SRGB8, T.SRGB8_ALPHA8, T.SRGB, T.SRGB_ALPHA}
_OF_SRGB = {
    Format.R8G8B8A8_UNORM: Format.R8G8B8A8_UNORM_SRGB,
    Format.B8G8R8X8_UNORM: Format.B8G8R8X8_UNORM_SRGB,
}
_DEPTHS = {
    16: (Format.R16_UNORM, T.UNSIGNED_SHORT),
    24: (Format.R24_UNORM_X8_TYPELESS, T.UNSIGNED_INT),
    32: (Format.R32_FLOAT, T.FLOAT),
}
_OF_DEPTHS = {
    T.LUMINANCE: _CHANNELS["L"],
    T.INTENSITY: _CHANNELS["I"],
    T.ALPHA: ((ZERO, ZERO, ZERO, 0), Base.ALPHA),
    T.RED: _CHANNELS["R"],
}
# Blocks, by OpenGL's name: DXGI's, and channels.
_BLOCKS = {
    T.COMPRESSED_RGB_S3TC_DXT1_EXT: (Format.BC1_UNORM, "RGB"),
    T.COMPRESSED_RGBA_S3TC_DXT1_EXT: (Format.BC1_UNORM, "RGBA"),
    T.COMPRESSED_RGBA_S3TC_DXT3_EXT: (Format.BC2_UNORM, "RGBA"),
    T.COMPRESSED_RGBA_S3TC_DXT5_EXT: (Format.BC3_UNORM, "RGBA"),
    T.COMPRESSED_SRGB_S3TC_DXT1_EXT: (Format.BC1_UNORM_SRGB, "RGB"),
    T.COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT: (Format.BC1_UNORM_SRGB, "RGBA"),
    T.COMPRESSED_SRGB_ALPHA_S3TC_DXT3_EXT: (Format.BC2_UNORM_SRGB, "RGBA"),
    T.COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT: (Format.BC3_UNORM_SRGB, "RGBA"),
    T.COMPRESSED_RED_RGTC1: (Format.BC4_UNORM, "R"),
    T.COMPRESSED_SIGNED_RED_RGTC1: (Format.BC4_SNORM, "R"),
    T.COMPRESSED_RG_RGTC2: (Format.BC5_UNORM, "RG"),
    T.COMPRESSED_SIGNED_RG_RGTC2: (Format.BC5_SNORM, "RG"),
    T.COMPRESSED_LUMINANCE_LATC1_EXT: (Format.BC4_UNORM, "L"),
    T.COMPRESSED_LUMINANCE_ALPHA_LATC2_EXT: (Format.BC5_UNORM, "LA"),
    T.COMPRESSED_RGBA_BPTC_UNORM: (Format.BC7_UNORM, "RGBA"),
    T.COMPRESSED_SRGB_ALPHA_BPTC_UNORM: (Format.BC7_UNORM_SRGB, "RGBA"),
    T.COMPRESSED_RGB_BPTC_SIGNED_FLOAT: (Format.BC6H_SF16, "RGB"),
    T.COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT: (Format.BC6H_UF16, "RGB"),
}


class Stored(NamedTuple):
    """How an image is stored here."""

    form: Format
    swizzle: tuple[int, ...]  # of OpenGL's red, green, blue, alpha: a channel, ZERO or ONE
    base: Base
    read: tuple[int, int] | None  # OpenGL's format and type; None: blocks as they are
    is_converted: bool = False


class Image(NamedTuple):
    """What OpenGL says of an image."""

    internal: int
    channels: str
    bits: tuple[int, ...]
    kind: int  # OpenGL's type of channels
    is_compressed: bool
    depth_mode: int


def stored(image: Image) -> Stored:
    """How an image is stored: its own bytes, else what each of its channels has room in."""
    if image.is_compressed and image.internal in _BLOCKS:
        form, channels = _BLOCKS[image.internal]
        return Stored(form, *_CHANNELS[channels], None)
    if image.channels == "D":
        form, word = _DEPTHS[image.bits[0]]
        is_float = image.kind == T.FLOAT
        converted = image.bits[0] == 32 and not is_float
        return Stored(form, *_OF_DEPTHS[image.depth_mode], (T.DEPTH_COMPONENT, word), converted)
    channels = _CHANNELS[image.channels]
    packed = _NAMED.get(image.internal)
    if image.kind == T.UNSIGNED_NORMALIZED and not image.is_compressed:
        packed = packed or _PACKED.get((image.channels, image.bits))
    if packed:
        return Stored(_srgb(packed[0], image), *channels, packed[1:])
    words, name = _KINDS[image.kind]
    bits = set(image.bits)
    if image.is_compressed or len(bits) > 1 or not bits & set(words) or image.channels == "RGB":
        return _converted(image, channels[1])
    form, swizzle = _plain(image, name)
    read = _READ[image.channels]
    if name.endswith("INT"):
        if read not in _INTEGERS:
            return _converted(image, channels[1])
        read = _INTEGERS[read]
    return Stored(_srgb(form, image), swizzle, channels[1], (read, words[image.bits[0]]))


def _plain(image, name):
    """A format of one, two or four channels, and where OpenGL's channels are in it."""
    bits = image.bits[0]
    swizzle = _CHANNELS[image.channels][0]
    if image.channels == "A":
        if (bits, name) == (8, "UNORM"):
            return Format.A8_UNORM, swizzle
        swizzle = (ZERO, ZERO, ZERO, 0)
    letters = "RGBA"[: len(image.bits)]
    return Format["".join(f"{letter}{bits}" for letter in letters) + f"_{name}"], swizzle


def _converted(image, base):
    """Four channels of 8 bits, or of 32: colours as OpenGL reads them."""
    name = _KINDS[image.kind][1]
    if name == "UNORM" and max(image.bits) <= 8:
        form, word = _srgb(Format.R8G8B8A8_UNORM, image), T.UNSIGNED_BYTE
    elif name.endswith("INT"):
        form = Format[f"R32G32B32A32_{name}"]
        word = T.INT if name == "SINT" else T.UNSIGNED_INT
        return Stored(form, RGBA, base, (T.RGBA_INTEGER, word), True)
    else:
        form, word = Format.R32G32B32A32_FLOAT, T.FLOAT
    swizzle = _READ_AS_RGBA.get(image.channels, RGBA)
    return Stored(form, swizzle, base, (T.RGBA, word), True)


def _srgb(form, image):
    return _OF_SRGB.get(form, form) if image.internal in _SRGB else form
