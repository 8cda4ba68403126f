"""Small triangles: which of the few tiles of their box they may cover."""

from functools import reduce
from operator import and_, or_

from amaranth.hdl import Array, Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl.pipeline import delay
from rtl.raster._cells import steps_layout

STEP = 13  # bits of a step that counts as small: a triangle of 16 pixels has no larger one
NEAR = STEP + 7  # bits of E at the box: no place in its tiles is 42 lanes of such a step from an edge, across or down


class SmallBox(wiring.Component):
    """Test the tiles of a box of two by two tiles at most, each cut to the box and, with a pixel a lane, into quarters.

    The best corner of a tile often lies outside the box, and those of two edges far apart. Every sixth tile that the
    coarse test lets through of small triangles covers nothing, and costs the fine raster a clock; here most of them
    are found. One box a clock, :attr:`LATENCY` clocks later.

    Parameters
    ----------
    cell : StructLayout
        From :func:`~rtl.raster._cells.cell_layout`.
    edge : int
        Samples along a tile's edge.
    grid : int
        Children of a cell along a side.

    Members
    -------
    i : In(cell)
        Blocks; larger cells belong to triangles that are not small.
    steps : In(steps_layout(grid))
        Of its triangle; a clock later.
    misses : Out(4)
        Tiles that some edge rejects, of the first row, of the second. Those beyond the box do not count.
    """

    LATENCY = 7

    def __init__(self, cell, edge, grid):
        self._edge = edge
        super().__init__({"i": In(cell), "steps": In(steps_layout(grid)), "misses": Out(4)})

    def elaborate(self, platform):
        m = Module()
        log2, steps, small, within = (self._edge - 1).bit_length(), self.steps, Signal(6), Signal()
        lanes = {axis: self._halves(m, axis, self.i[room]) for axis, room in (("x", "right"), ("y", "down"))}
        rejected, signs = [], Signal(48)
        for k in range(3):
            # E at the first tile's best corner, in steps of a lane.
            best, corner = (Signal(signed(NEAR), name=f"{name}_{k}") for name in ("best", "corner"))
            m.d.sync += [best.eq(self.i.best[k] >> 4), corner.eq(best - (steps.drop[k] << log2))]
            columns, rows = (self._ways(m, f"{axis}{k}", steps[axis][k], lanes[axis]) for axis in "xy")
            corner = delay(m, corner, 2, f"corner_{k}")
            for j, row in enumerate(rows):
                start = Signal(signed(NEAR), name=f"start_{k}_{j}")
                m.d.sync += start.eq(corner + row)
                rejected += [(start + delay(m, column, 1, f"column_{k}_{j}_{i}"))[NEAR - 1] for i, column in enumerate(columns)]
        m.d.sync += [signs.eq(Cat(rejected)), within.eq((self.i.right < 2) & (self.i.down < 2)),
                     small.eq(Cat(step == step[:STEP].as_signed() for axis in "xy" for step in steps[axis]))]
        counts = delay(m, delay(m, within, 1, "within") & small.all(), 4, "counts")
        quarters = [reduce(or_, (signs[16 * k + n] for k in range(3))) for n in range(16)]
        tiles = [reduce(and_, (quarters[4 * (2 * j + b) + 2 * i + a] for b in range(2) for a in range(2))) for j in range(2) for i in range(2)]
        m.d.sync += self.misses.eq(Cat(tiles) & counts.replicate(4))
        return m

    def _halves(self, m, axis, room):
        """First and last lane in the box of each half of the first and the second column, or row, a clock later."""
        cuts, most, out = self.i.cuts[axis], self._edge - 1, []
        for n, (low, high) in enumerate(((cuts.first, Mux(room == 0, most - cuts.last, most)), (0, most - cuts.last))):
            middle, whole = (low + high) >> 1, ~self.i.cuts.pixels
            for half, ends in enumerate(((low, Mux(whole, high, middle)), (Mux(whole, low, middle + 1), high))):
                held = [Signal(range(self._edge), name=f"{axis}_{n}_{half}_{end}") for end in ("first", "last")]
                m.d.sync += [lane.eq(end) for lane, end in zip(held, ends, strict=True)]
                out.append(held)
        return out

    def _ways(self, m, name, step, ranges):
        """What E changes by to the best lane of each range, in steps of a lane, three clocks after the step."""
        size, triple = Signal(STEP, name=f"size_{name}"), Signal(STEP + 2, name=f"triple_{name}")
        step, late = step[:STEP].as_signed(), delay(m, step[:STEP].as_signed(), 2, name)
        m.d.sync += [kept.eq(Mux(step < 0, -value, value)) for value, kept in ((step, size), ((step << 1) + step, triple))]
        out = []
        for n, (first, last) in enumerate(ranges):
            lanes, low, high, way = (Signal(bits, name=f"{kind}_{name}_{n}") for kind, bits in
                                     (("lanes", len(first)), ("low", STEP + 2), ("high", STEP + 2), ("way", signed(STEP + 4))))
            m.d.sync += lanes.eq(Mux(step < 0, first, ~last))
            m.d.sync += [low.eq(Array((0, size, size << 1, triple))[lanes[:2]]), high.eq(Mux(lanes[2:].any(), size << 2, 0)),
                         way.eq((late << len(first) if n > 1 else 0) - low - high)]
            out.append(way)
        return out
