# SPDX-License-Identifier: BSD-2-Clause
"""Depths, stencil values and colours of a frame in time: their caches, beat by beat."""

import numpy as np

from fixfunc.models.memory.coded_tiles import PER_TRANSFER
from fixfunc.models.performance.cache_moves import TRANSFER, cache_moves
from fixfunc.models.performance.events import PLANES, Beat, FrameEvents
from fixfunc.models.performance.params import MachineParams
from fixfunc.models.performance.ports import Port
from fixfunc.spec.counters import MOVED

NEVER = -1e18  # a clock that all others are behind
FRONT = 8  # clocks from a request to the block that uses the tile
FLUSH = 20  # from the end of flushes to the status


class Planes:
    """Caches of all planes, and their ports.

    Parameters
    ----------
    events : FrameEvents
    params : MachineParams
    loads : dict of float
        By port and way, the part of a shared channel that it moves if it has that alone; empty: it
        has.

    Attributes
    ----------
    moves : dict of CacheMoves
        By plane.
    bytes : dict of (int, int)
        By client of memory: read, and written.
    """

    def __init__(self, events: FrameEvents, params: MachineParams, loads: dict) -> None:
        self._events = events
        fences = np.flatnonzero(events.beats["kind"] == Beat.FENCE)
        self.moves = {
            name: cache_moves(events.uses[name], events.surfaces[name], fences, params.cache)
            for name in PLANES
        }
        self.bytes = {name: moves.bytes for name, moves in self.moves.items()}
        self.bytes["commands"] = TRANSFER * int(events.packets["transfers"].sum()), 0
        self._ports = {
            name: Port(self.moves[name], params, seed, _speeds(name, loads))
            for seed, name in enumerate(PLANES)
        }
        # The first use of each beat.
        numbers = np.arange(len(events.beats) + 1)
        self._first = {name: np.searchsorted(events.uses[name]["beat"], numbers) for name in PLANES}
        self._fence = 0.0  # when a fence has passed the depth test

    @property
    def busy(self) -> dict[str, float]:
        """By port and way (``depth read``), clocks in which it moves transfers."""
        return {
            f"{name} {way}": clocks
            for name, port in self._ports.items()
            for way, clocks in port.busy.items()
        }

    @property
    def counts(self) -> dict[str, int]:
        """Tiles and transfers of the mode table, by the name of the hardware's counter."""
        found = dict.fromkeys(MOVED, 0)
        for name, moves in self.moves.items():
            for (cause, mode), count in moves.counts.items():
                own = "table_clear" if cause == "clear" else cause
                found[f"{name}_{own}" + ("" if mode is None else f"_{mode}")] = count
        return found

    def waits(self) -> list[np.ndarray]:
        """Of each plane, the latest beat whose write-back or read each waits for; -1: none.

        Tiles that one clear asks for do not wait for each other.
        """
        out = []
        for name, port in self._ports.items():
            beat = self._events.uses[name]["beat"]
            latest = np.full(len(self._events.beats), -1)
            for other in port.pending():
                some = np.flatnonzero((other >= 0) & (beat[other] < beat))
                np.maximum.at(latest, beat[some], beat[other[some]])
            out.append(latest)
        return out

    def on_chip(self, name: str, own: slice, asked: np.ndarray) -> np.ndarray | float:
        """When the tile of each beat is on chip, and there is room for the one that leaves."""
        uses = self._uses(name, own)
        if uses.stop == uses.start:
            return NEVER
        out = np.full(own.stop - own.start, NEVER)
        place = self._events.uses[name]["beat"][uses] - own.start
        port = self._ports[name]
        out[place] = np.maximum(port.request(uses, asked[place]), port.room(uses))
        return out

    def evict(self, name: str, own: slice, at: np.ndarray) -> None:
        """Beats of a range used their tiles then."""
        uses = self._uses(name, own)
        if uses.stop > uses.start:
            place = self._events.uses[name]["beat"][uses] - own.start
            self._ports[name].evict(uses, at[place])

    def _uses(self, name, own):
        return slice(int(self._first[name][own.start]), int(self._first[name][own.stop]))

    def clear(self, name: str, beat: int, at: float) -> float:
        """When a clear has been done that begins then."""
        rows = self._events.surfaces[name]
        port = self._ports[name]
        ends = [
            port.clear(at, -(-tiles // PER_TRANSFER)) + FRONT
            for tiles in rows["tiles"][rows["beat"] == beat].tolist()
        ]
        return max(ends, default=at)

    def flush(self, name: str, beat: int, at: float) -> float:
        """When memory has all that was written, of a fence that begins then."""
        return self._ports[name].flush(beat, at + FRONT) + FLUSH


def _speeds(plane, loads):
    """Of reads and of writes of a port on a shared channel.

    It has what all others leave of the channel; where they ask for more than there is, its part of
    that; and a turn as often as others have one.
    """
    total = sum(loads.values())
    turn = 1 / max(sum(load > 0 for load in loads.values()), 1)
    own = [loads.get(f"{plane} {way}", 0) for way in ("read", "write")]
    return tuple(min(1.0, max(1 - total + load, load / max(total, 1), turn)) for load in own)
