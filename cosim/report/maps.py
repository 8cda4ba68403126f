# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of a picture's tiles, pixels and quads, list of triangles by list of triangles."""

import numpy as np

from fixfunc.models.back_half.back_half import Found
from fixfunc.models.depth.cached_depth import TestedTiles
from fixfunc.models.pixel.quads import Quads, pixels_of
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.spec.state import SAMPLE_COUNTS, Outcome


class Maps:
    """What has been counted.

    Parameters
    ----------
    width, height, samples : int
        Of the picture.

    Attributes
    ----------
    tile : (int, int)
        Columns and rows of pixels of a tile.
    triangles : ndarray of int64, shape (rows, columns)
        Of tiles.
    outcomes : dict of ndarray
        The same by what HiZ found.
    overdraw : ndarray of int64, shape (height, width)
        How many times each pixel was shaded.
    overshading : ndarray of int64, shape (rows, columns)
        How many times each quad of pixels was shaded.
    """

    def __init__(self, width: int, height: int, samples: int) -> None:
        self.tile = pixels_of(SAMPLE_COUNTS.index(samples))
        self._size = width, height
        rows, columns = -(-height // self.tile[1]), -(-width // self.tile[0])
        self.triangles = np.zeros((rows, columns), np.int64)
        self.outcomes = {outcome: np.zeros((rows, columns), np.int64) for outcome in Outcome}
        self._overdraw = np.zeros((rows * self.tile[1], columns * self.tile[0]), np.int64)
        self.overshading = np.zeros([side // 2 for side in self._overdraw.shape], np.int64)

    @property
    def overdraw(self) -> np.ndarray:
        """Without what lies beyond the picture."""
        return self._overdraw[: self._size[1], : self._size[0]]

    def add(self, found: Found, tested: TestedTiles, shaded: Quads) -> None:
        """Count a list of triangles; ``shaded`` are the quads that its shader was asked for."""
        place = found.tiles["y"], found.tiles["x"]
        np.add.at(self.triangles, place, 1)
        for outcome, count in self.outcomes.items():
            np.add.at(count, place, tested.outcome == outcome)
        quad, y, x = np.nonzero(shaded.covered.any(3))
        np.add.at(self._overdraw, (shaded.y[quad] + y, shaded.x[quad] + x), 1)
        np.add.at(self.overshading, (shaded.y // 2, shaded.x // 2), 1)


def by_pixel(lanes: np.ndarray, samples: int) -> np.ndarray:
    """Lanes of tiles, shape (n, edge, edge), by pixels: (n, rows, columns, samples).

    ``samples`` is log2 of a pixel's.
    """
    lx, ly = LANE_SHAPE[samples]
    count, edge, _ = lanes.shape
    split = lanes.reshape(count, edge >> ly, 1 << ly, edge >> lx, 1 << lx)
    return split.swapaxes(2, 3).reshape(count, edge >> ly, edge >> lx, 1 << samples)
