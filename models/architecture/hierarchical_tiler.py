# SPDX-License-Identifier: BSD-2-Clause
"""A tiler of several levels: lists of triangles by squares of one, two and four tiles a side."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from fixfunc.models.architecture.frame_work import MOST, FrameWork
from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

LEVELS = 3
TILE = 16  # pixels of a side


@dataclass(frozen=True)
class TriangleLists:
    """Lists of triangles by square [rtr 23.10.1].

    A triangle is in the list of the smallest square that its box lies within. If it lies within
    none it is in the lists of all of the largest squares that its box touches.

    Parameters
    ----------
    tile : int
        Pixels of a side of the smallest square.
    levels : tuple of (ndarray, ndarray, ndarray) of int64
        Triangles, columns and rows of squares, from tiles up, each level's squares having twice the
        side of those before; in drawing order.
    """

    tile: int
    levels: tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]

    @classmethod
    def of(cls, frame: FrameWork, tile: int = TILE, levels: int = LEVELS) -> Self:
        """Lists of a frame.

        Parameters
        ----------
        frame : FrameWork
        tile : int
            A power of two.
        levels : int
            1 or more; 1 is a list a tile.
        """
        integer("tile", tile, 1, MOST)
        integer("levels", levels, 1, 8)
        if tile & tile - 1:
            raise InputError("tile", "be a power of two", tile)
        found = []
        left = np.ones(frame.triangles, bool)
        for level in range(levels):
            squares = frame.boxes // (tile << level)
            within = left & (squares[:, :2] == squares[:, 2:]).all(1)
            if level == levels - 1:
                triangle, x, y = frame.touched(tile << level)
                own = left[triangle]
                found.append((triangle[own], x[own], y[own]))
            else:
                number = np.flatnonzero(within)
                found.append((number, squares[number, 0], squares[number, 1]))
            left &= ~within
        return cls(tile, tuple(found))

    @property
    def entries(self) -> int:
        """Of all lists: what they take in memory."""
        return sum(len(triangle) for triangle, _, _ in self.levels)

    def triangles(self, x: int, y: int) -> np.ndarray:
        """Triangles that a tile must look at, by its column and row, in drawing order: int64.

        Those whose box touches it, and some others of the larger squares around it.
        """
        found = [
            triangle[(columns == x >> level) & (rows == y >> level)]
            for level, (triangle, columns, rows) in enumerate(self.levels)
        ]
        return np.sort(np.concatenate(found))
