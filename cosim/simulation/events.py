# SPDX-License-Identifier: BSD-2-Clause
"""What a run of the volume tier keeps by clocks: beats and stalls of streams, bursts of ports."""

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fixfunc.spec.errors import InputError

INTERVAL = 64  # clocks of an interval, at first
BURSTS = 1 << 21  # that are kept by default, at most: 80 bytes each
MOVES = np.dtype([("beats", "u8"), ("stalls", "u8")])
BURST = np.dtype(
    [
        ("port", "u8"),  # place in Events.ports
        ("write", "u8"),  # 0 reads, 1 writes
        ("address", "u8"),  # bytes
        ("transfers", "u8"),  # of 32 bytes
        ("id", "u8"),
        # Clocks since reset, from 0 on, in which a channel moved:
        ("addressed", "u8"),  # the address
        ("first", "u8"),  # the first transfer of data, which of a write may come first of all
        ("last", "u8"),  # the last
        ("due", "u8"),  # the first in which memory would respond
        ("answered", "u8"),  # the response: of a read its last transfer
    ]
)


class Keep(NamedTuple):
    """What a run is asked to keep.

    Parameters
    ----------
    interval : int
        Clocks of an interval, 1 or more. It doubles whenever a run has 1024 of them, so that 512 or
        more are left of a long run.
    bursts : int
        Most bursts of all ports together; 0 keeps none, and counts none.
    """

    interval: int = INTERVAL
    bursts: int = 0


class Events(NamedTuple):
    """What a run has kept.

    Parameters
    ----------
    interval : int
        Clocks of an interval; the last one may have ended early.
    streams : dict of ndarray of :data:`MOVES`, one a interval
        By port: clocks in which a beat moved, and in which one waited. Of an AXI4 port
        ``<port>.read`` and ``<port>.write``, whose beats are transfers of 32 bytes.
    ports : tuple of str
        The AXI4 ports.
    bursts : ndarray of :data:`BURST`
        As their addresses were taken. A clock that never came is 0.
    """

    interval: int
    streams: dict[str, np.ndarray]
    ports: tuple[str, ...]
    bursts: np.ndarray


def ask(library: ctypes.CDLL, keep: Keep | None) -> None:
    """Tell a library what its next run keeps: of None nothing."""
    if keep and keep.interval < 1:
        raise InputError("interval", "be at least 1 clock", keep.interval)
    asked = keep or Keep(0)
    library.sim_keep(ctypes.c_uint64(asked.interval), ctypes.c_uint64(asked.bursts))


def told(library: ctypes.CDLL, streams: Sequence[str], ports: Sequence[str]) -> Events:
    """What the last run of a library has kept, of streams and AXI4 ports by name."""
    names = [*streams, *(f"{port}.{way}" for port in ports for way in ("read", "write"))]
    rows = ctypes.c_void_p()
    interval = ctypes.c_uint64()
    library.sim_moves.restype = library.sim_bursts.restype = ctypes.c_uint64
    count = library.sim_moves(ctypes.byref(rows), ctypes.byref(interval))
    moves = _copied(rows, count * len(names), MOVES).reshape(-1, len(names))
    count = library.sim_bursts(ctypes.byref(rows))
    return Events(
        interval.value,
        {name: np.ascontiguousarray(moves[:, n]) for n, name in enumerate(names)},
        tuple(ports),
        _copied(rows, count, BURST),
    )


def asked(bursts: np.ndarray) -> np.ndarray:
    """Clocks in which memory is asked: for a write when its last transfer was taken, too."""
    late = np.maximum(bursts["addressed"], bursts["last"])
    return np.where(bursts["write"], late, bursts["addressed"])


def replay(library: ctypes.CDLL, bursts: np.ndarray, shared: bool) -> np.ndarray:
    """When channels of DRAM answer bursts of :data:`BURST`, of each port or shared: clocks."""
    clocks = asked(bursts)
    order = np.lexsort((bursts["write"], bursts["port"], clocks))
    names = "port", "write", "address", "transfers"
    rows = np.stack([*(bursts[name] for name in names), clocks], 1)[order]
    rows = np.ascontiguousarray(rows, np.uint64)
    answers = np.zeros(len(bursts), np.uint64)
    library.sim_replay(
        ctypes.c_void_p(rows.ctypes.data),
        ctypes.c_uint64(len(rows)),
        ctypes.c_uint64(2 if shared else 1),
        ctypes.c_void_p(answers.ctypes.data),
    )
    out = np.zeros_like(answers)
    out[order] = answers
    return out


def _copied(rows, count, kind):
    """Records that lie in the library's memory."""
    if not count:
        return np.zeros(0, kind)
    size = count * kind.itemsize
    return np.frombuffer((ctypes.c_uint8 * size).from_address(rows.value), kind).copy()
