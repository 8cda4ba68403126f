# SPDX-License-Identifier: BSD-2-Clause
"""Source tiles: which tiles a resolve reads, and in which modes they lie in memory."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import TRANSFER
from fixfunc.rtl.lib.bits import lowest, named, number
from fixfunc.rtl.memory.surface.tile_counts import COUNT
from fixfunc.rtl.memory.tile_cache.layouts import ENTRY, IN_LINE, LINE, tile_mode
from fixfunc.rtl.output.resolve.group_place import GroupPlace
from fixfunc.rtl.output.resolve.mode_lines import DEPTH, ModeLines
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import TileMode


class SourceTiles(wiring.Component):
    """Walk over the tiles of a surface, group by group; one tile a clock once modes have come.

    A group is what becomes one tile: its tiles row by row, then the next group of the row. A tile
    that the surface does not have comes as cleared, so that every group is whole.

    Parameters
    ----------
    most : int
        log2 of the most samples of a pixel.

    Members
    -------
    begin : In(1)
        Begin; while the last walk is over.
    samples : In(2)
        log2 of the samples of a pixel. This and what follows hold until the walk is over.
    columns, rows : In(COUNT)
        Tiles of the surface.
    group_columns, group_rows : In(COUNT)
        Groups.
    line_request : Out(stream.Signature(LINE))
        A line of the mode table to be fetched.
    fetched : In(stream.Signature(TRANSFER))
        The lines, in the order of requests. Always ready.
    o : Out(stream.Signature(tile_mode(ENTRY)))
        The tiles. They wait while a line is asked for.
    """

    def __init__(self, most: int) -> None:
        self._rows = 1 << max(rows for _, rows in SHAPES[: most + 1])
        super().__init__(
            {
                "begin": In(1),
                "samples": In(2),
                "columns": In(COUNT),
                "rows": In(COUNT),
                "group_columns": In(COUNT),
                "group_rows": In(COUNT),
                "line_request": Out(stream.Signature(LINE)),
                "fetched": In(stream.Signature(TRANSFER)),
                "o": Out(stream.Signature(tile_mode(ENTRY))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lines = [ModeLines() for _ in range(self._rows)]
        for n, unit in enumerate(lines):
            m.submodules[f"lines_{n}"] = unit
        m.submodules.place = place = GroupPlace()
        m.d.comb += place.samples.eq(self.samples)
        self._fetch(m, lines, place)
        self._walk(m, lines, place)
        return m

    def _fetch(self, m, lines, place):
        """Rows of a group request lines of their own; the first row is served first."""
        group_rows = named(m, 1 << place.rows, "rows_of_a_group")
        m.submodules.requesters = requesters = fifo.SyncFIFOBuffered(
            width=max(1, (self._rows - 1).bit_length()), depth=DEPTH * self._rows
        )
        requests = Cat(unit.request.valid for unit in lines)
        granted = named(m, lowest(requests), "granted")
        requester = named(m, number(granted), "requester") if self._rows > 1 else 0
        m.d.comb += [
            self.line_request.valid.eq(requests.any() & requesters.w_rdy),
            self.line_request.payload.eq(Array(unit.request.payload for unit in lines)[requester]),
            requesters.w_en.eq(self.line_request.valid & self.line_request.ready),
            requesters.w_data.eq(requester),
            requesters.r_en.eq(self.fetched.valid),
            self.fetched.ready.eq(1),
        ]
        for n, unit in enumerate(lines):
            # Of a group's row n: this row of each group, as far as the surface has it.
            first = named(m, (self.columns * n)[:TILE_NUMBER], f"first_{n}")
            m.d.comb += [
                unit.begin.eq(self.begin),
                unit.first.eq(first),
                unit.last.eq(first + self.columns - 1),
                unit.stride.eq(self.columns << place.rows),
                unit.rows.eq(
                    Mux(
                        (group_rows > n) & (self.rows > n),
                        (self.rows + group_rows - 1 - n) >> place.rows,
                        0,
                    )
                ),
                unit.request.ready.eq(granted[n] & requesters.w_en),
                unit.fetched.eq(self.fetched.valid & (requesters.r_data == n)),
                unit.data.eq(self.fetched.payload),
            ]

    def _walk(self, m, lines, place):
        """Tile by tile; a line is popped with its last tile, or the last of its row."""
        group_x = Signal(COUNT)
        group_y = Signal(COUNT)
        first = [Signal(TILE_NUMBER, name=f"row_{n}") for n in range(self._rows)]
        walking = Signal()
        x = named(m, (group_x << place.columns) | place.x, "x")
        y = named(m, (group_y << place.rows) | place.y, "y")
        exists = named(m, (x < self.columns) & (y < self.rows), "exists")
        row = place.y[: max(1, (self._rows - 1).bit_length())]
        tile = named(m, (Array(first)[row] + x)[:TILE_NUMBER], "tile")
        line = Array(unit.o.payload for unit in lines)[row]
        mode = line.word_select(tile[:IN_LINE], ENTRY)
        valid = named(
            m,
            walking
            & (~exists | Array(unit.o.valid for unit in lines)[row])
            & ~self.line_request.valid,
            "tile_valid",
        )
        accept = named(m, valid & (~self.o.valid | self.o.ready), "accept")
        last_x = named(m, x == self.columns - 1, "last_x")
        last_of_line = named(m, tile[:IN_LINE].all() | last_x, "last_of_line")
        for n, unit in enumerate(lines):
            m.d.comb += unit.o.ready.eq(accept & exists & last_of_line & (row == n))
        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += [
                self.o.valid.eq(valid),
                self.o.payload.number.eq(tile),
                self.o.payload.mode.eq(Mux(exists, mode, TileMode.CLEARED)),
            ]
        m.d.comb += place.advance.eq(accept)
        last_group = named(m, group_x == self.group_columns - 1, "last_group")
        with m.If(self.begin):
            m.d.sync += [
                walking.eq(1),
                group_x.eq(0),
                group_y.eq(0),
                *(row_first.eq(self.columns * n) for n, row_first in enumerate(first)),
            ]
        with m.If(accept & place.last):
            m.d.sync += group_x.eq(Mux(last_group, 0, group_x + 1))
            with m.If(last_group):
                m.d.sync += [
                    group_y.eq(group_y + 1),
                    walking.eq(group_y != self.group_rows - 1),
                    *(
                        row_first.eq(row_first + (self.columns << place.rows))
                        for row_first in first
                    ),
                ]
