# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of coded lines, as field tables: see :mod:`fixfunc.spec.payloads`."""

from fixfunc.spec.dxgi import Format
from fixfunc.spec.payloads import TRANSFER, Field, each
from fixfunc.spec.textures.cache import LINE, LINE_NUMBER, SURFACE, StoredFormat

TILE_LINES = 4  # lines of a tile: each a square of 4x4 texels
TILE_ADDRESS = LINE_NUMBER - 2  # bits: tiles of 4 GB
# Formats of texels of four bytes that planes and textures share.
CODED_FORMATS = tuple(
    StoredFormat[form.name]
    for form in (
        Format.R8G8B8A8_UNORM,
        Format.R8G8B8A8_UNORM_SRGB,
        Format.R8G8B8A8_SNORM,
        Format.B8G8R8A8_UNORM,
        Format.B8G8R8A8_UNORM_SRGB,
        Format.B8G8R8X8_UNORM,
        Format.R10G10B10A2_UNORM,
        Format.R11G11B10_FLOAT,
        Format.R16G16_UNORM,
        Format.R16G16_SNORM,
        Format.R16G16_FLOAT,
        Format.R32_FLOAT,
    )
)


def coded_read(places: int) -> tuple[Field, ...]:
    """A line to be read; ``places`` is how many may be under way."""
    return (
        Field("line", LINE_NUMBER, meaning="of the surface's lines in memory, were they raw"),
        _id(places),
        Field("tile", TILE_ADDRESS, meaning="its tile's number in the surface"),
        *SURFACE,
    )


def coded_transfer(places: int) -> tuple[Field, ...]:
    """Half a line."""
    words = " ".join(f"data{n}" for n in range(TRANSFER // 64))
    return (
        _id(places),
        Field("last", 1, meaning="the line's second transfer"),
        Field("error", 1, meaning="memory failed, or the tile cannot be: the line is zero"),
        *each(words, 64, meaning="of a line of 4x4 texels in Morton order"),
    )


def _id(places):
    return Field("id", (places - 1).bit_length(), meaning="of the read")


HALVES = 8 * LINE // TRANSFER  # transfers of a line
