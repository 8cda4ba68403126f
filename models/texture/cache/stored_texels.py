# SPDX-License-Identifier: BSD-2-Clause
"""Texels as they lie in memory, as the filter takes them."""

import numpy as np

from fixfunc.models.frontend.vertex_formats import LAYOUTS, raw_bits
from fixfunc.models.texture import block_decode, texels
from fixfunc.models.texture.cache.linear_rows import MORTON
from fixfunc.models.texture.cache.texture_cache import morton
from fixfunc.models.texture.texels import DXGI, TEXELS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.textures.cache import (
    DEPTHS,
    FLOATS,
    LINE,
    LINE_NUMBER,
    POINT_SAMPLED,
    StoredFormat,
)
from fixfunc.spec.textures.filter import CHANNELS

ONE = {"UNORM": 0xFFFF, "SNORM": 0x7FFF, "FLOAT": 0x3C00}  # alpha that a format lacks
# Formats of floats of 16, 11 or 10 bits, each with an exponent of its own.
SMALL = [form for form in FLOATS if Format[form.name] in LAYOUTS]
# Bits of the unit that a channel's bits are repeated to.
UNIT_BITS = {1: 16, 2: 16, 4: 16, 5: 10, 6: 12, 8: 16, 10: 10, 16: 16, 7: 14, 15: 15}


def texels_of(
    memory: np.ndarray,
    form: StoredFormat,
    begin: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    pitch: np.ndarray | int = MORTON,
) -> np.ndarray:
    """Texels of blocks, as the filter takes them.

    Parameters
    ----------
    memory : ndarray of uint8
    form : StoredFormat
    begin, x, y : ndarray of int64, shape (n,)
        The first byte of each texel's block, and its place there, 0 to 3.
    pitch : ndarray of int64, shape (n,)
        Lines from a row of texels to the next; of blocks in Morton order -1.

    Returns
    -------
    ndarray of uint16, shape (n, 4)
        Integers by :class:`fixfunc.spec.textures.filter.Unit`.
    """
    name, is_srgb = DXGI[Format[form.name]]
    stored = TEXELS[name]
    inside = morton(x, y).astype(np.int64) * stored.size
    inside = np.where(np.asarray(pitch) >= 0, y * pitch * LINE + x * stored.size, inside)
    place = (begin + inside) % (LINE << LINE_NUMBER)
    if form in (*DEPTHS, *POINT_SAMPLED):
        return _words(memory, place, stored)
    if stored.edge == 1:
        data = memory[place[:, None] + np.arange(stored.size)]
        found = _small_floats(data, form) if form in SMALL else texels.read(data, name)
    else:
        blocks = memory[begin[:, None] + np.arange(stored.size)]
        found = block_decode.decode(name, blocks)[np.arange(len(x)), y, x]
    one = ONE[stored.kind]
    if form in FLOATS:
        found = found.view(np.uint16)
    elif is_srgb:
        alpha = found[:, 3:] if stored.channels == 4 else np.full((len(found), 1), 255, np.uint8)
        found = block_decode.linear(np.concatenate([found[:, :3], alpha], 1))
    else:
        # Units of 2^n - 1 each, where the one has a multiple of the other's bits.
        bits = np.array([int(unit).bit_length() for unit in stored.unit])
        wide = np.array([UNIT_BITS[int(count)] for count in bits])
        found = found.astype(np.int64) * ((1 << wide) - 1) // ((1 << bits) - 1)
    out = np.zeros((len(x), len(CHANNELS)), np.uint16)
    out[:, 3] = one
    out[:, : found.shape[1]] = found.astype(np.int64) & 0xFFFF
    absent = [n for n in range(len(CHANNELS)) if n < stored.channels and n not in stored.present]
    out[:, absent] = 0
    return out


def _small_floats(data, form):
    """Floats of 16, 11 or 10 bits as halves: what they lack is zeros below, and a sign."""
    channels = LAYOUTS[Format[form.name]].channels
    out = np.zeros((len(data), len(channels)), np.uint16)
    for channel in channels:
        shift = {16: 0, 11: 4, 10: 5}[channel.bits]
        out[:, channel.register] = raw_bits(data, channel) << shift
    return out


def _words(memory, place, stored):
    """Words of 24 and 32 bits as they lie: the upper half of each is the next channel's."""
    bits = int(stored.unit[0]).bit_length() if stored.kind == "UNORM" else 32
    raw = memory[place[:, None] + np.arange(stored.size)].copy().view("<u4").astype(np.int64)
    out = np.zeros((len(place), len(CHANNELS)), np.uint16)
    out[:, 3] = 0xFFFF
    for n in range(stored.size // 4):
        out[:, 2 * n] = raw[:, n] & 0xFFFF
        out[:, 2 * n + 1] = (raw[:, n] & (1 << bits) - 1) >> 16
    return out
