# SPDX-License-Identifier: BSD-2-Clause
"""Rows of bits, a row a tile, that coders fill and decoders read: fields, and groups by bit plane.

A group of signed numbers lies by bit plane: bit 0 of each, then bit 1 of each, up to its width.
"""

import numpy as np


def signed(values: np.ndarray, bits: int) -> np.ndarray:
    """Values modulo 2^bits, from -2^(bits - 1) on."""
    half = 1 << bits - 1
    return (values + half & (1 << bits) - 1) - half


def widths(values: np.ndarray) -> np.ndarray:
    """Bits that the signed numbers of each group need, 0 where all are 0: shape (..., size) before.

    A signed number needs a bit more than its magnitude has.
    """
    used = np.bitwise_or.reduce(np.where(values < 0, ~values, values), -1)
    return np.where((values != 0).any(-1), np.frexp(used)[1] + 1, 0)


def starts(begin: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Where each of the groups of a row begins, shape (n, groups); they have no gaps."""
    return begin[:, None] + np.cumsum(lengths, 1) - lengths


def put_fields(bits: np.ndarray, at: np.ndarray, values: np.ndarray, width: int) -> None:
    """Put values of a width behind one another, each row from a place on."""
    if not values.shape[1]:
        return
    row = np.arange(len(bits))[:, None, None]
    place = at[:, None, None] + np.arange(values.shape[1] * width).reshape(1, -1, width)
    bits[row, place] = values[..., None] >> np.arange(width) & 1


def take_fields(bits: np.ndarray, at: np.ndarray, shape: tuple[int, ...], width: int) -> np.ndarray:
    """The inverse of :func:`put_fields`: values of each row, of a shape."""
    count = int(np.prod(shape))
    place = at[:, None, None] + np.arange(count * width).reshape(1, count, width)
    row = np.arange(len(bits))[:, None, None]
    return (bits[row, place] << np.arange(width)).sum(2).reshape(-1, *shape)


def put_groups(bits: np.ndarray, begin: np.ndarray, values: np.ndarray, width: np.ndarray) -> None:
    """Put groups, shape (n, groups, size), by bit plane, each of its own width."""
    size = values.shape[2]
    for plane in range(int(width.max(initial=0))):
        row, group = np.nonzero(plane < width)
        place = (begin[row, group] + plane * size)[:, None] + np.arange(size)
        bits[row[:, None], place] = values[row, group] >> plane & 1


def take_groups(bits: np.ndarray, begin: np.ndarray, width: np.ndarray, size: int) -> np.ndarray:
    """The inverse of :func:`put_groups`; of bits beyond a row's end, anything."""
    value = np.zeros((*width.shape, size), np.int64)
    row = np.arange(len(bits))[:, None, None]
    for plane in range(int(width.max(initial=0))):
        place = begin[..., None] + plane * size + np.arange(size)
        bit = bits[row, np.minimum(place, bits.shape[1] - 1)]
        used = (plane < width)[..., None]
        # The highest bit counts as less than nothing.
        weight = np.where(plane + 1 == width, -1, 1)[..., None] << plane
        value += np.where(used, bit * weight, 0)
    return value
