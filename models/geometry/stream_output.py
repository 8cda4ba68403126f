# SPDX-License-Identifier: BSD-2-Clause
"""Stream output: vertices of complete primitives, appended to buffers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.annotations import check_types
from fixfunc.models.frontend.input_assembler import Draw
from fixfunc.models.frontend.vertex_fetch import MOST_STRIDE
from fixfunc.models.frontend.vertex_stage import Vertices
from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

BUFFERS = 4
COMPONENTS = 128  # of a vertex
WINDOW = 512  # bytes of a vertex in a buffer
GAP = -1  # in place of a register
POSITION = 0  # its register; attribute n has n + 1


class Entry(NamedTuple):
    """Components of a register that go behind one another into a buffer [fs 14.3]."""

    register: int  # POSITION, an attribute's, or GAP: bytes that are left as they are
    first: int = 0  # component
    count: int = 4
    slot: int = 0  # of the buffer


@dataclass(frozen=True)
class Declaration:
    """What of a stream goes where.

    Parameters
    ----------
    entries : sequence of Entry
    strides : mapping of slot to int
        Bytes of a vertex in each buffer that is written.

    Raises
    ------
    InputError
        An entry out of range, a component that appears twice, more than 128 of them, or a stride
        that is less than the vertex, above 2048, or no multiple of 4.
    """

    entries: Sequence[Entry]
    strides: Mapping[int, int]

    def __post_init__(self):
        check_types(self)
        seen = set()
        sizes: dict[int, int] = {}
        for entry in self.entries:
            integer("register", entry.register, GAP, 32)
            integer("count", entry.count, 1, 4)
            integer("first", entry.first, 0, 4 - entry.count)
            integer("slot", entry.slot, 0, BUFFERS - 1)
            sizes[entry.slot] = sizes.get(entry.slot, 0) + 4 * entry.count
            if entry.register == GAP:
                continue
            for component in range(entry.first, entry.first + entry.count):
                if (entry.register, component) in seen:
                    raise InputError("entries", "name a component once", entry)
                seen.add((entry.register, component))
        integer("components", sum(sizes.values()) // 4, 1, COMPONENTS)
        for slot, size in sizes.items():
            stride = self.strides.get(slot, 0)
            integer(f"size of slot {slot}", size, 4, WINDOW)
            integer(f"stride of slot {slot}", stride, size, MOST_STRIDE)
            if stride % 4:
                raise InputError(f"stride of slot {slot}", "be a multiple of 4", stride)


@dataclass
class StreamBuffer:
    """A buffer that is appended to.

    Parameters
    ----------
    data : ndarray of uint8
        Written in place.
    filled : int
        BufferFilledSize, in bytes: where the next vertex goes [fs 14.4].
    """

    data: np.ndarray
    filled: int = 0


class Written(NamedTuple):
    """Statistics of a stream [fs 14.5]."""

    written: int  # primitives
    needed: int  # primitives, had there been room


def write(
    declaration: Declaration,
    buffers: Mapping[int, StreamBuffer],
    vertices: Vertices,
    primitives: np.ndarray,
) -> Written:
    """Append primitives to buffers, as lists.

    Parameters
    ----------
    declaration : Declaration
    buffers : mapping of slot to StreamBuffer
        A slot of the declaration without a buffer counts as full; others are not looked at.
    vertices : Vertices
    primitives : ndarray of intp, shape (m, k)
        Without adjacent vertices.

    Returns
    -------
    Written
        Writing to all buffers stops at the first primitive that does not fit one of them whole.

    Raises
    ------
    InputError
        The vertices have no such register. Nothing has been written then.
    """
    registers = np.concatenate([vertices.position[:, None].view(np.uint32), vertices.attributes], 1)
    used = {entry.slot for entry in declaration.entries}
    for entry in declaration.entries:
        integer("register", entry.register, GAP, registers.shape[1] - 1)
    count, corners = primitives.shape
    room = [
        max(len(buffers[slot].data) - buffers[slot].filled, 0)
        // (corners * declaration.strides[slot])
        if slot in buffers
        else 0
        for slot in used
    ]
    written = min([count, *room])
    rows = registers[primitives[:written].ravel()]
    for slot in used & set(buffers):
        buffer = buffers[slot]
        stride = declaration.strides[slot]
        end = buffer.filled + len(rows) * stride
        out = buffer.data[buffer.filled : end].reshape(len(rows), stride)
        at = 0
        for entry in declaration.entries:
            if entry.slot != slot:
                continue
            if entry.register != GAP:
                words = rows[:, entry.register, entry.first : entry.first + entry.count]
                out[:, at : at + 4 * entry.count] = np.ascontiguousarray(words).view(np.uint8)
            at += 4 * entry.count
        buffer.filled = end
    return Written(written, count)


def draw_auto(buffer: StreamBuffer, stride: int, offset: int = 0) -> Draw:
    """A draw of all that has been written to a buffer [fs 8.9].

    Parameters
    ----------
    buffer : StreamBuffer
        Bound to slot 0.
    stride, offset : int
        Of slot 0.
    """
    integer("stride", stride, 1, MOST_STRIDE)
    return Draw(max(buffer.filled - offset, 0) // stride)
