# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of a plane that a frame asks a cache for, and how each would lie in memory behind it."""

from contextlib import suppress

import numpy as np

from fixfunc.models.depth.depth_cache import DepthCache, StencilCache
from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.memory.surface import tile_grid
from fixfunc.models.output.colour_write import ColourCache
from fixfunc.models.output.output_merger import outputs
from fixfunc.models.performance.events import MODES, SURFACE, USE
from fixfunc.models.performance.recording.beat_rows import DrawnList
from fixfunc.models.raster.edge_evaluator import pack
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Kind, Outcome, TileMode

UNUSED = -1  # bytes of a mode that there is not
UNKNOWN = 255  # a mode that no cache asks for: the next use is of the same tile


class _Watched:
    """A tile cache that remembers its uses, with the mode of a tile behind each run of them.

    No cache evicts a tile between two uses of it that follow each other.
    """

    def __init__(self, state, edge, cleared):
        super().__init__(state, edge=edge)
        self._codec = self.codec(state, CacheShape(), edge)
        self._samples = int(state["samples"])
        octets = self._codec.tile["values"].shape[-1]
        self._cleared = np.array([cleared], "<u8").view(np.uint8)[:octets]
        self.found = np.zeros(0, USE)

    def access(self, places, needed, may_write, change):
        """As of the cache."""
        rows = np.zeros(len(places), USE)
        states = np.empty(len(places), self._codec.tile)

        def watch(batch, tiles):
            rows["wrote"][batch] = wrote = change(batch, tiles)
            states[batch] = tiles
            return wrote

        super().access(places, needed, may_write, watch)
        rows["tile"] = places
        rows["needed"] = needed
        rows["may_write"] = may_write
        rows["mode"] = UNKNOWN
        ends = np.flatnonzero(np.append(places[1:] != places[:-1], True)[: len(places)])
        rows["mode"][ends] = self._codec.encode(states[ends], self._samples, self._cleared)[0]
        self.found = rows

    @property
    def bytes_by_mode(self):
        """Bytes of a tile by its mode, or UNUSED."""
        found = np.full(MODES, UNUSED)
        for mode in TileMode:
            with suppress(InputError):
                found[mode] = self._codec.size(mode)
        return found


class _Depths(_Watched, DepthCache):
    pass


class _Stencils(_Watched, StencilCache):
    pass


class _Colours(_Watched, ColourCache):
    pass


_CACHES = {"depth": _Depths, "stencil": _Stencils, "colour": _Colours}


class PlaneUses:
    """Follows what happens to a plane of the targets of a frame.

    Parameters
    ----------
    name : {"depth", "stencil", "colour"}
    edge : int
        Samples along a tile's edge.
    """

    def __init__(self, name: str, edge: int = 8) -> None:
        self._name = name
        self._edge = edge
        self._state = None
        self._cache = None
        self._uses = [np.zeros(0, USE)]
        self._surfaces = []

    def control(self, kind: Kind, record: np.void, beat: int) -> None:
        """A draw state, a clear or a fence, which is the beat of that number."""
        if kind == Kind.STATE:
            self._state = record
        if kind == Kind.CLEAR and record[self._name]:
            self._clear(record, beat)

    def _clear(self, record, beat):
        ends = (
            int(min(record[end], self._state[side]))
            for end, side in (("x1", "target_width"), ("y1", "target_height"))
        )
        rectangle = int(record["x0"]), int(record["y0"]), *ends
        size = int(self._state["target_width"]), int(self._state["target_height"])
        value = int(record[f"{self._name}_value"])
        if rectangle == (0, 0, *size):
            columns, rows = tile_grid(self._state, self._edge)
            before = sum(map(len, self._uses))
            self._cache = _CACHES[self._name](self._state, self._edge, value)
            sizes = self._cache.bytes_by_mode
            self._surfaces.append((beat, before, columns * rows, columns, sizes))
        self._cache.clear(rectangle, value)
        self._keep(np.full(len(self._cache.found), beat))

    def draw(self, drawn: DrawnList, beats: np.ndarray) -> None:
        """A list of triangles, whose tiles are the beats of these numbers."""
        found, state, tested, made = drawn
        if self._name == "colour":
            live = np.flatnonzero(tested.shaded.any((1, 2)))
            tiles = found.tiles[live]
            tiles["mask"] = pack(tested.shaded[live])
            self._cache.found = np.zeros(0, USE)
            colours = outputs(made.colours)[0]
            self._cache.run(tiles, colours, state, tested.passed[live])
            self._keep(beats[live][: len(self._cache.found)])
            return
        reads = (tested.outcome == Outcome.TEST) & bool(state["depth_test"])
        writes = bool(state["depth_test"] and state["depth_write"])
        is_used = reads | writes if self._name == "depth" else bool(state["stencil_test"])
        live = np.flatnonzero((tested.outcome != Outcome.DROP) & is_used)
        self._cache.found = np.zeros(0, USE)
        self._cache.run(found.tiles, tested.passed, tested.outcome, state)
        self._keep(beats[live])

    def _keep(self, beats):
        rows = self._cache.found
        rows["beat"] = beats
        self._uses.append(rows)

    def uses(self) -> np.ndarray:
        """Rows of USE."""
        return np.concatenate(self._uses)

    def surfaces(self) -> np.ndarray:
        """Rows of SURFACE."""
        return np.array(self._surfaces, SURFACE)
