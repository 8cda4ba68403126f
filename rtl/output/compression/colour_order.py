# SPDX-License-Identifier: BSD-2-Clause
"""Colour order: lanes of a tile by groups, and what depends on the bits of a channel."""

from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.spec.colours import LANES

CHANNELS = 4  # G, R - G, B - G, A
PALETTE = 4  # colours
# Bits of a channel -> bits of a width's code; of the least that a tile takes in memory; how many of
# these differences take at most.
DEPTHS = {8: (3, 256, 6), 16: (4, 512, 7)}


class ColourOrder(TileOrder):
    """Groups of tiles of colours.

    Parameters
    ----------
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    bits : int
        Of a channel: 8 or 16.

    Attributes
    ----------
    bits, colour : int
        Bits of a channel; of a colour.
    code : int
        Bits of the code of a width: widths are 0, 1, 2 and so on, the last one all bits.
    step : int
        Bits of memory that a tile takes at least: it takes a number of these.
    steps : int
        How many of these differences take at most.
    """

    def __init__(self, samples: int, bits: int = 8) -> None:
        super().__init__(samples, CHANNELS)
        self.bits = bits
        self.colour = CHANNELS * bits
        self.code, self.step, self.steps = DEPTHS[bits]

    @property
    def room(self) -> int:
        """Bits of differences, at most."""
        return self.step * self.steps

    @property
    def words(self) -> int:
        """Words of 32 bits of a raw tile."""
        return LANES * self.colour // 32

    @property
    def header(self) -> int:
        """Bits before the codes: lane (0, 0), "alpha follows", turn, two zeros."""
        return self.colour + 4
