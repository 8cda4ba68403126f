# SPDX-License-Identifier: BSD-2-Clause
"""BC7: eight modes of one to three subsets, with alpha or without."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.texture.blocks.subsets import ANCHORS, SUBSETS, WEIGHTS, bits, indices, words


class Mode(NamedTuple):
    """Fields of a mode's block, behind as many zeros as its number and a one, in their order.

    Parameters
    ----------
    subsets : int
        Number of subsets of texels.
    partition : int
        Bits of the number of the partition, which divides texels among subsets.
    rotation : int
        Bits of the number of the channel that changes places with alpha.
    selector : int
        Bits of a flag: the second indices are the colours'.
    colour, alpha : int
        Bits of a channel of an end point. All reds come first, then all greens, blues, alphas.
    shared_p_bits, own_p_bits : int
        Lowest bits that both end points of a subset share, or that each has of its own.
    index, second_index : int
        Bits of an index, and of a second index of each texel.
    """

    subsets: int
    partition: int
    rotation: int
    selector: int
    colour: int
    alpha: int
    shared_p_bits: int
    own_p_bits: int
    index: int
    second_index: int


MODES = (
    Mode(3, 4, 0, 0, 4, 0, 0, 1, 3, 0),
    Mode(2, 6, 0, 0, 6, 0, 1, 0, 3, 0),
    Mode(3, 6, 0, 0, 5, 0, 0, 0, 2, 0),
    Mode(2, 6, 0, 0, 7, 0, 0, 1, 2, 0),
    Mode(1, 0, 2, 1, 5, 6, 0, 0, 2, 3),
    Mode(1, 0, 2, 0, 7, 8, 0, 0, 2, 2),
    Mode(1, 0, 0, 0, 7, 7, 0, 1, 4, 0),
    Mode(2, 6, 0, 0, 5, 5, 0, 1, 2, 0),
)
# Channels of a texel, red lowest, 16 bits apart.
COLOUR = 0x0000_00FF_00FF_00FF
ALPHA = 0x00FF_0000_0000_0000
HALF = 0x0020_0020_0020_0020


def decode(blocks: np.ndarray) -> np.ndarray:
    """Texels of blocks, uint8 of shape (n, 16), as uint16 of shape (n, 4, 4, 4).

    Channels are red, green, blue, alpha. A block of the reserved mode is zeros.
    """
    low, high = words(blocks)
    lowest = blocks[:, 0] & -blocks[:, 0]
    out = np.zeros((len(blocks), 16), np.uint64)
    for number, mode in enumerate(MODES):
        selected = np.flatnonzero(lowest == 1 << number)
        if len(selected):
            out[selected] = _mode(mode, low[selected], high[selected], number + 1)
    return out.view("<u2").reshape(-1, 4, 4, 4)


def _mode(mode, low, high, at):
    """Texels of blocks of one mode, uint64 of shape (n, 16); ``at`` is the first bit to read."""

    def field(count):
        """The next field."""
        nonlocal at
        at += count
        return bits(low, high, at - count, count)

    partition = field(mode.partition).astype(np.intp)
    rotation = field(mode.rotation).astype(np.intp)
    selector = field(mode.selector).astype(np.intp)
    endpoints = _endpoints(mode, field)
    subset = SUBSETS[mode.subsets][partition]
    stream = field(16 * mode.index - mode.subsets)
    index = indices(stream, mode.index, ANCHORS[mode.subsets][partition])
    weights = WEIGHTS[mode.index].astype(np.uint64)[index]
    if not mode.second_index:
        return _interpolated(endpoints, subset, weights)
    stream = field(16 * mode.second_index - 1)
    index = indices(stream, mode.second_index, ANCHORS[1][partition])
    second_weights = WEIGHTS[mode.second_index].astype(np.uint64)[index]
    selected = selector[:, None] == 1
    colour_weights = np.where(selected, second_weights, weights)
    alpha_weights = np.where(selected, weights, second_weights)
    colours = _interpolated(endpoints, subset, colour_weights) & np.uint64(COLOUR)
    alphas = _interpolated(endpoints, subset, alpha_weights) & np.uint64(ALPHA)
    return _rotated(colours | alphas, rotation)


def _endpoints(mode, field):
    """End points, their channels 16 bits apart: uint64 of shape (2 * subsets, n)."""
    count = 2 * mode.subsets
    channels = [
        [field(width) for _ in range(count)]
        for width in (mode.colour,) * 3 + (mode.alpha,) * (mode.alpha > 0)
    ]
    p_bits = [field(1) for _ in range(count * mode.own_p_bits + mode.subsets * mode.shared_p_bits)]
    out = np.zeros((count, *channels[0][0].shape), np.uint64)
    for n in range(count):
        for c, values in enumerate(channels):
            value = values[n]
            width = (mode.colour, mode.alpha)[c == 3]
            if p_bits:
                value = value << np.uint64(1) | p_bits[n if mode.own_p_bits else n // 2]
                width = width + 1
            value = value << np.uint64(8 - width)
            out[n] |= (value | value >> np.uint64(width)) << np.uint64(16 * c)
        if not mode.alpha:
            out[n] |= np.uint64(ALPHA)
    return out


def _interpolated(endpoints, subset, weights):
    """Texels between the end points of their subsets, all channels at once.

    ``weights`` are those of the second end point, of 64.
    """
    if len(endpoints) == 2:
        first = endpoints[0][:, None]
        second = endpoints[1][:, None]
    else:
        rows = np.arange(endpoints.shape[1])[:, None]
        first = endpoints[0::2][subset, rows]
        second = endpoints[1::2][subset, rows]
    total = first * (np.uint64(64) - weights) + second * weights + np.uint64(HALF)
    return total >> np.uint64(6) & np.uint64(COLOUR | ALPHA)


def _rotated(texels, rotation):
    """Texels whose alpha has changed places with channel ``rotation - 1``."""
    for n in range(1, 4):
        selected = rotation == n
        shift = np.uint64(16 * (n - 1))
        difference = texels[selected] >> np.uint64(48) ^ texels[selected] >> shift
        difference &= np.uint64(0xFF)
        texels[selected] ^= difference << np.uint64(48) | difference << shift
    return texels
