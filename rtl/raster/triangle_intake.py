# SPDX-License-Identifier: BSD-2-Clause
"""Triangle intake: contexts of triangles, and the first cell of each."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import beat
from fixfunc.rtl.raster.cells import first_cell_layout
from fixfunc.rtl.raster.small_box import SmallBox
from fixfunc.rtl.raster.triangle_context import (
    ATTRIBUTE_BITS,
    GAIN_BITS,
    ContextWrite,
    steps_layout,
)
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind


class TriangleIntake(wiring.Component):
    """Allocate a context for each triangle and control beat, and find its first cell.

    One beat per clock while contexts are free. Its rows of the context RAMs are written and its
    first cell leaves :attr:`latency` clocks later at most. A control beat becomes an empty block.

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
    i : In(stream.Signature(beat(setup=..., draw_state=..., clear=..., fence=...)))
        Triangles and control beats.
    room : In(1)
        There is a place for the first cell of the next beat.
    accept : Out(1)
        A beat is taken; its first cell will leave.
    release : In(1)
        A context is free again. Contexts are released in the order of their allocation.
    attributes : Out(ContextWrite(cell.members["context_index"], ATTRIBUTE_BITS))
        The beat, without E.
    steps : Out(ContextWrite(cell.members["context_index"], steps_layout(grid)))
        Steps of the edges.
    o : Out(stream.Signature(first_cell_layout(cell, edge), always_ready=True))
        The first cell.
    """

    def __init__(self, cell, edge, grid):
        self._cell = cell
        self._edge = edge
        self._grid = grid
        index = cell.members["context_index"]
        super().__init__(
            {
                "i": In(stream.Signature(beat(setup=payloads.SETUP, **payloads.CONTROL))),
                "room": In(1),
                "accept": Out(1),
                "release": In(1),
                "attributes": Out(ContextWrite(index, ATTRIBUTE_BITS)),
                "steps": Out(ContextWrite(index, steps_layout(grid))),
                "o": Out(stream.Signature(first_cell_layout(cell, edge), always_ready=True)),
            }
        )

    @property
    def latency(self):
        """Clocks: input register, box in tiles, gain of a tile, gain of the cell, corner."""
        return 5

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        m.submodules.credit = credit = CreditCounter(1 << len(self.attributes.index))
        m.d.comb += [
            self.i.ready.eq(credit.available & self.room),
            self.accept.eq(self.i.valid & self.i.ready),
            credit.consume.eq(self.accept),
            credit.release.eq(self.release),
        ]

        # Clock 1: the beat and its context.
        request = Signal(self.i.payload.shape())
        request_valid = Signal()
        context_index = Signal.like(self.attributes.index)
        m.d.sync += [
            request.eq(self.i.payload),
            request_valid.eq(credit.consume),
            context_index.eq(context_index + request_valid),
        ]
        t.enter(1, valid=request_valid)
        m.d.comb += [
            self.attributes.valid.eq(request_valid),
            self.attributes.index.eq(context_index),
            self.attributes.data.eq(request.as_value()[:ATTRIBUTE_BITS]),
        ]

        # Clock 2: the box in tiles, and the steps. SETUP has E at the reject corner of the first
        # tile, so the box begins as a cell of one tile.
        setup = request.setup
        first_tile = Signal(self._cell)
        m.submodules.small_box = small_box = SmallBox(self._cell, self._edge, self._grid)
        m.d.sync += [
            first_tile.context_index.eq(context_index),
            first_tile.empty.eq(setup.kind != Kind.WORK),
            small_box.samples.eq(setup.samples),
        ]
        self._box(m, setup, first_tile, small_box)
        x_step = Signal.like(self.o.payload.x_step)
        y_step = Signal.like(self.o.payload.y_step)
        for k in range(3):
            a = setup[f"a{k}"]
            m.d.sync += [
                x_step[k].eq(Mux(setup.samples[0], a << 1, a)),
                y_step[k].eq(setup[f"b{k}"]),
                first_tile.corner[k].eq(setup[f"c{k}"]),
            ]
        t.enter(2, first_tile=first_tile, x_step=x_step, y_step=y_step)
        m.d.comb += [
            small_box.i.eq(first_tile),
            small_box.x_step.eq(x_step),
            small_box.y_step.eq(y_step),
        ]

        # Clock 5: the first cell, and the steps with their corner drop.
        self._first_cell(m, t)
        m.d.comb += [
            self.o.valid.eq(t[5].valid),
            self.o.payload.x_step.eq(t[5].x_step),
            self.o.payload.y_step.eq(t[5].y_step),
            self.o.payload.pixel_grid.eq(small_box.o),
            self.steps.valid.eq(t[5].valid),
            self.steps.index.eq(self.o.payload.cell.context_index),
            self.steps.data.x.eq(t[5].x_step),
            self.steps.data.y.eq(t[5].y_step),
        ]
        return m

    def _box(self, m, setup, first_tile, small_box):
        """The box in tiles, and the lanes in them where it begins and ends, a clock later."""
        tile_log2 = self._edge.bit_length() - 1
        for n, (axis, beyond) in enumerate((("x", "columns_right"), ("y", "rows_below"))):
            first_pixel = setup[f"{axis}0"]
            last_pixel = setup[f"{axis}1"]
            pixels_log2 = Array([tile_log2 - shape[n] for shape in SHAPES])[setup.samples]
            lanes_log2 = Array([shape[n] for shape in SHAPES])[setup.samples]
            first = Signal(14, name=f"{axis}_first")
            last = Signal(14, name=f"{axis}_last")
            m.d.comb += [
                first.eq(first_pixel >> pixels_log2),
                last.eq(last_pixel >> pixels_log2),
            ]
            m.d.sync += [
                first_tile[axis].eq(first),
                first_tile[beyond].eq(last - first),
                getattr(small_box, f"{axis}0").eq(first_pixel << lanes_log2),
                getattr(small_box, f"{axis}1").eq(last_pixel << lanes_log2),
            ]

    def _first_cell(self, m, t):
        """From the first tile in clock 2 to the first cell in clock 5.

        The reject corner of a block lies up to grid - 1 tiles from that of its first tile, the
        reject corner of a superblock up to grid^2 - 1 tiles.
        """
        grid_log2 = self._grid.bit_length() - 1
        tile_pitch = 3 + self._edge.bit_length()  # log2 of the steps of 1/16 pixel in a tile
        first_tile = t[2].first_tile
        single_block = Signal()
        m.d.comb += single_block.eq(
            first_tile.empty
            | (
                (first_tile.columns_right >> grid_log2 == 0)
                & (first_tile.rows_below >> grid_log2 == 0)
            )
        )
        t.enter(2, single_block=single_block)

        first_tile = t[4].first_tile
        single_column = first_tile.columns_right >> 2 * grid_log2 == 0
        single_row = first_tile.rows_below >> 2 * grid_log2 == 0
        first_cell = self.o.payload
        m.d.sync += [
            first_cell.cell.eq(first_tile),
            first_cell.single_block.eq(t[4].single_block),
            first_cell.single_column.eq(single_column),
            first_cell.single_cell.eq(t[4].single_block | (single_column & single_row)),
        ]
        for k in range(3):
            tile_gain = Signal(GAIN_BITS, name=f"tile_gain_{k}")
            cell_gain = Signal(GAIN_BITS + 2 * grid_log2, name=f"cell_gain_{k}")
            m.d.sync += [
                tile_gain.eq(positive(t[2].x_step[k]) + positive(t[2].y_step[k])),
                cell_gain.eq(
                    Mux(t[3].single_block, tile_gain << grid_log2, tile_gain << 2 * grid_log2)
                    - tile_gain
                ),
                first_cell.cell.corner[k].eq(first_tile.corner[k] + (cell_gain << tile_pitch)),
            ]
            drop = ((tile_gain << grid_log2) - tile_gain)[: GAIN_BITS + grid_log2]
            t.enter(3, **{f"corner_drop_{k}": drop})
            m.d.sync += self.steps.data.corner_drop[k].eq(t.value(f"corner_drop_{k}", 4))


def positive(value):
    """``value`` where it is above zero, else zero."""
    return Mux(value > 0, value, 0)
