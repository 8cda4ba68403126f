# SPDX-License-Identifier: BSD-2-Clause
"""Textures as the texture unit reads them: levels in Morton order, one behind the other."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.texture.cache.texture_cache import morton
from fixfunc.models.texture.filtering.sampler_state import ADDRESSES, Sampler
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture import Texture
from fixfunc.models.texture.unit.texture_rules import level_lines
from fixfunc.spec.colours import EDGE
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.cache import COLOURS, FORMAT, LINE, MORE, POINT_SAMPLED, StoredFormat
from fixfunc.spec.textures.coded_lines import TILE_LINES
from fixfunc.spec.textures.filter import FilterOp

# By name and sRGB.
FORMATS = {DXGI[Format[form.name]]: form for form in (*COLOURS, *MORE, *POINT_SAMPLED)}
LOD_ONE = 256
REDUCTIONS = {"standard": FilterOp.MEAN, "minimum": FilterOp.MINIMUM, "maximum": FilterOp.MAXIMUM}


class Stored(NamedTuple):
    """A texture in memory."""

    data: np.ndarray  # uint8, whole lines
    fields: dict  # of fixfunc.spec.textures.descriptors.DESCRIPTOR that tell of the texture


def form_of(texture: Texture) -> StoredFormat | None:
    """The format that the texture unit has of a texture; None: it cannot read such a one."""
    fits = max(texture.width, texture.height) <= 1 << EXTENT
    is_plain = (texture.dimension, texture.faces, texture.layers, texture.samples) == (2, 1, 1, 1)
    return FORMATS.get((texture.format, texture.srgb)) if fits and is_plain else None


def stored(texture: Texture, at: int) -> Stored:
    """A texture for memory from ``at`` on, a multiple of 64 bytes.

    Raises
    ------
    InputError
        A texture that the unit cannot read.
    """
    form = form_of(texture)
    if form is None:
        raise InputError("texture", "have a format of the texture unit", texture.format)
    size, edge = texture.texel_format.size, texture.texel_format.edge
    parts = []
    fields = {
        "width": texture.width,
        "height": texture.height,
        "last": len(texture.levels) - 1,
        "format": form & (1 << FORMAT) - 1,
        "extended": form >> FORMAT,
        "least": int(texture.min_lod),
    }
    for level, images in enumerate(texture.levels):
        width, height = (-(-side // edge) for side in texture.size(level))
        y, x = (v.ravel() for v in np.indices((height, width)))
        data = np.zeros(level_lines(max(texture.size(level)), form) * LINE, np.uint8)
        places = data[: len(data) // size * size].reshape(-1, size)
        places[morton(x, y).astype(np.intp)] = images[0].reshape(-1, size)
        fields[f"base{level}"] = at // LINE
        at += len(data)
        parts.append(data)
    return Stored(np.concatenate(parts), fields)


def surface_fields(
    width: int, height: int, form: StoredFormat, at: int, cleared: int
) -> dict[str, int]:
    """Fields of :data:`fixfunc.spec.textures.descriptors.DESCRIPTOR` that tell of a surface.

    It is a colour plane of a target with a sample a pixel, in tiles of 8x8, its mode table behind
    them, as the hardware leaves it.

    Parameters
    ----------
    width, height : int
        Pixels.
    form : StoredFormat
        One of :data:`fixfunc.spec.textures.coded_lines.CODED_FORMATS`.
    at : int
        Where it lies, bytes.
    cleared : int
        What it was cleared to, as it is stored.
    """
    columns, rows = (-(-side // EDGE) for side in (width, height))
    return {
        "width": width,
        "height": height,
        "format": form & (1 << FORMAT) - 1,
        "extended": form >> FORMAT,
        "coded": 1,
        "base0": at // LINE,
        "distance": TILE_LINES * columns,
        "mode_table": (at + TILE_LINES * LINE * columns * rows) // (TRANSFER // 8),
        "cleared": cleared,
    }


def sampler_fields(sampler: Sampler) -> dict[str, int]:
    """Fields of :data:`fixfunc.spec.textures.unit.TEXTURE_STATE` that tell of a sampler.

    Comparisons raise ``InputError``: TEXTURE packets lack them; so does a border, whose channels
    depend on the texture's format.
    """
    if sampler.reduction not in REDUCTIONS or "border" in sampler.address[:2]:
        rule = "be without comparisons and a border"
        raise InputError("sampler", rule, sampler)
    limits = (
        int(np.clip(round(value * LOD_ONE), -(1 << 16), (1 << 16) - 1))
        for value in (sampler.bias, sampler.min_lod, sampler.max_lod)
    )
    return {
        "mode_u": ADDRESSES.index(sampler.address[0]),
        "mode_v": ADDRESSES.index(sampler.address[1]),
        "magnify": int(sampler.magnify == "linear"),
        "minify": int(sampler.minify == "linear"),
        "smooth": int(sampler.mip == "linear"),
        "op": int(REDUCTIONS[sampler.reduction]),
        "anisotropy": sampler.anisotropy,
    } | dict(zip(("bias", "minimum", "maximum"), limits, strict=True))
