# SPDX-License-Identifier: BSD-2-Clause
"""Colour compression: codes and channels that coder and decoder share."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.memory.sample_grids import LANES
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DIFFERENCES, TileMode

COLOURS = 4  # of a palette
PART = 4096  # tiles that are coded, or decoded, at a time


class Depth(NamedTuple):
    """What depends on the bits of a channel."""

    bits: int
    widths: tuple[int, ...]  # of differences, by their code
    code: int  # bits of a code
    step: int  # bits of memory that a tile takes at least
    most: int  # steps of differences, at most


DEPTHS = {
    np.dtype(np.uint8): Depth(8, (0, 1, 2, 3, 4, 5, 6, 8), 3, 256, 6),
    np.dtype(np.uint16): Depth(16, (*range(15), 16), 4, 512, 7),
}


def size(code: int, depth: Depth) -> int:
    """Bytes of a tile by its code in the mode table.

    Raises
    ------
    InputError
        There is no such code.
    """
    steps = {
        TileMode.CLEARED: 0,
        TileMode.PALETTE: 1,
        TileMode.RAW: LANES * 4 * depth.bits // depth.step,
    }
    steps |= {DIFFERENCES + n: n for n in range(1, depth.most + 1)}
    if int(code) not in steps:
        raise InputError("code of a tile", f"be one of {sorted(map(int, steps))}", int(code))
    return steps[int(code)] * depth.step // 8


def channels(pixels: np.ndarray, depth: Depth) -> np.ndarray:
    """G, R - G, B - G, A, modulo 2^bits, of red, green, blue, alpha."""
    wide = pixels.astype(np.int64)
    red, green, blue, alpha = np.moveaxis(wide, -1, 0)
    return np.stack([green, red - green, blue - green, alpha], -1) & (1 << depth.bits) - 1


def room(depth: Depth) -> int:
    """Bits of a row: all that a tile may take, and a place for what is left out."""
    return behind(depth) + LANES * depth.code


def behind(depth: Depth) -> int:
    """Bits that no tile fills: a place for what is left out."""
    return 4 * depth.bits + 4 + LANES * (4 * depth.bits + depth.code)
