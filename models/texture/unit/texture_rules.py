# SPDX-License-Identifier: BSD-2-Clause
"""Rules of textures: what there may be, and where they may lie."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from fixfunc.models.texture.texture_cache import PLAIN, block_bytes
from fixfunc.spec.commands import CommandError
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.cache import FORMAT, LINE, PITCH, StoredFormat
from fixfunc.spec.textures.coded_lines import CODED_FORMATS, TILE_LINES
from fixfunc.spec.textures.cube import FACES
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import LAST_CUBE

BLOCK = 4  # texels along the edge of a block
TILE = 8  # and of a tile
TILES = 64  # whose modes a transfer has
BYTES = 32  # of a transfer


class TextureRules(NamedTuple):
    """What textures there may be.

    Source: [trip 4].
    """

    formats: Collection[StoredFormat]  # known ones
    extent: int  # log2 of the greatest width and height
    anisotropy: int  # most samples along a footprint
    layers: bool = False  # they may be arrays
    cubes: bool = False  # they may be cubes; with layers
    coded: bool = False  # they may be coded surfaces
    linear: bool = False  # they may lie as rows of texels
    points: Collection[StoredFormat] = ()  # formats that are sampled by points alone

    def broken(self, record: np.void, limit: int) -> CommandError:
        """The first rule that a texture breaks, or NONE.

        Parameters
        ----------
        record : numpy.void
            Fields of :data:`fixfunc.spec.textures.descriptors.DESCRIPTOR`.
        limit : int
            Bytes of memory: levels lie below it, squares of blocks in Morton order.
        """
        sides = int(record["width"]), int(record["height"])
        last = int(record["last"])
        modes = (record[name] in list(Address) for name in ("mode_u", "mode_v"))
        if not all(1 <= side <= 1 << self.extent for side in sides) or max(sides) >> last == 0:
            return CommandError.STATE
        form = form_of(record)
        if form not in self.formats or not all(modes):
            return CommandError.STATE
        if record["anisotropy"] > self.anisotropy or self._lacks(record):
            return CommandError.STATE
        if form in self.points and is_beyond_points(record):
            return CommandError.STATE
        if record["linear"]:
            return _broken_by_rows(record, form, limit)
        if record["coded"]:
            return _broken_by_surface(record, form, limit)
        span = _layers_before(record) * int(record["distance"])
        for level in range(last + 1):
            lines = level_lines(max(max(sides) >> level, 1), form)
            if (int(record[f"base{level}"]) + span + lines) * LINE > limit:
                return CommandError.ADDRESS
        return CommandError.NONE

    def _lacks(self, record):
        """A texture is an array, a cube, a coded surface or rows of texels, as there is none."""
        if record["cube"]:
            fits = record["width"] == record["height"] and record["last_layer"] <= LAST_CUBE
            if not (self.cubes and fits):
                return True
        known = {"last_layer": self.layers, "coded": self.coded, "linear": self.linear}
        return any(record[name] and not there for name, there in known.items())


def form_of(record: np.void) -> int:
    """Number of a texture's format: StoredFormat, or one that is none."""
    return int(record["format"]) + (int(record["extended"]) << FORMAT)


def is_beyond_points(state: np.ndarray | np.void) -> np.ndarray:
    """A sampler reads more than points: linear of any kind, several samples, a cube's corner.

    A gather has no filters, but of a cube a texel that is the mean of three.
    """
    smooth = state["magnify"] | state["minify"] | state["smooth"] | (state["anisotropy"] > 1)
    return np.where(state["op"] == FilterOp.GATHER, state["cube"], smooth) == 1


def _layers_before(record):
    """Layers, or faces, in front of the last one."""
    last = int(record["last_layer"])
    return FACES * last + FACES - 1 if record["cube"] else last


def _broken_by_surface(record, form, limit):
    """The first rule that a coded surface breaks: one level of whole tiles, and its table."""
    span = (int(record["height"]) - 1) // TILE * int(record["distance"])
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


def _broken_by_rows(record, form, limit):
    """The first rule that a texture of rows of texels breaks: one level, and its pitch."""
    last = (int(record["height"]) - 1) | (BLOCK - 1)  # of a block all rows are read
    span = last * int(record["distance"])
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
