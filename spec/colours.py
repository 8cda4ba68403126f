# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of colours: tiles on their way to a shader and back, to memory and back, to a screen.

They are field tables: see :mod:`fixfunc.spec.payloads`.
"""

from enum import IntFlag

from fixfunc.spec.dxgi import Format
from fixfunc.spec.payloads import (
    BLEND_CONSTANT,
    BLEND_STATE,
    COLOUR,
    DRAW_STATE,
    HEADER,
    SAMPLES,
    SHADER_STATE,
    TILE_NUMBER,
    Field,
    colour_plane,
    each,
    survivors,
    tile_position,
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
FORMAT = 7  # bits of a Format


def quads(edge_samples: int, outputs: int = 1) -> tuple[Field, ...]:
    """One tile of a triangle, to be shaded: a sample has so many colours, one for each plane.

    That for a plane 1 may be a second colour for the first plane, which has its format. Pixel
    (x, y) of it at bit y * edge_samples + x, whatever the samples of a pixel.
    """
    meaning = "dxgi.Format of the plane; 0 where its colour is not asked for"
    return (
        *HEADER,
        *tile_position(edge_samples),
        SAMPLES,
        Field("back", 1, meaning="the triangle faces away"),
        Field(
            "mask",
            edge_samples**2,
            meaning="samples that passed, lane (i, j) at bit j * edge + i",
        ),
        Field(
            "covered",
            edge_samples**2,
            meaning="samples that the triangle covers, whatever tests say; lanes as of the mask",
        ),
        Field(
            "live",
            edge_samples**2,
            meaning="pixels with a sample that passed, pixel (x, y) at bit y * edge + x",
        ),
        Field(
            "helpers",
            edge_samples**2,
            meaning="the other pixels of their quads of 2 by 2: shaded for derivatives alone",
        ),
        *(field for field in DRAW_STATE if field.name in SHADER_STATE),
        *(Field(format_name(output), FORMAT, meaning=meaning) for output in range(outputs)),
    )


def format_name(plane: int) -> str:
    """Name of the field that holds a plane's format."""
    return f"{colour_plane(plane)}_format"


def colours(edge_samples: int, depths: bool = False, outputs: int = 1) -> tuple[Field, ...]:
    """The same tile, shaded: a colour for each sample, lane (i, j) at number j * edge_samples + i.

    Of those not covered, any. Colours are packed in the format of their plane, each channel the
    nearest; a shader's alpha that it does not store lies behind the other channels, with as many
    bits as the widest of them, where 32 bits leave room. Of several ``outputs`` those of each come
    one behind the other: one for each colour plane; in the place of the second there may be one
    more for the first plane, in its format [fs 17.6]. As many fractions follow: what that rounding
    took away, which counts where colours are blended; zeros where there was nothing. Behind them
    stands what the shader decides about samples, and with ``depths`` the depths that it puts out:
    they count in draws without ``early_write`` alone; in all others every sample survives, at the
    depth of its plane.

    A fraction has eight bits for each of red, green, blue and alpha, red the lowest; with an alpha
    of fewer bits than red 6, 6, 6 and 14; of channels of 16 bits 6 each. Of n bits, two's
    complement, they are so many 2^-n of the channel's unit. Of sRGB they are linear light, in
    1/65535, or four times that from byte 128 on; its alpha is linear. Of floats it is the shader's
    alpha, float32, which no such format stores. Integers have none.
    """
    lanes = [(output, lane) for output in range(outputs) for lane in range(edge_samples**2)]
    meaning = "of a sample, packed in the format of its plane"
    names = " ".join(colour_name(*lane) for lane in lanes)
    fractions = " ".join(fraction_name(*lane) for lane in lanes)
    rounded = "what the same was rounded by, signed, by channels"
    return (
        each(names, COLOUR, meaning=meaning)
        + each(fractions, COLOUR, meaning=rounded)
        + survivors(edge_samples, depths)
    )


def colour_name(plane: int, lane: int) -> str:
    """Name of the field that holds a lane's colour for a plane."""
    return f"plane{plane}_colour{lane}" if plane else f"colour{lane}"


def fraction_name(plane: int, lane: int) -> str:
    """Name of the field that holds what that colour was rounded by."""
    return colour_name(plane, lane).replace("colour", "fraction")


# Tiles of 8 by 8 colours, of 32 or 64 bits, between a cache and memory.
EDGE = 8  # of a tile whose colours are coded, in samples
LANES = EDGE**2  # lane (i, j) is word 8 j + i
WORDS = 64  # of 32 bits, of a raw tile of colours of 32 bits
TRANSFERS = 6  # of 32 bytes: differences of such colours take so many at most


def _lanes(bits):
    names = " ".join(f"colour{n}" for n in range(LANES))
    return each(names, bits, meaning="of a sample, as it is stored; (i, j) at number 8 j + i")


def _cleared(bits):
    return Field("cleared", bits, meaning="the colour that the target has been cleared to")


def uncoded(bits: int = COLOUR) -> tuple[Field, ...]:
    """A tile of colours of so many bits, to be coded."""
    return (
        SAMPLES,
        Field("clears", 1, meaning="the target has been cleared"),
        _cleared(bits),
        *_lanes(bits),
    )


def coded(bits: int = COLOUR) -> tuple[Field, ...]:
    """The same, coded: a TileMode, and zeros behind what it says."""
    words = LANES * bits // 32
    data = " ".join(f"data{n}" for n in range(words))
    return (
        Field("code", 4, meaning="TileMode"),
        *each(data, 32, meaning="word of the coded tile"),
    )


def stored(bits: int = COLOUR) -> tuple[Field, ...]:
    """A tile on its way back."""
    return (SAMPLES, _cleared(bits), *coded(bits))


def decoded(bits: int = COLOUR) -> tuple[Field, ...]:
    """A tile as it came back."""
    wrong = Field("wrong", 1, meaning="the coded tile cannot be: all else is zero")
    return (wrong, *_lanes(bits))


# A resolve of texels of four bytes, alpha the highest, UNORM or sRGB: formats are not checked. Both
# surfaces lie as a tile cache leaves them: tiles, and behind them their mode table.
RESOLVE = (
    Field("samples", 2, meaning="log2 of the samples of a pixel of the source"),
    *each("width height", 15, meaning="pixels"),
    *each("source target", 32, meaning="address of the surface's first tile, bytes"),
    *each("source_cleared target_cleared", 32, meaning="colour that the surface was cleared to"),
    Field("srgb", 1, meaning="colours are averaged as linear ones"),
)
RESOLVED = (Field("error", 4, meaning="ResolveError, its flags"),)


class ResolveError(IntFlag):
    """Why a resolve failed; what its target holds then is anything."""

    NONE = 0
    READ = 1  # memory could not be read
    WRITE = 2  # memory could not be written
    WRONG_TILE = 4  # a tile of the source cannot be
    # a side of none or too many pixels, too many tiles, or samples or sRGB that are not known
    REFUSED = 8


CHANNELS = ("red", "green", "blue", "alpha")
# A target's state, as D3D11's descriptions of a blend state and of a render target view say it.
MERGE_STATE = (
    Field("format", FORMAT, meaning="dxgi.Format"),
    *BLEND_STATE,
    Field("write_mask", 4, meaning="channels written: red 1, green 2, blue 4, alpha 8"),
    Field("dither", 1, meaning="UNORM channels of fewer than 8 bits are dithered"),
    *BLEND_CONSTANT,
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
    first = "of the shader's colour, float32 or integer of 32 bits, as the format is"
    other = "of the shader's second colour, float32"
    threshold = "of dithering, thirty-seconds, 1 to 31"
    for n in range(lanes):
        fields += [Field(f"{name}{n}", 32, meaning=first) for name in CHANNELS]
        if second:
            fields += [Field(f"second_{name}{n}", 32, meaning=other) for name in CHANNELS]
        if dithers:
            fields.append(Field(f"threshold{n}", THRESHOLD, meaning=threshold))
        fields += _texel(n, texel)
    return tuple(fields)


def merged(lanes: int, texel: int) -> tuple[Field, ...]:
    """The same samples as they are to be stored."""
    texels = [field for n in range(lanes) for field in _texel(n, texel)]
    error = Field("error", 1, meaning="a state that there is not, or not here: texels are 0")
    return (error, *texels)


def _texel(n, bits):
    """A texel; of one of more than 64 bits the others stand in a field of their own."""
    low = Field(f"texel{n}", min(bits, 64), meaning="as it is stored, lowest byte first")
    if bits <= 64:
        return (low,)
    return (low, Field(f"high{n}", bits - 64, meaning="bits of the texel above the lowest 64"))


TEXTURE_BLOCK = (
    Field("format", 4, meaning="BlockFormat"),
    Field("srgb", 1, meaning="of BC1 to BC3, BC7: colours become linear, all channels UNORM16"),
    Field("low", 64, meaning="the block's first 8 bytes, the first lowest"),
    Field("high", 64, meaning="the block's last 8 bytes, of blocks of 16"),
)


def texels(count: int) -> tuple[Field, ...]:
    """So many texels of a block."""
    meaning = "UNORM8, UNORM16, SNORM16 or half, as the format says; 0 where that lacks it"
    return (
        Field("error", 1, meaning="a format that there is not: all texels are zero"),
        Field("first", 4, meaning="number of the first texel, row by row"),
        *(
            Field(f"{channel}{n}", 16, meaning=meaning)
            for n in range(count)
            for channel in CHANNELS
        ),
    )


# Scan-out: what is shown, and its pixels.
BUFFERS = 3  # at most
SIDE = 12  # bits of a width or a height

# Buffers of one size, of 8-bit formats, tiled. A buffer begins at a multiple of 256 bytes, its
# table at one of 32: lower bits of their addresses are not read.
SCAN_SETUP = (
    Field("buffers", 2, meaning="buffers in use, 1 to 3"),
    Field("vsync", 1, meaning="buffers change between two frames; else between two rows of tiles"),
    Field("dither", 1, meaning="pixels are 5, 6 and 5 bits"),
    Field("blue_first", 1, meaning="B8G8R8A8; else R8G8B8A8"),
    Field("coded", 1, meaning="tiles have codes, in a table; else they are raw"),
    *each("width height", SIDE, meaning="pixels"),
    *each("base0 base1 base2", 32, meaning="address of a buffer's first tile, bytes"),
    *each(
        "table0 table1 table2",
        32,
        meaning="address of a buffer's mode table, bytes",
    ),
    *each("cleared0 cleared1 cleared2", 32, meaning="colour of a buffer's cleared tiles"),
)


def scanned(pixels: int) -> tuple[Field, ...]:
    """Pixels of a line that are neighbours, left ones lowest; 0 beyond the line's end."""
    meaning = "red, green, blue of 8 bits, red lowest; or blue, green, red of 5, 6, 5, blue lowest"
    return (
        *each(" ".join(f"pixel{n}" for n in range(pixels)), 24, meaning=meaning),
        Field("line_end", 1, meaning="the last pixels of a line"),
        Field("frame_end", 1, meaning="the last pixels of a frame"),
        Field("error", 1, meaning="at a frame's end: a tile of it could not be had, and is black"),
        Field("buffer", 2, meaning="number of the buffer shown; 0 of a frame that is refused"),
    )


# Tiles on their way to a surface, of which some are there already: transaction elimination.
_TILE = (
    Field("number", TILE_NUMBER, meaning="of the tile, row by row"),
    Field("last", 1, meaning="the last tile of its frame"),
    *_lanes(COLOUR),
)
DRAWN = (
    Field(
        "signatures",
        32,
        meaning="address of the surface's, bytes, a multiple of 32; 8 a tile",
    ),
    *_TILE,
)
SIGNED = (
    Field("moved", 1, meaning="the tile is to be written: it is not there yet"),
    Field("error", 1, meaning="memory has failed since the tile before"),
    *_TILE,
)
