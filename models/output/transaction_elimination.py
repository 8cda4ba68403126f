# SPDX-License-Identifier: BSD-2-Clause
"""Transaction elimination: tiles that are in memory already do not move."""

import numpy as np

from fixfunc.models.memory.layout import target_at, target_place
from fixfunc.spec.errors import InputError

POLYNOMIAL = 0xC96C5795D7870F42  # of CRC-64, reflected


def signatures(tiles: np.ndarray) -> np.ndarray:
    """CRC-64 of tiles: uint64, shape (n,), of uint8 of shape (n, bytes)."""
    value = np.full(len(tiles), ~np.uint64(0))
    for octet in tiles.T:
        value = _TABLE[(value ^ octet) & np.uint64(255)] ^ value >> np.uint64(8)
    return ~value


def _table():
    value = np.arange(256, dtype=np.uint64)
    for _ in range(8):
        value = np.where(value & 1, value >> np.uint64(1) ^ np.uint64(POLYNOMIAL), value >> 1)
    return value


_TABLE = _table()


class SignatureTable:
    """Signatures of tiles in memory: 8 bytes a tile, of which 0 is that of none.

    A line of four is on chip: it is written back when a tile of another line comes, and behind the
    last tile of a frame.

    Parameters
    ----------
    memory : ndarray of uint8
        Read and written in place.
    unreadable, unwritable : int, optional
        A byte that cannot be read, and one that cannot be written; nor can the line that holds it.
    """

    LINE = 32  # bytes

    def __init__(
        self, memory: np.ndarray, unreadable: int | None = None, unwritable: int | None = None
    ) -> None:
        self._lines = memory.view("<u8").reshape(-1, self.LINE // 8)
        self._unreadable = -1 if unreadable is None else unreadable // self.LINE
        self._unwritable = -1 if unwritable is None else unwritable // self.LINE
        self._at = None  # number of the line on chip
        self._changed = False
        self._broken = False  # a line could not be written: no signature in memory counts
        self._error = False

    def renew(
        self, table: int, number: int, signature: int | np.uint64, last: bool
    ) -> tuple[bool, bool]:
        """Give a tile its signature.

        Returns
        -------
        moved : bool
            It is another one than that of the tile in its place; or that is not known.
        error : bool
            Memory has failed since the tile before.
        """
        line, at = divmod(number, self.LINE // 8)
        line += table // self.LINE
        if line != self._at:
            self._write_back()
            self._at = line
            self._line = self._lines[line].copy()
            if line == self._unreadable:
                self._line[:] = 0
                self._error = True
        moved = self._broken or self._line[at] == 0 or self._line[at] != signature
        if moved:
            self._line[at] = signature
            self._changed = True
        if last:
            self._write_back()
            self._at = None
        error = self._error
        self._error = False
        return bool(moved), error

    def _write_back(self):
        if self._changed and self._at == self._unwritable:
            self._error = self._broken = True
        elif self._changed:
            self._lines[self._at] = self._line
        self._changed = False


class TransactionElimination:
    """Writes tiles to a surface unless they are there already, as their signatures tell.

    Parameters
    ----------
    memory : ndarray of uint8
        Read and written in place.
    view : numpy.void
        The surface, tiled: it is what its signatures say as long as nobody else writes it.
    table : int, optional
        Where its signatures lie in memory, a multiple of 32: 8 bytes a tile, of which 0 is that of
        none. By default they lie elsewhere, and no tile is known.

    Attributes
    ----------
    moved, kept : int
        Bytes that were written, and bytes that were not.

    Two tiles of one signature are taken for equal: of different ones one pair in 2^64 is.
    """

    def __init__(self, memory: np.ndarray, view: np.void, table: int | None = None) -> None:
        self._layout, self._data = target_at(memory, view)
        self._place = target_place(view, 0)
        rows, columns = self._layout.tiles_of(self._place[0])
        count = rows * columns
        own = np.zeros(8 * count, np.uint8)
        octets = own if table is None else memory[table : table + 8 * count]
        self._signatures = octets.view("<u8").reshape(rows, columns)
        self.moved = 0
        self.kept = 0

    def forget(self) -> None:
        """Know no tile: all of the next frame are moved."""
        self._signatures[:] = 0

    def write(self, tiles: np.ndarray) -> np.ndarray:
        """Write a frame's tiles.

        Parameters
        ----------
        tiles : ndarray of uint8, shape (rows, columns, 8, 8, bytes)

        Returns
        -------
        ndarray of bool, shape (rows, columns)
            Tiles that were moved.
        """
        rows, columns = self._signatures.shape
        shape = (rows, columns, 8, 8, self._layout.texel)
        if tiles.shape != shape or tiles.dtype != np.uint8:
            raise InputError("tiles", f"be uint8 of shape {shape}", tiles.shape)
        found = signatures(tiles.reshape(rows * columns, -1)).reshape(rows, columns)
        changed = (self._signatures == 0) | (found != self._signatures)
        if self._layout.coded:
            coded = self._layout.coded_tiles(self._data, *self._place)
            coded.write(tiles, changed)
            sizes = coded.sizes
        else:
            self._layout.tiles(self._data, *self._place)[0][changed] = tiles[changed]
            sizes = np.full(changed.shape, tiles[0, 0].size)
        self._signatures[:] = found
        self.moved += int(sizes[changed].sum())
        self.kept += int(sizes[~changed].sum())
        return changed
