# SPDX-License-Identifier: BSD-2-Clause
"""Cell walker: the superblocks of a triangle's box."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.raster.cells import coarse_layout, first_cell_layout


class CellWalker(wiring.Component):
    """Walk from the first cell of a triangle to its last: one block, or superblocks in zigzag.

    One cell per clock; the next triangle's first cell follows without a pause. Superblocks that an
    edge rejects leave as well: the coarse test drops them.

    Parameters
    ----------
    cell : StructLayout
        From :func:`~fixfunc.rtl.raster.cells.cell_layout`.
    edge : int
        Samples along a tile's edge.
    grid : int
        Tiles along a block's side, and blocks along a superblock's.

    Members
    -------
    i : In(stream.Signature(first_cell_layout(cell, edge)))
        The first cell of a triangle.
    block_enable : In(1)
        A block may leave.
    superblock_enable : In(1)
        A superblock may leave.
    superblock_pending : Out(1)
        A superblock leaves, or waits for its enable.
    o : Out(stream.Signature(coarse_layout(cell, edge), always_ready=True))
        A superblock, whose children are blocks, or a block, with its pixel grid.
    """

    def __init__(self, cell, edge, grid):
        self._grid_log2 = grid.bit_length() - 1
        self._tile_pitch = 3 + edge.bit_length()  # log2 of the steps of 1/16 pixel in a tile
        super().__init__(
            {
                "i": In(stream.Signature(first_cell_layout(cell, edge))),
                "block_enable": In(1),
                "superblock_enable": In(1),
                "superblock_pending": Out(1),
                "o": Out(stream.Signature(coarse_layout(cell, edge), always_ready=True)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        first = self.i.payload
        size = 2 * self._grid_log2  # log2 of the tiles along a superblock's side
        current = Signal(first.shape())
        current_valid = Signal()
        reverse = Signal()  # this row of superblocks is walked from right to left
        row_end = Signal()
        last = Signal()
        cell = current.cell
        leave = Signal()
        m.d.comb += [
            leave.eq(
                current_valid & Mux(current.single_block, self.block_enable, self.superblock_enable)
            ),
            self.superblock_pending.eq(current_valid & ~current.single_block),
            self.o.valid.eq(leave),
            self.o.payload.cell.eq(cell),
            self.o.payload.cell.last.eq(last),
            self.o.payload.of_blocks.eq(~current.single_block),
            self.o.payload.pixel_grid.eq(current.pixel_grid),
        ]

        # Superblocks beyond this one, of the box, of this row and below it. The next triangle is
        # loaded with the last step of this one.
        box_columns = Signal(len(cell.columns_right) - size)
        columns = Signal.like(box_columns)
        rows = Signal.like(box_columns)
        m.d.comb += self.i.ready.eq(~current_valid | (leave & last))
        with m.If(self.i.ready):
            m.d.sync += [
                current_valid.eq(self.i.valid),
                current.eq(first),
                reverse.eq(0),
                row_end.eq(first.single_column),
                last.eq(first.single_cell),
                box_columns.eq(first.cell.columns_right >> size),
                columns.eq(first.cell.columns_right >> size),
                rows.eq(first.cell.rows_below >> size),
            ]
        with m.Elif(leave & row_end):
            m.d.sync += [
                columns.eq(box_columns),
                rows.eq(rows - 1),
                row_end.eq(current.single_column),
                last.eq(current.single_column & (rows == 1)),
            ]
        with m.Elif(leave):
            m.d.sync += [
                columns.eq(columns - 1),
                row_end.eq(columns == 1),
                last.eq((columns == 1) & (rows == 0)),
            ]

        # The cell moves down at the end of a row, else right, or left in a reversed row.
        with m.If(leave & ~last):
            with m.If(row_end):
                m.d.sync += [
                    reverse.eq(~reverse),
                    cell.y.eq(cell.y + (1 << size)),
                    cell.rows_below.eq(cell.rows_below - (1 << size)),
                ]
            with m.Else():
                distance = Mux(reverse, -(1 << size), 1 << size)
                m.d.sync += [
                    cell.x.eq(cell.x + distance),
                    cell.columns_right.eq(cell.columns_right - distance),
                ]
            for k in range(3):
                x_step = current.x_step[k]
                step = Mux(row_end, current.y_step[k], Mux(reverse, -x_step, x_step))
                m.d.sync += cell.corner[k].eq(cell.corner[k] + (step << self._tile_pitch + size))
        return m
