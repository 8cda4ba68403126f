# SPDX-License-Identifier: BSD-2-Clause
"""Command queue: slot commands wait until memory has answered, and for earlier commands."""

from itertools import pairwise

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.memory.tile_cache.layouts import SLOT_COMMAND, has
from fixfunc.rtl.payload import layout
from fixfunc.spec.memory import caching
from fixfunc.spec.payloads import SLOT
from fixfunc.spec.state import SlotOp


class Interlock(wiring.Component):
    """Hold an EVICT, which reads its slot, while an earlier command to it is in flight.

    One command a clock otherwise.

    Parameters
    ----------
    hazard_window : int
        Least distance in clocks between an EVICT and the command to its slot before it.

    Members
    -------
    i, o : In, Out(stream.Signature(SLOT_COMMAND))
        Combinational.
    """

    def __init__(self, hazard_window: int) -> None:
        self._window = hazard_window
        super().__init__(
            {
                "i": In(stream.Signature(SLOT_COMMAND)),
                "o": Out(stream.Signature(SLOT_COMMAND)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        command = self.i.payload
        item = StructLayout({"valid": 1, "slot": SLOT})
        earlier = [Signal(item, name=f"earlier_{n}") for n in range(1, self._window)]
        m.d.sync += [
            earlier[0].valid.eq(self.o.valid & self.o.ready & command.op.any()),
            earlier[0].slot.eq(command.slot),
            *(later.eq(preceding) for preceding, later in pairwise(earlier)),
        ]
        hazard = Cat(one.valid & (one.slot == command.slot) for one in earlier).any()
        stall = has(command.op, SlotOp.EVICT) & hazard
        m.d.comb += [
            self.o.payload.eq(command),
            self.o.valid.eq(self.i.valid & ~stall),
            self.i.ready.eq(self.o.ready & ~stall),
        ]
        return m


class CommandQueue(wiring.Component):
    """Tell slots what to do, in order; one command a clock.

    A FILL waits for its tile.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    bits : int
        Bits of a value.
    ahead : int
        Commands that are known before their turn, so that memory has answered when it comes.
    hazard_window : int
        Least distance in clocks between an EVICT and the command to its slot before it. 0 builds
        no interlock.

    Members
    -------
    i : In(stream.Signature(SLOT_COMMAND))
    sample : Out(1)
        A DONE has been queued: counters of traffic are sampled for it.
    sample_room : In(1)
        There is room for a sample. Commands wait for it.
    occupied : Out(1)
        A command waits.
    filled : In(stream.Signature(...))
        Tiles from memory, decoded. ``wrong``: the code in memory is not that of a tile.
    o : Out(stream.Signature(layout(caching.slot_command(edge, bits))))
        Commands for the slots; ``error`` is left open.
    """

    def __init__(self, edge: int, bits: int, ahead: int, hazard_window: int) -> None:
        self._edge = edge
        self._ahead = ahead
        self._window = hazard_window
        values = StructLayout({"wrong": 1, "values": ArrayLayout(bits, edge**2)})
        super().__init__(
            {
                "i": In(stream.Signature(SLOT_COMMAND)),
                "sample": Out(1),
                "sample_room": In(1),
                "occupied": Out(1),
                "filled": In(stream.Signature(values)),
                "o": Out(stream.Signature(layout(caching.slot_command(edge, bits)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.commands = commands = StreamFIFO(SLOT_COMMAND, self._ahead)
        accept = self.i.valid & self.i.ready
        m.d.comb += [
            commands.i.valid.eq(self.i.valid & self.sample_room),
            commands.i.payload.eq(self.i.payload),
            self.i.ready.eq(commands.i.ready & self.sample_room),
            self.sample.eq(accept & ~self.i.payload.op.any()),
            self.occupied.eq(commands.occupied),
        ]
        source = commands.o
        if self._window:
            m.submodules.interlock = interlock = Interlock(self._window)
            wiring.connect(m, source, interlock.i)
            source = interlock.o

        command = source.payload
        fills = has(command.op, SlotOp.FILL)
        transfer = self.o.valid & self.o.ready
        m.d.comb += [
            self.o.valid.eq(source.valid & (~fills | self.filled.valid)),
            self.o.payload.op.eq(command.op),
            self.o.payload.slot.eq(command.slot),
            source.ready.eq(transfer),
            self.filled.ready.eq(transfer & fills),
        ]
        for n in range(self._edge**2):
            m.d.comb += self.o.payload[f"value{n}"].eq(self.filled.payload.values[n])
        return m
