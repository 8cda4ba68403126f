# SPDX-License-Identifier: BSD-2-Clause
"""Targets of the machine's draws: slices of textures, held on chip behind caches."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from fixfunc.models.back_half.back_half import Probe
from fixfunc.models.depth.cached_depth import CachedDepth
from fixfunc.models.machine.back_state import BackState
from fixfunc.models.machine.memory.undo import UndoLog
from fixfunc.models.memory.coded_tiles import CodedTiles, RawTiles
from fixfunc.models.memory.counters import by_name
from fixfunc.models.memory.layout import target_at, target_place
from fixfunc.models.output import output_merger
from fixfunc.models.output.colour_write import ColourCache
from fixfunc.models.output.formats import thresholds
from fixfunc.models.pixel import quads
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.spec.dxgi import Format

SHAPE = "stored", "samples", "tiled", "coded", "width", "height", "depth", "levels", "layers"
PLANES = "depth", "stencil"
ALL_CHANNELS = 15  # of a blend's write mask


class Target(NamedTuple):
    """A slice of a texture that is drawn to."""

    view: np.void  # spec.descriptors.VIEW
    layer: int  # of the view

    @property
    def key(self) -> tuple[int, ...]:
        """It tells targets apart: by place, and by shape, of which a ring may claim any."""
        shape = (int(self.view[name]) for name in SHAPE)
        return int(self.view["address"]), *target_place(self.view, self.layer), *shape

    def surfaces(self, memory: np.ndarray) -> list[CodedTiles]:
        """Its planes of tiles, coded or not."""
        layout, data = target_at(memory, self.view)
        place = target_place(self.view, self.layer)
        if layout.coded:
            return [layout.coded_tiles(data, *place, n) for n in range(len(layout.planes))]
        samples = int(self.view["samples"])
        return [RawTiles(plane, samples) for plane in layout.tiles(data, *place)]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, pixels."""
        level = int(self.view["first_level"])
        return tuple(max(int(self.view[side]) >> level, 1) for side in ("width", "height"))


def at_layer(view: np.void | None, layer: int) -> Target | None:
    """A view's slice of a primitive; beyond its layers the first [fs 15.15]."""
    if view is None:
        return None
    return Target(view, layer if layer < view["layer_count"] else 0)


class HeldTargets:
    """Targets behind their caches.

    Parameters
    ----------
    memory : ndarray of uint8
        Read and written in place.
    counters : Counter
        What caches move is added to it when they are written back: transfers by the names of
        :data:`fixfunc.spec.counters.MOVED`, and bytes of tiles, ``colour_bytes_read`` and
        ``colour_bytes_written``, and the same of ``depth`` and ``stencil``.
    undo : UndoLog
        Is told what a draw changes.
    """

    def __init__(self, memory: np.ndarray, counters: Counter, undo: UndoLog) -> None:
        self._memory = memory
        self._counters = counters
        self._undo = undo
        self._held: dict[tuple, CachedDepth | ColourCache] = {}

    def write_back(self) -> None:
        """Bring all targets to memory, and forget them."""
        for held in self._held.values():
            self._write_back(held)
        self._held.clear()

    def holds(self, address: int) -> bool:
        """Whether something of a texture is held that memory may not have."""
        return any(key[0] == address for key in self._held)

    def depth(self, target: Target | None, state: np.void) -> CachedDepth | None:
        """A target's depths and stencil values; None, if there is no target."""
        if target is None:
            return None
        depth = self._hold(target, CachedDepth, partial(self._depth, state))
        depth.state = state
        return depth

    def colour(self, target: Target, state: np.void) -> ColourCache:
        """A target's colours."""
        return self._hold(target, ColourCache, partial(self._colour, state))

    def _depth(self, state, surfaces):
        planes = dict(zip(PLANES, surfaces, strict=False))
        return CachedDepth.of_surfaces(planes, state)

    def _colour(self, state, surfaces):
        (surface,) = surfaces
        return ColourCache(state, surface=surface)

    def _hold(self, target, kind, begin):
        """What is held of a target, as depths or as colours.

        What else is held of its memory goes there before: a ring may call the same bytes by other
        names.
        """
        key = target.key
        if isinstance(self._held.get(key), kind):
            self._remember(key)
            return self._held[key]
        surfaces = target.surfaces(self._memory)
        for other in [its for its, held in self._held.items() if _meets(held, surfaces)]:
            self._release(other)
        self._remember(key)
        self._held[key] = begin(surfaces)
        return self._held[key]

    def _release(self, key):
        """Bring a target to memory, and forget it, in the middle of a piece of work."""
        self._remember(key)
        held = self._held.pop(key)
        for cache in _caches(held).values():
            self._undo.keep(cache.memory)
        self._write_back(held)

    def _remember(self, key):
        """Tell the undo log what is held of a target before a piece of work."""
        if self._undo.is_first(key):
            held = self._held.get(key)
            self._undo.add(partial(self._put_back, key, held and held.copy()))

    def _put_back(self, key, before):
        """Hold again what was held of a target, or nothing of it."""
        self._held.pop(key, None)
        if before:
            self._held[key] = before

    def _write_back(self, held):
        """Bring a target to memory, and count what its caches have moved."""
        held.flush()
        caches = _caches(held)
        self._counters.update(by_name({name: cache.counts() for name, cache in caches.items()}))
        for name, cache in caches.items():
            for cause, done in (("fill", "read"), ("write_back", "written")):
                octets = sum(its for kind, its in cache.bytes.items() if kind.cause == cause)
                self._counters[f"{name}_bytes_{done}"] += octets


class ViewColours:
    """Colours of a draw's targets.

    Parameters
    ----------
    held : HeldTargets
    targets : sequence of Target or None
    fields : numpy.void
        The draw state.
    state : BackState
        It says how each target is blended.
    probe : Probe, optional
        Is told what the first target holds then.
    """

    def __init__(
        self,
        held: HeldTargets,
        targets: Sequence[Target | None],
        fields: np.void,
        state: BackState,
        probe: Probe | None = None,
    ) -> None:
        self._held = held
        self._probe = probe
        self._targets = targets
        self._fields = fields
        self._state = state

    def draw(self, tiles: np.ndarray, colours: list[np.ndarray], passed: np.ndarray) -> None:
        """Merge a shader's colours, of shape (n, 8, 8, 4) by target, where samples passed.

        Colours of another kind than their target's, and blending that its format does not have,
        raise ``InputError`` before any is merged.
        """
        bound = [(n, target) for n, target in enumerate(self._targets[: len(colours)]) if target]
        for n, target in bound:
            output_merger.check_kind(colours[n].dtype, _form(target))
            output_merger.check(self._state.blends[n], _form(target))
        for n, target in bound:
            blend = self._state.blends[n]
            if not blend.write:
                continue
            make = partial(self._merged, target, blend, tiles, colours[n], colours[1:2])
            reads = blend.enable or blend.logic or not self._fields["early_write"]
            self._held.colour(target, self._fields).merge(
                tiles,
                unpack(tiles["mask"]),
                passed,
                not reads and blend.write == ALL_CHANNELS,
                partial(self._told, make) if self._probe and not n else make,
            )

    def _told(self, make, lanes, old):
        """What is stored of some lanes; the probe is told."""
        made = make(lanes, old)
        self._probe.merged(*lanes, made)
        return made

    def _merged(self, target, blend, tiles, colours, second, lanes, old):
        """What is stored of some lanes."""
        tile, j, i = lanes
        threshold = None
        if blend.dither:
            samples = int(target.view["samples"])
            threshold = thresholds(*quads.lane_pixels(tiles[tile], j, i, samples))
        return output_merger.merge(
            colours[lanes],
            old,
            _form(target),
            blend,
            self._state.factor,
            second[0][lanes] if second else None,
            threshold,
        )


def _caches(held):
    """Caches of what is held of a target, by plane."""
    return held.caches if isinstance(held, CachedDepth) else {"colour": held}


def _meets(held, surfaces):
    """Whether a target that is held has bytes of some surfaces."""
    return any(
        np.may_share_memory(cache.memory, surface.memory)
        for cache in _caches(held).values()
        for surface in surfaces
    )


def _form(target):
    return Format(int(target.view["form"]))
