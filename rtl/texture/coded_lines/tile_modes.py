# SPDX-License-Identifier: BSD-2-Clause
"""Tile modes: the mode of each tile that is to be read, from a few lines of mode tables."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import TRANSFER
from fixfunc.rtl.lib.bits import named, number
from fixfunc.rtl.payload import carried
from fixfunc.rtl.texture.coded_lines.layouts import IN_LINE, MISSED, MODE, TILE
from fixfunc.spec.textures.cache import TABLE

# A line of a mode table as memory gave it, or could not.
FETCHED = StructLayout({"data": TRANSFER, "error": 1})

PAGE = 7  # bits of a line's place in a page of 4 KB


class TileModes(wiring.Component):
    """Give each tile its mode, in order: a tile in two clocks where the line is on chip.

    One line is fetched at a time; tiles of others wait for it. With the second tile of a line the
    next line is fetched ahead, if it is in the same page of memory: whoever maps a table maps all
    of that. A line of which one tile alone counts, as of scattered tiles, is not followed. The
    oldest line is the victim.

    Parameters
    ----------
    lines : int
        Lines on chip: a power of two.

    Members
    -------
    i : In(stream.Signature(MISSED))
    line_request : Out(stream.Signature(TABLE))
        A line to be fetched: its address, in transfers.
    fetched : In(stream.Signature(FETCHED))
        That line. Always ready. One that memory could not give fails its tiles as long as it is on
        chip: a line that was fetched ahead, and has no tile that counts, fails none.
    o : Out(stream.Signature(TILE))
    forget : In(1)
        No line is on chip; while no tile is under way. A line that is under way is dropped.
    """

    def __init__(self, lines: int) -> None:
        self._lines = lines
        super().__init__(
            {
                "i": In(stream.Signature(MISSED)),
                "line_request": Out(stream.Signature(TABLE)),
                "fetched": In(stream.Signature(FETCHED)),
                "o": Out(stream.Signature(TILE)),
                "forget": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.lines = lines = Memory(shape=FETCHED, depth=self._lines, init=[])
        write = lines.write_port()
        read = lines.read_port()
        tile = self.i.payload
        place = named(m, (tile.mode_table + (tile.tile >> IN_LINE))[:TABLE], "place")
        known = Signal(self._lines)
        tags = [Signal(TABLE, name=f"tag_{n}") for n in range(self._lines)]
        victim = Signal(range(self._lines))
        mode_valid = Signal()
        following = named(m, place + 1, "following")
        compared = named(m, Mux(mode_valid, following, place)[:TABLE], "compared")
        found = named(m, Cat(tag == compared for tag in tags) & known, "found")
        fetch = Signal(TABLE)
        requested = Signal()
        fetching = Signal()
        dropped = Signal()
        used = Signal(self._lines)  # by a tile
        line_used = Signal()
        is_page = named(m, following[:PAGE].any(), "is_page")
        # A line that arrives is not free before it has its tag; the one it replaces is read still.
        free = named(m, ~fetching & ~found.any(), "free")
        m.d.comb += [
            self.line_request.valid.eq(fetching & ~requested),
            self.line_request.payload.eq(fetch),
            self.fetched.ready.eq(1),
            write.en.eq(self.fetched.valid),
            write.addr.eq(victim),
            write.data.eq(self.fetched.payload),
            read.en.eq(~mode_valid),
            read.addr.eq(number(found)),
            self.o.payload.mode.eq(read.data.data.word_select(tile.tile[:IN_LINE], MODE)),
            self.o.payload.failed.eq(read.data.error),
            self.o.valid.eq(mode_valid),
            self.i.ready.eq(mode_valid & self.o.ready),
            *carried(self.o.payload, tile),
        ]
        with m.If(mode_valid):
            m.d.sync += mode_valid.eq(~self.o.ready)
        with m.Elif(self.i.valid):
            m.d.sync += [
                mode_valid.eq(found.any()),
                line_used.eq((used & found).any()),
                used.eq(used | found),
            ]
        with m.If(self.line_request.ready):
            m.d.sync += requested.eq(fetching)
        with m.If(self.fetched.valid):
            m.d.sync += [fetching.eq(0), requested.eq(0), dropped.eq(0), victim.eq(victim + 1)]
            for n, tag in enumerate(tags):
                with m.If(victim == n):
                    m.d.sync += [tag.eq(fetch), known[n].eq(~dropped), used[n].eq(0)]
        with m.If(free & Mux(mode_valid, self.o.ready & line_used & is_page, self.i.valid)):
            m.d.sync += [fetch.eq(compared), fetching.eq(1)]
        with m.If(self.forget):
            m.d.sync += [known.eq(0), dropped.eq(fetching & ~self.fetched.valid)]
        return m
