# SPDX-License-Identifier: BSD-2-Clause
"""Mode lines: the mode table of every n-th row of tiles, ahead of its use."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import TRANSFER
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.memory.surface.tile_counts import COUNT
from fixfunc.rtl.memory.tile_cache.layouts import IN_LINE, LINE
from fixfunc.spec.payloads import TILE_NUMBER

DEPTH = 4  # lines ahead


class ModeLines(wiring.Component):
    """Fetch the lines of a mode table that some rows of a surface need, each row's in turn.

    Members
    -------
    begin : In(1)
        Take ``first``, ``rows`` and begin.
    first : In(TILE_NUMBER)
        Number of the first tile of the first row.
    last : In(TILE_NUMBER)
        Number of the last tile of the first row.
    stride : In(TILE_NUMBER)
        Tiles from one row to the next. It holds until all lines have come.
    rows : In(COUNT)
        Rows.
    request : Out(stream.Signature(LINE))
        A line to be fetched, where there is room for it.
    fetched : In(1)
        ``data`` is the oldest line that was asked for and has not come.
    data : In(TRANSFER)
    o : Out(stream.Signature(TRANSFER))
        The lines in order.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "begin": In(1),
                "first": In(TILE_NUMBER),
                "last": In(TILE_NUMBER),
                "stride": In(TILE_NUMBER),
                "rows": In(COUNT),
                "request": Out(stream.Signature(LINE)),
                "fetched": In(1),
                "data": In(TRANSFER),
                "o": Out(stream.Signature(TRANSFER)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.lines = lines = CreditedFIFO(TRANSFER, DEPTH)
        wiring.connect(m, lines.o, wiring.flipped(self.o))
        line = Signal(LINE)
        first = Signal(TILE_NUMBER)
        last = Signal(TILE_NUMBER)
        remaining = Signal(COUNT)
        next_first = Signal(TILE_NUMBER)
        transferred = Signal()
        m.d.comb += [
            next_first.eq(first + self.stride),
            self.request.valid.eq((remaining != 0) & lines.available),
            self.request.payload.eq(line),
            transferred.eq(self.request.valid & self.request.ready),
            lines.consume.eq(transferred),
            lines.push.eq(self.fetched),
            lines.i.eq(self.data),
        ]
        with m.If(self.begin):
            m.d.sync += [
                line.eq(self.first >> IN_LINE),
                first.eq(self.first),
                last.eq(self.last),
                remaining.eq(self.rows),
            ]
        with m.Elif(transferred):
            m.d.sync += line.eq(line + 1)
            with m.If(line == last >> IN_LINE):
                m.d.sync += [
                    line.eq(next_first >> IN_LINE),
                    first.eq(next_first),
                    last.eq(last + self.stride),
                    remaining.eq(remaining - 1),
                ]
        return m
