"""Depth test of tiles, sample by sample."""

import numpy as np

from models.raster.edge_evaluator import LANE_SHAPE, lane_positions, unpack
from models.raster.tile_rasterizer import put
from spec.state import SAMPLE_COUNTS, Compare

D24_MAX = (1 << 24) - 1

COMPARE = {
    Compare.NEVER: lambda new, _old: np.zeros(np.shape(new), bool),
    Compare.LESS: np.less,
    Compare.EQUAL: np.equal,
    Compare.LESS_EQUAL: np.less_equal,
    Compare.GREATER: np.greater,
    Compare.NOT_EQUAL: np.not_equal,
    Compare.GREATER_EQUAL: np.greater_equal,
    Compare.ALWAYS: lambda new, _old: np.ones(np.shape(new), bool),
}


def sample_depths(tiles, samples, edge=8):
    """Depth of a tile's plane at each of its samples.

    Parameters
    ----------
    tiles : structured ndarray with ``z0``, ``dx``, ``dy``, shape (n,)
        As in :func:`spec.payloads.tile`.
    samples : int
        log2 of the samples of a pixel.
    edge : int
        Samples along a tile's edge.

    Returns
    -------
    ndarray of uint32, shape (n, edge, edge)
        D24, indexed [tile, j, i]; meaningful on covered samples.

    Source: numerics: depth. The sum wraps modulo 2^24 in D24, harmlessly: covered samples lie in its range.
    """
    x, y = lane_positions(samples, edge)
    z0, dx, dy = (tiles[name].astype(np.int64)[:, None, None] for name in ("z0", "dx", "dy"))
    return (((z0 << 4) + x * dx + y * dy + (1 << 11) >> 12) & D24_MAX).astype(np.uint32)


class DepthBuffer:
    """Depths of a target, and the test that guards them.

    Parameters
    ----------
    width, height : int
        Pixels.
    samples : int
        Samples of a pixel.
    compare : Compare
    """

    def __init__(self, width, height, samples, compare=Compare.LESS, edge=8):
        self._log2 = SAMPLE_COUNTS.index(samples)
        self._samples, self._edge, self._compare = samples, edge, COMPARE[Compare(compare)]
        self._size = width, height
        lx, ly = LANE_SHAPE[self._log2]
        self._shape = edge >> ly, edge >> lx  # of a tile, pixels
        self._tiles = np.full((-(-height // self._shape[0]), -(-width // self._shape[1]), edge, edge), D24_MAX, np.uint32)

    def test(self, tiles):
        """Test and write tiles, as if one by one.

        Returns
        -------
        ndarray of bool, shape (n, edge, edge)
            Samples that passed.

        Tiles of different places do not meet: the k-th tile of every place is tested at once.
        """
        passed = np.zeros((len(tiles), self._edge, self._edge), bool)
        place = tiles["y"].astype(np.int64) * self._tiles.shape[1] + tiles["x"]
        for turn in rounds(place):
            those = tiles[turn]
            depth = sample_depths(those, self._log2, self._edge)
            old = self._tiles[those["y"], those["x"]]
            good = unpack(those["mask"], self._edge) & self._compare(depth, old)
            self._tiles[those["y"], those["x"]] = np.where(good, depth, old)
            passed[turn] = good
        return passed

    def image(self):
        """Depths as an image: uint32, shape (height, width, samples)."""
        return to_image(self._tiles, *self._size, self._samples)


def to_image(tiles, width, height, samples):
    """Lanes of a target's tiles, shape (rows, columns, edge, edge), as an image (height, width, samples)."""
    rows, columns, edge, _ = tiles.shape
    lx, ly = LANE_SHAPE[SAMPLE_COUNTS.index(samples)]
    out = np.zeros((1, rows * (edge >> ly), columns * (edge >> lx), samples), tiles.dtype)
    y, x = np.divmod(np.arange(rows * columns), columns)
    put(out, np.zeros_like(x), x, y, tiles[y, x], samples)
    return out[0, :height, :width]


def rounds(place):
    """Split indices so that no place comes twice in a part, and each place's come in order."""
    order = np.argsort(place, kind="stable")
    ordered = place[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(place) else np.zeros(0, int)
    turn = np.arange(len(place)) - np.repeat(starts, np.diff(np.append(starts, len(place))))
    by_turn = np.argsort(turn, kind="stable")
    return [order[part] for part in np.split(by_turn, np.cumsum(np.bincount(turn))[:-1])] if len(place) else []
