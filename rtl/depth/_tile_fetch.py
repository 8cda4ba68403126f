# SPDX-License-Identifier: BSD-2-Clause
"""Reads tiles and transfers of their table."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.axi import ADDRESS, TRANSFER
from fixfunc.rtl.depth._cache_moves import TILE
from fixfunc.rtl.depth._tile_table import MODE
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import Credit, some_left
from fixfunc.spec import payloads
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import TileMode

ROWS = 16  # of tiles that are here: distributed RAM of fewer costs as much


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
        As of :class:`fixfunc.rtl.axi.Axi`.
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
        item = StructLayout({"table": 1, "bare": 1, "last": range(surface.most + 1), "mode": MODE})
        m.submodules.asked = asked = fifo.SyncFIFOBuffered(width=item.size, depth=self._reads)
        given, into, head = self.i.payload, item(asked.w_data), item(asked.r_data)

        # An address, then what is to come for it; a cleared tile has none.
        waits, size = Signal(), sizes[given.mode]
        bare, free = self.stops | (size == 0), ~self.arvalid | self.arready
        asks_table = self.fetches & ~waits & ~self.stops & ~self.i.valid
        takes = asked.w_rdy & (bare | free) & self.i.valid
        m.d.comb += [self.i.ready.eq(takes), asked.w_en.eq(takes | (asks_table & asked.w_rdy & free)),
                     into.table.eq(~self.i.valid), into.bare.eq(bare), into.last.eq(size - 1),
                     into.mode.eq(Mux(self.stops, TileMode.CLEARED, given.mode))]
        with m.If(free):
            m.d.sync += [self.arvalid.eq(asked.w_en & (into.table | ~bare)),
                         self.araddr.eq(Mux(into.table, surface.table_address(self.base, self.count, self.line),
                                            surface.tile_address(self.base, given.number))),
                         self.arlen.eq(Mux(into.table, 0, size - 1))]
        with m.If(self.fetched):
            m.d.sync += waits.eq(0)
        with m.Elif(asked.w_en & into.table):
            m.d.sync += waits.eq(1)

        # What comes, transfer by transfer; with the first, zeros to the places of all others.
        m.submodules.credit = credit = Credit(ROWS)
        got, is_tile, whole, comes = Signal(range(surface.most + 1)), asked.r_rdy & ~head.table, Signal(), self.rvalid & self.rready
        m.d.comb += [self.rready.eq(asked.r_rdy & (head.table | (credit.any & ~head.bare))),
                     whole.eq(is_tile & credit.any & (head.bare | (self.rvalid & (got == head.last))))]
        arrives = self.rvalid & asked.r_rdy & head.table
        m.d.sync += [self.fetched.eq(arrives | (self.fetches & self.stops & ~waits & ~self.fetched)), self.data.eq(self.rdata)]
        m.d.comb += [asked.r_en.eq(arrives | whole), credit.take.eq(whole), credit.free.eq(self.o.valid & self.o.ready)]
        with m.If(comes & is_tile):
            m.d.sync += got.eq(Mux(whole, 0, got + 1))
        m.d.comb += [self.error.eq(comes & (self.rresp != 0)), self.idle.eq((asked.level == 0) & ~self.i.valid)]
        begins = (whole & head.bare) | (comes & is_tile & (got == 0))
        self._wait(m, [(begins | (comes & is_tile & (got == n)), Mux(head.bare if n == 0 else got == 0, 0, self.rdata)) for n in range(surface.most)],
                   whole, head.mode)
        return m

    def _wait(self, m, writes, whole, mode):
        """Tiles wait in rows, each transfer in its place."""
        row, first, shape, values = Signal(range(ROWS)), Signal(range(ROWS)), self.o.payload.shape(), []
        for n, (flag, width, data) in enumerate([*((flag, TRANSFER, data) for flag, data in writes), (whole, MODE, mode)]):
            m.submodules[f"values_{n}"] = memory = Memory(shape=width, depth=ROWS, init=[])
            write, read = memory.write_port(), memory.read_port(domain="comb")
            m.d.comb += [write.en.eq(flag), write.addr.eq(row), write.data.eq(data)]
            values.append(read)
        left = Signal()
        m.d.comb += [self.o.valid.eq(some_left(m, ROWS, whole, left)), self.o.payload.mode.eq(values[-1].data),
                     *(read.addr.eq(first) for read in values),
                     Cat(self.o.payload[name] for name in shape.members if name != "mode").eq(Cat(read.data for read in values[:-1]))]
        m.d.sync += [row.eq(row + whole), first.eq(first + (self.o.valid & self.o.ready)), left.eq(self.o.valid & self.o.ready)]
