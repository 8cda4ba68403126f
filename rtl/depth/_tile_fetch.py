"""Reads tiles and transfers of their table."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from rtl.axi import ADDRESS, TRANSFER
from rtl.depth._cache_moves import TILE
from rtl.depth._tile_table import MODE
from rtl.payload import layout
from spec import payloads
from spec.payloads import TILE_NUMBER
from spec.state import TileMode


class TileFetch(wiring.Component):
    """Reads what it is asked for, in order, several at once.

    Parameters
    ----------
    surface : Surface
        Where tiles lie.
    reads : int
        Most that are under way.

    Members
    -------
    base, count : In
        Of the target: address of its first tile, and how many it has.
    i : In(stream.Signature(...))
        A tile, and its mode.
    fetches, line, fetched, data : In, In, Out, Out
        A transfer of the table is wanted, until it is here; not while a tile is offered.
    o : Out(stream.Signature(layout(payloads.coded(surface.edge, surface.bits))))
        The tiles.
    stops : In(1)
        Nothing is read any more: cleared tiles come instead.
    error : Out(1)
        A read failed.
    idle : Out(1)
    araddr, arlen, arvalid, arready, rdata, rresp, rvalid, rready
        As of :class:`rtl.axi.Axi`.
    """

    def __init__(self, surface, reads):
        self._surface, self._reads = surface, reads
        super().__init__({
            "base": In(ADDRESS), "count": In(TILE_NUMBER),
            "i": In(stream.Signature(TILE)),
            "o": Out(stream.Signature(layout(payloads.coded(surface.edge, surface.bits)))),
            "fetches": In(1), "line": In(TILE_NUMBER), "fetched": Out(1), "data": Out(TRANSFER),
            "stops": In(1), "error": Out(1), "idle": Out(1),
            "araddr": Out(ADDRESS), "arlen": Out(8), "arvalid": Out(1), "arready": In(1),
            "rdata": In(TRANSFER), "rresp": In(2), "rvalid": In(1), "rready": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        surface, sizes = self._surface, Array(self._surface.transfers(mode) for mode in TileMode)
        item = StructLayout({"table": 1, "mode": MODE})
        m.submodules.asked = asked = fifo.SyncFIFOBuffered(width=item.size, depth=self._reads)
        given, into, head = self.i.payload, item(asked.w_data), item(asked.r_data)

        # An address, then what is to come for it; a cleared tile has none.
        waits, size = Signal(), sizes[given.mode]
        bare, free = self.stops | (size == 0), ~self.arvalid | self.arready
        asks_table = self.fetches & ~waits & ~self.stops & ~self.i.valid
        takes = asked.w_rdy & (bare | free) & self.i.valid
        m.d.comb += [self.i.ready.eq(takes), asked.w_en.eq(takes | (asks_table & asked.w_rdy & free)),
                     into.table.eq(~self.i.valid), into.mode.eq(Mux(self.stops, TileMode.CLEARED, given.mode))]
        with m.If(free):
            m.d.sync += [self.arvalid.eq(asked.w_en & (into.table | ~bare)),
                         self.araddr.eq(Mux(into.table, surface.table_address(self.base, self.count, self.line),
                                            surface.tile_address(self.base, given.number))),
                         self.arlen.eq(Mux(into.table, 0, size - 1))]
        with m.If(self.fetched):
            m.d.sync += waits.eq(0)
        with m.Elif(asked.w_en & into.table):
            m.d.sync += waits.eq(1)

        # What comes, transfer by transfer; the tile is there a clock after its last, and waits in a queue.
        m.submodules.tiles = tiles = fifo.SyncFIFOBuffered(width=self.o.payload.shape().size, depth=4)
        wiring.connect(m, tiles.r_stream, wiring.flipped(self.o))
        words, got, tile = Signal(surface.most * TRANSFER), Signal(range(surface.most + 1)), self.o.payload.shape()(tiles.w_data)
        wanted, is_tile, whole = sizes[head.mode], asked.r_rdy & ~head.table, Signal()
        m.d.comb += [whole.eq(is_tile & (got == wanted)), self.rready.eq(asked.r_rdy & (head.table | (got != wanted)))]
        m.d.comb += [self.fetched.eq((self.rvalid & asked.r_rdy & head.table) | (self.fetches & self.stops & ~waits)), self.data.eq(self.rdata),
                     asked.r_en.eq((self.fetched & head.table) | (whole & tiles.w_rdy)), tiles.w_en.eq(whole)]
        with m.If(self.rvalid & self.rready & is_tile):
            m.d.sync += got.eq(got + 1)
            for n in range(surface.most):
                with m.If(got == n):
                    m.d.sync += words[TRANSFER * n:TRANSFER * (n + 1)].eq(self.rdata)
        with m.If(whole & tiles.w_rdy):
            m.d.sync += [got.eq(0), words.eq(0)]
        m.d.comb += [tile.mode.eq(head.mode), Cat(tile[f"data{n}"] for n in range(surface.most * TRANSFER // 32)).eq(words)]
        m.d.comb += [self.error.eq(self.rvalid & self.rready & (self.rresp != 0)), self.idle.eq((asked.level == 0) & ~self.i.valid)]
        return m
