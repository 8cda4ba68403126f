# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of a cache of depths, stencil values or colours."""

from fixfunc.spec.payloads import (
    COLOUR,
    DEPTH,
    FLOAT_DEPTH,
    SLOT,
    TILE_NUMBER,
    Field,
    each,
    tile_position,
)


def cache_request(edge_samples: int) -> tuple[Field, ...]:
    """What a cache of depths, stencil values or colours is asked for, in the order of drawing."""
    return (
        Field("op", 2, meaning="CacheOp"),
        *tile_position(edge_samples),  # of USE
        Field(
            "number",
            TILE_NUMBER,
            meaning="of USE: the tile's, row by row; of CLEAR: tiles of the target",
        ),
        Field("needed", 1, meaning="of USE: it may be that not every sample will be written"),
        Field("writes", 1, meaning="of USE: some samples may be written"),
        Field("samples", 2, meaning="of CLEAR: log2 of the samples of a pixel"),
        Field("cleared", COLOUR, meaning="of CLEAR: the value that the target is cleared to"),
        Field("is_float", 1, meaning="of CLEAR: depths are D32F"),
        Field("base", 32, meaning="of CLEAR: address of the first tile, bytes"),
    )


def _values(edge_samples, bits, meaning):
    return each(" ".join(f"value{n}" for n in range(edge_samples**2)), bits, meaning=meaning)


def slot_command(edge_samples: int, bits: int = DEPTH) -> tuple[Field, ...]:
    """What a cache wants done with a tile on chip.

    They lie in the memory of the block that uses them.
    """
    return (
        Field("op", 3, meaning="SlotOp"),
        Field("slot", SLOT, meaning="place of the tile on chip"),
        Field(
            "error",
            3,
            meaning="of DONE: 1 a read failed, 2 a write failed, 4 a tile in memory cannot be",
        ),
        *_values(edge_samples, bits, "of FILL: of a sample, put into the slot"),
    )


def completion(edge_samples: int, bits: int = DEPTH) -> tuple[Field, ...]:
    """What has been done to a slot: one for each :func:`slot_command` but DONE, in their order.

    A tile that is written late has a second one, of USE, before any other tile has its slot.
    """
    plane = (
        Field("exact", 1, meaning="of USE: the plane gives the depths of the samples written"),
        Field("z0", 32, meaning="of the plane, s23.8 units, at the first pixel's centre"),
        *each("dx dy", 32, meaning="slope of the plane: s23.8 a pixel"),
    )
    return (
        Field("op", 3, meaning="SlotOp, of the command"),
        Field("slot", SLOT, meaning="place of the tile on chip"),
        Field(
            "written",
            edge_samples**2,
            meaning="of USE: samples written, lane (i, j) at bit j * edge + i",
        ),
        *(plane if bits in (DEPTH, FLOAT_DEPTH) else ()),
        *_values(edge_samples, bits, "of EVICT: of a sample, held by the slot"),
    )


def counted(differences: bool = False) -> tuple[Field, ...]:
    """Tiles that have been moved, by their mode in memory, and transfers of the mode table.

    With ``differences``, of a cache whose tiles are coded so.
    """
    modes = (*range(7), *(range(9, 15) if differences else ()))
    causes = {"fill": "tiles read", "write_back": "tiles written"}
    return (
        *(
            Field(f"{cause}_{mode}", 32, meaning=f"{tiles}, of TileMode {mode} in memory")
            for cause, tiles in causes.items()
            for mode in modes
        ),
        Field("table_fill", 32, meaning="transfers of the mode table, read"),
        Field("table_write_back", 32, meaning="transfers of the mode table, written"),
        Field("table_clear", 32, meaning="transfers of the mode table, written by clears"),
    )


COUNTED = counted()
