# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the pixel pipe: colours of tiles from attributes of their triangles' corners."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.vertex_ring import Assembly
from fixfunc.models.lib import float32
from fixfunc.models.output.output_merger import parted
from fixfunc.models.payload import carried, dtype
from fixfunc.models.pixel import attribute_quads, texture_stage
from fixfunc.models.pixel.quad_dispatch import dispatch, helpers
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.texture.texture_cache import QuadCacheShape
from fixfunc.models.texture.texture_unit import TextureUnit
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.counters import PIXELS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.pixels.interpolation import (
    ATTRIBUTE,
    COMPONENTS,
    CORNERS,
    QUAD_TO_SHADE,
    How,
    InterpolatorKind,
    attribute_quad,
)
from fixfunc.spec.pixels.texture_stage import STAGE_QUAD, STAGE_STATE, StageKind, TextureOp
from fixfunc.spec.points import QUAD, QUAD_SAMPLES, quad_tile
from fixfunc.spec.textures.cache import CacheStatus
from fixfunc.spec.textures.unit import TEXTURE_QUAD, TEXTURED_QUAD, TextureKind

TILES = 1 << 12  # at a time: which tile a quad is of travels as its slot


class Shaded(NamedTuple):
    """Tiles, shaded."""

    # uint32, shape (outputs, n, edge, edge): in the format of each; 0 where nothing is shaded
    colours: np.ndarray
    survivors: np.ndarray  # bool, shape (n, edge, edge)
    fractions: np.ndarray  # uint32, shaped as colours: what rounding has taken away of them


class PixelPipe:
    """Shades by pixel states.

    Parameters
    ----------
    triangles, states : int
        That the hardware holds: both are in the numbers of triangles.
    textures : QuadCacheShape, optional
        Cache of the texture unit; None: there is none.
    shader : callable
        Takes what :func:`fixfunc.models.pixel.texture_stage.shade` does. Returns colours of quads,
        one behind the other: fields of :func:`fixfunc.spec.pixels.texture_stage.shaded_quad`.
    inner : bool
        Quads of conservative draws have inner coverage.

    Attributes
    ----------
    failed : bool
        Of the tiles that were counted last: memory could not give a line of a texture.
    """

    def __init__(
        self,
        triangles: int = 512,
        states: int = 8,
        textures: QuadCacheShape | None = None,
        shader: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] = texture_stage.shade,
        inner: bool = False,
    ) -> None:
        self._inner = inner
        self._shader = shader
        self._triangles = triangles
        self._states = states
        self._textures = textures
        self._memory = None, None
        self._unit = None
        self.failed = False

    def begin(self, memory: np.ndarray, unreadable: int | None = None) -> None:
        """A START: no texel is on chip.

        Parameters
        ----------
        memory : ndarray of uint8
            Textures lie there.
        unreadable : int, optional
            A byte that it cannot read.
        """
        self._memory = memory, unreadable
        self.forget()

    def forget(self) -> None:
        """Memory has changed, as behind a FENCE: no texel is on chip."""
        self._unit = self._textures and TextureUnit(self._textures, *self._memory)

    def slots(self, state_of: np.ndarray, before: int) -> np.ndarray:
        """Numbers of triangles as their tiles carry them: intp, shape (n,).

        Parameters
        ----------
        state_of : ndarray of intp, shape (n,)
            The pixel state of each.
        before : int
            Triangles that the pipe was given before.
        """
        rows = (before + np.arange(len(state_of))) % self._triangles
        return rows + state_of % self._states * self._triangles

    def shade(
        self,
        tiles: np.ndarray,
        samples: int,
        triangle: np.ndarray,
        assembly: Assembly,
        formats: Sequence[int] = BASE_FORMATS,
        conservative: bool = False,
    ) -> Shaded:
        """Colours of tiles.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
            Fields of :func:`fixfunc.spec.payloads.tested`; masks hold samples that are shaded.
        samples : int
            log2 of those of a pixel.
        triangle : ndarray of intp, shape (n,)
            Of each, in the assembly.
        assembly : Assembly
        formats : sequence of int
            Of each output, a colour plane or a second colour; 0 where it is not asked for.
        conservative : bool
            Of the draw: quads have inner coverage.
        """
        edge = self._edge(tiles)
        asked = self._asked(tiles, samples, triangle, assembly)
        how = assembly, edge, formats, conservative and self._inner
        parts = [
            self._shade(asked[at : at + TILES], triangle[at : at + TILES], *how)
            for at in range(0, max(len(tiles), 1), TILES)
        ]
        return Shaded(*(np.concatenate(its, -3) for its in zip(*parts, strict=True)))

    def counts(
        self, tiles: np.ndarray, samples: int, triangle: np.ndarray, assembly: Assembly
    ) -> Counter:
        """Counters of :data:`fixfunc.spec.counters.PIXELS` of the same tiles."""
        asked = self._asked(tiles, samples, triangle, assembly)
        attributes = assembly.triangles["attributes"][triangle].astype(np.int64)
        out = Counter(dict.fromkeys(PIXELS, 0))
        self.failed = False
        for at in range(0, len(tiles), TILES):
            some = asked[at : at + TILES]
            some["slot"] = np.arange(len(some))
            quads = dispatch(some, self._edge(tiles))
            own = attributes[at : at + TILES][quads["slot"].astype(np.intp)]
            found = len(quads), helpers(quads).sum(), np.maximum(own, 1).sum()
            found += self._reads(quads, triangle[at : at + TILES], assembly)
            out.update(dict(zip(PIXELS, map(int, found), strict=True)))
        return out

    @staticmethod
    def _edge(tiles):
        return 8 if tiles["mask"].dtype.itemsize == 8 else 4

    def _asked(self, tiles, samples, triangle, assembly):
        """Tiles as they are dispatched."""
        asked = np.zeros(len(tiles), dtype(quad_tile(self._edge(tiles))))
        for name in ("x", "y", "back", "mask", "covered"):
            asked[name] = tiles[name]
        asked["samples"] = samples
        asked["by_sample"] = assembly.states["by_sample"][assembly.state_of[triangle]]
        return asked

    def _shade(self, tiles, triangle, assembly, edge, formats, conservative):
        tiles["slot"] = np.arange(len(tiles))
        quads = dispatch(tiles, edge)
        tile = quads["slot"].astype(np.intp)
        beats, state_of = self._stage_beats(quads, triangle, assembly, conservative)
        # Texels do not depend on what is on chip.
        unit = self._textures and TextureUnit(self._textures, *self._memory)
        self._sample(beats, state_of, assembly, unit)
        shaded = self._shader(stage_states(assembly.states), beats, state_of)
        return gather(of_outputs(shaded, len(formats)), tile, len(tiles), edge, formats)

    def _reads(self, quads, triangle, assembly):
        """Blocks and lines that the texture unit reads for quads."""
        ops = assembly.states["op"][assembly.state_of[triangle]]
        if self._unit is None or (ops == TextureOp.NONE).all():
            return 0, 0, 0
        beats, state_of = self._stage_beats(quads, triangle, assembly)
        sampled = self._sample(beats, state_of, assembly, self._unit)
        self.failed |= bool((sampled["status"] == CacheStatus.MEMORY).any())
        return tuple(sampled[name].sum() for name in ("lookups", "misses", "lines"))

    @staticmethod
    def _stage_beats(quads, triangle, assembly, conservative=False):
        """Attributes of quads, and the pixel state of each."""
        own, quad_of = np.unique(triangle[quads["slot"].astype(np.intp)], return_inverse=True)
        beats = beats_of(quads, quad_of, own, assembly)
        beats.corners["conservative"] = conservative
        values = attribute_quads.interpolate(beats)
        return stage_beats(values, assembly.state_of[own][quad_of])

    @staticmethod
    def _sample(beats, state_of, assembly, unit):
        """Put texels into beats; returns what became of quads that have any."""
        ends = np.flatnonzero(beats["end"])
        own = state_of[ends]
        textured = assembly.states["op"][own] != TextureOp.NONE
        if unit is None or not textured.any():
            return np.zeros(0, dtype(TEXTURED_QUAD))
        # Of a quad the beats follow one another: the first is behind the end before.
        first = np.concatenate([[0], ends[:-1] + 1])[textured]
        ends, own = ends[textured], own[textured]
        place = first + assembly.states["coordinates"][own].astype(np.intp)
        given = beats[np.minimum(place, ends)]
        quads = np.zeros(len(ends), dtype(TEXTURE_QUAD))
        quads["kind"] = TextureKind.QUAD
        for pixel in range(4):
            for n, axis in enumerate("uv"):
                quads[f"{axis}{pixel}"] = given[f"p{pixel}_{n}"]
            samples = beats["mask"][ends] >> QUAD_SAMPLES * pixel & (1 << QUAD_SAMPLES) - 1
            quads["live"] |= ((samples > 0).astype(np.int64) << pixel).astype(np.uint8)
        found = unit.sample(assembly.textures, quads, own)
        for pixel in range(4):
            for n in range(4):
                bits = found[f"c{pixel}_{n}"].astype(np.int64)
                beats[f"t{pixel}_{n}"][ends] = float32.unorm(bits)
        return found


def beats_of(
    quads: np.ndarray, quad_of: np.ndarray, triangles: np.ndarray, assembly: Assembly
) -> attribute_quads.Beats:
    """What the interpolator hears of quads, and of some triangles of an assembly.

    Parameters
    ----------
    quads : structured ndarray, shape (q,)
        Of :data:`fixfunc.spec.points.QUAD`.
    quad_of : ndarray of intp, shape (q,)
        The triangle of each, among ``triangles``.
    triangles : ndarray of intp, shape (t,)
        In the assembly.
    assembly : Assembly
    """
    found = assembly.triangles[triangles]
    states = assembly.states[assembly.state_of[triangles]]
    corners = np.zeros(len(triangles), dtype(CORNERS))
    for name in corners.dtype.names:
        if name in found.dtype.names and name != "kind":
            corners[name] = found[name]
    corners["kind"] = InterpolatorKind.CORNERS
    corners["sample_mask"] = states["sample_mask"]
    counts = found["attributes"].astype(np.intp)
    attribute_of = np.repeat(np.arange(len(triangles)), counts)
    number = np.arange(len(attribute_of)) - np.repeat(np.cumsum(counts) - counts, counts)
    attributes = np.zeros(len(attribute_of), dtype(ATTRIBUTE))
    attributes["kind"] = InterpolatorKind.ATTRIBUTE
    for name in ("how", "where"):
        columns = np.stack([states[f"{name}{n}"] for n in range(8)], 1)
        attributes[name] = columns[attribute_of, number]
    values = assembly.values[triangles[attribute_of], :, number]
    for k in range(3):
        for n, component in enumerate(COMPONENTS):
            attributes[f"{component}{k}"] = values[:, k, n]
    for name, how in (("linear", How.LINEAR), ("perspective", How.PERSPECTIVE)):
        corners[name][attribute_of[attributes["how"] == how]] = 1
    to_shade = np.zeros(len(quads), dtype(QUAD_TO_SHADE))
    for field in QUAD:
        to_shade[field.name] = quads[field.name]
    to_shade["kind"] = InterpolatorKind.QUAD
    return attribute_quads.Beats(corners, attributes, attribute_of, to_shade, quad_of)


def stage_states(states: np.ndarray) -> np.ndarray:
    """Pixel states as the texture stage hears of them."""
    out = carried(states, STAGE_STATE)
    out["kind"] = StageKind.STATE
    return out


def stage_beats(values: np.ndarray, state_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the texture stage hears of quads, without texels, and the state of each beat.

    Parameters
    ----------
    values : structured ndarray, shape (n,)
        Of :func:`fixfunc.spec.pixels.interpolation.attribute_quad`.
    state_of : ndarray of intp, shape (q,)
        Of each quad.
    """
    beats = np.zeros(len(values), dtype(STAGE_QUAD))
    beats["kind"] = StageKind.QUAD
    for field in attribute_quad(len(COMPONENTS)):
        beats[field.name] = values[field.name]
    quad = np.cumsum(values["end"]) - values["end"]
    return beats, state_of[quad.astype(np.intp)]


def of_outputs(shaded: np.ndarray, count: int) -> list[np.ndarray]:
    """For each of so many outputs its colour of each quad: structured, shape (q,).

    A colour is that of its own output; the last one of its quad is that of all behind it, too.

    Parameters
    ----------
    shaded : structured ndarray, shape (n,)
        Colours of quads, one behind the other; without ``more``, one of each.
    count : int
    """
    if "more" not in shaded.dtype.names:
        return [shaded] * count
    ends = np.flatnonzero(shaded["more"] == 0)
    begins = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    return [shaded[np.minimum(begins + output, ends)] for output in range(count)]


def gather(
    outputs: Sequence[np.ndarray],
    tile: np.ndarray,
    count: int,
    edge: int,
    formats: Sequence[int],
) -> Shaded:
    """Colours of every output, and survivors, of tiles.

    Parameters
    ----------
    outputs : sequence of structured ndarray, shape (q,)
        Of :func:`of_outputs`.
    tile : ndarray of intp, shape (q,)
        The number of each quad's tile.
    count, edge : int
        Tiles, and samples along the edge of one.
    formats : sequence of int
        Of each output; 0 where it is not asked for.
    """
    colours, fractions = np.zeros((2, len(formats), count, edge, edge), np.uint32)
    survivors = np.zeros((count, edge, edge), bool)
    shaded = outputs[0]
    for pixel in range(4):
        packed = [
            parted(_channels(its, pixel), Format(form)) if form else None
            for its, form in zip(outputs, formats, strict=True)
        ]
        for samples in np.unique(shaded["samples"]):
            for sample in range(1 << int(samples)):
                some = np.flatnonzero(
                    (shaded["samples"] == samples)
                    & (~shaded["by_sample"].astype(bool) | (shaded["sample"] == sample))
                )
                y, x = _lane(shaded[some], pixel, sample, int(samples))
                place = tile[some], y % edge, x % edge
                for output, words in enumerate(packed):
                    if words is not None:
                        colours[(output, *place)], fractions[(output, *place)] = (
                            its[some] for its in words
                        )
                survivors[place] = shaded["mask"][some] >> QUAD_SAMPLES * pixel + sample & 1
    return Shaded(colours, survivors, fractions)


def _channels(shaded, pixel):
    """Colour of a pixel of quads: uint32, shape (q, 4)."""
    return np.stack([shaded[f"c{pixel}_{n}"] for n in range(4)], 1).astype(np.uint32)


def _lane(quads, pixel, sample, samples):
    """Row and column of a sample of a pixel of quads."""
    x_bits, y_bits = LANE_SHAPE[samples]
    x = (quads["x"].astype(np.intp) + pixel % 2 << x_bits) + sample % (1 << x_bits)
    y = (quads["y"].astype(np.intp) + pixel // 2 << y_bits) + (sample >> x_bits)
    return y, x
