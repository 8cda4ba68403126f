# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of coded lines: lines of a coded surface of colours as those of a plain texture."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.memory.sample_grids import EDGE
from fixfunc.models.memory.tile_codecs import ColourCodec
from fixfunc.models.texture.cache.texture_cache import morton
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.state import TileMode
from fixfunc.spec.textures.cache import LINE, TABLE
from fixfunc.spec.textures.coded_lines import TILE_LINES

BYTES = TRANSFER // 8
TEXEL = 4  # bytes
CODEC = ColourCodec(TEXEL)
PER_TRANSFER = 2 * BYTES  # tiles of a transfer of a mode table
SIDE = 4  # texels of a line


class Lines(NamedTuple):
    """Lines that were read."""

    data: np.ndarray  # uint8, shape (n, 64): zeros where they could not be
    failed: np.ndarray  # bool, shape (n,): memory failed, or the tile cannot be
    modes: np.ndarray  # uint8, shape (n,): of their tiles; of a table that memory lacks 255


def read_lines(memory: np.ndarray, reads: np.ndarray, unreadable: int | None = None) -> Lines:
    """Read lines of coded surfaces.

    Parameters
    ----------
    memory : ndarray of uint8
        Reads beyond its end fail.
    reads : structured ndarray, shape (n,)
        Fields ``line``, ``tile``, ``mode_table`` and ``cleared``: see
        :func:`fixfunc.spec.textures.coded_lines.coded_read`.
    unreadable : int, optional
        A byte whose transfer cannot be read.

    Returns
    -------
    Lines
        Texels of four bytes, a square of 4x4 in Morton order.

    Source: [tile coding], [fs 19.1] of what a texel's bytes are.
    """
    first = reads["line"].astype(np.int64) // TILE_LINES * TILE_LINES * LINE
    modes = _modes(memory, reads, unreadable)
    sizes = np.array([_size(code) for code in range(256)], np.int64)[modes]
    failed = (modes == NO_TABLE) | ((sizes > 0) & (first + sizes > len(memory)))
    if unreadable is not None:
        begin = unreadable // BYTES * BYTES
        failed |= (first <= begin) & (begin < first + sizes)
    data = np.zeros((len(reads), LINE), np.uint8)
    place = np.arange(CODEC.room)
    squares = _squares()
    for cleared in np.unique(reads["cleared"]):
        chosen = np.flatnonzero((reads["cleared"] == cleared) & ~failed)
        coded = memory[np.minimum(first[chosen, None] + place, len(memory) - 1)]
        colour = np.array([cleared], "<u4").view(np.uint8)
        tiles, wrong = CODEC.decode(modes[chosen], coded, 0, colour)
        failed[chosen] = wrong
        lanes = tiles["values"].reshape(len(chosen), EDGE * EDGE, TEXEL)
        square = reads["line"][chosen] % TILE_LINES
        own = np.take_along_axis(lanes, squares[square][..., None], 1)
        data[chosen] = np.where(wrong[:, None], 0, own.reshape(-1, LINE))
    return Lines(data, failed, modes)


NO_TABLE = 255  # in place of a mode


def _modes(memory, reads, unreadable):
    """Modes of tiles: four bits each, the first one lowest."""
    tile = reads["tile"].astype(np.int64)
    transfer = (reads["mode_table"].astype(np.int64) + tile // PER_TRANSFER) % (1 << TABLE)
    there = (transfer + 1) * BYTES <= len(memory)
    if unreadable is not None:
        there &= transfer != unreadable // BYTES
    place = np.where(there, transfer * BYTES + tile % PER_TRANSFER // 2, 0)
    pair = memory[place]
    return np.where(there, np.where(tile % 2, pair >> 4, pair & 15), NO_TABLE).astype(np.uint8)


def _size(code):
    """Bytes of a tile that are read."""
    known = (TileMode.CLEARED, TileMode.PALETTE, TileMode.RAW, *range(9, 15))
    return CODEC.size(code) if code in known else 0


def _squares():
    """Lanes of the texels of each line of a tile: int64, shape (4, 16)."""
    texel = np.arange(SIDE * SIDE)
    x = texel & 1 | texel >> 1 & 2
    y = texel >> 1 & 1 | texel >> 2 & 2
    square = np.arange(TILE_LINES)[:, None]
    return EDGE * (SIDE * (square >> 1) + y) + SIDE * (square & 1) + x


def line_of(x: np.ndarray, y: np.ndarray, first: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Line of a texel: int64.

    Parameters
    ----------
    x, y : ndarray of int64
        Its column and row.
    first, pitch : ndarray of int64
        The surface's first line; lines from a row of tiles to the next.
    """
    tile = TILE_LINES * (x // EDGE) + pitch * (y // EDGE)
    return first + tile + morton(x // SIDE % 2, y // SIDE % 2).astype(np.int64)
