# SPDX-License-Identifier: BSD-2-Clause
"""Coarse test: which children of a cell the triangle may touch."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import at_most_one, named
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.raster.cells import cell_mask_layout, coarse_layout, load_cursor, zigzag
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluator, EdgeEvaluatorParams, saturated
from fixfunc.rtl.raster.small_box import touched_tiles
from fixfunc.rtl.raster.triangle_context import (
    X_STEP_BITS,
    ContextRead,
    TriangleContext,
    steps_layout,
)


class CoarseTest(wiring.Component):
    """Test every child of a cell against three edges and the box.

    The edge evaluators work one level up: each of their lanes is the reject corner of a block, of a
    tile or, over a small box, of a pixel. One cell per clock, which never stalls, :attr:`latency`
    clocks later.

    An empty cell has no children to visit, nor has one that an edge rejects as a whole. Such a cell
    leaves only if it is the last of its triangle; else it is dropped.

    Parameters
    ----------
    cell : StructLayout
        From :func:`~fixfunc.rtl.raster.cells.cell_layout`.
    edge : int
        Samples along a tile's edge.
    grid : int
        Children along a side: 8, or 4.
    samples : int
        Most samples of a pixel.

    Members
    -------
    i : In(stream.Signature(coarse_layout(cell, edge), always_ready=True))
        A cell, and what its children are.
    steps : Out(ContextRead(cell.members["context_index"], steps_layout(grid)))
        Steps of the cell's triangle.
    o_blocks : Out(stream.Signature(cell_mask_layout(cell, grid), always_ready=True))
        A cell of blocks with its children to visit.
    o_tiles : Out(stream.Signature(cell_mask_layout(cell, grid), always_ready=True))
        A cell of tiles with its children to visit.
    cancel_blocks : Out(1)
        A cell of blocks was dropped.
    cancel_tiles : Out(1)
        A cell of tiles was dropped.
    """

    LOOKUP = 1 + TriangleContext.LATENCY  # clock in which the steps are read
    CORNER = LOOKUP + 1  # clock of the evaluators' inputs

    def __init__(self, cell, edge, grid, samples):
        self._grid = grid
        self._tile_pitch = 3 + edge.bit_length()  # log2 of the steps of 1/16 pixel in a tile
        self._params = EdgeEvaluatorParams(grid, 1, X_STEP_BITS - (samples == 1), "shared")
        mask = stream.Signature(cell_mask_layout(cell, grid), always_ready=True)
        index = cell.members["context_index"]
        super().__init__(
            {
                "i": In(stream.Signature(coarse_layout(cell, edge), always_ready=True)),
                "steps": Out(ContextRead(index, steps_layout(grid))),
                "o_blocks": Out(mask),
                "o_tiles": Out(mask),
                "cancel_blocks": Out(1),
                "cancel_tiles": Out(1),
            }
        )

    @property
    def _evaluated(self):
        """Clock of the evaluators' outputs."""
        return self.CORNER + self._params.latency

    @property
    def latency(self):
        """Clocks: the evaluators, all edges, small boxes, mask, rows, first row."""
        return self._evaluated + 5

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        request = Signal(self.i.payload.shape())
        m.d.sync += request.eq(self.i.payload)
        m.d.comb += self.steps.index.eq(request.cell.context_index)
        t.enter(0, valid=self.i.valid)
        t.enter(1, cell=request.cell, of_blocks=request.of_blocks, pixel_grid=request.pixel_grid)

        # Children that no edge rejects; of a small box, the tiles that have a pixel inside.
        touched = Signal(self._grid**2)
        m.d.sync += touched.eq(
            self._evaluate(m, t, 0) & self._evaluate(m, t, 1) & self._evaluate(m, t, 2)
        )
        pixel_grid = t[self._evaluated + 1].pixel_grid
        t.enter(self._evaluated + 1, touched=touched, small=pixel_grid.valid)
        tiles = touched_tiles(m, touched, pixel_grid, self._grid)
        two_by_two = Cat(Cat(tiles[:2], Const(0, self._grid - 2)), tiles[2:])
        children = Mux(t[self._evaluated + 2].small, two_by_two, t[self._evaluated + 2].touched)

        # Of these, the children in the box, unless the cell is empty or rejected as a whole.
        rejected = Signal()
        cell = request.cell
        m.d.sync += rejected.eq(cell.empty | Cat(value < 0 for value in cell.corner).any())
        t.enter(2, rejected=rejected)
        box = self._box(m, t)
        mask = Signal(self._grid**2)
        m.d.sync += mask.eq(
            Mux(
                t[self._evaluated + 2].rejected,
                0,
                zigzag(named(m, children & box, "visited"), self._grid),
            )
        )
        self._output(m, t, mask)
        return m

    def _evaluate(self, m, t, k):
        """The mask of edge k: children whose reject corner is inside."""
        bits = self._params.width - 1
        log2 = self._grid.bit_length() - 1

        # E at the cell's reject corner, in steps of the children's pitch, cut where it can no
        # longer change a sign.
        value = t[1].cell.corner[k]
        cell_corner = Signal(bits, name=f"cell_corner_{k}")
        m.d.sync += cell_corner.eq(
            Mux(
                t[1].of_blocks,
                saturated(value, self._tile_pitch + log2, bits),
                saturated(value, self._tile_pitch, bits),
            )
        )
        t.enter(2, **{f"cell_corner_{k}": cell_corner})

        # E at the reject corner of the first child, and the steps from child to child.
        steps = self.steps.data
        pixel_grid = t[self.LOOKUP].pixel_grid
        corner = Signal(signed(bits + 1), name=f"corner_{k}")
        m.d.sync += corner.eq(
            Mux(
                pixel_grid.valid,
                pixel_grid.corner[k],
                t.value(f"cell_corner_{k}", self.LOOKUP) - steps.corner_drop[k],
            )
        )
        x_step = Signal.like(steps.x[k], name=f"x_step_{k}")
        y_step = Signal.like(steps.y[k], name=f"y_step_{k}")
        m.d.sync += [
            x_step.eq(Array([steps.x[k] << n for n in range(2)])[pixel_grid.level.x]),
            y_step.eq(Array([steps.y[k] << n for n in range(3)])[pixel_grid.level.y]),
        ]
        m.submodules[f"edge_{k}"] = evaluator = EdgeEvaluator(self._params)
        m.d.comb += [
            evaluator.i.valid.eq(1),
            evaluator.o.ready.eq(1),
            evaluator.i.payload.a.eq(x_step),
            evaluator.i.payload.b.eq(y_step),
            evaluator.i.payload.c.eq(corner),
        ]
        return evaluator.o.payload.mask

    def _box(self, m, t):
        """Children of which a part lies in the box."""
        log2 = self._grid.bit_length() - 1
        cell = t[1].cell
        for name, tiles in (("columns", cell.columns_right), ("rows", cell.rows_below)):
            children = Mux(t[1].of_blocks, tiles >> log2, tiles)
            in_box = Signal(self._grid, name=f"{name}_in_box")
            m.d.sync += in_box.eq(Cat(1, *(children >= n for n in range(1, self._grid))))
            t.enter(2, **{name: in_box})
        columns = t[self._evaluated + 2].columns
        return Cat(Mux(row, columns, 0) for row in t[self._evaluated + 2].rows)

    def _output(self, m, t, mask):
        """The cell with its mask: first which rows hold any child, then the first of them."""
        grid = self._grid
        result = Signal(self.o_tiles.payload.shape())
        rows = Signal(grid)
        lines = [mask.word_select(j, grid) for j in range(grid)]
        m.d.sync += [
            result.cell.eq(t[self._evaluated + 3].cell),
            result.mask.eq(mask),
            rows.eq(Cat(line.any() for line in lines)),
            result.single_rows.eq(Cat(at_most_one(line) for line in lines)),
        ]
        output = Signal(self.o_tiles.payload.shape())
        m.d.sync += [
            output.eq(result),
            *load_cursor(m, output.cursor, rows, result.mask, result.single_rows),
        ]
        valid = t[self._evaluated + 4].valid
        of_blocks = t[self._evaluated + 4].of_blocks
        pass_on = rows.any() | result.cell.last
        m.d.sync += [
            self.o_blocks.valid.eq(valid & pass_on & of_blocks),
            self.o_tiles.valid.eq(valid & pass_on & ~of_blocks),
            self.cancel_blocks.eq(valid & ~pass_on & of_blocks),
            self.cancel_tiles.eq(valid & ~pass_on & ~of_blocks),
        ]
        m.d.comb += [
            self.o_blocks.payload.eq(output),
            self.o_tiles.payload.eq(output),
        ]
