# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of colours: tiles on their way to a shader and back, to memory and back, to a screen.

They are field tables: see :mod:`fixfunc.spec.payloads`.
"""

from enum import IntFlag

from fixfunc.spec.dxgi import Format
from fixfunc.spec.payloads import (
    BLEND_STATE,
    COLOUR,
    DRAW_STATE,
    HEADER,
    SHADER_STATE,
    TILE_NUMBER,
    Field,
    each,
    survivors,
)

# What colour planes may be: texels of at most 32 bits, each in spec.payloads.COLOUR bits.
COLOUR_FORMATS = (
    Format.R8G8B8A8_UNORM,
    Format.R8G8B8A8_UNORM_SRGB,
    Format.R8G8B8A8_SNORM,
    Format.R8G8B8A8_UINT,
    Format.R8G8B8A8_SINT,
    Format.B8G8R8A8_UNORM,
    Format.B8G8R8A8_UNORM_SRGB,
    Format.B8G8R8X8_UNORM,
    Format.R10G10B10A2_UNORM,
    Format.R10G10B10A2_UINT,
    Format.R11G11B10_FLOAT,
    Format.R16G16_UNORM,
    Format.R16G16_SNORM,
    Format.R16G16_UINT,
    Format.R16G16_SINT,
    Format.R16G16_FLOAT,
    Format.R32_UINT,
    Format.R32_SINT,
    Format.R32_FLOAT,
    Format.R8G8_UNORM,
    Format.R8G8_SNORM,
    Format.R8G8_UINT,
    Format.R8G8_SINT,
    Format.R16_UNORM,
    Format.R16_SNORM,
    Format.R16_UINT,
    Format.R16_SINT,
    Format.R16_FLOAT,
    Format.R8_UNORM,
    Format.R8_SNORM,
    Format.R8_UINT,
    Format.R8_SINT,
    Format.B5G6R5_UNORM,
    Format.B5G5R5A1_UNORM,
    Format.B4G4R4A4_UNORM,
)
BASE_FORMATS = (Format.R8G8B8A8_UNORM,)  # of planes, unless more are asked for


def quads(edge_samples: int) -> tuple[Field, ...]:
    """One tile of a triangle, to be shaded.

    Pixel (x, y) of it at bit y * edge_samples + x, whatever the samples of a pixel.
    """
    position = 16 - edge_samples.bit_length() + 1
    return (
        *HEADER,
        *each("x y", position),  # tiles
        Field("samples", 2),  # log2
        Field("back", 1),
        Field("mask", edge_samples**2),  # samples that passed, as in payloads.tile()
        Field("covered", edge_samples**2),  # pixels with such a sample
        Field(
            "helpers", edge_samples**2
        ),  # the other pixels of their quads of 2 by 2: shaded for derivatives alone
        *(field for field in DRAW_STATE if field.name in SHADER_STATE),
    )


def colours(edge_samples: int, depths: bool = False, planes: int = 1) -> tuple[Field, ...]:
    """The same tile, shaded: a colour for each sample, lane (i, j) at number j * edge_samples + i.

    Of those not covered, any. Colours are packed in the format of their plane; a shader's alpha
    that it does not store lies behind the other channels, with as many bits as the widest of them,
    where 32 bits leave room. With several colour ``planes`` those for each come one behind the
    other. Behind the colours stands what the shader decides about samples, and with ``depths`` the
    depths that it puts out: they count in draws without ``early_write`` alone; in all others every
    sample survives, at the depth of its plane.
    """
    names = (colour_name(plane, lane) for plane in range(planes) for lane in range(edge_samples**2))
    return each(" ".join(names), COLOUR) + survivors(edge_samples, depths)


def colour_name(plane: int, lane: int) -> str:
    """Name of the field that holds a lane's colour for a plane."""
    return f"plane{plane}_colour{lane}" if plane else f"colour{lane}"


# Tiles of 8 by 8 colours, of 32 or 64 bits, between a cache and memory.
EDGE = 8  # of a tile whose colours are coded, in samples
LANES = EDGE**2  # lane (i, j) is word 8 j + i
WORDS = 64  # of 32 bits, of a raw tile of colours of 32 bits
TRANSFERS = 6  # of 32 bytes: differences of such colours take so many at most


def _lanes(bits):
    return each(" ".join(f"colour{n}" for n in range(LANES)), bits)


def uncoded(bits: int = COLOUR) -> tuple[Field, ...]:
    """A tile of colours of so many bits, to be coded."""
    return (
        Field("samples", 2),  # log2
        Field("clears", 1),  # the target has been cleared,
        Field("cleared", bits),  # to this
        *_lanes(bits),
    )


def coded(bits: int = COLOUR) -> tuple[Field, ...]:
    """The same, coded: a TileMode, and zeros behind what it says."""
    words = LANES * bits // 32
    return (Field("code", 4), *each(" ".join(f"data{n}" for n in range(words)), 32))


def stored(bits: int = COLOUR) -> tuple[Field, ...]:
    """A tile on its way back."""
    return (Field("samples", 2), Field("cleared", bits), *coded(bits))


def decoded(bits: int = COLOUR) -> tuple[Field, ...]:
    """A tile as it came back; ``wrong``: it cannot be, and all else is zero."""
    return (Field("wrong", 1), *_lanes(bits))


# A resolve of texels of four bytes, alpha the highest, UNORM or sRGB: formats are not checked. Both
# surfaces lie as a tile cache leaves them: tiles, and behind them their mode table.
RESOLVE = (
    Field("samples", 2),  # log2, of a pixel of the source
    *each("width height", 15),  # pixels
    *each("source target", 32),  # addresses of the first tiles
    *each("source_cleared target_cleared", 32),  # colours that they were cleared to
    Field("srgb", 1),  # colours are averaged as linear ones
)
RESOLVED = (Field("error", 4),)  # ResolveError


class ResolveError(IntFlag):
    """Why a resolve failed; what its target holds then is anything."""

    NONE = 0
    READ = 1  # memory could not be read
    WRITE = 2  # memory could not be written
    WRONG_TILE = 4  # a tile of the source cannot be
    # a side of none or too many pixels, too many tiles, or samples or sRGB that are not known
    REFUSED = 8


# A target's state, as D3D11's descriptions of a blend state and of a render target view say it.
MERGE_STATE = (
    Field("format", 7),  # fixfunc.spec.dxgi.Format
    *BLEND_STATE,
    Field("write_mask", 4),  # red 1, green 2, blue 4, alpha 8
    Field("dither", 1),  # of UNORM channels of fewer than 8 bits: by ``threshold``
    *each("factor_red factor_green factor_blue factor_alpha", 32),  # float32: BLEND_FACTOR
)
THRESHOLD = 5  # bits


def merging(lanes: int, texel: int, second: bool = True, dithers: bool = True) -> tuple[Field, ...]:
    """Samples on their way into a target, and the target's state.

    Parameters
    ----------
    lanes : int
        Samples.
    texel : int
        Bits of the widest texel.
    second : bool
        A shader may put out two colours for the one target.
    dithers : bool
        Samples have thresholds.
    """
    fields = list(MERGE_STATE)
    names = ("red", "green", "blue", "alpha")
    for n in range(lanes):
        # float32, or integers of 32 bits, as the format is.
        fields += [Field(f"{name}{n}", 32) for name in names]
        if second:
            fields += [Field(f"second_{name}{n}", 32) for name in names]
        if dithers:
            fields.append(Field(f"threshold{n}", THRESHOLD))  # thirty-seconds, 1 to 31
        fields += _texel(n, texel)  # as stored, lowest byte first
    return tuple(fields)


def merged(lanes: int, texel: int) -> tuple[Field, ...]:
    """The same samples as they are to be stored."""
    texels = [field for n in range(lanes) for field in _texel(n, texel)]
    return (Field("error", 1), *texels)  # a state that there is not, or not here: texels are 0


def _texel(n, bits):
    """A texel; of one of more than 64 bits the others stand in a field of their own."""
    high = (Field(f"high{n}", bits - 64),) if bits > 64 else ()
    return (Field(f"texel{n}", min(bits, 64)), *high)


TEXTURE_BLOCK = (
    Field("format", 4),  # fixfunc.spec.state.BlockFormat
    Field("srgb", 1),  # of BC1 to BC3 and BC7: colours become linear, all channels UNORM16
    *each("low high", 64),
)  # its bytes, the first lowest; of 8 bytes: low


def texels(count: int) -> tuple[Field, ...]:
    """So many texels of a block: UNORM8, UNORM16, SNORM16 or halves, as the format says.

    Channels it lacks are zero.
    """
    return (
        Field("error", 1),  # a format that there is not: all texels are zero
        Field("first", 4),  # number of the first, row by row
        *(
            Field(f"{channel}{n}", 16)
            for n in range(count)
            for channel in ("red", "green", "blue", "alpha")
        ),
    )


# Scan-out: what is shown, and its pixels.
BUFFERS = 3  # at most
SIDE = 12  # bits of a width or a height

# Buffers of one size, of 8-bit formats, tiled. A buffer begins at a multiple of 256 bytes, its
# table at one of 32: lower bits of their addresses are not read.
SCAN_SETUP = (
    Field("buffers", 2),  # 1 to 3
    Field("vsync", 1),  # buffers change between two frames; else between two rows of tiles
    Field("dither", 1),  # pixels are 5, 6 and 5 bits
    Field("blue_first", 1),  # B8G8R8A8; else R8G8B8A8
    Field("coded", 1),  # tiles have codes, in a table; else they are raw
    *each("width height", SIDE),  # pixels
    *each("base0 base1 base2", 32),  # address of a buffer's first tile
    *each("table0 table1 table2", 32),  # address of its mode table: four bits a tile
    *each("cleared0 cleared1 cleared2", 32),  # the colour of its cleared tiles
)


def scanned(pixels: int) -> tuple[Field, ...]:
    """Pixels of a line that are neighbours, left ones lowest; 0 beyond the line's end.

    A pixel is red, green and blue of 8 bits, red lowest; or blue, green and red of 5, 6 and 5
    bits, blue lowest.
    """
    return (
        *each(" ".join(f"pixel{n}" for n in range(pixels)), 24),
        Field("line_end", 1),
        Field("frame_end", 1),
        Field("error", 1),  # at a frame's end: a tile of it is black, as it could not be had
        Field("buffer", 2),  # that the pixels are of; 0 of a frame that is refused
    )


# Tiles on their way to a surface, of which some are there already: transaction elimination.
_TILE = (
    Field("number", TILE_NUMBER),
    Field("last", 1),  # of its frame
    *_lanes(COLOUR),
)
DRAWN = (
    Field("signatures", 32),  # address of those of its surface, a multiple of 32; 8 bytes a tile
    *_TILE,
)
SIGNED = (
    Field("moved", 1),  # it is not there
    Field("error", 1),  # memory has failed since the tile before
    *_TILE,
)
