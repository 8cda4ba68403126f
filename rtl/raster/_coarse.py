# SPDX-License-Identifier: BSD-2-Clause
"""Coarse test: which children of a cell the triangle may touch."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.bits import at_most_one, named
from fixfunc.rtl.pipeline import delay
from fixfunc.rtl.raster._cells import PLACES, X_STEP, masked, steps_layout, take_row, zigzag
from fixfunc.rtl.raster._small_box import small_layout, tiles_of
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluator, EdgeEvaluatorParams


def cut(value, low, bits):
    """``value``, not negative, from bit ``low`` on, cut to ``bits``: all ones where it does not fit."""
    return Mux(value[low + bits:].any(), (1 << bits) - 1, value[low:low + bits])


class CoarseTest(wiring.Component):
    """Test every child of a cell against three edges and the box.

    The edge evaluator one level up: at tile pitch each of its lanes is the best corner of a tile, at block pitch
    that of a block, and over a small box that of a pixel. One cell per clock, never held up, :attr:`latency` clocks later.

    Parameters
    ----------
    cell : StructLayout
    edge : int
        Samples along a tile's edge.
    grid : int
        Children along a side: 8, or 4.
    samples : int
        Most samples of a pixel.

    Members
    -------
    valid, i : In
        A cell.
    blocks : In(1)
        Its children are blocks, not tiles.
    small : In(small_layout(edge))
        Of a cell of tiles: the grid to test in their place.
    index : Out(range(PLACES))
    steps : In(steps_layout(grid))
        Of the triangle at ``index`` two clocks before.
    o_blocks, o_tiles, o : Out
        The cell with its children, in zigzag: blocks, or tiles. There is none in an empty cell, nor where an edge
        rejects the whole cell: such a cell comes out only if it is the end.
    drop_blocks, drop_tiles : Out(1)
        A cell without any does not.
    """

    def __init__(self, cell, edge, grid, samples):
        self._edge, self._grid, self._pitch = edge, grid, 3 + edge.bit_length()  # log2 of 16 steps a pixel times the tile's edge
        self._params = EdgeEvaluatorParams(grid, 1, X_STEP - (samples == 1), "shared")
        result = masked(cell, grid)
        super().__init__({"valid": In(1), "blocks": In(1), "i": In(cell), "small": In(small_layout(edge)),
                          "index": Out(range(PLACES)), "steps": In(steps_layout(grid)),
                          "o_blocks": Out(1), "o_tiles": Out(1), "drop_blocks": Out(1), "drop_tiles": Out(1), "o": Out(result)})

    @property
    def latency(self):
        """Clocks from a cell to its mask: input, cut, look-up, corner, evaluator, all edges, small boxes, mask, rows, first row."""
        return 9 + self._params.latency

    def elaborate(self, platform):
        m = Module()
        grid, bits = self._grid, self._params.width - 1
        log2 = grid.bit_length() - 1
        cell, blocks, small = Signal(self.i.shape()), Signal(), Signal(self.small.shape())
        m.d.sync += [cell.eq(self.i), blocks.eq(self.blocks), small.eq(self.small)]
        m.d.comb += self.index.eq(cell.index)

        # E at the best corner, in steps of the children's pitch, cut where it can no longer change a sign.
        inside, grid_laid = [], delay(m, small, 2, "small")
        for k in range(3):
            best, corner = Signal(bits, name=f"best_{k}"), Signal(signed(bits + 1), name=f"corner_{k}")
            value = cell.best[k]
            m.d.sync += best.eq(Mux(blocks, cut(value, self._pitch + log2, bits), cut(value, self._pitch, bits)))  # clock 2
            m.d.sync += corner.eq(Mux(grid_laid.on, grid_laid.corner[k], delay(m, best, 1, f"best_{k}") - self.steps.drop[k]))  # clock 4
            m.submodules[f"edge_{k}"] = lanes = EdgeEvaluator(self._params)
            x_step, y_step = (Signal.like(self.steps[axis][k], name=f"step_{axis}{k}") for axis in "xy")
            for axis, kept, levels in (("x", x_step, 2), ("y", y_step, 3)):
                m.d.sync += kept.eq(Array([self.steps[axis][k] << n for n in range(levels)])[grid_laid.level[axis]])
            m.d.comb += [lanes.i.valid.eq(1), lanes.o.ready.eq(1), lanes.i.payload.a.eq(x_step),
                         lanes.i.payload.b.eq(y_step), lanes.i.payload.c.eq(corner)]
            inside.append(lanes.o.payload.mask)

        # Of a small box, the tiles that have a pixel inside. Children beyond the box count as untouched.
        last = self.latency - 3
        columns, rows = (Signal(grid, name=name) for name in ("columns", "rows"))
        for room, reached in (("right", columns), ("down", rows)):
            far = Mux(blocks, cell[room] >> log2, cell[room])
            m.d.sync += reached.eq(Cat(1, *(far >= n for n in range(1, grid))))
        columns, rows = delay(m, columns, last - 2, "columns"), delay(m, rows, last - 2, "rows")
        box = Cat(Mux(row, columns, 0) for row in rows)
        touched = Signal(grid * grid)
        m.d.sync += touched.eq(inside[0] & inside[1] & inside[2])
        split = delay(m, grid_laid, last - 4, "split")
        tiles = tiles_of(m, touched, split, grid)
        found = Mux(delay(m, split.on, 1, "on"), Cat(Cat(tiles[:2], Const(0, grid - 2)), tiles[2:]), delay(m, touched, 1, "touched"))

        rejected, mask = Signal(), Signal(grid * grid)
        m.d.sync += rejected.eq(cell.empty | Cat(value < 0 for value in cell.best).any())
        m.d.sync += mask.eq(Mux(delay(m, rejected, last - 2, "rejected"), 0, zigzag(named(m, found & box, "visited"), grid)))

        # Which rows hold any, and which just one; then the first row, and where it all goes.
        made, rows = Signal(self.o.shape()), Signal(grid)
        lines = [mask.word_select(j, grid) for j in range(grid)]
        m.d.sync += [made.cell.eq(delay(m, cell, last, "cell")), made.mask.eq(mask), rows.eq(Cat(line.any() for line in lines)),
                     made.lone.eq(Cat(at_most_one(line) for line in lines))]
        valid, of_blocks = delay(m, self.valid, last + 2, "valid"), delay(m, blocks, last + 1, "blocks")
        comes = rows.any() | made.cell.end
        m.d.sync += [self.o.eq(made), *take_row(m, self.o.at, rows, made.mask, made.lone)]
        m.d.sync += [self.o_blocks.eq(valid & comes & of_blocks), self.o_tiles.eq(valid & comes & ~of_blocks),
                     self.drop_blocks.eq(valid & ~comes & of_blocks), self.drop_tiles.eq(valid & ~comes & ~of_blocks)]
        return m
