# SPDX-License-Identifier: BSD-2-Clause
"""A recorded frame: docs/cosim/record.md describes it."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

VERSION = 1


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
