# SPDX-License-Identifier: BSD-2-Clause
"""What a tile cache is made of."""

from dataclasses import dataclass
from typing import Literal, get_args

from fixfunc.models.depth.compression.codes import Coding, check_coding
from fixfunc.spec.errors import InputError

ColourCoding = Literal["differences", "raw"]


@dataclass(frozen=True)
class CacheShape:
    """Sets, ways and table of a tile cache, and how its tiles are coded.

    Parameters
    ----------
    sets, ways : int
        Of the tile cache; sets, a power of two, by the lowest bits of a tile's x and y. The oldest
        way goes.
    table_lines : int
        Transfers of the mode table on chip, direct-mapped.
    coding : {"differences", "anchor", "raw"}
        How tiles of depths go that no planes give. Raw: none is coded.
    colours : {"differences", "raw"}
        How tiles of colours go that have more than four. Raw: none is coded.
    fast_clear : bool
        A cleared tile is told by the table alone.
    """

    sets: int = 64
    ways: int = 4
    table_lines: int = 256
    coding: Coding = "differences"
    colours: ColourCoding = "differences"
    fast_clear: bool = True

    def __post_init__(self):
        check_coding(self.coding)
        if self.colours not in get_args(ColourCoding):
            names = ", ".join(get_args(ColourCoding))
            raise InputError("colours", f"be one of {names}", self.colours)
        for name in ("sets", "ways", "table_lines"):
            value = getattr(self, name)
            if value < 1 or (value & value - 1 and name != "ways"):
                raise InputError(
                    name, "be above 0" if name == "ways" else "be a power of two", value
                )
