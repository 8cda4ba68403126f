# SPDX-License-Identifier: BSD-2-Clause
"""Time of a texture cache: blocks looked up, and filtered when their lines have arrived."""

from collections import deque

import numpy as np


class CacheClock:
    """Clocks as hardware with a FIFO between lookup and filter spends them.

    A block is looked up each clock, as long as fewer than ``pending`` wait to be filtered; they are
    filtered in order, one a clock, when their lines have arrived. A line that is on its way is not
    requested again.

    Parameters
    ----------
    latency, pending : int
        See :class:`fixfunc.models.texture.cache.texture_cache.CacheShape`.

    Attributes
    ----------
    merges, clocks, waits : int
        See :class:`fixfunc.models.texture.cache.texture_cache.Counters`.
    """

    def __init__(self, latency: int, pending: int) -> None:
        self._latency = latency
        self._filtered = deque([0] * pending)  # when the last blocks were filtered
        self._looked_up = 0  # when the last one was looked up
        self._blocks: dict[int, int] = {}  # when each arrived
        self._lines: dict[int, int] = {}
        self.merges = 0
        self.clocks = 0
        self.waits = 0

    def run(
        self, names: np.ndarray, count: np.ndarray, lines: np.ndarray, requested: np.ndarray
    ) -> None:
        """Spend the time of lookups.

        Parameters
        ----------
        names : ndarray of int64, shape (n,)
            Of the blocks.
        count : ndarray of int64, shape (n,)
            How many of ``lines`` each waits for: those of blocks on chip wait for none.
        lines : ndarray of int64, shape (m,)
        requested : ndarray of bool, shape (m,)
            Which of them are read from memory.
        """
        of_lines = zip(lines.tolist(), requested.tolist(), strict=True)
        for name, waited in zip(names.tolist(), count.tolist(), strict=True):
            now = max(self._looked_up + 1, self._filtered.popleft() + 1)
            self._looked_up = now
            if waited:
                self._blocks[name] = max(self._arrival(*next(of_lines), now) for _ in range(waited))
            arrival = self._blocks.get(name, now)
            done = max(self._filtered[-1] + 1 if self._filtered else 0, arrival, now)
            self._filtered.append(done)
            self.waits += max(arrival - now, 0)
            self.clocks = done

    def _arrival(self, line, is_requested, now):
        """When a line of memory is there."""
        if is_requested:
            self._lines[line] = now + self._latency
            return self._lines[line]
        self.merges += self._lines[line] > now
        return self._lines[line]
