# SPDX-License-Identifier: BSD-2-Clause
"""Payloads and encodings of :mod:`fixfunc.spec` as a SystemVerilog package.

Payloads are packed structs, encodings enums.
"""

import inspect
from enum import IntEnum

from fixfunc.cosim import toolchain
from fixfunc.spec import colours, commands, payloads, points, state
from fixfunc.spec.memory import caching, depth_tiles
from fixfunc.spec.payloads import COLOUR_PLANES, Field
from fixfunc.spec.pixels import interpolation, pixel_state, texture_stage
from fixfunc.spec.textures import (
    addresses,
    cache,
    coded_lines,
    cube,
    descriptors,
    level_of_detail,
    unit,
)
from fixfunc.spec.textures import filter as filters

NAME = "fixfunc_pkg"
EDGES = (8, 4)  # samples along a tile's edge: of all configurations but the tiny ones, and of those
LANES = (32, 4)  # of waves, likewise
KEYWORDS = (
    "begin",
    "end",
    "function",
    "release",
    "sequence",
)  # of the language: a field of that name is written with an underscore behind
WIDER = {"Opcode": 8}  # enums whose field has more bits than their values need


def tables() -> dict[str, tuple[Field, ...]]:
    """Field tables by the name of their struct.

    They are those that are constants, and those of each size of tiles and of waves.
    """
    fixed = {
        "triangle": payloads.TRIANGLE,
        "draw_state": payloads.DRAW_STATE,
        "clear": payloads.CLEAR,
        "fence": payloads.FENCE,
        "setup": payloads.SETUP,
        "texture_block": colours.TEXTURE_BLOCK,
        "counted": caching.COUNTED,
        "counted_differences": caching.counted(differences=True),
        "domain_point": points.DOMAIN_POINT,
        "matched_point": points.MATCHED_POINT,
        "vertex_index": points.VERTEX_INDEX,
        "quad": points.QUAD,
        "matches": points.MATCHES,
        "uncoded_colours": colours.uncoded(),
        "coded_colours": colours.coded(),
        "stored_colours": colours.stored(),
        "decoded_colours": colours.decoded(),
        "merge_state": colours.MERGE_STATE,
        "blend_state": payloads.BLEND_STATE,
        "resolve": colours.RESOLVE,
        "resolved": colours.RESOLVED,
        "scan_setup": colours.SCAN_SETUP,
        "drawn_tile": colours.DRAWN,
        "signed_tile": colours.SIGNED,
        "packet": commands.PACKET,
        "target_packet": commands.TARGET_PACKET,
        "state_packet": commands.STATE_PACKET,
        "clear_packet": commands.CLEAR_PACKET,
        "triangles_packet": commands.TRIANGLES_PACKET,
        "triangle_packet": commands.TRIANGLE_PACKET,
        "upper_packet": commands.UPPER_PACKET,
        "fence_packet": commands.FENCE_PACKET,
        "resolve_packet": commands.RESOLVE_PACKET,
        "vertex_packet": commands.VERTEX_PACKET,
        "vertex_place": commands.VERTEX_PLACE,
        "vertex_attribute": commands.VERTEX_ATTRIBUTE,
        "vertex_weights": commands.VERTEX_WEIGHTS,
        "corner_slots": commands.CORNER_SLOTS,
        "ring_triangle": commands.RING_TRIANGLE,
        "ring_release": commands.RING_RELEASE,
        "ring_error": commands.RING_ERROR,
        "corners": interpolation.CORNERS,
        "attribute": interpolation.ATTRIBUTE,
        "quad_to_shade": interpolation.QUAD_TO_SHADE,
        "stage_state": texture_stage.STAGE_STATE,
        "stage_quad": texture_stage.STAGE_QUAD,
        "shaded_quad": texture_stage.SHADED_QUAD,
        "shaded_quad_of_several": texture_stage.shaded_quad(COLOUR_PLANES),
        "pixel_state": pixel_state.PIXEL_STATE,
        "pixel_state_packet": commands.PIXEL_STATE_PACKET,
        "texture_packet": commands.TEXTURE_PACKET,
        "blend_constant_packet": commands.BLEND_CONSTANT_PACKET,
        "lod_state": level_of_detail.LOD_STATE,
        "lod_quad": level_of_detail.LOD_QUAD,
        "lod_of_quad": level_of_detail.LOD_OF_QUAD,
        "footprints_of_quad": level_of_detail.FOOTPRINTS_OF_QUAD,
        "lod_gradients": level_of_detail.GRADIENTS,
        "cube_state": cube.CUBE_STATE,
        "cube_quad": cube.CUBE_QUAD,
        "faced_quad": cube.FACED_QUAD,
        "address_state": addresses.ADDRESS_STATE,
        "address_quad": addresses.ADDRESS_QUAD,
        "addressed_quad": addresses.ADDRESSED_QUAD,
        "cache_state": cache.CACHE_STATE,
        "coded_state": cache.CODED_STATE,
        "coded_read": coded_lines.coded_read(64),
        "coded_transfer": coded_lines.coded_transfer(64),
        "cache_quad": cache.CACHE_QUAD,
        "texel_quad": cache.TEXEL_QUAD,
        "filter_state": filters.FILTER_STATE,
        "filter_taps": filters.FILTER_TAPS,
        "filtered_quad": filters.FILTERED_QUAD,
        "texture_state": unit.TEXTURE_STATE,
        "sample_state": unit.SAMPLE_STATE,
        "texture_quad": unit.TEXTURE_QUAD,
        "textured_quad": unit.TEXTURED_QUAD,
        "pool_place": descriptors.POOL_PLACE,
        "pool_select": descriptors.POOL_SELECT,
        "pool_quad": descriptors.POOL_QUAD,
        "descriptor": descriptors.DESCRIPTOR,
        "refused_descriptor": descriptors.REFUSED,
        "start": commands.START,
        "status": commands.STATUS,
    }
    of_edge = {
        "tile": payloads.tile,
        "feedback": payloads.feedback,
        "context": payloads.context,
        "known_planes": depth_tiles.known_planes,
        "uncoded": depth_tiles.uncoded,
        "coded": depth_tiles.coded,
        "stored": depth_tiles.stored,
        "decoded": depth_tiles.decoded,
        "cache_request": caching.cache_request,
        "slot_command": caching.slot_command,
        "completion": caching.completion,
        "quads": colours.quads,
    }
    sized = {f"{name}_{edge}": make(edge) for name, make in of_edge.items() for edge in EDGES}
    sized |= {
        f"{make.__name__}_{edge}_of_{bits}": make(edge, bits)
        for make in (depth_tiles.coded, caching.slot_command, caching.completion)
        for edge in EDGES
        for bits in (payloads.STENCIL, payloads.COLOUR)
    }
    sized |= {
        f"{make.__name__}_{edge}": make(edge, True)
        for make in (payloads.shaded, payloads.survivors, colours.colours)
        for edge in EDGES
    }
    sized |= {
        "coded_8_differences": depth_tiles.coded(8, payloads.DEPTH, 4),
        "stored_8_differences": depth_tiles.stored(8, 4),
    }
    sized |= {  # samples of the output merger, default and lean
        f"{name}_{lanes}": table
        for lanes, texel, second in ((4, 64, True), (64, 32, False))
        for name, table in (
            ("merging", colours.merging(lanes, texel, second, second)),
            ("merged", colours.merged(lanes, texel)),
        )
    }
    sized |= {f"scanned_{pixels}": colours.scanned(pixels) for pixels in (8, 4)}
    sized |= {f"coverage_{edge**2}": payloads.coverage(edge**2) for edge in EDGES}
    sized |= {f"wave_{lanes}": points.wave(lanes) for lanes in LANES} | {
        f"texels_{count}": colours.texels(count) for count in (16, 4)
    }
    return fixed | sized


def enums() -> list[type[IntEnum]]:
    """Encodings, in the order in which they are written down."""
    return [
        encoding
        for module in (state, colours, commands)
        for _, encoding in inspect.getmembers(module, inspect.isclass)
        if issubclass(encoding, IntEnum) and encoding.__module__ == module.__name__
    ]


def enum_bits(of: type[IntEnum]) -> int:
    """Bits of the field that holds an encoding."""
    return WIDER.get(of.__name__, max(max(of).bit_length(), 1))


def member(name: str) -> str:
    """A field's name as a struct has it."""
    return f"{name}_" if name in KEYWORDS else name


def text() -> str:
    """The package; the first field of a table is the lowest, and so the last of its struct."""
    lines = [
        "// SPDX-License-Identifier: BSD-2-Clause",
        f"// Types of fixfunc's streams and packets, fixfunc {toolchain.version()}: "
        f"port__payload = $bits(port__payload)'(struct).",
        "// A stream that several tables share is as wide as the widest; kind, the lowest field "
        "of each, says which one it is.",
        f"/* verilator lint_off DECLFILENAME */ package {NAME}; /* verilator lint_on "
        f"DECLFILENAME */",
        "",
    ]
    for of in enums():
        bits = enum_bits(of)
        prefix = _snake(of.__name__)
        lines += [
            f"  typedef enum logic [{bits - 1}:0] {{",
            ",\n".join(
                f"    {prefix.upper()}_{value.name} = {bits}'d{value.value}" for value in of
            ),
            f"  }} {prefix}_e;",
            "",
        ]
    for name, fields in tables().items():
        lines += ["  typedef struct packed {"]
        lines += [
            f"    logic {'signed ' if f.signed else ''}[{f.bits - 1}:0] {member(f.name)};"
            f"{f.meaning and f'  // {f.meaning}'}"
            for f in reversed(fields)
        ]
        lines += [f"  }} {name}_t;", ""]
    return "\n".join([*lines, f"endpackage : {NAME}", ""])


def _snake(name: str) -> str:
    """``TileMode`` as ``tile_mode``."""
    return "".join(f"_{c.lower()}" if c.isupper() and n else c.lower() for n, c in enumerate(name))
