# SPDX-License-Identifier: BSD-2-Clause
"""Operations and payloads of the filter, as field tables: see :mod:`fixfunc.spec.payloads`."""

from enum import IntEnum

from fixfunc.spec.payloads import Field

CHANNELS = "rgba"
CORNERS = 4  # of a grid: bit 0 of a corner's number is its step along u, bit 1 along v
GATHERED = (2, 3, 1, 0)  # corners, in the order of a gather's channels [fs 22.4.2]
COUNT = 48  # samples of a pixel: 16 of a footprint, each three times at a corner of a cube


class FilterKind(IntEnum):
    """What a beat to the filter is."""

    STATE = 0
    TAPS = 1


class FilterOp(IntEnum):
    """What becomes of the texels of a filter."""

    MEAN = 0
    MINIMUM = 1  # of those that have weight
    MAXIMUM = 2
    GATHER = 3  # a component of the four texels, as four channels


class Unit(IntEnum):
    """How a channel is stored: an integer, of which so many bits that are ones are 1.0.

    A format with fewer bits repeats them until they are as many: 8 become 16, 5 become 10, 6
    become 12, seven and a sign 14 and a sign. So the number stays as it is, exactly. Of HALF they
    are halves, in all four channels of a format. A WORD of red is a float32, whose upper half is
    green; one of green is blue, and its upper half alpha.
    """

    UNORM16 = 0
    UNORM12 = 1
    UNORM10 = 2
    SNORM15 = 3
    SNORM14 = 4
    HALF = 5
    WORD = 6


_KIND = Field("kind", 1, meaning="FilterKind")
FILTER_STATE = (
    _KIND,
    Field("op", 2, meaning="FilterOp"),
    Field("component", 2, meaning="of a gather"),
    Field(
        "compares", 1, meaning="texels are 1.0 where the reference compares true with red, else 0"
    ),
    Field("function", 3, meaning="Compare, the reference on its left"),
    Field("floats", 1, meaning="what is compared is float32"),
    *(Field(f"unit_{name}", 3, meaning="Unit of the channel") for name in CHANNELS),
)
FILTER_TAPS = (
    _KIND,
    Field("end", 1, meaning="the last beat of its quad"),
    # Of pixel (x, y), whose number is 2 y + x.
    *(
        field
        for pixel in range(4)
        for field in (
            Field(f"u{pixel}", 8, meaning="weight of the right column, of 256"),
            Field(f"v{pixel}", 8, meaning="weight of the lower row, of 256"),
            Field(f"weight{pixel}", 9, meaning="of this grid, 256 a sample; 0: it has none here"),
            Field(f"count{pixel}", 6, meaning="of the pixel's samples; it comes with the end"),
            Field(f"reference{pixel}", 32, meaning="as red is stored"),
            Field(f"missing{pixel}", CORNERS, meaning="of HALF: a corner that the others' mean is"),
        )
    ),
    # Of red that is compared, bits from 16 on are in green.
    *(
        Field(f"t{pixel}_{corner}_{n}", 16, meaning="texel's channel, an integer by Unit")
        for pixel in range(4)
        for corner in range(CORNERS)
        for n in range(len(CHANNELS))
    ),
)
FILTERED_QUAD = tuple(
    Field(f"c{pixel}_{n}", 32, meaning="channel of pixel (x, y), number 2 y + x: float32")
    for pixel in range(4)
    for n in range(len(CHANNELS))
)
