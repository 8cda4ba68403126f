# SPDX-License-Identifier: BSD-2-Clause
"""Small boxes: a grid of pixels over all of their tiles, which the coarse test tests instead."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.raster.triangle_context import X_STEP_BITS, Y_STEP_BITS
from fixfunc.rtl.samples import SHAPES

# Bits of a step that counts as small. No triangle that lies within 16 pixels has a larger step.
STEP_BITS = 13
# Bits of E at the reject corner of the grid's first place. No place in the tiles of a small box is
# farther than 42 lanes of a small step from an edge, across or down.
CORNER_BITS = STEP_BITS + 7


def pixel_grid_layout(edge):
    """The grid of pixels over a small box.

    A place of the grid is 2^level lanes wide and high: one lane, or more where pixels have several
    lanes or the box is larger than the grid. At level 0 the grid begins with the box, else with the
    first tile. ``split`` is the number of columns and rows of places within the first tile, or 0 if
    all of them lie there. ``corner`` is E at the reject corner of the first place, in steps of a
    lane.
    """
    return StructLayout(
        {
            "valid": 1,  # the box is small
            "level": StructLayout({"x": 1, "y": 2}),
            "split": StructLayout({"x": range(edge), "y": range(edge)}),
            "corner": ArrayLayout(signed(CORNER_BITS), 3),
        }
    )


class SmallBox(wiring.Component):
    """Lay a grid of pixels, or of two by two, over a box of two by two tiles at most.

    The reject corner of a tile often lies outside the box, and those of two edges far apart. Every
    sixth tile that the coarse test passes of small triangles therefore covers nothing, and costs
    the fine raster a clock. The same test at a pitch of pixels finds nearly all of these tiles.

    One box a clock, :attr:`LATENCY` clocks later.

    Parameters
    ----------
    cell : StructLayout
        From :func:`~fixfunc.rtl.raster.cells.cell_layout`.
    edge : int
        Samples along a tile's edge.
    grid : int
        Children of a cell along a side. Where there are fewer than lanes, no box counts as small.

    Members
    -------
    i : In(cell)
        The first tile of the box.
    samples : In(2)
        log2 of the samples of a pixel.
    x0, y0, x1, y1 : In(range(edge))
        Lanes, in their tiles, where the box begins and ends.
    x_step, y_step : In(ArrayLayout(signed(...), 3))
        Steps of the triangle's edges, as in
        :func:`~fixfunc.rtl.raster.triangle_context.steps_layout`.
    o : Out(pixel_grid_layout(edge))
        The grid; its ``level`` is 0 if it is not valid.
    """

    LATENCY = 3

    def __init__(self, cell, edge, grid):
        self._edge = edge
        self._lane_per_child = grid == edge
        super().__init__(
            {
                "i": In(cell),
                "samples": In(2),
                **{f"{axis}{n}": In(range(edge)) for axis in "xy" for n in range(2)},
                "x_step": In(ArrayLayout(signed(X_STEP_BITS), 3)),
                "y_step": In(ArrayLayout(signed(Y_STEP_BITS), 3)),
                "o": Out(pixel_grid_layout(edge)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        steps = {"x": self.x_step, "y": self.y_step}
        grid = Signal(self.o.shape())
        fits = [step == step[:STEP_BITS].as_signed() for axis in "xy" for step in steps[axis]]
        m.d.comb += grid.valid.eq(
            Const(self._lane_per_child, 1)
            & ~self.i.empty
            & (self.i.columns_right < 2)
            & (self.i.rows_below < 2)
            & Cat(fits).all()
        )
        corner_losses = [[], [], []]
        for n, (axis, beyond) in enumerate((("x", "columns_right"), ("y", "rows_below"))):
            first = getattr(self, f"{axis}0")
            last = getattr(self, f"{axis}1")
            larger = (self.i[beyond] == 1) & (last >= first)  # the box is larger than a tile
            level = Signal(2, name=f"level_{axis}")
            origin = Signal.like(first, name=f"origin_{axis}")
            lanes_log2 = [max(1, shape[n]) for shape in SHAPES[1:]]
            m.d.comb += [
                level.eq(Array([larger, *lanes_log2])[self.samples]),
                origin.eq(Mux(level == 0, first, 0)),
                grid.level[axis].eq(Mux(grid.valid, level, 0)),
                grid.split[axis].eq(Mux(level == 0, -first, Const(self._edge) >> level)),
            ]
            last_lane = Array([self._edge - (1 << k) for k in range(3)])[level]
            for k, step in enumerate(steps[axis]):
                corner_losses[k].append(
                    self._corner_loss(
                        m, f"{axis}{k}", step[:STEP_BITS].as_signed(), origin, ~origin & last_lane
                    )
                )
        t.enter(0, valid=grid.valid, level=grid.level, split=grid.split)
        m.d.comb += [
            self.o.valid.eq(t[self.LATENCY].valid),
            self.o.level.eq(t[self.LATENCY].level),
            self.o.split.eq(t[self.LATENCY].split),
        ]

        # E in steps of a lane: of 1/16 pixel, less four bits.
        for k, (x_loss, y_loss) in enumerate(corner_losses):
            corner = Signal(signed(CORNER_BITS), name=f"corner_{k}")
            m.d.comb += corner.eq(self.i.corner[k] >> 4)
            t.enter(0, **{f"corner_{k}": corner})
            m.d.sync += self.o.corner[k].eq(t.value(f"corner_{k}", 2) - x_loss - y_loss)
        return m

    def _corner_loss(self, m, name, step, lanes_before, lanes_behind):
        """What E loses from the tile's reject corner to that of the first place, two clocks later.

        Of an edge that gains with the axis the tile's corner lies behind the place's, else before
        it; both distances are in lanes.
        """
        size = Signal(STEP_BITS, name=f"size_{name}")
        triple = Signal(STEP_BITS + 1, name=f"triple_{name}")
        lanes = Signal(len(lanes_before), name=f"lanes_{name}")
        loss = Signal(STEP_BITS + 2, name=f"loss_{name}")
        tripled = (step << 1) + step
        m.d.sync += [
            size.eq(Mux(step < 0, -step, step)),
            triple.eq(Mux(step < 0, -tripled, tripled)),
            lanes.eq(Mux(step < 0, lanes_before, lanes_behind)),
            loss.eq(
                Array((0, size, size << 1, triple))[lanes[:2]] + Mux(lanes[2:].any(), size << 2, 0)
            ),
        ]
        return loss


def thermometer(count, bits):
    """The lowest ``count`` of ``bits`` set; all of them if ``count`` is 0."""
    return Cat(*((count == 0) | (count > n) for n in range(bits - 1)), count == 0)


def touched_tiles(m, inside, pixel_grid, edge):
    """Which of two by two tiles have a place of the grid inside, a clock later.

    ``inside`` has a bit for each place, row by row, in the clock of ``pixel_grid``. With four lanes
    a place, the lower half of the grid lies beyond the tiles. Returns the first row, then the
    second.
    """
    left_columns = thermometer(pixel_grid.split.x, edge)
    upper_half = thermometer(pixel_grid.split.y, edge)
    beyond = pixel_grid.level.y[1].replicate(edge // 2) << edge // 2
    rows_of_columns = []
    for name, columns in (("left_columns", left_columns), ("right", ~left_columns)):
        rows = Signal(edge, name=f"{name}_rows")
        m.d.sync += rows.eq(Cat((inside.word_select(n, edge) & columns).any() for n in range(edge)))
        rows_of_columns.append(rows)
    upper_rows = Signal(edge)
    lower_rows = Signal(edge)
    m.d.sync += [
        upper_rows.eq(upper_half),
        lower_rows.eq(~upper_half & ~beyond),
    ]
    return [(rows & part).any() for part in (upper_rows, lower_rows) for rows in rows_of_columns]
