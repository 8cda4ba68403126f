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


class TransactionElimination:
    """Writes tiles to a surface unless they are there already, as their signatures tell.

    Parameters
    ----------
    memory : ndarray of uint8
        Read and written in place.
    view : numpy.void
        The surface, tiled: it is what its signatures say as long as nobody else writes it.

    Attributes
    ----------
    moved, kept : int
        Bytes that were written, and bytes that were not.

    Two tiles of one signature are taken for equal: of different ones one pair in 2^64 is.
    """

    def __init__(self, memory: np.ndarray, view: np.void) -> None:
        self._layout, self._data = target_at(memory, view)
        self._place = target_place(view, 0)
        rows, columns = self._layout.tiles_of(self._place[0])
        self._known = np.zeros((rows, columns), bool)
        self._signatures = np.zeros((rows, columns), np.uint64)
        self.moved = 0
        self.kept = 0

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
        rows, columns = self._known.shape
        shape = (rows, columns, 8, 8, self._layout.texel)
        if tiles.shape != shape or tiles.dtype != np.uint8:
            raise InputError("tiles", f"be uint8 of shape {shape}", tiles.shape)
        found = signatures(tiles.reshape(rows * columns, -1)).reshape(rows, columns)
        changed = ~self._known | (found != self._signatures)
        if self._layout.coded:
            coded = self._layout.coded_tiles(self._data, *self._place)
            coded.write(tiles, changed)
            sizes = coded.sizes
        else:
            self._layout.tiles(self._data, *self._place)[0][changed] = tiles[changed]
            sizes = np.full(changed.shape, tiles[0, 0].size)
        self._signatures = found
        self._known[:] = True
        self.moved += int(sizes[changed].sum())
        self.kept += int(sizes[~changed].sum())
        return changed
