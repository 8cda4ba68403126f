# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of the display: what is scanned out, its pixels, tiles that may have changed.

They are field tables: see :mod:`fixfunc.spec.payloads`.
"""

from fixfunc.spec.colours import LANES
from fixfunc.spec.payloads import TILE_NUMBER, Field, each

BUFFERS = 3  # at most
SIDE = 12  # bits of a width or a height

# Buffers of one size, of 8-bit formats, tiled. A buffer begins at a multiple of 256 bytes, its
# table at one of 32: lower bits of their addresses are not read.
SETUP = (
    Field("buffers", 2),  # 1 to 3
    Field("vsync", 1),  # buffers change between two frames; else between two rows of tiles
    Field("dither", 1),  # pixels are 5, 6 and 5 bits
    Field("blue_first", 1),  # B8G8R8A8; else R8G8B8A8
    Field("coded", 1),  # tiles have codes, in a table; else they are raw
    *each("width height", SIDE),  # pixels
    *each("base0 base1 base2", 32),  # address of a buffer's first tile
    *each("table0 table1 table2", 32),  # address of its tile table: four bits a tile
    *each("cleared0 cleared1 cleared2", 32),  # the colour of its cleared tiles
)


def scanned(pixels: int) -> tuple[Field, ...]:
    """Pixels of a line that are neighbours, left ones lowest; 0 beyond the line's end.

    A pixel is red, green and blue of 8 bits, red lowest; or blue, green and red of 5, 6 and 5
    bits, blue lowest.
    """
    return (
        *each(" ".join(f"pixel{n}" for n in range(pixels)), 24),
        Field("line_end", 1),
        Field("frame_end", 1),
        Field("error", 1),  # at a frame's end: a tile of it is black, as it could not be had
        Field("buffer", 2),  # that the pixels are of; 0 of a frame that is refused
    )


# Tiles on their way to a surface, of which some are there already: transaction elimination.
_TILE = (
    Field("number", TILE_NUMBER),
    Field("last", 1),  # of its frame
    *each(" ".join(f"colour{n}" for n in range(LANES)), 32),
)
DRAWN = (
    Field("table", 32),  # address of its surface's signatures, a multiple of 32; 8 bytes a tile
    *_TILE,
)
SIGNED = (
    Field("moved", 1),  # it is not there
    Field("error", 1),  # memory has failed since the tile before
    *_TILE,
)
