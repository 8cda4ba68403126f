# SPDX-License-Identifier: BSD-2-Clause
"""Topologies: how many primitives a row of vertices has, and where each begins."""

from typing import NamedTuple

import numpy as np

from fixfunc.spec.draw import MOST_POINTS, PATCH, Topology
from fixfunc.spec.errors import InputError


class Rule(NamedTuple):
    """Primitives of a row of vertices without a cut."""

    first: int  # vertices that the first primitive needs
    step: int  # further ones that each other primitive needs; each begins so far behind the last


RULES = {
    Topology.POINT_LIST: Rule(1, 1),
    Topology.LINE_LIST: Rule(2, 2),
    Topology.LINE_STRIP: Rule(2, 1),
    Topology.TRIANGLE_LIST: Rule(3, 3),
    Topology.TRIANGLE_STRIP: Rule(3, 1),
    Topology.TRIANGLE_FAN: Rule(3, 1),
    Topology.LINE_LOOP: Rule(2, 1),  # and one more, back to the first vertex
    Topology.QUAD_LIST: Rule(4, 4),
    Topology.QUAD_STRIP: Rule(4, 2),
    Topology.LINE_LIST_ADJ: Rule(4, 4),
    Topology.LINE_STRIP_ADJ: Rule(4, 1),
    Topology.TRIANGLE_LIST_ADJ: Rule(6, 6),
    Topology.TRIANGLE_STRIP_ADJ: Rule(6, 2),
    Topology.POLYGON: Rule(3, 1),  # the whole row is one primitive
} | {Topology(PATCH + n - 1): Rule(n, n) for n in range(1, MOST_POINTS + 1)}


def check(topology: int) -> Topology:
    """A topology by its number; one that is reserved raises ``InputError``."""
    try:
        return Topology(topology)
    except ValueError:
        raise InputError("topology", "be one of fixfunc.spec.draw.Topology", topology) from None


def counts(topology: Topology, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Primitives of rows of vertices, and the vertices that they need.

    Parameters
    ----------
    topology : Topology
    lengths : ndarray of int64, shape (n,)
        Vertices of each row.

    Returns
    -------
    primitives : ndarray of int64, shape (n,)
        Complete ones: others vanish [fs 8.13].
    vertices : ndarray of int64, shape (n,)
        Those of complete primitives, from the first of each row on.
    """
    first, step = RULES[topology]
    lengths = np.asarray(lengths, np.int64)
    primitives = np.where(lengths < first, 0, (lengths - first) // step + 1)
    vertices = np.where(primitives > 0, first + (primitives - 1) * step, 0)
    if topology == Topology.LINE_LOOP:
        primitives = np.where(primitives > 0, primitives + 1, 0)
    if topology == Topology.POLYGON:
        primitives = np.minimum(primitives, 1)
    return primitives, vertices


def ragged(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of several lengths, one behind the other: the row of each entry, and its place there."""
    row = np.repeat(np.arange(len(lengths)), lengths)
    begin = np.cumsum(lengths) - lengths
    return row, np.arange(len(row)) - begin[row]
