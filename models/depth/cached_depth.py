# SPDX-License-Identifier: BSD-2-Clause
"""Depth unit whose depths and stencil values lie in memory, behind their caches."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from typing import NamedTuple, Self

import numpy as np

from fixfunc.models.depth.depth_cache import CacheShape, DepthCache, StencilCache, TrafficKind
from fixfunc.models.depth.depth_test import DepthBuffer
from fixfunc.models.depth.depth_unit import DepthProbe, DepthUnit, Shaded
from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.memory.tile_cache import words
from fixfunc.models.raster.edge_evaluator import pack, unpack
from fixfunc.spec.state import Outcome

KINDS = {"depth": DepthCache, "stencil": StencilCache}


class TestedTiles(NamedTuple):
    """What became of tiles."""

    passed: np.ndarray  # bool, shape (n, edge, edge): samples that passed in the end; those of
    # dropped tiles too, of which none should
    outcome: np.ndarray  # uint8, shape (n,): what HiZ found
    shaded: np.ndarray  # bool, shape (n, edge, edge): samples that go to the shader


def keep_all(tiles: np.ndarray, _numbers: np.ndarray) -> Shaded:
    """A shader that discards nothing."""
    edge = int(np.sqrt(8 * tiles["mask"].dtype.itemsize))
    return Shaded(np.ones((len(tiles), edge, edge), bool))


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
    in_memory : bool
        Caches are there; else nothing goes to memory.
    bounds : str, optional
        Of HiZ, as :class:`~fixfunc.models.depth.hiz.HiZ` has them; None: there is none.

    Attributes
    ----------
    caches : dict
        By plane.
    state : numpy.void
        The draw state in force, from :func:`fixfunc.models.state.draw_state`.
    """

    def __init__(
        self,
        memory: np.ndarray,
        shape: CacheShape | None = None,
        edge: int = 8,
        stencil: bool = True,
        in_memory: bool = True,
        bounds: str | None = "both",
    ) -> None:
        self._memory = memory
        self._shape = shape or CacheShape()
        self._edge = edge
        self._names = ("depth", "stencil") if stencil else ("depth",)
        self.caches = {}
        self._unit = None
        self.state = None
        self._in_memory = in_memory
        self._bounds = bounds
        self._traffic = {name: Counter() for name in self._names}

    @classmethod
    def of_surfaces(cls, surfaces: Mapping[str, CodedTiles], state: np.void) -> Self:
        """A target that memory holds: its planes, by name, as they lie there.

        Raises
        ------
        InputError
            A tile that cannot be.
        """
        unit = cls(np.zeros(0, np.uint8), stencil="stencil" in surfaces)
        unit.state = state
        unit._unit = DepthUnit(state)
        for name, surface in surfaces.items():
            cache = unit.caches[name] = KINDS[name](state, surface=surface)
            plane = getattr(unit.buffer, name)
            plane[:] = words(cache.held()).reshape(plane.shape)
        unit._unit.restore()
        return unit

    def copy(self) -> Self:
        """The same, drawn to apart, of the same memory."""
        other = copy(self)
        other._unit = deepcopy(self._unit)
        other._traffic = deepcopy(self._traffic)
        other.caches = {name: cache.copy() for name, cache in self.caches.items()}
        return other

    def clear(
        self,
        rectangle: Sequence[int],
        depth: int | None = None,
        stencil: int | None = None,
        bases: Mapping[str, int] | None = None,
    ) -> None:
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
        whole = not any(rectangle[:2]) and all(
            end >= side for end, side in zip(rectangle[2:], size, strict=True)
        )
        values = {"depth": depth, "stencil": stencil}
        if whole and all(values[name] is not None for name in self._names):
            self._unit = DepthUnit(self.state, self._edge, self._bounds)
        self._unit.clear(rectangle, depth, stencil)
        for name in self._names:
            if values[name] is not None and self._in_memory:
                if whole:
                    self._retire(name)
                    self.caches[name] = KINDS[name](
                        self.state, self._shape, self._edge, self._memory[bases[name] :]
                    )
                self.caches[name].clear(rectangle, values[name])

    def test(
        self,
        tiles: np.ndarray,
        outcome: np.ndarray | None = None,
        shader: Callable[[np.ndarray, np.ndarray], Shaded] = keep_all,
        probe: DepthProbe | None = None,
    ) -> TestedTiles:
        """Test and write tiles, as if one by one.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
            As in :func:`fixfunc.spec.payloads.tile`.
        outcome : ndarray of uint8, shape (n,), optional
            Decisions of another HiZ, to which writes may have been reported later.
        shader : callable
            Of draws that are not written early: see
            :meth:`fixfunc.models.depth.depth_unit.DepthUnit.test`.
        probe : DepthProbe, optional
        """
        self._unit.state = self.state
        shape = len(tiles), self._edge, self._edge
        shaded = np.zeros(shape, bool)
        replaced = np.zeros(shape, np.uint32)
        replaces = np.zeros(len(tiles), bool)
        late = tiles.copy()

        def shade(work, numbers):
            """Keep what the caches have to know."""
            made = shader(work, numbers)
            shaded[numbers] = unpack(work["mask"], self._edge)
            late["mask"][numbers] = work["mask"] & pack(made.mask)
            if made.depth is not None:
                replaced[numbers] = made.depth
                replaces[numbers] = True if made.replaces is None else made.replaces
            return made

        passed, outcome = self._unit.test(tiles, shade, outcome, probe)
        for cache in self.caches.values():
            cache.run(late, passed, outcome, self.state, replaced, replaces)
        if self.state["early_write"]:
            return TestedTiles(passed, outcome, passed)
        shaded[outcome == Outcome.DROP] = False
        return TestedTiles(passed, outcome, shaded)

    def flush(self) -> None:
        """Bring all that was written to memory."""
        for cache in self.caches.values():
            cache.flush()

    @property
    def began(self) -> bool:
        """A target has begun."""
        return self._unit is not None

    @property
    def buffer(self) -> DepthBuffer:
        """What the target holds: :class:`~fixfunc.models.depth.depth_test.DepthBuffer`."""
        return self._unit.buffer

    @property
    def traffic(self) -> dict[str, Counter[TrafficKind]]:
        """Traffic so far by plane, counted as in the hardware.

        See :meth:`fixfunc.models.memory.tile_cache.TileCache.counts`.
        """
        return {
            name: self._traffic[name]
            + (self.caches[name].counts() if name in self.caches else Counter())
            for name in self._names
        }

    def _retire(self, name):
        """Count the traffic of a target that another one replaces."""
        if name in self.caches:
            self._traffic[name] += self.caches.pop(name).counts()
