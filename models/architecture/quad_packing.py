# SPDX-License-Identifier: BSD-2-Clause
"""Quads in warps: of one triangle, or of several."""

from dataclasses import dataclass

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

PIXELS = 4  # of a quad


@dataclass(frozen=True)
class Packing:
    """Warps that quads have been put into.

    Parameters
    ----------
    warp : ndarray of int64, shape (quads,)
        The warp of each quad, from 0 on.
    covered : ndarray of int64, shape (quads,)
        Covered pixels of each quad; the rest are helpers.
    lanes : int
        Of a warp.
    """

    warp: np.ndarray
    covered: np.ndarray
    lanes: int

    @property
    def warps(self) -> int:
        """How many there are."""
        return int(self.warp[-1]) + 1 if len(self.warp) else 0

    @property
    def filled(self) -> float:
        """Share of the lanes that have a pixel, a helper too; 1 without a warp."""
        return len(self.warp) * PIXELS / (self.warps * self.lanes) if self.warps else 1.0

    @property
    def useful(self) -> float:
        """Share of the lanes that have a covered pixel; 1 without a warp."""
        return int(self.covered.sum()) / (self.warps * self.lanes) if self.warps else 1.0


def pack(
    triangles: np.ndarray, covered: np.ndarray, lanes: int = 32, several: bool = True
) -> Packing:
    """Put quads into warps, in order.

    Parameters
    ----------
    triangles : ndarray of int, shape (quads,)
        The triangle of each quad; quads of one follow each other.
    covered : ndarray of int, shape (quads,)
        Covered pixels of each quad, 1 to 4.
    lanes : int
        Of a warp, a multiple of 4: a warp of 32 takes 8 quads [rtr 23.2].
    several : bool
        A warp takes quads of several triangles. Otherwise each triangle begins a warp, which is
        simpler, and leaves lanes empty where triangles are small.
    """
    integer("lanes", lanes, PIXELS, 1 << 10)
    if lanes % PIXELS:
        raise InputError("lanes", f"be a multiple of {PIXELS}", lanes)
    triangles = np.asarray(triangles)
    covered = np.asarray(covered, np.int64)
    if triangles.ndim != 1 or triangles.shape != covered.shape:
        raise InputError("covered", f"have shape {triangles.shape}", covered.shape)
    if len(covered) and not 1 <= covered.min() <= covered.max() <= PIXELS:
        raise InputError("covered", f"lie in 1..{PIXELS}", f"{covered.min()}..{covered.max()}")
    quads = lanes // PIXELS
    number = np.arange(len(covered))
    if several:
        return Packing(number // quads, covered, lanes)
    first = np.concatenate([[True], triangles[1:] != triangles[:-1]])[: len(covered)]
    begin = np.maximum.accumulate(np.where(first, number, 0))
    begins = (number - begin) % quads == 0
    return Packing(np.cumsum(begins) - 1, covered, lanes)
