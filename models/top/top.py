# SPDX-License-Identifier: BSD-2-Clause
"""The golden machine: every stage behind a command stream, as in :class:`fixfunc.rtl.top.Top`."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fixfunc.models.back_half.back_half import BackHalf, Probe, Work
from fixfunc.models.depth.cached_depth import CachedDepth
from fixfunc.models.depth.depth_cache import CacheShape, TrafficKind
from fixfunc.models.frontend import command_reader
from fixfunc.models.frontend.command_limits import CommandLimits
from fixfunc.models.frontend.vertex_ring import Assembly
from fixfunc.models.geometry import triangle_setup
from fixfunc.models.memory.contract import PLANES, FenceCounts
from fixfunc.models.output.colour_write import ColourPlanes, constant_of
from fixfunc.models.output.resolve import resolve, written
from fixfunc.models.payload import carried, dtype
from fixfunc.models.pixel.pixel_pipe import PixelPipe
from fixfunc.models.pixel.quads import quads_of
from fixfunc.models.raster.edge_evaluator import pack
from fixfunc.models.top.shades import Shades, Shading, StreamShader, by_pixel_states, flat
from fixfunc.spec import payloads
from fixfunc.spec.colours import ResolveError
from fixfunc.spec.commands import STATUS, CommandError
from fixfunc.spec.counters import PROBES
from fixfunc.spec.state import FenceError, Kind, Outcome


class Draw(NamedTuple):
    """One list of triangles, stage by stage."""

    setup: triangle_setup.Setup
    tiles: np.ndarray  # structured, shape (tiles,): what the rasterizer found
    owner: np.ndarray  # int, shape (tiles,): the set-up record of each tile
    outcome: np.ndarray  # uint8, shape (tiles,): what HiZ decided
    passed: np.ndarray  # bool, shape (tiles, edge, edge): samples that passed


@dataclass
class Drawn:
    """What became of a command stream, as :meth:`Machine.draw` returns it."""

    status: np.ndarray  # fields of fixfunc.spec.commands.STATUS, one for each FENCE
    probes: dict = field(
        default_factory=lambda: {name: [] for name in PROBES}
    )  # by stage: (Kind, records) in order
    draws: list[Draw] = field(default_factory=list)  # of each list of triangles
    triangles: int = 0  # read
    pixels: Counter = field(default_factory=Counter)  # what the pixel pipe did


class Machine:
    """The pipeline with its memory; its state outlasts a command stream.

    Parameters
    ----------
    memory : ndarray of uint8
        Written in place.
    limits : CommandLimits, optional
    shape : CacheShape, optional
        Of all caches.
    coarse : int
        Parameter of :func:`fixfunc.models.raster.tile_rasterizer.rasterize`.
    shader : callable
        Takes :class:`Shading`, returns colours, as the field of :class:`Shades`, or
        :class:`Shades`. It is asked of tiles in any order, in parts.
    outcomes : callable, optional
        Takes tiles in front of HiZ, returns an outcome of each: uint8, shape (n,). By default
        the golden HiZ decides, to which every write is reported at once.
    in_memory : bool
        Caches write to memory; without them colours are not kept, and every stage is faster.
    progress : callable, optional
        Called with the name of each stage as it begins.
    probe : Probe, optional
        Is told what every stage decides; not of colours that are merged.
    bounds : str, optional
        Of HiZ, as :class:`~fixfunc.models.depth.hiz.HiZ` has them; None: there is none.
    pixels : PixelPipe, optional
        Shades draws whose state says ``built_in``.

    Attributes
    ----------
    depth : CachedDepth
    colour : ColourPlanes
    undefined : list of (int, int)
        Where resolves that failed were to write: the first byte, and the one behind the last. What
        the hardware leaves there is anything.
    """

    def __init__(
        self,
        memory: np.ndarray,
        limits: CommandLimits | None = None,
        shape: CacheShape | None = None,
        coarse: int = 8,
        shader: Callable[[Shading], np.ndarray | Shades] = flat,
        outcomes: Callable[[np.ndarray], np.ndarray] | None = None,
        in_memory: bool = True,
        progress: Callable[[str], object] = lambda _name: None,
        probe: Probe | None = None,
        bounds: str | None = "both",
        pixels: PixelPipe | None = None,
    ) -> None:
        self._memory = memory
        self._limits = limits or CommandLimits()
        self._pixels = pixels
        self._shader = shader
        self._built_in = pixels and by_pixel_states(pixels)
        self._outcomes = outcomes
        self._in_memory = in_memory
        self._progress = progress
        self.depth = CachedDepth(
            memory, shape, self._limits.edge, self._limits.stencil, in_memory, bounds
        )
        self.colour = ColourPlanes(
            memory,
            shape,
            self._limits.edge,
            self._limits.colour_planes,
            self._limits.colour_formats,
            self._limits.second,
            self._limits.floats,
        )
        colour = self.colour if in_memory else None
        self._back = BackHalf(self.depth, colour, self._limits.edge, coarse, progress, probe)
        self._state = None
        self._counts = FenceCounts()
        self.undefined = []
        self._memory_failed = False  # a resolve, or a texture, since the last fence
        self._unreadable = None
        self._drawn = None
        self._assembly = None

    @property
    def traffic(self) -> dict[str, Counter[TrafficKind]]:
        """Traffic of the caches so far by plane, counted as in the hardware.

        See :meth:`fixfunc.models.memory.tile_cache.TileCache.counts`.
        """
        return self.depth.traffic | {"colour": self.colour.traffic}

    def draw(
        self, address: int, transfers: int, limit: int, unreadable: int | None = None
    ) -> Drawn:
        """Execute the packets of a command stream.

        Parameters
        ----------
        address, transfers, limit : int
            Fields of :data:`fixfunc.spec.commands.START`.
        unreadable : int, optional
            A byte of the packets, or of a texture, that memory cannot read.
        """
        self._unreadable = unreadable
        read = command_reader.read(
            self._memory, address, transfers, limit, self._limits, unreadable
        )
        drawn = self.execute(read.beats, read.resolves, read.assembly)
        drawn.status["error"][-1] = read.error
        drawn.status["vertex_error"][-1] = read.vertex_error
        drawn.status["at"][-1] = read.at
        return drawn

    def execute(
        self,
        beats: Iterable[tuple[Kind, np.ndarray]],
        resolves: Sequence[tuple[int, np.void]] = (),
        assembly: Assembly | None = None,
    ) -> Drawn:
        """Execute what the command reader sends.

        Parameters
        ----------
        beats : iterable of (Kind, structured ndarray)
            A list of triangles, or one control record each.
        resolves : sequence of (int, numpy.void)
            As in :class:`fixfunc.models.frontend.command_reader.Read`.
        assembly : Assembly, optional
            The same.
        """
        self._assembly = assembly
        self._given = 0  # triangles to the pixel pipe
        if self._pixels:
            self._pixels.begin(self._memory, self._unreadable)
        self._drawn = Drawn(np.zeros(0, dtype(STATUS)))
        for n, (kind, records) in enumerate(beats):
            for place, request in resolves:
                if place == n:
                    self._resolve(request)
            self._execute(kind, records)
        return self._drawn

    def _execute(self, kind, records):
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
        built_in = self._state["built_in"]
        if built_in:
            triangles = triangles.copy()
            first = self._drawn.triangles
            state_of = self._assembly.state_of[first : first + len(triangles)]
            triangles["slot"] = self._pixels.slots(state_of, self._given)
            self._given += len(triangles)
        found = self._back.find(Work(triangles, self._state))
        decided = self._outcomes(found.tiles) if self._outcomes else None
        triangle = self._drawn.triangles + found.triangle
        shader = StreamShader(
            self._built_in if built_in else self._shader,
            self._state,
            triangle,
            found.tiles["mask"],
            self._limits.edge,
            self._assembly,
            self.colour.written,
        )
        tested = self._back.draw(found, self._state, shader, decided)
        self._counts.passed += int(tested.passed.sum())
        self._drawn.triangles += len(triangles)
        self._drawn.draws.append(
            Draw(found.setup, found.tiles, found.owner, tested.outcome, tested.passed)
        )
        self._show(found, tested, shader.shades, triangle)

    def _show(self, found, tested, shades, triangle):
        """What goes from stage to stage."""
        is_last = found.tiles["last"].astype(bool)
        is_dropped = tested.outcome == Outcome.DROP
        behind_hiz = found.tiles.copy()
        behind_hiz["outcome"] = tested.outcome
        for name in ("mask", "full"):
            behind_hiz[name][is_dropped] = 0
        shaded = carried(behind_hiz, payloads.tested(self._limits.edge))
        shaded["covered"] = behind_hiz["mask"]
        shaded["mask"] = pack(tested.shaded)
        shaded["full"] = tested.shaded.all((1, 2))
        live = tested.shaded.any((1, 2))
        edge = self._limits.edge
        if self._state["built_in"]:
            self._drawn.pixels += self._pixels.counts(
                shaded[live], int(self._state["samples"]), triangle[live], self._assembly
            )
            self._memory_failed |= self._pixels.failed
        for probe, records in (
            ("setup", found.setup.records),
            ("raster", found.tiles),
            ("hiz", behind_hiz[~is_dropped | is_last]),
            ("depth", shaded[live | is_last]),
            ("quads", quads_of(shaded[live], self._state, self.colour.written, edge)),
            *(() if self._state["built_in"] else (("colours", shades),)),
        ):
            self._drawn.probes[probe].append((Kind.WORK, records))

    def _set(self, state):
        self._state = self.depth.state = self.colour.state = state

    def _clear(self, c):
        if c["constant"]:
            self.colour.constant = constant_of(c)
            return
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
            self.colour.clear(rectangle, colour, int(c["colour_base"]), int(c["slot"]))

    def _resolve(self, request):
        if self._in_memory:
            self._progress("resolve")
            if resolve(self._memory, request) != ResolveError.NONE:
                self._memory_failed = True
                self.undefined.append(written(request))

    def _fence(self, fence):
        self._counts.report(fence)
        if self._in_memory:
            self.depth.flush()
            self.colour.flush()
        if self._pixels:
            self._pixels.forget()
        status = np.zeros(1, dtype(STATUS))
        status["last"] = fence["slot"]
        status["error"] = CommandError.NONE
        status["failed"] = FenceError.MEMORY if self._memory_failed else 0
        self._memory_failed = False
        for name in ("sequence", "any", "passed"):
            status[name] = fence[name]
        self._drawn.status = np.concatenate([self._drawn.status, status])
