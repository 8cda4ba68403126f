# SPDX-License-Identifier: BSD-2-Clause
"""Sampler: from coordinates to filtered texels, in the fixed-point steps of hardware."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.texture import cube
from fixfunc.models.texture.block_decode import linear
from fixfunc.models.texture.footprint import (
    LOD_BITS,
    footprint,
    quad_gradients,
    saturated,
)
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.errors import InputError

ADDRESSES = "wrap", "mirror", "clamp", "border", "mirror_once"
FILTERS = "point", "linear"
ONE = 1 << 8  # one texel in a texel coordinate, and the sum of two weights
RANGE = 1 << 16  # texels; coordinates beyond are clamped


@dataclass(frozen=True)
class Sampler:
    """State of a sampler.

    Parameters
    ----------
    minify, magnify, mip : str
        Filters: ``point`` or ``linear``. ``mip`` selects levels.
    address : (str, str)
        Address modes of u and v: wrap, mirror, clamp, border, mirror_once. Cubes ignore them.
    border : tuple of float
        Red, green, blue, alpha outside of the texture, as linear colours; clamped to what the
        format can hold.
    bias : float
        It is added to levels of detail.
    min_lod, max_lod : float
        Levels of detail are clamped to this range; ``min_lod`` prevails.
    anisotropy : int
        Greatest number of samples along a footprint: 1 to 16.
    """

    minify: str = "linear"
    magnify: str = "linear"
    mip: str = "linear"
    address: tuple = ("wrap", "wrap")
    border: tuple = (0.0, 0.0, 0.0, 0.0)
    bias: float = 0.0
    min_lod: float = 0.0
    max_lod: float = 31.0
    anisotropy: int = 1

    def __post_init__(self):
        for name in ("minify", "magnify", "mip"):
            _check(name, getattr(self, name), FILTERS)
        for value in self.address:
            _check("address", value, ADDRESSES)
        if self.anisotropy not in range(1, 17):
            raise InputError("anisotropy", "be 1 to 16", self.anisotropy)
        if not -16 <= self.bias < 16:
            raise InputError("bias", "be at least -16 and below 16", self.bias)
        for name in ("min_lod", "max_lod"):
            if np.isnan(getattr(self, name)):
                raise InputError(name, "be a number", getattr(self, name))
        if np.shape(self.border) != (4,) or np.isnan(self.border).any():
            raise InputError("border", "be four numbers", self.border)


@dataclass
class Taps:
    """Texels that samples read, in their order: arrays of equal length."""

    sample: list = field(default_factory=list)
    level: list = field(default_factory=list)
    image: list = field(default_factory=list)
    x: list = field(default_factory=list)
    y: list = field(default_factory=list)

    def add(self, **arrays: np.ndarray) -> None:
        """Append texels."""
        for name, values in arrays.items():
            getattr(self, name).append(values)

    def arrays(self) -> dict[str, np.ndarray]:
        """All texels, sample by sample: {name: ndarray of int64}."""
        arrays = {
            name: np.concatenate(values) if values else np.zeros(0, np.int64)
            for name, values in vars(self).items()
        }
        order = np.argsort(arrays["sample"], kind="stable")
        return {name: values[order] for name, values in arrays.items()}


def sample(
    texture: Texture,
    sampler: Sampler,
    coordinates: np.ndarray,
    lod: ArrayLike | None = None,
    gradients: tuple[np.ndarray, np.ndarray] | None = None,
    bias: ArrayLike = 0.0,
    layer: ArrayLike = 0,
    coarse: bool = False,
    taps: Taps | None = None,
) -> np.ndarray:
    """Sample a texture.

    Parameters
    ----------
    texture : fixfunc.models.texture.texture.Texture
        The texture.
    sampler : Sampler
        State of the sampler.
    coordinates : ndarray of float32, shape (..., 2), or (..., 3) for a cube
        u and v, from 0 to 1 across the texture; or directions. With neither ``lod`` nor
        ``gradients`` they must be quads, shape (n, 2, 2, k), indexed [quad, y, x].
    lod : array of float, optional
        Levels of detail.
    gradients : (ndarray, ndarray) of float32, optional
        Gradients of the coordinates, to the right and downwards.
    bias : array of float
        It is added to levels of detail that result from gradients.
    layer : array of float
        Texture, or cube, of an array: rounded, ties to even, and clamped to the layers that exist.
        NaN is 0.
    coarse : bool
        Gradients of quads are coarse, see :func:`fixfunc.models.texture.footprint.quad_gradients`.
    taps : Taps, optional
        The texels that are read are appended to it.

    Returns
    -------
    ndarray of float32, shape (..., 4)
        Filtered texels: UNORM from 0 to 1, SNORM from -1 to 1; colours are linear. Colours that the
        format lacks are 0, alpha is 1.

    Raises
    ------
    InputError
        Coordinates have another shape.

    Source: [trip 4] [fs 7.18]; numerics: texel coordinates s16.8, weights of 8 bits, exact sums (53
    bits for halves), rounded at the end.
    """
    is_cube = texture.faces == 6
    coordinates = np.asarray(coordinates, np.float32)
    if coordinates.ndim < 1 or coordinates.shape[-1] != 2 + is_cube:
        raise InputError("coordinates", f"be of shape (..., {2 + is_cube})", str(coordinates.shape))
    if (
        lod is None
        and gradients is None
        and (coordinates.ndim != 4 or coordinates.shape[1:3] != (2, 2))
    ):
        raise InputError(
            "coordinates without lod or gradients",
            "be quads of shape (n, 2, 2, k)",
            str(coordinates.shape),
        )
    shape = coordinates.shape[:-1]
    flat = coordinates.reshape(-1, 2 + is_cube)
    layer = np.rint(np.nan_to_num(np.broadcast_to(layer, shape).reshape(-1).astype(np.float32)))
    image = np.clip(layer, 0, texture.layers - 1).astype(np.int64) * texture.faces
    # Coordinates, and halves, may be infinite or no number.
    with np.errstate(over="ignore", invalid="ignore"):
        if lod is None:
            if gradients is None:
                gradients = quad_gradients(coordinates, coarse)
            slopes = [
                np.broadcast_to(np.asarray(slope, np.float32), coordinates.shape).reshape(
                    flat.shape
                )
                for slope in gradients
            ]
        else:
            slopes = []
            level = _fixed(np.broadcast_to(lod, shape).reshape(-1))
            count = np.ones(len(flat), np.int64)
            along = np.zeros((len(flat), 2), np.float32)
        if is_cube:
            face, flat, slopes = cube.project(flat, slopes)
            image = image + face
        if lod is None:
            level, count, along = footprint(
                *slopes, texture.width, texture.height, sampler.anisotropy
            )
            level = saturated(level + _fixed(np.broadcast_to(bias, shape).reshape(-1)))
        level = saturated(level + _fixed(sampler.bias))
        level = np.maximum(np.minimum(level, _fixed(sampler.max_lod)), _fixed(sampler.min_lod))
        texels = _Fetch(texture, sampler, image, taps).filtered(flat, level, count, along)
    complete = np.zeros((*shape, 4), np.float32)
    complete[..., 3] = 1
    complete[..., : texels.shape[-1]] = texels.reshape(*shape, texels.shape[-1])
    return complete


class _Fetch:
    """A texture during one call: each level is decoded once."""

    def __init__(self, texture, sampler, image, taps):
        self._texture = texture
        self._sampler = sampler
        self._image = image
        self._taps = taps
        self._decoded = {}
        self._cube = texture.faces == 6
        first = self._texels(0, 0)
        self._channels = first.shape[-1]
        self._kind = first.dtype
        self._unit = {
            np.dtype(np.uint8): 255,
            np.dtype(np.uint16): 65535,
            np.dtype(np.int16): 32767,
        }.get(first.dtype, 1)
        border = np.array(sampler.border[: self._channels], np.float32)
        if self._unit > 1:
            border = np.clip(border, -1 if first.dtype == np.int16 else 0, 1)
        self._border = (border * np.float32(self._unit)).astype(np.float64)

    def _texels(self, level, image):
        if (level, image) not in self._decoded:
            layer, face = divmod(image, self._texture.faces)
            texels = self._texture.image(level, layer, face)
            self._decoded[level, image] = linear(texels) if self._texture.srgb else texels
        return self._decoded[level, image]

    def filtered(self, coordinates, lod, count, along):
        """Filtered texels: float32, shape (n, channels)."""
        last = len(self._texture.levels) - 1
        clamped = np.clip(lod, 0, last << LOD_BITS)
        if self._sampler.mip == "point":
            level = np.minimum(clamped + ONE // 2 >> LOD_BITS, last)
            fraction = np.zeros(len(lod), np.int64)
        else:
            level = clamped >> LOD_BITS
            fraction = clamped & ONE - 1
        smooth = np.where(
            lod > 0, self._sampler.minify == "linear", self._sampler.magnify == "linear"
        )
        total = np.zeros((len(lod), self._channels))
        for n in range(int(count.max(initial=0))):
            active = np.flatnonzero(n < count)
            offset = (2 * n + 1 - count[active]) / (2 * count[active])
            place = (
                coordinates[active].astype(np.float64)
                + np.where(count[active] > 1, offset, 0)[:, None] * along[active]
            )
            for step, weight in ((0, ONE - fraction[active]), (1, fraction[active])):
                weighted = np.flatnonzero(weight)
                request = active[weighted]
                total[request] += weight[weighted, None] * self._level(
                    place[weighted], request, level[request] + step, smooth[request]
                )
        scale = float(self._unit) * ONE**3 * (3 if self._cube else 1)
        return (total / (scale * count[:, None])).astype(np.float32)

    def _level(self, place, request, level, smooth):
        """Weighted sums of texels, of one level for each sample.

        Weights add up to 2^16; a cube's to three times that, because a texel beyond a corner is the
        mean of three others.
        """
        sums = np.zeros((len(request), self._channels))
        for n in np.unique(level):
            selected = np.flatnonzero(level == n)
            sizes = self._texture.size(n)
            x = self._scaled(place[selected, 0], 0, sizes[0])
            y = self._scaled(place[selected, 1], 1, sizes[1])
            half = np.where(smooth[selected], ONE // 2, 0)
            x, fx = ((x - half) >> 8, np.where(smooth[selected], (x - half) & ONE - 1, 0))
            y, fy = ((y - half) >> 8, np.where(smooth[selected], (y - half) & ONE - 1, 0))
            taps = []
            for dy, wy in ((0, ONE - fy), (1, fy)):
                for dx, wx in ((0, ONE - fx), (1, fx)):
                    texels, corner = self._tap(
                        n, request[selected], x + dx, y + dy, sizes, wx * wy > 0
                    )
                    taps.append((wx * wy, texels, corner))
            three = sum(np.where(corner[:, None], 0, texels) for _, texels, corner in taps)
            for weight, texels, corner in taps:
                tripled = np.where(corner[:, None], three, 3 * texels) if self._cube else texels
                sums[selected] += weight[:, None] * tripled
        return sums

    def _scaled(self, value, axis, size):
        """Coordinates in 1/256 texel, s16.8."""
        mode = "clamp" if self._cube else self._sampler.address[axis]
        if mode in ("wrap", "mirror"):
            value = np.fmod(value, 2)  # exact; both modes have this period
        return np.rint(
            np.clip(np.nan_to_num(value * size, nan=0.0), -RANGE, RANGE - 1 / ONE) * ONE
        ).astype(np.int64)

    def _tap(self, level, request, x, y, sizes, read):
        """Texels as float64, and whether they lie beyond a cube's corner.

        Texels that are not ``read`` are zero, whatever their value.
        """
        image = self._image[request]
        corner = np.zeros(len(x), bool)
        if self._cube:
            corner = ((x < 0) | (x >= sizes[0])) & ((y < 0) | (y >= sizes[1]))
            face, x, y = cube.across_edges(image % 6, x, y, sizes[0])
            image = image - image % 6 + face
            outside = corner
        else:
            (x, x_outside), (y, y_outside) = (
                _addressed(v, size, mode)
                for v, size, mode in zip((x, y), sizes, self._sampler.address, strict=True)
            )
            outside = x_outside | y_outside
        texels = np.empty((len(x), self._channels))
        for n in np.unique(image):
            selected = image == n
            texels[selected] = self._texels(level, int(n))[y[selected], x[selected]]
        if not self._cube:
            texels[outside] = self._border
        texels[~read & ~corner] = 0
        if self._taps is not None:
            recorded = read & ~outside
            self._taps.add(
                sample=request[recorded],
                level=np.full(recorded.sum(), level),
                image=image[recorded],
                x=x[recorded],
                y=y[recorded],
            )
        return texels, corner


def _addressed(v, size, mode):
    """Coordinates of texels that exist, by the address mode, and whether the border is meant."""
    outside = (v < 0) | (v >= size)
    if mode == "wrap":
        v = v % size
    elif mode == "mirror":
        v = v % (2 * size)
        v = np.where(v >= size, 2 * size - 1 - v, v)
    elif mode == "mirror_once":
        v = np.where(v < 0, -1 - v, v)
    return np.clip(v, 0, size - 1), outside & (mode == "border")


def _fixed(value):
    """A level of detail as s8.8; NaN is zero."""
    scaled = np.nan_to_num(np.asarray(value, np.float64), nan=0.0) * ONE
    return np.rint(saturated(scaled)).astype(np.int64)


def _check(name, value, valid):
    if value not in valid:
        raise InputError(name, f"be one of {', '.join(valid)}", value)
