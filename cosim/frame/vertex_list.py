# SPDX-License-Identifier: BSD-2-Clause
"""Triangles of a draw as packets of the vertex ring: each vertex once, as long as it is held."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.vertices import write_primitives, write_release, write_vertices
from fixfunc.models.machine.front_half import Part
from fixfunc.spec import commands

ONE = 1 << 24  # of a weight


class VertexList:
    """Writes triangles in their order, some hundred vertices at a time.

    Parameters
    ----------
    packets : CommandList
    slots : int
        Of the ring.
    ahead : int
        Groups of vertices for which slots are free. With 2 a group is written while triangles of
        the one before it are still drawn.
    """

    def __init__(self, packets: CommandList, slots: int, ahead: int = 2) -> None:
        self._ahead = ahead
        self._packets = packets
        self._slots = slots
        # New vertices at a time, a group.
        self._most = max(slots // 4, 6)
        self._written = 0  # vertices so far
        self._first = 0  # the first that is held
        self._number = {}  # of vertices that were written: by theirs in the draw

    def write(self, part: Part) -> None:
        """All triangles of a draw, with all attributes of its vertices.

        A depth beyond 127 or -127 raises :class:`~fixfunc.spec.errors.InputError`.
        """
        self._packets.check_depths(part.triangles)
        self._number = {}
        cut = (part.weights != np.eye(3, dtype=np.float32)).any((1, 2))
        ends = np.flatnonzero(np.diff(cut)) + 1
        for some in np.split(np.arange(len(cut)), ends):
            if len(some):
                (self._cut if cut[some[0]] else self._whole)(part, some)

    def _whole(self, part, some):
        """Triangles whose corners are vertices of the draw."""
        at = 0
        while at < len(some):
            keep = self._begin()
            new = []
            start = at
            for corners in part.slots[some[start:]].tolist():
                missing = [v for v in dict.fromkeys(corners) if self._number.get(v, -1) < keep]
                if len(new) + len(missing) > self._most:
                    break
                for vertex in missing:
                    self._number[vertex] = self._written + len(new)
                    new.append(vertex)
                at += 1
            own = some[start:at]
            corners = part.slots[own]
            vertices, first = np.unique(corners.ravel(), return_index=True)
            place = dict(zip(vertices.tolist(), first.tolist(), strict=True))
            where = np.array([place[v] for v in new], np.intp)
            places = _places(part, own).ravel()[where]
            self._vertices(places, part.vertices.attributes[np.array(new, np.intp)])
            numbers = np.vectorize(self._number.__getitem__, otypes=[np.int64])(corners)
            self._primitives(numbers, part)

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


def _places(part, triangles):
    """Where corners of triangles lie: shape (n, 3)."""
    out = np.zeros((len(triangles), 3), codec.wide(commands.VERTEX_PLACE))
    for k in range(3):
        for name in "xyz":
            out[name][:, k] = part.triangles[f"{name}{k}"][triangles]
    out["rhw"] = np.ascontiguousarray(part.rhw[triangles], np.float32).view(np.uint32)
    return out
