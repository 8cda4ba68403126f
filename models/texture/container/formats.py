# SPDX-License-Identifier: BSD-2-Clause
"""Texels as files store them, and the format of the sampler that holds them."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.vertex_formats import LAYOUTS, Layout, layout, raw_bits
from fixfunc.models.texture.texels import DXGI, WITH_SRGB
from fixfunc.models.texture.texture import bytes_of
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.errors import InputError

ALPHA = 3  # its register
# What an absent alpha is, by the kind and the bits of the format that holds the texels.
ONES = {
    "UNORM": lambda bits: (1 << bits) - 1,
    "SNORM": lambda bits: (1 << bits - 1) - 1,
    "UINT": lambda _: 1,
    "SINT": lambda _: 1,
    "FLOAT": {16: 0x3C00, 32: 0x3F800000}.get,
}
WIDER = Format.R8G8B8A8_UNORM, Format.R16G16B16A16_UNORM  # where no format holds each value
TYPES = "UNORM", "UF16", "FLOAT", "UNORM_X8_TYPELESS", "FLOAT_X8X24_TYPELESS"


class FileFormat(NamedTuple):
    """Texels of a file: those of ``form``, or others that become it."""

    form: Format  # as they are read
    layout: Layout | None = None  # of the file's own texels; None: those of ``form``

    @property
    def name(self) -> str:
        """Of :data:`~fixfunc.models.texture.texels.TEXELS`."""
        return DXGI[self.form][0]

    @property
    def srgb(self) -> bool:
        """Colours are sRGB."""
        return DXGI[self.form][1]

    def bytes_of(self, width: int, height: int) -> int:
        """Bytes of an image in the file."""
        if self.layout is None:
            return bytes_of(self.name, width, height)
        return width * height * self.layout.size

    def read(self, data: np.ndarray) -> np.ndarray:
        """Bytes of ``form``, of those of the file: uint8, shape (images, bytes)."""
        if self.layout is None:
            return data
        linear = LAYOUTS[Format[self.form.name.removesuffix("_SRGB")]]
        texels = data.reshape(len(data), -1, self.layout.size)
        return _rearranged(texels, self.layout, linear).reshape(len(data), -1)


def typed(form: Format) -> Format:
    """The format that a typeless one is read as: UNORM, or else of floats."""
    if not FORMATS[form].typeless:
        return form
    family = [other for other in DXGI if FORMATS[other].family == form]
    return next(other for kind in TYPES for other in family if other.name.split("_", 1)[1] == kind)


def file_format(name: str) -> FileFormat:
    """Find what holds a format of files.

    A format that the sampler reads is taken as it is. Another, without blocks, becomes the smallest
    that holds every value of each channel; where there is none, normalised channels become wider
    ones, the nearest. What it lacks is 0, alpha 1.

    Parameters
    ----------
    name : str
        As DXGI forms it, channels from the lowest bits on; L, a luminance, is red, green and blue.

    Raises
    ------
    InputError
        No format holds it.
    """
    form = Format.__members__.get(name)
    if form is not None:
        form = typed(form)
        if form not in DXGI:
            raise InputError("format", "be one that a shader reads", name)
        return FileFormat(form)
    stored = layout(name.removesuffix("_SRGB"))
    return FileFormat(_holder(stored, name), stored)


def _holder(stored, name):
    """The smallest format with every value of a file's texels, or the nearest."""
    srgb = name.endswith("_SRGB")
    for form, held in sorted(LAYOUTS.items(), key=lambda row: row[1].size):
        if held.kind == stored.kind and (not srgb or DXGI[form][0] in WITH_SRGB):
            bits = {channel.register: channel.bits for channel in held.channels}
            if all(_holds(held.kind, bits.get(of.register, 0), of.bits) for of in stored.channels):
                return Format[f"{form.name}_SRGB"] if srgb else form
    if stored.kind != "UNORM":
        raise InputError("format", "be one that a shader reads", name)
    return WIDER[max(channel.bits for channel in stored.channels) > 8]


def _holds(kind, bits, stored):
    """Whether a channel has each value of another: of UNORM, by repeating its bits."""
    return bits > 0 and bits % stored == 0 if kind == "UNORM" else bits == stored


def _rearranged(texels, stored, held):
    """Texels of one layout as those of another: uint8, shape (..., held.size)."""
    words = np.zeros(texels.shape[:-1], np.uint64)
    found = {channel.register: channel for channel in stored.channels}
    for channel in held.channels:
        if channel.register in found:
            source = found[channel.register]
            value = raw_bits(texels, source).astype(np.uint64)
            if source.bits != channel.bits:
                value = _scaled(value, source.bits, channel.bits)
        else:
            one = ONES[held.kind](channel.bits) if channel.register == ALPHA else 0
            value = np.uint64(one)
        words |= value << np.uint64(channel.low)
    return words.astype("<u8")[..., None].view(np.uint8)[..., : held.size]


def _scaled(value, bits, wider):
    """A UNORM of some bits as one of others: the nearest."""
    most = (1 << bits) - 1
    return (2 * value * np.uint64((1 << wider) - 1) + np.uint64(most)) // np.uint64(2 * most)
