# SPDX-License-Identifier: BSD-2-Clause
"""Walk over a triangle's box in superblocks."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.raster._intake import first_layout
from fixfunc.rtl.raster._small_box import small_layout


class Walker(wiring.Component):
    """Lead from the first cell of a triangle to its last: one block, or superblocks in zigzag.

    One cell per clock, the next triangle's without a pause. Superblocks that an edge rejects come out as well.

    Parameters
    ----------
    cell : StructLayout
    edge : int
        Samples along a tile's edge.
    grid : int
        Tiles along a block's side, and blocks along a superblock's.

    Members
    -------
    i : In(stream.Signature(first_layout(cell, edge)))
    block_go, superblock_go : In(1)
        A block, or a superblock, may come out.
    valid, single, o : Out
        A cell; and whether it is one block.
    small : Out(small_layout(edge))
        Of a block.
    superblock : Out(1)
        A superblock waits to come out, or does.
    """

    def __init__(self, cell, edge, grid):
        self._cell = cell
        self._tile, self._log2 = edge.bit_length() - 1, grid.bit_length() - 1
        super().__init__({
            "i": In(stream.Signature(first_layout(cell, edge))), "block_go": In(1), "superblock_go": In(1),
            "valid": Out(1), "single": Out(1), "superblock": Out(1), "o": Out(cell), "small": Out(small_layout(edge)),
        })

    def elaborate(self, platform):
        m = Module()
        first, far = self.i.payload, 2 * self._log2
        here, walking, turn, back, last = Signal(first.shape()), Signal(), Signal(), Signal(), Signal()
        cell = here.cell
        m.d.comb += [self.valid.eq(walking & Mux(here.single, self.block_go, self.superblock_go)), self.single.eq(here.single),
                     self.superblock.eq(walking & ~here.single),
                     self.o.eq(cell), self.o.end.eq(last), self.small.eq(here.small)]

        # The next triangle comes in with the last step of this one.
        columns, across, down = (Signal(len(cell.right) - far, name=name) for name in ("columns", "across", "down"))
        m.d.comb += self.i.ready.eq(~walking | (self.valid & last))
        with m.If(self.i.ready):
            m.d.sync += [walking.eq(self.i.valid), here.eq(first), back.eq(0), turn.eq(first.narrow), last.eq(first.only),
                         columns.eq(first.cell.right >> far), across.eq(first.cell.right >> far), down.eq(first.cell.down >> far)]
        with m.Elif(self.valid & turn):
            m.d.sync += [across.eq(columns), down.eq(down - 1), turn.eq(here.narrow), last.eq(here.narrow & (down == 1))]
        with m.Elif(self.valid):
            m.d.sync += [across.eq(across - 1), turn.eq(across == 1), last.eq((across == 1) & (down == 0))]

        with m.If(self.valid & ~last):
            with m.If(turn):
                m.d.sync += [back.eq(~back), cell.y.eq(cell.y + (1 << far)), cell.down.eq(cell.down - (1 << far))]
            with m.Else():
                way = Mux(back, -(1 << far), 1 << far)
                m.d.sync += [cell.x.eq(cell.x + way), cell.right.eq(cell.right - way)]
            for k in range(3):
                way = Mux(turn, here.y[k], Mux(back, -here.x[k], here.x[k]))
                m.d.sync += cell.best[k].eq(cell.best[k] + (way << 4 + self._tile + far))
        return m
