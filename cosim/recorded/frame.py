# SPDX-License-Identifier: BSD-2-Clause
"""A recorded frame: docs/cosim/record.md describes it."""

from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial

import numpy as np

VERSION = 2
VERSIONS = 1, 2  # that are read: the first has no varyings and no textures


class Event(IntEnum):
    """What happens in a frame."""

    CONTENTS = 0  # a surface holds something else than what was drawn
    CLEAR = 1
    DRAW = 2
    RESULT = 3  # what a surface holds at the end


EVENT = np.dtype([("kind", "u1"), ("number", "<u4")])  # of an entry of that kind
SURFACE = np.dtype([("form", "<u4"), ("width", "<u4"), ("height", "<u4")])
CONTENTS = np.dtype([("surface", "<u4"), ("first", "<u8")])  # of its texels
TEXEL = np.dtype([("colour", "<f4", 4), ("depth", "<u4"), ("stencil", "u1")])
CLEAR = np.dtype(
    [
        ("surface", "<u4"),
        ("form", "<u4"),  # of the view
        ("planes", "u1"),  # colours or depths 1, stencil values 2
        ("colour", "<f4", 4),
        ("depth", "<f4"),
        ("stencil", "u1"),
    ]
)
FACE = np.dtype([(name, "u1") for name in ("fail", "depth_fail", "pass", "func")])
BLEND = np.dtype(
    [
        (name, "u1")
        for name in (
            *("src_blend", "dest_blend", "blend_op"),
            *("src_blend_alpha", "dest_blend_alpha", "blend_op_alpha"),
        )
    ]
)
DRAW = np.dtype(
    [
        ("call", "<u4"),  # of the trace
        ("colour", "<i4"),  # surface, or -1
        ("depth", "<i4"),
        ("form", "<u4"),  # of the view of colours
        ("viewport", "<f4", 6),  # x, y, width, height, least and greatest depth
        ("scissor", "<u4", 4),  # left, low, right, high; ends exclusive
        ("cull", "u1"),
        ("front_counter_clockwise", "?"),
        ("depth_clip", "?"),
        ("zero_to_one", "?"),  # z of clip space, else -1 to 1
        ("depth_bias", "<i4"),
        ("slope_scaled_depth_bias", "<f4"),
        ("depth_bias_clamp", "<f4"),
        ("depth_enable", "?"),
        ("depth_write", "?"),
        ("depth_func", "u1"),
        ("stencil_enable", "?"),
        ("stencil_read_mask", "u1"),
        ("stencil_write_mask", "u1"),
        ("stencil_ref", "u1"),
        ("front_face", FACE),
        ("back_face", FACE),
        ("blend_enable", "?"),
        ("blend", BLEND),
        ("blend_factor", "<f4", 4),
        ("write_mask", "u1"),
        ("alpha_func", "u1"),
        ("alpha_ref", "<f4"),
        ("discards", "?"),  # the shader may discard: recorded fragments are those that are left
        ("shader_depth", "?"),  # depths are the shader's
        ("passed", "<u8"),  # samples that passed all tests
        ("first_vertex", "<u8"),
        ("vertices", "<u4"),  # three a triangle
        ("first_fragment", "<u8"),
        ("fragments", "<u4"),
    ]
)
# Fragments of a draw: all first ones of pixels, then all second ones, and so on.
FRAGMENT = np.dtype(
    [("x", "<u2"), ("y", "<u2"), ("order", "u1"), ("colour", "<f4", 4), ("depth", "<f4")]
)

# What fragments are made of. Each draw has a row of SHADING; a file of version 1 has none.
SHADING = np.dtype(
    [
        ("program", "?"),  # fragments are those of a shader, else of the fixed functions
        ("reason", "<i4"),  # of names: why it is not all recorded; -1 where it is
        ("provoking", "u1"),  # corner of a triangle whose flat values count
        ("first_varying", "<u8"),
        ("varyings", "<u4"),
        ("first_value", "<u8"),
        ("first_binding", "<u8"),
        ("bindings", "<u4"),
        ("two_side", "?"),  # triangles seen from behind have the colours of their backs
        ("colour_sum", "?"),  # the secondary colour is added behind textures
        ("fog", "u1"),
        ("fog_colour", "<f4", 4),
        ("fog_density", "<f4"),
        ("fog_start", "<f4"),
        ("fog_end", "<f4"),
    ]
)
VARYING = np.dtype(
    [
        ("name", "<u4"),  # of names
        ("kind", "u1"),
        ("components", "u1"),
        ("interpolation", "u1"),
        ("location", "u1"),
    ]
)
BINDING = np.dtype(
    [
        ("name", "<u4"),  # of names: of a program's sampler, or an empty one
        ("unit", "u1"),
        ("texture", "<i4"),  # -1: an incomplete one
        ("sampler", "<u4"),
        ("environment", "u1"),
    ]
)
TEXTURE = np.dtype(
    [
        ("form", "<u4"),
        ("dimension", "u1"),
        ("cube", "?"),
        ("rectangle", "?"),  # coordinates are texels
        ("width", "<u4"),
        ("height", "<u4"),
        ("depth", "<u4"),
        ("levels", "<u4"),
        ("layers", "<u4"),  # or faces
        ("swizzle", "u1", 4),  # channel of the format, 4 zero or 5 one
        ("base", "u1"),
        ("converted", "<i4"),  # of names: OpenGL's format, whose texels are others; -1 of its own
        ("first", "<u8"),  # of octets
    ]
)
SAMPLER = np.dtype(
    [
        ("min_filter", "u1"),
        ("mag_filter", "u1"),
        ("mip_filter", "u1"),
        ("address", "u1", 3),
        ("clamped", "u1"),  # bits of axes: coordinates are 0 to 1 before anything else
        ("border", "<f4", 4),
        ("bias", "<f4"),
        ("min_lod", "<f4"),
        ("max_lod", "<f4"),
        ("anisotropy", "u1"),
        ("comparison", "?"),
        ("comparison_func", "u1"),
    ]
)


class Interpolation(IntEnum):
    """How a varying is interpolated."""

    PERSPECTIVE = 0
    LINEAR = 1
    CONSTANT = 2


class Location(IntEnum):
    """Where it is evaluated."""

    CENTRE = 0
    CENTROID = 1
    SAMPLE = 2


class Kind(IntEnum):
    """What its components are."""

    FLOAT = 0
    INT = 1
    UINT = 2


class Environment(IntEnum):
    """What becomes of a fragment's colour and a texture's."""

    SHADER = 0  # what a program says
    MODULATE = 1
    REPLACE = 2
    DECAL = 3
    ADD = 4


class Base(IntEnum):
    """What of a texture takes part in an environment."""

    COLOUR_ALPHA = 0
    COLOUR = 1
    ALPHA = 2
    INTENSITY = 3


class Fog(IntEnum):
    """How far fog goes."""

    NONE = 0
    LINEAR = 1
    EXP = 2
    EXP2 = 3


class Address(IntEnum):
    """Address modes, by D3D11's numbers."""

    WRAP = 1
    MIRROR = 2
    CLAMP = 3
    BORDER = 4
    MIRROR_ONCE = 5


@dataclass
class RecordedFrame:
    """A frame of a program: arrays of the types above, and text."""

    program: str
    number: int  # of the frame, from 1 on
    events: np.ndarray
    surfaces: np.ndarray
    contents: np.ndarray
    texels: np.ndarray
    clears: np.ndarray
    draws: np.ndarray
    vertices: np.ndarray  # float32, shape (n, 4): clip space, y up
    fragments: np.ndarray
    refused: list[str]  # draws that are left out: which call, and what it needs
    shadings: np.ndarray = field(
        default_factory=partial(np.zeros, 0, SHADING)
    )  # as many as draws, or none
    varyings: np.ndarray = field(default_factory=partial(np.zeros, 0, VARYING))
    values: np.ndarray = field(
        default_factory=partial(np.zeros, 0, "<u4")
    )  # of varyings, vertex by vertex: bits
    bindings: np.ndarray = field(default_factory=partial(np.zeros, 0, BINDING))
    textures: np.ndarray = field(default_factory=partial(np.zeros, 0, TEXTURE))
    samplers: np.ndarray = field(default_factory=partial(np.zeros, 0, SAMPLER))
    octets: np.ndarray = field(
        default_factory=partial(np.zeros, 0, "u1")
    )  # of textures: layer by layer, their levels in order
    names: list[str] = field(default_factory=list)

    def size(self, draw: np.void) -> tuple[int, int]:
        """Width and height of a draw's targets."""
        surface = self.surfaces[max(draw["colour"], draw["depth"])]
        return int(surface["width"]), int(surface["height"])

    def draw_fragments(self, draw: np.void) -> np.ndarray:
        """Those of a draw."""
        first = int(draw["first_fragment"])
        return self.fragments[first : first + int(draw["fragments"])]

    def draw_vertices(self, draw: np.void) -> np.ndarray:
        """Those of a draw: float32, shape (n, 4)."""
        first = int(draw["first_vertex"])
        return self.vertices[first : first + int(draw["vertices"])]

    def draw_varyings(self, number: int) -> np.ndarray:
        """Varyings of a draw by its number: :data:`VARYING`."""
        shading = self.shadings[number]
        first = int(shading["first_varying"])
        return self.varyings[first : first + int(shading["varyings"])]

    def draw_values(self, number: int) -> np.ndarray:
        """Their values: uint32, shape (vertices, components of all)."""
        first = int(self.shadings[number]["first_value"])
        vertices = int(self.draws[number]["vertices"])
        components = int(self.draw_varyings(number)["components"].sum())
        return self.values[first : first + vertices * components].reshape(vertices, components)

    def draw_bindings(self, number: int) -> np.ndarray:
        """Textures that a draw can sample: :data:`BINDING`."""
        shading = self.shadings[number]
        first = int(shading["first_binding"])
        return self.bindings[first : first + int(shading["bindings"])]

    def surface_texels(self, contents: np.void) -> np.ndarray:
        """Texels of contents, rows bottom up: shape (height, width)."""
        surface = self.surfaces[contents["surface"]]
        height, width = int(surface["height"]), int(surface["width"])
        first = int(contents["first"])
        return self.texels[first : first + height * width].reshape(height, width)


ARRAYS = {
    "events": EVENT,
    "surfaces": SURFACE,
    "contents": CONTENTS,
    "texels": TEXEL,
    "clears": CLEAR,
    "draws": DRAW,
    "vertices": np.dtype("<f4"),
    "fragments": FRAGMENT,
}
# What version 2 has beside these.
SHADING_ARRAYS = {
    "shadings": SHADING,
    "varyings": VARYING,
    "values": np.dtype("<u4"),
    "bindings": BINDING,
    "textures": TEXTURE,
    "samplers": SAMPLER,
    "octets": np.dtype("u1"),
}
