# SPDX-License-Identifier: BSD-2-Clause
"""Small boxes: a grid of pixels laid over all of their tiles, for the coarse test to look at."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.pipeline import delay
from fixfunc.rtl.raster._cells import steps_layout
from fixfunc.rtl.samples import SHAPES

STEP = 13  # bits of a step that counts as small: a triangle of 16 pixels has no larger one
NEAR = STEP + 7  # bits of E at the box: no place in its tiles is 42 lanes of such a step from an edge, across or down


def small_layout(edge):
    """The grid laid over a small box.

    A place of the grid is one lane wide, or 2^level: where pixels have several, or the box is larger than the grid. Then it
    begins with the first tile, else with the box.
    """
    return StructLayout({
        "on": 1,  # the box is small
        "level": StructLayout({"x": 1, "y": 2}),
        "split": StructLayout({"x": range(edge), "y": range(edge)}),  # columns, and rows, within the first tile: 0 if all are
        "corner": ArrayLayout(signed(NEAR), 3),  # E at the best corner of the first place, in steps of a lane
    })


class SmallBox(wiring.Component):
    """Lay a grid of pixels, or of two by two, over a box of two by two tiles at most.

    The best corner of a tile often lies outside the box, and those of two edges far apart: every sixth tile that the
    coarse test lets through of small triangles covers nothing, and costs the fine raster a clock. The same test at a
    pitch of pixels finds nearly all of them. One box a clock, :attr:`LATENCY` clocks later.

    Parameters
    ----------
    cell : StructLayout
        From :func:`~fixfunc.rtl.raster._cells.cell_layout`.
    edge : int
        Samples along a tile's edge.
    grid : int
        Children of a cell along a side. Where there are fewer than lanes, no box counts as small.

    Members
    -------
    i : In(cell)
        The box in tiles, and E at the best corner of the first.
    samples : In(2)
        log2 of those of a pixel.
    x0, y0, x1, y1 : In(range(edge))
        Lanes, in their tiles, where the box begins and ends.
    steps : In(steps_layout(grid))
        Of its triangle.
    o : Out(small_layout(edge))
    """

    LATENCY = 3

    def __init__(self, cell, edge, grid):
        self._edge, self._same = edge, grid == edge
        super().__init__({"i": In(cell), "samples": In(2), **{f"{axis}{n}": In(range(edge)) for axis in "xy" for n in range(2)},
                          "steps": In(steps_layout(grid)), "o": Out(small_layout(edge))})

    def elaborate(self, platform):
        m = Module()
        steps, on, out = self.steps, Signal(), Signal(self.o.shape())
        fits = [step == step[:STEP].as_signed() for axis in "xy" for step in steps[axis]]
        m.d.comb += on.eq(Const(self._same, 1) & ~self.i.empty & (self.i.right < 2) & (self.i.down < 2) & Cat(fits).all())
        m.d.comb += out.on.eq(on)
        losses = [[], [], []]
        for n, (axis, room) in enumerate((("x", "right"), ("y", "down"))):
            first, last = getattr(self, f"{axis}0"), getattr(self, f"{axis}1")
            larger, level, origin = (self.i[room] == 1) & (last >= first), Signal(2, name=f"level_{axis}"), Signal.like(first, name=f"origin_{axis}")
            several = [max(1, shape[n]) for shape in SHAPES[1:]]
            m.d.comb += [level.eq(Array([larger, *several])[self.samples]), origin.eq(Mux(level == 0, first, 0)),
                         out.level[axis].eq(Mux(on, level, 0)), out.split[axis].eq(Mux(level == 0, -first, Const(self._edge) >> level))]
            most = Array([self._edge - (1 << k) for k in range(3)])[level]
            for k, step in enumerate(steps[axis]):
                losses[k].append(self._loss(m, f"{axis}{k}", step[:STEP].as_signed(), origin, ~origin & most))
        m.d.comb += [self.o[name].eq(delay(m, out[name], self.LATENCY, name)) for name in ("on", "level", "split")]
        for k, (across, down) in enumerate(losses):
            near = Signal(signed(NEAR), name=f"near_{k}")
            m.d.comb += near.eq(self.i.best[k] >> 4)
            m.d.sync += self.o.corner[k].eq(delay(m, near, 2, f"near_{k}") - across - down)
        return m

    def _loss(self, m, name, step, before, after):
        """What E loses from the tile's best lane to that of the first place, ``before`` or ``after`` it, in steps of a lane, two clocks later."""
        size, triple, lanes, loss = (Signal(bits, name=f"{kind}_{name}") for kind, bits in
                                     (("size", STEP), ("triple", STEP + 2), ("lanes", len(before)), ("loss", STEP + 3)))
        m.d.sync += [kept.eq(Mux(step < 0, -value, value)) for value, kept in ((step, size), ((step << 1) + step, triple))]
        m.d.sync += lanes.eq(Mux(step < 0, before, after))
        m.d.sync += loss.eq(Array((0, size, size << 1, triple))[lanes[:2]] + Mux(lanes[2:].any(), size << 2, 0))
        return loss


def first_ones(count, bits):
    """The first ``count`` of ``bits`` set; all if it is 0."""
    return Cat(*((count == 0) | (count > n) for n in range(bits - 1)), count == 0)


def tiles_of(m, inside, small, grid):
    """Which of the two by two tiles have a place of the grid inside: first row, then second; a clock later. ``small`` as of ``inside``.

    With four lanes a place, the grid's lower half lies beyond them.
    """
    columns, first = first_ones(small.split.x, grid), first_ones(small.split.y, grid)
    rows = [Signal(grid, name=name) for name in ("upper", "lower")]
    parts = [Signal(grid, name=name) for name in ("left", "right")]
    for part, mine in zip(parts, (columns, ~columns), strict=True):
        m.d.sync += part.eq(Cat((inside.word_select(n, grid) & mine).any() for n in range(grid)))
    m.d.sync += [rows[0].eq(first), rows[1].eq(~first & ~(small.level.y[1].replicate(grid // 2) << grid // 2))]
    return [(part & mine).any() for mine in rows for part in parts]
