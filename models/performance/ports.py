# SPDX-License-Identifier: BSD-2-Clause
"""A cache of tiles in time: when tiles are on chip, and when memory has those that left."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.performance.cache_moves import NONE, CacheMoves
from fixfunc.models.performance.line import places, serve
from fixfunc.models.performance.params import MachineParams
from fixfunc.spec.state import TileMode

LOOK_UP = 6  # clocks from a request to its commands
FETCH = 10  # from a command to an address at the port
DECODE = 12  # from the last transfer to the tile
EVICT = 14  # from the command that evicts a tile to its code
BURSTS = 4  # that wait behind the rows


class Port:
    """The cache of a plane, its codecs, and its port to memory.

    Parameters
    ----------
    moves : CacheMoves
    params : MachineParams
        Of several rasterizers each brings a port, and a codec, of its own.
    speeds : (float, float)
        Of reads and of writes, beside a channel of their own: below 1 where ports share one.
    seed : int
        Of latencies.
    """

    def __init__(
        self, moves: CacheMoves, params: MachineParams, seed: int, speeds: Sequence[float]
    ) -> None:
        cache, memory = params.cache, params.memory
        ways = speeds if memory.shared else (params.rasterizers,) * 2
        self._speed = dict.fromkeys(("tags", "decoder", "coder"), params.rasterizers)
        self._speed |= {"address": ways[0], "read": ways[0], "write": ways[1]}
        self._moves = moves
        self._cache = cache
        self._memory = memory
        count = len(moves.fill)
        rng = np.random.default_rng(seed)
        least, most = memory.latency
        self._waits = rng.integers(least, most + 1, (2, count + 1)).astype(np.float64)
        self._acknowledged = np.zeros(count)
        evicts = moves.evict != NONE
        # Victims so far, of every use: a tile that left not long ago is still on chip.
        number = np.cumsum(evicts)
        earlier = moves.earlier
        self._kept = (earlier != NONE) & (number - number[earlier] <= cache.victims)
        self._fill_rank = np.cumsum(moves.fill != NONE)
        self._evict_rank = number
        self._fetched = np.zeros(count)
        self._taken = np.zeros(int(self._fill_rank[-1]) if count else 0)
        self._written = np.zeros(int(number[-1]) if count else 0)
        # The fetch that must be over for each to begin.
        self._behind = places(np.flatnonzero(moves.fill != NONE), count, cache.reads)
        differ = int(TileMode.DIFFERENCES_1)
        self._decodes = np.where(moves.fill_mode >= differ, cache.decoder_clocks, 1.0)
        self._codes = np.where(moves.evict_mode >= differ, cache.coder_clocks, 1.0)
        self.busy = {"read": 0.0, "write": 0.0}
        self._free = dict.fromkeys(("tags", "address", "read", "decoder", "coder", "write"), 0.0)
        self._due = 0.0
        self._answered = 0.0  # when memory has all tiles that were written
        self._tables = 0.0  # and all lines of mode tables

    def _serve(self, name, arrive, service):
        service = service / self._speed[name]
        if name in self.busy:
            self.busy[name] += float(service.sum())
        left = serve(arrive, service, self._free[name])
        if len(left):
            self._free[name] = left[-1]
        return left

    def pending(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Uses that each waits for; -1: none.

        Memory must have their write-backs, for it to evict and to fetch; their reads are over.
        """
        return self._moves.again, np.where(self._kept, NONE, self._moves.earlier), self._behind

    def request(self, own: slice, asked: np.ndarray) -> np.ndarray:
        """When the tiles of a range of uses are on chip, that were asked for then."""
        first = own.start
        moves, memory = self._moves, self._memory
        at = asked + LOOK_UP
        for name in ("again", "earlier"):
            other = getattr(moves, name)[own]
            known = (other != NONE) & (other < first)
            if name == "earlier":
                known &= ~self._kept[own]
            at = np.where(known, np.maximum(at, self._acknowledged[other]), at)
        some = np.flatnonzero(moves.fill[own] != NONE)
        behind = self._behind[own]
        at = np.where(behind != NONE, np.maximum(at, self._fetched[behind]), at)
        at = self._serve("tags", at, np.ones(len(at)))
        ready = at + LOOK_UP
        if not len(some):
            return ready
        transfers = moves.fill[own][some]
        # A tile whose write-back is still under way is read on chip.
        earlier = moves.earlier[own][some]
        recalled = self._kept[own][some] & (self._acknowledged[earlier] > at[some])
        reads = (transfers > 0) & ~recalled
        asked_for = at[some] + FETCH
        sent = self._serve("address", asked_for, np.where(reads, memory.address_clocks, 0.0))
        due = sent + np.where(reads, self._waits[0, first + some], 0)
        due[0] = max(due[0], self._due)
        due = np.maximum.accumulate(due)
        self._due = due[-1]
        # So many tiles wait to be decoded; behind them memory waits with its data.
        number = self._fill_rank[own][some] - 1
        known = self._fill_rank[first - 1] if first else 0
        behind = np.minimum(number - self._cache.waiting, known - 1)
        room = np.where(behind >= 0, self._taken[np.maximum(behind, 0)], 0)
        due = np.maximum(due, room)
        # What is not read comes in its turn, and leaves the port free.
        service = np.where(reads, transfers * memory.read_clocks, 0)
        came = self._serve("read", due, service)
        self._fetched[first + some] = came
        ready[some] = self._serve("decoder", came, self._decodes[own][some]) + DECODE
        return ready

    def room(self, own: slice) -> np.ndarray:
        """When there is a row for the tiles that a range of uses evicts.

        Those that are evicted within the range find room; it is short beside the rows.
        """
        first = own.start
        out = np.zeros(own.stop - first)
        some = np.flatnonzero(self._moves.evict[own] != NONE)
        if len(some):
            known = self._evict_rank[first - 1] if first else 0
            behind = self._evict_rank[own][some] - 1 - self._cache.rows - BURSTS
            behind = np.minimum(behind, known - 1)
            out[some] = np.where(behind >= 0, self._written[np.maximum(behind, 0)], 0)
        return out

    def evict(self, own: slice, used: np.ndarray) -> None:
        """A range of uses took their slots then."""
        first = own.start
        some = np.flatnonzero(self._moves.fill[own] != NONE)
        self._taken[self._fill_rank[own][some] - 1] = used[some]
        some = np.flatnonzero(self._moves.evict[own] != NONE)
        if len(some):
            written, answered = self._write(
                used[some],
                self._moves.evict[own][some],
                self._codes[own][some],
                self._waits[1, first + some],
            )
            self._written[self._evict_rank[own][some] - 1] = written
            self._acknowledged[first + some] = answered

    def _write(self, at, transfers, codes, waits):
        coded = self._serve("coder", at + EVICT, codes)
        service = transfers * self._memory.write_clocks
        written = self._serve("write", coded, service)
        due = written + np.where(transfers > 0, waits, 0)
        due[0] = max(due[0], self._answered)
        answered = np.maximum.accumulate(due)
        self._answered = answered[-1]
        return written, answered

    def clear(self, at: float, lines: int) -> float:
        """When a mode table of so many lines is on its way, and memory has the tiles before it."""
        left = self._serve("write", np.full(lines, at), np.full(lines, self._memory.write_clocks))
        self._tables = max(self._tables, left[-1] + self._memory.latency[1])
        return max(self._answered, left[-1])

    def flush(self, beat: int, at: float) -> float:
        """When memory has all that was written, from that clock on."""
        transfers, modes, lines = self._moves.flushes[beat]
        end = written = at
        if len(modes):
            differ = int(TileMode.DIFFERENCES_1)
            codes = np.where(modes >= differ, float(self._cache.coder_clocks), 1.0)
            waits = np.full(len(modes), float(self._memory.latency[1]))
            issued = serve(np.full(len(modes), at), np.ones(len(modes)))
            times, answered = self._write(issued, transfers, codes, waits)
            written, end = times[-1], answered[-1]
        if lines:
            self.clear(written, lines)
        return max(end, self._tables)
