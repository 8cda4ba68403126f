# SPDX-License-Identifier: BSD-2-Clause
"""Textures and samplers that are bound, as the sampler takes them."""

import numpy as np

from fixfunc.models.frontend.state.pieces import as_float
from fixfunc.models.memory.layout import texture_at
from fixfunc.models.payload import enumerated
from fixfunc.models.texture import texture
from fixfunc.models.texture.coordinates.footprint import LOD_BITS
from fixfunc.models.texture.sampler import ADDRESSES, FILTERS, REDUCTIONS, Sampler
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.descriptors import Dimension
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, Compare


def sampler_of(record: np.void) -> Sampler:
    """A sampler's state; an address mode that there is not raises ``InputError``."""
    return Sampler(
        *(FILTERS[record[name]] for name in ("minify", "magnify", "mip")),
        address=tuple(_address_mode(record[f"address_{axis}"]) for axis in "uvw"),
        border=tuple(as_float(record[f"border{n}"]) for n in range(4)),
        bias=as_float(record["bias"]),
        min_lod=as_float(record["min_lod"]),
        max_lod=as_float(record["max_lod"]),
        anisotropy=max(int(record["anisotropy"]), 1),
        reduction=REDUCTIONS[record["reduction"]],
        comparison=Compare(int(record["comparison"])),
    )


def _address_mode(number):
    if number >= len(ADDRESSES):
        raise InputError("address mode", f"lie in 0..{len(ADDRESSES) - 1}", int(number))
    return ADDRESSES[number]


def texels_of(view: np.void) -> tuple[str, bool]:
    """The name of a view's format among those of texels, and whether it is sRGB."""
    form = enumerated(Format, view["form"], "format of the view")
    if form not in DXGI:
        raise InputError("format of the view", "be one that a shader reads", form.name)
    return DXGI[form]


def texture_of(memory: np.ndarray, view: np.void) -> Texture:
    """A texture as the sampler takes it.

    Raises
    ------
    InputError
        A format that no shader reads, a buffer, a cube that is not one.
    """
    name, is_srgb = texels_of(view)
    dimension = enumerated(Dimension, view["dimension"], "dimension")
    if dimension == Dimension.BUFFER:
        raise InputError("view", "be of a texture", dimension.name)
    layout, data = texture_at(memory, view)
    is_volume = dimension == Dimension.TEXTURE3D
    first = 0 if is_volume else int(view["first_layer"])
    layers = range(first, first + (1 if is_volume else int(view["layer_count"])))
    first = int(view["first_level"])
    levels = [
        np.stack(
            [np.ascontiguousarray(layout.read(data, level, layer)).reshape(-1) for layer in layers]
        )
        for level in range(first, first + int(view["level_count"]))
    ]
    width, height, depth = layout.size_of(first)
    return texture.create(
        name,
        width,
        height,
        levels,
        faces=6 if dimension == Dimension.CUBE else 1,
        srgb=is_srgb,
        dimension=DIMENSIONS[dimension],
        depth=depth,
        samples=SAMPLE_COUNTS[view["samples"]],
        min_lod=int(view["min_lod"]) - (first << LOD_BITS),
    )


DIMENSIONS = {
    Dimension.TEXTURE1D: 1,
    Dimension.TEXTURE2D: 2,
    Dimension.TEXTURE3D: 3,
    Dimension.CUBE: 2,
}
