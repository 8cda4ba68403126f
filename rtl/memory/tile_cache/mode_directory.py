# SPDX-License-Identifier: BSD-2-Clause
"""Mode directory: which lines of the mode table are on chip, and how they come and go."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.memory.tile_cache.layouts import IN_LINE, LINE
from fixfunc.spec.payloads import TILE_NUMBER

STORE = StructLayout({"line": LINE, "posted": 1})


class ModeDirectory(wiring.Component):
    """Tags of a direct-mapped cache of lines, which also refills and evicts them.

    A line of a table that has been cleared is all zeros in memory as long as no line that shares
    its place has been stored: it is not fetched.

    Parameters
    ----------
    lines : int
        Lines on chip, a power of two.

    Members
    -------
    lookup : In(1)
        Look up whether the lines of ``lookup_tile`` and ``lookup_victim`` are on chip.
    lookup_tile, lookup_victim : In(TILE_NUMBER)
    resident, victim_resident : Out(1)
        The line of the last lookup is on chip, a clock after it, or has been refilled since.
    conflict : Out(1)
        The two lines are not the same, and have one place on chip.
    tile : In(TILE_NUMBER)
    miss : In(1)
        The line of ``tile`` is wanted, until it is resident.
    drained : In(1)
        No mode of the line at ``index`` will be updated. It leaves only then.
    updated, updated_tile : In(1), In(TILE_NUMBER)
        The mode of a tile on chip has been updated.
    forget : In(1)
        No line is on chip from now on, and the table is cleared.
    flush : In(1)
        Store every line that has been updated, and forget all; until ``flushed``.
    flushed : Out(1)
    last : In(TILE_NUMBER)
        The target's last tile.
    leaving : Out(1)
        The line at ``read_index`` will be evicted: it is to be read.
    read_index : Out
        Place on chip that ``index`` has in the next clock.
    index : Out
        Place on chip of the line that is evicted or refilled.
    line_request : Out(stream.Signature(LINE))
        A line is wanted. It is written to ``index`` when it is ``fetched``.
    blank : Out(1)
        Zeros are to be written to ``index``.
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
                "lookup_victim": In(TILE_NUMBER),
                "resident": Out(1),
                "victim_resident": Out(1),
                "conflict": Out(1),
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
                "read_index": Out(self._bits),
                "index": Out(self._bits),
                "line_request": Out(stream.Signature(LINE)),
                "blank": Out(1),
                "fetched": In(1),
                "store": Out(stream.Signature(STORE)),
                "stored": In(1),
            }
        )

    @staticmethod
    def place_bits(lines: int) -> slice:
        """Bits of a tile's number that say where its line lies on chip."""
        return slice(IN_LINE, IN_LINE + (lines - 1).bit_length())

    def place(self, tile: Value) -> Value:
        """Where the line of a tile lies on chip."""
        return tile[self.place_bits(self._lines)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.tags = tags = Memory(shape=LINE, depth=self._lines, init=[])
        write = tags.write_port()
        valid = Signal(self._lines)
        dirty = Signal(self._lines)
        zero = Signal(self._lines)
        refilled = Signal()

        # Of a place: whether a line is there in the next clock. One that leaves stays a clock more,
        # in which no tile passes: it waits for the line that follows, or for the end of a flush.
        def is_kept(place):
            return valid.bit_select(place, 1) | (refilled & (self.index == place))

        tile = self._look_up(m, tags, write, is_kept, self.lookup_tile, self.resident)
        victim = self._look_up(m, tags, write, is_kept, self.lookup_victim, self.victim_resident)
        shares_place = tile[: self._bits] == victim[: self._bits]
        m.d.comb += self.conflict.eq(shares_place & (tile != victim))

        # A line is valid and clean when it is refilled, dirty when it is updated. The place of a
        # line that is stored holds zeros in memory no more.
        selected = Signal(self._lines)
        line = Signal(LINE)
        m.d.comb += [
            refilled.eq(self.fetched | self.blank),
            self.index.eq(line[: self._bits]),
            selected.eq(1 << self.index),
            write.en.eq(refilled),
            write.addr.eq(self.index),
            write.data.eq(line),
        ]
        with m.If(self.updated):
            m.d.sync += dirty.eq(dirty | (1 << self.place(self.updated_tile)))
        with m.If(refilled):
            m.d.sync += [
                valid.eq(valid | selected),
                dirty.eq(dirty & ~selected),
            ]
        with m.If(self.store.valid & self.store.ready):
            m.d.sync += [
                valid.eq(valid & ~selected),
                zero.eq(zero & ~selected),
            ]
        with m.If(self.forget | self.flushed):
            m.d.sync += valid.eq(0)
        with m.If(self.forget):
            m.d.sync += zero.eq(~0)
        self._replace(m, tags.read_port(), line, valid, dirty, zero)
        return m

    def _look_up(self, m, tags, write, is_kept, tile, resident):
        """Whether the line of a tile is on chip; returns the line that was looked up.

        A lookup is repeated until the next one, so that it hits when its line is refilled. Whether
        a place has a line is known in the clock before, of the old lookup and of the new one, since
        it decides late which of them it is.
        """
        requested = Signal(LINE)
        next_requested = Signal(LINE)
        has_line = Signal()
        stored = tags.read_port(transparent_for=(write,))
        m.d.comb += [
            next_requested.eq(Mux(self.lookup, tile[-LINE:], requested)),
            stored.addr.eq(next_requested[: self._bits]),
            resident.eq(has_line & (stored.data == requested)),
        ]
        m.d.sync += [
            requested.eq(next_requested),
            has_line.eq(
                Mux(self.lookup, is_kept(self.place(tile)), is_kept(requested[: self._bits]))
            ),
        ]
        return requested

    def _replace(self, m, stored_tag, line, valid, dirty, zero):
        """A miss evicts the line in its place, and brings its own. A flush evicts all lines, one a
        clock.
        """
        flushing = Signal()
        next_line = Signal(LINE)
        place = next_line[: self._bits]
        resident = Signal()
        updated = Signal()
        zeros = Signal()
        m.d.comb += [
            next_line.eq(line),
            self.read_index.eq(place),
            stored_tag.addr.eq(place),
            self.store.payload.line.eq(stored_tag.data),
            self.store.payload.posted.eq(flushing),
            self.line_request.payload.eq(line),
            self.leaving.eq(self.flush | flushing),
        ]
        m.d.sync += [
            line.eq(next_line),
            resident.eq(valid.bit_select(place, 1)),
            updated.eq(dirty.bit_select(place, 1)),
            zeros.eq(zero.bit_select(place, 1)),
        ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += next_line.eq(Mux(self.flush, 0, self.tile[-LINE:]))
                m.d.sync += flushing.eq(self.flush)
                with m.If(self.flush | self.miss):
                    m.next = "LOOK_UP"
            # Which line it is comes late: its place is looked up a clock later.
            with m.State("LOOK_UP"):
                m.next = "DRAIN"
            # A line is not evicted while one of its modes is to be updated.
            with m.State("DRAIN"):
                with m.If(flushing):
                    m.d.comb += self.store.valid.eq(resident & updated & self.drained)
                    with m.If(~(resident & updated) | (self.store.valid & self.store.ready)):
                        self._flush_next(m, line, next_line)
                with m.Elif(~resident):
                    m.next = "REFILL"
                with m.Elif(self.drained):
                    m.next = "LEAVE"
            with m.State("LEAVE"):
                m.d.comb += self.leaving.eq(1)
                m.next = "STORE"
            with m.State("STORE"):
                m.d.comb += [
                    self.leaving.eq(1),
                    self.store.valid.eq(updated),
                ]
                with m.If(~updated):
                    m.next = "REFILL"
                with m.Elif(self.store.ready):
                    m.next = "STORED"
            with m.State("STORED"), m.If(self.stored):
                m.next = "REFILL"
            with m.State("REFILL"):
                m.d.comb += [
                    self.blank.eq(zeros),
                    self.line_request.valid.eq(~zeros),
                ]
                with m.If(zeros):
                    m.next = "IDLE"
                with m.Elif(self.line_request.ready):
                    m.next = "FETCHED"
            with m.State("FETCHED"), m.If(self.fetched):
                m.next = "IDLE"

    def _flush_next(self, m, line, next_line):
        """The next line is looked up, unless this was the last of the chip or of the target."""
        m.d.comb += next_line.eq(line + 1)
        m.next = "DRAIN"
        with m.If((self.index == self._lines - 1) | (line == self.last[-LINE:])):
            m.d.comb += self.flushed.eq(1)
            m.next = "IDLE"
