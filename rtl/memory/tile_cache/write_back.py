# SPDX-License-Identifier: BSD-2-Clause
"""Write-back unit: writes tiles and lines of the mode table."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import ADDRESS, TRANSFER, AxiWrite, AxiWriter
from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.write_buffer import WriteBuffer
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.tile_cache.layouts import LINE_STORE, evicted, tile_mode
from fixfunc.rtl.memory.tile_cache.victims.victim_buffer import VictimRows
from fixfunc.spec.payloads import TILE_NUMBER

ROWS = 16  # coded tiles that wait to be written
BURSTS = 4  # bursts that have begun, of which one sends its data
WRITES = 16  # most writes in flight, of a unit that is told nothing else
TAG = StructLayout({"line": 1, "posted": 1, "number": TILE_NUMBER})


class WriteBackUnit(wiring.Component):
    """Write tiles in order, a transfer a clock; the next begins before memory has answered.

    The mode of a tile is updated before the tile is written, so that whoever is told that memory
    holds the tile finds its mode too.

    Parameters
    ----------
    surface : Surface
        Where tiles lie.
    writes : int
        Most writes in flight.

    Members
    -------
    base : In(ADDRESS)
        Address of the target's first tile.
    count : In(TILE_NUMBER)
        Tiles of the target.
    is_float : In(1)
        Its depths are D32F.
    i : In(stream.Signature(evicted(surface.mode_bits)))
        Tiles that have left their slots.
    push, row, commit, available : In, In, In, Out
        The write buffer (:class:`~fixfunc.rtl.lib.write_buffer.WriteBuffer`). The coded values of
        each tile that is not cleared are committed before the tile comes, or in that clock.
    update : Out(stream.Signature(tile_mode(surface.mode_bits)))
        A tile has this mode from now on.
    settled : Out(1)
        The mode of one tile will not be updated any more.
    rows : Out(VictimRows(surface))
        Codes of all tiles, dirty or not.
    store : In(stream.Signature(LINE_STORE))
        A line to be written. It waits while tiles do.
    stored : Out(1)
        Memory holds a line that was not posted.
    acknowledged : Out(1)
        Memory holds ``acknowledged_tile``.
    acknowledged_tile : Out(TILE_NUMBER)
    begins : In(1)
        A target begins: what is in flight is of older ones. Only while ``tiles_idle``.
    stopped : In(1)
        Nothing is written.
    error : Out(1)
        A write failed.
    failed : Out(1)
        One of this target failed.
    tiles_idle : Out(1)
        Memory holds every tile.
    idle : Out(1)
        Memory holds everything.
    memory : Out(AxiWrite())
    """

    def __init__(self, surface: Surface, writes: int = WRITES) -> None:
        self._surface = surface
        self._writes = writes
        self._evicted = evicted(surface.mode_bits)
        super().__init__(
            {
                "base": In(ADDRESS),
                "count": In(TILE_NUMBER),
                "is_float": In(1),
                "i": In(stream.Signature(self._evicted)),
                "push": In(1),
                "row": In(surface.most * TRANSFER),
                "commit": In(1),
                "available": Out(1),
                "update": Out(stream.Signature(tile_mode(surface.mode_bits))),
                "settled": Out(1),
                "rows": Out(VictimRows(surface)),
                "store": In(stream.Signature(LINE_STORE)),
                "stored": Out(1),
                "acknowledged": Out(1),
                "acknowledged_tile": Out(TILE_NUMBER),
                "begins": In(1),
                "stopped": In(1),
                "error": Out(1),
                "failed": Out(1),
                "tiles_idle": Out(1),
                "idle": Out(1),
                "memory": Out(AxiWrite()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.writer = writer = AxiWriter(self._surface.most, self._writes, TAG)
        m.submodules.settling = settling = fifo.SyncFIFOBuffered(
            width=self._evicted.size, depth=BURSTS
        )
        wiring.connect(m, writer.memory, wiring.flipped(self.memory))

        # The mode of a tile is updated, then the tile waits for its burst. After an error nothing
        # is written, and no mode changes.
        tile = self.i.payload
        has_mode = tile.dirty & ~self.stopped
        m.d.comb += [
            self.update.valid.eq(self.i.valid & has_mode & settling.w_rdy),
            self.update.payload.number.eq(tile.number),
            self.update.payload.mode.eq(tile.mode),
            self.i.ready.eq(settling.w_rdy & (~has_mode | self.update.ready)),
            settling.w_en.eq(self.i.valid & self.i.ready),
            settling.w_data.eq(tile),
            self.settled.eq(settling.w_en),
        ]
        unsent = self._burst(m, settling, writer)

        # Memory's answers, and tiles that have nothing to send.
        answer = writer.response.payload
        answers = writer.response.valid & writer.response.ready
        accepts = writer.burst.valid & writer.burst.ready
        is_line = writer.burst.payload.tag.line
        m.submodules.tiles = tiles = CreditCounter(self._writes)
        m.d.comb += [
            tiles.consume.eq(accepts & ~is_line),
            tiles.release.eq(answers & ~answer.tag.line),
            self.tiles_idle.eq(tiles.idle & ~self.i.valid & (settling.level == 0)),
        ]
        older = self._older(m, accepts & is_line, answers & answer.tag.line)
        stopped_store = Signal()
        m.d.comb += [
            writer.response.ready.eq(~unsent),
            self.error.eq(answers & answer.error),
            self.failed.eq(self.error & ~older),
            self.acknowledged.eq(unsent | (answers & ~answer.tag.line)),
            self.acknowledged_tile.eq(
                Mux(unsent, self._evicted(settling.r_data).number, answer.tag.number)
            ),
            self.stored.eq((answers & answer.tag.line & ~answer.tag.posted) | stopped_store),
            self.idle.eq(writer.idle & ~self.i.valid & ~self.store.valid & (settling.level == 0)),
        ]
        m.d.sync += stopped_store.eq(self.store.valid & self.store.ready & self.stopped)
        return m

    def _older(self, m, sent, answered):
        """Whether a response is to a burst of an older target: they come in order, and when a
        target begins only lines are in flight.
        """
        lines = Signal(range(self._writes + 1))
        older = Signal.like(lines)
        remaining = Signal.like(lines)
        m.d.comb += remaining.eq(lines - answered)
        m.d.sync += lines.eq(remaining + sent)
        with m.If(self.begins):
            m.d.sync += older.eq(remaining)
        with m.Elif(answered & older.any()):
            m.d.sync += older.eq(older - 1)
        return self.begins | older.any()

    def _burst(self, m, settling, writer):
        """Tiles first, then lines. Returns whether a tile has nothing to send."""
        surface = self._surface
        tile = self._evicted(settling.r_data)
        line = self.store.payload
        source = StructLayout(
            {
                "line": 1,
                "sends": 1,
                "transfers": range(surface.most + 1),
                "mode": surface.mode_bits,
                "data": TRANSFER,
            }
        )
        m.submodules.sources = sources = fifo.SyncFIFOBuffered(width=source.size, depth=BURSTS)
        self._send(m, sources, source(sources.r_data), writer)

        tile_valid = settling.r_rdy
        transfers = surface.sizes(self.is_float)[tile.mode]
        needs_burst = tile.dirty & (transfers != 0) & ~self.stopped
        unsent = tile_valid & ~needs_burst & sources.w_rdy
        sent = tile_valid & needs_burst & sources.w_rdy & writer.burst.ready
        stores = self.store.valid & self.store.ready & ~self.stopped
        burst = writer.burst.payload
        pushed = source(sources.w_data)
        m.d.comb += [
            settling.r_en.eq(unsent | sent),
            self.store.ready.eq(~tile_valid & sources.w_rdy & (writer.burst.ready | self.stopped)),
            writer.burst.valid.eq(
                sources.w_rdy & Mux(tile_valid, needs_burst, self.store.valid & ~self.stopped)
            ),
            burst.tag.line.eq(~tile_valid),
            burst.tag.posted.eq(line.posted),
            burst.tag.number.eq(tile.number),
            sources.w_en.eq(sent | unsent | stores),
            pushed.line.eq(~tile_valid),
            pushed.sends.eq(~unsent),
            pushed.transfers.eq(burst.transfers),
            pushed.mode.eq(tile.mode),
            pushed.data.eq(line.data),
        ]
        with m.If(tile_valid):
            m.d.comb += [
                burst.address.eq(surface.tile_address(self.base, tile.number)),
                burst.transfers.eq(transfers),
            ]
        with m.Else():
            m.d.comb += [
                burst.address.eq(surface.table_address(self.base, self.count, line.line)),
                burst.transfers.eq(1),
            ]
        return unsent

    def _send(self, m, sources, source, writer):
        """Data of bursts in order: rows of the write buffer, or lines. Each row goes to the victim
        buffer too, also one that memory holds.
        """
        m.submodules.rows = rows = WriteBuffer(self._surface.most * TRANSFER, ROWS)
        column = Signal(range(max(2, self._surface.most)))
        has_row = ~source.line & (source.transfers != 0)
        last = ~has_row | (column == source.transfers - 1)
        offered = sources.r_rdy & (~has_row | rows.o.valid)
        transfer = Signal()
        m.d.comb += [
            rows.push.eq(self.push),
            rows.i.eq(self.row),
            rows.commit.eq(self.commit),
            self.available.eq(rows.available),
            writer.data.valid.eq(offered & source.sends),
            writer.data.payload.eq(Mux(source.line, source.data, self.rows.data)),
            transfer.eq(offered & (~source.sends | writer.data.ready)),
            sources.r_en.eq(transfer & last),
            rows.o.ready.eq(transfer & last & has_row),
            self.rows.push.eq(transfer & has_row),
            self.rows.data.eq(rows.o.payload.word_select(column, TRANSFER)),
            self.rows.index.eq(column),
            self.rows.complete.eq(transfer & last & ~source.line),
            self.rows.mode.eq(source.mode),
        ]
        with m.If(transfer):
            m.d.sync += column.eq(Mux(last, 0, column + 1))
