# SPDX-License-Identifier: BSD-2-Clause
"""How tiles of depths lie in memory."""

from amaranth.hdl import Value

from fixfunc.spec.payloads import DEPTH, TRANSFER
from fixfunc.spec.state import DIFFERENCES, TileMode

MODES = tuple(mode for mode in TileMode if mode <= TileMode.RAW)  # with anchors
TRANSFERS = range(2, 6)  # of tiles by differences
WITH_DIFFERENCES = tuple(
    sorted({*MODES} - {TileMode.ANCHOR} | {TileMode(DIFFERENCES + n) for n in TRANSFERS})
)
PLANE = 96  # bits
MASK = {1: 0, 2: 1, 3: 2, 4: 2}  # of a sample, by planes
# of an anchored block, signed
SLOPE = 15
CORRECTION = 5
BLOCK = DEPTH + 2 * SLOPE + 13 * CORRECTION
ANCHORS = {(0, 0), (1, 0), (0, 1)}  # lanes of a block that need no correction


def bits(mode: int, edge: int) -> int:
    """Bits of a tile in memory; by differences, of all of its transfers."""
    if mode > DIFFERENCES:
        return TRANSFER * (mode - DIFFERENCES)
    if mode in MASK:
        return PLANE * mode + MASK[mode] * edge**2
    return {
        TileMode.CLEARED: 0,
        TileMode.ANCHOR: BLOCK * (edge // 4) ** 2,
        TileMode.RAW: DEPTH * edge**2,
    }[mode]


def mask_bits(low: Value, high: Value, mode: int) -> list:
    """Numbers of the samples' planes, as they lie in memory behind the planes."""
    return [b for pair in zip(low, high, strict=True) for b in pair[: MASK[mode]]]


def blocks(edge: int) -> list:
    """Lanes of each block of 4 by 4: by its own (i, j), the lane of the tile."""
    return [
        {(i, j): (y + j) * edge + x + i for j in range(4) for i in range(4)}
        for y in range(0, edge, 4)
        for x in range(0, edge, 4)
    ]
