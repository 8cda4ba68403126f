# SPDX-License-Identifier: BSD-2-Clause
"""Primitive assembly: points, lines, triangles and patches from a marked row of vertices."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend import topology as topologies
from fixfunc.spec.draw import PATCH, PrimitiveMark, Topology

ALL_EDGES = 0b111
CORNERS = {2: (0, 1), 4: (1, 2), 3: (0, 1, 2), 6: (0, 2, 4), 1: (0,)}  # by vertices: not adjacent


class Primitives(NamedTuple):
    """Primitives in API order; vertices are places in the row."""

    vertices: np.ndarray  # intp, shape (m, k): with adjacent ones, in the order of [fs 13.10]
    number: np.ndarray  # uint32, shape (m,): PrimitiveID
    edges: np.ndarray  # uint8, shape (m,): bit n: the edge from corner n on is one of the primitive


def assemble(records: np.ndarray, topology: int) -> Primitives:
    """Assemble the vertices of an instance.

    Parameters
    ----------
    records : ndarray of :data:`~fixfunc.models.frontend.input_assembler.RECORD`, shape (n,)
        From the input assembler: complete primitives alone.
    topology : Topology

    Returns
    -------
    Primitives
        The first corner is the leading vertex [fs 8.14]. Every second triangle of a strip is
        turned, so that all have one winding. Quads and polygons become triangles of one number,
        and their diagonals are no edges.

    Raises
    ------
    InputError
        No such topology.

    Source: [fs 8.10, 8.14, 8.15], [ia].
    """
    kind = topologies.check(topology)
    cut = np.flatnonzero(records["cut"])
    begins = np.concatenate([[0], cut[:-1] + 1]) if len(cut) else np.zeros(0, np.int64)
    lengths = cut + 1 - begins
    # A list is cut behind each primitive.
    counts, _ = topologies.counts(kind, lengths)
    row, turn = topologies.ragged(counts)
    marked = records["primitive"] != PrimitiveMark.NORMAL
    numbers = (np.cumsum(marked) - 1).astype(np.uint32)
    begin = begins[row] + turn * topologies.RULES[kind].step
    if kind == Topology.POLYGON:
        return _polygons(begins, lengths, numbers)
    vertices = _vertices(kind, begin, turn, begins[row], lengths[row])
    number = numbers[begin]
    edges = np.full(len(vertices), ALL_EDGES, np.uint8)
    if kind in (Topology.QUAD_LIST, Topology.QUAD_STRIP):
        halves = np.stack([vertices[:, [0, 1, 2]], vertices[:, [0, 2, 3]]], 1)
        vertices = halves.reshape(-1, 3)
        number = np.repeat(number, 2)
        edges = np.tile(np.array([0b011, 0b110], np.uint8), len(number) // 2)
    return Primitives(vertices, number, edges)


def corners(vertices: np.ndarray, topology: int) -> np.ndarray:
    """Primitives without their adjacent vertices, as they are drawn and streamed out [fs 14].

    Parameters
    ----------
    vertices : ndarray, shape (m, k)
    topology : Topology
        Of a patch all vertices stay.
    """
    if topology >= PATCH:
        return vertices
    return vertices[:, CORNERS[vertices.shape[1]]]


def _vertices(kind, begin, turn, first, length):
    """Places of each primitive's vertices, from where it begins; ``turn`` numbers it in its row."""
    odd = turn % 2 == 1
    if kind == Topology.TRIANGLE_STRIP:
        return begin[:, None] + np.where(odd[:, None], (0, 2, 1), (0, 1, 2))
    if kind == Topology.TRIANGLE_FAN:
        return np.stack([begin + 1, begin + 2, first], 1)
    if kind == Topology.LINE_LOOP:
        closes = begin + 1 == first + length
        return np.stack([begin, np.where(closes, first, begin + 1)], 1)
    if kind == Topology.QUAD_STRIP:
        return begin[:, None] + np.array([0, 1, 3, 2])
    if kind == Topology.TRIANGLE_STRIP_ADJ:
        before = np.where(turn == 0, 1, -2)
        behind = np.where(begin + 6 == first + length, 5, 6)
        zero = np.zeros_like(begin)
        even_order = np.stack([zero, before, zero + 2, behind, zero + 4, zero + 3], 1)
        odd_order = np.stack([zero, zero + 3, zero + 4, behind, zero + 2, before], 1)
        return begin[:, None] + np.where(odd[:, None], odd_order, even_order)
    return begin[:, None] + np.arange(topologies.RULES[kind].first)


def _polygons(begins, lengths, numbers):
    """Triangles around the first vertex of each polygon."""
    row, turn = topologies.ragged(np.maximum(lengths - 2, 0))
    first = begins[row]
    vertices = np.stack([first, first + turn + 1, first + turn + 2], 1)
    edges = 0b010 | (turn == 0) | ((turn + 3 == lengths[row]) << 2)
    return Primitives(vertices, numbers[first], edges.astype(np.uint8))
