# SPDX-License-Identifier: BSD-2-Clause
"""Stations in a row, against a walk clock by clock."""

import numpy as np
import pytest

from fixfunc.models.performance.line import chunks, places, serve


def walk(arrive, services, rooms):
    """Clock by clock: which beat each station works on; when beats leave each.

    A beat enters a station when it has come, the station is free, and the one ``room`` before it
    has left the station behind: queues hold so many, those that are served there among them.
    """
    count = len(arrive)
    stations = len(services)
    left = np.full((stations, count), -1)
    number = [0] * stations  # the next beat of each
    work = [0] * stations  # clocks that are left of it; 0: it has not begun
    clock = 0
    while left[-1].min() < 0:
        for n in range(stations):
            beat = number[n]
            if beat == count or work[n]:
                continue
            came = arrive[beat] <= clock if n == 0 else 0 <= left[n - 1, beat] <= clock
            behind = beat - rooms[n]
            blocked = n + 1 < stations and behind >= 0 and not 0 <= left[n + 1, behind] <= clock
            if came and not blocked:
                work[n] = services[n][beat]
        clock += 1
        for n in range(stations):
            if work[n]:
                work[n] -= 1
                if not work[n]:
                    left[n, number[n]] = clock
                    number[n] += 1
    return left


def line(arrive, services, rooms):
    """The same by ranges of beats."""
    count = len(arrive)
    left = np.zeros((len(services), count))
    waits = [places(np.arange(count), count, room) for room in rooms[:-1]]
    for begin, end in chunks(waits, count, 16):
        own = slice(begin, end)
        at = arrive[own]
        for n, service in enumerate(services):
            if n + 1 < len(services):
                room = waits[n][own]
                at = np.maximum(at, np.where(room >= 0, left[n + 1][room], 0))
            at = left[n, own] = serve(at, service[own], left[n, begin - 1] if begin else 0)
    return left


@pytest.mark.plan("performance-1")
@pytest.mark.parametrize("seed", range(12))
def test_beats_leave_as_in_a_walk_clock_by_clock(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 120))
    arrive = np.sort(rng.integers(0, 3 * count, count)).astype(float)
    services = [rng.integers(1, (2, 9)[int(rng.integers(2))], count) for _ in range(3)]
    rooms = [int(room) for room in rng.integers(1, 9, 3)]
    made = line(arrive, [service.astype(float) for service in services], rooms)
    assert (made == walk(arrive, services, rooms)).all()


@pytest.mark.plan("performance-1")
def test_a_range_ends_before_a_beat_that_waits_for_one_in_it():
    room = np.array([-1, -1, 0, 2, -1, 1])
    assert list(chunks([room], 6, 16)) == [(0, 2), (2, 3), (3, 6)]
    assert list(chunks([np.full(5, -1)], 5, 2)) == [(0, 2), (2, 4), (4, 5)]
    assert list(chunks([], 0, 2)) == []


@pytest.mark.plan("performance-1")
def test_a_queue_is_left_in_order():
    assert places(np.array([1, 3, 4, 6]), 8, 2).tolist() == [-1, -1, -1, -1, 1, -1, 3, -1]
    assert places(np.array([1]), 3, 2).tolist() == [-1, -1, -1]
