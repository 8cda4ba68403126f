"""Cells of the coarse raster: superblocks, blocks and tiles are the same thing at three pitches."""

from functools import reduce
from operator import or_

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from rtl.payload import layout
from rtl.pipeline import delay
from spec import payloads

VALUE = signed(47)
LATER = tuple(f for f in payloads.SETUP if f.name.rstrip("012") != "c")  # what the stages behind still need
LATER_BITS = payloads.width(LATER)


def cell_layout(edge, grid):
    """One cell of a triangle, or a control beat on its way.

    ``best`` is E at the corner of the cell where E is greatest, never negative once the cell has passed a test;
    ``drop`` is what E loses over grid - 1 cells of one step, from that corner to the opposite one.
    """
    position = 16 - edge.bit_length() + 1
    return StructLayout({
        "end": 1,  # nothing of the triangle follows
        "empty": 1,  # nothing to draw: only the end, or a control beat, travels here
        "x": position, "y": position,  # first tile
        "right": position, "down": position,  # tiles of the box beyond the first, to the right and below
        "best": ArrayLayout(VALUE, 3),
        "drop": ArrayLayout(unsigned(payloads.EDGE_STEP + 2 + grid.bit_length() - 1), 3),
        "rest": LATER_BITS,  # of the triangle's SETUP beat, or the control beat
    })


def masked(cell, grid):
    """A cell and which of its children to visit, in zigzag: ``mask``; ``rows`` says which rows of it hold any."""
    return StructLayout({"cell": cell, "mask": grid * grid, "rows": grid})


def setup_of(cell):
    """The fields of SETUP that travel with a cell."""
    return layout(LATER)(cell.rest)


def steps_of(cell):
    """(x, y) steps of the three edges from one cell to the next, less the pitch.

    A tile is twice as wide as high in pixels at 2x and 8x; c is scaled so that only the x step shows it.
    """
    s = setup_of(cell)
    return [(Mux(s.samples[0], s[f"a{k}"] << 1, s[f"a{k}"]), s[f"b{k}"]) for k in range(3)]


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
    valid, o : Out
        The child.
    """

    def __init__(self, cell, grid, pitch, size):
        self._cell, self._grid, self._pitch, self._size = cell, grid, pitch, size
        super().__init__({
            "i": In(stream.Signature(masked(cell, grid))),
            "go": In(1), "picked": Out(1), "busy": Out(1), "valid": Out(1), "o": Out(cell),
        })

    @property
    def latency(self):
        """Clocks from a pick to its child: place, multiples, their sum, value."""
        return 4

    def elaborate(self, platform):
        m = Module()
        bits = self._grid.bit_length() - 1

        # One mask at a time, and of it one row: the next row, or mask, comes in with the last pick of this one.
        held, cell = Signal(), Signal(self._cell)
        lines, line = Signal.like(self.i.payload.mask), Signal(self._grid)
        left, row = Signal(self._grid), Signal(bits)  # rows to come, and this one
        rest = line & (line - 1)
        done = (rest == 0) & (left == 0)
        m.d.comb += [self.picked.eq(held & self.go), self.i.ready.eq(~held | (self.go & done))]
        given = self.i.payload
        with m.If(self.i.ready):
            m.d.sync += [held.eq(self.i.valid), cell.eq(given.cell), lines.eq(given.mask)]
            self._take_row(m, given.rows, given.mask, left, line, row)
        with m.Elif(self.go):
            m.d.sync += line.eq(rest)
            with m.If(rest == 0):
                self._take_row(m, left, lines, left, line, row)

        # Where the pick lies; odd rows count their columns backwards.
        column, place, at_row = Signal(bits), Signal(bits), Signal(bits)
        m.d.comb += place.eq(number(line & ~rest))
        m.d.sync += [at_row.eq(row), column.eq(place ^ row[0].replicate(bits))]
        picked = Signal(self._cell)
        m.d.sync += [picked.eq(cell), picked.end.eq(cell.end & done), picked.empty.eq(cell.empty | (line == 0))]

        # The child's best corner: from the cell's best corner to its first child's, then to this one's.
        for k, (x_step, y_step) in enumerate(steps_of(picked)):
            first = Signal(VALUE, name=f"first_{k}")
            x_way, y_way, way, value = (Signal(VALUE, name=f"{name}_{k}") for name in ("x_way", "y_way", "way", "value"))
            m.d.sync += [
                first.eq(picked.best[k] - (picked.drop[k] << self._pitch)),
                x_way.eq(times(x_step, column)), y_way.eq(times(y_step, at_row)),  # clock 2
                way.eq(x_way + y_way),  # clock 3
                value.eq(delay(m, first, 1, f"first_late_{k}") + (way << self._pitch)),  # clock 4
            ]
            m.d.comb += self.o.best[k].eq(value)

        # Its place follows along.
        child = Signal(self._cell)
        m.d.comb += child.eq(picked)
        for name, room, steps in (("x", "right", column), ("y", "down", at_row)):
            m.d.comb += child[name].eq(picked[name] + (steps << self._size))
            m.d.comb += child[room].eq(picked[room] - (steps << self._size))
        late = delay(m, child, self.latency - 1, "child")
        m.d.comb += [self.o[name].eq(late[name]) for name in ("end", "empty", "x", "y", "right", "down", "drop", "rest")]
        under_way = Signal(self.latency)
        m.d.sync += under_way.eq(Cat(self.picked, under_way))
        m.d.comb += [self.valid.eq(under_way[-1]), self.busy.eq(held | under_way.any())]
        return m

    def _take_row(self, m, rows, lines, left, line, row):
        """Go on with the first of ``rows``."""
        following = rows & (rows - 1)
        first = rows & ~following
        m.d.sync += [left.eq(following), row.eq(number(first))]
        m.d.sync += line.eq(reduce(or_, (lines.word_select(n, self._grid) & first[n].replicate(self._grid) for n in range(self._grid))))


def number(one_hot):
    """Which bit is set."""
    one_hot = Value.cast(one_hot)
    return Cat(Cat(one_hot[n] for n in range(len(one_hot)) if n >> b & 1).any() for b in range((len(one_hot) - 1).bit_length()))


def times(step, factor):
    """step * factor: a choice of the multiples, each formed by one adder at most."""
    choices = [Const(0, 1), step, step << 1, (step << 1) + step, step << 2, (step << 2) + step, (step << 2) + (step << 1), (step << 3) - step]
    return Array(choices[:1 << len(factor)])[factor]


def zigzag(mask, grid):
    """A mask by rows, its odd rows reversed, so that the lowest bit set is the next one to visit."""
    rows = [[mask[j * grid + i] for i in range(grid)] for j in range(grid)]
    return Cat(Cat(row[::-1] if j % 2 else row) for j, row in enumerate(rows))
