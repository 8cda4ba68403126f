# SPDX-License-Identifier: BSD-2-Clause
"""Wave constructor: points that are to be shaded, packed into waves."""

from typing import NamedTuple

from fixfunc.spec.errors import InputError


class Wave(NamedTuple):
    """Points to be shaded together."""

    dsid: int  # place of lane 0 in the vertex buffer
    begin: int  # lane of the first point
    points: tuple  # (patch, u, v) of each point


class WaveConstructor:
    """Pack points that missed in the domain-matching unit into waves.

    Parameters
    ----------
    lanes : int
        Points of a wave.
    """

    def __init__(self, lanes: int = 32) -> None:
        if lanes < 1:
            raise InputError("lanes", "be at least 1", lanes)
        self._lanes = lanes
        self._begin = 0
        self._points = []

    def push(self, point: tuple[int, int, int], dsid: int) -> list[Wave]:
        """Add a point, (patch, u, v), at its place.

        Returns
        -------
        list of Wave
            Waves to be shaded: the previous one, if the point begins another; the point's own, if
            it is full.
        """
        waves = self.flush() if dsid % self._lanes == 0 else []
        if not self._points:
            self._begin = dsid % self._lanes
        self._dsid = dsid - dsid % self._lanes
        self._points.append(point)
        return waves + self.flush() if dsid % self._lanes == self._lanes - 1 else waves

    def flush(self) -> list[Wave]:
        """Finish the pending wave early.

        Points that follow may belong to the same wave.

        Returns
        -------
        list of Wave
            The pending points, if there are any.
        """
        waves = [Wave(self._dsid, self._begin, tuple(self._points))] if self._points else []
        self._points = []
        return waves
