# SPDX-License-Identifier: BSD-2-Clause
"""Tile number: the place of a tile in its target, row by row."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.memory.surface.rectangle import last_tile
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads


class TileNumber(wiring.Component):
    """Number a target's tiles row by row. One tile a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    halves : int
        How often rows and columns are halved before they are counted.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
        The draw state, constant while tiles are in flight.
    x, y : In
        A tile.
    number : Out(28)
        Number of the tile, :attr:`LATENCY` clocks later.
    outside : Out(1)
        The tile lies off the target, :attr:`LATENCY` clocks later.
    """

    LATENCY = 3  # columns, product, sum

    def __init__(self, edge: int, halves: int = 0) -> None:
        self._edge = edge
        self._halves = halves
        position = 16 - edge.bit_length() + 1
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "x": In(position),
                "y": In(position),
                "number": Out(28),
                "outside": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.row = row = Multiplier(15, 15)
        columns = Signal(14)
        outside = Signal()
        last = last_tile(m, self.state, self._edge)
        m.d.sync += [
            columns.eq((last[0] >> self._halves) + 1),
            outside.eq((self.x > last[0]) | (self.y > last[1])),
        ]
        m.d.comb += [
            row.a.eq(self.y >> self._halves),
            row.b.eq(columns),
            self.outside.eq(delay(m, outside, row.latency, "outside")),
        ]
        m.d.sync += self.number.eq(row.o + delay(m, self.x >> self._halves, row.latency, "x"))
        return m
