# SPDX-License-Identifier: BSD-2-Clause
"""BC6H: fourteen modes of one or two subsets, of half floats."""

import re
from typing import NamedTuple

import numpy as np

from fixfunc.models.texture.blocks.subsets import ANCHORS, SUBSETS, WEIGHTS, bits, indices, words


class Mode(NamedTuple):
    """Layout of a mode's block of 128 bits.

    Parameters
    ----------
    number : int
        The lowest two bits of the block, or the lowest five if these are 2 or 3.
    delta : bool
        All end points but the first are differences to it.
    width : int
        Bits of the first end point.
    deltas : (int, int, int)
        Bits of the other end points: red, green, blue.
    layout : str
        Fields from the first bit after the number on: channel r, g or b; end point w or x (of the
        first subset), y or z (of the second); bits.
    """

    number: int
    delta: bool
    width: int
    deltas: tuple
    layout: str


MODES = (
    Mode(
        0,
        True,
        10,
        (5, 5, 5),
        "gy4 by4 bz4 rw0-9 gw0-9 bw0-9 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-4 bz2 "
        "rz0-4 bz3",
    ),
    Mode(
        1,
        True,
        7,
        (6, 6, 6),
        "gy5 gz4-5 rw0-6 bz0-1 by4 gw0-6 by5 bz2 gy4 bw0-6 bz3 bz5-4 rx0-5 gy0-3 gx0-5 gz0-3 "
        "bx0-5 by0-3 ry0-5 rz0-5",
    ),
    Mode(
        2,
        True,
        11,
        (5, 4, 4),
        "rw0-9 gw0-9 bw0-9 rx0-4 rw10 gy0-3 gx0-3 gw10 bz0 gz0-3 bx0-3 bw10 bz1 by0-3 ry0-4 bz2 "
        "rz0-4 bz3",
    ),
    Mode(
        6,
        True,
        11,
        (4, 5, 4),
        "rw0-9 gw0-9 bw0-9 rx0-3 rw10 gz4 gy0-3 gx0-4 gw10 gz0-3 bx0-3 bw10 bz1 by0-3 ry0-3 bz0 "
        "bz2 rz0-3 gy4 bz3",
    ),
    Mode(
        10,
        True,
        11,
        (4, 4, 5),
        "rw0-9 gw0-9 bw0-9 rx0-3 rw10 by4 gy0-3 gx0-3 gw10 bz0 gz0-3 bx0-4 bw10 by0-3 ry0-3 "
        "bz1-2 rz0-3 bz4-3",
    ),
    Mode(
        14,
        True,
        9,
        (5, 5, 5),
        "rw0-8 by4 gw0-8 gy4 bw0-8 bz4 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-4 bz2 "
        "rz0-4 bz3",
    ),
    Mode(
        18,
        True,
        8,
        (6, 5, 5),
        "rw0-7 gz4 by4 gw0-7 bz2 gy4 bw0-7 bz3-4 rx0-5 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 "
        "ry0-5 rz0-5",
    ),
    Mode(
        22,
        True,
        8,
        (5, 6, 5),
        "rw0-7 bz0 by4 gw0-7 gy5-4 bw0-7 gz5 bz4 rx0-4 gz4 gy0-3 gx0-5 gz0-3 bx0-4 bz1 by0-3 "
        "ry0-4 bz2 rz0-4 bz3",
    ),
    Mode(
        26,
        True,
        8,
        (5, 5, 6),
        "rw0-7 bz1 by4 gw0-7 by5 gy4 bw0-7 bz5-4 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-5 by0-3 "
        "ry0-4 bz2 rz0-4 bz3",
    ),
    Mode(
        30,
        False,
        6,
        (6, 6, 6),
        "rw0-5 gz4 bz0-1 by4 gw0-5 gy5 by5 bz2 gy4 bw0-5 gz5 bz3 bz5-4 rx0-5 gy0-3 gx0-5 gz0-3 "
        "bx0-5 by0-3 ry0-5 rz0-5",
    ),
    Mode(3, False, 10, (10, 10, 10), "rw0-9 gw0-9 bw0-9 rx0-9 gx0-9 bx0-9"),
    Mode(7, True, 11, (9, 9, 9), "rw0-9 gw0-9 bw0-9 rx0-8 rw10 gx0-8 gw10 bx0-8 bw10"),
    Mode(11, True, 12, (8, 8, 8), "rw0-9 gw0-9 bw0-9 rx0-7 rw11-10 gx0-7 gw11-10 bx0-7 bw11-10"),
    Mode(15, True, 16, (4, 4, 4), "rw0-9 gw0-9 bw0-9 rx0-3 rw15-10 gx0-3 gw15-10 bx0-3 bw15-10"),
)


def decode(blocks: np.ndarray, signed: bool) -> np.ndarray:
    """Texels of blocks, uint8 of shape (n, 16), as halves of shape (n, 4, 4, 3).

    A block of a reserved mode is zeros.
    """
    low, high = words(blocks)
    number = np.where(blocks[:, 0] & 2, blocks[:, 0] & 31, blocks[:, 0] & 3)
    out = np.zeros((len(blocks), 16, 3), np.uint16)
    for mode in MODES:
        selected = np.flatnonzero(number == mode.number)
        if len(selected):
            out[selected] = _mode(mode, low[selected], high[selected], signed)
    return out.view(np.float16).reshape(-1, 4, 4, 3)


def _mode(mode, low, high, signed):
    """Texels of blocks of one mode: uint16 of shape (n, 16, 3)."""
    endpoints, at = _endpoints(mode, low, high)
    values = [_sign_extended(endpoints[0], mode.width) if signed else endpoints[0]]
    for value in endpoints[1:]:
        if mode.delta:
            steps = np.stack(
                [_sign_extended(value[:, c], width) for c, width in enumerate(mode.deltas)], 1
            )
            value[:] = values[0] + steps & (1 << mode.width) - 1
        values.append(_sign_extended(value, mode.width) if signed else value)
    endpoints = np.stack([_unquantised(value, mode.width, signed) for value in values])
    subsets = len(endpoints) // 2
    partition = (
        bits(low, high, at, 5).astype(np.intp) if subsets == 2 else np.zeros(len(low), np.intp)
    )
    index_bits, stream_bits = (4, 63) if subsets == 1 else (3, 46)
    stream = bits(low, high, 128 - stream_bits, stream_bits)
    index = indices(stream, index_bits, ANCHORS[subsets][partition])
    weight = WEIGHTS[index_bits].astype(np.int32)[index]
    rows = np.arange(len(low))[:, None]
    subset = SUBSETS[subsets][partition]
    out = np.empty((*weight.shape, 3), np.uint16)
    for c in range(3):
        first = endpoints[0, :, c, None] if subsets == 1 else endpoints[0::2, :, c][subset, rows]
        second = endpoints[1, :, c, None] if subsets == 1 else endpoints[1::2, :, c][subset, rows]
        out[..., c] = _half((first * 64 + (second - first) * weight + 32) >> 6, signed)
    return out


def _endpoints(mode, low, high):
    """Stored end points, int32 of shape (endpoints, n, 3), and the first bit behind them."""
    at = 5 if mode.number & 2 else 2
    out = np.zeros(
        (1 + max("wxyz".index(end) for end in re.findall("[wxyz]", mode.layout)), len(low), 3),
        np.int32,
    )
    for channel, end, *numbers in re.findall(r"([rgb])([wxyz])(\d+)(?:-(\d+))?", mode.layout):
        value = out["wxyz".index(end), :, "rgb".index(channel)]
        first = int(numbers[0])
        last = int(numbers[1] or numbers[0])
        count = abs(last - first) + 1
        if last >= first:
            value |= (bits(low, high, at, count) << np.uint64(first)).astype(np.int32)
        else:
            for n in range(count):
                value |= (bits(low, high, at + n, 1) << np.uint64(first - n)).astype(np.int32)
        at += count
    return out, at


def _sign_extended(value, width):
    """The value of a two's complement of ``width`` bits."""
    return (value ^ 1 << width - 1) - (1 << width - 1)


def _unquantised(value, width, signed):
    """An end point of ``width`` bits, scaled to 16 bits, or to 15 and a sign."""
    if width >= 15 + signed:
        return value
    maximum = (1 << width - signed) - 1
    size = np.abs(value)
    scaled = (size << 16 - signed) + (1 << 15 - signed) >> width - signed
    scaled = np.where(size == 0, 0, np.where(size >= maximum, (1 << 16 - signed) - 1, scaled))
    return np.where(value < 0, -scaled, scaled)


def _half(value, signed):
    """Bits of a half: the value scaled by 31/64, or by 31/32 with a sign.

    No half is above the greatest finite one.
    """
    if not signed:
        return (value * 31 >> 6).astype(np.uint16)
    size = np.abs(value) * 31 >> 5
    return (size | ((value < 0) & (size > 0)) << 15).astype(np.uint16)  # zero has no sign
