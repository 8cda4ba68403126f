# SPDX-License-Identifier: BSD-2-Clause
"""Input assembler: the indices of a draw call, where they are cut, and where primitives begin."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend import topology as topologies
from fixfunc.models.payload import dtype, integer
from fixfunc.spec.draw import INDEX, InstanceMark, PrimitiveMark, Topology
from fixfunc.spec.errors import InputError

RECORD = dtype(INDEX)
WORD = (1 << 32) - 1
MOST = 1 << 26  # indices of an instance: what is held at a time
SIZES = {2: 0xFFFF, 4: WORD}  # bytes of an index: the value that cuts


@dataclass(frozen=True)
class Draw:
    """A draw call [fs 8.3-8.6].

    Parameters
    ----------
    count : int
        Vertices, or indices, of an instance.
    instances : int
    start : int
        StartIndexLocation; without indices it has no meaning.
    base : int
        BaseVertexLocation, which may be negative; without indices StartVertexLocation.
    first_instance : int
        StartInstanceLocation.
    indexed : bool

    Raises
    ------
    InputError
        A number that does not fit 32 bits, or more than 2^26 vertices an instance.
    """

    count: int
    instances: int = 1
    start: int = 0
    base: int = 0
    first_instance: int = 0
    indexed: bool = False

    def __post_init__(self):
        integer("count", self.count, 0, MOST)
        for name in ("instances", "start", "first_instance"):
            integer(name, getattr(self, name), 0, WORD)
        integer("base", self.base, -(1 << 31), WORD)


@dataclass(frozen=True)
class IndexBuffer:
    """Where indices lie.

    Parameters
    ----------
    data : ndarray of uint8, shape (bytes,)
    size : int
        Bytes of an index: 2 or 4.
    offset : int
        Bytes to the first index, a multiple of ``size``.

    Raises
    ------
    InputError
        Another size, or an offset that is no multiple of it.
    """

    data: np.ndarray
    size: int = 4
    offset: int = 0

    def __post_init__(self):
        if self.size not in SIZES:
            raise InputError("size", "be 2 or 4", self.size)
        integer("offset", self.offset, 0, WORD)
        if self.offset % self.size:
            raise InputError("offset", f"be a multiple of {self.size}", self.offset)


class Assembled(NamedTuple):
    """An instance of a draw call: all instances have the same indices.

    ``records`` are :data:`~fixfunc.spec.draw.INDEX`; the mark of the instance is that of the first
    one. What was cut, and indices of incomplete primitives, are not among them.
    """

    records: np.ndarray  # RECORD, shape (n,)
    primitives: int
    out_of_bounds: int  # indices that were read from where the buffer is not
    cuts: int
    incomplete: int  # indices that were dropped with incomplete primitives

    def instance(self, number: int) -> np.ndarray:
        """Records of an instance: other than the first do not begin the draw."""
        records = self.records.copy()
        if number and len(records):
            records["instance"][0] = InstanceMark.INSTANCE_START
        return records


def fetch(draw: Draw, buffer: IndexBuffer | None) -> tuple[np.ndarray, np.ndarray]:
    """Indices of an instance.

    Parameters
    ----------
    draw : Draw
    buffer : IndexBuffer, optional
        Without one, every index of an indexed draw reads as 0.

    Returns
    -------
    values : ndarray of uint32, shape (draw.count,)
        Without indices 0, 1, 2: the base is added when vertices are fetched [fs 8.16].
    inside : ndarray of bool, shape (draw.count,)
        False: the address lies outside of the buffer, or before the offset; such an index is 0.

    Source: [fs 8.6.1, 8.19.1-2]. Addresses wrap at 32 bits.
    """
    n = np.arange(draw.count, dtype=np.int64)
    if not draw.indexed:
        return n.astype(np.uint32), np.ones(draw.count, bool)
    if buffer is None:
        return np.zeros(draw.count, np.uint32), np.zeros(draw.count, bool)
    data = np.asarray(buffer.data, np.uint8)
    address = (draw.start * buffer.size + buffer.offset + n * buffer.size) & WORD
    inside = (address >= buffer.offset) & (address + buffer.size <= len(data))
    values = np.zeros(draw.count, np.uint32)
    place = address[inside]
    for byte in range(buffer.size):
        values[inside] |= data[place + byte].astype(np.uint32) << np.uint32(8 * byte)
    return values, inside


def assemble(draw: Draw, topology: int, buffer: IndexBuffer | None = None) -> Assembled:
    """Read indices, cut them, drop incomplete primitives, and mark where primitives begin.

    Parameters
    ----------
    draw : Draw
    topology : Topology
    buffer : IndexBuffer, optional

    Returns
    -------
    Assembled

    Raises
    ------
    InputError
        No such topology.

    Source: [fs 8.10-8.17], [ia]. An index that is all ones in the *format* of the buffer is a cut,
    whatever the topology; an index that was read out of bounds is none. A list counts as strips
    that are cut behind each primitive: its cut marks say so.
    """
    kind = topologies.check(topology)
    values, inside = fetch(draw, buffer)
    is_cut = np.zeros(len(values), bool)
    if draw.indexed and buffer is not None:
        is_cut = inside & (values == SIZES[buffer.size])
    kept = values[~is_cut]

    # Rows between cuts, without those of no vertex.
    row = np.cumsum(is_cut)[~is_cut]
    begins = np.flatnonzero(np.diff(row, prepend=-1))
    lengths = np.diff(begins, append=len(kept))
    primitives, _ = topologies.counts(kind, lengths)
    records, places = marked(lengths, kind)
    records["index"] = kept[places]
    return Assembled(
        records,
        int(primitives.sum()),
        int((~inside).sum()),
        int(is_cut.sum()),
        len(kept) - len(records),
    )


def marked(lengths: np.ndarray, topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Records of rows of vertices, without incomplete primitives.

    Parameters
    ----------
    lengths : ndarray of int64, shape (n,)
        Vertices of each row.
    topology : Topology

    Returns
    -------
    records : ndarray of RECORD, shape (m,)
        Cut behind each row, and of lists behind each primitive; marked where primitives begin.
        Indices are zero.
    places : ndarray of int64, shape (m,)
        The vertex of each.
    """
    primitives, needed = topologies.counts(topology, lengths)
    row, place = topologies.ragged(lengths)
    places = np.flatnonzero(place < needed[row])
    row = row[places]
    place = place[places]
    first, step = topologies.RULES[topology]
    records = np.zeros(len(places), RECORD)
    begun = (place % step == 0) & (place // step < primitives[row])
    records["primitive"] = np.where(begun, PrimitiveMark.PRIMITIVE_START, PrimitiveMark.NORMAL)
    records["cut"] = (place + 1 == needed[row]) | ((step == first) & (place % step == step - 1))
    if len(records):
        records["primitive"][0] = PrimitiveMark.INSTANCE_START
        records["instance"][0] = InstanceMark.DRAW_START
    return records, places
