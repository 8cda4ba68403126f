# SPDX-License-Identifier: BSD-2-Clause
"""Positions shaded before all else: the tiler needs no more, and what is not seen needs no more."""

from dataclasses import dataclass

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError


@dataclass(frozen=True)
class Sizes:
    """Bytes of a vertex.

    Parameters
    ----------
    position, attributes : int
        As it is read: its position, and all else.
    transformed, varyings : int
        As it is written: the position in clip space, and what is interpolated.
    """

    position: int = 12
    attributes: int = 20
    transformed: int = 16
    varyings: int = 32

    def __post_init__(self):
        for name, value in vars(self).items():
            integer(name, value, 0, 1 << 16)


@dataclass(frozen=True)
class Moved:
    """Bytes that vertex shading reads and writes: whole at once, and in two parts.

    Parameters
    ----------
    whole, split : int
    shaded : int
        Vertices whose second part is shaded: those of a triangle that is seen.
    """

    whole: int
    split: int
    shaded: int


def moved(triangles: np.ndarray, seen: np.ndarray, sizes: Sizes | None = None) -> Moved:
    """What a draw moves [rtr 23.10.1].

    Each vertex that a triangle names is shaded once. In two parts positions are read and written
    before tiling; all else is read and written behind it, for what is left.

    Parameters
    ----------
    triangles : ndarray of int, shape (n, 3)
        Numbers of vertices.
    seen : ndarray of bool, shape (n,)
        Triangles that culling and tiling leave.
    sizes : Sizes, optional
    """
    sizes = sizes or Sizes()
    triangles = np.asarray(triangles, np.int64)
    seen = np.asarray(seen, bool)
    if triangles.ndim != 2 or triangles.shape[1] != 3 or seen.shape != triangles.shape[:1]:
        raise InputError("triangles and seen", "have shapes (n, 3) and (n,)", triangles.shape)
    if triangles.min(initial=0) < 0:
        raise InputError("triangles", "be of numbers of 0 or more", int(triangles.min()))
    every = len(np.unique(triangles))
    left = len(np.unique(triangles[seen]))
    first = sizes.position + sizes.transformed
    second = sizes.attributes + sizes.varyings
    return Moved(every * (first + second), every * first + left * second, left)
