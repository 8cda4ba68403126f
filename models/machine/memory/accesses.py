# SPDX-License-Identifier: BSD-2-Clause
"""What memory a piece of work may touch, by client, before it does."""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.command_processor import Work
from fixfunc.models.frontend.state.pieces import piece, table
from fixfunc.models.memory.layout import texture_at
from fixfunc.spec.descriptors import (
    BINDING,
    CONSTANTS,
    STATE,
    STREAM_BUFFER,
    TARGETS,
    TOTALS,
    VERTEX_BUFFER,
    VIEW,
    BindingKind,
    Dimension,
)
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import TRANSFER, RingOp, StateKind

WORD = 4  # bytes
DRAWS = RingOp.DRAW, RingOp.DRAW_INDIRECT, RingOp.DRAW_AUTO
DRAW_WORDS = {True: 5, False: 4}  # of an indirect draw, with indices or without


class Client(IntEnum):
    """Who of the machine reads and writes memory."""

    COMMANDS = 0  # the command processor: packets, tables of state, queries
    INPUT = 1  # indices and vertices
    SHADERS = 2  # constants, buffers, textures, unordered access
    STREAM_OUTPUT = 3
    COLOUR = 4
    DEPTH = 5
    TRANSFERS = 6  # clears, copies, resolves, levels
    DISPLAY = 7
    DMA = 8  # no part of the machine


class Access(NamedTuple):
    """Bytes that a client is going to read, or to read and write."""

    client: Client
    address: int
    size: int
    write: bool


def of_work(memory: np.ndarray, work: Work, pieces: Sequence[bytes]) -> Iterator[Access]:
    """Accesses of a piece of work, in order.

    A resource counts as a whole, wherever the work reads of it; a target counts as written. An
    access of a table is told before the table is read.

    Parameters
    ----------
    memory : ndarray of uint8
    work : Work
    pieces : sequence of bytes
        State of the work, by :class:`fixfunc.spec.ring.StateKind`.

    Raises
    ------
    InputError
        A command stream: the hardware that executes it has no MMU. A table or a view beyond memory.
    """
    if work.op == RingOp.LIST:
        raise InputError("command stream", "be executed where there is no MMU", "behind one")
    fields = work.packet
    if work.op in DRAWS:
        if work.op == RingOp.DRAW_INDIRECT:
            size = WORD * DRAW_WORDS[bool(fields["indexed"])]
            yield Access(Client.COMMANDS, int(fields["address"]), size, False)
        yield from _draw(memory, _State(memory, pieces))
    elif work.op in (RingOp.DISPATCH, RingOp.DISPATCH_INDIRECT):
        if work.op == RingOp.DISPATCH_INDIRECT:
            yield Access(Client.COMMANDS, int(fields["address"]), 3 * WORD, False)
        yield from _bindings(memory, _State(memory, pieces))
    elif work.op == RingOp.COPY_BYTES:
        size = int(fields["size"])
        yield Access(Client.TRANSFERS, int(fields["source"]), size, False)
        yield Access(Client.TRANSFERS, int(fields["target"]), size, True)
    elif work.op in (RingOp.QUERY, RingOp.PREDICATE):
        yield from _totals(work.op, fields)
    else:
        client = Client.DISPLAY if work.op == RingOp.PRESENT else Client.TRANSFERS
        *sources, target = (piece(data, VIEW) for data in work.more)
        for source in sources:
            yield _view(memory, client, source, False)
        yield _view(memory, client, target, work.op != RingOp.PRESENT)


class _State:
    """Pieces of state, and the tables that they name."""

    def __init__(self, memory, pieces):
        self.memory = memory
        self.pieces = {kind: piece(pieces[kind], STATE[kind]) for kind in StateKind}

    def table(self, kind, count, fields, address="address"):
        """A table's own access, and a function that reads it."""
        begin = int(self.pieces[kind][address])
        access = Access(Client.COMMANDS, begin, int(count) * TRANSFER, False)
        return access, lambda: table(self.memory, begin, count, fields)


def _draw(memory, state):
    """What a draw's fixed functions and shaders touch."""
    inputs = state.pieces[StateKind.INPUT]
    access, _ = state.table(StateKind.INPUT, inputs["elements"], VIEW, "elements_address")
    yield access
    access, rows = state.table(StateKind.INPUT, inputs["buffers"], VERTEX_BUFFER, "buffers_address")
    yield access
    for row in rows():
        if row["bound"]:
            yield Access(Client.INPUT, int(row["address"]), int(row["size"]), False)
            if row["filled_address"]:
                yield Access(Client.INPUT, int(row["filled_address"]), WORD, False)
    if inputs["index_bytes"]:
        begin, size = (int(inputs[name]) for name in ("index_address", "index_size"))
        yield Access(Client.INPUT, begin, size, False)
    count = state.pieces[StateKind.VIEWPORTS]["count"]
    yield state.table(StateKind.VIEWPORTS, count, VIEW)[0]
    yield state.table(StateKind.BLEND, TARGETS, VIEW)[0]
    count = state.pieces[StateKind.STREAM_OUTPUT]["count"]
    access, rows = state.table(StateKind.STREAM_OUTPUT, count, STREAM_BUFFER)
    yield access
    for row in rows():
        if row["bound"]:
            yield Access(Client.STREAM_OUTPUT, int(row["address"]), int(row["size"]), True)
            yield Access(Client.STREAM_OUTPUT, int(row["filled_address"]), WORD, True)
    yield from _bindings(memory, state)
    surfaces = state.pieces[StateKind.TARGETS]
    colours = int(surfaces["colours"])
    access, rows = state.table(StateKind.TARGETS, colours + surfaces["has_depth"], VIEW)
    yield access
    for number, view in enumerate(rows()):
        if view["form"]:
            yield _view(memory, Client.COLOUR if number < colours else Client.DEPTH, view, True)


def _bindings(memory, state):
    """What shaders touch."""
    count = state.pieces[StateKind.BINDINGS]["count"]
    access, rows = state.table(StateKind.BINDINGS, count, BINDING)
    yield access
    data = rows()
    begin = access.address
    for number in range(0, len(data), 2):
        head = data[number]
        at = begin + (number + 1) * TRANSFER
        octets = memory[at : at + TRANSFER].tobytes()
        if head["kind"] == BindingKind.CONSTANTS:
            record = piece(octets, CONSTANTS)
            yield Access(Client.SHADERS, int(record["address"]), int(record["size"]), False)
        elif head["kind"] in (BindingKind.RESOURCE, BindingKind.UNORDERED):
            is_written = bool(head["kind"] == BindingKind.UNORDERED)
            yield _view(memory, Client.SHADERS, piece(octets, VIEW), is_written)
            if head["flag"]:
                yield Access(Client.SHADERS, int(head["counter_address"]), WORD, True)


def _totals(op, fields):
    """Records of queries that are written, or that decide about work."""
    size = 8 * len(TOTALS)
    if op == RingOp.QUERY:
        yield Access(Client.COMMANDS, int(fields["address"]), size, True)
    elif fields["enable"]:
        for name in ("begin", "end"):
            yield Access(Client.COMMANDS, int(fields[name]), size, False)


def _view(memory, client, view, write):
    """All of what a view is of; of a buffer what it shows."""
    begin = int(view["address"])
    if view["dimension"] == Dimension.BUFFER:
        return Access(client, begin + int(view["first"]), int(view["size"]), write)
    layout, _ = texture_at(memory, view)
    return Access(client, begin, layout.bytes, write)
