# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of every stream, as plain field tables: (name, bits, signed), lowest bits first.

A number format is noted as sI.F or uI.F: I integer bits (the sign not counted), F fraction bits.
Tables that share a stream begin with the same field ``kind``; the stream is as wide as the widest
of them, and ``kind`` says which table reads the rest.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Field(NamedTuple):
    name: str
    bits: int
    signed: bool = False


def width(fields: Iterable[Field]) -> int:
    """Bits of a field table."""
    return sum(f.bits for f in fields)


def each(names: str, bits: int, signed: bool = False) -> tuple[Field, ...]:
    return tuple(Field(name, bits, signed) for name in names.split())


KIND = Field("kind", 2)  # fixfunc.spec.state.Kind
HEADER = (
    KIND,
    Field("state", 4),  # number of the draw state in force
    # place of the triangle's attributes in the setup RAM; of a draw state, and of a clear, the
    # colour plane that is meant
    Field("slot", 12),
)

TRIANGLE = (
    *HEADER,
    *each("x0 y0 x1 y1 x2 y2", 24, signed=True),  # s15.8 pixels, y down
    *each("z0 z1 z2", 40, signed=True),  # s31.8: steps of D24, 2^-24 of D16; of D32F float32 bits
)

STENCIL_FACE = (("func", 3), ("fail", 3), ("depth_fail", 3), ("pass", 3))  # Compare, then StencilOp

BLEND_STATE = (
    Field("blend_enable", 1),
    *each("src_blend dest_blend", 5),  # fixfunc.spec.state.BlendFactor, of red, green, blue
    Field("blend_op", 3),  # fixfunc.spec.state.BlendOp
    *each("src_blend_alpha dest_blend_alpha", 5),
    Field("blend_op_alpha", 3),
    Field("logic_op_enable", 1),
    Field("logic_op", 4),  # fixfunc.spec.state.LogicOp
)
DRAW_STATE = (
    *HEADER,
    Field("samples", 2),  # log2 of the samples of a pixel
    Field("cull", 2),  # fixfunc.spec.state.Cull
    Field("front_ccw", 1),  # counter-clockwise triangles face front
    *each(
        "viewport_x0 viewport_y0 viewport_x1 viewport_y1", 17, signed=True
    ),  # pixels, x1 and y1 exclusive
    *each("scissor_x0 scissor_y0 scissor_x1 scissor_y1", 15),  # pixels, x1 and y1 exclusive
    *each("target_width target_height", 15),  # pixels
    Field("target", 3),  # which of the bound targets
    Field("depth_format", 2),  # D16, D24, D32F
    Field("depth_test", 1),
    Field("depth_write", 1),
    Field("depth_compare", 3),  # fixfunc.spec.state.Compare
    *each("depth_min depth_max", 32),  # the viewport's range: D16, D24 or float32 bits
    *each("bias_constant bias_slope bias_clamp", 32),  # s31.0, float32 bits, float32 bits
    Field("stencil_test", 1),
    *each("stencil_read stencil_write stencil_ref", 8),
    *(
        Field(f"stencil_{face}_{name}", bits)
        for face in ("front", "back")
        for name, bits in STENCIL_FACE
    ),
    *each("hiz_drop hiz_accept early_reject early_write", 1),  # the four early permissions
    *each("depth_raised depth_lowered", 1),  # the shader moves depths so: conservative depth
    *BLEND_STATE,
    Field("colour_write", 4),  # which channels: red, green, blue, alpha
    Field("colour_format", 7),  # fixfunc.spec.dxgi.Format, of the colour plane
    Field("flat_colour", 32),  # which a shader is told
    Field("built_in", 1),  # pixels are shaded as the pixel state says; else a shader is asked
)

# Fields of a draw state, by who reads them.
RASTER_STATE = (
    "cull",
    "front_ccw",
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
COLOUR_PLANES = 8  # of a target, at most


def colour_plane(number: int) -> str:
    """Name of a colour plane: the first one has no number."""
    return f"colour{number}" if number else "colour"


CLEAR = (
    *HEADER,
    *each("depth stencil colour", 1),  # which planes of the target
    Field("target", 3),
    *each("x0 y0 x1 y1", 15),  # pixels, x1 and y1 exclusive
    Field("depth_value", 32),
    Field("stencil_value", 8),
    Field("colour_value", 32),  # as it is stored
    *each(
        "depth_base stencil_base colour_base", 32
    ),  # of a clear of all of it: where it lies from now on, in bytes
)

FENCE = (
    *HEADER,
    Field("sequence", 32),
    Field("begin", 1),  # count samples that pass from here
    Field("any", 1),  # filled in by the depth test: a sample has passed since the last beginning,
    Field("passed", 64),  # and how many
    # since the last fence tiles or clears were refused, for their state, for their place; memory
    # failed
    Field("error", 3),
    Field("flush", 1),  # all that was written goes to memory first
    Field("release", 1),  # it only tells that all before it is done: nothing is counted
)

HIZ_BITS = 14  # of a stored bound
HIZ_NOTE = 24
EDGE_STEP = 25  # difference of two s15.8 positions
# Fields that every later stage needs come first: the rest is dropped as soon as it has been used.
SETUP = (
    *HEADER,
    Field("samples", 2),  # log2
    Field("back", 1),  # faces away: the stencil state of back faces holds
    *each(
        "x0 y0 x1 y1", 14
    ),  # pixels, both ends inclusive: the box, cut by viewport, scissor and target
    *each(
        "zmin zmax", 24
    ),  # units, bounds of the three vertices; those at the ends of 24 bits bound nothing
    Field("z", 56),  # s31.24 modulo 2^32, at the centre of the first pixel of the box's first tile
    *each("zx zy", 60, signed=True),  # s35.24 a pixel, modulo 2^36
    Field("steep", 1),  # a slope does not fit s23.8
    Field("exponent", 8),  # of D32F: a unit is 2^(exponent - 150); else 0
    *each("a0 b0 a1 b1 a2 b2", EDGE_STEP, signed=True),  # E's step for 1/16 pixel, inside positive
    *each(
        "reach0 reach1 reach2", 32
    ),  # what E gains from the first pixel's centre to the tile's reject corner
    *each(
        "c0 c1 c2", 47, signed=True
    ),  # E at the reject corner of the first tile, biased, times the tile's aspect
)


def edge(bits: int) -> tuple[Field, ...]:
    """One edge over one tile, as the edge evaluator takes it."""
    return (
        Field("samples", 2),  # log2
        Field("a", EDGE_STEP, signed=True),
        Field("b", EDGE_STEP, signed=True),
        Field("c", bits, signed=True),  # E at the centre of the tile's first pixel
    )


def coverage(lanes: int) -> tuple[Field, ...]:
    """Coverage of one tile, lane (i, j) at bit j * edge + i."""
    return (Field("mask", lanes),)


def tile(edge_samples: int) -> tuple[Field, ...]:
    """One tile of a triangle; ``edge_samples`` is 8, or 4 in tiny configurations."""
    position = (
        16 - edge_samples.bit_length() + 1
    )  # 16384 pixels, and 4 rows of samples a pixel at 8x
    return (
        *HEADER,
        Field("x", position),  # tiles
        Field("y", position),  # tiles
        Field("mask", edge_samples**2),  # covered samples, lane (i, j) at bit j * edge_samples + i
        Field("full", 1),  # every bit of the mask is set
        Field(
            "last", 1
        ),  # the triangle's last tile: it stays even when nothing of its mask is left
        Field("back", 1),  # of the triangle
        Field("z0", 40, signed=True),  # s31.8 units modulo 2^32, at the first pixel's centre
        *each("dx dy", 44, signed=True),  # s35.8 a pixel, modulo 2^36
        Field("steep", 1),  # of the triangle: a slope does not fit s23.8
        Field("exponent", 8),  # of the triangle, as in SETUP
        *each("zmin zmax", 24),  # of the triangle, as in SETUP
        Field("outcome", 2),  # of HiZ: fixfunc.spec.state.Outcome
        Field("note", HIZ_NOTE),  # HiZ's own: its feedback brings it back
    )


def replaced(edge_samples: int) -> tuple[Field, ...]:
    """Depths that a shader puts out for a tile."""
    return (
        Field("replaces", 1),  # they replace those of the plane
        *each(" ".join(f"depth{n}" for n in range(edge_samples**2)), 32),
    )  # each as it is stored, at most 1.0


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
        Field("survivors", lanes),  # samples not discarded, lane (i, j) at bit j * edge_samples + i
        *(replaced(edge_samples) if depths else ()),
    )


def feedback(edge_samples: int) -> tuple[Field, ...]:
    """What HiZ hears of a tile that has been tested and may have been written."""
    return (
        *each("x y", 16 - edge_samples.bit_length() + 1),  # tiles
        *each(
            "low high", HIZ_BITS
        ),  # highest bits of the least and of the greatest depth of its samples on the target
        Field("note", HIZ_NOTE),  # of the tile
    )


def context(edge_samples: int) -> tuple[Field, ...]:
    """What HiZ knows of one tile, asked for or put back: a context switch."""
    return (
        *each("x y", 16 - edge_samples.bit_length() + 1),  # tiles
        Field("restore", 1),  # put it back
        Field("bound", 2),  # fixfunc.spec.state.Bound
        *each("low high", HIZ_BITS),  # highest bits of the bounds of its depths
        *each("stencil_low stencil_high", 8),
    )


PLANES = 4  # most planes of a tile in memory
DEPTH = 24  # bits of D24
FLOAT_DEPTH = 30  # bits of D32F on chip, of which none is above 1.0
STENCIL = 8  # bits of a stencil value
COLOUR = 32  # bits of a sample of a colour plane


def known_planes(edge_samples: int) -> tuple[Field, ...]:
    """Planes of triangles that have been written to a tile, and the plane of each sample."""
    lanes = edge_samples**2
    return (
        Field("planes", 3),  # how many; 0: they are not known
        *(
            Field(f"{name}_{k}", 32, name != "z0")
            for k in range(PLANES)
            for name in ("z0", "dx", "dy")
        ),  # as in tile(), of triangles that are not steep: s23.8
        Field(
            "mask_low", lanes
        ),  # number of a sample's plane, its low bits, lane (i, j) at bit j * edge_samples + i
        Field("mask_high", lanes),
    )


def uncoded(edge_samples: int) -> tuple[Field, ...]:
    """A tile of depths on its way to memory."""
    return (
        Field("samples", 2),  # log2
        Field("clears", 1),  # the target has been cleared,
        Field("cleared", DEPTH),  # to this
        *known_planes(edge_samples),
        *each(" ".join(f"depth{n}" for n in range(edge_samples**2)), DEPTH),
    )


def coded(edge_samples: int, bits: int = DEPTH, mode: int = 3) -> tuple[Field, ...]:
    """The same in memory, or a tile of other values.

    Of ``mode``, which has so many bits, the mode table tells.
    """
    return (
        Field("mode", mode),  # fixfunc.spec.state.TileMode
        *each(" ".join(f"data{n}" for n in range(coded_words(edge_samples, bits))), 32),
    )


def stored(edge_samples: int, mode: int = 3) -> tuple[Field, ...]:
    """A tile on its way back, and what its planes mean."""
    return (Field("samples", 2), Field("cleared", DEPTH), *coded(edge_samples, DEPTH, mode))


def decoded(edge_samples: int) -> tuple[Field, ...]:
    """A tile of depths as it came back."""
    return (
        Field("wrong", 1),  # it cannot be: all else is zero
        *known_planes(edge_samples),
        *each(" ".join(f"depth{n}" for n in range(edge_samples**2)), DEPTH),
    )


TRANSFER = 256  # bits that memory moves at once


def memory_bits(bits: int) -> int:
    """Bits in memory of a value that has so many on chip."""
    return 32 if bits == FLOAT_DEPTH else bits


def coded_words(edge_samples: int, bits: int = DEPTH) -> int:
    """Words of 32 bits of a raw tile, in whole transfers."""
    return -(-memory_bits(bits) * edge_samples**2 // TRANSFER) * TRANSFER // 32


TILE_NUMBER = 22  # 16384 by 16384 pixels of one sample; targets of more samples are as much smaller
SLOT = 12  # a place of the depth cache


def cache_request(edge_samples: int) -> tuple[Field, ...]:
    """What a cache of depths, stencil values or colours is asked for, in the order of drawing."""
    return (
        Field("op", 2),  # fixfunc.spec.state.CacheOp
        *each("x y", 16 - edge_samples.bit_length() + 1),  # of USE: the tile,
        Field(
            "number", TILE_NUMBER
        ),  # and which it is row by row; of CLEAR: how many the target has
        Field("needed", 1),  # of USE: it may be that not every sample will be written
        Field("writes", 1),  # of USE: some may be
        Field("samples", 2),  # of CLEAR: log2
        Field("cleared", COLOUR),  # of CLEAR: to this
        Field("is_float", 1),  # of CLEAR: depths are D32F
        Field("base", 32),  # of CLEAR: address of the first tile, in bytes
    )


def slot_command(edge_samples: int, bits: int = DEPTH) -> tuple[Field, ...]:
    """What a cache wants done with a tile on chip.

    They lie in the memory of the block that uses them.
    """
    return (
        Field("op", 3),  # fixfunc.spec.state.SlotOp
        Field("slot", SLOT),
        Field("error", 3),  # of DONE: a read failed, a write failed, a tile in memory cannot be
        *each(" ".join(f"value{n}" for n in range(edge_samples**2)), bits),  # of FILL
    )


def completion(edge_samples: int, bits: int = DEPTH) -> tuple[Field, ...]:
    """What has been done to a slot: one for each :func:`slot_command` but DONE, in their order.

    A tile that is written late has a second one, of USE, before any of another use of its slot.
    """
    plane = (
        Field("exact", 1),  # of USE: by a plane that gives their depths,
        *each("z0 dx dy", 32),  # this one
    )
    return (
        Field("op", 3),  # fixfunc.spec.state.SlotOp, of the command,
        Field("slot", SLOT),  # and its slot
        Field("written", edge_samples**2),  # of USE: samples
        *(plane if bits in (DEPTH, FLOAT_DEPTH) else ()),
        *each(
            " ".join(f"value{n}" for n in range(edge_samples**2)), bits
        ),  # of EVICT: what the slot held
    )


def counted(differences: bool = False) -> tuple[Field, ...]:
    """Tiles that have been moved, by their mode in memory, and transfers of the mode table.

    With ``differences``, of a cache whose tiles are coded so.
    """
    modes = (*range(7), *(range(9, 15) if differences else ()))
    tiles = [f"{cause}_{n}" for cause in ("fill", "write_back") for n in modes]
    return each(" ".join([*tiles, "table_fill table_write_back table_clear"]), 32)


COUNTED = counted()

TILE = tile(8)
CONTROL = {"draw_state": DRAW_STATE, "clear": CLEAR, "fence": FENCE}  # beats that only pass through
