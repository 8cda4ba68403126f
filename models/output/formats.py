# SPDX-License-Identifier: BSD-2-Clause
"""Formats of colours: channels of a shader, of a blender and of memory."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.vertex_formats import (
    LAYOUTS,
    Channel,
    Layout,
    raw_bits,
    small_float,
)
from fixfunc.models.frontend.vertex_formats import layout as layout_of
from fixfunc.models.texture.block_decode import linear
from fixfunc.spec.dxgi import FORMATS, VERTEX_FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import COLOUR

SRGB = {
    Format.R8G8B8A8_UNORM_SRGB: Format.R8G8B8A8_UNORM,
    Format.B8G8R8A8_UNORM_SRGB: Format.B8G8R8A8_UNORM,
    Format.B8G8R8X8_UNORM_SRGB: Format.B8G8R8X8_UNORM,
}
# What may be drawn to; those of 96 bits are optional [fs 19.1.4].
RENDERABLE = (
    *(form for form in VERTEX_FORMATS if FORMATS[form].bytes != 12),
    Format.A8_UNORM,
    *SRGB,
)
# What shaders store texels as [fs 5.3.9.2].
STORABLE = tuple(form for form in RENDERABLE if form not in SRGB)
FLOAT_FRACTION = 23  # bits of a float32
FLOAT_INFINITY = 0x7F800000
LEAST_EXPONENT = 127 - 14  # of a float32: that of the least normal float of fewer bits
SOURCE_STEPS = 1 << 20  # of what is 1.0 of a shader's channel that is blended, at least
DITHERED = 8  # bits of a channel, of which less are dithered
# Thresholds of four by four pixels, in sixteenths: neighbours differ most.
THRESHOLDS = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])
# Linear values of every sRGB byte, 16 bits.
_LINEAR = linear(np.repeat(np.arange(256, dtype=np.uint8)[:, None], 4, 1))[:, 0].astype(np.int64)


class ColourFormat(NamedTuple):
    """How a blender sees a format."""

    layout: Layout
    kind: str  # UNORM, SNORM, FLOAT, UINT, SINT
    most: np.ndarray  # int64, shape (4,): what is 1.0 of each channel, of normalised formats
    is_srgb: bool

    @property
    def steps(self) -> np.ndarray:
        """Steps of a shader's channel that is blended in one of the target's: int64, shape (4,)."""
        return -(-SOURCE_STEPS // self.most)


def colour_format(form: Format) -> ColourFormat:
    """How a blender sees a format; one that is no target's raises ``InputError``.

    Channels that a normalised format lacks have as many bits as its widest one.
    """
    if form not in RENDERABLE:
        raise InputError("format of a target", "be one that is drawn to", Format(form).name)
    layout = LAYOUTS.get(SRGB.get(form, form)) or layout_of(form.name)
    is_srgb = form in SRGB
    widest = max(channel.bits for channel in layout.channels)
    bits = np.full(4, 16 if is_srgb else widest)
    if not is_srgb:
        for channel in layout.channels:
            bits[channel.register] = channel.bits
    signed = layout.kind == "SNORM"
    return ColourFormat(layout, layout.kind, (1 << bits - signed) - 1, is_srgb)


def shader_alpha(form: ColourFormat) -> Channel | None:
    """Where packed colours have a shader's alpha that their format does not store.

    It lies behind the last channel, and has as many bits as the widest one. None where the format
    has an alpha, or leaves no room in 32 bits.
    """
    channels = form.layout.channels
    low = max(channel.low + channel.bits for channel in channels)
    widest = max(channel.bits for channel in channels)
    if any(channel.register == 3 for channel in channels) or low + widest > COLOUR:
        return None
    return Channel(3, low, widest)


def thresholds(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Thresholds of dithering of pixels: odd numbers of thirty-seconds, 1 to 31."""
    return 2 * THRESHOLDS[y & 3, x & 3] + 1


def quantise(
    values: np.ndarray,
    form: ColourFormat,
    threshold: np.ndarray | None = None,
    steps: int | np.ndarray = 1,
) -> np.ndarray:
    """Channels of a shader as a blender takes them.

    Parameters
    ----------
    values : ndarray of float32, shape (n, 4)
    form : ColourFormat
        Normalised.
    threshold : ndarray of int, shape (n,), optional
        From :func:`thresholds`: channels of fewer than 8 bits are dithered by it.
    steps : int, or ndarray of int64, shape (4,)
        Of one of the format's units.

    Returns
    -------
    ndarray of int64, shape (n, 4)
        Steps: cut to the format's range, the nearest, ties away from zero; NaN is 0 [fs 3.2.3].
        Dithered: the integer below v + threshold / 32, in steps.
    """
    low = 0.0 if form.kind == "UNORM" else -1.0
    values = np.clip(np.nan_to_num(values, nan=0.0), low, 1).astype(np.float64)
    scaled = values * (form.most * steps)  # exact: a float32 times 21 bits fits float64
    nearest = np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int64)
    if threshold is None or form.kind != "UNORM":
        return nearest
    # Exact: of at most 7 bits and five more of the threshold.
    spread = np.floor(values * form.most + threshold[:, None] / 32).astype(np.int64)
    return np.where(form.most < (1 << DITHERED) - 1, spread * steps, nearest)


def load(data: np.ndarray, form: ColourFormat) -> np.ndarray:
    """Channels in memory as a blender takes them.

    Parameters
    ----------
    data : ndarray of uint8, shape (n, bytes)
    form : ColourFormat

    Returns
    -------
    ndarray of int64, shape (n, 4), or of float32
        Integers as they are; of sRGB linear ones of 16 bits; of floats float32. What the format
        lacks is 0, alpha 1.
    """
    out = np.zeros((len(data), 4), np.int64)
    out[:, 3] = form.most[3]
    for channel in form.layout.channels:
        raw = raw_bits(data, channel).astype(np.int64)
        if form.kind in ("SNORM", "SINT"):
            raw = np.where(raw >> channel.bits - 1, raw - (1 << channel.bits), raw)
        if form.kind == "SNORM":
            raw = np.maximum(raw, -form.most[channel.register])
        if form.is_srgb:
            raw = srgb_to_linear(raw, channel)
        out[:, channel.register] = raw
    if form.kind != "FLOAT":
        return out
    floats = np.zeros((len(data), 4), np.float32)
    floats[:, 3] = 1
    for channel in form.layout.channels:
        raw = out[:, channel.register].astype(np.uint32)
        wide = raw if channel.bits == 32 else small_float(raw, channel.bits)
        floats[:, channel.register] = wide.view(np.float32)
    return floats


def store(values: np.ndarray, form: ColourFormat) -> np.ndarray:
    """The inverse of :func:`load`: uint8, shape (n, bytes).

    Floats are those of :func:`float_bits`.
    """
    words = np.zeros((len(values), -(-form.layout.size // 8)), np.uint64)
    for channel in form.layout.channels:
        raw = values[:, channel.register]
        if form.is_srgb:
            raw = linear_to_srgb(raw, channel)
        if form.kind == "FLOAT":
            raw = float_bits(raw, channel.bits)
        word, shift = divmod(channel.low, 64)
        bits = raw.astype(np.int64) & (1 << channel.bits) - 1
        words[:, word] |= bits.view(np.uint64) << np.uint64(shift)
    return words.view(np.uint8)[:, : form.layout.size]


def masked(made: np.ndarray, old: np.ndarray, form: ColourFormat, write: int) -> np.ndarray:
    """Texels of which some channels are written.

    Parameters
    ----------
    made, old : ndarray of uint8, shape (n, bytes)
        What would be written, and what is stored.
    form : ColourFormat
    write : int
        Channels: red 1, green 2, blue 4, alpha 8.

    Returns
    -------
    ndarray of uint8, shape (n, bytes)
        Channels that are not written keep their bits; bits of no channel are 0.
    """
    size = form.layout.size
    masks = [0, 0]
    for channel in form.layout.channels:
        bits = (1 << channel.bits) - 1 << channel.low
        masks[write >> channel.register & 1] |= bits
    kept, written = (np.frombuffer(mask.to_bytes(size, "little"), np.uint8) for mask in masks)
    return made & written | old & kept


def srgb_to_linear(values: np.ndarray, channel: Channel) -> np.ndarray:
    """Bytes of a channel of sRGB as linear ones, of 16 bits; alpha is linear already."""
    return _LINEAR[values] if channel.register < 3 else values * 257


def linear_to_srgb(values: np.ndarray, channel: Channel) -> np.ndarray:
    """The inverse of :func:`srgb_to_linear`: the nearest."""
    return encoded(values) if channel.register < 3 else (2 * values + 257) // 514


def encoded(values: np.ndarray) -> np.ndarray:
    """The sRGB byte whose linear value of 16 bits is the nearest; of two, the greater."""
    return np.searchsorted(_LINEAR[1:] + _LINEAR[:-1], 2 * values.astype(np.int64), side="right")


def float_bits(values: np.ndarray, bits: int) -> np.ndarray:
    """float32 as a float of 32, 16, 11 or 10 bits: its bits, int64.

    Towards zero: what is too great is the greatest finite value, and infinity alone is infinity
    [fs 3.2.2]. Of 11 and 10 bits without a sign: below 0 is 0 [fs 3.1.6]. NaN is the canonical
    one, but of 32 bits, all of which pass.
    """
    raw = np.asarray(values, np.float32).view(np.uint32).astype(np.int64)
    if bits == 32:
        return raw
    has_sign = bits == 16
    fraction = bits - 5 - has_sign
    infinite = 31 << fraction
    magnitude = raw & (1 << 31) - 1
    is_negative = raw >> 31 == 1
    is_nan = magnitude > FLOAT_INFINITY
    cut = FLOAT_FRACTION - fraction
    normal = magnitude - (LEAST_EXPONENT - 1 << FLOAT_FRACTION) >> cut
    # Below the least normal number every step of the exponent is a bit less.
    below = np.maximum(LEAST_EXPONENT - (magnitude >> FLOAT_FRACTION), 0)
    mantissa = magnitude & (1 << FLOAT_FRACTION) - 1 | 1 << FLOAT_FRACTION
    denormal = mantissa >> np.minimum(cut + below, FLOAT_FRACTION + 1)
    found = np.where(below > 0, denormal, np.minimum(normal, infinite - 1))
    found = np.where(magnitude == FLOAT_INFINITY, infinite, found)
    found = np.where(is_negative, found | 1 << bits - 1 if has_sign else 0, found)
    return np.where(is_nan, infinite | 1 << fraction - 1, found)


def encode(values: np.ndarray, form: Format) -> np.ndarray:
    """Colours of a shader as a format stores them.

    Parameters
    ----------
    values : ndarray of float32, or of uint32 for formats of integers, shape (n, 4)
    form : Format

    Returns
    -------
    ndarray of uint8, shape (n, bytes)
        As :func:`quantise` and :func:`store` say. Integers are cut to their range.

    Raises
    ------
    InputError
        A format that is no target's.

    Source: [fs 3.2.2-3.2.3, 19.1.3].
    """
    colours = colour_format(form)
    if colours.kind == "FLOAT":
        return store(values, colours)
    if colours.kind in ("UNORM", "SNORM"):
        return store(quantise(values, colours), colours)
    return store(integers(values, colours), colours)


def encode_bits(values: np.ndarray, form: Format) -> np.ndarray:
    """Texels of channels that are not converted: the lower bits of each [fs 5.2.3.1].

    Parameters
    ----------
    values : ndarray of uint32, shape (n, 4)
    form : Format

    Returns
    -------
    ndarray of uint8, shape (n, bytes)
    """
    as_they_are = colour_format(form)._replace(kind="UINT", is_srgb=False)
    return store(values.astype(np.int64), as_they_are)


def integers(values: np.ndarray, form: ColourFormat) -> np.ndarray:
    """Channels of integers, 32 bits each, cut to a format's range: int64."""
    is_signed = form.kind == "SINT"
    wide = values.view(np.int32 if is_signed else np.uint32).astype(np.int64)
    most = form.most >> 1 if is_signed else form.most
    return np.clip(wide, -most - 1 if is_signed else 0, most)
