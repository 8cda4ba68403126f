# SPDX-License-Identifier: BSD-2-Clause
"""The command reader in time: clocks of packets before each beat, and what a beat waits for."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.performance.events import Beat, FrameEvents
from fixfunc.models.performance.params import MachineParams
from fixfunc.spec.commands import Opcode

PACKET = 3  # clocks of any packet: a header is read, decoded, and its unit begins
RING_PACKET = 7  # of one of the vertex ring, which checks a header of its own, and drains


class Reading(NamedTuple):
    """What the reader does for each beat."""

    before: np.ndarray  # float64, shape (n,): clocks before what it waits for
    behind: np.ndarray  # float64, shape (n,): clocks behind that, its own among them
    transfers: np.ndarray  # float64, shape (n,): of 32 bytes, up to it
    ahead: np.ndarray  # int64, shape (n,): the beat that is read before these are fetched; -1: none
    release: np.ndarray  # int64, shape (n,): the RELEASE whose slots it needs; -1: none
    window: np.ndarray  # int64, shape (n,): the beat that must have been shaded; -1: none
    flushed: np.ndarray  # int64, shape (n,): the FENCE that must have come out; -1: none
    returned: np.ndarray  # int64, shape (n,): the beat that a fence of its own returns behind


def reading(events: FrameEvents, params: MachineParams) -> Reading:
    """Clocks of a frame's packets."""
    beats = events.beats
    count = len(beats)
    before = np.zeros(count)
    behind = np.zeros(count)
    release = np.full(count, -1)
    takes = 1 / params.triangles
    behind[beats["first"]] = takes
    behind[beats["kind"] >= Beat.STATE] = 1
    releases = [(0, -1)]  # slots that are free behind each RELEASE, and its beat
    written = 0
    fetched = np.zeros(count)
    for packet in events.packets:
        at = int(packet["beat"])
        if at >= count:
            continue
        opcode, transfers, number = (int(packet[name]) for name in ("opcode", "transfers", "count"))
        fetched[at] += transfers - (number if opcode == Opcode.TRIANGLES else 0)
        cost = RING_PACKET if opcode in (Opcode.VERTICES, Opcode.PRIMITIVES) else PACKET
        if opcode == Opcode.VERTICES:
            need = written + number - params.queues.slots
            gates = [beat for free, beat in releases if free >= need]
            if need > 0 and gates:
                release[at] = max(release[at], gates[0])
            written += number
            behind[at] += transfers
        elif opcode == Opcode.RELEASE:
            releases.append((releases[-1][0] + number, at))
        target = behind if release[at] >= 0 else before
        target[at] += cost
    window, returned = _window(beats, params.queues.triangles)
    fences = np.flatnonzero(beats["kind"] == Beat.FENCE)
    flushed = np.full(count, -1)
    later = fences + 1
    flushed[later[later < count]] = fences[later < count]
    lists = events.packets[events.packets["opcode"] == Opcode.TRIANGLES]
    fetched += _of_lists(beats, lists)
    so_far = np.cumsum(fetched)
    ahead = np.searchsorted(so_far, so_far - params.queues.ahead, "right") - 1
    return Reading(
        before,
        behind,
        fetched,
        np.minimum(ahead, np.arange(count) - 1),
        release,
        window,
        flushed,
        returned,
    )


def _of_lists(beats, lists):
    """A transfer for each triangle of a list."""
    out = np.zeros(len(beats))
    firsts = np.flatnonzero(beats["first"])
    for packet in lists:
        begin = np.searchsorted(firsts, packet["beat"])
        out[firsts[begin : begin + int(packet["count"])]] = 1
    return out


def _window(beats, rows):
    """The first shaded tile of the oldest triangle that frees a row for each triangle.

    Where no triangle of the rows is ever shaded, a fence goes round behind the last of them.
    """
    count = len(beats)
    window = np.full(count, -1)
    returned = np.full(count, -1)
    is_pipe = beats["built_in"]
    firsts = np.flatnonzero(beats["first"] & is_pipe)
    if not len(firsts):
        return window, returned
    shaded = np.flatnonzero(beats["shaded"] & is_pipe)
    rank = np.searchsorted(firsts, shaded, "right") - 1  # of triangles, of shaded tiles
    oldest = np.arange(len(firsts)) - rows + 1
    some = np.flatnonzero(oldest > 0)
    place = np.searchsorted(rank, oldest[some])  # the first shaded tile of that or a later one
    has = place < len(shaded)
    tile = np.where(
        has, shaded[np.minimum(place, max(len(shaded) - 1, 0))] if len(shaded) else -1, -1
    )
    own = firsts[some]
    inside = has & (tile < own)
    window[own[inside]] = tile[inside]
    freed = -rows  # triangles before which the last fence of its own has freed all rows
    for number in some[~inside].tolist():
        if number - freed >= rows:
            returned[firsts[number]] = firsts[number] - 1
            freed = number
    return window, returned
