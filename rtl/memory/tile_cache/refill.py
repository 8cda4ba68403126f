# SPDX-License-Identifier: BSD-2-Clause
"""Refill unit: reads tiles and lines of the mode table."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import ADDRESS, TRANSFER, AxiRead, AxiReader
from fixfunc.rtl.memory.read_reorder import ReadReorder
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.tile_cache.layouts import LINE, fill_request
from fixfunc.rtl.memory.tile_cache.victims.victim_buffer import victim_transfer
from fixfunc.rtl.payload import layout
from fixfunc.spec.memory import depth_tiles
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
    turns : int, optional
        Most tiles and lines that wait for their turn, if more than ``reads``.
    sequence : int
        Bits of a victim's number; 0 if no tile is recalled.
    any_order : bool
        Memory answers in any order: ``reads``, a power of two, have ids.

    Members
    -------
    base : In(ADDRESS)
        Address of the target's first tile.
    count : In(TILE_NUMBER)
        Tiles of the target.
    is_float : In(1)
        Its depths are D32F.
    i : In(stream.Signature(fill_request(surface.mode_bits, sequence)))
        A tile to be read. One that is cleared or recalled is not read, and comes in its turn.
    o : Out(stream.Signature(layout(depth_tiles.coded(surface.edge, ...))))
        The tiles, coded.
    recall, recalled : Out(stream.Signature(sequence)), In(stream.Signature(victim_transfer(...)))
        The other side of the victim buffer (``victims.victim_buffer``).
    filled, filled_mode : Out(1), Out(surface.mode_bits)
        A tile has come; its mode.
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
    memory : Out(AxiRead(...))
    """

    def __init__(
        self,
        surface: Surface,
        reads: int,
        turns: int | None = None,
        sequence: int = 0,
        any_order: bool = False,
    ) -> None:
        self._surface = surface
        self._reads = reads
        self._turns = turns
        self._sequence = sequence
        self._any_order = any_order
        self._coded = layout(depth_tiles.coded(surface.edge, surface.bits, surface.mode_bits))
        super().__init__(
            {
                "base": In(ADDRESS),
                "count": In(TILE_NUMBER),
                "is_float": In(1),
                "i": In(stream.Signature(fill_request(surface.mode_bits, sequence))),
                "o": Out(stream.Signature(self._coded)),
                "line_request": In(stream.Signature(LINE)),
                "fetched": Out(stream.Signature(TRANSFER)),
                "stopped": In(1),
                "error": Out(1),
                "idle": Out(1),
                "filled": Out(1),
                "filled_mode": Out(surface.mode_bits),
                "memory": Out(AxiRead((reads - 1).bit_length() if any_order else 1)),
            }
            | (
                {
                    "recall": Out(stream.Signature(sequence)),
                    "recalled": In(stream.Signature(victim_transfer(surface))),
                }
                if sequence
                else {}
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        surface = self._surface
        tag = StructLayout(
            {"line": 1, "mode": surface.mode_bits}
            | ({"recalled": 1, "victim": self._sequence} if self._sequence else {})
        )
        m.submodules.reader = reader = AxiReader(surface.most, self._reads, tag, self._turns)
        memory = reader.memory
        if self._any_order:
            m.submodules.reorder = reorder = ReadReorder(surface.most, self._reads)
            wiring.connect(m, memory, reorder.reads)
            memory = reorder.memory
        wiring.connect(m, memory, wiring.flipped(self.memory))

        tile = self.i.payload
        sizes = surface.sizes(self.is_float)
        request = reader.request.payload
        m.d.comb += [
            reader.request.valid.eq(self.i.valid | self.line_request.valid),
            self.i.ready.eq(reader.request.ready),
            self.line_request.ready.eq(reader.request.ready & ~self.i.valid),
            self.idle.eq(reader.idle & ~self.i.valid & ~self.line_request.valid),
        ]
        recalled = Const(0)
        if self._sequence:
            recalled = tile.recalled
            m.d.comb += [
                request.tag.recalled.eq(self.i.valid & recalled),
                request.tag.victim.eq(tile.victim),
            ]
        with m.If(self.i.valid):
            m.d.comb += [
                request.address.eq(surface.tile_address(self.base, tile.number)),
                request.transfers.eq(Mux(self.stopped | recalled, 0, sizes[tile.mode])),
                # A recalled tile whose turn is behind an error comes as cleared, too.
                request.tag.mode.eq(Mux(self.stopped | recalled, TileMode.CLEARED, tile.mode)),
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
        room = tiles.level < TILES - 2
        accept = Signal()
        source = Signal(victim_transfer(self._surface))
        m.d.comb += [
            accept.eq(answer.valid & answer.ready & ~is_line),
            answer.ready.eq(is_line | room),
            *(source[name].eq(transfer[name]) for name in ("data", "index", "last", "empty")),
            source.mode.eq(transfer.tag.mode),
        ]
        if self._sequence:
            self._recall(m, answer, room, accept, source)
        data = Signal(self._surface.most * TRANSFER)
        mode = Signal(self._surface.mode_bits)
        complete = Signal()
        m.d.comb += [
            self.fetched.valid.eq(answer.valid & is_line),
            self.fetched.payload.eq(transfer.data),
            self.error.eq(answer.valid & answer.ready & transfer.error),
            self.filled.eq(complete),
            self.filled_mode.eq(mode),
        ]
        with m.If(accept):
            for n in range(self._surface.most):
                word = data.word_select(n, TRANSFER)
                with m.If((source.index == n) & ~source.empty):
                    m.d.sync += word.eq(source.data)
                with m.Elif(source.index == 0):
                    m.d.sync += word.eq(0)
        m.d.sync += [
            mode.eq(source.mode),
            complete.eq(accept & source.last),
        ]

        coded = self._coded(tiles.w_data)
        words = [coded[name] for name in self._coded.members if name != "mode"]
        m.d.comb += [
            tiles.w_en.eq(complete),
            coded.mode.eq(mode),
            Cat(words).eq(data),
        ]
        wiring.connect(m, tiles.r_stream, wiring.flipped(self.o))

    def _recall(self, m, answer, room, accept, source):
        """In the turn of a recalled tile its row comes from the victim buffer, not from memory."""
        recalls = answer.valid & answer.payload.tag.recalled & ~self.stopped
        m.d.comb += [
            self.recall.valid.eq(recalls),
            self.recall.payload.eq(answer.payload.tag.victim),
            self.recalled.ready.eq(recalls & room),
        ]
        with m.If(recalls):
            m.d.comb += [
                accept.eq(self.recalled.valid & room),
                answer.ready.eq(self.recall.ready),
                source.eq(self.recalled.payload),
            ]
