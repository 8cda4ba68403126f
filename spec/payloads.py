# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of every stream, as plain field tables, lowest bits first.

A number format is noted as sI.F or uI.F: I integer bits (the sign not counted), F fraction bits.
Tables that share a stream begin with the same field ``kind``; the stream is as wide as the widest
of them, and ``kind`` says which table reads the rest.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Field:
    """A field; its meaning is for readers, and counts in no comparison and in no hash."""

    name: str
    bits: int
    signed: bool = False
    meaning: str = field(default="", compare=False)


def width(fields: Iterable[Field]) -> int:
    """Bits of a field table."""
    return sum(f.bits for f in fields)


def each(names: str, bits: int, signed: bool = False, meaning: str = "") -> tuple[Field, ...]:
    """Fields that differ in their names alone."""
    return tuple(Field(name, bits, signed, meaning) for name in names.split())


SAMPLES = Field("samples", 2, meaning="log2 of the samples of a pixel")
KIND = Field("kind", 2, meaning="Kind: which table reads the beat")
HEADER = (
    KIND,
    Field("state", 4, meaning="number of the draw state in force"),
    Field("slot", 12, meaning="of the triangle in the setup RAM; of CLEAR: colour plane"),
)

TRIANGLE = (
    *HEADER,
    *each("x0 y0 x1 y1 x2 y2", 24, signed=True, meaning="s15.8 pixels, y down"),
    *each(
        "z0 z1 z2",
        40,
        signed=True,
        meaning="s31.8: steps of D24, 2^-24 of D16; of D32F float32 bits",
    ),
)

# Of a face of a stencil state.
STENCIL_FACE = (
    ("func", 3, "Compare, of the reference with the stored value"),
    ("fail", 3, "StencilOp where the stencil test fails"),
    ("depth_fail", 3, "StencilOp where the depth test fails"),
    ("pass", 3, "StencilOp where both tests pass"),
)
STENCIL_FACES = tuple(
    Field(f"stencil_{face}_{name}", bits, meaning=f"{meaning}, of {face} faces")
    for face in ("front", "back")
    for name, bits, meaning in STENCIL_FACE
)
STENCIL_VALUES = (
    Field("stencil_read", 8, meaning="mask of the bits that are compared"),
    Field("stencil_write", 8, meaning="mask of the bits that are written"),
    Field("stencil_ref", 8, meaning="reference of the stencil test"),
)
BIAS = (
    Field("bias_constant", 32, meaning="depth bias, s31.0"),
    Field("bias_slope", 32, meaning="depth bias by slope, float32 bits"),
    Field("bias_clamp", 32, meaning="limit of the depth bias, float32 bits"),
)

BLEND_STATE = (
    Field("blend_enable", 1, meaning="colours are blended"),
    Field("src_blend", 5, meaning="BlendFactor of the source's red, green, blue"),
    Field("dest_blend", 5, meaning="BlendFactor of the target's red, green, blue"),
    Field("blend_op", 3, meaning="BlendOp of red, green, blue"),
    Field("src_blend_alpha", 5, meaning="BlendFactor of the source's alpha"),
    Field("dest_blend_alpha", 5, meaning="BlendFactor of the target's alpha"),
    Field("blend_op_alpha", 3, meaning="BlendOp of alpha"),
    Field("logic_op_enable", 1, meaning="a logic operation takes the place of blending"),
    Field("logic_op", 4, meaning="LogicOp"),
)
BLEND_CONSTANT = each(
    "factor_red factor_green factor_blue factor_alpha",
    32,
    meaning="the blend constant, float32",
)
COLOUR_PLANES = 8  # of a target, at most
DRAW_STATE = (
    *HEADER[:-1],
    Field("slot", (COLOUR_PLANES - 1).bit_length(), meaning="colour plane"),
    SAMPLES,
    Field("cull", 2, meaning="Cull"),
    Field("front_ccw", 1, meaning="counter-clockwise triangles face front"),
    Field("conservative", 1, meaning="a triangle covers all pixels of which it has a point"),
    *each(
        "viewport_x0 viewport_y0 viewport_x1 viewport_y1",
        17,
        signed=True,
        meaning="pixels, x1 and y1 exclusive",
    ),
    *each(
        "scissor_x0 scissor_y0 scissor_x1 scissor_y1",
        15,
        meaning="pixels, x1 and y1 exclusive",
    ),
    *each("target_width target_height", 15, meaning="pixels"),
    Field("target", 3, meaning="number of the bound target"),
    Field("depth_format", 2, meaning="DepthFormat: D16, D24 or D32F"),
    Field("depth_test", 1, meaning="depths are tested"),
    Field("depth_write", 1, meaning="depths that pass are written"),
    Field("depth_compare", 3, meaning="Compare, of a new depth with the stored one"),
    *each("depth_min depth_max", 32, meaning="the viewport's range: D16, D24 or float32 bits"),
    *BIAS,
    Field("stencil_test", 1, meaning="stencil values are tested and written"),
    *STENCIL_VALUES,
    *STENCIL_FACES,
    Field("hiz_drop", 1, meaning="permission: HiZ may drop tiles"),
    Field("hiz_accept", 1, meaning="permission: HiZ may accept tiles untested"),
    Field("early_reject", 1, meaning="permission: samples may fail before the shader"),
    Field("early_write", 1, meaning="permission: depth and stencil are written before the shader"),
    Field("depth_raised", 1, meaning="conservative depth: the shader only raises depths"),
    Field("depth_lowered", 1, meaning="conservative depth: the shader only lowers depths"),
    *BLEND_STATE,
    Field("colour_write", 4, meaning="channels written: red 1, green 2, blue 4, alpha 8"),
    Field("colour_format", 7, meaning="dxgi.Format of the colour plane"),
    Field("flat_colour", 32, meaning="which a shader is told"),
    Field("built_in", 1, meaning="the pixel state shades pixels; else a shader is asked"),
)

# Fields of a draw state, by who reads them.
RASTER_STATE = (
    "cull",
    "front_ccw",
    "conservative",
    "viewport_x0",
    "viewport_y0",
    "viewport_x1",
    "viewport_y1",
    "scissor_x0",
    "scissor_y0",
    "scissor_x1",
    "scissor_y1",
)
DEPTH_STATE = tuple(
    f.name for f in DRAW_STATE if f.name.startswith(("depth", "bias", "stencil", "hiz", "early"))
)
SHADER_STATE = "flat_colour", "built_in"
OUTPUT_STATE = (*(f.name for f in BLEND_STATE), "colour_write", "colour_format", *SHADER_STATE)
# Of those, what each colour plane has for itself.
PLANE_STATE = (*(f.name for f in BLEND_STATE), "colour_write", "colour_format")


def colour_plane(number: int) -> str:
    """Name of a colour plane: the first one has no number."""
    return f"colour{number}" if number else "colour"


CLEAR = (
    *HEADER,
    *each("depth stencil colour", 1, meaning="this plane of the target is cleared"),
    Field("target", 3, meaning="number of the bound target"),
    *each("x0 y0 x1 y1", 15, meaning="pixels, x1 and y1 exclusive"),
    Field("depth_value", 32, meaning="as it is stored"),
    Field("stencil_value", 8, meaning="as it is stored"),
    Field("colour_value", 32, meaning="as it is stored"),
    *each(
        "depth_base stencil_base colour_base",
        32,
        meaning="address of the plane from now on, bytes; of a clear of all of it",
    ),
    Field("constant", 1, meaning="from here on another blend constant holds"),
    *BLEND_CONSTANT,
)

PASSED = (
    Field("any", 1, meaning="a sample has passed since the last beginning"),
    Field("passed", 64, meaning="samples that have passed since the last beginning"),
)
FENCE = (
    *HEADER,
    Field("sequence", 32, meaning="number of the fence"),
    Field("begin", 1, meaning="samples that pass are counted from here"),
    *PASSED,  # filled in by the depth test
    Field(
        "error",
        3,
        meaning="since the last fence: 1 a state, 2 a place was refused, 4 memory failed",
    ),
    Field("flush", 1, meaning="all that was written goes to memory first"),
    Field("release", 1, meaning="all before it is done: nothing is counted"),
)

HIZ_BITS = 14  # of a stored bound
HIZ_NOTE = 24
EDGE_STEP = 25  # difference of two s15.8 positions
STEEP = Field("steep", 1, meaning="of the triangle: a slope does not fit s23.8")
EXPONENT = Field("exponent", 8, meaning="of D32F: a unit is 2^(exponent - 150); else 0")
BACK = Field("back", 1, meaning="the triangle faces away: the stencil state of back faces holds")
_BOUNDS = each(
    "zmin zmax",
    24,
    meaning="of the triangle's vertices, units; those at the ends of 24 bits bound nothing",
)
# Fields that every later stage needs come first: the rest is dropped as soon as it has been used.
SETUP = (
    *HEADER,
    SAMPLES,
    BACK,
    *each(
        "x0 y0 x1 y1",
        14,
        meaning="the box, cut by viewport, scissor and target: pixels, both ends inclusive",
    ),
    *_BOUNDS,
    Field(
        "z", 56, meaning="s31.24 modulo 2^32, at the centre of the first pixel of the first tile"
    ),
    *each("zx zy", 60, signed=True, meaning="slope of depths: s35.24 a pixel, modulo 2^36"),
    STEEP,
    EXPONENT,
    *each(
        "a0 b0 a1 b1 a2 b2",
        EDGE_STEP,
        signed=True,
        meaning="edge function E: its step for 1/16 pixel, inside positive",
    ),
    *each(
        "reach0 reach1 reach2",
        32,
        meaning="what E gains from the first pixel's centre to the tile's reject corner",
    ),
    *each(
        "c0 c1 c2",
        47,
        signed=True,
        meaning="E at the reject corner of the first tile, biased, times the tile's aspect",
    ),
)


def edge(bits: int) -> tuple[Field, ...]:
    """One edge over one tile, as the edge evaluator takes it."""
    return (
        SAMPLES,
        Field("a", EDGE_STEP, signed=True, meaning="step of E for 1/16 pixel to the right"),
        Field("b", EDGE_STEP, signed=True, meaning="step of E for 1/16 pixel down"),
        Field("c", bits, signed=True, meaning="E at the centre of the tile's first pixel"),
    )


def coverage(lanes: int) -> tuple[Field, ...]:
    """Coverage of one tile."""
    return (Field("mask", lanes, meaning="samples, lane (i, j) at bit j * edge + i"),)


def tile_position(edge_samples: int) -> tuple[Field, ...]:
    """Place of a tile: 16384 pixels, and 4 rows of samples a pixel at 8x."""
    return each("x y", 16 - edge_samples.bit_length() + 1, meaning="of the tile, in tiles")


def tile(edge_samples: int) -> tuple[Field, ...]:
    """One tile of a triangle; ``edge_samples`` is 8, or 4 in tiny configurations."""
    return (
        *HEADER,
        *tile_position(edge_samples),
        Field("mask", edge_samples**2, meaning="covered samples, lane (i, j) at bit j * edge + i"),
        Field("full", 1, meaning="every bit of the mask is set"),
        Field("last", 1, meaning="the triangle's last tile: it stays even with an empty mask"),
        BACK,
        Field(
            "z0", 40, signed=True, meaning="s31.8 units modulo 2^32, at the first pixel's centre"
        ),
        *each("dx dy", 44, signed=True, meaning="slope of depths: s35.8 a pixel, modulo 2^36"),
        STEEP,
        EXPONENT,
        *_BOUNDS,
        Field("outcome", 2, meaning="Outcome, of HiZ"),
        Field("note", HIZ_NOTE, meaning="HiZ's own: its feedback brings it back"),
    )


def tested(edge_samples: int) -> tuple[Field, ...]:
    """One tile of a triangle behind the depth test: its mask has what passed, or may yet pass."""
    return (
        *tile(edge_samples),
        Field(
            "covered",
            edge_samples**2,
            meaning="samples that the triangle covers, whatever tests say; lanes as of the mask",
        ),
    )


def replaced(edge_samples: int) -> tuple[Field, ...]:
    """Depths that a shader puts out for a tile."""
    return (
        Field("replaces", 1, meaning="the depths replace those of the plane"),
        *each(
            " ".join(f"depth{n}" for n in range(edge_samples**2)),
            32,
            meaning="of a sample, as it is stored, at most 1.0",
        ),
    )


def shaded(edge_samples: int, depths: bool) -> tuple[Field, ...]:
    """One tile back from the shader, its mask without what was discarded.

    With ``depths``, room for those that a shader puts out.
    """
    return tile(edge_samples) + (replaced(edge_samples) if depths else ())


def survivors(edge_samples: int, depths: bool) -> tuple[Field, ...]:
    """What a shader decides about one tile that is written late, after all of its samples.

    With ``depths``, room for those that a shader puts out.
    """
    lanes = edge_samples**2
    return (
        Field("survivors", lanes, meaning="samples not discarded, lane (i, j) at bit j * edge + i"),
        *(replaced(edge_samples) if depths else ()),
    )


def feedback(edge_samples: int) -> tuple[Field, ...]:
    """What HiZ hears of a tile that has been tested and may have been written."""
    return (
        *tile_position(edge_samples),
        Field("low", HIZ_BITS, meaning="highest bits of the least depth of its samples"),
        Field("high", HIZ_BITS, meaning="highest bits of the greatest depth of its samples"),
        Field("note", HIZ_NOTE, meaning="of the tile, as HiZ wrote it"),
    )


def context(edge_samples: int) -> tuple[Field, ...]:
    """What HiZ knows of one tile, asked for or put back: a context switch."""
    return (
        *tile_position(edge_samples),
        Field("restore", 1, meaning="the bounds are put back; else they are asked for"),
        Field("bound", 2, meaning="Bound: which of them hold"),
        Field("low", HIZ_BITS, meaning="highest bits of the lower bound of its depths"),
        Field("high", HIZ_BITS, meaning="highest bits of the upper bound of its depths"),
        Field("stencil_low", 8, meaning="lower bound of its stencil values"),
        Field("stencil_high", 8, meaning="upper bound of its stencil values"),
    )


PLANES = 4  # most planes of a tile in memory
DEPTH = 24  # bits of D24
FLOAT_DEPTH = 30  # bits of D32F on chip, of which none is above 1.0
STENCIL = 8  # bits of a stencil value
COLOUR = 32  # bits of a sample of a colour plane


TRANSFER = 256  # bits that memory moves at once


def memory_bits(bits: int) -> int:
    """Bits in memory of a value that has so many on chip."""
    return 32 if bits == FLOAT_DEPTH else bits


TILE_NUMBER = 22  # 16384 by 16384 pixels of one sample; targets of more samples are as much smaller
SLOT = 12  # a place of the depth cache


TILE = tile(8)
CONTROL = {"draw_state": DRAW_STATE, "clear": CLEAR, "fence": FENCE}  # beats that only pass through
