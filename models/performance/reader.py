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
    clocks = params.memory.read_clocks
    for packet in events.packets:
        at = int(packet["beat"])
        if at >= count:
            continue
        opcode, transfers, number = (
            int(packet[name]) for name in ("opcode", "transfers", "count")
        )
        cost = RING_PACKET if opcode in (Opcode.VERTICES, Opcode.PRIMITIVES) else PACKET
        if opcode == Opcode.VERTICES:
            need = written + number - params.queues.slots
            gates = [beat for free, beat in releases if free >= need]
            free = max(0, params.queues.slots + releases[-1][0] - written)
            if need > 0 and gates:
                release[at] = max(release[at], gates[0])
            written += number
            behind[at] += transfers * clocks
        elif opcode == Opcode.RELEASE:
            releases.append((releases[-1][0] + number, at))
        target = behind if release[at] >= 0 else before
        target[at] += cost
    window, returned = _window(beats, params.queues.triangles)
    fences = np.flatnonzero(beats["kind"] == Beat.FENCE)
    flushed = np.full(count, -1)
    later = fences + 1
    flushed[later[later < count]] = fences[later < count]
    return Reading(before, behind, release, window, flushed, returned)


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
    tile = np.where(has, shaded[np.minimum(place, max(len(shaded) - 1, 0))] if len(shaded) else -1, -1)
    own = firsts[some]
    inside = has & (tile < own)
    window[own[inside]] = tile[inside]
    freed = -rows  # triangles before which the last fence of its own has freed all rows
    for number in some[~inside].tolist():
        if number - freed >= rows:
            returned[firsts[number]] = firsts[number] - 1
            freed = number
    return window, returned
