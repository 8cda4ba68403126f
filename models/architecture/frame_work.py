# SPDX-License-Identifier: BSD-2-Clause
"""A frame as work that units share: boxes of triangles, and their fragments."""

from dataclasses import dataclass
from math import isqrt
from typing import Self

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.models.pixel.quads import lane_pixels
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS

FRAGMENT = np.dtype([("triangle", "u4"), ("x", "u2"), ("y", "u2")])
MOST = 1 << 14  # pixels of a side


@dataclass(frozen=True)
class FrameWork:
    """Triangles of a frame in drawing order, and what each covers.

    Parameters
    ----------
    width, height : int
        Pixels.
    boxes : ndarray of int, shape (triangles, 4)
        Bounds of each in pixels, x0, y0, x1, y1, the last ones within; inside of the frame.
    fragments : ndarray of FRAGMENT, shape (fragments,)
        Covered pixels, each within the box of its triangle.
    """

    width: int
    height: int
    boxes: np.ndarray
    fragments: np.ndarray

    def __post_init__(self):
        for name in ("width", "height"):
            integer(name, getattr(self, name), 1, MOST)
        boxes = np.asarray(self.boxes, np.int64)
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise InputError("boxes", "have shape (triangles, 4)", boxes.shape)
        object.__setattr__(self, "boxes", boxes)
        if (boxes[:, :2] > boxes[:, 2:]).any() or boxes.min(initial=0) < 0:
            raise InputError("boxes", "begin at 0 or above, and not end before", "these")
        if (boxes[:, 2:] >= (self.width, self.height)).any():
            raise InputError("boxes", f"end within {self.width} x {self.height}", "these")
        found = self.fragments
        if found.dtype != FRAGMENT or found.ndim != 1:
            raise InputError("fragments", "be a row of FRAGMENT", found.dtype)
        if found["triangle"].max(initial=0) >= max(len(boxes), 1) or (
            len(found) and not len(boxes)
        ):
            raise InputError("fragments", f"be of {len(boxes)} triangles", "others")
        own = boxes[found["triangle"]]
        place = np.stack([found["x"], found["y"]], 1).astype(np.int64)
        if ((place < own[:, :2]) | (place > own[:, 2:])).any():
            raise InputError("fragments", "lie within the boxes of their triangles", "beyond")

    @classmethod
    def of_tiles(
        cls, width: int, height: int, samples: int, tiles: np.ndarray, owner: np.ndarray
    ) -> Self:
        """Work of a frame that was rasterized.

        A pixel of which a triangle covers a sample is one fragment. Triangles are numbered anew:
        those that cover nothing are left out. Boxes are bounds of what is covered.

        Parameters
        ----------
        width, height, samples : int
        tiles : ndarray of ``dtype(payloads.tile(edge))``, shape (n,)
            As :func:`fixfunc.models.raster.tile_rasterizer.rasterize` finds them.
        owner : ndarray of int, shape (n,)
            The triangle of each.
        """
        tile, j, i = np.nonzero(unpack(tiles["mask"]))
        if samples not in SAMPLE_COUNTS:
            raise InputError("samples", f"be one of {', '.join(map(str, SAMPLE_COUNTS))}", samples)
        x, y = lane_pixels(tiles[tile], j, i, SAMPLE_COUNTS.index(samples))
        names, triangle = np.unique(owner, return_inverse=True)
        rows = np.unique(np.stack([triangle[tile], y, x], 1).astype(np.int64), axis=0)
        fragments = np.zeros(len(rows), FRAGMENT)
        fragments["triangle"], fragments["y"], fragments["x"] = rows.T
        ends = np.tile([MOST, MOST, -1, -1], (len(names), 1))
        places = rows[:, [2, 1]]
        np.minimum.at(ends[:, :2], rows[:, 0], places)
        np.maximum.at(ends[:, 2:], rows[:, 0], places)
        return cls(width, height, ends, fragments)

    @property
    def triangles(self) -> int:
        """How many there are."""
        return len(self.boxes)

    def touched(self, tile: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tiles that the box of each triangle touches: triangle, column and row of each, int64.

        In drawing order, and row by row.

        Parameters
        ----------
        tile : int
            Pixels of a side.
        """
        integer("tile", tile, 1, MOST)
        first = self.boxes[:, :2] // tile
        columns, rows = (self.boxes[:, 2:] // tile - first + 1).T
        count = columns * rows
        triangle = np.repeat(np.arange(self.triangles), count)
        number = np.arange(len(triangle)) - np.repeat(np.cumsum(count) - count, count)
        x = first[triangle, 0] + number % columns[triangle]
        y = first[triangle, 1] + number // columns[triangle]
        return triangle, x, y


@dataclass(frozen=True)
class Screen:
    """Tiles of the screen, each of which a unit owns.

    Units own the tiles of a row in turn. Each row begins as many units on as the root of their
    number: two units make a checkerboard [rtr 23.10.2], and a square of as many tiles as there are
    units has one of each, if their number is a square.

    Parameters
    ----------
    units : int
    tile : int
        Pixels of a side.
    """

    units: int
    tile: int

    def __post_init__(self):
        integer("units", self.units, 1, 1 << 10)
        integer("tile", self.tile, 1, MOST)

    def owner(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Unit of tiles, by column and row: int64."""
        step = isqrt(self.units)
        return (np.asarray(x, np.int64) + step * np.asarray(y, np.int64)) % self.units
