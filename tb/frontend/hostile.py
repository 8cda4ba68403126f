# SPDX-License-Identifier: BSD-2-Clause
"""Hostile command streams: short, each broken at random, with planes and limits anywhere."""

from typing import Any

import numpy as np

from fixfunc.cosim.commands import CommandList
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.spec import commands
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


def cut_short(rng: np.random.Generator, count: int, params: Any, address: int) -> np.ndarray:
    """So many STARTs of any length, whose lists are as long, and soon reach what cannot be read.

    The same transfer ends them all: each begins a little behind the one before, and what comes
    behind its own packets are its triangles.
    """
    size = (streams.PIXELS[params.raster.edge],) * 2
    bases = 1 << 30, 2 << 30, 3 << 30  # clear of lists of any length
    rows = []
    last = address + 5 * 32 * count
    for at in range(address, last, 5 * 32):
        start = np.zeros(1, dtype(START))
        start["address"] = at
        start["transfers"] = transfers = int(rng.integers(1 << 16, 1 << 24))
        start["limit"] = (1 << 32) - 1
        packets = CommandList().target(*bases).state(draw_state(*size))
        packets.clear((0, 0, *size), depth=1, stencil=1, colour=1)
        packets.add(Opcode.TRIANGLES, commands.PACKET, int(rng.integers(1 << 15, transfers - 4)))
        rows += [streams.mark(start, (last - at) // 32 + 1, transfers - 5), packets.transfers]
    return np.concatenate(rows)


def refused(rng: np.random.Generator, count: int, params: Any) -> np.ndarray:
    """STARTs anywhere in the address space, of any length, that end beyond their limit.

    Of what they would read, a STATE packet is first.
    """
    size = (streams.PIXELS[params.raster.edge],) * 2
    state = CommandList().state(draw_state(*size)).transfers
    start = np.zeros(1, dtype(START))
    start["transfers"] = len(state)
    start["address"] = streams.LISTS
    rows = [streams.mark(start), state]
    for _ in range(count):
        start["transfers"] = transfers = int(rng.integers(1, 1 << 24))
        start["address"] = address = int(rng.integers(0, 1 << 27)) * 32
        start["limit"] = rng.integers(0, min(address + 32 * transfers, 1 << 32))
        rows.append(streams.mark(start, 0, transfers))
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
    """Flip bits: most of them of the first transfer, whose fields rules are about.

    Of a texture no addresses are changed: it would be read where draws write.
    """
    is_texture = int(part[0, 0]) & 0xFF == Opcode.TEXTURE
    for _ in range(int(rng.integers(1, 4))):
        row = 0 if rng.random() < 0.5 or is_texture else int(rng.integers(0, len(part)))
        word = 0 if is_texture else int(rng.integers(0, 4))
        part[row, word] ^= np.uint64(1) << np.uint64(rng.integers(0, 64))
