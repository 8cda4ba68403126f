# SPDX-License-Identifier: BSD-2-Clause
"""Shading of tiles: they become quads, and what a shader makes of these comes back to lanes."""

from collections import Counter
from functools import partial

import numpy as np

from fixfunc.models.back_half.back_half import ALL_SAMPLES, Coloured
from fixfunc.models.depth.depth_test import shader_depths
from fixfunc.models.depth.depth_unit import Shaded
from fixfunc.models.formats import encode
from fixfunc.models.geometry.triangle_setup import depth_units, vertices
from fixfunc.models.lib import float32
from fixfunc.models.machine.back_state import BackState
from fixfunc.models.machine.front_half import Part
from fixfunc.models.pixel import interpolator, pixel_stage, quads
from fixfunc.models.pixel.pixel_inputs import STEP, Triangles
from fixfunc.models.pixel.pixel_shader import PixelResults
from fixfunc.models.pixel.pixel_stage import Fragments
from fixfunc.models.pixel.quads import Quads
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DepthFormat


class TileShading:
    """Tiles of a draw, as its shader sees them.

    Parameters
    ----------
    part : Part
        The draw's triangles.
    state : BackState
    tiles : structured ndarray, shape (n,)
        Their masks are what the triangles cover and the sample mask leaves.
    triangle : ndarray of int, shape (n,)
        Which of the part's each tile belongs to.
    fields : numpy.void
        The draw state.
    pattern : ndarray of uint32, shape (n, 8, 8), optional
        Samples of a forced pattern that triangles cover, by lane: what the shader sees then,
        whatever the sample mask leaves [fs 3.5.6.2].

    Attributes
    ----------
    colours : list of ndarray, shape (n, 8, 8, 4)
        By target, what has been shaded so far.
    counters : Counter
        ``ps_invocations``; quads, helpers; and quads that the next triangle's could join;
        ``samples_discarded`` by the shader or by alpha, and ``samples_written``.
    """

    def __init__(
        self,
        part: Part,
        state: BackState,
        tiles: np.ndarray,
        triangle: np.ndarray,
        fields: np.void,
        pattern: np.ndarray | None = None,
    ) -> None:
        self._part = part
        self._state = state
        self._tiles = tiles
        self._triangle = triangle
        self._fields = fields
        self._pattern = pattern
        self._samples = int(fields["samples"])
        self._range = state.depth_ranges[int(part.viewport[triangle[0]])]
        self._kinds: list[str] | None = None
        self.colours: list[np.ndarray] = []
        self.counters = Counter()

    def late(self, work: np.ndarray, numbers: np.ndarray) -> Shaded:
        """Before a late test: what is discarded, and depths."""
        kept, made, places = self.kept(numbers, unpack(work["mask"]))
        kept &= self.coverage(numbers)
        self.counters["samples_discarded"] += int((unpack(work["mask"]) & ~kept).sum())
        if made.depth is None:
            return Shaded(kept)
        form = DepthFormat(int(self._fields["depth_format"]))
        stored = encode(made.depth, form, self._range)
        stored = quads.join(stored, places, len(numbers), self._samples)
        return Shaded(kept, stored.astype(np.uint32))

    def finish(self, _tiles: np.ndarray, numbers: np.ndarray, passed: np.ndarray) -> Coloured:
        """Colours by target, and the samples that are drawn.

        What passed early is counted, but not drawn if it is discarded [fs 16.12.1].
        """
        written = passed
        if self._state.shader is not None:
            if self._fields["early_write"]:
                written = written & self.kept(numbers, passed)[0]
            written = written & self.coverage(numbers)
        self.counters["samples_discarded"] += int((passed & ~written).sum())
        self.counters["samples_written"] += int(written.sum())
        return Coloured([colour[numbers] for colour in self.colours], written)

    def kept(self, numbers: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, PixelResults, Quads]:
        """Shade tiles: the samples that the shader leaves, its results and their quads."""
        made, places = self.shade(numbers, mask)
        left = ~made.discarded[..., None] & np.ones(1 << self._samples, bool)
        if made.coverage is not None:
            left &= (made.coverage[..., None] >> np.arange(1 << self._samples) & 1).astype(bool)
        dropped = quads.join(~left, places, len(numbers), self._samples)
        return ~dropped, made, places

    def coverage(self, numbers: np.ndarray) -> np.ndarray:
        """Samples that alpha leaves of tiles: as many of a pixel's first as its share says."""
        if not self._state.by_alpha or not self.colours:
            return np.ones((len(numbers), 8, 8), bool)
        alpha = float32.widened(self.colours[0][numbers, ..., 3], 0)
        # Exact: a float32 times a power of two, and a half.
        many = np.floor(np.clip(alpha, 0, 1) * (1 << self._samples) + 0.5)
        return quads.sample_numbers(self._samples) < many

    def shade(self, numbers: np.ndarray, mask: np.ndarray) -> tuple[PixelResults, Quads]:
        """Ask the shader for tiles by their numbers, if a sample is live; keep the colours."""
        tiles = self._tiles[numbers]
        shader = self._state.shader
        places = quads.split(tiles["x"], tiles["y"], mask, self._samples, shader.by_sample)
        if not len(places.tile):
            nothing = None if not shader.coverage else np.zeros((0, 2, 2), np.uint32)
            return PixelResults([], np.zeros((0, 2, 2), bool), coverage=nothing), places
        self._count(places, numbers)
        fragments = Fragments(
            places,
            self._triangles(self._triangle[numbers][places.tile]),
            ~tiles["back"][places.tile].astype(bool),
            self._covered(numbers, places),
            partial(self._depths, numbers, places),
            self._state.target_mask if self._pattern is None else ALL_SAMPLES,
            self._state.conservative,
        )
        made = pixel_stage.shade(shader, self._state.function, fragments)
        self._antialias(made.colour, self._triangle[numbers][places.tile])
        kinds = [colour.dtype.name for colour in made.colour]
        if self._kinds is None:
            self._kinds = kinds
            shape = (len(self._tiles), 8, 8, 4)
            self.colours = [np.zeros(shape, kind) for kind in kinds]
        if kinds != self._kinds:
            raise InputError("colours", f"be as before, {self._kinds}", kinds)
        for kept, colour in zip(self.colours, made.colour, strict=True):
            for channel in range(4):
                kept[numbers, ..., channel] = quads.join(
                    colour[..., channel], places, len(numbers), self._samples
                )
        return made, places

    def _covered(self, numbers, places):
        """Samples that the triangle covers of quads' pixels: bool, shape (q, 2, 2, samples)."""
        if self._pattern is None:
            lanes = unpack(self._tiles["mask"][numbers])
            return quads.samples_of(lanes, places, self._samples)
        pattern = quads.samples_of(self._pattern[numbers], places, self._samples).max(3)
        bits = np.arange(self._state.forced_samples, dtype=np.uint32)
        return (pattern[..., None] >> bits & 1).astype(bool)

    def _antialias(self, colours, triangle):
        """Multiply alpha of the first colour by how much an antialiased line covers [fs 3.4.4]."""
        if self._part.faces is None or not colours or colours[0].dtype != np.float32:
            return
        coverage = self._part.faces["coverage"][triangle]
        some = np.flatnonzero(coverage < 1)
        colours[0] = colours[0].copy()
        alpha = float32.multiply(colours[0][some, ..., 3], coverage[some, None, None])
        colours[0][some, ..., 3] = alpha

    def _count(self, places, numbers):
        """Quads, and what of them is wasted."""
        helpers = places.helpers
        self.counters["ps_invocations"] += int((~helpers).sum())
        self.counters["quads"] += len(helpers)
        self.counters["quad_helpers"] += int(helpers.sum())
        self.counters["quad_merges"] += quads.merges(places, self._triangle[numbers][places.tile])

    def _triangles(self, triangle):
        """What the stage needs of the triangle of each quad."""
        used, group = np.unique(triangle, return_inverse=True)
        part = self._part
        return Triangles(
            interpolator.corners(part.triangles[used], part.rhw[used]),
            part.vertices.attributes[part.slots[used]],
            part.weights[used],
            part.primitive[used],
            part.rhw[used],
        ).take(group)

    def _depths(self, numbers, places, offsets, weights):
        """Depths at offsets from pixels' centres: float32, shape (q, 2, 2)."""
        tiles = self._tiles[numbers][places.tile]
        _, _, z = vertices(self._part.triangles[self._triangle[numbers][places.tile]])
        form = DepthFormat(self._fields["depth_format"])
        z, _ = depth_units(z, form, tiles["exponent"].astype(np.int64))
        # In 2^8 units, so that products fit a word: half of the modulus is many times the error.
        total = ((z >> 16).repeat(4, 0) * weights).sum(1)
        near = (total >> interpolator.FRACTION).reshape(-1, 2, 2) << 16
        wide, high = quads.pixels_of(self._samples)
        x = (places.x % wide)[:, None, None] + np.arange(2)[None, None, :]
        y = (places.y % high)[:, None, None] + np.arange(2)[None, :, None]
        return shader_depths(
            tiles,
            self._fields,
            STEP * x + offsets[..., 0],
            STEP * y + offsets[..., 1],
            near,
        )
