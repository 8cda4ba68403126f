# SPDX-License-Identifier: BSD-2-Clause
"""Refill unit: reads tiles and lines of the mode table."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import ADDRESS, TRANSFER, AxiRead, AxiReader
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.tile_cache.layouts import LINE, tile_mode
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import TileMode

TILES = 16  # tiles that have come, and wait to be decoded


class RefillUnit(wiring.Component):
    """Read what is asked for, in order, several bursts at once.

    Parameters
    ----------
    surface : Surface
        Where tiles lie.
    reads : int
        Most reads in flight.

    Members
    -------
    base : In(ADDRESS)
        Address of the target's first tile.
    count : In(TILE_NUMBER)
        Tiles of the target.
    is_float : In(1)
        Its depths are D32F.
    i : In(stream.Signature(tile_mode(surface.mode_bits)))
        A tile to be read. A cleared one is not in memory, and comes in its turn.
    o : Out(stream.Signature(layout(payloads.coded(surface.edge, ...))))
        The tiles, coded.
    line_request : In(stream.Signature(LINE))
        A line to be read. It waits while a tile is offered.
    fetched : Out(stream.Signature(TRANSFER))
        The line. The receiver is always ready.
    stopped : In(1)
        Nothing is read: tiles come as cleared, and lines come as anything.
    error : Out(1)
        A read failed.
    idle : Out(1)
        No read is in flight.
    memory : Out(AxiRead())
    """

    def __init__(self, surface: Surface, reads: int) -> None:
        self._surface = surface
        self._reads = reads
        self._coded = layout(payloads.coded(surface.edge, surface.bits, surface.mode_bits))
        super().__init__(
            {
                "base": In(ADDRESS),
                "count": In(TILE_NUMBER),
                "is_float": In(1),
                "i": In(stream.Signature(tile_mode(surface.mode_bits))),
                "o": Out(stream.Signature(self._coded)),
                "line_request": In(stream.Signature(LINE)),
                "fetched": Out(stream.Signature(TRANSFER)),
                "stopped": In(1),
                "error": Out(1),
                "idle": Out(1),
                "memory": Out(AxiRead()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        surface = self._surface
        tag = StructLayout({"line": 1, "mode": surface.mode_bits})
        m.submodules.reader = reader = AxiReader(surface.most, self._reads, tag)
        wiring.connect(m, reader.memory, wiring.flipped(self.memory))

        tile = self.i.payload
        sizes = surface.sizes(self.is_float)
        request = reader.request.payload
        m.d.comb += [
            reader.request.valid.eq(self.i.valid | self.line_request.valid),
            self.i.ready.eq(reader.request.ready),
            self.line_request.ready.eq(reader.request.ready & ~self.i.valid),
            self.idle.eq(reader.idle & ~self.i.valid & ~self.line_request.valid),
        ]
        with m.If(self.i.valid):
            m.d.comb += [
                request.address.eq(surface.tile_address(self.base, tile.number)),
                request.transfers.eq(Mux(self.stopped, 0, sizes[tile.mode])),
                request.tag.mode.eq(Mux(self.stopped, TileMode.CLEARED, tile.mode)),
            ]
        with m.Else():
            m.d.comb += [
                request.address.eq(
                    surface.table_address(self.base, self.count, self.line_request.payload)
                ),
                request.transfers.eq(~self.stopped),
                request.tag.line.eq(1),
            ]
        self._receive(m, reader.o)
        return m

    def _receive(self, m, answer):
        """Lines go to the mode cache; transfers of a tile are put together, zeros behind them."""
        m.submodules.tiles = tiles = fifo.SyncFIFOBuffered(width=self._coded.size, depth=TILES)
        transfer = answer.payload
        is_line = transfer.tag.line
        accept = answer.valid & answer.ready
        data = Signal(self._surface.most * TRANSFER)
        mode = Signal(self._surface.mode_bits)
        complete = Signal()
        m.d.comb += [
            answer.ready.eq(is_line | (tiles.level < TILES - 2)),
            self.fetched.valid.eq(answer.valid & is_line),
            self.fetched.payload.eq(transfer.data),
            self.error.eq(accept & transfer.error),
        ]
        with m.If(accept & ~is_line):
            for n in range(self._surface.most):
                word = data.word_select(n, TRANSFER)
                with m.If((transfer.index == n) & ~transfer.empty):
                    m.d.sync += word.eq(transfer.data)
                with m.Elif(transfer.index == 0):
                    m.d.sync += word.eq(0)
        m.d.sync += [
            mode.eq(transfer.tag.mode),
            complete.eq(accept & ~is_line & transfer.last),
        ]

        coded = self._coded(tiles.w_data)
        words = [coded[name] for name in self._coded.members if name != "mode"]
        m.d.comb += [
            tiles.w_en.eq(complete),
            coded.mode.eq(mode),
            Cat(words).eq(data),
        ]
        wiring.connect(m, tiles.r_stream, wiring.flipped(self.o))
