# SPDX-License-Identifier: BSD-2-Clause
"""Formats of DXGI: their numbers, and what their names say [fs 19.1.4]."""

import re
from enum import IntEnum
from typing import NamedTuple


class Format(IntEnum):
    """Formats by DXGI's numbers; channels from the lowest bits on [fs 19.1.3.1]."""

    UNKNOWN = 0  # of buffers, whose structure their users know
    R32G32B32A32_TYPELESS = 1
    R32G32B32A32_FLOAT = 2
    R32G32B32A32_UINT = 3
    R32G32B32A32_SINT = 4
    R32G32B32_TYPELESS = 5
    R32G32B32_FLOAT = 6
    R32G32B32_UINT = 7
    R32G32B32_SINT = 8
    R16G16B16A16_TYPELESS = 9
    R16G16B16A16_FLOAT = 10
    R16G16B16A16_UNORM = 11
    R16G16B16A16_UINT = 12
    R16G16B16A16_SNORM = 13
    R16G16B16A16_SINT = 14
    R32G32_TYPELESS = 15
    R32G32_FLOAT = 16
    R32G32_UINT = 17
    R32G32_SINT = 18
    R32G8X24_TYPELESS = 19
    D32_FLOAT_S8X24_UINT = 20
    R32_FLOAT_X8X24_TYPELESS = 21
    X32_TYPELESS_G8X24_UINT = 22
    R10G10B10A2_TYPELESS = 23
    R10G10B10A2_UNORM = 24
    R10G10B10A2_UINT = 25
    R11G11B10_FLOAT = 26
    R8G8B8A8_TYPELESS = 27
    R8G8B8A8_UNORM = 28
    R8G8B8A8_UNORM_SRGB = 29
    R8G8B8A8_UINT = 30
    R8G8B8A8_SNORM = 31
    R8G8B8A8_SINT = 32
    R16G16_TYPELESS = 33
    R16G16_FLOAT = 34
    R16G16_UNORM = 35
    R16G16_UINT = 36
    R16G16_SNORM = 37
    R16G16_SINT = 38
    R32_TYPELESS = 39
    D32_FLOAT = 40
    R32_FLOAT = 41
    R32_UINT = 42
    R32_SINT = 43
    R24G8_TYPELESS = 44
    D24_UNORM_S8_UINT = 45
    R24_UNORM_X8_TYPELESS = 46
    X24_TYPELESS_G8_UINT = 47
    R8G8_TYPELESS = 48
    R8G8_UNORM = 49
    R8G8_UINT = 50
    R8G8_SNORM = 51
    R8G8_SINT = 52
    R16_TYPELESS = 53
    R16_FLOAT = 54
    D16_UNORM = 55
    R16_UNORM = 56
    R16_UINT = 57
    R16_SNORM = 58
    R16_SINT = 59
    R8_TYPELESS = 60
    R8_UNORM = 61
    R8_UINT = 62
    R8_SNORM = 63
    R8_SINT = 64
    A8_UNORM = 65
    R9G9B9E5_SHAREDEXP = 67
    R8G8_B8G8_UNORM = 68
    G8R8_G8B8_UNORM = 69
    BC1_TYPELESS = 70
    BC1_UNORM = 71
    BC1_UNORM_SRGB = 72
    BC2_TYPELESS = 73
    BC2_UNORM = 74
    BC2_UNORM_SRGB = 75
    BC3_TYPELESS = 76
    BC3_UNORM = 77
    BC3_UNORM_SRGB = 78
    BC4_TYPELESS = 79
    BC4_UNORM = 80
    BC4_SNORM = 81
    BC5_TYPELESS = 82
    BC5_UNORM = 83
    BC5_SNORM = 84
    B5G6R5_UNORM = 85
    B5G5R5A1_UNORM = 86
    B8G8R8A8_UNORM = 87
    B8G8R8X8_UNORM = 88
    B8G8R8A8_TYPELESS = 90
    B8G8R8A8_UNORM_SRGB = 91
    B8G8R8X8_TYPELESS = 92
    B8G8R8X8_UNORM_SRGB = 93
    BC6H_TYPELESS = 94
    BC6H_UF16 = 95
    BC6H_SF16 = 96
    BC7_TYPELESS = 97
    BC7_UNORM = 98
    BC7_UNORM_SRGB = 99
    B4G4R4A4_UNORM = 115


# Formats that vertex fetch reads.
VERTEX_FORMATS = tuple(
    form
    for form in Format
    if re.fullmatch(r"([RGBAX]\d+)+_(UNORM|SNORM|UINT|SINT|FLOAT)", form.name)
    and form != Format.A8_UNORM
)

# Formats of depths -> whether there are stencil values.
DEPTH_FORMATS = {
    Format.D16_UNORM: False,
    Format.D24_UNORM_S8_UINT: True,
    Format.D32_FLOAT: False,
    Format.D32_FLOAT_S8X24_UINT: True,
}
# Their names do not begin with their family's.
_PARENTS = {
    Format.D32_FLOAT: Format.R32_TYPELESS,
    Format.D16_UNORM: Format.R16_TYPELESS,
    Format.D24_UNORM_S8_UINT: Format.R24G8_TYPELESS,
    Format.R24_UNORM_X8_TYPELESS: Format.R24G8_TYPELESS,
    Format.X24_TYPELESS_G8_UINT: Format.R24G8_TYPELESS,
    Format.D32_FLOAT_S8X24_UINT: Format.R32G8X24_TYPELESS,
    Format.R32_FLOAT_X8X24_TYPELESS: Format.R32G8X24_TYPELESS,
    Format.X32_TYPELESS_G8X24_UINT: Format.R32G8X24_TYPELESS,
    Format.R8G8_B8G8_UNORM: Format.R8G8_B8G8_UNORM,
}
# Two texels side by side share their red and their blue [fs 19.4].
SUBSAMPLED = Format.R8G8_B8G8_UNORM, Format.G8R8_G8B8_UNORM
_BLOCK_BYTES = {"BC1": 8, "BC2": 16, "BC3": 16, "BC4": 8, "BC5": 16, "BC6H": 16, "BC7": 16}


class FormatInfo(NamedTuple):
    """What a format's name says."""

    family: Format  # the typeless format of all that share its bits; itself, if there is none
    typeless: bool
    bytes: int  # of a texel, or of a block
    block: int  # texels along a block's row: 4, 2, or 1
    rows: int = 1  # of a block: 4, or 1


def _info(form):
    base = form.name.split("_")[0]
    family = _PARENTS.get(form, Format.__members__.get(f"{base}_TYPELESS", form))
    typeless = form == family and form.name.endswith("TYPELESS")
    if base in _BLOCK_BYTES:
        return FormatInfo(family, typeless, _BLOCK_BYTES[base], 4, 4)
    bits = [int(number) for number in re.findall(r"[RGBAX](\d+)", family.name)]
    size = 4 if form == Format.R9G9B9E5_SHAREDEXP else sum(bits) // 8
    return FormatInfo(family, typeless, max(size, 1), 2 if form in SUBSAMPLED else 1)


FORMATS = {form: _info(form) for form in Format}
# What unordered access may take textures of some typeless formats for, too [fs 5.3.9.5].
WORDS = Format.R32_FLOAT, Format.R32_UINT, Format.R32_SINT
CAST_TO_WORDS = (
    Format.R10G10B10A2_TYPELESS,
    Format.R8G8B8A8_TYPELESS,
    Format.B8G8R8A8_TYPELESS,
    Format.B8G8R8X8_TYPELESS,
    Format.R16G16_TYPELESS,
    Format.R32_TYPELESS,
)
