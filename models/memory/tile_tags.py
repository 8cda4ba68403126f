# SPDX-License-Identifier: BSD-2-Clause
"""Tags of a tile cache and of its mode cache: what is on chip, and which moves each use makes."""

from copy import copy
from typing import NamedTuple, Self

import numpy as np

from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.memory.coded_tiles import PER_TRANSFER

LOOK_UP, FILL, WRITE_BACK = "look_up", "fill", "write_back"  # causes of moves
TABLE_FILL, TABLE_WRITE_BACK = "table_fill", "table_write_back"
MAY_BE_DIRTY = 1  # a draw may have written the tile, as far as is known before its tests
DIRTY = 2  # it has been written


class Move(NamedTuple):
    """What a use makes a cache do."""

    cause: str  # a look-up of the tile's mode, a fill, a write-back; or one of the mode table
    number: int  # of the tile, or of the transfer


class TileTags:
    """Tiles on chip, by set; of each set the oldest is the victim.

    Parameters
    ----------
    shape : CacheShape
    columns : int
        Tiles of a row of the target.

    Attributes
    ----------
    hits : int
        Uses of tiles that were on chip.
    """

    IS_BY_USE = False  # the victim is the least recently used tile

    def __init__(self, shape: CacheShape, columns: int) -> None:
        self._bits = shape.sets.bit_length() - 1
        self._ways = shape.ways
        self._columns = columns
        self._sets: list[dict[int, int]] = [{} for _ in range(shape.sets)]  # flags by tile
        self.hits = 0

    def clear(self) -> None:
        """Nothing is on chip, and nothing has been written."""
        self._sets = [{} for _ in self._sets]

    def copy(self) -> Self:
        """The same, used apart."""
        other = copy(self)
        other._sets = [ways.copy() for ways in self._sets]
        return other

    def dirty(self) -> list[int]:
        """Tiles on chip that have been written."""
        return [tile for ways in self._sets for tile, flags in ways.items() if flags & DIRTY]

    def use(
        self,
        tiles: np.ndarray,
        needed: np.ndarray,
        may_write: np.ndarray,
        wrote: np.ndarray,
        last: dict[int, int],
    ) -> tuple[list[Move], list[int]]:
        """Use tiles, one after the other.

        Parameters
        ----------
        tiles : ndarray of int, shape (n,)
            Numbers, row by row.
        needed : ndarray of bool, shape (n,)
            Values are fetched; they are not where every sample will be written.
        may_write, wrote : ndarray of bool, shape (n,)
            Whether a draw may write the tile, and whether it has.
        last : dict of int to int
            By tile: the use after which it is as it is, from 0 on for these, and below for those
            before. It is kept.

        Returns
        -------
        list of Move
        list of int
            Of every write-back, the use after which the tile was as it goes to memory.
        """
        moves: list[Move] = []
        sources: list[int] = []
        flags = MAY_BE_DIRTY * may_write.astype(int) | DIRTY * wrote.astype(int)
        fields = tiles, self._set_of(tiles), needed, flags
        for n, (tile, number, is_needed, its) in enumerate(
            zip(*(f.tolist() for f in fields), strict=True)
        ):
            ways = self._sets[number]
            if tile in ways:
                self.hits += 1
                held = ways.pop(tile) if self.IS_BY_USE else ways[tile]
                ways[tile] = held | its
            else:
                if len(ways) == self._ways:
                    self._evict(ways, moves, sources, last)
                ways[tile] = its
                if is_needed:
                    moves += Move(LOOK_UP, tile), Move(FILL, tile)
            last[tile] = n
        return moves, sources

    def flush(self, last: dict[int, int]) -> tuple[list[Move], list[int]]:
        """Evict every tile; parameters and results are those of :meth:`use`."""
        moves: list[Move] = []
        sources: list[int] = []
        for ways in self._sets:
            while ways:
                self._evict(ways, moves, sources, last)
        return moves, sources

    def _set_of(self, tiles):
        """By the lowest bits of x and y in turn."""
        y, x = np.divmod(tiles, self._columns)
        low = self._bits + 1 >> 1
        return (x & (1 << low) - 1) | (y & (1 << (self._bits >> 1)) - 1) << low

    @staticmethod
    def _evict(ways, moves, sources, last):
        """Evict the tile of the first way, and write it back if it is dirty."""
        tile = next(iter(ways))
        flags = ways.pop(tile)
        if flags & MAY_BE_DIRTY:
            moves.append(Move(LOOK_UP, tile))
        if flags & DIRTY:
            moves.append(Move(WRITE_BACK, tile))
            sources.append(last[tile])


class ModeCache:
    """A direct-mapped cache of a mode table: what memory has to move for it.

    Parameters
    ----------
    lines : int
        Transfers on chip, a power of two.

    A transfer is known without memory if the table has been cleared, and none of its place has been
    written since.
    """

    def __init__(self, lines: int) -> None:
        self._lines = lines
        self._held: dict[int, tuple[int, bool]] = {}  # by place: a transfer; memory lacks it
        self._zeros = np.zeros(lines, bool)  # places of which memory holds zeros alone

    def clear(self) -> None:
        """All tiles are cleared, in memory too."""
        self._held = {}
        self._zeros = np.ones(self._lines, bool)

    def copy(self) -> Self:
        """The same, used apart."""
        other = copy(self)
        other._held = self._held.copy()
        other._zeros = self._zeros.copy()
        return other

    def look_up(self, tile: int) -> list[Move]:
        """Bring the transfer of a tile on chip: moves of transfers, in order."""
        transfer = tile // PER_TRANSFER
        place = transfer % self._lines
        if self._held.get(place, (None,))[0] == transfer:
            return []
        moved = self._evict(place)
        if not self._zeros[place]:
            moved.append(Move(TABLE_FILL, transfer))
        self._held[place] = transfer, False
        return moved

    def update(self, tile: int) -> None:
        """A tile that has been looked up has another mode."""
        transfer = tile // PER_TRANSFER
        self._held[transfer % self._lines] = transfer, True

    def flush(self) -> list[Move]:
        """Bring all that memory lacks there: moves of transfers."""
        return [moved for place in list(self._held) for moved in self._evict(place)]

    def _evict(self, place):
        transfer, is_dirty = self._held.pop(place, (None, False))
        if not is_dirty:
            return []
        self._zeros[place] = False
        return [Move(TABLE_WRITE_BACK, transfer)]
