# SPDX-License-Identifier: BSD-2-Clause
"""Cells of the tile rasterizer, and what travels with them from part to part.

A cell is a square of tiles that a triangle may touch: a superblock, a block or a single tile. The
three are the same thing at three pitches. A cell's children are the cells of the next pitch.
"""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Mux, signed
from amaranth.lib.data import ArrayLayout, StructLayout

from fixfunc.rtl.lib.bits import at_most_one, lowest, named, number
from fixfunc.rtl.raster.small_box import pixel_grid_layout
from fixfunc.rtl.raster.triangle_context import X_STEP_BITS, Y_STEP_BITS

EDGE_VALUE = signed(47)  # E of a cell; docs/raster/tile_rasterizer.md says why so many bits


def cell_layout(edge, contexts):
    """One cell of a triangle, or a control beat in flight.

    ``corner`` is E of the three edges at the cell's reject corner, where E is greatest: where it is
    negative, so is E in all of the cell. Triangles in flight have ``contexts`` rows.
    """
    position = 16 - edge.bit_length() + 1
    return StructLayout(
        {
            "last": 1,  # no cell of the triangle follows
            "empty": 1,  # nothing to draw: the end of a triangle, or a control beat
            "context_index": range(contexts),  # row of the triangle in the context RAMs
            "x": position,  # the cell's first tile
            "y": position,
            "columns_right": position,  # tiles of the box to the right of the first tile
            "rows_below": position,  # tiles of the box below the first tile
            "corner": ArrayLayout(EDGE_VALUE, 3),
        }
    )


def first_cell_layout(cell, edge):
    """The first cell of a triangle, from which the walker reaches all others."""
    return StructLayout(
        {
            "cell": cell,
            "single_block": 1,  # the cell is a block, and holds the whole box
            "single_column": 1,  # the box is one superblock wide
            "single_cell": 1,  # the first cell is the last one as well
            "pixel_grid": pixel_grid_layout(edge),
            "x_step": ArrayLayout(signed(X_STEP_BITS), 3),
            "y_step": ArrayLayout(signed(Y_STEP_BITS), 3),
        }
    )


def coarse_layout(cell, edge):
    """A cell on its way into the coarse test."""
    return StructLayout(
        {
            "cell": cell,
            "of_blocks": 1,  # its children are blocks, not tiles
            "pixel_grid": pixel_grid_layout(edge),  # tested in place of tiles if valid
        }
    )


def cell_mask_layout(cell, grid):
    """A cell and the mask of its children to visit, in zigzag: odd rows are reversed."""
    return StructLayout(
        {
            "cell": cell,
            "mask": grid * grid,
            "single_rows": grid,  # rows of the mask with one child at most
            "cursor": cursor_layout(grid),  # the row of the mask that is visited first
        }
    )


def cursor_layout(grid):
    """The row of a mask that is being visited.

    The three ``last`` flags are registers, because the enables of many others depend on them.
    """
    return StructLayout(
        {
            "children": grid,  # children of the row that are still to visit
            "row": range(grid),
            "pending_rows": grid,  # rows behind this one
            "last_row": 1,  # no row is pending
            "last_in_row": 1,  # at most one child remains in the row
            "last": 1,  # at most one child remains in the mask
        }
    )


def load_cursor(m, cursor, rows, mask, single_rows):
    """Assignments that move a cursor to the first of ``rows``."""
    first = named(m, lowest(rows), "first_row")
    grid = len(rows)
    children = reduce(or_, (Mux(first[n], mask.word_select(n, grid), 0) for n in range(grid)))
    last_in_row = ~(first & ~single_rows).any()
    last_row = at_most_one(rows)
    return [
        cursor.children.eq(children),
        cursor.row.eq(number(first)),
        cursor.pending_rows.eq(rows & ~first),
        cursor.last_row.eq(last_row),
        cursor.last_in_row.eq(last_in_row),
        cursor.last.eq(last_in_row & last_row),
    ]


def zigzag(mask, grid):
    """A mask with its odd rows reversed, so that the lowest bit set is the next to visit."""
    rows = [[mask[j * grid + i] for i in range(grid)] for j in range(grid)]
    return Cat(Cat(row[::-1] if j % 2 else row) for j, row in enumerate(rows))
