# SPDX-License-Identifier: BSD-2-Clause
"""Which tiles a cache fetches and writes back, use by use: every byte, of a cache of any shape."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.memory.coded_tiles import PER_TRANSFER
from fixfunc.models.memory.tile_tags import ModeCache
from fixfunc.models.performance.params import CacheParams

TRANSFER = 32  # bytes
NONE = -1
MAY_BE_DIRTY = 1
DIRTY = 2


@dataclass(frozen=True)
class CacheMoves:
    """What a cache of a plane does for the uses of a frame.

    Parameters
    ----------
    fill, fill_mode : ndarray of int64, shape (uses,)
        Transfers and mode of the tile that is fetched; -1: none is.
    evict, evict_mode : ndarray of int64, shape (uses,)
        Of the tile that is written back to make room.
    earlier : ndarray of int64, shape (uses,)
        The use that last wrote back the tile that is fetched; -1: none did.
    again : ndarray of int64, shape (uses,)
        The use that wrote back the evicted tile the time before; -1: none did.
    flushes : dict of int to (transfers, modes, table lines)
        By the beat of each fence: tiles that it writes back, in order.
    counts : Counter of (cause, mode)
        Tiles and transfers of the table, as counters of the hardware have them.
    """

    fill: np.ndarray
    fill_mode: np.ndarray
    evict: np.ndarray
    evict_mode: np.ndarray
    earlier: np.ndarray
    again: np.ndarray
    flushes: dict
    counts: Counter

    def bytes(self, sizes: np.ndarray) -> int:
        """Bytes that are moved, by the bytes of a tile of each mode."""
        return sum(
            count * (TRANSFER if mode is None else int(sizes[mode]))
            for (_, mode), count in self.counts.items()
        )


def cache_moves(
    uses: np.ndarray,
    surfaces: np.ndarray,
    sizes: np.ndarray,
    fences: np.ndarray,
    params: CacheParams,
) -> CacheMoves:
    """Follow the uses of a plane.

    Parameters
    ----------
    uses : structured ndarray of fixfunc.models.performance.events.USE
    surfaces : structured ndarray of fixfunc.models.performance.events.SURFACE
    sizes : ndarray of int64, shape (16,)
        Bytes of a tile by its mode.
    fences : ndarray of int
        Beats at which all that was written goes to memory.
    params : CacheParams
        The oldest way of a set goes.
    """
    cache = _Cache(len(uses), -(-np.maximum(sizes, 0) // TRANSFER), params)
    begins = np.searchsorted(uses["beat"], fences)
    marks = [(int(row["use"]), 0, row) for row in surfaces]
    marks += [(int(at), 1, int(beat)) for at, beat in zip(begins, fences, strict=True)]
    marks.sort(key=lambda mark: mark[:2])
    at = 0
    for until, kind, what in [*marks, (len(uses), 2, None)]:
        cache.use(uses[at:until], at)
        at = until
        if kind == 0:
            cache.clear(what)
        elif kind == 1:
            cache.flush(what)
    return cache.moves()


class _Cache:
    """Tags and modes of a plane."""

    def __init__(self, uses, transfers, params):
        self._transfers = transfers
        self._params = params
        self._found = {
            name: np.full(uses, NONE)
            for name in ("fill", "fill_mode", "evict", "evict_mode", "earlier", "again")
        }
        self._flushes = {}
        self._counts = Counter()
        self._columns = 1
        self._forget()

    def _forget(self):
        self._held = {}  # flags by tile
        self._ways = [[] for _ in range(self._params.sets)]  # tiles, the oldest first
        self._stored = {}  # modes by tile, as memory has them
        self._last = {}  # modes of tiles as they are
        self._wrote_back = {}  # the use that did, by tile
        self._updated = set()  # lines of the mode table
        self._modes = None

    def clear(self, surface):
        """All of a target is cleared."""
        self._forget()
        self._columns = int(surface["columns"])
        lines = -(-int(surface["tiles"]) // PER_TRANSFER)
        self._counts["clear", None] += lines
        if lines > self._params.table_lines:
            self._modes = ModeCache(self._params.table_lines)
            self._modes.clear()

    def use(self, rows, first):
        """Uses of tiles; of those of one tile in a row the first may be a miss."""
        if not len(rows):
            return
        tiles = rows["tile"]
        heads = np.flatnonzero(np.append(True, tiles[1:] != tiles[:-1]))
        flags = MAY_BE_DIRTY * rows["may_write"].astype(int) | DIRTY * rows["wrote"].astype(int)
        flags = np.bitwise_or.reduceat(flags, heads).tolist()
        modes = rows["mode"][np.append(heads[1:], len(rows)) - 1].tolist()
        needed = rows["needed"][heads].tolist()
        own = tiles[heads]
        sets = CacheShape(self._params.sets, self._params.ways)
        numbers = _set_of(own, self._columns, sets.sets).tolist()
        held, last = self._held, self._last
        for n, tile, number, flag, mode, need in zip(
            (first + heads).tolist(), own.tolist(), numbers, flags, modes, needed, strict=True
        ):
            known = held.get(tile)
            if known is None:
                self._miss(n, tile, self._ways[number], need)
                held[tile] = flag
            else:
                held[tile] = known | flag
            last[tile] = mode

    def _miss(self, n, tile, ways, needed):
        if len(ways) == self._params.ways:
            victim = ways.pop(0)
            flag = self._held.pop(victim)
            if flag & MAY_BE_DIRTY:
                self._look_up(victim)
            if flag & DIRTY:
                mode = self._store(victim)
                found = self._found
                found["evict"][n] = self._transfers[mode]
                found["evict_mode"][n] = mode
                found["again"][n] = self._wrote_back.get(victim, NONE)
                self._wrote_back[victim] = n
        ways.append(tile)
        if needed:
            self._look_up(tile)
            mode = self._stored.get(tile, 0)
            self._found["fill"][n] = self._transfers[mode]
            self._found["fill_mode"][n] = mode
            self._found["earlier"][n] = self._wrote_back.get(tile, NONE)
            self._counts["fill", mode] += 1

    def flush(self, beat):
        """Tiles that were written, set by set, then lines of the mode table."""
        modes = []
        for ways in self._ways:
            for tile in ways:
                flag = self._held.pop(tile)
                if flag & MAY_BE_DIRTY:
                    self._look_up(tile)
                if flag & DIRTY:
                    modes.append(self._store(tile))
            ways.clear()
        lines = len(self._modes.flush()) if self._modes else len(self._updated)
        self._updated.clear()
        if lines:
            self._counts["table_write_back", None] += lines
        modes = np.array(modes, np.int64)
        self._flushes[beat] = self._transfers[modes], modes, lines

    def _store(self, tile):
        """A tile goes to memory: its mode."""
        mode = self._last[tile]
        self._counts["write_back", mode] += 1
        if mode != self._stored.get(tile, 0):
            self._stored[tile] = mode
            if self._modes:
                self._modes.update(tile)
            else:
                self._updated.add(tile // PER_TRANSFER)
        return mode

    def _look_up(self, tile):
        """The line of a tile's mode comes on chip."""
        if self._modes:
            for move in self._modes.look_up(tile):
                self._counts[move.cause, None] += 1

    def moves(self):
        """All of it."""
        return CacheMoves(**self._found, flushes=self._flushes, counts=self._counts)


def _set_of(tiles, columns, sets):
    """By the lowest bits of x and y in turn."""
    y, x = np.divmod(tiles, columns)
    bits = sets.bit_length() - 1
    low = bits + 1 >> 1
    return (x & (1 << low) - 1) | (y & (1 << (bits >> 1)) - 1) << low
