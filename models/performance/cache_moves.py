# SPDX-License-Identifier: BSD-2-Clause
"""Which tiles a cache fetches and writes back, use by use: every byte, of a cache of any shape."""

from collections import Counter, deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.memory.coded_tiles import PER_TRANSFER
from fixfunc.models.memory.tile_tags import ModeCache
from fixfunc.models.performance.events import MODES
from fixfunc.models.performance.params import CacheParams

TRANSFER = 32  # bytes
NONE = -1
READS = "fill", "table_fill"  # causes; all others write
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
        By the beat of each fence: tiles that it writes back, in order; lines of the mode table.
    counts : Counter of (cause, mode)
        Tiles and transfers of the table, as counters of the hardware have them.
    bytes : (int, int)
        That are read, and written.
    """

    fill: np.ndarray
    fill_mode: np.ndarray
    evict: np.ndarray
    evict_mode: np.ndarray
    earlier: np.ndarray
    again: np.ndarray
    flushes: dict
    counts: Counter
    bytes: tuple[int, int]


def cache_moves(
    uses: np.ndarray,
    surfaces: np.ndarray,
    fences: np.ndarray,
    params: CacheParams,
) -> CacheMoves:
    """Follow the uses of a plane.

    Parameters
    ----------
    uses : structured ndarray of fixfunc.models.performance.events.USE
    surfaces : structured ndarray of fixfunc.models.performance.events.SURFACE
    fences : ndarray of int
        Beats at which all that was written goes to memory.
    params : CacheParams
        The oldest way of a set goes.
    """
    cache = _Cache(uses, params)
    begins = np.searchsorted(uses["beat"], fences)
    marks = [(int(row["use"]), int(row["beat"]), row) for row in surfaces]
    marks += [(int(at), int(beat), None) for at, beat in zip(begins, fences, strict=True)]
    marks.sort(key=lambda mark: mark[:2])
    at = 0
    for until, beat, surface in marks:
        if surface is None:
            cache.follow(at, until, beat)
        else:
            cache.follow(at, until)
            cache.clear(surface)
        at = until
    cache.follow(at, len(uses))
    return cache.moves()


class _Cache:
    """A cache of a plane, and its mode table."""

    def __init__(self, uses, params):
        self._uses = uses
        self._sizes = np.zeros(MODES, np.int64)
        self._params = params
        self._found = {
            name: np.full(len(uses), NONE)
            for name in ("fill", "fill_mode", "evict", "evict_mode", "earlier", "again")
        }
        self._flushes = {}
        self._counts = Counter()
        self._bytes = [0, 0]
        self._stored = np.zeros(0, np.int64)  # modes by tile, as memory has them
        self._columns = 1
        self._modes = None

    def clear(self, surface):
        """All of a target is cleared."""
        self._stored = np.zeros(int(surface["tiles"]), np.int64)
        self._columns = int(surface["columns"])
        self._sizes = surface["sizes"].astype(np.int64)
        lines = -(-int(surface["tiles"]) // PER_TRANSFER)
        self._count_lines("clear", lines)
        self._modes = ModeCache(self._params.table_lines)
        self._modes.clear()

    def follow(self, first, end, fence=None):
        """Uses of a range, before which nothing was on chip; a fence behind them flushes."""
        rows = self._uses[first:end]
        stays = _stays(rows, self._columns, self._params) if len(rows) else _NO_STAYS
        stays = stays._replace(
            use=first + stays.use, leaves=np.where(stays.leaves == NONE, NONE, first + stays.leaves)
        )
        dirty = stays.flags & DIRTY > 0
        # The last stay before each of the same tile that wrote: what memory holds is its mode.
        wrote = np.maximum.accumulate(np.where(dirty, np.arange(len(dirty)), NONE))
        before = np.append(NONE, wrote[:-1])[: len(wrote)]
        before = np.where((before != NONE) & (stays.tile[before] == stays.tile), before, NONE)
        held = np.where(before == NONE, self._stored[stays.tile], stays.mode[before])
        back = np.where(before == NONE, NONE, stays.leaves[before])
        self._put("fill", stays.use, stays.needed, held, back)
        left = dirty & (stays.leaves != NONE)
        self._put("evict", stays.leaves, left, stays.mode, back)
        self._look_up(stays, held)
        self._stored[stays.tile[dirty]] = stays.mode[dirty]  # of several the last counts
        if fence is not None:
            rest = np.flatnonzero(dirty & ~left)
            rest = rest[np.lexsort((stays.use[rest], stays.set[rest]))]
            modes = stays.mode[rest]
            self._count("write_back", modes)
            lines = len(self._modes.flush()) if self._modes else 0
            self._count_lines("table_write_back", lines)
            self._flushes[fence] = self._sizes[modes] // TRANSFER, modes, lines

    def _put(self, name, uses, some, modes, back):
        """Tiles that are fetched, or written back, by some stays."""
        uses, modes = uses[some], modes[some]
        self._found[name][uses] = self._sizes[modes] // TRANSFER
        self._found[f"{name}_mode"][uses] = modes
        self._found["earlier" if name == "fill" else "again"][uses] = back[some]
        self._count("fill" if name == "fill" else "write_back", modes)

    def _count(self, cause, modes):
        for mode, count in enumerate(np.bincount(modes, minlength=1)):
            if count:
                self._counts[cause, mode] += int(count)
                self._bytes[cause not in READS] += int(count * self._sizes[mode])

    def _count_lines(self, cause, count):
        """Transfers of the mode table."""
        self._counts[cause, None] += count
        self._bytes[cause not in READS] += count * TRANSFER

    def _look_up(self, stays, held):
        """Lines of the mode table, in the order of misses: of victims, then of what is fetched."""
        lines = stays.tile // PER_TRANSFER
        changed = (stays.flags & DIRTY > 0) & (stays.mode != held)
        if len(self._stored) <= self._params.table_lines * PER_TRANSFER:
            for line in np.unique(lines[changed]).tolist():
                self._touch(line * PER_TRANSFER, True)
            return
        leaves = np.where(stays.leaves == NONE, len(self._uses) + stays.set, stays.leaves)
        evicted = np.flatnonzero(stays.flags & MAY_BE_DIRTY)
        fetched = np.flatnonzero(stays.needed)
        order = np.lexsort(
            (
                np.append(np.zeros(len(evicted)), np.ones(len(fetched))),
                np.append(leaves[evicted], stays.use[fetched]),
            )
        )
        tiles = np.append(stays.tile[evicted], stays.tile[fetched])[order].tolist()
        updates = np.append(changed[evicted], np.zeros(len(fetched), bool))[order].tolist()
        for tile, update in zip(tiles, updates, strict=True):
            self._touch(tile, update)

    def _touch(self, tile, update):
        for move in self._modes.look_up(tile):
            self._count_lines(move.cause, 1)
        if update:
            self._modes.update(tile)

    def moves(self):
        """All of it."""
        counts = Counter({kind: count for kind, count in self._counts.items() if count})
        return CacheMoves(
            **self._found, flushes=self._flushes, counts=counts, bytes=tuple(self._bytes)
        )


class _Stays(NamedTuple):
    """Stays of tiles on chip, each from a miss on: by tile, then in order."""

    tile: np.ndarray
    set: np.ndarray
    use: np.ndarray  # the miss
    leaves: np.ndarray  # the use that takes its place; -1: none does
    needed: np.ndarray  # the tile is fetched
    flags: np.ndarray
    mode: np.ndarray  # of the tile in the end


_NO_STAYS = _Stays(
    *(np.zeros(0, np.int64) for _ in range(4)),
    np.zeros(0, bool),
    *(np.zeros(0, np.int64) for _ in range(2)),
)


def _stays(rows, columns, params):
    """Stays on chip of the tiles of some uses. The k-th miss of a set ends the stay k - ways."""
    tiles = rows["tile"].astype(np.int64)
    heads = np.flatnonzero(np.append(True, tiles[1:] != tiles[:-1]))
    flags = MAY_BE_DIRTY * rows["may_write"].astype(int) | DIRTY * rows["wrote"].astype(int)
    flags = np.bitwise_or.reduceat(flags, heads)
    modes = rows["mode"][np.append(heads[1:], len(rows)) - 1].astype(np.int64)
    own = tiles[heads]
    sets = _set_of(own, columns, params.sets)
    missed = _misses(own, sets, params)
    order = np.argsort(own, kind="stable")
    begins = np.flatnonzero(missed[order])
    first = order[begins]  # of each stay: its miss, among the heads
    ends = np.append(begins[1:], len(order)) - 1
    by_set = np.lexsort((first, sets[first]))
    leaves = np.full(len(first), NONE)
    later = by_set[params.ways :]
    earlier = by_set[: len(later)]
    same = sets[first[earlier]] == sets[first[later]]
    leaves[earlier[same]] = heads[first[later[same]]]
    return _Stays(
        own[first],
        sets[first],
        heads[first],
        leaves,
        rows["needed"][heads[first]],
        np.bitwise_or.reduceat(flags[order], begins),
        modes[order[ends]],
    )


def _misses(tiles, sets, params):
    """Which uses find their tile not on chip."""
    ways = [deque(maxlen=params.ways) for _ in range(params.sets)]
    missed = np.zeros(len(tiles), bool)
    found = []
    for n, (tile, number) in enumerate(zip(tiles.tolist(), sets.tolist(), strict=True)):
        held = ways[number]
        if tile not in held:
            held.append(tile)
            found.append(n)
    missed[found] = True
    return missed


def _set_of(tiles, columns, sets):
    """By the lowest bits of x and y in turn."""
    y, x = np.divmod(tiles, columns)
    bits = sets.bit_length() - 1
    low = bits + 1 >> 1
    return (x & (1 << low) - 1) | (y & (1 << (bits >> 1)) - 1) << low
