# SPDX-License-Identifier: BSD-2-Clause
"""Sampler: from coordinates to filtered texels, in the fixed-point steps of hardware."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.lib import float32
from fixfunc.models.texture.cache.taps import Taps
from fixfunc.models.texture.coordinates import cube
from fixfunc.models.texture.coordinates.footprint import (
    LOD_BITS,
    footprint,
    isotropic,
    quad_gradients,
    saturated,
)
from fixfunc.models.texture.filtering.filtering import Reader, cell, filtered, grid
from fixfunc.models.texture.filtering.reduction import ONE, mean_of_three
from fixfunc.models.texture.filtering.sampler_state import (
    ADDRESSES,
    FILTERS,
    REDUCTIONS,
    Sampler,
    by_request,
    check_name,
    whole_steps,
)
from fixfunc.models.texture.texels import complete
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.errors import InputError

__all__ = [
    "ADDRESSES",
    "FILTERS",
    "REDUCTIONS",
    "Sampler",
    "Taps",
    "gather",
    "level_of_detail",
    "sample",
    "sample_compare",
]

OFFSETS = range(-8, 8)  # texels
GATHER_OFFSETS = range(-32, 32)
GATHERED = (2, 3, 1, 0)  # corners of a grid: lower left, lower right, upper right, upper left


class _Request(NamedTuple):
    """Samples to take: arrays of equal length."""

    shape: tuple  # of the result, without channels
    coordinates: np.ndarray  # float32, shape (n, axes); of a cube in the face
    image: np.ndarray  # int64: layer times faces
    unclamped: np.ndarray  # int64: level of detail, s8.8
    level: np.ndarray  # the same, within all bounds
    footprints: tuple[np.ndarray, np.ndarray]  # numbers of samples, axis


def sample(
    texture: Texture,
    sampler: Sampler,
    coordinates: np.ndarray,
    lod: ArrayLike | None = None,
    gradients: tuple[np.ndarray, np.ndarray] | None = None,
    bias: ArrayLike = 0.0,
    layer: ArrayLike = 0,
    coarse: bool = False,
    offset: Sequence[int] = (),
    min_lod: ArrayLike | None = None,
    taps: Taps | None = None,
) -> np.ndarray:
    """Sample a texture.

    Parameters
    ----------
    texture : fixfunc.models.texture.texture.Texture
        The texture.
    sampler : Sampler
        State of the sampler.
    coordinates : ndarray of float32, shape (..., dimension), or (..., 3) for a cube
        u, v and w, from 0 to 1 across the texture; or directions. With neither ``lod`` nor
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
        Gradients of quads are coarse: those of their first row and column for all pixels.
    offset : sequence of int
        Texels, by axis, -8 to 7, that every place is moved by, on any level; not of a cube.
    min_lod : array of float, optional
        Levels of detail are at least this.
    taps : Taps, optional
        The texels that are read are appended to it.

    Returns
    -------
    ndarray of float32, shape (..., 4)
        Filtered texels: UNORM from 0 to 1, SNORM from -1 to 1; colours are linear. Colours that the
        format lacks are 0, alpha is 1. Where no level is left, all that the format has is 0.

    Raises
    ------
    InputError
        Coordinates have another shape; a format of integers, or several samples a texel; an offset
        out of range; a sampler of comparisons.

    Source: [trip 4] [fs 7.18]; numerics: texel coordinates s16.8, weights of 8 bits, exact sums of
    integers, rounded at the end; floats by float32 multiply-adds, from one texel to the next.
    """
    check_name(
        "reduction of the sampler", sampler.reduction, [r for r in REDUCTIONS if r[0] != "c"]
    )
    how = (lod, gradients, bias, layer, coarse, min_lod)
    found, shape = _sampled(texture, sampler, coordinates, how, offset, None, taps)
    return complete(found, texture.texel_format).reshape(*shape, 4)


def sample_compare(
    texture: Texture,
    sampler: Sampler,
    coordinates: np.ndarray,
    reference: ArrayLike,
    offset: Sequence[int] = (),
    taps: Taps | None = None,
    **how: Any,
) -> np.ndarray:
    """Compare a reference with red of each texel of a filter, and filter what is true.

    Parameters
    ----------
    reference : array of float32
        It is quantised as the format stores it, as a depth is, and stands on the left side.
    how
        ``lod``, ``gradients``, ``bias``, ``layer``, ``coarse``, ``min_lod``, and all other
        parameters: as of :func:`sample`. ``lod`` of 0 is sample_c_lz.

    Returns
    -------
    ndarray of float32, shape (...)
        The weight of the texels for which the comparison is true: 0 to 1.

    Raises
    ------
    InputError
        As of :func:`sample`; a sampler of no comparisons, a 3D texture.

    Source: [fs 7.18.15, 22.4.19].
    """
    check_name("reduction of the sampler", sampler.reduction, ("comparison",))
    _comparable(texture)
    fields = _defaults(how)
    reference = by_request("reference", reference, np.shape(coordinates)[:-1]).astype(np.float32)
    found, shape = _sampled(texture, sampler, coordinates, fields, offset, reference, taps)
    return found.reshape(shape)


def gather(
    texture: Texture,
    sampler: Sampler,
    coordinates: np.ndarray,
    component: int = 0,
    reference: ArrayLike | None = None,
    layer: ArrayLike = 0,
    offset: Sequence[int] = (),
    taps: Taps | None = None,
) -> np.ndarray:
    """The four texels of a bilinear filter on the most detailed level.

    Parameters
    ----------
    texture, sampler, coordinates, layer, taps
        As of :func:`sample`; of the sampler the address modes, the border and the comparison.
    component : int
        Which channel, 0 to 3.
    reference : array of float32, optional
        What red is compared with: then results are 0 or 1, or a third of those at a cube's corner.
    offset : sequence of int
        Texels, -32 to 31.

    Returns
    -------
    ndarray of float32, or of uint32 or int32, shape (..., 4)
        Lower left, lower right, upper right, upper left.

    Raises
    ------
    InputError
        As of :func:`sample`, but for integers; a texture that is not 2D or a cube.

    Source: [fs 22.4.2-22.4.5].
    """
    if texture.dimension != 2:
        raise InputError("texture to gather from", "be 2D or a cube", f"{texture.dimension}D")
    if not isinstance(component, int | np.integer) or component not in range(4):
        raise InputError("component", "be 0 to 3", component)
    shape = np.shape(coordinates)[:-1]
    if reference is not None:
        _comparable(texture)
        component = 0
        reference = by_request("reference", reference, shape).astype(np.float32)
    request = _request(texture, sampler, coordinates, _defaults({"lod": 0.0, "layer": layer}))
    reader = _reader(texture, sampler, request, offset, GATHER_OFFSETS, reference, taps)
    everywhere = np.ones(len(request.image), bool)
    cells, _ = cell(reader, request.coordinates, 0, everywhere)
    numbers = np.arange(len(everywhere))
    texels, missing = grid(reader, 0, numbers, cells, np.ones((4, len(everywhere)), bool))
    found = reader.values(texels)
    if missing.any():
        others = _mean_of_three(texture, reader, texels, missing)
        found = np.where(missing[..., None], others, found)
    found = found[list(GATHERED), :, component].T
    if _is_empty(texture):
        found = np.full_like(found, component == 3 and 3 not in texture.texel_format.present)
    return found.reshape(*shape, 4)


def _mean_of_three(texture, reader, texels, missing):
    """What a gather has of a texel beyond a corner, rounded once; the present ones are three."""
    form = texture.texel_format
    if form.kind == "FLOAT" and not reader.compares:
        return mean_of_three(reader.values(texels), missing)
    total = np.where(missing[..., None], 0, texels.astype(np.int64)).sum(0)
    if form.is_integer:
        return reader.values(np.trunc(total / 3))
    mean = (total / (3 * reader.unit)).astype(np.float32)
    return np.repeat(mean, 4, -1) if reader.compares else complete(mean, form)


def level_of_detail(
    texture: Texture, sampler: Sampler, coordinates: np.ndarray, **how: Any
) -> np.ndarray:
    """The level of detail that a sample would have [fs 22.5.6].

    Parameters
    ----------
    texture, sampler, coordinates, how
        As of :func:`sample`: ``gradients``, or coordinates of quads.

    Returns
    -------
    ndarray of float32, shape (..., 2)
        Within all bounds, those of the texture among them; and without any, the bias neither.
    """
    request = _request(texture, sampler, coordinates, _defaults(how))
    last = len(texture.levels) - 1
    held = np.clip(request.level, 0, last << LOD_BITS)
    if _is_empty(texture):
        held = np.zeros_like(held)
    both = np.stack([held, request.unclamped], -1)
    return (both.astype(np.float32) / np.float32(ONE)).reshape(*request.shape, 2)


def _defaults(how):
    """Arguments of :func:`sample` in their order."""
    known = {"lod": None, "gradients": None, "bias": 0.0, "layer": 0, "coarse": False}
    known["min_lod"] = None
    for name in how:
        check_name("argument", name, tuple(known))
    return tuple((known | how).values())


def _sampled(texture, sampler, coordinates, how, offset, reference, taps):
    """Filtered channels, shape (n, channels), and the shape of the result."""
    if texture.texel_format.is_integer:
        raise InputError("format of a texture to filter", "not be of integers", texture.format)
    request = _request(texture, sampler, coordinates, how)
    reader = _reader(texture, sampler, request, offset, OFFSETS, reference, taps)
    # Coordinates, and halves, may be infinite or no number.
    with np.errstate(over="ignore", invalid="ignore"):
        found = filtered(
            texture, sampler, reader, request.coordinates, request.level, request.footprints
        )
    return np.zeros_like(found) if _is_empty(texture) else found, request.shape


def _request(texture, sampler, coordinates, how):
    """Where to sample: checked."""
    lod, gradients, bias, layer, coarse, min_lod = how
    is_cube = texture.faces == 6
    axes = 3 if is_cube else texture.dimension
    coordinates = np.asarray(coordinates, np.float32)
    if texture.samples > 1:
        raise InputError("samples of a texture to filter", "be 1", texture.samples)
    if not is_cube and len(sampler.address) < axes:
        raise InputError("address", f"be {axes} modes", sampler.address)
    if coordinates.ndim < 1 or coordinates.shape[-1] != axes:
        raise InputError("coordinates", f"be of shape (..., {axes})", str(coordinates.shape))
    by_quads = lod is None and gradients is None
    if by_quads and (coordinates.ndim != 4 or coordinates.shape[1:3] != (2, 2)):
        raise InputError(
            "coordinates without lod or gradients",
            "be quads of shape (n, 2, 2, k)",
            str(coordinates.shape),
        )
    shape = coordinates.shape[:-1]
    flat = coordinates.reshape(-1, axes)
    layer = np.rint(np.nan_to_num(by_request("layer", layer, shape).astype(np.float32)))
    image = np.clip(layer, 0, texture.layers - 1).astype(np.int64) * texture.faces
    with np.errstate(over="ignore", invalid="ignore"):
        slopes = []
        if lod is None:
            slopes = [
                by_request("gradients", slope, coordinates.shape)
                .astype(np.float32)
                .reshape(-1, axes)
                for slope in (quad_gradients(coordinates, coarse) if by_quads else gradients)
            ]
        if is_cube:
            face, flat, slopes = cube.project(flat, slopes)
            image = image + face
        unclamped, footprints = _footprints(texture, sampler, slopes, lod, shape)
        level = unclamped
        if lod is None:
            level = saturated(level + _fixed(by_request("bias", bias, shape)))
        level = saturated(level + _fixed(sampler.bias))
        level = np.maximum(np.minimum(level, _fixed(sampler.max_lod)), _fixed(sampler.min_lod))
        if min_lod is not None:
            level = np.maximum(level, _fixed(by_request("min_lod", min_lod, shape)))
        level = np.maximum(level, texture.min_lod) if texture.min_lod > 0 else level
    return _Request(shape, flat, image, unclamped, level, footprints)


def _footprints(texture, sampler, slopes, lod, shape):
    """Levels of detail before any bias, and footprints."""
    if lod is not None:
        level = _fixed(by_request("lod", lod, shape))
        return level, (np.ones(len(level), np.int64), np.zeros((len(level), 1), np.float32))
    if texture.dimension == 2:
        level, *footprints = footprint(*slopes, texture.width, texture.height, sampler.anisotropy)
    else:
        level, *footprints = isotropic(*slopes, texture.extents(0))
    return level, tuple(footprints)


def _reader(texture, sampler, request, offset, allowed, reference, taps):
    """Access to texels, its offset checked."""
    offset = whole_steps(offset, allowed, texture.dimension)
    if any(offset) and texture.faces == 6:
        raise InputError("offset", "be 0 of a cube", offset)
    read = None if _is_empty(texture) else taps  # nothing is read of what is not there
    several = request.footprints[0] > 1
    return Reader(texture, sampler, request.image, offset, reference, read, several)


def _comparable(texture):
    """Raise ``InputError`` for a texture that nothing is compared with."""
    form = texture.texel_format
    if texture.dimension == 3 or form.kind not in ("UNORM", "SNORM", "FLOAT") or texture.srgb:
        found = f"{texture.dimension}D of {texture.format}"
        raise InputError("texture to compare with", "be 1D, 2D or a cube, not of integers", found)


def _is_empty(texture):
    """Whether the least level of the texture is beyond its last: then nothing is there."""
    return texture.min_lod > len(texture.levels) - 1 << LOD_BITS


def _fixed(value):
    """A level of detail as s8.8; NaN is zero."""
    return np.rint(saturated(float32.widened(value, 0) * ONE)).astype(np.int64)
