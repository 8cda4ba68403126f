# SPDX-License-Identifier: BSD-2-Clause
"""Caches of a target's depths and stencil values, each with its surface in memory."""

import numpy as np

from fixfunc.models.depth.compression.planes import PLANE
from fixfunc.models.depth.depth_test import depth_bias, in_range, new_depths, sample_depths
from fixfunc.models.depth.stencil import changes, stencil_test, stencil_update
from fixfunc.models.formats import FRACTION
from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.memory.surface import check_places
from fixfunc.models.memory.tile_cache import TileCache, TrafficKind, words, write
from fixfunc.models.memory.tile_codecs import DepthCodec, FloatCodec, RawCodec, TileCodec
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

    @staticmethod
    def codec(state: np.void, shape: CacheShape, edge: int) -> TileCodec:
        """Floats have a codec of their own."""
        if state["depth_format"] == DepthFormat.D32F:
            return FloatCodec(4, edge, shape.coding != "raw")
        return DepthCodec(shape.coding, edge)

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
        reads = (outcome == Outcome.TEST) & bool(state["depth_test"])
        used = np.flatnonzero((outcome != Outcome.DROP) & (reads | writes))
        tiles = tiles[used]
        written = passed[used] & writes
        edge = passed.shape[-1]
        new = new_depths(tiles, state, edge)
        if replaces is not None:
            new = np.where(replaces[used, None, None], replaced[used], new)
        new = in_range(new, state).astype(np.uint32)
        planes, exact = drawn_planes(tiles, written, state, new, edge)
        if replaces is not None:
            exact &= ~replaces[used]
        covers = unpack(tiles["mask"], edge).all((1, 2)) & bool(
            state["early_write"] and not state["stencil_test"]
        )
        how = new, written, planes, exact
        self.access(
            self._numbers(tiles),
            reads[used] | ~covers,
            np.full(len(used), writes),
            lambda batch, held: write(held, *(its[batch] for its in how)),
        )


class StencilCache(TileCache):
    """A target's stencil values in memory: a surface of its own, cleared apart.

    Parameters are those of :class:`~fixfunc.models.memory.tile_cache.TileCache`.
    """

    @staticmethod
    def codec(_state: np.void, shape: CacheShape, edge: int) -> TileCodec:
        """Raw, or as they were cleared."""
        return RawCodec(1, edge, shape.coding != "raw")

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
        used = np.flatnonzero(outcome != Outcome.DROP)
        tiles = tiles[used]
        passed = passed[used]
        covered = unpack(tiles["mask"], passed.shape[-1])

        def change(batch, held):
            """Both faces have operations of their own."""
            wrote = np.zeros(len(batch), bool)
            for face, back in (("front", 0), ("back", 1)):
                some = np.flatnonzero(tiles["back"][batch] == back)
                its = held[some]
                old = words(its)
                chosen = batch[some]
                test = stencil_test(state, face, old)
                new = stencil_update(state, face, old, test, passed[chosen])
                wrote[some] = write(its, new, covered[chosen] & (new != old))
                held[some] = its
            return wrote

        every = np.ones(len(used), bool)
        self.access(self._numbers(tiles), every, every & bool(changes(state)), change)
