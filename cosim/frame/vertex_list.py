# SPDX-License-Identifier: BSD-2-Clause
"""Triangles of a draw as packets of the vertex ring: each vertex once, as long as it is held."""

from typing import NamedTuple

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.vertices import write_primitives, write_release, write_vertices
from fixfunc.models.machine.front_half import Part
from fixfunc.spec import commands

ONE = 1 << 24  # of a weight
GROUPS = 16  # of vertices, in all slots


class VertexList:
    """Writes triangles in their order, some dozen vertices at a time.

    Parameters
    ----------
    packets : CommandList
    slots : int
        Of the ring.
    ahead : int
        Groups of vertices for which slots are free: of these all but one are written while
        triangles of groups before them are still drawn. Groups are small, so that triangles follow
        soon behind their vertices, and many, so that memory may be far away.
    """

    def __init__(self, packets: CommandList, slots: int, ahead: int = GROUPS // 2) -> None:
        self._ahead = ahead
        self._packets = packets
        self._slots = slots
        self._most = max(slots // GROUPS, 6)  # new vertices at a time, a group
        self._written = 0  # vertices so far
        self._first = 0  # the first that is held
        self._number = {}  # of vertices that were written, by their first corner

    def write(self, part: Part) -> None:
        """All triangles of a draw, with all attributes of its vertices.

        A depth beyond 127 or -127 raises :class:`~fixfunc.spec.errors.InputError`.
        """
        self._packets.check_depths(part.triangles)
        self._number = {}
        corners = _corners(part)
        cut = (part.weights != np.eye(3, dtype=np.float32)).any((1, 2))
        ends = np.flatnonzero(np.diff(cut)) + 1
        for some in np.split(np.arange(len(cut)), ends):
            if len(some) and cut[some[0]]:
                self._cut(part, some)
            elif len(some):
                self._whole(part, some, corners)

    def _whole(self, part, some, corners):
        """Triangles whose corners are vertices of the draw."""
        numbered = corners.vertex[some]
        at = 0
        while at < len(some):
            keep = self._begin()
            new = []
            start = at
            for triangle in numbered[start:].tolist():
                missing = [v for v in dict.fromkeys(triangle) if self._number.get(v, -1) < keep]
                if len(new) + len(missing) > self._most:
                    break
                for vertex in missing:
                    self._number[vertex] = self._written + len(new)
                    new.append(vertex)
                at += 1
            where = np.array(new, np.intp)
            self._vertices(corners.places[where], corners.attributes[where])
            find = np.vectorize(self._number.__getitem__, otypes=[np.int64])
            self._primitives(find(numbered[start:at]), part)

    def _cut(self, part, some):
        """Triangles that were cut: their own corners, and those of their primitives."""
        step = self._most // 6
        for at in range(0, len(some), step):
            own = some[at : at + step]
            self._begin()
            numbers = self._written + np.arange(6 * len(own)).reshape(2, len(own), 3)
            weights = np.zeros(3 * len(own), codec.wide(commands.VERTEX_WEIGHTS))
            # Weights are multiples of 2^-24.
            shares = np.rint(part.weights[own].astype(np.float64) * ONE).astype(np.int64)
            weights["u"], weights["v"] = shares[..., 1].ravel(), shares[..., 2].ravel()
            self._vertices(_places(part, own).ravel(), weights=weights)
            nowhere = np.zeros(3 * len(own), codec.wide(commands.VERTEX_PLACE))
            self._vertices(nowhere, part.vertices.attributes[part.slots[own].ravel()])
            self._primitives(numbers.swapaxes(0, 1), part)

    def _begin(self):
        """Slots are made free; returns the first vertex that stays."""
        room = min(self._ahead * self._most, self._slots)
        keep = max(self._first, self._written + room - self._slots)
        if keep > self._first:
            self._packets.append(write_release(keep - self._first))
            self._first = keep
        return keep

    def _vertices(self, places, attributes=None, weights=None):
        if len(places):
            self._packets.append(write_vertices(places, attributes, weights))
            self._written += len(places)

    def _primitives(self, numbers, part):
        self._packets.append(
            write_primitives(numbers % self._slots, part.vertices.attributes.shape[1])
        )


class _Corners(NamedTuple):
    """Corners of all triangles, one behind the other."""

    places: np.ndarray  # structured, shape (3 n,)
    attributes: np.ndarray  # float32, shape (3 n, attributes, 4)
    vertex: np.ndarray  # intp, shape (n, 3): the first corner that is the same vertex


def _corners(part):
    """A vertex that was shaded more than once is one: its place and attributes are the same."""
    places = _places(part, np.arange(len(part.triangles))).ravel()
    attributes = part.vertices.attributes[part.slots.ravel()]
    rows = [np.ascontiguousarray(values).view(np.uint8) for values in (places, attributes)]
    rows = np.concatenate([row.reshape(len(places), -1) for row in rows], 1)
    _, first, same = np.unique(
        rows.view(f"V{rows.shape[1]}").ravel(), return_index=True, return_inverse=True
    )
    return _Corners(places, attributes, first[same].reshape(-1, 3))


def _places(part, triangles):
    """Where corners of triangles lie: shape (n, 3)."""
    out = np.zeros((len(triangles), 3), codec.wide(commands.VERTEX_PLACE))
    for k in range(3):
        for name in "xyz":
            out[name][:, k] = part.triangles[f"{name}{k}"][triangles]
    out["rhw"] = np.ascontiguousarray(part.rhw[triangles], np.float32).view(np.uint32)
    return out
