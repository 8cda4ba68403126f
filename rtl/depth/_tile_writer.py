"""Writes tiles and transfers of their table."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from rtl.axi import ADDRESS, TRANSFER
from rtl.payload import layout
from spec import payloads
from spec.payloads import TILE_NUMBER
from spec.state import TileMode

WRITES = 16  # under way


class TileWriter(wiring.Component):
    """Writes one tile after the other; the next begins before the memory has answered.

    Parameters
    ----------
    surface : Surface
        Where tiles lie.

    Members
    -------
    base, count : In
        Of the target: address of its first tile, and how many it has.
    i : In(stream.Signature(...))
        Tiles that have left the chip, and whether they were written.
    coded : In(stream.Signature(layout(payloads.coded(surface.edge, surface.bits))))
        Those that were.
    changes, changed, to, takes : Out, Out, Out, In
        As of :class:`~rtl.depth._tile_table.TileTable`: a tile has been coded.
    left : Out(1)
        A tile needs its entry in the table no more.
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
        As of :class:`rtl.axi.Axi`.
    """

    def __init__(self, surface):
        self._surface = surface
        super().__init__({
            "base": In(ADDRESS), "count": In(TILE_NUMBER),
            "i": In(stream.Signature(StructLayout({"number": TILE_NUMBER, "written": 1}))),
            "coded": In(stream.Signature(layout(payloads.coded(surface.edge, surface.bits)))),
            "changes": Out(1), "changed": Out(TILE_NUMBER), "to": Out(3), "takes": In(1), "left": Out(1),
            "stores": In(1), "line": In(TILE_NUMBER), "old": In(TRANSFER), "posts": In(1), "stored": Out(1),
            "frees": Out(1), "freed": Out(TILE_NUMBER),
            "stops": In(1), "error": Out(1), "idle": Out(1),
            "awaddr": Out(ADDRESS), "awlen": Out(8), "awvalid": Out(1), "awready": In(1),
            "wdata": Out(TRANSFER), "wlast": Out(1), "wvalid": Out(1), "wready": In(1), "bresp": In(2), "bvalid": In(1), "bready": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        surface, given, coded = self._surface, self.i.payload, self.coded.payload
        item = StructLayout({"table": 1, "posted": 1, "number": TILE_NUMBER})
        m.submodules.under_way = under_way = fifo.SyncFIFOBuffered(width=item.size, depth=WRITES)
        into, head = item(under_way.w_data), item(under_way.r_data)
        words, left, table, waits = Signal(surface.most * TRANSFER), Signal(range(surface.most + 1)), Signal(), Signal()
        size, resting = Array(surface.transfers(mode) for mode in TileMode)[coded.mode], Signal()
        m.d.comb += [into.table.eq(table), into.posted.eq(self.posts), into.number.eq(given.number)]
        m.d.comb += [self.changed.eq(given.number), self.to.eq(coded.mode), self.wdata.eq(words), self.wlast.eq(left == 1), self.wvalid.eq(left != 0)]
        with m.FSM():
            with m.State("REST"):
                m.d.comb += resting.eq(1)
                m.d.sync += table.eq(0)
                begins = self.i.valid & given.written & self.coded.valid
                with m.If(self.i.valid & ~given.written):
                    m.d.comb += [self.i.ready.eq(1), self.left.eq(1)]
                with m.Elif(begins & self.stops):
                    m.next = "LEAVE"
                with m.Elif(begins & under_way.w_rdy):
                    m.d.sync += [self.awaddr.eq(surface.tile_address(self.base, given.number)), self.awlen.eq(size - 1), self.awvalid.eq(size != 0),
                                 left.eq(size), words.eq(Cat(coded[f"data{n}"] for n in range(surface.most * TRANSFER // 32)))]
                    m.next = "WRITE"
                with m.Elif(self.stores & ~waits & ~self.stops & under_way.w_rdy):
                    m.d.sync += [self.awaddr.eq(surface.table_address(self.base, self.count, self.line)), self.awlen.eq(0), self.awvalid.eq(1),
                                 left.eq(1), words.eq(self.old), table.eq(1), waits.eq(~self.posts)]
                    m.next = "WRITE"
            with m.State("WRITE"):
                with m.If(self.awready):
                    m.d.sync += self.awvalid.eq(0)
                with m.If(self.wready & self.wvalid):
                    m.d.sync += [left.eq(left - 1), words.eq(words >> TRANSFER)]
                with m.If((left == 0) & ~self.awvalid):
                    m.d.comb += under_way.w_en.eq(table | (size != 0))
                    m.next = "CHANGE"
                    with m.If(table):
                        m.next = "REST"
            with m.State("CHANGE"):
                m.d.comb += self.changes.eq(1)
                with m.If(self.takes):
                    m.next = "LEAVE"
            with m.State("LEAVE"):
                m.d.comb += [self.i.ready.eq(1), self.coded.ready.eq(1), self.left.eq(1)]
                m.next = "REST"

        # The memory's answers; what was not written is free at once.
        answered, dropped = self.bvalid & self.bready, self.i.ready & (~given.written | (size == 0) | self.stops)
        m.d.comb += [self.bready.eq(under_way.r_rdy & ~dropped), under_way.r_en.eq(answered), self.error.eq(answered & (self.bresp != 0)),
                     self.frees.eq(dropped | (answered & ~head.table)), self.freed.eq(Mux(dropped, given.number, head.number)),
                     self.idle.eq(resting & (under_way.level == 0) & ~self.i.valid)]
        is_there = answered & head.table & ~head.posted
        m.d.comb += self.stored.eq(is_there | (under_way.w_en & table & self.posts) | (self.stores & self.stops & ~waits & resting))
        with m.If(is_there):
            m.d.sync += waits.eq(0)
        return m
