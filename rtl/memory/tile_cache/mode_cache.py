# SPDX-License-Identifier: BSD-2-Clause
"""Mode cache: how each tile lies in memory, as far as that is on chip."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import TRANSFER
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.memory.tile_cache.layouts import ENTRY, LINE, LINE_STORE, tile_mode
from fixfunc.rtl.memory.tile_cache.mode_directory import ModeDirectory
from fixfunc.spec.payloads import TILE_NUMBER


class ModeCache(wiring.Component):
    """Lines of the mode table, direct-mapped. One mode is read and one updated a clock.

    Parameters
    ----------
    lines : int
        Lines on chip, a power of two. A line is a transfer of the table.
    mode : int
        Bits of a mode.

    Members
    -------
    lookup, lookup_tile, lookup_victim : In, In, In
    resident, victim_resident, conflict : Out, Out, Out
    miss, drained, forget, flush, flushed, last, line_request : In, In, In, In, Out, In, Out
        See :class:`~fixfunc.rtl.memory.tile_cache.mode_directory.ModeDirectory`.
    tile : In(TILE_NUMBER)
    read : In(1)
        The mode of ``tile`` is read. Its line must be resident.
    mode : Out(mode)
        The mode that was read, :attr:`LATENCY` clocks later.
    update : In(stream.Signature(tile_mode(mode)))
        A tile whose line is resident has this mode, if it is another.
    fetched : In(stream.Signature(TRANSFER))
        The line that was fetched. Always ready.
    store : Out(stream.Signature(LINE_STORE))
        A line that has been updated leaves the chip.
    stored : In(1)
        Memory holds a line that was stored, and not posted.
    """

    LATENCY = 2

    def __init__(self, lines: int, mode: int) -> None:
        self._lines = lines
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
                "forget": In(1),
                "flush": In(1),
                "flushed": Out(1),
                "last": In(TILE_NUMBER),
                "read": In(1),
                "mode": Out(mode),
                "update": In(stream.Signature(tile_mode(mode))),
                "line_request": Out(stream.Signature(LINE)),
                "fetched": In(stream.Signature(TRANSFER)),
                "store": Out(stream.Signature(LINE_STORE)),
                "stored": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.directory = directory = ModeDirectory(self._lines)
        m.submodules.modes = modes = Memory(shape=TRANSFER, depth=self._lines, init=[])
        write = modes.write_port()
        for name in ("lookup", "lookup_tile", "lookup_victim", "miss", "drained"):
            m.d.comb += getattr(directory, name).eq(getattr(self, name))
        for name in ("forget", "flush", "last"):
            m.d.comb += getattr(directory, name).eq(getattr(self, name))
        for name in ("resident", "victim_resident", "conflict", "flushed"):
            m.d.comb += getattr(self, name).eq(getattr(directory, name))
        wiring.connect(m, directory.line_request, wiring.flipped(self.line_request))
        m.d.comb += [
            directory.tile.eq(self.tile),
            directory.fetched.eq(self.fetched.valid),
            self.fetched.ready.eq(1),
        ]

        # Read: a line, then one mode of it.
        read = modes.read_port(transparent_for=(write,))
        column = delay(m, self.tile[:-LINE], 1, "column")
        m.d.comb += [
            read.addr.eq(directory.place(self.tile)),
            read.en.eq(self.read),
        ]
        m.d.sync += self.mode.eq(read.data.word_select(column, ENTRY))
        self._write(m, modes, write, directory)
        return m

    def _write(self, m, modes, write, directory):
        """An update reads a line, and writes it back a clock later, while the next one reads.

        Lines that leave are read by the same port. A line that is refilled is written at once: an
        update waits for it.
        """
        line = modes.read_port(transparent_for=(write,))
        update = Signal(self.update.payload.shape())
        updating = Signal()
        refilled = self.fetched.valid | directory.blank
        held = updating & refilled
        column = update.number[:-LINE]
        m.d.comb += [
            line.en.eq(~held),
            line.addr.eq(
                Mux(
                    directory.leaving,
                    directory.read_index,
                    directory.place(self.update.payload.number),
                )
            ),
            self.update.ready.eq(~held & ~directory.leaving),
            directory.updated.eq(
                updating & ~refilled & (line.data.word_select(column, ENTRY) != update.mode)
            ),
            directory.updated_tile.eq(update.number),
            write.en.eq(refilled | directory.updated),
            write.addr.eq(directory.place(update.number)),
            write.data.eq(line.data),
            write.data.word_select(column, ENTRY).eq(update.mode),
        ]
        with m.If(~held):
            m.d.sync += [
                updating.eq(self.update.valid & self.update.ready),
                update.eq(self.update.payload),
            ]
        with m.If(refilled):
            m.d.comb += [
                write.addr.eq(directory.index),
                write.data.eq(Mux(directory.blank, 0, self.fetched.payload)),
            ]
        m.d.comb += [
            self.store.valid.eq(directory.store.valid),
            self.store.payload.line.eq(directory.store.payload.line),
            self.store.payload.posted.eq(directory.store.payload.posted),
            self.store.payload.data.eq(line.data),
            directory.store.ready.eq(self.store.ready),
            directory.stored.eq(self.stored),
        ]
