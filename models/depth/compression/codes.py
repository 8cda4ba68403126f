# SPDX-License-Identifier: BSD-2-Clause
"""Codes of depth tiles in the mode table, which of them each coding has, and their sizes."""

from typing import Literal

from fixfunc.models.depth.compression import differences
from fixfunc.models.depth.compression.anchor import BLOCK_BITS
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DIFFERENCES, TileMode

TRANSFER = 32  # bytes
MASK_BITS = (0, 0, 1, 2, 2)  # a sample, by planes


Coding = Literal["differences", "anchor", "raw"]
PLANES = TileMode.PLANES_1, TileMode.PLANES_2, TileMode.PLANES_3, TileMode.PLANES_4
BY_DIFFERENCES = tuple(
    TileMode(DIFFERENCES + n) for n in range(differences.LEAST, differences.MOST + 1)
)
CODES = {
    "differences": (TileMode.CLEARED, *PLANES, *BY_DIFFERENCES, TileMode.RAW),
    "anchor": (TileMode.CLEARED, *PLANES, TileMode.ANCHOR, TileMode.RAW),
    "raw": (TileMode.CLEARED, TileMode.RAW),
}  # of each coding
MODES = tuple(sorted({mode for modes in CODES.values() for mode in modes}))  # of any


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
    """Bits of a tile so coded; the mode table alone tells that one is cleared.

    By differences: of all of its transfers, which its payload need not fill.

    Raises
    ------
    InputError
        A mode that no depths have.
    """
    if mode not in MODES:
        raise InputError(
            "mode of a tile of depths", f"be one of {', '.join(m.name for m in MODES)}", int(mode)
        )
    if mode in (TileMode.CLEARED, TileMode.RAW):
        return 24 * edge**2 * (mode == TileMode.RAW)
    if mode in BY_DIFFERENCES:
        return differences.STEP * (mode - DIFFERENCES)
    return (
        BLOCK_BITS * (edge // 4) ** 2
        if mode == TileMode.ANCHOR
        else 96 * mode + MASK_BITS[mode] * edge**2
    )


def size(mode: int, edge: int = 8) -> int:
    """Bytes moved, in transfers of 32.

    Of an 8 by 8 tile: cleared 0, by planes 32, 32, 64, 64, by anchors 64, by differences 64 to 160,
    raw 192.
    """
    return -(-bits(mode, edge) // (8 * TRANSFER)) * TRANSFER
