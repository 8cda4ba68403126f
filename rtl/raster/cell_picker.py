# SPDX-License-Identifier: BSD-2-Clause
"""Cell picker: the children of a cell, one after the other."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.bits import at_most_one, lowest, named, number
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.raster.cells import EDGE_VALUE, cell_mask_layout, load_cursor
from fixfunc.rtl.raster.triangle_context import (
    X_STEP_BITS,
    Y_STEP_BITS,
    ContextRead,
    TriangleContext,
    steps_layout,
)


class CellPicker(wiring.Component):
    """Pick the children in a cell's mask one by one, in zigzag.

    One child per clock while :attr:`pick_enable` is set; the next mask follows without a pause. A
    child leaves :attr:`latency` clocks after its pick and never stalls.

    Parameters
    ----------
    cell : StructLayout
        From :func:`~fixfunc.rtl.raster.cells.cell_layout`.
    grid : int
        Children along a side of the mask: 8, or 4.
    pitch : int
        log2 of the steps of 1/16 pixel from one child to the next.
    size : int
        log2 of the tiles along a child's side.

    Members
    -------
    i : In(stream.Signature(cell_mask_layout(cell, grid)))
        A cell and its children.
    pick_enable : In(1)
        A child may be picked.
    pick : Out(1)
        A child is picked.
    busy : Out(1)
        A mask is being picked from, or a child is in flight.
    steps : Out(ContextRead(cell.members["context_index"], steps_layout(grid)))
        Steps of the child's triangle.
    next_valid : Out(1)
        ``o.valid`` of the next clock.
    o : Out(stream.Signature(cell, always_ready=True))
        The child.
    """

    def __init__(self, cell, grid, pitch, size):
        self._cell = cell
        self._grid = grid
        self._pitch = pitch
        self._size = size
        self._multipliers = [
            [Multiplier(bits, grid.bit_length()) for bits in (X_STEP_BITS, Y_STEP_BITS)]
            for _ in range(3)
        ]
        super().__init__(
            {
                "i": In(stream.Signature(cell_mask_layout(cell, grid))),
                "pick_enable": In(1),
                "pick": Out(1),
                "busy": Out(1),
                "steps": Out(ContextRead(cell.members["context_index"], steps_layout(grid))),
                "next_valid": Out(1),
                "o": Out(stream.Signature(cell, always_ready=True)),
            }
        )

    @property
    def _product(self):
        """Clock of the products, counted from the pick: parent, look-up, multipliers."""
        return 1 + TriangleContext.LATENCY + self._multipliers[0][0].latency

    @property
    def latency(self):
        """Clocks from a pick to its child: the products, their sum, the child's corner."""
        return self._product + 2

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        parent, column, row = self._pick(m)
        t.enter(1, parent_corner=parent.corner, column=column, row=row)
        m.d.comb += self.steps.index.eq(parent.context_index)

        # E at the child's reject corner: at its parent's, less the drop to the first child's, plus
        # the distance from the first child to this one.
        lookup = 1 + TriangleContext.LATENCY
        steps = self.steps.data
        for k, multipliers in enumerate(self._multipliers):
            first_corner = Signal(EDGE_VALUE, name=f"first_corner_{k}")
            distance = Signal(EDGE_VALUE, name=f"distance_{k}")
            corner = Signal(EDGE_VALUE, name=f"corner_{k}")
            for axis, multiplier, factor in zip(
                "xy", multipliers, (t[lookup].column, t[lookup].row), strict=True
            ):
                m.submodules[f"multiplier_{axis}{k}"] = multiplier
                m.d.comb += [
                    multiplier.a.eq(steps[axis][k]),
                    multiplier.b.eq(factor),
                ]
            m.d.sync += [
                first_corner.eq(t[lookup].parent_corner[k] - (steps.corner_drop[k] << self._pitch)),
                distance.eq(multipliers[0].o + multipliers[1].o),
            ]
            t.enter(lookup + 1, **{f"first_corner_{k}": first_corner})
            first_corner = t.value(f"first_corner_{k}", self._product + 1)
            m.d.sync += corner.eq(first_corner + (distance << self._pitch))
            m.d.comb += self.o.payload.corner[k].eq(corner)

        # The child's tiles wait for its corner.
        child = Signal(self._cell)
        m.d.comb += child.eq(parent)
        for axis, beyond, offset in (("x", "columns_right", column), ("y", "rows_below", row)):
            m.d.comb += [
                child[axis].eq(parent[axis] + (offset << self._size)),
                child[beyond].eq(parent[beyond] - (offset << self._size)),
            ]
        t.enter(1, child=child)
        m.d.comb += [
            self.o.payload[name].eq(t[self.latency].child[name])
            for name in self._cell.members
            if name != "corner"
        ]
        return m

    def _pick(self, m):
        """One pick a clock: its parent, and the child's column and row in it, a clock later."""
        bits = self._grid.bit_length() - 1

        # One mask at a time, and of it one row. The next row, or mask, is loaded with the last pick
        # of this one. Whether the next pick is the last, of the row or of the mask, is a register:
        # the enables of the whole mask depend on it.
        mask_valid = Signal()
        current = Signal(self.i.payload.shape())
        cursor = current.cursor
        m.d.comb += [
            self.pick.eq(mask_valid & self.pick_enable),
            self.i.ready.eq(~mask_valid | (self.pick_enable & cursor.last)),
        ]
        next_row = load_cursor(m, cursor, cursor.pending_rows, current.mask, current.single_rows)
        remaining = named(m, cursor.children & ~lowest(cursor.children), "remaining")
        with m.If(self.i.ready):
            m.d.sync += [
                mask_valid.eq(self.i.valid),
                current.eq(self.i.payload),
            ]
        with m.Elif(self.pick_enable & cursor.last_in_row):
            m.d.sync += next_row
        with m.Elif(self.pick_enable):
            last_in_row = at_most_one(remaining)
            m.d.sync += [
                cursor.children.eq(remaining),
                cursor.last_in_row.eq(last_in_row),
                cursor.last.eq(cursor.last_row & last_in_row),
            ]

        # Odd rows of the mask are reversed, and so are their columns.
        position = Signal(bits)
        column = Signal(bits)
        row = Signal(bits)
        parent = Signal(self._cell)
        m.d.comb += position.eq(number(named(m, lowest(cursor.children), "picked_child")))
        m.d.sync += [
            column.eq(position ^ Mux(cursor.row[0], (1 << bits) - 1, 0)),
            row.eq(cursor.row),
            parent.eq(current.cell),
            parent.last.eq(current.cell.last & cursor.last),
            parent.empty.eq(current.cell.empty | (cursor.children == 0)),
        ]
        in_flight = Signal(self.latency)
        m.d.sync += in_flight.eq(Cat(self.pick, in_flight))
        m.d.comb += [
            self.next_valid.eq(in_flight[-2]),
            self.o.valid.eq(in_flight[-1]),
            self.busy.eq(mask_valid | in_flight.any()),
        ]
        return parent, column, row
