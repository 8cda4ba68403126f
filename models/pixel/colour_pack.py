# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the colour pack: colours of quads in the format of a plane, with fractions."""

import numpy as np

from fixfunc.models.lib import float32
from fixfunc.models.output.formats import (
    colour_format,
    float_bits,
    linear_to_srgb,
    shader_alpha,
    srgb_to_linear,
)
from fixfunc.models.output.output_merger import SRGB_STEEP, fraction_places
from fixfunc.spec.dxgi import Format

LINEAR = (1 << 16) - 1  # what 1.0 is of linear light
SIGN = 1 << 31
NOTHING = np.int64(0)


def pack(bits: np.ndarray, form: Format) -> tuple[np.ndarray, np.ndarray]:
    """Colours as colour write takes them.

    Parameters
    ----------
    bits : ndarray of int64, shape (n, 4)
        Channels: bits of float32; of formats of integers these, cut to the format's range.
    form : Format
        Of a plane.

    Returns
    -------
    packed, fractions : ndarray of uint32, shape (n,)
        As :func:`fixfunc.spec.colours.colours` describes them. Normalised channels are the nearest,
        ties away from zero; fractions are cut towards it [fs 3.2.3].
    """
    own = colour_format(form)
    alpha = shader_alpha(own)
    packed, fractions = np.zeros((2, len(bits)), np.int64)
    for channel in own.layout.channels + (() if alpha is None else (alpha,)):
        number, _ = _number(bits[:, channel.register], own, channel, 0)
        packed |= (number & (1 << channel.bits) - 1) << channel.low
    widest = max(own.layout.channels, key=lambda channel: channel.bits)
    channels = {channel.register: channel for channel in own.layout.channels}
    for n, (low, places) in enumerate(fraction_places(own) or ()):
        channel = channels.get(n, widest._replace(register=n))
        _, fraction = _number(bits[:, n], own, channel, places)
        fractions |= (fraction & (1 << places) - 1) << low
    return packed.astype(np.uint32), fractions.astype(np.uint32)


def _number(bits, form, channel, places):
    """A channel's integer, and what rounding took away of it, with so many places."""
    if form.kind == "FLOAT":
        return float_bits(bits.astype(np.uint32).view(np.float32), channel.bits), NOTHING
    if form.kind == "UINT":
        return np.minimum(bits, (1 << channel.bits) - 1), NOTHING
    if form.kind == "SINT":
        most = (1 << channel.bits - 1) - 1
        return np.clip(bits - (bits >> 31 << 32), -most - 1, most), NOTHING
    if form.is_srgb:
        return _srgb(bits, channel, places)
    is_negative = (bits & SIGN > 0) & (form.kind == "SNORM")
    magnitude = np.where(is_negative, bits ^ SIGN, bits)
    most = (1 << channel.bits - (form.kind == "SNORM")) - 1
    whole = float32.unorm(magnitude, most)
    fraction = float32.unorm_steps(magnitude, most, 1 << places) - (whole << places)
    sign = np.where(is_negative, -1, 1)
    return sign * whole, _cut(sign * fraction, places)


def _srgb(bits, channel, places):
    """The byte, and what its linear light lacks; alpha is linear in both."""
    linear = float32.unorm(bits, LINEAR)
    byte = linear_to_srgb(linear, channel)
    rest = linear - srgb_to_linear(byte, channel)
    is_steep = (byte >= SRGB_STEEP) & (channel.register < 3)
    return byte, _cut(np.where(is_steep, rest >> 2, rest), places)


def _cut(fraction, places):
    most = (1 << max(places - 1, 0)) - 1
    return np.clip(fraction, -most - 1, most)
