# SPDX-License-Identifier: BSD-2-Clause
"""Vertex cache: which vertices are shaded once for several primitives."""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

BATCH = 32  # unique vertices of a batch
REUSES = ("batch", "fifo")
WINDOW = 64  # primitives looked at ahead, to begin with


class Reused(NamedTuple):
    """Vertices to be shaded, and the place of every corner among them."""

    vertices: np.ndarray  # intp, shape (m,): places in the row of vertices, in order of shading
    slots: np.ndarray  # intp, shape (p, k): for every corner, a place in ``vertices``
    batch: np.ndarray  # intp, shape (m,): of every vertex to be shaded, its batch
    primitive_batch: np.ndarray  # intp, shape (p,): of every primitive

    @property
    def hit_rate(self) -> float:
        """Share of corners whose vertex had been shaded for another one."""
        return 1 - len(self.vertices) / max(self.slots.size, 1)


def reuse(
    keys: np.ndarray, primitives: np.ndarray, how: str = "batch", size: int = BATCH
) -> Reused:
    """Shade each vertex once as long as it is known.

    Parameters
    ----------
    keys : ndarray of integer, shape (n,)
        Of each vertex of the row: equal ones are the same vertex.
    primitives : ndarray of intp, shape (p, k)
        Places in the row; adjacent vertices count.
    how : "batch" or "fifo"
        A batch takes primitives as long as its vertices are no more than ``size`` different ones;
        the next one knows nothing of them [trip 3]. A FIFO knows the last ``size`` vertices that
        were shaded; a wave of ``BATCH`` of them is its batch.
    size : int
        1..1024; a primitive's vertices must fit.

    Returns
    -------
    Reused

    Raises
    ------
    InputError
        Another way, or a size that no primitive fits.
    """
    if how not in REUSES:
        raise InputError("how", f"be one of {', '.join(REUSES)}", how)
    primitives = np.asarray(primitives, np.intp)
    integer("size", size, max(primitives.shape[1], 1), 1024)
    flat = primitives.ravel()
    _, number = np.unique(np.asarray(keys)[flat], return_inverse=True)
    if how == "fifo":
        return _fifo(flat, number, primitives.shape, size)
    corners = primitives.shape[1]
    previous = _previous(number)
    begins = _batches(previous, corners, len(primitives), size)
    primitive_batch = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(primitives)))
    batch = np.repeat(primitive_batch, corners)
    is_new = previous < np.repeat(begins[primitive_batch] * corners, corners)
    # A corner's slot is that of the first corner of its batch with the same vertex.
    order = np.lexsort((np.arange(len(flat)), number, batch))
    slot_of_new = np.cumsum(is_new) - 1
    first = np.maximum.accumulate(np.where(is_new[order], np.arange(len(order)), 0))
    slots = np.empty(len(flat), np.intp)
    slots[order] = slot_of_new[order][first]
    return Reused(flat[is_new], slots.reshape(primitives.shape), batch[is_new], primitive_batch)


def _previous(number):
    """For every entry the place of the one before with the same number, or -1."""
    order = np.argsort(number, kind="stable")
    same = np.diff(number[order], prepend=-1) == 0
    previous = np.full(len(number), -1)
    previous[order[same]] = order[np.flatnonzero(same) - 1]
    return previous


def _batches(previous, corners, count, size):
    """The first primitive of every batch."""
    begins = []
    begin = 0
    while begin < count:
        begins.append(begin)
        window = max(WINDOW, size)
        while True:
            end = min(begin + window, count)
            is_new = previous[begin * corners : end * corners] < begin * corners
            unique = np.cumsum(is_new.reshape(-1, corners).sum(1))
            fitting = int(np.searchsorted(unique, size, side="right"))
            if fitting < end - begin or end == count:
                break
            window *= 2
        begin += fitting
    return np.array(begins, np.intp)


def _fifo(flat, number, shape, size):
    """Vertex by vertex: a hit does not move its entry."""
    known = OrderedDict()
    new = []
    slots = np.empty(len(flat), np.intp)
    for place, vertex in enumerate(number.tolist()):
        if vertex not in known:
            if len(known) == size:
                known.popitem(last=False)
            known[vertex] = len(new)
            new.append(place)
        slots[place] = known[vertex]
    slots = slots.reshape(shape)
    batch = np.arange(len(new)) // BATCH
    primitive_batch = slots.max(1, initial=0) // BATCH
    # Primitives leave in order: each with the youngest vertex of those before it.
    primitive_batch = np.maximum.accumulate(primitive_batch)
    return Reused(flat[np.array(new, np.intp)], slots, batch, primitive_batch)
