# SPDX-License-Identifier: BSD-2-Clause
"""Tile modes: the mode of each tile that is to be read, from a few lines of mode tables."""

from amaranth.hdl import Cat, Module, Signal
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


class TileModes(wiring.Component):
    """Give each tile its mode, in order: a tile in two clocks where the line is on chip.

    One line is fetched at a time; tiles behind wait for it. The oldest line is the victim.

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
        chip.
    o : Out(stream.Signature(TILE))
    forget : In(1)
        No line is on chip; while no tile is under way.
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
        read = lines.read_port(transparent_for=(write,))
        tile = self.i.payload
        place = named(m, (tile.mode_table + (tile.tile >> IN_LINE))[:TABLE], "place")
        known = Signal(self._lines)
        tags = [Signal(TABLE, name=f"tag_{n}") for n in range(self._lines)]
        victim = Signal(range(self._lines))
        found = named(m, Cat(tag == place for tag in tags) & known, "found")
        m.d.comb += [
            self.line_request.payload.eq(place),
            self.fetched.ready.eq(1),
            write.addr.eq(victim),
            write.data.eq(self.fetched.payload),
            read.addr.eq(number(found)),
            self.o.payload.mode.eq(read.data.data.word_select(tile.tile[:IN_LINE], MODE)),
            self.o.payload.failed.eq(read.data.error),
            *carried(self.o.payload, tile),
        ]
        with m.FSM():
            with m.State("LOOKUP"), m.If(self.i.valid):
                m.next = "REQUEST"
                with m.If(found.any()):
                    m.d.comb += read.en.eq(1)
                    m.next = "GIVE"
            with m.State("REQUEST"):
                m.d.comb += self.line_request.valid.eq(1)
                with m.If(self.line_request.ready):
                    m.next = "FETCH"
            with m.State("FETCH"), m.If(self.fetched.valid):
                m.d.comb += [
                    write.en.eq(1),
                    read.en.eq(1),
                    read.addr.eq(victim),
                ]
                m.d.sync += victim.eq(victim + 1)
                for n, tag in enumerate(tags):
                    with m.If(victim == n):
                        m.d.sync += [tag.eq(place), known[n].eq(1)]
                m.next = "GIVE"
            with m.State("GIVE"):
                m.d.comb += [
                    self.o.valid.eq(1),
                    self.i.ready.eq(self.o.ready),
                ]
                with m.If(self.o.ready):
                    m.next = "LOOKUP"
        with m.If(self.forget):
            m.d.sync += known.eq(0)
        return m
