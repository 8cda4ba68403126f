# SPDX-License-Identifier: BSD-2-Clause
"""The golden pipeline behind a command stream: what :class:`fixfunc.rtl.top.Top` does, stage by
stage.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fixfunc.models.depth.cached_depth import CachedDepth
from fixfunc.models.depth.depth_cache import CacheShape, Moved
from fixfunc.models.frontend import command_reader
from fixfunc.models.frontend.command_reader import CommandLimits
from fixfunc.models.geometry import triangle_setup
from fixfunc.models.output.colour_write import ColourTarget, quads_of
from fixfunc.models.payload import dtype
from fixfunc.models.raster import tile_rasterizer
from fixfunc.models.raster.edge_evaluator import pack
from fixfunc.spec.commands import STATUS, CommandError
from fixfunc.spec.counters import PROBES
from fixfunc.spec.state import Kind, Outcome

PLANES = "depth", "stencil", "colour"


class Shading(NamedTuple):
    """What a shader is given: tiles, the draw state, and which of the triangles read each belongs
    to.
    """

    tiles: np.ndarray
    state: np.void
    triangle: np.ndarray


def flat(shading: Shading) -> np.ndarray:
    """The shader that is built in: the colour of the draw state."""
    return np.full((len(shading.tiles), 1, 1), shading.state["flat_colour"], np.uint32)


@dataclass
class Drawn:
    """What :meth:`Machine.draw` returns."""

    status: np.ndarray  # as in fixfunc.spec.commands.STATUS
    probes: dict = field(
        default_factory=lambda: {name: [] for name in PROBES}
    )  # by stage: (Kind, records) in order
    outcome: list = field(
        default_factory=list
    )  # of the tiles of each list of triangles: what HiZ found
    triangles: int = 0  # read


class Machine:
    """The pipeline with its memory; what one stream has begun another goes on with.

    Parameters
    ----------
    memory : ndarray of uint8
        Written in place.
    limits : CommandLimits, optional
    shape : CacheShape, optional
        Of all caches.
    coarse : int
        As of :func:`fixfunc.models.raster.tile_rasterizer.rasterize`.
    shader : callable
        Takes :class:`Shading`, returns colours: uint32, shape (n, edge, edge).
    found : callable, optional
        Takes tiles as the rasterizer gives them, and returns what a HiZ found of each; by default
        the golden one, which hears of every write at once.
    in_memory : bool
        Whether anything goes to memory: without that all else is had sooner.

    Attributes
    ----------
    depth : CachedDepth
    colour : ColourTarget
    """

    def __init__(
        self,
        memory: np.ndarray,
        limits: CommandLimits | None = None,
        shape: CacheShape | None = None,
        coarse: int = 8,
        shader: Callable[[Shading], np.ndarray] = flat,
        found: Callable[[np.ndarray], np.ndarray] | None = None,
        in_memory: bool = True,
    ) -> None:
        self._memory = memory
        self._limits = limits or CommandLimits()
        self._coarse = coarse
        self._shader = shader
        self._found = found
        self._in_memory = in_memory
        self.depth = CachedDepth(memory, shape, self._limits.edge, self._limits.stencil, in_memory)
        self.colour = ColourTarget(memory, shape, self._limits.edge)
        self._state = None
        self._passed = 0
        self._drawn = None

    @property
    def moves(self) -> dict[str, Counter[Moved]]:
        """What caches have moved so far: by plane, as
        :meth:`~fixfunc.models.memory.tile_cache.TileCache.tally`.
        """
        return self.depth.moves | {"colour": self.colour.moves}

    def draw(self, address: int, transfers: int, limit: int) -> Drawn:
        """Read packets, as of :data:`fixfunc.spec.commands.START`, and draw what they say:
        :class:`Drawn`.
        """
        read = command_reader.read(self._memory, address, transfers, limit, self._limits)
        self._drawn = drawn = Drawn([])
        for kind, records in read.beats:
            self._take(kind, records)
        drawn.status[-1]["error"] = read.error
        drawn.status[-1]["at"] = read.at
        drawn.status = np.concatenate(drawn.status)
        return drawn

    def _take(self, kind, records):
        """What one packet says."""
        self._drawn.probes["commands"].append((kind, records))
        if kind == Kind.WORK:
            self._draw(records)
            return
        for name in ("setup", "raster", "hiz"):
            self._drawn.probes[name].append((kind, records))
        records = records.copy()
        {Kind.STATE: self._set, Kind.CLEAR: self._clear, Kind.FENCE: self._fence}[kind](records[0])
        self._drawn.probes["depth"].append((kind, records))

    def _draw(self, triangles):
        setup = triangle_setup.setup(triangles, self._state, self._limits.edge)
        tiles, owner = tile_rasterizer.rasterize(setup.records, self._limits.edge, self._coarse)
        passed, outcome = self.depth.test(tiles, self._found(tiles) if self._found else None)
        self._passed += int(passed.sum())
        seen = tiles.copy()
        seen["outcome"] = outcome
        for name in ("mask", "full"):
            seen[name][outcome == Outcome.DROP] = 0
        left = seen.copy()
        left["mask"] = pack(passed)
        left["full"] = passed.all((1, 2))
        some = passed.any((1, 2))
        drawn = left[some]
        self._drawn.probes["setup"].append((Kind.WORK, setup.records))
        self._drawn.probes["raster"].append((Kind.WORK, tiles))
        self._drawn.probes["hiz"].append(
            (Kind.WORK, seen[(outcome != Outcome.DROP) | seen["last"].astype(bool)])
        )
        self._drawn.probes["depth"].append((Kind.WORK, left[some | left["last"].astype(bool)]))
        self._drawn.probes["quads"].append(
            (Kind.WORK, quads_of(drawn, self._state, self._limits.edge))
        )
        self._drawn.outcome.append(outcome)
        colours = self._shader(
            Shading(drawn, self._state, self._drawn.triangles + setup.index[owner[some]])
        )
        colours = np.broadcast_to(colours, (len(drawn), self._limits.edge, self._limits.edge))
        self._drawn.probes["colours"].append((Kind.WORK, colours))
        if self._in_memory:
            self.colour.draw(drawn, colours)
        self._drawn.triangles += len(triangles)

    def _set(self, state):
        self._state = self.depth.state = self.colour.state = state

    def _clear(self, c):
        ends = (
            int(min(c[end], self._state[side]))
            for end, side in (("x1", "target_width"), ("y1", "target_height"))
        )
        rectangle = int(c["x0"]), int(c["y0"]), *ends
        values = {plane: int(c[f"{plane}_value"]) for plane in PLANES if c[plane]}
        colour = values.pop("colour", None)
        if values:
            self.depth.clear(
                rectangle, **values, bases={plane: int(c[f"{plane}_base"]) for plane in values}
            )
        if colour is not None and self._in_memory:
            self.colour.clear(rectangle, colour, int(c["colour_base"]))

    def _fence(self, fence):
        fence["any"] = self._passed > 0
        fence["passed"] = self._passed
        if fence["begin"]:
            self._passed = 0
        if self._in_memory:
            self.depth.flush()
            self.colour.flush()
        status = np.zeros(1, dtype(STATUS))
        status["last"] = fence["slot"]
        status["error"] = CommandError.NONE
        for name in ("sequence", "any", "passed"):
            status[name] = fence[name]
        self._drawn.status.append(status)
