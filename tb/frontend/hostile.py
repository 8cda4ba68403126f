# SPDX-License-Identifier: BSD-2-Clause
"""Hostile command streams: short, each broken at random, with planes and limits anywhere."""

from typing import Any

import numpy as np

from fixfunc.models.payload import dtype
from fixfunc.spec.commands import ALIGNED, START, Opcode
from fixfunc.spec.payloads import COLOUR_PLANES
from fixfunc.tb.frontend import streams

CLOCKS = 60_000  # from a START to its last status, at most, in the tiny configuration of the top


def requests(rng: np.random.Generator, count: int, params: Any) -> np.ndarray:
    """Rows as of :func:`fixfunc.tb.frontend.streams.requests`, of ``count`` STARTs.

    All of their lists fit behind the planes.
    """
    rows = []
    room = room_of(params)
    for n in range(count):
        packets = streams.stream_of(rng, params)
        start = np.zeros(1, dtype(START))
        start["limit"] = rng.choice(
            (streams.SIZE, streams.LISTS, _below(rng, streams.LISTS)), p=(0.8, 0.1, 0.1)
        )
        for part in packets.parts:
            if not len(part):
                continue
            if int(part[0, 0]) & 0xFF == Opcode.TARGET:
                _place(rng, part, int(start["limit"][0]), streams.LISTS + n * room)
            elif rng.random() < 0.3:
                _flip(rng, part)
        transfers = packets.transfers[: room // 32]
        length = len(transfers)
        if rng.random() < 0.1:
            length = int(rng.integers(0, length + 1))
        start["address"] = streams.LISTS + n * room
        start["transfers"] = length
        if rng.random() < 0.03:
            start["address"] += np.uint32(rng.integers(1, 32))
        rows += [streams.mark(start), transfers[:length]]
    return np.concatenate(rows)


def room_of(params: Any) -> int:
    """Bytes kept for a list. Lists lie behind the planes; those of several planes are longer."""
    return 1 << (10 if params.reader.colour_planes == 1 else 11)


def _below(rng, end):
    """A limit within the planes."""
    return int(end - rng.integers(0, streams.PLANE // ALIGNED) * ALIGNED - rng.integers(0, 2))


def _place(rng, part, limit, address):
    """Bases of the planes, each within a part of memory of its own, or at the limit.

    Some lie on each other, or on the packets: an error. No other reaches the lists.
    """
    bases = [n * streams.PLANE + ALIGNED * int(rng.integers(0, 64)) for n in range(3)]
    if rng.random() < 0.05:
        bases[int(rng.integers(0, 3))] = int(rng.choice((*bases, address // ALIGNED * ALIGNED)))
    if rng.random() < 0.1:
        end = min(limit, streams.LISTS - streams.PLANE // 2)
        bases[2] = max(2 * streams.PLANE, (end // ALIGNED - int(rng.integers(0, 40))) * ALIGNED)
    if rng.random() < 0.05:
        bases[int(rng.integers(0, 3))] += int(rng.integers(1, ALIGNED))
    # Planes of colours lie within the part of theirs.
    bases[2] += (int(part[0, 2]) & COLOUR_PLANES - 1) * streams.PLANE // COLOUR_PLANES
    # The first word holds the depths' base above opcode and length; the second the others'.
    part[0, 0] = np.uint64(int(part[0, 0]) & 0xFFFFFFFF | bases[0] << 32)
    part[0, 1] = np.uint64(bases[1] | bases[2] << 32)


def _flip(rng, part):
    """Flip bits: most of them of the first transfer, whose fields rules are about."""
    for _ in range(int(rng.integers(1, 4))):
        row = 0 if rng.random() < 0.5 else int(rng.integers(0, len(part)))
        word = int(rng.integers(0, 4))
        part[row, word] ^= np.uint64(1) << np.uint64(rng.integers(0, 64))
