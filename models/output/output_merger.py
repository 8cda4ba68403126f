# SPDX-License-Identifier: BSD-2-Clause
"""Output merger: a shader's colours meet what a target holds, in any format that is drawn to."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.lib import float32
from fixfunc.models.output.blend import Blend, blend, blend_floats
from fixfunc.models.output.formats import (
    ColourFormat,
    colour_format,
    encoded,
    float_bits,
    integers,
    linear_to_srgb,
    load,
    masked,
    quantise,
    shader_alpha,
    srgb_to_linear,
    store,
)
from fixfunc.models.payload import enumerated
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, BlendOp

INTEGERS = ("UINT", "SINT")
# Fractions beside packed colours, 32 bits: lowest bit and bits of red, green, blue and alpha.
FRACTIONS = tuple((8 * n, 8) for n in range(4))
FRACTIONS_BESIDE_ALPHA = ((0, 6), (6, 6), (12, 6), (18, 14))  # where alpha has few bits
FRACTIONS_OF_16_BITS = tuple((6 * n, 6) for n in range(4))
LIGHT = (1 << 16) - 1  # what 1.0 is of linear light
SRGB_STEEP = 128  # bytes of sRGB from which on a fraction has steps of 4


class Numbers(NamedTuple):
    """A shader's colours: as a plane stores them, and what that rounded them by."""

    packed: np.ndarray  # uint32
    fractions: np.ndarray  # uint32: see refined


def numbers(colours: np.ndarray | Numbers) -> Numbers:
    """Colours with fractions: zeros, where there are none."""
    return colours if isinstance(colours, Numbers) else Numbers(colours, np.uint32(0))


def outputs(colours: np.ndarray | Numbers, count: int = 1) -> list[Numbers]:
    """Colours of each output, of shape (n, edge, edge): as many as are given, or ``count`` alike.

    ``colours`` has the shape (outputs, n, edge, edge); or (n, edge, edge), of every output.
    """
    words = numbers(colours)
    given = words.packed.shape
    shape = max(count, *given[:-3], 1), *given[-3:]
    return [
        Numbers(*its) for its in zip(*(np.broadcast_to(its, shape) for its in words), strict=True)
    ]


def merge(
    new: np.ndarray,
    old: np.ndarray,
    form: Format,
    state: Blend,
    constant: np.ndarray | None = None,
    second: np.ndarray | None = None,
    threshold: np.ndarray | None = None,
) -> np.ndarray:
    """What is stored of samples.

    Parameters
    ----------
    new : ndarray of float32, or of int32 or uint32 for formats of integers, shape (n, 4)
        A shader's colours.
    old : ndarray of uint8, shape (n, bytes)
        What is stored.
    form : Format
        Of the target.
    state : Blend
    constant : ndarray of float32, shape (4,), optional
        Blend constant.
    second : ndarray of the type of ``new``, shape (n, 4), optional
        A shader's second colour.
    threshold : ndarray of int, shape (n,), optional
        From :func:`fixfunc.models.output.formats.thresholds`, of a target that is dithered.

    Returns
    -------
    ndarray of uint8, shape (n, bytes)
        UNORM and SNORM: what is blended is cut to the format's range, and has 20 bits or more
        whatever the target has; sums are exact, rounded once. sRGB is blended as linear colours.
        Floats: by float32, cut to the format at the end. Integers: cut. Channels that are not
        written keep their bits, whatever these mean [fs 17.1].

    Raises
    ------
    InputError
        A format that is no target's, colours of another kind than the target's, blending of
        integers, a logic operation of anything but UNORM and UINT.

    Source: [fs 17, 19.1.4], numerics: output.
    """
    colours = colour_format(form)
    check_kind(new.dtype, form)
    check(state, form)
    steps = colours.steps if state.enable and not state.logic else 1
    source = taken(new, colours, threshold, steps)
    other = None if second is None else taken(second, colours, None, steps)
    return merge_channels(source, old, colours, state, constant, other, steps)


def taken(
    values: np.ndarray,
    form: ColourFormat,
    threshold: np.ndarray | None = None,
    steps: int | np.ndarray = 1,
) -> np.ndarray:
    """A shader's colours as :func:`merge_channels` takes them.

    Parameters are those of :func:`fixfunc.models.output.formats.quantise`, colours those of
    :func:`merge`: int64, shape (n, 4); of floats float32, as they are.
    """
    if form.kind == "FLOAT":
        return np.asarray(values, np.float32)
    if form.kind in INTEGERS:
        return integers(values, form)
    return quantise(values, form, threshold, steps)


def merge_channels(
    new: np.ndarray,
    old: np.ndarray,
    form: ColourFormat,
    state: Blend,
    constant: np.ndarray | None = None,
    second: np.ndarray | None = None,
    steps: int | np.ndarray = 1,
    cuts_alpha: bool = False,
) -> np.ndarray:
    """What is stored of samples whose colours are channels as a blender takes them.

    Parameters
    ----------
    new, second : ndarray of int64, shape (n, 4), or of float32
        From :func:`taken`, or from :func:`fixfunc.models.output.formats.load`.
    old, state
        Those of :func:`merge`.
    form : ColourFormat
    constant : ndarray of float32, or of int64, shape (4,), optional
        That of :func:`merge`, or from :func:`in_steps`.
    steps : int, or ndarray of int64, shape (4,)
        Of ``new`` and ``second``, in a unit of a normalised target.
    cuts_alpha : bool
        See :func:`fixfunc.models.output.blend.blend`.

    Returns
    -------
    ndarray of uint8, shape (n, bytes)
    """
    kept = load(old, form)
    if form.kind == "FLOAT":
        made = blend_floats(new, kept, state, constant, second)
    else:
        signed = form.kind in ("SNORM", "SINT")
        made = blend(new, kept, state, constant, second, form.most, signed, steps, cuts_alpha)
    return masked(store(made, form), old, form, state.write)


def merge_packed_floats(
    new: Numbers,
    old: np.ndarray,
    form: ColourFormat,
    state: Blend,
    constant: np.ndarray | None = None,
    second: Numbers | None = None,
) -> np.ndarray:
    """Texels of floats of up to 32 bits, blended: uint32, shaped as ``new``.

    A shader's colours are packed; alpha, which no such format has, is their fraction, float32.
    Other parameters are those of :func:`blend_floats`.
    """
    shape = np.shape(new.packed)

    def octets(words):
        wide = np.broadcast_to(np.asarray(words, "<u4"), shape)
        return np.ascontiguousarray(wide).reshape(-1, 1).view(np.uint8)

    def colour(given):
        out = load(octets(given.packed), form)
        out[:, 3] = octets(given.fractions).view("<f4")[:, 0]
        return out

    other = None if second is None else colour(second)
    stored = octets(old)[:, : form.layout.size]
    made = blend_floats(colour(new), load(stored, form), state, constant, other)
    out = np.zeros((len(made), 4), np.uint8)
    out[:, : form.layout.size] = masked(store(made, form), stored, form, state.write)
    return out.view("<u4").reshape(shape)


def fraction_places(form: ColourFormat) -> tuple[tuple[int, int], ...] | None:
    """Where the fractions of a shader's channels lie beside its packed colours.

    Lowest bit and bits, of red, green, blue and alpha; None of a format that is not normalised.
    """
    if form.kind not in ("UNORM", "SNORM"):
        return None
    if max(channel.bits for channel in form.layout.channels) == 16:
        return FRACTIONS_OF_16_BITS
    return FRACTIONS_BESIDE_ALPHA if form.most[3] < form.most[0] else FRACTIONS


def refined(
    channels: np.ndarray, fractions: np.ndarray, form: ColourFormat
) -> tuple[np.ndarray, np.ndarray]:
    """A shader's channels as numbers: packed ones and what these were rounded by.

    Parameters
    ----------
    channels : ndarray of int64, shape (n, 4)
        Of :func:`load`.
    fractions : ndarray of uint32, shape (n,)
        Two's complement, in the places of :func:`fraction_places`: of n bits so many 2^-n of the
        target's unit. Of sRGB they count in linear light, of 16 bits: by steps of 4 from bytes
        of :data:`SRGB_STEEP` on.
    form : ColourFormat

    Returns
    -------
    channels : ndarray of int64, shape (n, 4)
        In steps, cut to the format's range.
    steps : ndarray of int64, shape (4,)
        Of one of the format's units.
    """
    places = fraction_places(form)
    if places is None:
        return channels, np.ones(4, np.int64)
    words = np.asarray(fractions, np.int64)
    fields = [words >> low & (1 << bits) - 1 for low, bits in places]
    signed = [
        field - (field >> bits - 1 << bits) for field, (_, bits) in zip(fields, places, strict=True)
    ]
    added = np.stack(signed, -1)
    if form.is_srgb:
        steps = np.ones(4, np.int64)
        added[:, :3] *= _steepness(channels[:, :3])
    else:
        steps = np.array([1 << bits for _, bits in places], np.int64)
    low = -form.most if form.kind == "SNORM" else 0 * form.most
    return np.clip(channels * steps + added, low * steps, form.most * steps), steps


def _steepness(linear_values):
    """Steps of a fraction of sRGB, in linear light of 16 bits."""
    return np.where(encoded(linear_values) >= SRGB_STEEP, 4, 1)


def parted(values: np.ndarray, form: Format) -> tuple[np.ndarray, np.ndarray]:
    """A shader's colours as they are stored, and what rounding has taken away of them.

    Parameters
    ----------
    values : ndarray of float32, or of 32 bits that are an integer's or those of one, shape (n, 4)
    form : Format
        Of at most 32 bits.

    Returns
    -------
    packed, fractions : ndarray of uint32, shape (n,)
        As a shader gives them to colour write: see :func:`fixfunc.spec.colours.colours`. Normalised
        channels are the nearest, ties away from zero [fs 3.2.3]; fractions are cut towards zero,
        to as many as their bits hold. Integers are cut to their range. Of floats the fraction is
        the shader's alpha, float32, which no such format stores.
    """
    own = colour_format(form)
    alpha = shader_alpha(own)
    bits = values.view(np.uint32).astype(np.int64)
    packed, fractions = np.zeros((2, len(bits)), np.int64)
    if own.kind == "FLOAT":
        fractions = bits[:, 3]
    for channel in own.layout.channels + (() if alpha is None else (alpha,)):
        number, _ = _number(bits[:, channel.register], own, channel, 0)
        packed |= (number & (1 << channel.bits) - 1) << channel.low
    for n, (low, places) in enumerate(fraction_places(own) or ()):
        _, fraction = _number(bits[:, n], own, _given(own, n), places)
        fractions |= (fraction & (1 << places) - 1) << low
    return packed.astype(np.uint32), fractions.astype(np.uint32)


def in_steps(values: np.ndarray, form: ColourFormat) -> np.ndarray:
    """A colour that is never packed, such as the blend constant, as :func:`refined` has others.

    Parameters
    ----------
    values : ndarray of float32, shape (4,)
    form : ColourFormat
        Normalised.

    Returns
    -------
    ndarray of int64, shape (4,)
        Steps: what :func:`parted` keeps of a channel. Of sRGB all of its linear light, of 16 bits.
    """
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.int64)
    if form.is_srgb:
        return float32.unorm(bits, LIGHT)
    found = []
    for n, (_, places) in enumerate(fraction_places(form)):
        whole, fraction = _number(bits[n], form, _given(form, n), places)
        found.append((whole << places) + fraction)
    return np.array(found)


def _given(form, n):
    """A shader's channel: one that the format lacks has as many bits as its widest one."""
    channels = form.layout.channels
    widest = max(channels, key=lambda channel: channel.bits)
    own = {channel.register: channel for channel in channels}
    return own.get(n, widest._replace(register=n))


def _number(bits, form, channel, places):
    """A channel's integer, and what rounding took away of it, with so many places."""
    if form.kind == "FLOAT":
        return float_bits(bits.astype(np.uint32).view(np.float32), channel.bits), np.int64(0)
    if form.kind == "UINT":
        return np.minimum(bits, (1 << channel.bits) - 1), np.int64(0)
    if form.kind == "SINT":
        most = (1 << channel.bits - 1) - 1
        return np.clip(bits - (bits >> 31 << 32), -most - 1, most), np.int64(0)
    if form.is_srgb:
        linear = float32.unorm(bits, LIGHT)
        byte = linear_to_srgb(linear, channel)
        lost = linear - srgb_to_linear(byte, channel)
        is_steep = (byte >= SRGB_STEEP) & (channel.register < 3)
        return byte, _cut(np.where(is_steep, lost >> 2, lost), places)
    is_negative = (bits >> 31 == 1) & (form.kind == "SNORM")
    magnitude = np.where(is_negative, bits & (1 << 31) - 1, bits)
    most = (1 << channel.bits - (form.kind == "SNORM")) - 1
    whole = float32.unorm(magnitude, most)
    lost = float32.unorm_steps(magnitude, most, 1 << places) - (whole << places)
    sign = np.where(is_negative, -1, 1)
    return sign * whole, _cut(sign * lost, places)


def _cut(fraction, places):
    """The nearest of two's complement of so many bits."""
    half = 1 << max(places - 1, 0)
    return np.clip(fraction, -half, half - 1)


def check_kind(dtype: np.dtype, form: Format) -> None:
    """Raise ``InputError`` for a shader's colours of another kind than a target's."""
    expected = INTEGERS if dtype.kind in "iu" else ("UNORM", "SNORM", "FLOAT")
    if colour_format(form).kind not in expected:
        raise InputError("colours of a shader", f"be of the kind of {form.name}", dtype.name)


def check(state: Blend, form: Format) -> None:
    """Raise ``InputError`` for blending that there is not, or that a format does not have.

    Source: [fs 17.5, 19.1.4].
    """
    kind = colour_format(form).kind
    if state.enable:
        for factor in (state.source, state.target, state.source_alpha, state.target_alpha):
            enumerated(BlendFactor, factor, "blend factor")
        for op in (state.op, state.op_alpha):
            enumerated(BlendOp, op, "blend operation")
    if state.enable and kind in INTEGERS:
        raise InputError("blend", f"be off for {form.name}", True)
    if state.logic and kind not in ("UNORM", "UINT"):
        raise InputError("logic operation", f"be off for {form.name}", state.logic_op)
