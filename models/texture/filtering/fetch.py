# SPDX-License-Identifier: BSD-2-Clause
"""Fetch: single texels by their numbers, without a filter."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.texture import texels
from fixfunc.models.texture.cache.taps import Taps
from fixfunc.models.texture.coordinates.footprint import LOD_BITS
from fixfunc.models.texture.filtering.filtering import LINEAR_UNIT, as_light
from fixfunc.models.texture.filtering.sampler_state import by_request, whole_steps
from fixfunc.models.texture.texels import TEXELS
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.errors import InputError

OFFSETS = range(-8, 8)  # texels


def fetch(
    texture: Texture,
    places: np.ndarray,
    level: ArrayLike = 0,
    layer: ArrayLike = 0,
    sample: ArrayLike = 0,
    offset: Sequence[int] = (),
    taps: Taps | None = None,
) -> np.ndarray:
    """Fetch texels.

    Parameters
    ----------
    texture : Texture
        Not a cube.
    places : ndarray of int, shape (..., dimension)
        x, y and z of a level.
    level, layer, sample : array of int
    offset : sequence of int
        Texels by axis, -8 to 7, that are added to places.
    taps : Taps, optional
        The texels that are read are appended to it; samples of a texel lie side by side.

    Returns
    -------
    ndarray of float32, or of uint32 or int32 for formats of integers, shape (..., 4)
        Colours are linear. Of a place, a level, a layer or a sample that there is not: 0 in what
        the format has. What it lacks is 0, alpha 1. float32 pass bit for bit.

    Raises
    ------
    InputError
        Places of another shape or type; a cube; an offset out of range.

    Source: [fs 22.4.6-22.4.7, 5.8].
    """
    places = np.asarray(places)
    axes = texture.dimension
    if texture.faces == 6:
        raise InputError("texture to fetch from", "not be a cube", "a cube")
    if places.ndim < 1 or places.shape[-1] != axes or places.dtype.kind not in "iu":
        found = f"{places.dtype} of {places.shape}"
        raise InputError("places", f"be integers of shape (..., {axes})", found)
    offset = whole_steps(offset, OFFSETS, axes)
    shape = places.shape[:-1]
    flat = places.reshape(-1, axes).astype(np.int64) + (*offset, 0, 0, 0)[:axes]
    level, layer, sample = (
        by_request(name, value, shape).astype(np.int64)
        for name, value in (("level", level), ("layer", layer), ("sample", sample))
    )
    least = texture.min_lod >> LOD_BITS  # a fraction of the clamp needs the level below it
    inside = (level >= least) & (level < len(texture.levels)) & (flat >= 0).all(1)
    inside &= (layer >= 0) & (layer < texture.layers) & (sample >= 0) & (sample < texture.samples)
    inside &= texture.min_lod <= len(texture.levels) - 1 << LOD_BITS
    form = texture.texel_format
    unit = np.full(form.channels, float(LINEAR_UNIT)) if texture.srgb else form.unit
    kind = np.uint16 if texture.srgb else form.dtype
    out = np.zeros((len(flat), form.channels), kind)
    for n in np.unique(level[inside]):
        size = texture.extents(int(n))
        for image in np.unique(layer[inside & (level == n)]):
            chosen = np.flatnonzero(inside & (level == n) & (layer == image) & (flat < size).all(1))
            x, y, z = (*flat[chosen].T, 0, 0)[:3]
            found = texture.texels(int(n), int(image))[z, y, x, sample[chosen]]
            if taps is not None:
                beside = x * texture.samples + sample[chosen]
                _tap(taps, chosen, int(n), int(image) + z, beside, y)
            out[chosen] = as_light(found) if texture.srgb else found
    return texels.values(out, form, unit).reshape(*shape, 4)


def fetch_buffer(
    data: np.ndarray, format: str, places: np.ndarray, taps: Taps | None = None
) -> np.ndarray:
    """Fetch elements of a buffer.

    Parameters
    ----------
    data : ndarray of uint8
        From the first element on; what is left behind the last whole one does not count.
    format : str
        One of :data:`fixfunc.models.texture.texels.TEXELS`, without blocks.
    places : ndarray of int
        Numbers of elements.
    taps : Taps, optional
        The elements that are read are appended to it, as texels of a row.

    Returns
    -------
    ndarray of float32, or of uint32 or int32, shape (..., 4)
        As of :func:`fetch`.

    Raises
    ------
    InputError
        A format of blocks.
    """
    form = TEXELS[format]
    if form.edge > 1:
        raise InputError("format of a buffer", "be without blocks", format)
    places = np.asarray(places).astype(np.int64)
    rows = data[: len(data) // form.size * form.size].reshape(-1, form.size)
    inside = (places >= 0) & (places < len(rows))
    out = np.zeros((*places.shape, form.channels), form.dtype)
    out[inside] = texels.read(rows[places[inside]], format)
    if taps is not None:
        _tap(taps, np.flatnonzero(inside), 0, 0, places[inside], 0)
    return texels.values(out, form)


def _tap(taps, request, level, image, x, y):
    """Append what requests read."""
    fields = {"sample": request, "level": level, "image": image, "x": x, "y": y}
    taps.add(**{name: np.broadcast_to(value, request.shape) for name, value in fields.items()})
