# SPDX-License-Identifier: BSD-2-Clause
"""Domain-matching unit: domain points that are shaded already are not shaded again."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from fixfunc.models.payload import dtype
from fixfunc.spec.errors import InputError, Stalled
from fixfunc.spec.points import MATCHED_POINT, MATCHES
from fixfunc.spec.state import PointKind

ONE = 1 << 16


@dataclass
class MatchCounters:
    """Counters of a :class:`DomainMatchingUnit`."""

    points: int = 0
    hits: int = 0
    misses: int = 0
    waves: int = 0  # rows of the vertex buffer that were allocated
    partial_waves: int = 0  # waves that the end of a patch or a draw left unfinished
    stalls: int = 0

    @property
    def hit_ratio(self) -> float:
        """Share of the points that need not be shaded again."""
        return self.hits / self.points if self.points else 0.0


class DomainMatchingUnit:
    """Find domain points in the newest waves, and allocate places for all others.

    The vertex buffer has a row for each live wave. Rows are allocated in turn, so that a point's
    place depends on the points alone. When its users release it may only stall the unit. A row is
    free again when all references to it have been released and it has left the TagRAM.

    Parameters
    ----------
    rows : int
        Newest waves whose points are compared: rows of the TagRAM.
    lanes : int
        Points of a wave.
    waves : int
        Greatest number of live waves, more than ``rows``.
    references : int
        Greatest number of references to a wave.
    across : bool
        Waves go on from patch to patch, and tags name the patch; otherwise each patch begins a
        wave.

    Attributes
    ----------
    counters : MatchCounters
        Counts since the unit was made.

    Raises
    ------
    InputError
        A parameter out of range.

    Source: [dmu].
    """

    def __init__(
        self,
        rows: int = 2,
        lanes: int = 32,
        waves: int = 64,
        references: int = 255,
        across: bool = False,
    ) -> None:
        for name, value, minimum in (
            ("rows", rows, 1),
            ("lanes", lanes, 1),
            ("waves", waves, rows + 1),
            ("references", references, 1),
        ):
            if value < minimum:
                raise InputError(name, f"be at least {minimum}", value)
        self._rows = rows
        self._lanes = lanes
        self._limit = references
        self._across = across
        self._tags = deque()  # dsids by point, of each of the newest waves
        self._wave_references = np.zeros(waves, np.int64)
        self._vertex_references = np.zeros(waves * lanes, np.int64)
        self._wave = -1
        self._lanes_used = lanes
        self._patch = 0
        self.counters = MatchCounters()

    @property
    def live(self) -> int:
        """Waves that hold a row of the vertex buffer."""
        newest = {(self._wave - n) % len(self._wave_references) for n in range(len(self._tags))}
        return len(newest | set(np.flatnonzero(self._wave_references).tolist()))

    def start_patch(self) -> None:
        """Points of another patch follow."""
        self._patch += 1
        if not self._across:
            self._close()

    def end_draw(self) -> None:
        """Points of another draw follow."""
        self._patch += 1
        self._close()

    def step(self, point: tuple[int, int]) -> tuple[int, bool]:
        """Find or allocate the place of a domain point, and acquire a reference to it.

        Parameters
        ----------
        point : (u, v)
            Coordinates, 1.16.

        Returns
        -------
        dsid : int
            Place in the vertex buffer.
        hit : bool
            Whether the point is being shaded already.

        Raises
        ------
        Stalled
            A row, or a reference, must be released first. An unfinished wave must be shaded now.
        InputError
            The point lies outside the domain.
        """
        u, v = (int(value) for value in point)
        if not (0 <= u <= ONE and 0 <= v <= ONE):
            raise InputError("domain point", f"lie in 0..{ONE}", (u, v))
        tag = self._patch, u, v
        dsid = next((tags[tag] for tags in self._tags if tag in tags), None)
        hit = dsid is not None
        wave = self._wave
        if hit:
            wave = dsid // self._lanes
        elif self._lanes_used == self._lanes:
            wave = (self._wave + 1) % len(self._wave_references)
            if self._wave_references[wave]:
                self.counters.stalls += 1
                raise Stalled(f"wave {wave} is in use")
        if self._wave_references[wave] == self._limit:
            self.counters.stalls += 1
            raise Stalled(f"wave {wave} has all of its references")
        if not hit:
            dsid = self._allocate(tag)
        self._wave_references[wave] += 1
        self._vertex_references[dsid] += 1
        self.counters.points += 1
        self.counters.hits += hit
        self.counters.misses += not hit
        return dsid, hit

    def release(self, dsid: int) -> None:
        """Release a reference; :class:`~fixfunc.spec.errors.InputError` if there is none."""
        if not 0 <= dsid < len(self._vertex_references) or not self._vertex_references[dsid]:
            raise InputError("dsid", "be held by somebody", dsid)
        self._vertex_references[dsid] -= 1
        self._wave_references[dsid // self._lanes] -= 1

    def _allocate(self, tag):
        """Allocate the next lane of the newest wave, or the first lane of the next wave."""
        if self._lanes_used == self._lanes:
            self._wave = (self._wave + 1) % len(self._wave_references)
            self._lanes_used = 0
            self._tags.append({})
            if len(self._tags) > self._rows:
                self._tags.popleft()
            self.counters.waves += 1
        self._tags[-1][tag] = dsid = self._wave * self._lanes + self._lanes_used
        self._lanes_used += 1
        return dsid

    def _close(self):
        """Close the newest wave: it gets no more points."""
        self.counters.partial_waves += self._lanes_used < self._lanes
        self._lanes_used = self._lanes


def match_points(
    points: np.ndarray, rows: int, lanes: int, waves: int, across: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Match a stream of domain points; every vertex is released as soon as it has been matched.

    Parameters
    ----------
    points : structured ndarray, shape (n,)
        Fields of :data:`fixfunc.spec.points.DOMAIN_POINT`.
    rows, lanes, waves, across
        Parameters of :class:`DomainMatchingUnit`.

    Returns
    -------
    matched : structured ndarray, shape (n,)
        Fields of :data:`fixfunc.spec.points.MATCHED_POINT`.
    counters : structured ndarray, shape (ends of draws,)
        Fields of :data:`fixfunc.spec.points.MATCHES`, as they are at the end of each draw; stalls
        are 0.
    """
    unit = DomainMatchingUnit(rows, lanes, waves, across=across)
    matched = np.zeros(len(points), dtype(MATCHED_POINT))
    counters = np.zeros(int((points["kind"] == PointKind.END).sum()), dtype(MATCHES))
    for name in points.dtype.names:
        matched[name] = points[name]
    draw = 0
    for n, point in enumerate(points):
        if point["kind"] == PointKind.END:
            unit.end_draw()
            for name in ("points", "hits", "misses", "waves", "partial_waves"):
                counters[name][draw] = getattr(unit.counters, name)
            draw += 1
            continue
        if point["first"]:
            unit.start_patch()
        matched["dsid"][n], matched["hit"][n] = unit.step((point["u"], point["v"]))
        unit.release(int(matched["dsid"][n]))
    return matched, counters
