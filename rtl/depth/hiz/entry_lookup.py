# SPDX-License-Identifier: BSD-2-Clause
"""Entry lookup: where the bounds of a tile are kept."""

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.bounds_ram import BANKS
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.surface.tile_number import TileNumber
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads


class EntryLookup(wiring.Component):
    """Find the entry of a tile: its bank, by the lowest bits of x and y, and its address there.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    entries : int
        Tiles, in all banks.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
        It holds while tiles are in flight.
    tile_valid, x, y : In
        A tile. All outputs are of it, :attr:`LATENCY` clocks later.
    has_entry : Out(1)
        There is memory for it.
    outside : Out(1)
        It lies off the target.
    entry_valid : Out(1)
        It is there, has an entry, and lies on the target.
    entry_x, entry_y, bank, address : Out
    """

    LATENCY = TileNumber.LATENCY + 1

    def __init__(self, edge: int, entries: int) -> None:
        self._edge = edge
        self._rows = entries // BANKS
        position = 16 - edge.bit_length() + 1
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "tile_valid": In(1),
                "x": In(position),
                "y": In(position),
                "has_entry": Out(1),
                "outside": Out(1),
                "entry_valid": Out(1),
                "entry_x": Out(position),
                "entry_y": Out(position),
                "bank": Out(range(BANKS)),
                "address": Out(range(self._rows)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.number = number = TileNumber(self._edge, halves=1)
        timeline = Timeline(m)
        timeline.enter(0, valid=self.tile_valid, x=self.x, y=self.y)
        now = timeline[self.LATENCY]
        m.d.comb += [
            number.state.eq(self.state),
            number.x.eq(self.x),
            number.y.eq(self.y),
            self.entry_valid.eq(now.valid & self.has_entry & ~self.outside),
            self.entry_x.eq(now.x),
            self.entry_y.eq(now.y),
            self.bank.eq(Cat(now.x[0], now.y[0])),
        ]
        m.d.sync += [
            self.has_entry.eq(number.number < self._rows),
            self.address.eq(number.number),
            self.outside.eq(number.outside),
        ]
        return m
