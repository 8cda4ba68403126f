# SPDX-License-Identifier: BSD-2-Clause
"""BC7: eight modes of one to three subsets, with alpha or without."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.texture._subsets import ANCHORS, SUBSETS, WEIGHTS, bits, indices, words


class Mode(NamedTuple):
    """How a mode's block lies in its 128 bits, after as many zeros as its number and a one.

    Parameters
    ----------
    subsets, partition : int
        Of texels; bits that tell which texel is of which.
    rotation, selector : int
        Bits that tell which channel has changed places with alpha; a bit that tells which indices are alpha's.
    colour, alpha : int
        Bits of an end point's channel. All reds come first, then all greens, blues, alphas.
    shared, each : int
        Lowest bits that the end points of a subset share, or have of their own.
    index, second : int
        Bits of an index, and of a second one of each texel.
    """

    subsets: int
    partition: int
    rotation: int
    selector: int
    colour: int
    alpha: int
    shared: int
    each: int
    index: int
    second: int


MODES = (
    Mode(3, 4, 0, 0, 4, 0, 0, 1, 3, 0), Mode(2, 6, 0, 0, 6, 0, 1, 0, 3, 0), Mode(3, 6, 0, 0, 5, 0, 0, 0, 2, 0), Mode(2, 6, 0, 0, 7, 0, 0, 1, 2, 0),
    Mode(1, 0, 2, 1, 5, 6, 0, 0, 2, 3), Mode(1, 0, 2, 0, 7, 8, 0, 0, 2, 2), Mode(1, 0, 0, 0, 7, 7, 0, 1, 4, 0), Mode(2, 6, 0, 0, 5, 5, 0, 1, 2, 0),
)
COLOUR, ALPHA = 0x0000_00FF_00FF_00FF, 0x00FF_0000_0000_0000  # channels of a texel, red lowest, 16 bits apart
HALF = 0x0020_0020_0020_0020


def decode(blocks):
    """uint8 of shape (n, 16) -> int64 of shape (n, 4, 4, 4): red, green, blue, alpha. A block of no mode is zeros."""
    low, high = words(blocks)
    lowest = blocks[:, 0] & -blocks[:, 0]
    out = np.zeros((len(blocks), 16), np.uint64)
    for number, mode in enumerate(MODES):
        those = np.flatnonzero(lowest == 1 << number)
        if len(those):
            out[those] = _mode(mode, low[those], high[those], number + 1)
    return out.view("<u2").reshape(-1, 4, 4, 4)


def _mode(mode, low, high, at):
    """Texels of blocks of one mode: uint64 of shape (n, 16)."""
    def take(count):
        nonlocal at
        at += count
        return bits(low, high, at - count, count)

    partition, rotation, selector = (take(count).astype(np.intp) for count in (mode.partition, mode.rotation, mode.selector))
    ends = _ends(mode, take)
    subset = SUBSETS[mode.subsets][partition]
    first = indices(take(16 * mode.index - mode.subsets), mode.index, ANCHORS[mode.subsets][partition])
    shares = WEIGHTS[mode.index].astype(np.uint64)[first]
    if not mode.second:
        return _between(ends, subset, shares)
    other = WEIGHTS[mode.second].astype(np.uint64)[indices(take(16 * mode.second - 1), mode.second, ANCHORS[1][partition])]
    swaps = selector[:, None] == 1
    colour, alpha = np.where(swaps, other, shares), np.where(swaps, shares, other)
    texels = _between(ends, subset, colour) & np.uint64(COLOUR) | _between(ends, subset, alpha) & np.uint64(ALPHA)
    return _rotated(texels, rotation)


def _ends(mode, take):
    """End points, their channels 16 bits apart: uint64 of shape (2 * subsets, n)."""
    count = 2 * mode.subsets
    channels = [[take(width) for _ in range(count)] for width in (mode.colour,) * 3 + (mode.alpha,) * (mode.alpha > 0)]
    lowest = [take(1) for _ in range(count * mode.each + mode.subsets * mode.shared)]
    out = np.zeros((count, *channels[0][0].shape), np.uint64)
    for n in range(count):
        for c, values in enumerate(channels):
            value, width = values[n], (mode.colour, mode.alpha)[c == 3]
            if lowest:
                value, width = value << np.uint64(1) | lowest[n if mode.each else n // 2], width + 1
            value = value << np.uint64(8 - width)
            out[n] |= (value | value >> np.uint64(width)) << np.uint64(16 * c)
        if not mode.alpha:
            out[n] |= np.uint64(ALPHA)
    return out


def _between(ends, subset, shares):
    """What lies ``shares`` of 64 from the first end point of a texel's subset to the second: all channels at once."""
    if len(ends) == 2:
        first, second = ends[0][:, None], ends[1][:, None]
    else:
        rows = np.arange(ends.shape[1])[:, None]
        first, second = (ends[n::2][subset, rows] for n in range(2))
    return (first * (np.uint64(64) - shares) + second * shares + np.uint64(HALF)) >> np.uint64(6) & np.uint64(COLOUR | ALPHA)


def _rotated(texels, rotation):
    """Alpha has changed places with channel ``rotation - 1``."""
    for n in range(1, 4):
        those, place = rotation == n, np.uint64(16 * (n - 1))
        differ = (texels[those] >> np.uint64(48) ^ texels[those] >> place) & np.uint64(0xFF)
        texels[those] ^= differ << np.uint64(48) | differ << place
    return texels
