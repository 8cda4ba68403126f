# SPDX-License-Identifier: BSD-2-Clause
"""Cells of the coarse raster: superblocks, blocks and tiles are the same thing at three pitches."""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal, signed, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.arithmetic import Multiplier
from fixfunc.rtl.bits import at_most_one, lowest, named, number
from fixfunc.rtl.pipeline import delay
from fixfunc.spec import payloads

PLACES = 128  # of each queue and table: above the latency of what leads to it, and block RAM is no smaller
VALUE = signed(47)
X_STEP, Y_STEP = payloads.EDGE_STEP + 1, payloads.EDGE_STEP


def cell_layout(edge):
    """One cell of a triangle, or a control beat on its way.

    ``best`` is E at the corner of the cell where E is greatest: where it is negative, so is all of the cell.
    """
    position = 16 - edge.bit_length() + 1
    return StructLayout({
        "end": 1,  # nothing of the triangle follows
        "empty": 1,  # nothing to draw: only the end, or a control beat, travels here
        "index": range(PLACES),  # the triangle's place in the tables
        "x": position, "y": position,  # first tile
        "right": position, "down": position,  # tiles of the box beyond the first, to the right and below
        "best": ArrayLayout(VALUE, 3),
    })


def steps_layout(grid):
    """E's steps of the three edges from one cell to the next, less the pitch.

    A tile is twice as wide as high in pixels at 2x and 8x; c is scaled so that only the x step shows it.
    ``drop`` is what E loses over grid - 1 cells of one step, from the best corner to the opposite one.
    """
    return StructLayout({
        "x": ArrayLayout(signed(X_STEP), 3), "y": ArrayLayout(signed(Y_STEP), 3),
        "drop": ArrayLayout(unsigned(X_STEP + 1 + grid.bit_length() - 1), 3),
    })


def masked(cell, grid):
    """A cell and which of its children to visit, in zigzag: ``mask``; which rows of it hold just one; the first row."""
    return StructLayout({"cell": cell, "mask": grid * grid, "lone": grid, "at": row_layout(grid)})


def row_layout(grid):
    """One row of a mask: its children still to visit, and what comes after."""
    return StructLayout({
        "line": grid,  # children of this row
        "row": range(grid),  # which row it is
        "left": grid,  # rows to come
        "last_row": 1,  # none is
        "last_of_row": 1, "last": 1,  # no child but one is left of this row; and of the mask
    })


def take_row(m, o, rows, mask, lone):
    """Assignments that make ``o`` the first of ``rows``."""
    first, grid = named(m, lowest(rows), "first_row"), len(rows)
    line = reduce(or_, (Mux(first[n], mask.word_select(n, grid), 0) for n in range(grid)))
    only, final = ~(first & ~lone).any(), at_most_one(rows)
    return [o.line.eq(line), o.row.eq(number(first)), o.left.eq(rows & ~first),
            o.last_row.eq(final), o.last_of_row.eq(only), o.last.eq(only & final)]


class CellPicker(wiring.Component):
    """Pick the cells of a mask one by one, in zigzag.

    One cell per clock while :attr:`go`, the next mask without a pause; a cell comes out :attr:`latency` clocks
    after its pick and is never held up.

    Parameters
    ----------
    cell : StructLayout
        From :func:`cell_layout`.
    grid : int
        Cells along a side of the mask: 8, or 4.
    pitch : int
        log2 of a cell's share of the steps.
    size : int
        log2 of the tiles along a cell's side.

    Members
    -------
    i : In(stream.Signature(...))
        A cell and its children, as :func:`masked`.
    go : In(1)
        A child may be picked.
    picked : Out(1)
        One is.
    busy : Out(1)
        A mask is being picked from, or a child is on its way.
    index : Out(range(PLACES))
    steps : In(steps_layout(grid))
        Of the triangle at ``index`` two clocks before.
    soon : Out(1)
        :attr:`valid` in the next clock.
    valid, o : Out
        The child.
    """

    LOOK_UP = 2  # clocks from index to steps

    def __init__(self, cell, grid, pitch, size):
        self._cell, self._grid, self._pitch, self._size = cell, grid, pitch, size
        self._ways = [[Multiplier(bits, grid.bit_length()) for bits in (X_STEP, Y_STEP)] for _ in range(3)]
        super().__init__({
            "i": In(stream.Signature(masked(cell, grid))),
            "go": In(1), "picked": Out(1), "busy": Out(1), "index": Out(range(PLACES)), "steps": In(steps_layout(grid)),
            "soon": Out(1), "valid": Out(1), "o": Out(cell),
        })

    @property
    def latency(self):
        """Clocks from a pick to its child: place, look-up, multiples, their sum, value."""
        return 1 + self.LOOK_UP + self._ways[0][0].latency + 2

    def elaborate(self, platform):
        m = Module()
        picked, column, row = self._pick(m)
        m.d.comb += self.index.eq(picked.index)

        # The child's best corner: from the cell's best corner to its first child's, then to this one's.
        late_column, late_row = (delay(m, n, self.LOOK_UP, name) for n, name in ((column, "column"), (row, "row")))
        best = delay(m, picked.best, self.LOOK_UP, "best")
        for k, ways in enumerate(self._ways):
            first, way, value = (Signal(VALUE, name=f"{name}_{k}") for name in ("first", "way", "value"))
            for axis, product, place in zip("xy", ways, (late_column, late_row), strict=True):
                m.submodules[f"way_{axis}{k}"] = product
                m.d.comb += [product.a.eq(getattr(self.steps, axis)[k]), product.b.eq(place)]
            m.d.sync += [
                first.eq(best[k] - (self.steps.drop[k] << self._pitch)),
                way.eq(ways[0].o + ways[1].o),
                value.eq(delay(m, first, ways[0].latency, f"first_{k}") + (way << self._pitch)),
            ]
            m.d.comb += self.o.best[k].eq(value)

        # Its place follows along.
        child = Signal(self._cell)
        m.d.comb += child.eq(picked)
        for name, room, steps in (("x", "right", column), ("y", "down", row)):
            m.d.comb += child[name].eq(picked[name] + (steps << self._size))
            m.d.comb += child[room].eq(picked[room] - (steps << self._size))
        late = delay(m, child, self.latency - 1, "child")
        m.d.comb += [self.o[name].eq(late[name]) for name in ("end", "empty", "index", "x", "y", "right", "down")]
        return m

    def _pick(self, m):
        """One pick a clock: its cell, and in which column and row of it the child lies."""
        bits = self._grid.bit_length() - 1

        # One mask at a time, and of it one row: the next row, or mask, comes in with the last pick of this one.
        # That a pick is the last, of the row or of all, is found out a clock before: many registers wait for it.
        held, here, given = Signal(), Signal(self.i.payload.shape()), self.i.payload
        cell, at = here.cell, here.at
        m.d.comb += [self.picked.eq(held & self.go), self.i.ready.eq(~held | (self.go & at.last))]
        following = take_row(m, at, at.left, here.mask, here.lone)
        rest = named(m, at.line & ~lowest(at.line), "rest")
        with m.If(self.i.ready):
            m.d.sync += [held.eq(self.i.valid), here.eq(given)]
        with m.Elif(self.go & at.last_of_row):
            m.d.sync += following
        with m.Elif(self.go):
            only = at_most_one(rest)
            m.d.sync += [at.line.eq(rest), at.last_of_row.eq(only), at.last.eq(at.last_row & only)]

        # Where the pick lies; odd rows count their columns backwards.
        column, place, at_row, picked = Signal(bits), Signal(bits), Signal(bits), Signal(self._cell)
        m.d.comb += place.eq(number(named(m, lowest(at.line), "lowest")))
        m.d.sync += [at_row.eq(at.row), column.eq(place ^ Mux(at.row[0], (1 << bits) - 1, 0)), picked.eq(cell),
                     picked.end.eq(cell.end & at.last), picked.empty.eq(cell.empty | (at.line == 0))]
        under_way = Signal(self.latency)
        m.d.sync += under_way.eq(Cat(self.picked, under_way))
        m.d.comb += [self.soon.eq(under_way[-2]), self.valid.eq(under_way[-1]), self.busy.eq(held | under_way.any())]
        return picked, column, at_row


def zigzag(mask, grid):
    """A mask by rows, its odd rows reversed, so that the lowest bit set is the next one to visit."""
    rows = [[mask[j * grid + i] for i in range(grid)] for j in range(grid)]
    return Cat(Cat(row[::-1] if j % 2 else row) for j, row in enumerate(rows))
