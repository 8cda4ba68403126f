# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of colours, 8 by 8 samples of 32 bits, on their way to memory and back."""

from enum import IntEnum

from fixfunc.spec.payloads import Field, each

LANES = 64  # lane (i, j) is word 8 j + i
WORDS = 64  # of 32 bits, of a raw tile
TRANSFERS = 6  # of 32 bytes: differences take so many at most


class ColourCode(IntEnum):
    """Codes of the tile table; DIFFERENCES + n of n transfers."""

    CLEARED = 0
    PALETTE = 1
    RAW = 6
    DIFFERENCES = 8


COLOURS = each(" ".join(f"colour{n}" for n in range(LANES)), 32)
DATA = each(" ".join(f"data{n}" for n in range(WORDS)), 32)
UNCODED = (
    Field("samples", 2),  # log2
    Field("clears", 1),  # the target has been cleared,
    Field("cleared", 32),  # to this
    *COLOURS,
)
CODED = (Field("code", 4), *DATA)  # zeros behind what the code says
STORED = (Field("samples", 2), Field("cleared", 32), *CODED)
DECODED = (Field("wrong", 1), *COLOURS)  # wrong: it cannot be, and all else is zero
