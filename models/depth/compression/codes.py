# SPDX-License-Identifier: BSD-2-Clause
"""Codes of depth tiles in the tile table, which of them each coding has, and their sizes."""

from enum import IntEnum
from typing import Literal

from fixfunc.models.depth.compression import differences
from fixfunc.models.depth.compression.anchor import BLOCK_BITS
from fixfunc.spec.errors import InputError

TRANSFER = 32  # bytes
DIFFERENCES = 8  # code of the tile table: 8 more than the transfers of a tile
MASK_BITS = (0, 0, 1, 2, 2)  # a sample, by planes


class TileCode(IntEnum):
    """What the tile table says of a tile of depths, by whichever coding: four bits.

    :class:`fixfunc.spec.state.TileMode` are those that the hardware has; differences are 8 more
    than the transfers that they take.
    """

    CLEARED = 0
    PLANES_1 = 1
    PLANES_2 = 2
    PLANES_3 = 3
    PLANES_4 = 4
    ANCHOR = 5
    RAW = 6
    DIFFERENCES_2 = 10
    DIFFERENCES_3 = 11
    DIFFERENCES_4 = 12
    DIFFERENCES_5 = 13


Coding = Literal["differences", "anchor", "raw"]
PLANES = TileCode.PLANES_1, TileCode.PLANES_2, TileCode.PLANES_3, TileCode.PLANES_4
BY_DIFFERENCES = tuple(
    TileCode(DIFFERENCES + n) for n in range(differences.LEAST, differences.MOST + 1)
)
CODES = {
    "differences": (TileCode.CLEARED, *PLANES, *BY_DIFFERENCES, TileCode.RAW),
    "anchor": (TileCode.CLEARED, *PLANES, TileCode.ANCHOR, TileCode.RAW),
    "raw": (TileCode.CLEARED, TileCode.RAW),
}  # of each coding


def check_coding(coding: Coding, edge: int = 8) -> None:
    """Raise :class:`~fixfunc.spec.errors.InputError` if no tiles of an edge are coded so.

    Differences are taken over the pixels of 8 by 8 samples: of 4 by 4, at eight samples a pixel,
    no square of two by two pixels is left.
    """
    if coding not in CODES:
        raise InputError("coding", f"be one of {', '.join(CODES)}", coding)
    if coding == "differences" and edge != 8:
        raise InputError("edge", "be 8 where tiles are coded by differences", edge)


def bits(mode: int, edge: int = 8) -> int:
    """Bits of a tile so coded; the tile table alone tells that one is cleared.

    By differences: of all of its transfers, which its payload need not fill.
    """
    if mode in (TileCode.CLEARED, TileCode.RAW):
        return 24 * edge**2 * (mode == TileCode.RAW)
    if mode in BY_DIFFERENCES:
        return differences.STEP * (mode - DIFFERENCES)
    return (
        BLOCK_BITS * (edge // 4) ** 2
        if mode == TileCode.ANCHOR
        else 96 * mode + MASK_BITS[mode] * edge**2
    )


def size(mode: int, edge: int = 8) -> int:
    """Bytes moved, in transfers of 32.

    Of an 8 by 8 tile: cleared 0, by planes 32, 32, 64, 64, by anchors 64, by differences 64 to 160,
    raw 192.
    """
    return -(-bits(mode, edge) // (8 * TRANSFER)) * TRANSFER
