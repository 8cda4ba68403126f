# SPDX-License-Identifier: BSD-2-Clause
"""Stations in a row, whose queues have so many places: when each beat leaves each of them."""

import numpy as np


def serve(arrive: np.ndarray, service: np.ndarray, free: float = 0.0) -> np.ndarray:
    """When beats leave a station that takes them in order, one at a time.

    ``leave[i] = max(arrive[i], leave[i - 1]) + service[i]``, all at once: less the clocks of
    service so far, it is the greatest arrival so far.

    Parameters
    ----------
    arrive, service : ndarray of float64, shape (n,)
        Clocks.
    free : float
        When the station is free for the first one.
    """
    if not len(arrive):
        return np.zeros(0)
    done = np.cumsum(service)
    begin = arrive - (done - service)
    begin[0] = max(begin[0], free)
    return done + np.maximum.accumulate(begin)


def chunks(rooms: list[np.ndarray], count: int, most: int) -> list[tuple[int, int]]:
    """Ranges of beats of which none waits for another one of the same range.

    Parameters
    ----------
    rooms : list of ndarray of int64, shape (count,)
        Beats that each waits for, all of them before it; -1 of one that waits for none.
    count : int
    most : int
        Beats of a range.
    """
    latest = np.full(count, -1)
    for room in rooms:
        np.maximum(latest, room, out=latest)
    # As beats are in order, it is enough to know the latest one that any so far waits for.
    out = []
    begin = 0
    while begin < count:
        end = min(begin + most, count)
        waits = np.flatnonzero(latest[begin:end] >= begin)
        end = begin + int(waits[0]) if len(waits) else end
        out.append((begin, end))
        begin = end
    return out


def places(members: np.ndarray, count: int, room: int) -> np.ndarray:
    """The beat that must have left a queue for each to enter it; -1: none.

    Parameters
    ----------
    members : ndarray of int64
        Beats that pass the queue, in order.
    count : int
        All beats.
    room : int
        Places of the queue.
    """
    out = np.full(count, -1)
    out[members[room:]] = members[:-room] if room < len(members) else members[:0]
    return out
