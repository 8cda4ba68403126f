# SPDX-License-Identifier: BSD-2-Clause
"""A frame of the top by intervals of clocks: stalls, beats, transfers, and where draws begin."""

from typing import NamedTuple

import numpy as np

from fixfunc.cosim.simulation.events import Events
from fixfunc.spec.counters import PROBES
from fixfunc.spec.state import Kind

_WORDS = {Kind.STATE: "state", Kind.CLEAR: "clear", Kind.FENCE: "fence"}


class Mark(NamedTuple):
    """Something of the command stream that triangle setup is given."""

    clock: int  # since reset: the first of the interval in which it was given
    words: str  # "state", "clear", "fence", "draw" of the first triangle behind one, "status"


class Timeline(NamedTuple):
    """A frame by intervals, from that in which it is started to that of the last status.

    Parameters
    ----------
    start : int
        The first clock of the first interval, since reset.
    interval : int
        Clocks of an interval.
    beats, stalls : dict of ndarray, shape (n,)
        By probe, of :data:`fixfunc.spec.counters.PROBES`: beats that moved, uint64; clocks in which
        one waited, float64: between two samples of a counter they lie evenly.
    moved : dict of ndarray of uint64, shape (n,)
        By ``<port>.read`` and ``<port>.write``: transfers of 32 bytes.
    marks : list of Mark
        In order.
    ports : tuple of str
        The AXI4 ports.
    bursts : ndarray of fixfunc.cosim.simulation.events.BURST
        None, where the run was not asked to keep them.
    """

    start: int
    interval: int
    beats: dict[str, np.ndarray]
    stalls: dict[str, np.ndarray]
    moved: dict[str, np.ndarray]
    marks: list[Mark]
    ports: tuple[str, ...]
    bursts: np.ndarray

    @property
    def edges(self) -> np.ndarray:
        """First clock of each interval since reset, and the end of the last: ndarray of int64."""
        return self.start + np.arange(len(self.beats[PROBES[0]]) + 1) * self.interval


def of(outputs: dict[str, np.ndarray], events: Events) -> Timeline:
    """The timeline of a run of :class:`fixfunc.cosim.reference.sampled_top.Harness`.

    Parameters
    ----------
    outputs : dict of ndarray of uint64
        Packed beats, by port.
    events : Events
    """
    begun = np.flatnonzero(events.streams["i"]["beats"])
    ended = np.flatnonzero(events.streams["o"]["beats"])
    first = begun[0] if len(begun) else 0
    end = ended[-1] + 1 if len(ended) else len(events.streams["o"])
    edges = np.arange(first, end + 1) * events.interval
    waited = {}
    for name, (clocks, values) in stalls(outputs["sampled"]).items():
        # Nothing waits before the START, nor between the last status and the sample behind it.
        within = np.clip(clocks.astype(np.int64), edges[0], edges[-1])
        waited[name] = np.diff(np.interp(edges, within, values))
    shown = {name: "colours" if name == "colours" else f"probe_{name}" for name in PROBES}
    return Timeline(
        int(edges[0]),
        events.interval,
        {name: events.streams[port]["beats"][first:end] for name, port in shown.items()},
        waited,
        {
            f"{port}.{way}": events.streams[f"{port}.{way}"]["beats"][first:end]
            for port in events.ports
            for way in ("read", "write")
        },
        _marks(outputs, events),
        events.ports,
        events.bursts,
    )


def stalls(rows: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What ``sampled`` of the harness says, by probe: clocks, and the stalls until then: uint64.

    The first is the clock 0, before which there are none.
    """
    by_probe = np.concatenate(
        [np.zeros((1, len(PROBES), 2), np.uint64), rows.reshape(-1, len(PROBES), 2)]
    )
    return {name: (by_probe[:, n, 0], by_probe[:, n, 1]) for n, name in enumerate(PROBES)}


def _marks(outputs: dict[str, np.ndarray], events: Events) -> list[Mark]:
    """Of beats between two stages the interval is known in which each moved."""
    kinds = outputs["probe_commands"][:, 0] & np.uint64(3)
    clocks = _clocks(events, "probe_commands")
    begins = (kinds == Kind.WORK) & np.concatenate([[True], kinds[:-1] != Kind.WORK])
    marks = [
        Mark(int(clocks[n]), _WORDS.get(Kind(int(kinds[n])), "draw"))
        for n in np.flatnonzero(begins | (kinds != Kind.WORK))
    ]
    marks += [Mark(int(clock), "status") for clock in _clocks(events, "o")]
    return sorted(marks, key=lambda mark: mark.clock)


def _clocks(events, port):
    """The interval's first clock of each beat of a port."""
    beats = events.streams[port]["beats"]
    return np.repeat(np.arange(len(beats)) * events.interval, beats.astype(np.int64))
