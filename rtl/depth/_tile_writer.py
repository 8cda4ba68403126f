# SPDX-License-Identifier: BSD-2-Clause
"""Writes tiles and transfers of their table."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.axi import ADDRESS, TRANSFER
from fixfunc.rtl.depth._cache_moves import TILE
from fixfunc.rtl.depth._tile_sends import TileSends
from fixfunc.rtl.depth._tile_table import MODE
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import TileMode

WRITES = 16  # under way
SETTLING = StructLayout({"number": TILE_NUMBER, "old": MODE, "to": MODE, "sends": 1})  # of a tile, and whether memory is going to answer
UNDER_WAY = StructLayout({"table": 1, "posted": 1, "number": TILE_NUMBER})
LEFT = StructLayout({"tile": TILE, "to": MODE, "written": 1})


class TileWriter(wiring.Component):
    """Writes one tile after the other, a transfer a clock; the next begins before memory has answered.

    Parameters
    ----------
    surface : Surface
        Where tiles lie.

    Members
    -------
    base, count : In
        Of the target: address of its first tile, and how many it has.
    i : In(stream.Signature(...))
        Tiles that have left the chip, their modes in memory and from now on, and whether they were written.
    puts, put, keeps : In
        The values of those that were, coded: each comes before it is told of, or in the same clock; and stays, if a clock later
        it is to be kept. So many as :data:`~fixfunc.rtl.depth._tile_sends.PUTS` may wait to be told of, or to be taken.
    changes, changed, to, takes : Out, Out, Out, In
        As of :class:`~fixfunc.rtl.depth._tile_table.TileTable`: a tile has been coded.
    left : Out(1)
        A tile's mode is changed no more.
    stores, line, old, posts, stored : In, In, In, In, Out
        A transfer of the table is to be written, until it is there; with ``posts``, until it has been sent.
    frees, freed : Out
        A tile is in memory: it may be read.
    stops : In(1)
        Nothing is written any more.
    error : Out(1)
        A write failed.
    idle : Out(1)
        All that was written is there.
    awaddr, awlen, awvalid, awready, wdata, wlast, wvalid, wready, bresp, bvalid, bready
        As of :class:`fixfunc.rtl.axi.Axi`.
    """

    def __init__(self, surface):
        self._surface = surface
        super().__init__({
            "base": In(ADDRESS), "count": In(TILE_NUMBER),
            "i": In(stream.Signature(LEFT)),
            "puts": In(1), "put": In(surface.most * TRANSFER), "keeps": In(1),
            "changes": Out(1), "changed": Out(TILE_NUMBER), "to": Out(MODE), "takes": In(1), "left": Out(1),
            "stores": In(1), "line": In(TILE_NUMBER), "old": In(TRANSFER), "posts": In(1), "stored": Out(1),
            "frees": Out(1), "freed": Out(TILE_NUMBER),
            "stops": In(1), "error": Out(1), "idle": Out(1),
            "awaddr": Out(ADDRESS), "awlen": Out(8), "awvalid": Out(1), "awready": In(1),
            "wdata": Out(TRANSFER), "wlast": Out(1), "wvalid": Out(1), "wready": In(1), "bresp": In(2), "bvalid": In(1), "bready": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        surface, given = self._surface, self.i.payload
        m.submodules.settling = settling = fifo.SyncFIFOBuffered(width=SETTLING.size, depth=WRITES)
        m.submodules.under_way = under_way = fifo.SyncFIFOBuffered(width=UNDER_WAY.size, depth=WRITES)
        m.submodules.sends = sends = TileSends(surface)
        for name, member in sends.signature.members.items():
            if name in self.signature.members:
                ours, theirs = getattr(self, name), getattr(sends, name)
                m.d.comb += ours.eq(theirs) if member.flow is Out else theirs.eq(ours)

        # The next begins with the last transfer of the one before: a tile, or else a transfer of the table.
        room, waits, tile, table, size = Signal(), Signal(), Signal(), Signal(), Array(surface.transfers(mode) for mode in TileMode)[given.to]
        writes, goes = given.written & ~self.stops, sends.free & room
        m.d.sync += room.eq((settling.level < WRITES - 1) & (under_way.level < WRITES - 1))
        m.d.comb += [tile.eq(self.i.valid & goes), table.eq(self.stores & ~waits & ~self.stops & goes & ~self.i.valid), self.i.ready.eq(tile)]
        m.d.comb += [sends.begins.eq((tile & writes & (size != 0)) | table), sends.table.eq(table), sends.size.eq(Mux(table, 1, size)),
                     sends.number.eq(Mux(table, self.line, given.tile.number)), sends.takes.eq(tile & given.written)]

        # Its mode changes before memory may answer; what was not written is free at once.
        into, tells = SETTLING(settling.w_data), SETTLING(settling.r_data)
        m.d.comb += [settling.w_en.eq(tile), into.number.eq(given.tile.number), into.old.eq(given.tile.mode),
                     into.to.eq(Mux(writes, given.to, given.tile.mode)), into.sends.eq(writes & (size != 0))]
        m.d.comb += [self.changes.eq(settling.r_rdy & (tells.to != tells.old) & under_way.w_rdy), self.changed.eq(tells.number), self.to.eq(tells.to),
                     self.left.eq(settling.r_rdy & under_way.w_rdy & (self.takes | (tells.to == tells.old))), settling.r_en.eq(self.left)]
        adds, head = UNDER_WAY(under_way.w_data), UNDER_WAY(under_way.r_data)
        m.d.comb += [under_way.w_en.eq(table | (self.left & tells.sends)), adds.table.eq(table), adds.posted.eq(self.posts),
                     adds.number.eq(tells.number)]

        answered, unsent = self.bvalid & self.bready, self.left & ~tells.sends
        m.d.comb += [self.bready.eq(under_way.r_rdy & ~unsent), under_way.r_en.eq(answered), self.error.eq(answered & (self.bresp != 0)),
                     self.frees.eq(unsent | (answered & ~head.table)), self.freed.eq(Mux(unsent, tells.number, head.number)),
                     self.idle.eq(~table & (settling.level == 0) & (under_way.level == 0) & ~self.i.valid)]
        is_there = answered & head.table & ~head.posted
        m.d.comb += self.stored.eq(is_there | (table & self.posts) | (self.stores & self.stops & ~waits))
        m.d.sync += waits.eq((waits | (table & ~self.posts)) & ~is_there)
        return m
