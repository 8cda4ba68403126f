# SPDX-License-Identifier: BSD-2-Clause
"""Target tiles: coded, and written together with their mode table."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import ADDRESS, TRANSFER, AxiWrite
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.tile_cache.layouts import ENTRY, IN_LINE
from fixfunc.rtl.memory.tile_cache.write_back import WriteBackUnit
from fixfunc.rtl.output.compression.colour_coder import ColourCoder
from fixfunc.rtl.output.differences.colour_order import ColourOrder
from fixfunc.rtl.output.resolve.averages import TILE
from fixfunc.spec.colours import EDGE, LANES, WORDS
from fixfunc.spec.payloads import COLOUR, TILE_NUMBER
from fixfunc.spec.state import TileMode


class TargetTiles(wiring.Component):
    """Write a surface of one sample a pixel, all tiles in order; a tile a clock, if memory can,
    and if it has a palette: else one in four clocks.

    Members
    -------
    begin : In(1)
        A surface begins; while :attr:`done`.
    base : In(ADDRESS)
        Address of its first tile. This and what follows hold until it is done.
    count : In(TILE_NUMBER)
        Tiles.
    cleared : In(COLOUR)
        The colour that it has been cleared to.
    i : In(stream.Signature(TILE))
    done : Out(1)
        Memory holds all of it.
    stopped : In(1)
        Nothing is written; tiles are still taken.
    error : Out(1)
        A write failed.
    memory : Out(AxiWrite())
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "begin": In(1),
                "base": In(ADDRESS),
                "count": In(TILE_NUMBER),
                "cleared": In(COLOUR),
                "i": In(stream.Signature(TILE)),
                "done": Out(1, init=1),
                "stopped": In(1),
                "error": Out(1),
                "memory": Out(AxiWrite()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.coder = coder = ColourCoder(ColourOrder(1))
        m.submodules.write_back = write_back = WriteBackUnit(Surface(EDGE, COLOUR, True))
        uncoded = coder.i.payload
        m.d.comb += [
            coder.i.valid.eq(self.i.valid),
            self.i.ready.eq(coder.i.ready),
            uncoded.samples.eq(0),
            uncoded.clears.eq(1),
            uncoded.cleared.eq(self.cleared),
            *(uncoded[f"colour{n}"].eq(self.i.payload[n]) for n in range(LANES)),
            write_back.base.eq(self.base),
            write_back.count.eq(self.count),
            write_back.stopped.eq(self.stopped),
            write_back.update.ready.eq(1),
            self.error.eq(write_back.error),
        ]
        wiring.connect(m, write_back.memory, wiring.flipped(self.memory))
        remaining = self._write(m, coder.o, write_back)
        with m.If(self.begin):
            m.d.sync += self.done.eq(0)
        with m.Elif((remaining == 0) & ~write_back.store.valid & write_back.idle):
            m.d.sync += self.done.eq(1)
        return m

    def _write(self, m, coded, write_back):
        """A tile goes on a clock behind its data; its mode joins the line, which goes when full.

        Returns how many tiles are still to come.
        """
        tile = write_back.i
        line = write_back.store
        number = Signal(TILE_NUMBER)
        remaining = Signal(TILE_NUMBER)
        modes = Signal(TRANSFER)
        transferred = named(m, tile.valid & tile.ready, "transferred")
        last = named(m, transferred & (number[:IN_LINE].all() | (remaining == 0)), "last_of_line")
        accept = named(
            m,
            coded.valid & write_back.available & (~tile.valid | transferred) & ~line.valid & ~last,
            "accept",
        )
        words = [coded.payload[f"data{n}"] for n in range(WORDS)]
        m.d.comb += [
            coded.ready.eq(accept),
            write_back.push.eq(accept),
            write_back.row.eq(Cat(words)),
            tile.payload.number.eq(number),
            tile.payload.dirty.eq(1),
            write_back.update.ready.eq(1),  # all of the table is written
            line.payload.data.eq(modes),
        ]
        m.d.sync += write_back.commit.eq(accept & (coded.payload.code != TileMode.CLEARED))
        with m.If(accept | transferred):
            m.d.sync += tile.valid.eq(accept)
        with m.If(accept):
            m.d.sync += [
                tile.payload.mode.eq(coded.payload.code),
                remaining.eq(remaining - 1),
            ]
        with m.If(transferred):
            m.d.sync += [
                number.eq(number + 1),
                modes.word_select(number[:IN_LINE], ENTRY).eq(tile.payload.mode),
            ]
        with m.If(last):
            m.d.sync += [
                line.valid.eq(1),
                line.payload.line.eq(number >> IN_LINE),
            ]
        with m.Elif(line.ready):
            m.d.sync += line.valid.eq(0)
            with m.If(line.valid):
                m.d.sync += modes.eq(0)
        with m.If(self.begin):
            m.d.sync += [
                number.eq(0),
                remaining.eq(self.count),
            ]
        # The last tile has come, but not gone.
        return Mux(tile.valid, 1, remaining)
