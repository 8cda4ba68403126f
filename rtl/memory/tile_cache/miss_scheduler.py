# SPDX-License-Identifier: BSD-2-Clause
"""Miss scheduler: what must be known of a tile before it is filled or evicted."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.pending_table import PendingTable
from fixfunc.rtl.memory.tile_cache.layouts import (
    SLOT_COMMAND,
    TAG_COMMAND,
    TILES,
    fill_request,
    has,
)
from fixfunc.rtl.memory.tile_cache.mode_cache import ModeCache
from fixfunc.rtl.memory.tile_cache.victims.victim_index import VictimIndex
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import SlotOp

COMMANDS = 4  # commands that wait for their lookup
LOOKUPS = 16  # commands whose modes are being read: above the latency of that


class MissScheduler(wiring.Component):
    """Look up the mode of each tile that is brought; one command a clock, in order.

    A tile whose write-back memory has not acknowledged is not evicted again, and filled only from
    its row in the victim buffer: a command that has neither waits, and those behind it too. A tile
    is evicted only while the line of its mode is on chip, where the mode can be updated. A command
    whose two tiles have lines that share a place on chip becomes two, its EVICT first.

    Which write-backs are pending is known by a tile's place in its line, and that of its line on
    chip: two tiles that share both are taken for one another.

    Parameters
    ----------
    mode : int
        Bits of a mode.
    lines : int
        Lines on chip.
    evictions : int
        Most tiles that have been evicted, and whose modes have not been updated.
    victims : int
        Rows of the victim buffer, a power of two.
    sequence : int
        Bits of a victim's number.

    Members
    -------
    i : In(stream.Signature(TAG_COMMAND))
    o : Out(stream.Signature(SLOT_COMMAND))
    fill : Out(stream.Signature(fill_request(mode, sequence)))
        The tile of each FILL; it moves together with its command. The mode of one that is recalled
        is of no matter.
    evict : Out(stream.Signature(TILE_NUMBER))
        The victim of each EVICT; so does it.
    lookup : Out(1)
        Look up whether the lines of ``lookup_tile`` and ``lookup_victim`` are on chip.
    lookup_tile, lookup_victim : Out(TILE_NUMBER)
    resident, victim_resident : In(1)
        The line of the last lookup is on chip, a clock after it, or has been refilled since.
    conflict : In(1)
        The two lines are not the same, and have one place on chip.
    tile : Out(TILE_NUMBER)
        A tile of the command in front.
    miss : Out(1)
        The line of ``tile`` is wanted, until it is resident.
    read : Out(1)
        The mode of ``tile`` is read: its line is resident.
    mode : In(mode)
        The mode that was read, :attr:`ModeCache.LATENCY` clocks later.
    settled : In(1)
        The mode of one evicted tile is not updated any more.
    drained : Out(1)
        No mode will be updated of a line in the place of that of ``tile``; while no command waits
        for a line, of any.
    acknowledged : In(1)
        Memory holds ``acknowledged_tile``.
    acknowledged_tile : In(TILE_NUMBER)
    idle : Out(1)
        No command is looked up, and no mode will be updated.
    """

    def __init__(self, mode: int, lines: int, evictions: int, victims: int, sequence: int) -> None:
        self._mode = mode
        self._victims = victims
        self._sequence = sequence
        self._lines = lines
        self._evictions = evictions
        super().__init__(
            {
                "i": In(stream.Signature(TAG_COMMAND)),
                "o": Out(stream.Signature(SLOT_COMMAND)),
                "fill": Out(stream.Signature(fill_request(mode, sequence))),
                "evict": Out(stream.Signature(TILE_NUMBER)),
                "lookup": Out(1),
                "lookup_tile": Out(TILE_NUMBER),
                "lookup_victim": Out(TILE_NUMBER),
                "resident": In(1),
                "victim_resident": In(1),
                "conflict": In(1),
                "tile": Out(TILE_NUMBER),
                "miss": Out(1),
                "read": Out(1),
                "mode": In(mode),
                "settled": In(1),
                "drained": Out(1),
                "acknowledged": In(1),
                "acknowledged_tile": In(TILE_NUMBER),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.commands = commands = fifo.SyncFIFOBuffered(
            width=TAG_COMMAND.size, depth=COMMANDS
        )
        wiring.connect(m, wiring.flipped(self.i), commands.w_stream)
        looked_up = StructLayout(
            {"command": TAG_COMMAND, "mode": self._mode, "recalled": 1, "victim": self._sequence}
        )
        m.submodules.ready = ready = CreditedFIFO(looked_up, LOOKUPS)
        leaves = Signal()
        write_backs, victims = self._pending(m, leaves)
        m.submodules.evictions = evictions = CreditCounter(self._evictions)

        # The command in front waits for its lines, and for write-backs of its own tiles.
        command = Signal(TAG_COMMAND)
        valid = Signal()
        evicts = has(command.op, SlotOp.EVICT)
        split = Signal()
        fills = Signal()
        victim_missing = Signal()
        tile_missing = Signal()
        recalled = Signal()
        hazard = Signal()
        enters = Signal()
        entering = Signal(TAG_COMMAND)
        m.d.comb += [
            split.eq(evicts & has(command.op, SlotOp.FILL) & self.conflict),
            fills.eq(has(command.op, SlotOp.FILL) & ~split),
            victim_missing.eq(evicts & ~self.victim_resident),
            tile_missing.eq(fills & ~self.resident),
            recalled.eq(write_backs.pending_0 & victims.kept),
            hazard.eq(
                (fills & write_backs.pending_0 & ~victims.kept)
                | (evicts & (write_backs.pending_1 | ~evictions.available))
                | ~(write_backs.ready & victims.ready)
            ),
            enters.eq(valid & ready.available & ~victim_missing & ~tile_missing & ~hazard),
            commands.r_en.eq((enters & ~split) | ~valid),
            self.lookup.eq(commands.r_en),
            self.lookup_tile.eq(TAG_COMMAND(commands.r_data).number),
            self.lookup_victim.eq(TAG_COMMAND(commands.r_data).victim),
            self.tile.eq(Mux(victim_missing, command.victim, command.number)),
            self.miss.eq(valid & (victim_missing | tile_missing)),
            self.read.eq(enters & fills),
            entering.eq(command),
        ]
        with m.If(split):
            m.d.comb += entering.op.eq(SlotOp.EVICT)
        with m.If(commands.r_en):
            m.d.sync += [
                valid.eq(commands.r_rdy),
                command.eq(commands.r_data),
            ]
        with m.Elif(enters):
            m.d.sync += command.op.eq(command.op & ~SlotOp.EVICT)
        m.d.comb += [
            leaves.eq(enters & evicts),
            self.drained.eq(
                ~Mux(victim_missing, write_backs.any_1, write_backs.any_0) | ~self.miss
            ),
            evictions.consume.eq(leaves),
            evictions.release.eq(self.settled),
            ready.consume.eq(enters),
            ready.push.eq(delay(m, enters, ModeCache.LATENCY, "looked_up")),
            ready.i.command.eq(delay(m, entering, ModeCache.LATENCY, "command")),
            ready.i.mode.eq(self.mode),
            ready.i.recalled.eq(delay(m, recalled, ModeCache.LATENCY, "recalled")),
            ready.i.victim.eq(delay(m, victims.number, ModeCache.LATENCY, "victim")),
            self.idle.eq(ready.idle & ~valid & (commands.level == 0) & evictions.idle),
        ]
        self._issue(m, ready.o)
        return m

    def _pending(self, m, leaves):
        """Write-backs that are pending, and where their victims are."""
        m.submodules.write_backs = write_backs = PendingTable(self._lines, TILES)
        m.submodules.victims = victims = VictimIndex(self._victims, self._sequence)
        m.d.comb += [
            write_backs.lookup.eq(self.lookup),
            write_backs.lookup_0.eq(self.lookup_tile),
            write_backs.lookup_1.eq(self.lookup_victim),
            write_backs.insert.eq(leaves),
            write_backs.remove.eq(self.acknowledged),
            write_backs.removed.eq(self.acknowledged_tile),
            victims.lookup.eq(self.lookup),
            victims.lookup_tile.eq(self.lookup_tile),
            victims.lookup_victim.eq(self.lookup_victim),
            victims.insert.eq(leaves),
            victims.acknowledged.eq(self.acknowledged),
            victims.acknowledged_tile.eq(self.acknowledged_tile),
        ]
        return write_backs, victims

    def _issue(self, m, ready):
        """A command goes on together with its tiles."""
        command = ready.payload.command
        fills = has(command.op, SlotOp.FILL)
        evicts = has(command.op, SlotOp.EVICT)
        fill_room = ~fills | self.fill.ready
        evict_room = ~evicts | self.evict.ready
        m.d.comb += [
            ready.ready.eq(self.o.ready & fill_room & evict_room),
            self.o.valid.eq(ready.valid & fill_room & evict_room),
            self.o.payload.op.eq(command.op),
            self.o.payload.slot.eq(command.slot),
            self.fill.valid.eq(ready.valid & fills & self.o.ready & evict_room),
            self.fill.payload.number.eq(command.number),
            self.fill.payload.mode.eq(ready.payload.mode),
            self.fill.payload.recalled.eq(ready.payload.recalled),
            self.fill.payload.victim.eq(ready.payload.victim),
            self.evict.valid.eq(ready.valid & evicts & self.o.ready & fill_room),
            self.evict.payload.eq(command.victim),
        ]
