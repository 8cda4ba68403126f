# SPDX-License-Identifier: BSD-2-Clause
"""The back half: snapped triangles become depths, stencil values and colours of targets."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from fixfunc.models.depth.cached_depth import CachedDepth, TestedTiles
from fixfunc.models.depth.depth_test import depth_bias, with_bias
from fixfunc.models.depth.depth_unit import DepthProbe, Shaded
from fixfunc.models.geometry import triangle_setup
from fixfunc.models.pixel.quads import sample_numbers
from fixfunc.models.raster import forced_samples, tile_rasterizer
from fixfunc.models.raster.edge_evaluator import pack, unpack
from fixfunc.spec.state import Outcome

ALL_SAMPLES = 0xFFFFFFFF


class Work(NamedTuple):
    """A list of triangles, and how it is rasterized."""

    triangles: np.ndarray  # of models.geometry.triangle_setup.TRIANGLE, shape (n,)
    state: np.void  # from fixfunc.models.state.draw_state
    faces: np.ndarray | None = None  # of models.geometry.faces: what triangles are part of
    forced_samples: int = 0  # 0: those of the targets
    sample_mask: int = ALL_SAMPLES


class Found(NamedTuple):
    """Tiles that a list of triangles covers."""

    setup: triangle_setup.Setup | None  # None at a forced number of samples
    tiles: np.ndarray  # structured, shape (tiles,): what the rasterizer found
    owner: np.ndarray  # int, shape (tiles,): the set-up record of each tile
    triangle: np.ndarray  # int, shape (tiles,): its triangle
    pattern: np.ndarray | None  # uint32, shape (tiles, 8, 8): samples of a forced pattern, by lane
    covering: int = 0  # triangles that cover a sample
    covered: int = 0  # samples that they cover, those too that the sample mask leaves out


class Coloured(NamedTuple):
    """What a shader makes of tiles in the end."""

    colours: Any  # of each target, as these take them
    written: np.ndarray  # bool, shape (n, edge, edge): samples that are merged


class TileShader(Protocol):
    """A shader, as the back half sees it."""

    def late(self, tiles: np.ndarray, numbers: np.ndarray) -> Shaded:
        """What it does to samples before a late test, of tiles with these numbers."""

    def finish(self, tiles: np.ndarray, numbers: np.ndarray, passed: np.ndarray) -> Coloured:
        """Colours of tiles; their masks are the samples that are shaded, ``passed`` the rest."""


class Colours(Protocol):
    """Targets of colours."""

    def draw(self, tiles: np.ndarray, colours: Any, passed: np.ndarray) -> None:
        """Merge colours of tiles, whose masks were shaded, where samples passed in the end."""


class Probe(DepthProbe, Protocol):
    """Is told what every stage decides about a list of triangles: by tile, in drawing order."""

    def begin(self, found: Found, state: np.void) -> None:
        """Tiles have been found; their tests follow."""

    def merged(self, numbers: np.ndarray, j: np.ndarray, i: np.ndarray, texels: np.ndarray) -> None:
        """Lanes of tiles hold these texels of the first target: uint8, shape (n, bytes).

        Tiles have their numbers among those of which samples were shaded.
        """

    def end(self, tested: TestedTiles, made: Coloured) -> None:
        """The list is drawn; ``made`` is of the tiles of which samples were shaded."""


class BackHalf:
    """Stages from triangles to targets.

    Parameters
    ----------
    depth : CachedDepth, optional
        Without one every sample passes that the shader does not discard.
    colours : Colours, optional
        Without any, colours are not kept.
    edge : int
        Samples along a tile's edge.
    coarse : int
        Parameter of :func:`fixfunc.models.raster.tile_rasterizer.rasterize`.
    progress : callable, optional
        Called with the name of each stage as it begins.
    probe : Probe, optional
    """

    def __init__(
        self,
        depth: CachedDepth | None,
        colours: Colours | None,
        edge: int = 8,
        coarse: int = 8,
        progress: Callable[[str], object] = lambda _name: None,
        probe: Probe | None = None,
    ) -> None:
        self._depth = depth
        self._colours = colours
        self._edge = edge
        self._coarse = coarse
        self._progress = progress
        self._probe = probe

    def find(self, work: Work) -> Found:
        """Set up and rasterize triangles."""
        found = self._rasterize(work)
        if work.faces is not None:
            face = work.faces[found.triangle]
            bias = np.where(face["biased"], depth_bias(face, work.state), 0)
            found = found._replace(tiles=with_bias(found.tiles, bias))
        found = found._replace(
            covering=len(np.unique(found.triangle)),
            covered=int(np.bitwise_count(found.tiles["mask"]).sum()),
        )
        return _masked(found, work)

    def _rasterize(self, work):
        self._progress("setup")
        if work.forced_samples:
            made = forced_samples.rasterize(
                work.triangles, work.state, work.forced_samples, work.faces
            )
            return Found(None, made.tiles, made.index, made.index, made.pattern)
        setup = triangle_setup.setup(work.triangles, work.state, self._edge, work.faces)
        self._progress("raster")
        tiles, owner = tile_rasterizer.rasterize(setup.records, self._edge, self._coarse)
        return Found(setup, tiles, owner, setup.index[owner], None)

    def draw(
        self,
        found: Found,
        state: np.void,
        shader: TileShader,
        decided: np.ndarray | None = None,
    ) -> TestedTiles:
        """Test tiles, shade them, and merge their colours, as if one after the other.

        Parameters
        ----------
        found : Found
        state : numpy.void
            The draw state.
        shader : TileShader
        decided : ndarray of uint8, shape (tiles,), optional
            Outcomes of another HiZ.
        """
        self._progress("depth")
        if self._probe:
            self._probe.begin(found, state)
        tested = (
            self._depth.test(found.tiles, decided, shader.late, self._probe)
            if self._depth
            else _untested(found.tiles, state, shader)
        )
        self._progress("shade")
        numbers = np.flatnonzero(tested.shaded.any((1, 2)))
        tiles = found.tiles[numbers]
        tiles["mask"] = pack(tested.shaded[numbers])
        tiles["full"] = tested.shaded[numbers].all((1, 2))
        made = shader.finish(tiles, numbers, tested.passed[numbers])
        if self._colours:
            self._colours.draw(tiles, made.colours, made.written)
        if self._probe:
            self._probe.end(tested, made)
        return tested


def _untested(tiles, state, shader):
    """What is left of tiles without depths: all but what the shader discards."""
    shaded = unpack(tiles["mask"])
    passed = shaded
    if not state["early_write"]:
        passed = passed & shader.late(tiles, np.arange(len(tiles))).mask
    return TestedTiles(passed, np.full(len(tiles), Outcome.TEST, np.uint8), shaded)


def _masked(found, work):
    """Tiles without the samples that the sample mask leaves out."""
    samples = int(work.state["samples"])
    every = (1 << (1 << samples)) - 1
    if work.sample_mask & every == every:
        return found
    tiles = found.tiles.copy()
    lanes = work.sample_mask >> sample_numbers(samples) & 1
    tiles["mask"] &= pack(lanes[None].astype(bool))[0]
    tiles["full"] = 0
    live = np.flatnonzero(tiles["mask"])
    pattern = None if found.pattern is None else found.pattern[live]
    return found._replace(
        tiles=tiles[live],
        owner=found.owner[live],
        triangle=found.triangle[live],
        pattern=pattern,
    )
