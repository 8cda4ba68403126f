# SPDX-License-Identifier: BSD-2-Clause
"""Modes of tiles, of which a part is on chip."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.axi import TRANSFER
from fixfunc.rtl.pipeline import NEVER_COLLIDES, delay
from fixfunc.spec.payloads import TILE_NUMBER

MODE = 3  # bits of a tile's mode,
ENTRY = 4  # of which it takes so many in memory
TILES = TRANSFER // ENTRY  # of a transfer
LINE = TILE_NUMBER - (TILES - 1).bit_length()  # bits of a transfer's number


class TileTable(wiring.Component):
    """Transfers of the tile table, direct-mapped; a mode a clock is looked up, one in three clocks changed.

    Parameters
    ----------
    lines : int
        Transfers on chip, a power of two.

    Members
    -------
    looks, tile, here : In, In, Out
        Whether the transfer of the tile that was looked for last is on chip.
    asks, asked, mode : In, In, Out
        The mode of a tile whose transfer is: :attr:`LATENCY` clocks later.
    misses, brought : In, Out
        The transfer of ``asked`` is wanted, until it has been brought.
    quiet : In(1)
        No tile whose mode has been asked for is still to be changed: only then a transfer may leave.
    changes, changed, to, takes : In, In, In, Out
        A tile whose transfer is on chip gets another mode; taken.
    forgets : In(1)
        Nothing is on chip from now on.
    flushes, flushed, last : In, Out, In
        Write back what was changed, and forget; for as long as it takes; it is done, for one clock. The target's last tile.
    fetches, fetched, data : Out, In, In
        Transfer :attr:`line` is wanted; here it is.
    stores, posts, line, stored, old : Out, Out, Out, In, Out
        It goes to memory; it is there, or, with ``posts``, on its way.
    """

    LATENCY = 4

    def __init__(self, lines):
        self._lines = lines
        super().__init__({
            "looks": In(1), "tile": In(TILE_NUMBER), "here": Out(1), "asks": In(1), "asked": In(TILE_NUMBER), "mode": Out(MODE),
            "misses": In(1), "brought": Out(1), "quiet": In(1),
            "changes": In(1), "changed": In(TILE_NUMBER), "to": In(MODE), "takes": Out(1), "forgets": In(1),
            "flushes": In(1), "flushed": Out(1), "last": In(TILE_NUMBER), "line": Out(LINE),
            "fetches": Out(1), "fetched": In(1), "data": In(TRANSFER), "stores": Out(1), "posts": Out(1), "stored": In(1), "old": Out(TRANSFER),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=TRANSFER, depth=self._lines, init=[], attrs=NEVER_COLLIDES)
        m.submodules.lines = lines = Memory(shape=LINE, depth=self._lines, init=[])
        read, again, write = memory.read_port(), memory.read_port(), memory.write_port()
        find, write_line = lines.read_port(domain="comb"), lines.write_port()
        valid, dirty, stores = Signal(self._lines), Signal(self._lines), Signal()

        # A mode is looked up: from block RAM, then one of many.
        found, asks, asked = Signal(TRANSFER), Signal(), Signal(TILE_NUMBER)
        m.d.comb += [read.addr.eq(self._place(asked)), read.en.eq(asks)]
        m.d.sync += [asks.eq(self.asks), asked.eq(self.asked)]
        m.d.sync += [found.eq(read.data), self.mode.eq(found.word_select(delay(m, asked[:-LINE], 2, "column"), ENTRY))]

        # A mode changes, in a clock in which nobody looks it up, and nothing else is written.
        at, kept, moving = Signal(TILE_NUMBER), Signal(TRANSFER), Signal()
        place, column = self._place(self.changed), self.changed[:-LINE]
        m.d.comb += [again.addr.eq(self._place(Mux(stores, at, self.changed))), again.en.eq(stores), write.addr.eq(place), write.data.eq(kept),
                     write.data.word_select(column, ENTRY).eq(self.to), write_line.addr.eq(self._place(at)), write_line.data.eq(at[-LINE:])]
        m.d.sync += kept.eq(again.data)
        with m.FSM(name="change"):
            with m.State("REST"), m.If(self.changes):
                m.d.comb += again.en.eq(1)
                m.next = "READ"
            with m.State("READ"):
                m.next = "WRITE"
            with m.State("WRITE"), m.If(~self.fetched & ~asks):
                m.d.comb += [write.en.eq(1), self.takes.eq(1)]
                m.d.sync += dirty.eq(dirty | 1 << place)
                m.next = "REST"
        line = Signal(self._lines)  # masks of whole vectors: a bit chosen on the left of an assignment is a case for every line
        m.d.comb += line.eq(1 << self._place(at))
        with m.If(self.forgets):
            m.d.sync += valid.eq(0)
        with m.If(self.fetched):
            m.d.comb += [write.en.eq(1), write.addr.eq(self._place(at)), write.data.eq(self.data), write_line.en.eq(1)]
            m.d.sync += [valid.eq(Mux(self.forgets, 0, valid) | line), dirty.eq(dirty & ~line)]
        m.d.comb += [self.old.eq(kept), self.brought.eq(self.fetched)]
        self._look(m, at, moving, valid, find)
        self._move(m, at, moving, stores, valid, dirty, find)
        return m

    def _place(self, tile):
        """Where a tile's transfer lies on chip."""
        return tile[-LINE:][:(self._lines - 1).bit_length()]

    def _look(self, m, at, moving, valid, find):
        """Which transfer lies in a tile's place; nothing is looked for while one moves, so that only its coming changes that."""
        wanted, line, there = Signal(LINE), Signal(LINE), Signal()
        m.d.comb += [find.addr.eq(self._place(Mux(moving, at, self.tile))), self.here.eq(there & (line == wanted))]
        with m.If(self.looks):
            m.d.sync += [wanted.eq(self.tile[-LINE:]), line.eq(find.data), there.eq(valid.bit_select(self._place(self.tile), 1))]
        with m.Elif(self.fetched & (self._place(at) == self._place(wanted))):
            m.d.sync += [line.eq(at[-LINE:]), there.eq(1)]

    def _move(self, m, at, moving, stores, valid, dirty, find):
        """A transfer goes to memory if it was changed, and another comes; or all of them go."""
        flushing, held, changed = Signal(), Signal(), Signal()
        place = self._place(at)
        m.d.comb += self.posts.eq(flushing)
        m.d.sync += [held.eq(valid.bit_select(place, 1)), changed.eq(dirty.bit_select(place, 1))]
        with m.FSM(name="move"):
            with m.State("REST"):
                m.d.sync += [at.eq(Mux(self.flushes, 0, self.asked)), flushing.eq(self.flushes)]
                m.d.sync += moving.eq(self.flushes | self.misses)
                with m.If(self.flushes | self.misses):
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.next = "LEAVE"
            with m.State("LEAVE"):  # what is changed later is changed in memory: it must not leave before
                m.d.sync += self.line.eq(find.data)
                with m.If(~held):
                    m.next = "GONE"
                with m.Elif(self.quiet):
                    m.next = "CHOOSE"
            with m.State("CHOOSE"):
                m.d.comb += stores.eq(1)
                m.next = "GONE"
                with m.If(changed):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += stores.eq(1)
                m.d.sync += self.stores.eq(1)
                m.next = "STORE"
            with m.State("STORE"):
                m.d.comb += stores.eq(1)
                with m.If(self.stored):
                    m.d.sync += self.stores.eq(0)
                    m.next = "GONE"
            with m.State("GONE"):
                m.d.sync += [valid.eq(valid & ~(1 << place)), self.line.eq(at[-LINE:])]
                m.next = "FETCH"
                with m.If(flushing):
                    m.d.comb += self.flushed.eq((place == self._lines - 1) | (at[-LINE:] == self.last[-LINE:]))
                    m.d.sync += at.eq(at + TILES)
                    m.next = "LOOK"
                with m.If(self.flushed):
                    m.d.sync += moving.eq(0)
                    m.next = "REST"
            with m.State("FETCH"):
                m.d.comb += self.fetches.eq(1)
                with m.If(self.fetched):
                    m.d.sync += moving.eq(0)
                    m.next = "REST"
