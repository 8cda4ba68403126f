# SPDX-License-Identifier: BSD-2-Clause
"""Textures at the edges of their rules."""

from typing import Any

import numpy as np

from fixfunc.cosim.commands import CommandList
from fixfunc.models.payload import dtype
from fixfunc.models.texture.texture_cache import block_bytes
from fixfunc.spec.commands import START
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.pixels.texture_stage import TextureOp
from fixfunc.spec.textures.cache import FORMAT, LINE, LINE_NUMBER, PITCH, StoredFormat
from fixfunc.spec.textures.coded_lines import TILE_LINES
from fixfunc.tb.frontend import streams
from fixfunc.tb.frontend.vertex_draws import VertexDraws

BLOCK = 4  # texels along the edge of one
TILE = 8  # texels along the edge of one
BYTES = TRANSFER // 8
MODES = 64 * TILE_LINES  # lines of the tiles whose modes a transfer has
CHANGED = (
    *("width", "height", "last", "format", "mode_u", "mode_v", "base", "anisotropy"),
    *("extended", "last_layer", "cube", "coded", "linear", "distance", "mode_table", "base"),
)


def requests(rng: np.random.Generator, count: int, params: Any) -> np.ndarray:
    """Rows of streams of a texture at an edge, and of a pixel state that samples it.

    ``params`` are those of a top: :class:`fixfunc.rtl.top.TopParams`.
    """
    rows = []
    at = streams.LISTS
    draws = VertexDraws(rng, params.reader)
    while sum(map(len, rows)) < count and at < streams.SIZE - (1 << 15):
        fields = draws.texture()
        for _ in range(int(rng.integers(0, 3))):
            change_texture(rng, fields, params.reader)
        packets = CommandList().texture(**fields).pixel_state(op=TextureOp.REPLACE).transfers
        start = np.array([(at, len(packets), streams.SIZE)], dtype(START))
        rows += [streams.mark(start), packets]
        at += BYTES * len(packets)
    return np.concatenate(rows)


def _lines(fields):
    """Lines of a coded surface, from its first tile to its last."""
    rows, tiles = (-(-int(fields[side]) // TILE) for side in ("height", "width"))
    return (rows - 1) * int(fields["distance"]) + tiles * TILE_LINES


def change_texture(rng: np.random.Generator, fields: dict[str, Any], reader: Any) -> None:
    """Change a size, a number or a level of a TEXTURE packet to one at an edge.

    ``reader`` is a :class:`fixfunc.rtl.frontend.command_reader.CommandReaderParams`.
    """
    name = rng.choice(CHANGED)
    if name in ("width", "height"):
        fields[name] = rng.choice((0, 1, 64, 65))
    elif name == "last":
        bits = int(max(fields["width"], fields["height"])).bit_length()
        fields[name] = rng.choice((bits - 1, bits, 15))
    elif name == "format":
        few = 1 << FORMAT
        fields[name] = rng.choice((*(form % few for form in reader.texture_formats), few - 1))
    elif name == "anisotropy":
        fields[name] = rng.choice((reader.texture_anisotropy, reader.texture_anisotropy + 1, 31))
    elif name in ("last_layer", "cube"):
        fields[name] = 1
    elif name in ("extended", "coded", "linear"):
        fields[name] = 1 - fields[name]
    elif name == "distance":
        ends = (1, 4, fields[name], (1 << PITCH) - 1, 1 << PITCH, (1 << LINE_NUMBER) - 4)
        fields[name] = rng.choice(ends)
    elif name == "mode_table":
        end = streams.SIZE // BYTES - -(-_lines(fields) // MODES)
        fields[name] = max(0, end + int(rng.integers(-1, 2)))
    elif name == "base" and fields["linear"]:
        form = int(fields["format"]) + (int(fields["extended"]) << FORMAT)
        rows = -(-int(fields["height"]) // BLOCK) * BLOCK
        size = block_bytes(form) // (BLOCK * BLOCK) if form in set(StoredFormat) else 1
        own = -(-int(fields["width"]) * size // LINE)
        end = streams.SIZE // LINE - (rows - 1) * int(fields["distance"]) - own
        fields["base0"] = max(0, end + int(rng.integers(-1, 2)))
    elif name == "base" and fields["coded"]:
        end = streams.SIZE // LINE - _lines(fields)
        fields["base0"] = max(0, end + TILE_LINES * int(rng.integers(-1, 2)))
    elif name == "base":
        end = streams.SIZE // LINE - (1 << int(rng.integers(0, 9)))
        fields[f"base{int(rng.integers(0, fields['last'] + 1))}"] = end + rng.integers(-1, 2)
    else:
        fields[name] = rng.integers(0, 8)
