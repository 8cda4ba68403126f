"""Depth unit whose depths and stencil values lie in memory, behind their caches."""

from collections import Counter

import numpy as np

from models.depth.depth_cache import CacheShape, DepthCache, StencilCache
from models.depth.depth_test import DepthBuffer
from models.depth.hiz import rounds
from spec.state import Outcome

KINDS = {"depth": DepthCache, "stencil": StencilCache}


class CachedDepth:
    """A target's depths and stencil values, and what their memory holds.

    Parameters
    ----------
    memory : ndarray of uint8
        All of it: written in place.
    shape : CacheShape, optional
        Of both caches.
    edge : int
        Samples along a tile's edge.
    stencil : bool
        Stencil values are kept.

    Attributes
    ----------
    caches : dict
        By plane.
    state : numpy.void
        The draw state in force, from :func:`models.state.draw_state`; its draws write early.
    """

    def __init__(self, memory, shape=None, edge=8, stencil=True):
        self._memory, self._shape, self._edge, self._names = memory, shape or CacheShape(), edge, ("depth", "stencil") if stencil else ("depth",)
        self.caches, self.buffer, self.state = {}, None, None
        self._moves = {name: Counter() for name in self._names}

    def clear(self, rectangle, depth=None, stencil=None, bases=None):
        """Clear a rectangle of pixels of one plane, or of both.

        Parameters
        ----------
        rectangle : (x0, y0, x1, y1) of int
            One of all of the target begins it: what is on chip of these planes is forgotten.
        depth, stencil : int, optional
            What to.
        bases : dict, optional
            Where each plane lies from then on, in bytes.
        """
        size = int(self.state["target_width"]), int(self.state["target_height"])
        whole = not any(rectangle[:2]) and all(end >= side for end, side in zip(rectangle[2:], size, strict=True))
        values = {"depth": depth, "stencil": stencil}
        if whole and all(values[name] is not None for name in self._names):
            self.buffer = DepthBuffer(self.state, self._edge)
        self.buffer.clear(rectangle, depth, stencil)
        for name in self._names:
            if values[name] is not None:
                if whole:
                    self._leave(name)
                    self.caches[name] = KINDS[name](self.state, self._shape, self._edge, self._memory[bases[name]:])
                self.caches[name].clear(rectangle, values[name])

    def test(self, tiles, outcome):
        """Test and write tiles, as if one by one.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
            As in :func:`spec.payloads.tile`.
        outcome : ndarray, shape (n,)
            What HiZ found of each: what is dropped is not touched.

        Returns
        -------
        ndarray of bool, shape (n, edge, edge)
            Samples that passed.
        """
        passed = np.zeros((len(tiles), self._edge, self._edge), bool)
        self.buffer.state = self.state
        those = np.flatnonzero(outcome != Outcome.DROP)
        for turn in rounds(tiles["y"][those].astype(np.int64) * self.buffer.depth.shape[1] + tiles["x"][those]):
            passed[those[turn]] = self.buffer.test(tiles[those[turn]])
        for cache in self.caches.values():
            cache.run(tiles, passed, outcome, self.state)
        return passed

    def flush(self):
        """Bring all that was written to memory."""
        for cache in self.caches.values():
            cache.flush()

    @property
    def moves(self):
        """What has been moved so far, by plane: as :meth:`~models.depth._tile_cache.TileCache.tally`."""
        return {name: self._moves[name] + (self.caches[name].tally() if name in self.caches else Counter()) for name in self._names}

    def _leave(self, name):
        """A target gives way to another."""
        if name in self.caches:
            self._moves[name] += self.caches.pop(name).tally()
