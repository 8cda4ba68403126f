# SPDX-License-Identifier: BSD-2-Clause
"""What a pixel shader takes: quads, their attributes, and attributes at other locations."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.pixel import interpolator
from fixfunc.models.pixel.quads import ALL, Quads
from fixfunc.models.raster.forced_samples import PATTERNS, positions_of
from fixfunc.models.texture.coordinates.footprint import quad_gradients
from fixfunc.spec.errors import InputError

STEP = 16  # of s15.8 pixels: positions of samples, and offsets, are sixteenths of a pixel
CENTRE = 128


class Triangles(NamedTuple):
    """What a pixel stage needs of triangles: arrays by triangle."""

    corners: interpolator.Corners
    values: np.ndarray  # uint32, shape (n, 3, a, 4): attributes at their primitives' corners
    original: np.ndarray  # float32, shape (n, 3, 3): weights of their corners there
    primitive: np.ndarray  # uint32, shape (n,)
    rhw: np.ndarray  # float32, shape (n, 3): 1/w of their corners

    def take(self, numbers: np.ndarray | slice) -> "Triangles":
        """Some of them, in an order."""
        corners = interpolator.Corners(*(value[numbers] for value in self.corners))
        return Triangles(corners, *(value[numbers] for value in self[1:]))


@dataclass(frozen=True)
class Locations:
    """Where attributes of quads' pixels are evaluated, s15.8 pixels.

    Parameters
    ----------
    quads : Quads
    coverage : ndarray of bool, shape (q, 2, 2, samples)
        Samples that the triangle covers, and the sample mask leaves.
    sample_mask : int
    """

    quads: Quads
    coverage: np.ndarray
    sample_mask: int

    @cached_property
    def x(self) -> np.ndarray:
        """Pixels of the target: int64, shape (q, 2, 2)."""
        return self.quads.x[:, None, None] + np.broadcast_to([[0, 1], [0, 1]], self._shape)

    @cached_property
    def y(self) -> np.ndarray:
        """Pixels of the target: int64, shape (q, 2, 2)."""
        return self.quads.y[:, None, None] + np.broadcast_to([[0, 0], [1, 1]], self._shape)

    @property
    def _shape(self):
        return (len(self.quads.x), 2, 2)

    def offsets(self, where: str) -> np.ndarray:
        """Offsets from pixels' centres, 1/16 pixel: int64, shape (q, 2, 2, 2), x before y.

        Parameters
        ----------
        where : str
            ``centre``, ``centroid`` or ``sample``. A centroid is the centre, if all samples are
            covered; else the first that is. Pixels without one have the first of the sample mask,
            or the centre, if the mask is full [fs 3.5.5].
        """
        count = self.coverage.shape[3]
        if where == "centre":
            return np.zeros((*self._shape, 2), np.int64)
        if where == "sample":
            return self.of_sample(np.maximum(self.quads.sample, 0)[:, None, None])
        mask = self.sample_mask >> np.arange(count) & 1
        first = np.where(self.coverage.any(3), self.coverage.argmax(3), int(mask.argmax()))
        is_centre = self.coverage.all(3) | (~self.coverage.any(3) & bool(mask.all()))
        return np.where(is_centre[..., None], 0, self.of_sample(first))

    def of_sample(self, number: np.ndarray) -> np.ndarray:
        """Offsets of samples by their number; those beyond the last are the last."""
        positions = PATTERNS[self.coverage.shape[3]]
        number = np.broadcast_to(np.clip(number, 0, len(positions) - 1), self._shape)
        return np.array(positions, np.int64)[number]

    def at(self, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions, s15.8 pixels: two of int64, shape (4 q,)."""
        return tuple(
            (256 * pixel + CENTRE + STEP * offsets[..., axis]).reshape(-1)
            for axis, pixel in enumerate((self.x, self.y))
        )


@dataclass(frozen=True)
class Evaluator:
    """Attributes of quads, wherever they are asked for.

    Parameters
    ----------
    modes : sequence of str
        Of every attribute: :data:`fixfunc.models.pixel.pixel_shader.MODES`.
    pixels : Triangles
        That of each pixel.
    locations : Locations
    """

    modes: Sequence[str]
    pixels: Triangles
    locations: Locations

    def take(self, quads: slice) -> "Evaluator":
        """The same of some quads in a row."""
        where = self.locations
        taken = Quads(*(values[quads] for values in where.quads))
        pixels = slice(4 * quads.start, 4 * quads.stop)
        return Evaluator(
            self.modes,
            self.pixels.take(pixels),
            Locations(taken, where.coverage[quads], where.sample_mask),
        )

    def declared(self) -> np.ndarray:
        """All attributes where they are declared to be: uint32, shape (q, 2, 2, a, 4)."""
        shape = (len(self.pixels.values), len(self.modes), 4)
        out = np.empty(shape, np.uint32)
        for mode in set(self.modes):
            chosen = [n for n, its in enumerate(self.modes) if its == mode]
            kind, _, where = mode.partition("_")
            offsets = self.locations.offsets(where or "centre")
            out[:, chosen] = self._values(chosen, kind, offsets)
        return out.reshape(len(out) // 4, 2, 2, *shape[1:])

    def attribute_at(self, attribute: int, offsets: np.ndarray) -> np.ndarray:
        """One attribute at offsets from the centres: uint32, shape (q, 2, 2, 4)."""
        kind = self.modes[attribute].partition("_")[0]
        return self._values([attribute], kind, offsets).reshape(-1, 2, 2, 4)

    def _values(self, chosen, kind, offsets):
        """Attributes of one kind: uint32, shape (4 q, chosen, 4)."""
        values = self.pixels.values[:, :, chosen]
        if kind == "constant":
            return values[:, 0]
        at = self.locations.at(offsets)
        original = self.pixels.original
        by_w = kind == "perspective"
        share = interpolator.weights(self.pixels.corners, *at, by_w, original)
        found = interpolator.attributes(values.view(np.float32), share)
        return np.ascontiguousarray(found).view(np.uint32)


@dataclass(frozen=True)
class PixelQuads:
    """Quads for a pixel shader: no quad sees another.

    Parameters
    ----------
    x, y : ndarray of int64, shape (q, 2, 2)
        Pixels of the target, [quad, y, x].
    attributes : ndarray of uint32, shape (q, 2, 2, a, 4)
    covered : ndarray of bool, shape (q, 2, 2, samples)
        Samples that are shaded: helpers have none.
    front : ndarray of bool, shape (q,)
    primitive : ndarray of uint32, shape (q,)
        PrimitiveID.
    inner : ndarray of bool, shape (q, 2, 2)
        With conservative coverage, the triangle has the whole pixel.
    position : ndarray of float32, shape (q, 2, 2, 4)
        x and y in pixels; z as the depth test interpolates it, not cut to a range; w.
    coverage : ndarray of uint32, shape (q, 2, 2)
        Samples that the triangle covers and the sample mask leaves, whatever tests say.
    sample : ndarray of uint32, shape (q,)
        SampleIndex; 0, if a pixel is shaded once.
    evaluator : Evaluator
    """

    x: np.ndarray
    y: np.ndarray
    attributes: np.ndarray
    covered: np.ndarray
    front: np.ndarray
    primitive: np.ndarray
    inner: np.ndarray
    position: np.ndarray
    coverage: np.ndarray
    sample: np.ndarray
    evaluator: Evaluator

    @property
    def live(self) -> np.ndarray:
        """Pixels that are no helpers: what others write to memory does not count."""
        return self.covered.any(3)

    @property
    def sample_count(self) -> int:
        """Samples of a pixel: what sampleinfo tells of the rasterizer [fs 22.4.21]."""
        return self._locations.coverage.shape[3]

    def sample_position(self, number: ArrayLike) -> np.ndarray:
        """Where the rasterizer's samples lie: see :func:`positions_of`."""
        return positions_of(self.sample_count, number)

    def floats(self, attribute: int) -> np.ndarray:
        """An attribute as float32, shape (q, 2, 2, 4)."""
        self._check(attribute)
        return self.attributes[..., attribute, :].view(np.float32)

    # The pull model [fs 16.5]: of the declared mode only how, not where.

    def at_sample(self, attribute: int, number: np.ndarray) -> np.ndarray:
        """An attribute at samples, by their number, shape (q, 2, 2), or one for all."""
        number = _integers("number", number, self.x.shape)
        return self._pulled(attribute, self._locations.of_sample(number))

    def at_centroid(self, attribute: int) -> np.ndarray:
        """An attribute at centroids."""
        return self._pulled(attribute, self._locations.offsets("centroid"))

    def snapped(self, attribute: int, offsets: np.ndarray) -> np.ndarray:
        """An attribute at offsets from pixels' centres.

        Parameters
        ----------
        attribute : int
        offsets : ndarray of int, shape (q, 2, 2, 2), or (2,)
            x and y in 1/16 pixel, of which the lowest four bits count, with a sign.
        """
        steps = (_integers("offsets", offsets, (*self.x.shape, 2)).astype(np.int64) + 8 & 15) - 8
        return self._pulled(attribute, steps)

    def derivatives(self, values: np.ndarray, coarse: bool = False) -> tuple[np.ndarray, ...]:
        """Derivatives of values to the right and downwards.

        Parameters
        ----------
        values : ndarray of float32, shape (q, 2, 2, k)
        coarse : bool
            One for a quad, of its first row and column; else each row and column has its own.

        Returns
        -------
        (ndarray, ndarray) of float32, shape (q, 2, 2, k)
        """
        values = np.asarray(values, np.float32)
        if values.ndim < 3 or values.shape[:3] != self.x.shape:
            raise InputError("values", f"be of shape {(*self.x.shape, '...')}", values.shape)
        return quad_gradients(values, coarse)

    def _check(self, attribute):
        """Raise ``InputError`` for an attribute that there is not."""
        many = len(self.evaluator.modes)
        if not isinstance(attribute, int | np.integer) or attribute not in range(many):
            raise InputError("attribute", f"be one of {many}", attribute)

    @property
    def _locations(self):
        return self.evaluator.locations

    def _pulled(self, attribute, offsets):
        self._check(attribute)
        return self.evaluator.attribute_at(attribute, offsets).view(np.float32)


def _integers(name, value, shape):
    """Integers of a shape, or fewer that fit it; others raise ``InputError``."""
    found = np.asarray(value)
    if found.dtype.kind not in "iu":
        raise InputError(name, "be integers", found.dtype.name)
    try:
        return np.broadcast_to(found, shape)
    except ValueError:
        raise InputError(name, f"fit shape {shape}", found.shape) from None


def sample_index(quads: Quads) -> np.ndarray:
    """SampleIndex of quads: uint32."""
    return np.where(quads.sample == ALL, 0, quads.sample).astype(np.uint32)
