# SPDX-License-Identifier: BSD-2-Clause
"""Colour order: lanes of a tile by groups, and what depends on the bits of a channel."""

from amaranth.hdl import Value

from fixfunc.rtl.lib.bits import choose, gated
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.spec.colours import LANES

CHANNELS = range(4)  # G, R - G, B - G, A: one a clock
ALPHA = CHANNELS[-1]
TURNS = range(2)  # along x, or with x and y exchanged
# Bits of a channel -> bits of a width's code; of the least that a tile takes in memory; how many of
# these differences take at most.
DEPTHS = {8: (3, 256, 6), 16: (4, 512, 7)}


def channel_of(colour: Value, channel: Value) -> Value:
    """Green, red less green, blue less green, or alpha."""
    bits = len(colour) // len(CHANNELS)
    red, green, blue, alpha = (colour[bits * n : bits * (n + 1)] for n in CHANNELS)
    is_less_green = channel[0] ^ channel[1]
    less = gated(green, is_less_green)
    return (choose(channel, [green, red, blue, alpha]) - less)[:bits]


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
        super().__init__(samples, len(CHANNELS))
        self.bits = bits
        self.colour = len(CHANNELS) * bits
        self.code, self.step, self.steps = DEPTHS[bits]

    @staticmethod
    def index(channel: int, mode: int) -> int:
        """The number by which a channel of a mode is selected: ``Cat(channel, samples)``."""
        return channel | mode << 2

    @property
    def indexes(self) -> list[int]:
        """All of them."""
        return [self.index(channel, mode) for mode in self.modes for channel in CHANNELS]

    @property
    def room(self) -> int:
        """Bits of differences, at most."""
        return self.step * self.steps

    @property
    def words(self) -> int:
        """Words of 32 bits of a raw tile."""
        return LANES * self.colour // 32

    @property
    def channel(self) -> int:
        """Bits of a channel of all lanes: most that its payloads take."""
        return LANES * self.bits

    @property
    def widths(self) -> list[int]:
        """Most bits of each payload of a channel."""
        return [self.bits * most for most in self.most]

    @property
    def codes(self) -> int:
        """Bits of a channel's codes."""
        return self.code * self.count

    @property
    def length(self) -> int:
        """Bits of the length of all payloads and their header."""
        return (len(CHANNELS) * self.channel + self.step).bit_length()

    @property
    def header(self) -> int:
        """Bits before the codes: lane (0, 0), "alpha follows", turn, two zeros."""
        return self.colour + 4
