# SPDX-License-Identifier: BSD-2-Clause
"""Filtering: from coordinates in a texture to its texels, and to what a reduction makes of them."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.depth.compare import COMPARE
from fixfunc.models.lib import float32
from fixfunc.models.texture.block_decode import linear
from fixfunc.models.texture.cache.taps import Taps
from fixfunc.models.texture.coordinates import cube
from fixfunc.models.texture.coordinates.footprint import LOD_BITS
from fixfunc.models.texture.filtering.reduction import (
    ONE,
    WEIGHT_BITS,
    Blend,
    Extreme,
    Mean,
    weights,
)
from fixfunc.models.texture.filtering.sampler_state import Sampler
from fixfunc.models.texture.texels import values
from fixfunc.models.texture.texture import Texture

RANGE = 1 << 16  # texels; coordinates beyond are clamped
LINEAR_UNIT = 65535  # of sRGB colours that have been made linear
STEPS = 24  # bits of a normalised channel in a filter


class Reader:
    """Texels of a texture during one call: each image is decoded once.

    Parameters
    ----------
    texture : Texture
    sampler : Sampler
        Of it the address modes, and the border.
    image : ndarray of int64, shape (n,)
        Of each request: layer times faces.
    offset : tuple of int
        Texels that every place is moved by, by axis.
    reference : ndarray of float32, shape (n,), optional
        What red is compared with: then texels are 1.0 or 0.0.
    taps : Taps, optional
        What is read is added to it.
    several : ndarray of bool, shape (n,), optional
        Requests of several samples: beyond a cube's corner they have the face's own texel.
    """

    def __init__(
        self,
        texture: Texture,
        sampler: Sampler,
        image: np.ndarray,
        offset: tuple[int, ...] = (),
        reference: np.ndarray | None = None,
        taps: Taps | None = None,
        several: np.ndarray | None = None,
    ) -> None:
        self._texture = texture
        self._sampler = sampler
        self._image = image
        self._several = np.zeros(len(image), bool) if several is None else several
        self._taps = taps
        self._decoded = {}
        self.is_cube = texture.faces == 6
        self.axes = 2 if self.is_cube else texture.dimension
        self.offset = (*offset, 0, 0, 0)[: self.axes]
        form = texture.texel_format
        self.unit = np.full(form.channels, float(LINEAR_UNIT)) if texture.srgb else form.unit
        self._steps = np.ones(form.channels, np.int64)
        if form.kind in ("UNORM", "SNORM") and reference is None:
            # Texels and borders alike: a border has more places than the format.
            self._steps <<= STEPS - np.frexp(self.unit)[1]
            self.unit = self.unit * self._steps
        self.channels = form.channels
        border = np.array(sampler.border[: form.channels], np.float32)
        if form.kind in ("UNORM", "SNORM"):
            border = np.clip(border, -1 if form.kind == "SNORM" else 0, 1)
        border[[n for n in range(form.channels) if n not in form.present]] = 0
        self._border = self._quantised(border, form, self.unit)
        self._reference = None
        if reference is not None:
            self._reference = self._quantised(reference, form, self.unit[0])
            self._border = self._border[:1]
            self.channels = 1
            self.unit = np.ones(1)

    @staticmethod
    def _quantised(value, form, one):
        """A reference, or a border, as the format stores it, as a depth is [fs 22.4.19]."""
        value = np.asarray(value, np.float32)
        if form.is_integer or form.kind == "FLOAT":
            return value
        held = np.clip(np.nan_to_num(value, nan=0.0), -1 if form.kind == "SNORM" else 0, 1)
        # Exact: a float32 times 24 bits, and a half.
        scaled = held.astype(np.float64) * one
        return np.trunc(scaled + np.copysign(0.5, scaled))

    def scaled(self, value: np.ndarray, axis: int, level: int) -> np.ndarray:
        """Coordinates along an axis in 1/256 texel of a level, s16.8."""
        mode = "clamp" if self.is_cube else self._sampler.address[axis]
        value = np.nan_to_num(value, nan=0.0)
        if mode in ("wrap", "mirror"):
            value = np.fmod(value, 2)  # exact; both modes have this period
        size = self._texture.extents(level)[axis]
        # Exact: a float32 times a size. It is rounded once.
        held = np.clip(value.astype(np.float64) * size, -RANGE, RANGE - 1 / ONE)
        return np.rint(held * ONE).astype(np.int64) + (self.offset[axis] << 8)

    @property
    def compares(self) -> bool:
        """Texels are those that a reference was compared with."""
        return self._reference is not None

    def size(self, level: int) -> tuple[int, ...]:
        """Texels along each axis of a level."""
        return self._texture.extents(level)

    def at(
        self, level: int, request: np.ndarray, places: Sequence[np.ndarray], read: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Texels of a level, and whether they lie beyond a cube's corner.

        Parameters
        ----------
        level : int
        request : ndarray of int64, shape (n,)
        places : sequence of ndarray of int64, shape (n,)
            By axis; they may lie beyond the texture.
        read : ndarray of bool, shape (n,)
            Which are wanted, for ``taps``.

        Returns
        -------
        ndarray, shape (n, channels), and ndarray of bool, shape (n,)
        """
        image = self._image[request]
        sizes = self._texture.extents(level)
        if self.is_cube:
            x, y = places
            corner = ((x < 0) | (x >= sizes[0])) & ((y < 0) | (y >= sizes[0]))
            held = corner & self._several[request]
            x, y = (np.where(held, np.clip(v, 0, sizes[0] - 1), v) for v in (x, y))
            corner &= ~held
            face, x, y = cube.across_edges(image % 6, x, y, sizes[0])
            image = image - image % 6 + face
            places = [x, y]
            outside = corner
        else:
            corner = np.zeros(len(request), bool)
            outside = corner
            found = []
            for place, size, mode in zip(places, sizes, self._sampler.address, strict=False):
                held, is_outside = addressed(place, size, mode)
                found.append(held)
                outside = outside | is_outside
            places = found
        zero = np.zeros_like(image)
        x, y, z = (*places, zero, zero)[:3]
        texels = self._read(level, image, x, y, z)
        if self.compares:
            compare = COMPARE[self._sampler.comparison]
            red = np.where(outside & ~corner, self._border[0], texels[:, 0])
            reference = self._reference[request]
            if self._texture.texel_format.kind == "FLOAT":
                # Operands of every operation are flushed [fs 3.1.3.1].
                red, reference = float32.flush(red), float32.flush(reference)
            texels = compare(reference, red)[:, None].astype(np.int64)
        elif not self.is_cube:
            texels[outside] = self._border
        if self._taps is not None:
            chosen = read & ~outside
            self._taps.add(
                sample=request[chosen],
                level=np.full(chosen.sum(), level),
                image=(image + z)[chosen],  # one of them is 0
                x=x[chosen],
                y=y[chosen],
            )
        return texels, corner

    def _read(self, level, image, x, y, z):
        """Texels that exist, in a type that holds borders, too."""
        form = self._texture.texel_format
        texels = np.empty((len(x), form.channels), _wide(form))
        for n in np.unique(image):
            chosen = image == n
            of_image = self._texels(level, int(n))
            texels[chosen] = of_image[z[chosen], y[chosen], x[chosen]]
        return texels if form.is_integer or form.kind == "FLOAT" else texels * self._steps

    def _texels(self, level, image):
        """An image: shape (depth, height, width, channels)."""
        if (level, image) not in self._decoded:
            texels = self._texture.texels(level, image)[:, :, :, 0]
            self._decoded[level, image] = as_light(texels) if self._texture.srgb else texels
        return self._decoded[level, image]

    def values(self, texels: np.ndarray) -> np.ndarray:
        """Texels as a shader reads them: shape (n, 4).

        See :func:`fixfunc.models.texture.texels.values`.
        """
        if self.compares:
            return np.repeat(texels.astype(np.float32), 4, -1)
        form = self._texture.texel_format
        return values(texels, form, self.unit)


def filtered(
    texture: Texture,
    sampler: Sampler,
    reader: Reader,
    coordinates: np.ndarray,
    lod: np.ndarray,
    footprints: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Filtered texels.

    Parameters
    ----------
    texture : Texture
    sampler : Sampler
    reader : Reader
    coordinates : ndarray of float32, shape (n, axes)
    lod : ndarray of int64, shape (n,)
        Level of detail, s8.8, held to all bounds but that of the levels that there are.
    footprints : (ndarray, ndarray)
        Numbers of samples along each footprint, and its axis.

    Returns
    -------
    ndarray of float32, shape (n, channels)
    """
    reduction = _reduction(sampler, reader, texture)
    last = len(texture.levels) - 1
    held = np.clip(lod, 0, last << LOD_BITS)
    if sampler.mip == "point":
        level = np.minimum(held + ONE // 2 >> LOD_BITS, last)
        fraction = np.zeros(len(lod), np.int64)
    else:
        level = held >> LOD_BITS
        fraction = held & ONE - 1
    smooth = np.where(lod > 0, sampler.minify == "linear", sampler.magnify == "linear")
    count, along = footprints
    total = None
    for n in range(int(count.max(initial=1))):
        active = np.flatnonzero(n < count)
        place = sample_place(coordinates[active], along[active], n, count[active])
        value = _level(reduction, reader, place, active, level[active], smooth[active])
        between = np.flatnonzero(fraction[active])
        coarse = value.copy()
        request = active[between]
        coarse[between] = _level(
            reduction, reader, place[between], request, level[request] + 1, smooth[request]
        )
        value = reduction.levels(value, coarse, fraction[active])
        if total is None:
            total = np.zeros((len(lod), value.shape[1]), value.dtype)
        total[active] = reduction.samples(total[active], value, n)
    return reduction.finish(total, count)


def sample_place(
    coordinates: np.ndarray, along: np.ndarray, number: int, count: np.ndarray
) -> np.ndarray:
    """Where samples of footprints lie: float32, one multiply-add from the middle, shape (n, axes).

    Parameters
    ----------
    coordinates, along : ndarray of float32, shape (n, axes)
        Middle and axis of each footprint.
    number : int
        Which sample.
    count : ndarray of int64, shape (n,)
        How many there are; the only one is in the middle.
    """
    offset = (2 * number + 1 - count).astype(np.float32) / (2 * count).astype(np.float32)
    moved = float32.multiply_add(offset[:, None], along, coordinates)
    return np.where(count[:, None] > 1, moved, coordinates)


def _reduction(sampler, reader, texture):
    """What the sampler makes of texels."""
    if sampler.reduction in ("minimum", "maximum"):
        function = np.fmin if sampler.reduction == "minimum" else np.fmax
        return Extreme(function, reader.unit)
    if texture.texel_format.kind == "FLOAT" and sampler.reduction == "standard":
        return Blend()
    return Mean(reader.unit, reader.axes, reader.is_cube)


def _level(reduction, reader, place, request, level, smooth):
    """Values of one level for each sample."""
    out = None
    for n in np.unique(level):
        chosen = np.flatnonzero(level == n)
        cells, fractions = cell(reader, place[chosen], int(n), smooth[chosen])
        texels, missing = grid(reader, int(n), request[chosen], cells, weights(fractions) > 0)
        found = reduction.grid(texels, fractions, missing)
        if out is None:
            out = np.zeros((len(request), found.shape[1]), found.dtype)
        out[chosen] = found
    return np.zeros((0, reader.channels)) if out is None else out


def cell(
    reader: Reader, place: np.ndarray, level: int, smooth: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """By axis, the first texel of each grid, and the weight of the second, of 256."""
    cells = []
    fractions = []
    scaled = [reader.scaled(place[:, axis], axis, level) for axis in range(reader.axes)]
    if reader.is_cube:
        # A far edge is of the face itself for a point. Samples of a footprint may lie beyond.
        end = (reader.size(level)[0] << WEIGHT_BITS) - np.where(smooth, 0, 1)
        scaled = [np.clip(value, 0, end) for value in scaled]
    for value in scaled:
        at = value - np.where(smooth, ONE // 2, 0)
        cells.append(at >> 8)
        fractions.append(np.where(smooth, at & ONE - 1, 0))
    return cells, fractions


def grid(
    reader: Reader,
    level: int,
    request: np.ndarray,
    cells: list[np.ndarray],
    read: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Texels of grids, shape (corners, n, channels), and which are beyond a cube's corner."""
    corners = [
        reader.at(
            level,
            request,
            [first + (corner >> axis & 1) for axis, first in enumerate(cells)],
            read[corner],
        )
        for corner in range(1 << reader.axes)
    ]
    return np.stack([texels for texels, _ in corners]), np.stack([m for _, m in corners])


def addressed(v: np.ndarray, size: int, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """Texels that exist, by the address mode, and whether the border is meant [fs 7.18.9]."""
    outside = (v < 0) | (v >= size)
    if mode == "wrap":
        v = v % size
    elif mode == "mirror":
        v = v % (2 * size)
        v = np.where(v >= size, 2 * size - 1 - v, v)
    elif mode == "mirror_once":
        v = np.where(v < 0, -1 - v, v)
    return np.clip(v, 0, size - 1), outside & (mode == "border")


def as_light(texels: np.ndarray) -> np.ndarray:
    """sRGB bytes as linear colours of 16 bits, of any number of channels."""
    whole = np.zeros((*texels.shape[:-1], 4), np.uint8)
    whole[..., : texels.shape[-1]] = texels
    return linear(whole)[..., : texels.shape[-1]]


def _wide(form):
    """A type that holds texels and borders exactly: a border of halves is float32."""
    if form.is_integer:
        return form.dtype
    return np.float32 if form.kind == "FLOAT" else np.int64
