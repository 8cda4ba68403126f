"""Sends what is written to memory, transfer by transfer."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl.axi import ADDRESS, TRANSFER
from rtl.pipeline import Credit
from spec.payloads import TILE_NUMBER

ROWS = 16  # of all queues here: distributed RAM of fewer costs as much
BURST = StructLayout({"address": ADDRESS, "length": 8})
LAST = StructLayout({"data": TRANSFER, "last": 1})


class TileSends(wiring.Component):
    """A transfer a clock; nothing wide waits in the same clock for what memory, or the table, says.

    Parameters
    ----------
    surface : Surface

    Members
    -------
    base, count, room, puts, put
        As of :class:`~rtl.depth._tile_writer.TileWriter`; tiles are sent or dropped in the order of coming.
    takes : In(1)
        One of them is: sent, if something :attr:`begins`.
    free : Out(1)
        Something may begin in this clock.
    begins, table, number, size, old : In
        A tile, or a transfer of the table and its values; its number; how many transfers that is.
    idle : Out(1)
        Nothing is left to be sent.
    awaddr, awlen, awvalid, awready, wdata, wlast, wvalid, wready
        As of :class:`rtl.axi.Axi`.
    """

    def __init__(self, surface):
        self._surface = surface
        super().__init__({
            "base": In(ADDRESS), "count": In(TILE_NUMBER), "room": Out(1, init=1), "puts": In(1), "put": In(surface.most * TRANSFER), "takes": In(1),
            "free": Out(1), "begins": In(1), "table": In(1), "number": In(TILE_NUMBER), "size": In(range(surface.most + 1)), "old": In(TRANSFER),
            "idle": Out(1), "awaddr": Out(ADDRESS), "awlen": Out(8), "awvalid": Out(1), "awready": In(1),
            "wdata": Out(TRANSFER), "wlast": Out(1), "wvalid": Out(1), "wready": In(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.addresses = addresses = fifo.SyncFIFOBuffered(width=BURST.size, depth=ROWS)
        m.submodules.transfers = transfers = fifo.SyncFIFOBuffered(width=LAST.size, depth=ROWS)
        m.submodules.burst_credit, m.submodules.credit = burst_credit, credit = Credit(ROWS), Credit(ROWS)
        left, moves, table, old, column = Signal.like(self.size), Signal(), Signal(), Signal(TRANSFER), Signal(range(max(2, self._surface.most)))
        m.d.comb += [moves.eq((left != 0) & credit.any), self.free.eq(((left == 0) | ((left == 1) & credit.any)) & burst_credit.any),
                     credit.take.eq(moves), credit.free.eq(transfers.r_en & transfers.r_rdy), self.idle.eq(left == 0),
                     burst_credit.take.eq(self.begins), burst_credit.free.eq(addresses.r_en & addresses.r_rdy)]
        with m.If(moves):
            m.d.sync += [left.eq(left - 1), column.eq(column + 1)]
        with m.If(self.begins):
            m.d.sync += [left.eq(self.size), column.eq(0), table.eq(self.table), old.eq(self.old)]

        # The bus, behind queues.
        last = LAST(transfers.w_data)
        m.d.sync += [transfers.w_en.eq(moves), last.data.eq(Mux(table, old, self._tile(m).word_select(column, TRANSFER))), last.last.eq(left == 1)]
        m.d.comb += [self.wvalid.eq(transfers.r_rdy), transfers.r_en.eq(self.wready), Cat(self.wdata, self.wlast).eq(transfers.r_data)]

        burst, number = BURST(addresses.w_data), Signal(TILE_NUMBER)
        surface, behind = self._surface, Signal(ADDRESS)
        m.d.sync += [addresses.w_en.eq(self.begins), number.eq(self.number), burst.length.eq(self.size - 1),
                     behind.eq(surface.table_address(self.base, self.count, 0))]
        m.d.comb += burst.address.eq(Mux(table, surface.table_address(behind, 0, number), surface.tile_address(self.base, number)))
        m.d.comb += [self.awvalid.eq(addresses.r_rdy), addresses.r_en.eq(self.awready), Cat(self.awaddr, self.awlen).eq(addresses.r_data)]
        return m

    def _tile(self, m):
        """Values of the tile that is sent; the place of one is free as it begins, and put into again only when others have been."""
        m.submodules.tiles = tiles = Memory(shape=len(self.put), depth=ROWS, init=[])
        m.submodules.room = room = Credit(ROWS - 4)
        write, read, following = tiles.write_port(), tiles.read_port(domain="comb"), Signal(range(ROWS))
        m.d.comb += [self.room.eq(room.any), room.take.eq(self.puts), room.free.eq(self.takes), write.en.eq(self.puts), write.data.eq(self.put)]
        m.d.sync += [write.addr.eq(write.addr + self.puts), following.eq(following + self.takes)]
        with m.If(self.begins & ~self.table):
            m.d.sync += read.addr.eq(following)
        return read.data
