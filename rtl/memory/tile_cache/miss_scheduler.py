# SPDX-License-Identifier: BSD-2-Clause
"""Miss scheduler: what must be known of a tile before it is filled or evicted."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.pending_set import PendingSet
from fixfunc.rtl.memory.tile_cache.layouts import SLOT_COMMAND, TAG_COMMAND, tile_mode
from fixfunc.rtl.memory.tile_cache.mode_cache import ModeCache
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import SlotOp

COMMANDS = 4  # commands that wait for their lookup
PENDING = 64  # most write-backs that memory has not acknowledged
LOOKUPS = 16  # commands whose modes are being read: above the latency of that
EVICTIONS = 256  # above the tiles that all queues behind this one hold


class MissScheduler(wiring.Component):
    """Look up the mode of each tile that is filled or evicted; one command a clock, in order.

    A tile whose write-back memory has not acknowledged is neither filled nor evicted again: its
    command waits, and those behind it too. A tile is evicted only while the line of its mode is on
    chip, where the mode can be updated.

    Parameters
    ----------
    mode : int
        Bits of a mode.

    Members
    -------
    i : In(stream.Signature(TAG_COMMAND))
    o : Out(stream.Signature(SLOT_COMMAND))
        An EVICT that ``replaces`` and the FILL behind it become a REPLACE, unless the FILL waits.
    fill, evict : Out(stream.Signature(tile_mode(mode)))
        The tile of each FILL and EVICT; it moves together with its command.
    lookup : Out(1)
        Look up whether the line of ``lookup_tile`` is on chip.
    lookup_tile : Out(TILE_NUMBER)
    resident : In(1)
        The line of the last lookup is on chip, a clock after it, or has been refilled since.
    tile : Out(TILE_NUMBER)
        The tile of the command in front.
    miss : Out(1)
        The line of ``tile`` is wanted, until it is ``resident``.
    read : Out(1)
        The mode of ``tile`` is read: it is ``resident``.
    mode : In(mode)
        The mode that was read, :attr:`ModeCache.LATENCY` clocks later.
    settled : In(1)
        The mode of one evicted tile is not updated any more.
    drained : Out(1)
        No evicted tile's mode will be updated. A register.
    acknowledged : In(1)
        Memory holds ``acknowledged_tile``.
    acknowledged_tile : In(TILE_NUMBER)
    idle : Out(1)
        No command is looked up, and no mode will be updated.
    """

    def __init__(self, mode: int) -> None:
        self._mode = mode
        super().__init__(
            {
                "i": In(stream.Signature(TAG_COMMAND)),
                "o": Out(stream.Signature(SLOT_COMMAND)),
                "fill": Out(stream.Signature(tile_mode(mode))),
                "evict": Out(stream.Signature(tile_mode(mode))),
                "lookup": Out(1),
                "lookup_tile": Out(TILE_NUMBER),
                "resident": In(1),
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
        looked_up = StructLayout({"command": TAG_COMMAND, "mode": self._mode})
        m.submodules.ready = ready = CreditedFIFO(looked_up, LOOKUPS)
        m.submodules.write_backs = write_backs = PendingSet(TILE_NUMBER, PENDING)
        m.submodules.evictions = evictions = CreditCounter(EVICTIONS)

        # The command in front waits for its line, and for write-backs of its own tile.
        command = Signal(TAG_COMMAND)
        valid = Signal()
        transfers_tile = (command.op == SlotOp.FILL) | (command.op == SlotOp.EVICT)
        evicts = Signal()
        enters = Signal()
        hazard = write_backs.pending | ~write_backs.available | ~evictions.available
        m.d.comb += [
            enters.eq(valid & ready.available & (~transfers_tile | (self.resident & ~hazard))),
            evicts.eq(enters & (command.op == SlotOp.EVICT)),
            commands.r_en.eq(enters | ~valid),
            self.lookup.eq(commands.r_en),
            self.lookup_tile.eq(TAG_COMMAND(commands.r_data).number),
            self.tile.eq(command.number),
            self.miss.eq(valid & transfers_tile & ~self.resident),
            self.read.eq(enters & transfers_tile),
        ]
        with m.If(commands.r_en):
            m.d.sync += [
                valid.eq(commands.r_rdy),
                command.eq(commands.r_data),
            ]
        m.d.comb += [
            write_backs.lookup.eq(command.number),
            write_backs.key.eq(command.number),
            write_backs.insert.eq(evicts),
            write_backs.remove.eq(self.acknowledged),
            write_backs.removed.eq(self.acknowledged_tile),
            evictions.consume.eq(evicts),
            evictions.release.eq(self.settled),
            ready.consume.eq(enters),
            ready.push.eq(delay(m, enters, ModeCache.LATENCY, "looked_up")),
            ready.i.command.eq(delay(m, command, ModeCache.LATENCY, "command")),
            ready.i.mode.eq(self.mode),
            self.idle.eq(ready.idle & ~valid & (commands.level == 0) & evictions.idle),
        ]
        m.d.sync += self.drained.eq(evictions.idle & ~evicts)
        self._issue(m, ready.o)
        return m

    def _issue(self, m, ready):
        """A command goes on together with its tile.

        An EVICT waits for the FILL of its slot. Where that itself waits for its line, which no line
        may leave for as long as a mode can change, the EVICT goes alone.
        """
        command = ready.payload.command
        fills = command.op == SlotOp.FILL
        evicts = command.op == SlotOp.EVICT
        held_victim = Signal()
        victim_slot = Signal.like(command.slot)
        room = Signal()
        new_victim = Signal()
        lone_victim = Signal()
        m.d.comb += [
            room.eq((~fills | self.fill.ready) & (~evicts | self.evict.ready)),
            new_victim.eq(ready.valid & evicts & command.replaces),
            lone_victim.eq(held_victim & self.miss & ~ready.valid),
            ready.ready.eq(room & self.o.ready),
            self.o.valid.eq((ready.valid & room & ~new_victim) | lone_victim),
            self.o.payload.op.eq(Mux(fills & held_victim, SlotOp.REPLACE, command.op)),
            self.o.payload.slot.eq(command.slot),
            self.fill.valid.eq(ready.valid & fills & self.o.ready),
            self.evict.valid.eq(ready.valid & evicts & self.o.ready),
        ]
        with m.If(lone_victim):
            m.d.comb += [
                self.o.payload.op.eq(SlotOp.EVICT),
                self.o.payload.slot.eq(victim_slot),
            ]
        with m.If((ready.valid & ready.ready) | (lone_victim & self.o.ready)):
            m.d.sync += held_victim.eq(new_victim)
        with m.If(new_victim):
            m.d.sync += victim_slot.eq(command.slot)
        for port in (self.fill, self.evict):
            m.d.comb += [
                port.payload.number.eq(command.number),
                port.payload.mode.eq(ready.payload.mode),
            ]
