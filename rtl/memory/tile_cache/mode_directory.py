# SPDX-License-Identifier: BSD-2-Clause
"""Mode directory: which lines of the mode table are on chip, and how they come and go."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.memory.tile_cache.layouts import LINE
from fixfunc.spec.payloads import TILE_NUMBER

STORE = StructLayout({"line": LINE, "posted": 1})


class ModeDirectory(wiring.Component):
    """Tags of a direct-mapped cache of lines, and the moves of its lines.

    Parameters
    ----------
    lines : int
        Lines on chip, a power of two.

    Members
    -------
    lookup : In(1)
        Is the line of ``lookup_tile`` on chip?
    lookup_tile : In(TILE_NUMBER)
    resident : Out(1)
        It is, one clock later; or it has been fetched since.
    tile : In(TILE_NUMBER)
    miss : In(1)
        The line of ``tile`` is wanted, until it is resident.
    drained : In(1)
        No mode will be updated before the next one is read. A valid line leaves only then.
    updated, updated_tile : In(1), In(TILE_NUMBER)
        The mode of a tile on chip has been updated.
    forget : In(1)
        No line is on chip from now on.
    flush : In(1)
        Store every line that has been updated, and forget all; until ``flushed``.
    flushed : Out(1)
    last : In(TILE_NUMBER)
        The target's last tile.
    leaving : Out(1)
        The line at ``index`` is about to leave: it is to be read.
    index : Out
        Where a line lies that leaves, or is fetched.
    fetch : Out(stream.Signature(LINE))
        A line is wanted. It is written to ``index`` when it is ``fetched``.
    fetched : In(1)
    store : Out(stream.Signature(STORE))
        The line at ``index`` has been updated, and leaves.
    stored : In(1)
        Memory holds a line that was not posted.
    """

    def __init__(self, lines: int) -> None:
        self._lines = lines
        self._bits = (lines - 1).bit_length()
        super().__init__(
            {
                "lookup": In(1),
                "lookup_tile": In(TILE_NUMBER),
                "resident": Out(1),
                "tile": In(TILE_NUMBER),
                "miss": In(1),
                "drained": In(1),
                "updated": In(1),
                "updated_tile": In(TILE_NUMBER),
                "forget": In(1),
                "flush": In(1),
                "flushed": Out(1),
                "last": In(TILE_NUMBER),
                "leaving": Out(1),
                "index": Out(self._bits),
                "fetch": Out(stream.Signature(LINE)),
                "fetched": In(1),
                "store": Out(stream.Signature(STORE)),
                "stored": In(1),
            }
        )

    def place(self, tile: Value) -> Value:
        """Where the line of a tile lies on chip."""
        return tile[-LINE:][: self._bits]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.tags = tags = Memory(shape=LINE, depth=self._lines, init=[])
        write = tags.write_port()
        valid = Signal(self._lines)
        dirty = Signal(self._lines)

        # A lookup goes on until the next one, so that it sees its line come.
        wanted = Signal(LINE)
        next_wanted = Signal(LINE)
        found = tags.read_port(transparent_for=(write,))
        m.d.comb += [
            next_wanted.eq(Mux(self.lookup, self.lookup_tile[-LINE:], wanted)),
            found.addr.eq(next_wanted[: self._bits]),
            found.en.eq(1),
            self.resident.eq(valid.bit_select(wanted[: self._bits], 1) & (found.data == wanted)),
        ]
        m.d.sync += wanted.eq(next_wanted)

        # A line that comes is valid and clean; a line that is updated is dirty; one that has left
        # is neither.
        here = Signal(self._lines)
        line = Signal(LINE)
        left = Signal()
        m.d.comb += [
            self.index.eq(line[: self._bits]),
            here.eq(1 << self.index),
            write.en.eq(self.fetched),
            write.addr.eq(self.index),
            write.data.eq(line),
        ]
        with m.If(self.updated):
            m.d.sync += dirty.eq(dirty | (1 << self.place(self.updated_tile)))
        with m.If(self.fetched):
            m.d.sync += [
                valid.eq(valid | here),
                dirty.eq(dirty & ~here),
            ]
        with m.If(left):
            m.d.sync += valid.eq(valid & ~here)
        with m.If(self.forget):
            m.d.sync += valid.eq(0)
        self._move(m, tags.read_port(), valid, dirty, line, left)
        return m

    def _move(self, m, stored_tag, valid, dirty, line, left):
        """A miss: the line in its place leaves, and it is fetched. A flush: all lines leave."""
        flushing = Signal()
        resident = Signal()
        updated = Signal()
        m.d.comb += [
            stored_tag.addr.eq(self.index),
            stored_tag.en.eq(1),
            self.store.payload.line.eq(stored_tag.data),
            self.store.payload.posted.eq(flushing),
            self.fetch.payload.eq(line),
        ]
        m.d.sync += [
            resident.eq(valid.bit_select(self.index, 1)),
            updated.eq(dirty.bit_select(self.index, 1)),
        ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [
                    line.eq(Mux(self.flush, 0, self.tile[-LINE:])),
                    flushing.eq(self.flush),
                ]
                with m.If(self.flush | self.miss):
                    m.next = "READ"
            with m.State("READ"):
                m.next = "DRAIN"
            # A mode that is still to be updated keeps its line on chip.
            with m.State("DRAIN"), m.If(~resident | self.drained):
                m.next = "LEAVE"
            with m.State("LEAVE"):
                m.d.comb += self.leaving.eq(1)
                m.next = "STORE"
            with m.State("STORE"):
                m.d.comb += [
                    self.leaving.eq(1),
                    self.store.valid.eq(resident & updated),
                ]
                with m.If(~self.store.valid):
                    m.next = "LEFT"
                with m.Elif(self.store.ready):
                    m.next = "STORED"
            with m.State("STORED"), m.If(flushing | self.stored):
                m.next = "LEFT"
            with m.State("LEFT"):
                m.d.comb += left.eq(1)
                m.next = "FETCH"
                with m.If(flushing):
                    self._flush_next(m, line)
            with m.State("FETCH"):
                m.d.comb += self.fetch.valid.eq(1)
                with m.If(self.fetch.ready):
                    m.next = "FETCHED"
            with m.State("FETCHED"), m.If(self.fetched):
                m.next = "IDLE"

    def _flush_next(self, m, line):
        """The next line leaves, unless this was the last of the chip or of the target."""
        m.d.sync += line.eq(line + 1)
        m.next = "READ"
        with m.If((self.index == self._lines - 1) | (line == self.last[-LINE:])):
            m.d.comb += self.flushed.eq(1)
            m.next = "IDLE"
