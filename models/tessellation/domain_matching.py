# SPDX-License-Identifier: BSD-2-Clause
"""The domain-matching unit: points of a tessellated patch that are shaded already are not shaded again."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from fixfunc.spec.errors import InputError, Stalled

ONE = 1 << 16


@dataclass
class MatchCounters:
    """What a :class:`DomainMatchingUnit` has seen."""

    points: int = 0
    hits: int = 0
    misses: int = 0
    waves: int = 0  # rows of the vertex buffer taken
    partial_waves: int = 0  # those that a patch's or draw's end left unfinished
    stalls: int = 0

    @property
    def hit_ratio(self) -> float:
        """1 - shaded / all."""
        return self.hits / self.points if self.points else 0.0


class DomainMatchingUnit:
    """Finds domain points among those of the newest waves, and gives every other one a place in the vertex buffer.

    The vertex buffer has as many rows as there may be live waves. They are taken in turn, so that a point's place depends
    on the points alone, and not on when its users release it: that can only stall. A row is free again when all references
    to it have been released and it has left the TagRAM.

    Parameters
    ----------
    rows, lanes : int
        Of the TagRAM: the newest waves, and points of each.
    waves : int
        Most that are live, more than ``rows``.
    references : int
        Most to a wave at a time.
    across : bool
        Waves go on from patch to patch, and tags name the patch; otherwise each patch begins a wave.

    Attributes
    ----------
    counters : MatchCounters

    Raises
    ------
    InputError
        A parameter out of range.

    Source: [dmu].
    """

    def __init__(self, rows: int = 2, lanes: int = 32, waves: int = 64, references: int = 255, across: bool = False) -> None:
        for name, value, least in (("rows", rows, 1), ("lanes", lanes, 1), ("waves", waves, rows + 1), ("references", references, 1)):
            if value < least:
                raise InputError(name, f"be at least {least}", value)
        self._rows, self._lanes, self._most, self._across = rows, lanes, references, across
        self._tags = deque()  # of the newest waves: by point, its dsid
        self._references = np.zeros(waves, np.int64)
        self._held = np.zeros(waves * lanes, np.int64)  # references, by dsid
        self._wave, self._used, self._patch = -1, lanes, 0
        self.counters = MatchCounters()

    @property
    def live(self) -> int:
        """Waves that hold a row of the vertex buffer."""
        newest = {(self._wave - n) % len(self._references) for n in range(len(self._tags))}
        return len(newest | set(np.flatnonzero(self._references).tolist()))

    def start_patch(self) -> None:
        """Points of another patch follow."""
        self._patch += 1
        if not self._across:
            self._close()

    def end_draw(self) -> None:
        """What follows is of another draw."""
        self._patch += 1
        self._close()

    def step(self, point: tuple[int, int]) -> tuple[int, bool]:
        """Take a domain point.

        Parameters
        ----------
        point : (u, v)
            1.16.

        Returns
        -------
        dsid : int
            Its place in the vertex buffer.
        hit : bool
            It is being shaded already.

        Raises
        ------
        Stalled
            A row, or a reference, must be released first. What waits in an unfinished wave is to be shaded now.
        InputError
            A point outside the domain.
        """
        u, v = (int(value) for value in point)
        if not (0 <= u <= ONE and 0 <= v <= ONE):
            raise InputError("domain point", f"lie in 0..{ONE}", (u, v))
        tag = self._patch, u, v
        dsid = next((tags[tag] for tags in self._tags if tag in tags), None)
        hit, wave = dsid is not None, self._wave
        if hit:
            wave = dsid // self._lanes
        elif self._used == self._lanes:
            wave = (self._wave + 1) % len(self._references)
            if self._references[wave]:
                self.counters.stalls += 1
                raise Stalled(f"wave {wave} is in use")
        if self._references[wave] == self._most:
            self.counters.stalls += 1
            raise Stalled(f"wave {wave} has all of its references")
        if not hit:
            dsid = self._take(tag)
        self._references[wave] += 1
        self._held[dsid] += 1
        self.counters.points += 1
        self.counters.hits += hit
        self.counters.misses += not hit
        return dsid, hit

    def release(self, dsid: int) -> None:
        """Give a reference back; :class:`~fixfunc.spec.errors.InputError` if nobody holds one."""
        if not 0 <= dsid < len(self._held) or not self._held[dsid]:
            raise InputError("dsid", "be held by somebody", dsid)
        self._held[dsid] -= 1
        self._references[dsid // self._lanes] -= 1

    def _take(self, tag):
        """The next place of the wave, or the first of the next one."""
        if self._used == self._lanes:
            self._wave, self._used = (self._wave + 1) % len(self._references), 0
            self._tags.append({})
            if len(self._tags) > self._rows:
                self._tags.popleft()
            self.counters.waves += 1
        self._tags[-1][tag] = dsid = self._wave * self._lanes + self._used
        self._used += 1
        return dsid

    def _close(self):
        """The wave takes no more points."""
        self.counters.partial_waves += self._used < self._lanes
        self._used = self._lanes
