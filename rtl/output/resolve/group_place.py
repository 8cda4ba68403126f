# SPDX-License-Identifier: BSD-2-Clause
"""Group place: where a tile lies among those that become one tile."""

from amaranth.hdl import Array, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.samples import SHAPES


class GroupPlace(wiring.Component):
    """Count the tiles of groups: row by row within a group.

    Members
    -------
    samples : In(2)
        log2 of the samples of a pixel; it holds while a group is under way.
    advance : In(1)
        The next tile comes.
    columns, rows : Out
        log2 of a group's columns and rows.
    x, y : Out
        Column and row of the tile in its group.
    last : Out(1)
        It is the last one of its group.
    """

    def __init__(self) -> None:
        columns, rows = (max(shape[axis] for shape in SHAPES) for axis in range(2))
        super().__init__(
            {
                "samples": In(2),
                "advance": In(1),
                "columns": Out(range(columns + 1)),
                "rows": Out(range(rows + 1)),
                "x": Out(columns),
                "y": Out(rows),
                "last": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        last_x = named(m, self.x == (1 << self.columns) - 1, "last_x")
        last_y = named(m, self.y == (1 << self.rows) - 1, "last_y")
        m.d.comb += [
            self.columns.eq(Array(shape[0] for shape in SHAPES)[self.samples]),
            self.rows.eq(Array(shape[1] for shape in SHAPES)[self.samples]),
            self.last.eq(last_x & last_y),
        ]
        with m.If(self.advance):
            m.d.sync += self.x.eq(Mux(last_x, 0, self.x + 1))
            with m.If(last_x):
                m.d.sync += self.y.eq(Mux(last_y, 0, self.y + 1))
        return m
