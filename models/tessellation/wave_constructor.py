# SPDX-License-Identifier: BSD-2-Clause
"""The wave constructor: points that are to be shaded, 32 at a time."""

from typing import NamedTuple

from fixfunc.spec.errors import InputError


class Wave(NamedTuple):
    """Points to be shaded together."""

    dsid: int  # of lane 0
    begin: int  # lane of the first
    points: tuple  # (patch, u, v) of each


class WaveConstructor:
    """Packs points that the domain-matching unit has not found into waves.

    Parameters
    ----------
    lanes : int
        Points of a wave.
    """

    def __init__(self, lanes: int = 32) -> None:
        if lanes < 1:
            raise InputError("lanes", "be at least 1", lanes)
        self._lanes, self._begin, self._points = lanes, 0, []

    def push(self, point: tuple[int, int, int], dsid: int) -> list[Wave]:
        """A point, (patch, u, v), and its place.

        Returns
        -------
        list of Wave
            What is to be shaded: the wave, once it is full; before it another one, if the point begins a new one.
        """
        waves = self.flush() if dsid % self._lanes == 0 else []
        if not self._points:
            self._begin = dsid % self._lanes
        self._dsid = dsid - dsid % self._lanes
        self._points.append(point)
        return waves + self.flush() if dsid % self._lanes == self._lanes - 1 else waves

    def flush(self) -> list[Wave]:
        """What waits is to be shaded now: as :meth:`push`. Points that follow may be of the same wave still."""
        waves = [Wave(self._dsid, self._begin, tuple(self._points))] if self._points else []
        self._points = []
        return waves
