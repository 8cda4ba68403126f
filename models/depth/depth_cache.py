# SPDX-License-Identifier: BSD-2-Clause
"""Caches of a target's depths and stencil values, each with its surface in memory."""

import numpy as np

from fixfunc.models.depth.cached_tiles import DepthTile, FloatDepthTile, StencilTile
from fixfunc.models.depth.compression.planes import PLANE
from fixfunc.models.depth.depth_test import depth_bias, in_range, new_depths, sample_depths
from fixfunc.models.depth.stencil import changes, stencil_test, stencil_update
from fixfunc.models.formats import FRACTION
from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.memory.surface import check_places
from fixfunc.models.memory.tile_cache import TileCache, TrafficKind
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.spec.state import DepthFormat, Outcome

__all__ = ["CacheShape", "DepthCache", "StencilCache", "TrafficKind"]


def drawn_planes(
    tiles: np.ndarray, passed: np.ndarray, state: np.void, new: np.ndarray, edge: int = 8
) -> tuple[np.ndarray, np.ndarray]:
    """Planes of a draw's tiles, and whether they give every depth that passed.

    Parameters
    ----------
    tiles : structured ndarray, shape (n,)
        As in :func:`fixfunc.spec.payloads.tile`.
    passed : ndarray of bool, shape (n, edge, edge)
    state : numpy.void
        Of the draw.
    new : ndarray of int, shape (n, edge, edge)
        What the draw writes of depths.
    edge : int
        Samples along a tile's edge.

    Returns
    -------
    structured ndarray of :data:`~fixfunc.models.depth.compression.planes.PLANE`, shape (n,)
    ndarray of bool, shape (n,)
    """
    bias = depth_bias(tiles, state)
    planes = np.zeros(len(tiles), PLANE)
    planes["z0"] = (tiles["z0"].astype(np.int64) + bias) & (1 << 32) - 1
    planes["dx"] = tiles["dx"]
    planes["dy"] = tiles["dy"]
    planar = sample_depths(tiles, int(state["samples"]), edge, bias)
    exact = (~passed | (planar + (1 << FRACTION - 1) >> FRACTION == new)).all((1, 2))
    exact &= (state["depth_format"] == DepthFormat.D24) & (tiles["steep"] == 0)
    return planes, exact


class DepthCache(TileCache):
    """A target's depths in memory, behind a cache that codes them.

    Tiles of D32F are raw, or as they were cleared. Parameters are those of
    :class:`~fixfunc.models.memory.tile_cache.TileCache`.
    """

    TILE = DepthTile

    @classmethod
    def kind(cls, state: np.void, _shape: CacheShape) -> type:
        """Floats have a kind of their own."""
        return FloatDepthTile if state["depth_format"] == DepthFormat.D32F else cls.TILE

    def run(
        self,
        tiles: np.ndarray,
        passed: np.ndarray,
        outcome: np.ndarray,
        state: np.void,
        replaced: np.ndarray | None = None,
        replaces: np.ndarray | None = None,
    ) -> None:
        """What tested tiles do, in order.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
            As in :func:`fixfunc.spec.payloads.tile`; of a draw that is written late, without the
            samples that its shader discarded.
        passed, outcome
            As :meth:`fixfunc.models.depth.depth_unit.DepthUnit.test` returns them.
        state : numpy.void
            Of the draw.
        replaced : ndarray of uint32, shape (n, edge, edge), optional
            Depths from the shader.
        replaces : ndarray of bool, shape (n,), optional
            Tiles that have such depths: no plane gives them.
        """
        check_places(tiles, self._columns, self._rows)
        writes = bool(state["depth_test"] and state["depth_write"])
        new = new_depths(tiles, state, self._edge)
        if replaces is not None:
            new = np.where(replaces[:, None, None], replaced, new)
        new = in_range(new, state).astype(np.uint32)
        planes, exact = drawn_planes(tiles, passed, state, new, self._edge)
        if replaces is not None:
            exact &= ~replaces
        covers = unpack(tiles["mask"], self._edge).all((1, 2)) & bool(
            state["early_write"] and not state["stencil_test"]
        )
        places = self._numbers(tiles)
        listed = planes.tolist()
        for n in np.flatnonzero(outcome != Outcome.DROP):
            reads = outcome[n] == Outcome.TEST and bool(state["depth_test"])
            if reads or writes:
                self.use(places[n], reads or not covers[n], writes)
                self.write(places[n], new[n], passed[n] & writes, listed[n] if exact[n] else None)


class StencilCache(TileCache):
    """A target's stencil values in memory: a surface of its own, cleared apart.

    Parameters are those of :class:`~fixfunc.models.memory.tile_cache.TileCache`.
    """

    TILE = StencilTile

    def run(
        self,
        tiles: np.ndarray,
        passed: np.ndarray,
        outcome: np.ndarray,
        state: np.void,
        _replaced: np.ndarray | None = None,
        _replaces: np.ndarray | None = None,
    ) -> None:
        """As :meth:`DepthCache.run`; a draw without stencil test does nothing here.

        Of samples that pass the stencil test, those that did not pass the depth test failed it:
        nothing else has to be known of depths.
        """
        check_places(tiles, self._columns, self._rows)
        if not state["stencil_test"]:
            return
        covered = unpack(tiles["mask"], self._edge)
        writes = changes(state)
        places = self._numbers(tiles)
        for n in np.flatnonzero(outcome != Outcome.DROP):
            old = self.use(places[n], True, writes)
            face = "back" if tiles["back"][n] else "front"
            new = stencil_update(state, face, old, stencil_test(state, face, old), passed[n])
            self.write(places[n], new, covered[n] & (new != old))
