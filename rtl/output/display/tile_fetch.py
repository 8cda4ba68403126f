# SPDX-License-Identifier: BSD-2-Clause
"""Tile fetch: a frame's tiles from memory, in the order of their numbers."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import ADDRESS, TRANSFER, Axi, AxiReader, join
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.tile_cache.layouts import IN_LINE
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import BUFFERS, SCAN_SETUP, SIDE, WORDS
from fixfunc.spec.payloads import COLOUR
from fixfunc.spec.state import TileMode

EDGE = 8  # pixels along a tile
COUNT = SIDE - 3  # bits of a number of tiles along a side
NUMBER = 2 * COUNT
UNDECODABLE = TileMode.PLANES_2  # no code of colours
SURFACE = Surface(EDGE, COLOUR, True)
# What comes back beside data: a line of the table and its place, or a tile's code and buffer.
TAG = StructLayout({"line": 1, "odd": 1, "code": 4, "buffer": 2})
REQUEST = StructLayout({"address": ADDRESS, "transfers": range(SURFACE.most + 1), "tag": TAG})
CODED = StructLayout({"code": 4, "buffer": 2, "data": 32 * WORDS})


class TileFetch(wiring.Component):
    """Read the tiles of frames: one transfer a clock, as long as there is room for tiles.

    Of a coded surface two lines of the table are on chip: that of the next tile, and the one
    behind it, which is read ahead.

    Parameters
    ----------
    reads : int
        Most reads in flight.

    Members
    -------
    setup : In(layout(SCAN_SETUP))
        Constant while not ``idle``.
    columns, rows : In(COUNT)
        Tiles of a frame along both sides.
    last_line : In
        Number of the table's last line.
    start : In(1)
        A frame begins; it counts if ``idle``.
    front : In(2)
        The buffer to be read, from the next row of tiles on.
    buffer : Out(2)
        The buffer that is read, while not ``idle``: it changes when none of its tiles is in flight.
    ended : Out(1)
        The last tile of a frame has come.
    idle : Out(1)
        No frame is being read.
    freed : In(1)
        There is room for one more tile, of two rows.
    waiting : Out(1)
        Tiles have been asked for whose room has not been freed.
    tile : Out(stream.Signature(CODED))
        A tile has come; those behind it wait in memory until it is taken. Its code is
        :data:`UNDECODABLE` if it could not be read, or its line of the table.
    memory : Out(Axi())
        Read channels alone are used.
    """

    def __init__(self, reads: int) -> None:
        self._reads = reads
        super().__init__(
            {
                "setup": In(layout(SCAN_SETUP)),
                "columns": In(COUNT),
                "rows": In(COUNT),
                "last_line": In(NUMBER - IN_LINE),
                "start": In(1),
                "front": In(2),
                "buffer": Out(2),
                "ended": Out(1),
                "idle": Out(1),
                "freed": In(1),
                "waiting": Out(1),
                "tile": Out(stream.Signature(CODED)),
                "memory": Out(Axi()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.reader = reader = AxiReader(SURFACE.most, self._reads, TAG)
        join(m, self.memory, reader.memory)
        number = Signal(NUMBER)
        column = Signal(COUNT)
        row = Signal(COUNT)
        next_line = Signal(NUMBER - IN_LINE + 1)
        line_valid = Signal(2)
        request = Signal(REQUEST)
        request_valid = Signal()
        running = Signal()
        requested = Signal()  # a tile has been asked for
        drained = Signal()
        last_column = named(m, column == self.columns - 1, "last_column")
        last_row = named(m, row == self.rows - 1, "last_row")
        m.d.comb += [
            drained.eq(~request_valid & reader.idle),
            reader.request.valid.eq(request_valid),
            reader.request.payload.eq(request),
        ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.idle.eq(1)
                m.d.sync += [
                    number.eq(0),
                    column.eq(0),
                    row.eq(0),
                ]
                with m.If(self.start):
                    m.next = "BEGIN"
            with m.State("BEGIN"):
                m.d.sync += [
                    self.buffer.eq(self.front),
                    next_line.eq(number >> IN_LINE),
                    line_valid.eq(0),
                ]
                m.next = "RUN"
            with m.State("RUN"):
                m.d.comb += running.eq(1)
                with m.If(requested):
                    m.d.sync += [
                        number.eq(number + 1),
                        column.eq(Mux(last_column, 0, column + 1)),
                        row.eq(row + last_column),
                    ]
                    with m.If(last_column & last_row):
                        m.next = "END"
                    with m.Elif(last_column & (self.front != self.buffer)):
                        m.next = "BORDER"
            with m.State("BORDER"), m.If(drained):
                m.next = "BEGIN"
            with m.State("END"), m.If(drained):
                m.d.comb += self.ended.eq(1)
                m.next = "IDLE"

        lines = self._receive(m, reader.o, line_valid)
        ready = named(m, running & (~request_valid | reader.request.ready), "request_ready")
        with m.If(reader.request.ready):
            m.d.sync += request_valid.eq(0)
        self._request(m, request, request_valid, ready, requested, number, next_line, lines)
        return m

    def _request(self, m, request, request_valid, ready, requested, number, next_line, lines):
        """The next line of the table, if it is near; else the next tile, if its code is known."""
        line_valid, line_error, codes = lines
        line = number[IN_LINE:]
        odd = line[0]
        near = (next_line <= self.last_line) & (next_line != named(m, line + 2, "beyond"))
        line_wanted = named(m, self.setup.coded & near, "line_wanted")
        code = Signal(4)
        reserved = Signal(COUNT + 1)  # room of tiles that have been asked for
        room = named(m, reserved != self.columns << 1, "room")
        table_line = Mux(odd, codes[1], codes[0])
        m.d.comb += code.eq(table_line.word_select(number[:IN_LINE], 4))
        with m.If(~self.setup.coded):
            m.d.comb += code.eq(TileMode.RAW)
        with m.Elif(line_error.bit_select(odd, 1)):
            m.d.comb += code.eq(UNDECODABLE)
        sizes = Array(
            SURFACE.transfers(mode) if mode in SURFACE.modes else 0
            for mode in range(1 << len(code))
        )
        base = Array(self.setup[f"base{n}"][8:] for n in range(BUFFERS))[self.buffer]
        table = Array(self.setup[f"table{n}"][5:] for n in range(BUFFERS))[self.buffer]
        known = ~self.setup.coded | line_valid.bit_select(odd, 1)
        m.d.comb += requested.eq(ready & ~line_wanted & known & room)
        m.d.sync += reserved.eq(reserved + requested - self.freed)
        m.d.comb += self.waiting.eq(reserved != 0)
        with m.If(ready & line_wanted):
            m.d.sync += [
                request_valid.eq(1),
                request.address.eq((table + next_line) << 5),
                request.transfers.eq(1),
                request.tag.line.eq(1),
                request.tag.odd.eq(next_line[0]),
                next_line.eq(next_line + 1),
                line_valid.bit_select(next_line[0], 1).eq(0),
            ]
        with m.Elif(requested):
            m.d.sync += [
                request_valid.eq(1),
                request.address.eq((base + number) << 8),
                request.transfers.eq(sizes[code]),
                request.tag.line.eq(0),
                request.tag.code.eq(code),
                request.tag.buffer.eq(self.buffer),
            ]

    def _receive(self, m, answer, line_valid):
        """Lines of the table stay; transfers of a tile are put together, zeros behind them.

        Room for tiles is reserved when they are asked for: they wait for their decoder alone.
        """
        transfer = answer.payload
        is_line = transfer.tag.line
        waits = named(m, self.tile.valid & ~self.tile.ready, "waits")
        m.d.comb += answer.ready.eq(~waits)
        codes = [Signal(TRANSFER, name=f"codes_{n}") for n in range(2)]
        line_error = Signal(2)
        for n in range(2):
            with m.If(answer.valid & answer.ready & is_line & (transfer.tag.odd == n)):
                m.d.sync += [
                    codes[n].eq(transfer.data),
                    line_valid[n].eq(1),
                    line_error[n].eq(transfer.error),
                ]
        tile = self.tile.payload
        error = Signal()  # of an earlier transfer of the tile
        failed = named(m, transfer.error | (error & (transfer.index != 0)), "failed")
        with m.If(answer.valid & answer.ready & ~is_line):
            for n in range(SURFACE.most):
                word = tile.data.word_select(n, TRANSFER)
                with m.If((transfer.index == n) & ~transfer.empty):
                    m.d.sync += word.eq(transfer.data)
                with m.Elif(transfer.index == 0):
                    m.d.sync += word.eq(0)
            m.d.sync += [
                error.eq(failed),
                tile.buffer.eq(transfer.tag.buffer),
                tile.code.eq(Mux(failed, UNDECODABLE, transfer.tag.code)),
            ]
        with m.If(answer.ready):
            m.d.sync += self.tile.valid.eq(answer.valid & ~is_line & transfer.last)
        return line_valid, line_error, codes
