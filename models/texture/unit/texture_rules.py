# SPDX-License-Identifier: BSD-2-Clause
"""Rules of TEXTURE packets: what textures there are, and where they may lie."""

from collections.abc import Collection

import numpy as np

from fixfunc.models.texture.texture_cache import PLAIN, block_bytes
from fixfunc.spec.commands import CommandError
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.cache import FORMAT, LINE, PITCH, StoredFormat
from fixfunc.spec.textures.coded_lines import CODED_FORMATS, TILE_LINES

BLOCK = 4  # texels along the edge of a block
TILE = 8  # and of a tile
TILES = 64  # whose modes a transfer has
BYTES = 32  # of a transfer


def broken_rule(
    record: np.void,
    formats: Collection[StoredFormat],
    extent: int,
    anisotropy: int,
    limit: int,
    span: int = 0,
) -> CommandError:
    """The first rule that a texture breaks, or NONE.

    Parameters
    ----------
    record : numpy.void
        Fields of :data:`fixfunc.spec.textures.unit.TEXTURE_STATE`, and of descriptors EXTENDED and
        ``CODED_STATE`` and ``LINEAR``.
    formats : collection of StoredFormat
        Known ones.
    extent : int
        log2 of the greatest width and height.
    anisotropy : int
        Most samples along a footprint that there may be.
    limit : int
        Bytes of memory: levels lie below it, squares of blocks in Morton order.
    span : int
        Lines from the first layer, or row of tiles or texels, to the last.
    """
    sides = int(record["width"]), int(record["height"])
    last = int(record["last"])
    modes = (record[name] in list(Address) for name in ("mode_u", "mode_v"))
    if not all(1 <= side <= 1 << extent for side in sides) or max(sides) >> last == 0:
        return CommandError.STATE
    form = int(record["format"])
    if "extended" in record.dtype.names:
        form += int(record["extended"]) << FORMAT
    if form not in formats or not all(modes):
        return CommandError.STATE
    if record["anisotropy"] > anisotropy:
        return CommandError.STATE
    if "linear" in record.dtype.names and record["linear"]:
        return _broken_by_rows(record, form, limit, span)
    if "coded" in record.dtype.names and record["coded"]:
        return _broken_by_surface(record, form, limit, span)
    for level in range(last + 1):
        lines = level_lines(max(max(sides) >> level, 1), form)
        if (int(record[f"base{level}"]) + span + lines) * LINE > limit:
            return CommandError.ADDRESS
    return CommandError.NONE


def _broken_by_surface(record, form, limit, span):
    """The first rule that a coded surface breaks: one level of whole tiles, and its table."""
    begin = int(record["base0"])
    starts = begin, int(record["distance"])
    if form not in CODED_FORMATS or any(place % TILE_LINES for place in starts):
        return CommandError.STATE
    if record["last"] or record["last_layer"] or record["cube"]:
        return CommandError.STATE
    lines = span + -(-int(record["width"]) // TILE) * TILE_LINES
    modes = -(-(lines // TILE_LINES) // TILES)
    if (begin + lines) * LINE > limit or (int(record["mode_table"]) + modes) * BYTES > limit:
        return CommandError.ADDRESS
    return CommandError.NONE


def _broken_by_rows(record, form, limit, span):
    """The first rule that a texture of rows of texels breaks: one level, and its pitch."""
    if form not in PLAIN or record["distance"] >= 1 << PITCH:
        return CommandError.STATE
    if record["last"] or record["last_layer"] or record["cube"] or record["coded"]:
        return CommandError.STATE
    texel = block_bytes(form) // (BLOCK * BLOCK)
    lines = -(-int(record["width"]) * texel // LINE)
    beyond = (int(record["base0"]) + span + lines) * LINE > limit
    return CommandError.ADDRESS if beyond else CommandError.NONE


def level_lines(side: int, form: int) -> int:
    """Lines of a level of a format, by its longer side: a square of blocks, in Morton order."""
    blocks = -(-side // BLOCK)
    square = 1 << (blocks - 1).bit_length()
    return -(-square * square * block_bytes(form) // LINE)
