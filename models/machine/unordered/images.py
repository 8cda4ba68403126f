# SPDX-License-Identifier: BSD-2-Clause
"""Typed unordered access: texels are loaded and stored by their numbers [fs 22.4.8-22.4.9].

Lanes store in the order of their arrays: of two that store to one texel the last counts.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.frontend import vertex_formats
from fixfunc.models.machine.memory.undo import UndoLog
from fixfunc.models.memory.layout import Layout, written_at
from fixfunc.models.output.formats import STORABLE, encode
from fixfunc.models.payload import enumerated
from fixfunc.models.texture.filtering.sampler_state import by_request
from fixfunc.spec.descriptors import Dimension
from fixfunc.spec.dxgi import FORMATS, WORDS, Format
from fixfunc.spec.errors import InputError

AXES = {Dimension.TEXTURE1D: 1, Dimension.TEXTURE2D: 2, Dimension.TEXTURE3D: 3}
KINDS = {"SINT": np.int32, "UINT": np.uint32}  # of a shader's values; others are float32


class Image(NamedTuple):
    """What a view for unordered access shows."""

    form: Format
    data: np.ndarray  # uint8, from the first byte of the buffer's part, or of the texture, on
    layout: Layout | None  # None of a buffer
    axes: int  # of places; 0: these are numbers of elements
    level: int
    first_layer: int
    size: tuple[int, ...]  # texels by axis
    layers: int

    @property
    def kind(self) -> type:
        """Type of a shader's values."""
        return KINDS.get(self.form.name.rsplit("_", 1)[1], np.float32)

    def offsets(
        self, places: np.ndarray, layer: ArrayLike, mask: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which lanes of a mask name a texel: bool of its shape; and where these begin, bytes."""
        places = whole_places(places, (*mask.shape, self.axes) if self.axes else mask.shape)
        layer = by_request("layer", layer, mask.shape).astype(np.int64).reshape(mask.shape)
        places = places.reshape(*mask.shape, max(self.axes, 1))
        inside = mask & ((places >= 0) & (places < self.size)).all(-1)
        inside &= (layer >= 0) & (layer < self.layers)
        if self.layout is None:
            return inside, places[inside][:, 0] * FORMATS[self.form].bytes
        x, y, z = (*places[inside].T, 0, 0)[:3]
        slices = (
            (0, z + self.first_layer) if self.axes == 3 else (layer[inside] + self.first_layer, 0)
        )
        return inside, self.layout.offsets(self.level, *slices, y, x)


def whole_places(places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Places as int64; others than integers of a shape raise ``InputError``."""
    places = np.asarray(places)
    if places.shape != shape or places.dtype.kind not in "iu":
        rule = f"be integers of shape {shape}"
        raise InputError("places", rule, f"{places.dtype} of {places.shape}")
    return places.astype(np.int64)


def image_at(memory: np.ndarray, view: np.void) -> Image:
    """What a view of a texture, or a typed one of a buffer, shows.

    Raises
    ------
    InputError
        A format that is not stored to, samples, codes, a cube, a part beyond memory.
    """
    form = enumerated(Format, view["form"], "format of the view")
    dimension = enumerated(Dimension, view["dimension"], "dimension")
    if form not in STORABLE:
        raise InputError("format of the view", "be one that a shader stores as", form.name)
    if dimension == Dimension.BUFFER:
        begin = int(view["address"]) + int(view["first"])
        data = memory[begin : begin + int(view["size"])]
        return Image(form, data, None, 0, 0, 0, (len(data) // FORMATS[form].bytes,), 1)
    if dimension not in AXES:
        raise InputError("dimension", "be no cube for unordered access", dimension.name)
    layout, data = written_at(memory, view)
    if layout.coded or layout.samples > 1:
        found = layout.form.name
        raise InputError("texture", "have neither codes nor samples for unordered access", found)
    axes = AXES[dimension]
    level = int(view["first_level"])
    layers = int(view["layer_count"])
    size = layout.size_of(level)[:axes]
    if axes == 3:
        size, layers = (*size[:2], layers), 1
    return Image(form, data, layout, axes, level, int(view["first_layer"]), size, layers)


def load(image: Image, places: np.ndarray, layer: ArrayLike) -> np.ndarray:
    """Texels: shape (..., 4), of zeros and an alpha of 1 where there are none.

    Raises
    ------
    InputError
        A format that is stored to alone [fs 5.3.9.5]; places of another shape or type.
    """
    if image.form not in WORDS:
        names = ", ".join(form.name for form in WORDS)
        raise InputError("format of the view", f"be one of {names} to be loaded", image.form.name)
    shape = np.shape(places)[:-1] if image.axes else np.shape(places)
    inside, offsets = image.offsets(places, layer, np.ones(shape, bool))
    texels = np.zeros((*shape, 4), np.uint8)
    texels[inside] = image.data[offsets[:, None] + np.arange(4)]
    values = vertex_formats.decode(texels.reshape(-1, 4), image.form)
    return values.view(image.kind).reshape(*shape, 4)


def store(
    image: Image,
    undo: UndoLog,
    mask: np.ndarray,
    places: np.ndarray,
    values: np.ndarray,
    layer: ArrayLike,
) -> None:
    """Store texels of the lanes of a mask; what lies outside of the view is dropped.

    Raises
    ------
    InputError
        A mask, places or values of another shape or type.
    """
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise InputError("mask", "be an array of bool", getattr(mask, "dtype", type(mask)))
    values = np.asarray(values)
    if values.shape != (*mask.shape, 4) or values.dtype != image.kind:
        rule = f"be {np.dtype(image.kind)} of shape {(*mask.shape, 4)}"
        raise InputError("values", rule, f"{values.dtype} of {values.shape}")
    inside, offsets = image.offsets(places, layer, mask)
    texels = encode(np.ascontiguousarray(values[inside]), image.form)
    undo.keep(image.data)
    image.data[offsets[:, None] + np.arange(texels.shape[1])] = texels
