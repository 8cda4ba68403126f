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
    """Tags of a direct-mapped cache of lines, which also refills and evicts them.

    Parameters
    ----------
    lines : int
        Lines on chip, a power of two.

    Members
    -------
    lookup : In(1)
        Look up whether the line of ``lookup_tile`` is on chip.
    lookup_tile : In(TILE_NUMBER)
    resident : Out(1)
        The line of the last lookup is on chip, a clock after it, or has been refilled since.
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
        The line at ``index`` will be evicted: it is to be read.
    index : Out
        Place on chip of the line that is evicted or refilled.
    line_request : Out(stream.Signature(LINE))
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
                "line_request": Out(stream.Signature(LINE)),
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

        # A lookup is repeated until the next one, so that it hits when its line is refilled.
        requested = Signal(LINE)
        next_requested = Signal(LINE)
        stored = tags.read_port(transparent_for=(write,))
        m.d.comb += [
            next_requested.eq(Mux(self.lookup, self.lookup_tile[-LINE:], requested)),
            stored.addr.eq(next_requested[: self._bits]),
            self.resident.eq(
                valid.bit_select(requested[: self._bits], 1) & (stored.data == requested)
            ),
        ]
        m.d.sync += requested.eq(next_requested)

        # A line is valid and clean when it is refilled, dirty when it is updated, and neither when
        # it has been evicted.
        selected = Signal(self._lines)
        line = Signal(LINE)
        evicted = Signal()
        m.d.comb += [
            self.index.eq(line[: self._bits]),
            selected.eq(1 << self.index),
            write.en.eq(self.fetched),
            write.addr.eq(self.index),
            write.data.eq(line),
        ]
        with m.If(self.updated):
            m.d.sync += dirty.eq(dirty | (1 << self.place(self.updated_tile)))
        with m.If(self.fetched):
            m.d.sync += [
                valid.eq(valid | selected),
                dirty.eq(dirty & ~selected),
            ]
        with m.If(evicted):
            m.d.sync += valid.eq(valid & ~selected)
        with m.If(self.forget):
            m.d.sync += valid.eq(0)
        self._replace(m, tags.read_port(), valid, dirty, line, evicted)
        return m

    def _replace(self, m, stored_tag, valid, dirty, line, evicted):
        """A miss evicts the line in its place, and requests its own. A flush evicts all lines."""
        flushing = Signal()
        resident = Signal()
        updated = Signal()
        m.d.comb += [
            stored_tag.addr.eq(self.index),
            self.store.payload.line.eq(stored_tag.data),
            self.store.payload.posted.eq(flushing),
            self.line_request.payload.eq(line),
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
            # A line is not evicted while one of its modes is to be updated.
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
                    m.next = "EVICTED"
                with m.Elif(self.store.ready):
                    m.next = "STORED"
            with m.State("STORED"), m.If(flushing | self.stored):
                m.next = "EVICTED"
            with m.State("EVICTED"):
                m.d.comb += evicted.eq(1)
                m.next = "FETCH"
                with m.If(flushing):
                    self._flush_next(m, line)
            with m.State("FETCH"):
                m.d.comb += self.line_request.valid.eq(1)
                with m.If(self.line_request.ready):
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
