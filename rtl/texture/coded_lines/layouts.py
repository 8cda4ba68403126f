# SPDX-License-Identifier: BSD-2-Clause
"""What the parts of coded lines hand to each other."""

from dataclasses import dataclass

from amaranth.lib.data import StructLayout

from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import COLOUR, Field
from fixfunc.spec.textures.cache import TABLE
from fixfunc.spec.textures.coded_lines import (
    TILE_ADDRESS,
    TILE_LINES,
    coded_read,
    coded_transfer,
)

MODE = 4  # bits: TileMode in the table
IN_LINE = 6  # bits of a tile's place in a line of the table, which is a transfer
# A tile that is not on chip: its place in memory, and its number in its surface.
MISSED = StructLayout(
    {"address": TILE_ADDRESS, "tile": TILE_ADDRESS, "mode_table": TABLE, "cleared": COLOUR}
)
# The same with its mode; ``failed``: memory could not give that.
TILE = StructLayout({"address": TILE_ADDRESS, "mode": MODE, "cleared": COLOUR, "failed": 1})


@dataclass(frozen=True)
class CodedLinesParams:
    """Shape of a :class:`~fixfunc.rtl.texture.coded_lines.coded_lines.CodedLines`.

    Parameters
    ----------
    places : int
        Most lines under way.
    tiles : int
        Decoded tiles on chip.
    mode_lines : int
        Lines of mode tables on chip, each the modes of 64 tiles.
    reads : int
        Most reads of memory in flight, above 2.

    The first three are powers of two.
    """

    places: int = 64
    tiles: int = 8
    mode_lines: int = 8
    reads: int = 32

    def __post_init__(self):
        for name, least in (("places", 4), ("tiles", 2), ("mode_lines", 2)):
            value = getattr(self, name)
            if value < least or value & value - 1:
                raise InputError(name, f"be a power of two from {least} on", value)
        if self.reads < 3:
            raise InputError("reads", "be above 2", self.reads)

    @property
    def read(self) -> tuple[Field, ...]:
        """Field table of a line that is to be read."""
        return coded_read(self.places)

    @property
    def transfer(self) -> tuple[Field, ...]:
        """Field table of half a line."""
        return coded_transfer(self.places)

    @property
    def ordered(self) -> StructLayout:
        """A line in order: its tile on chip, its square of that; whether that tile comes anew."""
        return StructLayout(
            {
                "id": range(self.places),
                "slot": range(self.tiles),
                "square": range(TILE_LINES),
                "missed": 1,
            }
        )
