# SPDX-License-Identifier: BSD-2-Clause
"""Formats of texels: where channels lie in memory, and how a sampler takes them."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.vertex_formats import LAYOUTS, Channel, Layout, raw_bits, small_float
from fixfunc.models.lib import float32
from fixfunc.models.texture import block_decode
from fixfunc.spec.dxgi import FORMATS as DXGI_FORMATS
from fixfunc.spec.dxgi import Format

# Formats that files of textures know by shorter names.
SHORT = {
    "RGBA8": Format.R8G8B8A8_UNORM,
    "BGRA8": Format.B8G8R8A8_UNORM,
    "R8": Format.R8_UNORM,
    "RG8": Format.R8G8_UNORM,
    "R16": Format.R16_UNORM,
    "RGBA16F": Format.R16G16B16A16_FLOAT,
}
# Formats of blocks, by the names of their decoders.
BLOCKS = {
    "BC1": Format.BC1_UNORM,
    "BC2": Format.BC2_UNORM,
    "BC3": Format.BC3_UNORM,
    "BC4U": Format.BC4_UNORM,
    "BC4S": Format.BC4_SNORM,
    "BC5U": Format.BC5_UNORM,
    "BC5S": Format.BC5_SNORM,
    "BC6HU": Format.BC6H_UF16,
    "BC6HS": Format.BC6H_SF16,
    "BC7": Format.BC7_UNORM,
}
# Formats that are only read: alpha alone, and planes of depths and of stencil values.
READ = {
    Format.A8_UNORM: Layout((Channel(3, 0, 8),), "UNORM", 1),
    Format.R24_UNORM_X8_TYPELESS: Layout((Channel(0, 0, 24),), "UNORM", 4),
    Format.X24_TYPELESS_G8_UINT: Layout((Channel(1, 24, 8),), "UINT", 4),
    Format.R32_FLOAT_X8X24_TYPELESS: Layout((Channel(0, 0, 32),), "FLOAT", 8),
    Format.X32_TYPELESS_G8X24_UINT: Layout((Channel(1, 32, 8),), "UINT", 8),
}
SHARED_EXPONENT = Format.R9G9B9E5_SHAREDEXP
SHARED_BITS = 9  # of a mantissa
SHARED_BIAS = 24  # a mantissa counts units of 2^(exponent - 24)
INTEGERS = ("UINT", "SINT")


class TexelFormat(NamedTuple):
    """A format, as a sampler takes it."""

    size: int  # bytes of a texel, or of a block
    edge: int  # texels along a block's row: 4, 2, or 1
    channels: int  # from red on; one before the last that the format lacks is zero
    present: tuple[int, ...]  # channels that the format has
    dtype: np.dtype  # of a channel that has been read
    unit: np.ndarray  # float64, shape (channels,): what is 1.0; of floats and integers 1
    kind: str  # UNORM, SNORM, UINT, SINT, FLOAT
    rows: int = 1  # of a block: 4, or 1

    @property
    def is_integer(self) -> bool:
        """It is read as integers, and not filtered."""
        return self.kind in INTEGERS


def _plain(layout):
    """A format without blocks."""
    channels = max(channel.register for channel in layout.channels) + 1
    widest = max(channel.bits for channel in layout.channels)
    if layout.kind == "FLOAT":
        dtype = np.float32 if widest == 32 else np.float16
    else:
        letter = "i" if layout.kind in ("SNORM", "SINT") else "u"
        dtype = f"{letter}{1 if widest <= 8 else 2 if widest <= 16 else 4}"
    unit = np.ones(channels)
    if layout.kind in ("UNORM", "SNORM"):
        signed = layout.kind == "SNORM"
        unit[:] = (1 << widest - signed) - 1
        for channel in layout.channels:
            unit[channel.register] = (1 << channel.bits - signed) - 1
    present = tuple(channel.register for channel in layout.channels)
    return TexelFormat(layout.size, 1, channels, present, np.dtype(dtype), unit, layout.kind)


def _blocks(form):
    """A format of blocks: normalised channels have as many bits as their type."""
    dtype = np.dtype(form.kind)
    kind = {"f": "FLOAT", "i": "SNORM", "u": "UNORM"}[dtype.kind]
    one = 1 if kind == "FLOAT" else np.iinfo(dtype).max
    channels = form.channels
    return TexelFormat(
        *(form.size, 4, channels, tuple(range(channels)), dtype),
        *(np.full(channels, float(one)), kind, 4),
    )


_LAYOUTS = {name: LAYOUTS[form] for name, form in SHORT.items()}
_LAYOUTS |= {
    form.name: layout for form, layout in (LAYOUTS | READ).items() if form not in SHORT.values()
}
TEXELS = {name: _plain(layout) for name, layout in _LAYOUTS.items()}
TEXELS[SHARED_EXPONENT.name] = TexelFormat(
    DXGI_FORMATS[SHARED_EXPONENT].bytes, 1, 3, (0, 1, 2), np.dtype(np.float16), np.ones(3), "FLOAT"
)
# Bytes of two texels' red, greens and blue [fs 19.4].
PAIRS = {Format.R8G8_B8G8_UNORM.name: (0, (1, 3), 2), Format.G8R8_G8B8_UNORM.name: (1, (0, 2), 3)}
TEXELS |= {
    name: TexelFormat(4, 2, 3, (0, 1, 2), np.dtype(np.uint8), np.full(3, 255.0), "UNORM")
    for name in PAIRS
}
TEXELS |= {name: _blocks(form) for name, form in block_decode.FORMATS.items()}
# Of what has colours in bytes: they may be sRGB.
WITH_SRGB = {"RGBA8", "BGRA8", "B8G8R8X8_UNORM", "BC1", "BC2", "BC3", "BC7"}
_NAMES = {form: name for name, form in (SHORT | BLOCKS).items()}


def _named(form):
    """A format's name among those of texels, and whether its colours are sRGB."""
    linear = Format[form.name.removesuffix("_SRGB")]
    return _NAMES.get(linear, linear.name), linear != form


# Every format of DXGI that a shader reads -> its name here, and whether its colours are sRGB.
DXGI = {form: _named(form) for form in Format if _named(form)[0] in TEXELS}


def read(data: np.ndarray, name: str) -> np.ndarray:
    """Texels of a format without blocks.

    Parameters
    ----------
    data : ndarray of uint8, shape (..., size)
    name : str
        One of :data:`TEXELS`.

    Returns
    -------
    ndarray of the format's type, shape (..., channels)
        Normalised integers as they are, the least SNORM as -1.0; floats of 10 and 11 bits and those
        of a shared exponent as halves, which hold each of them [fs 19.1.3].
    """
    form = TEXELS[name]
    if name == SHARED_EXPONENT.name:
        return _shared_exponent(data)
    out = np.zeros((*data.shape[:-1], form.channels), form.dtype)
    for channel in _LAYOUTS[name].channels:
        out[..., channel.register] = _channel(
            raw_bits(data, channel), channel.bits, form.kind, form.dtype
        )
    return out


def read_pairs(data: np.ndarray, name: str) -> np.ndarray:
    """Texels of a format of which two share red and blue [fs 19.4].

    Parameters
    ----------
    data : ndarray of uint8, shape (..., pairs, 4)
    name : str
        One of :data:`PAIRS`.

    Returns
    -------
    ndarray of uint8, shape (..., 2 * pairs, 3)
    """
    red, greens, blue = PAIRS[name]
    both = np.stack([data[..., [red, green, blue]] for green in greens], -2)
    return both.reshape(*data.shape[:-2], -1, 3)


def _channel(raw, bits, kind, dtype):
    """A channel's bits as its value."""
    if kind in ("UINT", "UNORM"):
        return raw
    if kind == "FLOAT":
        if bits == 32:
            return raw.view(np.float32)
        return small_float(raw, bits).view(np.float32).astype(dtype)
    signed = (raw << np.uint32(32 - bits)).view(np.int32) >> (32 - bits)
    return signed if kind == "SINT" else np.maximum(signed, 1 - (1 << bits - 1))


def _shared_exponent(data):
    """Three mantissas of nine bits with one exponent of five, as halves."""
    exponent = raw_bits(data, Channel(0, 27, 5)).astype(np.int64) - SHARED_BIAS
    mantissas = [
        raw_bits(data, Channel(0, SHARED_BITS * n, SHARED_BITS)).astype(np.float32)
        for n in range(3)
    ]
    return np.stack([np.ldexp(m, exponent).astype(np.float16) for m in mantissas], -1)


def values(texels: np.ndarray, form: TexelFormat, unit: np.ndarray | None = None) -> np.ndarray:
    """Texels as a shader reads them, each channel of its own.

    Parameters
    ----------
    texels : ndarray, shape (..., channels)
        From :func:`read`, or of a decoded block, or linear of 16 bits.
    form : TexelFormat
    unit : ndarray of float64, optional
        What is 1.0; that of the format by default.

    Returns
    -------
    ndarray of float32, shape (..., 4), or of uint32 or int32
        Normalised integers correctly rounded [fs 3.2.3]; of floats of 16 bits or fewer NaN is one.
        What the format lacks is 0, alpha 1.
    """
    if form.is_integer:
        wide = np.uint32 if form.kind == "UINT" else np.int32
        found = texels.astype(wide)
    elif form.kind == "FLOAT":
        found = texels.astype(np.float32)
        if form.dtype != np.float32:
            found = np.where(np.isnan(found), float32.NAN, found)
    else:
        unit = form.unit if unit is None else unit
        # Both are exact, so that the quotient is the nearest.
        found = texels.astype(np.float32) / unit.astype(np.float32)
    return complete(found, form)


def complete(found: np.ndarray, form: TexelFormat) -> np.ndarray:
    """Channels of a format with those that it lacks: 0, and for alpha 1; shape (..., 4)."""
    out = np.zeros((*found.shape[:-1], 4), found.dtype)
    out[..., : form.channels] = found
    if 3 not in form.present:
        out[..., 3] = 1
    return out
