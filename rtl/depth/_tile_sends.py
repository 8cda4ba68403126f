# SPDX-License-Identifier: BSD-2-Clause
"""Sends what is written to memory, transfer by transfer."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.axi import ADDRESS, TRANSFER
from fixfunc.rtl.pipeline import Credit
from fixfunc.spec.payloads import TILE_NUMBER

ROWS = 16  # of all queues here: distributed RAM of fewer costs as much
TURNS = 4  # of what is to be sent
PUTS = ROWS - TURNS - 2  # tiles that may wait to be taken: one is being sent, one being put
BURST = StructLayout({"address": ADDRESS, "length": 8})
LAST = StructLayout({"data": TRANSFER, "last": 1})


class TileSends(wiring.Component):
    """A transfer a clock; nothing wide waits in the same clock for what memory, or the table, says.

    Parameters
    ----------
    surface : Surface

    Members
    -------
    base, count, puts, put, keeps
        As of :class:`~fixfunc.rtl.depth._tile_writer.TileWriter`; tiles are sent or dropped in the order of coming.
    takes : In(1)
        One of them is: sent, if something :attr:`begins`.
    free : Out(1)
        Something may wait for its turn from this clock on.
    begins, table, number, size, old : In
        It does: a tile, or a transfer of the table and its values; its number; how many transfers that is.
    awaddr, awlen, awvalid, awready, wdata, wlast, wvalid, wready
        As of :class:`fixfunc.rtl.axi.Axi`.
    """

    def __init__(self, surface):
        self._surface = surface
        super().__init__({
            "base": In(ADDRESS), "count": In(TILE_NUMBER), "puts": In(1), "put": In(surface.most * TRANSFER), "keeps": In(1), "takes": In(1),
            "free": Out(1), "begins": In(1), "table": In(1), "number": In(TILE_NUMBER), "size": In(range(surface.most + 1)), "old": In(TRANSFER),
            "awaddr": Out(ADDRESS), "awlen": Out(8), "awvalid": Out(1), "awready": In(1),
            "wdata": Out(TRANSFER), "wlast": Out(1), "wvalid": Out(1), "wready": In(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.addresses = addresses = fifo.SyncFIFOBuffered(width=BURST.size, depth=ROWS)
        m.submodules.transfers = transfers = fifo.SyncFIFOBuffered(width=LAST.size, depth=ROWS)
        m.submodules.burst_credit, m.submodules.credit = burst_credit, credit = Credit(ROWS), Credit(ROWS)
        turns, head = self._turns(m)
        column = Signal(range(max(2, self._surface.most)))
        left, moves, begins, table, old = Signal.like(head.size), Signal(), Signal(), Signal(), Signal(TRANSFER)
        m.d.comb += [moves.eq((left != 0) & credit.any), begins.eq(((left == 0) | ((left == 1) & credit.any)) & burst_credit.any & turns.r_rdy),
                     turns.r_en.eq(begins), credit.take.eq(moves), credit.free.eq(transfers.r_en & transfers.r_rdy), burst_credit.take.eq(begins),
                     burst_credit.free.eq(addresses.r_en & addresses.r_rdy)]
        with m.If(moves):
            m.d.sync += [left.eq(left - 1), column.eq(column + 1)]
        with m.If(begins):
            m.d.sync += [left.eq(head.size), column.eq(0), table.eq(head.table), old.eq(head.old)]

        # The bus, behind queues.
        last, values = LAST(transfers.w_data), self._tile(m, begins & ~head.table, head.row)
        m.d.sync += [transfers.w_en.eq(moves), last.data.eq(Mux(table, old, values.word_select(column, TRANSFER))), last.last.eq(left == 1)]
        m.d.comb += [self.wvalid.eq(transfers.r_rdy), transfers.r_en.eq(self.wready), Cat(self.wdata, self.wlast).eq(transfers.r_data)]

        burst, number = BURST(addresses.w_data), Signal(TILE_NUMBER)
        surface, behind = self._surface, Signal(ADDRESS)
        m.d.sync += [addresses.w_en.eq(begins), number.eq(head.number), burst.length.eq(head.size - 1),
                     behind.eq(surface.table_address(self.base, self.count, 0))]
        m.d.comb += burst.address.eq(Mux(table, surface.table_address(behind, 0, number), surface.tile_address(self.base, number)))
        m.d.comb += [self.awvalid.eq(addresses.r_rdy), addresses.r_en.eq(self.awready), Cat(self.awaddr, self.awlen).eq(addresses.r_data)]
        return m

    def _turns(self, m):
        """What is to be sent, in order; and the first of it."""
        turn = StructLayout({"table": 1, "number": TILE_NUMBER, "size": self.size.shape(), "old": TRANSFER, "row": range(ROWS)})
        m.submodules.turns = turns = fifo.SyncFIFOBuffered(width=turn.size, depth=TURNS)
        into, following = turn(turns.w_data), Signal(range(ROWS))
        m.d.sync += [following.eq(following + self.takes), self.free.eq(turns.level < TURNS - 1)]
        m.d.comb += [turns.w_en.eq(self.begins), into.row.eq(following),
                     *(into[name].eq(getattr(self, name)) for name in ("table", "number", "size", "old"))]
        return turns, turn(turns.r_data)

    def _tile(self, m, begins, place):
        """Values of the tile that is sent, in a row that others have when all the others have been put into.

        Whether what was put stays is known a clock late; what comes then takes its row, or the next.
        """
        m.submodules.tiles = tiles = Memory(shape=len(self.put), depth=ROWS, init=[])
        write, read = tiles.write_port(), tiles.read_port(domain="comb")
        row, after = Signal(range(ROWS)), Signal(range(ROWS), init=1)
        m.d.comb += [write.en.eq(self.puts), write.data.eq(self.put), write.addr.eq(Mux(self.keeps, after, row))]
        with m.If(self.keeps):
            m.d.sync += [row.eq(after), after.eq(after + 1)]
        with m.If(begins):
            m.d.sync += read.addr.eq(place)
        return read.data
