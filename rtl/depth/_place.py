# SPDX-License-Identifier: BSD-2-Clause
"""Where tiles are kept."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.arithmetic import Multiplier
from fixfunc.rtl.depth._rectangle import last_tile
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import delay
from fixfunc.spec import payloads


class TilePlace(wiring.Component):
    """Counts a target's tiles row by row, one tile a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    halves : int
        How often rows and columns are halved before that.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
        It holds while tiles are under way.
    x, y : In
        A tile.
    place, outside : Out
        Its number, and whether it lies off the target, :attr:`LATENCY` clocks later.
    """

    LATENCY = 3  # two of the product

    def __init__(self, edge, halves=0):
        self._edge, self._halves = edge, halves
        position = 16 - edge.bit_length() + 1
        super().__init__({"state": In(layout(payloads.DRAW_STATE)), "x": In(position), "y": In(position), "place": Out(28), "outside": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.row = row = Multiplier(15, 15)
        columns, outside, last = Signal(14), Signal(), last_tile(m, self.state, self._edge)
        m.d.sync += [columns.eq((last[0] >> self._halves) + 1), outside.eq((self.x > last[0]) | (self.y > last[1]))]
        m.d.comb += [row.a.eq(self.y >> self._halves), row.b.eq(columns), self.outside.eq(delay(m, outside, row.latency, "outside"))]
        m.d.sync += self.place.eq(row.o + delay(m, self.x >> self._halves, row.latency, "x"))
        return m
