# SPDX-License-Identifier: BSD-2-Clause
"""Golden sampler: from coordinates to filtered texels, in the fixed-point steps that hardware takes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.texture import _cube
from fixfunc.models.texture._footprint import LEAST, LOD, MOST, footprint, quad_gradients
from fixfunc.models.texture.block_decode import linear
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.errors import InputError

ADDRESSES = "wrap", "mirror", "clamp", "border", "mirror_once"
FILTERS = "point", "linear"
ONE = 1 << 8  # of a texel coordinate, and the sum of two weights
RANGE = 1 << 16  # texels, that coordinates beyond are held at


@dataclass(frozen=True)
class Sampler:
    """State of a sampler.

    Parameters
    ----------
    minify, magnify, mip : str
        ``point`` or ``linear``; mip is how levels are chosen.
    address : (str, str)
        Of u and v: wrap, mirror, clamp, border, mirror_once. Cubes have none.
    border : tuple of float
        Red, green, blue, alpha of what is outside.
    bias, least, most : float
        Added to levels of detail, and what these are held between.
    anisotropy : int
        Most samples along a footprint: 1 to 16.
    """

    minify: str = "linear"
    magnify: str = "linear"
    mip: str = "linear"
    address: tuple = ("wrap", "wrap")
    border: tuple = (0.0, 0.0, 0.0, 0.0)
    bias: float = 0.0
    least: float = 0.0
    most: float = 31.0
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


@dataclass
class Taps:
    """Which texels samples read, in their order: arrays of equal length."""

    sample: list = field(default_factory=list)
    level: list = field(default_factory=list)
    image: list = field(default_factory=list)
    x: list = field(default_factory=list)
    y: list = field(default_factory=list)

    def add(self, **arrays: np.ndarray) -> None:
        """More of them."""
        for name, values in arrays.items():
            getattr(self, name).append(values)

    def arrays(self) -> dict[str, np.ndarray]:
        """All, sample by sample: {name: ndarray of int64}."""
        whole = {name: np.concatenate(values) if values else np.zeros(0, np.int64) for name, values in vars(self).items()}
        order = np.argsort(whole["sample"], kind="stable")
        return {name: values[order] for name, values in whole.items()}


def sample(texture: Texture, sampler: Sampler, coordinates: np.ndarray, lod: ArrayLike | None = None,
           gradients: tuple[np.ndarray, np.ndarray] | None = None, bias: ArrayLike = 0.0, layer: ArrayLike = 0, coarse: bool = False,
           taps: Taps | None = None) -> np.ndarray:
    """Filtered texels.

    Parameters
    ----------
    texture : fixfunc.models.texture.texture.Texture
    sampler : Sampler
    coordinates : ndarray of float32, shape (..., 2), or (..., 3) of a cube
        u and v, one across the texture; or directions. With neither ``lod`` nor ``gradients``: quads, shape (n, 2, 2, k), indexed [quad, y, x].
    lod : array of float, optional
        Levels of detail.
    gradients : (ndarray, ndarray) of float32, optional
        Of the coordinates, to the right and downwards.
    bias : array of float
        Added to levels of detail that come from gradients.
    layer : array of int
        Texture, or cube, of an array; held between the first and the last.
    coarse : bool
        As of :func:`fixfunc.models.texture._footprint.quad_gradients`.
    taps : Taps, optional
        Is told what was read.

    Returns
    -------
    ndarray of float32, shape (..., channels)
        UNORM and SNORM from 0 or -1 to 1; colours linear.

    Raises
    ------
    InputError
        Coordinates of another shape.

    Source: [trip 4]; numerics: texel coordinates s16.8, weights of 8 bits, exact sums (of halves: of 53 bits), rounded at the end.
    """
    cube = texture.faces == 6
    coordinates = np.asarray(coordinates, np.float32)
    if coordinates.ndim < 1 or coordinates.shape[-1] != 2 + cube:
        raise InputError("coordinates", f"be of shape (..., {2 + cube})", str(coordinates.shape))
    if lod is None and gradients is None and (coordinates.ndim != 4 or coordinates.shape[1:3] != (2, 2)):
        raise InputError("coordinates without lod or gradients", "be quads of shape (n, 2, 2, k)", str(coordinates.shape))
    shape, flat = coordinates.shape[:-1], coordinates.reshape(-1, 2 + cube)
    image = np.clip(np.broadcast_to(layer, shape).reshape(-1), 0, texture.layers - 1).astype(np.int64) * texture.faces
    with np.errstate(over="ignore", invalid="ignore"):  # coordinates, and halves, may be infinite or no number
        if lod is None:
            slopes = [np.broadcast_to(np.asarray(slope, np.float32), coordinates.shape).reshape(flat.shape)
                      for slope in (quad_gradients(coordinates, coarse) if gradients is None else gradients)]
        else:
            slopes, level = [], _fixed(np.broadcast_to(lod, shape).reshape(-1))
            count, along = np.ones(len(flat), np.int64), np.zeros((len(flat), 2), np.float32)
        if cube:
            face, flat, slopes = _cube.project(flat, slopes)
            image = image + face
        if lod is None:
            level, count, along = footprint(*slopes, texture.width, texture.height, sampler.anisotropy)
            level = level + _fixed(np.broadcast_to(bias, shape).reshape(-1))
        level = np.clip(level + _fixed(sampler.bias), _fixed(sampler.least), _fixed(sampler.most))
        out = _Fetch(texture, sampler, image, taps).filtered(flat, level, count, along)
    return out.reshape(*shape, -1)


class _Fetch:
    """A texture as one call reads it: levels are decoded once."""

    def __init__(self, texture, sampler, image, taps):
        self._texture, self._sampler, self._image, self._taps, self._decoded = texture, sampler, image, taps, {}
        self._cube = texture.faces == 6
        first = self._texels(0, 0)
        self._channels, self._kind = first.shape[-1], first.dtype
        self._unit = {np.dtype(np.uint8): 255, np.dtype(np.uint16): 65535, np.dtype(np.int16): 32767}.get(first.dtype, 1)

    def _texels(self, level, image):
        if (level, image) not in self._decoded:
            layer, face = divmod(image, self._texture.faces)
            texels = self._texture.image(level, layer, face)
            self._decoded[level, image] = linear(texels) if self._texture.srgb else texels
        return self._decoded[level, image]

    def filtered(self, coordinates, lod, count, along):
        """float32, shape (n, channels)."""
        last = len(self._texture.levels) - 1
        held = np.clip(lod, 0, last << LOD)
        if self._sampler.mip == "point":
            level, share = np.minimum(held + ONE // 2 >> LOD, last), np.zeros(len(lod), np.int64)
        else:
            level, share = held >> LOD, held & ONE - 1
        smooth = np.where(lod > 0, self._sampler.minify == "linear", self._sampler.magnify == "linear")
        total = np.zeros((len(lod), self._channels))
        for n in range(int(count.max(initial=0))):
            those = np.flatnonzero(n < count)
            offset = (2 * n + 1 - count[those]) / (2 * count[those])
            place = coordinates[those].astype(np.float64) + np.where(count[those] > 1, offset, 0)[:, None] * along[those]
            for step, weight in ((0, ONE - share[those]), (1, share[those])):
                some = np.flatnonzero(weight)
                total[those[some]] += weight[some, None] * self._level(place[some], those[some], level[those[some]] + step, smooth[those[some]])
        scale = float(self._unit) * ONE**3 * (3 if self._cube else 1)
        return (total / (scale * count[:, None])).astype(np.float32)

    def _level(self, place, which, level, smooth):
        """Of one level each: sums of texels by weights that add up to 2^16; three times that of a cube."""
        out = np.zeros((len(which), self._channels))
        for n in np.unique(level):
            those = np.flatnonzero(level == n)
            sizes = self._texture.size(n)
            x, y = (self._scaled(place[those, axis], axis, sizes[axis]) for axis in (0, 1))
            half = np.where(smooth[those], ONE // 2, 0)
            (x, fx), (y, fy) = (((v - half) >> 8, np.where(smooth[those], (v - half) & ONE - 1, 0)) for v in (x, y))
            corners, values = np.zeros(len(those), np.int64), []
            for dy, wy in ((0, ONE - fy), (1, fy)):
                for dx, wx in ((0, ONE - fx), (1, fx)):
                    texels, corner = self._tap(n, which[those], x + dx, y + dy, sizes, wx * wy > 0)
                    values.append((wx * wy, texels, corner))
                    corners += corner
            whole = sum(np.where(corner[:, None], 0, texels) for _, texels, corner in values)
            for weight, texels, corner in values:
                thrice = np.where(corner[:, None], whole, 3 * texels) if self._cube else texels
                out[those] += weight[:, None] * thrice
        return out

    def _scaled(self, value, axis, size):
        """Coordinates in 1/256 texel, s16.8."""
        mode = "clamp" if self._cube else self._sampler.address[axis]
        if mode in ("wrap", "mirror"):
            value = np.fmod(value, 2)  # exact; both repeat after it
        return np.rint(np.clip(np.nan_to_num(value * size, nan=0.0), -RANGE, RANGE - 1 / ONE) * ONE).astype(np.int64)

    def _tap(self, level, which, x, y, sizes, read):
        """Texels as float64, and whether they lie beyond a cube's corner; zero where none is ``read``, whatever lies there."""
        image, none = self._image[which], np.zeros(len(x), bool)
        if self._cube:
            none = ((x < 0) | (x >= sizes[0])) & ((y < 0) | (y >= sizes[1]))
            face, x, y = _cube.across_edges(image % 6, x, y, sizes[0])
            image, outside = image - image % 6 + face, none
        else:
            (x, left), (y, above) = (_addressed(v, size, mode) for v, size, mode in zip((x, y), sizes, self._sampler.address, strict=True))
            outside = left | above
        out = np.empty((len(x), self._channels))
        for n in np.unique(image):
            those = image == n
            out[those] = self._texels(level, int(n))[y[those], x[those]]
        if not self._cube:
            out[outside] = np.rint(np.array(self._sampler.border[:self._channels], np.float64) * self._unit) if self._unit > 1 else \
                self._sampler.border[:self._channels]
        out[~read & ~none] = 0
        if self._taps is not None:
            told = read & ~outside
            self._taps.add(sample=which[told], level=np.full(told.sum(), level), image=image[told], x=x[told], y=y[told])
        return out, none


def _addressed(v, size, mode):
    """Texels along an axis -> those that there are; whether it is the border instead."""
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
    """A level of detail as s5.8; not a number is zero."""
    return np.rint(np.clip(np.nan_to_num(np.asarray(value, np.float64), nan=0.0) * ONE, LEAST, MOST)).astype(np.int64)


def _check(name, value, known):
    if value not in known:
        raise InputError(name, f"be one of {', '.join(known)}", value)
