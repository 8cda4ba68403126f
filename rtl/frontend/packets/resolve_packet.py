# SPDX-License-Identifier: BSD-2-Clause
"""RESOLVE packets: samples of a coded surface in memory become pixels of another one."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.byte_range import END, ByteRange, disjoint, fits, surface_end
from fixfunc.rtl.frontend.packets.packet import BOUNDS, PacketUnit
from fixfunc.rtl.frontend.state_check import PlaneCheck
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.surface.tile_counts import TileCounts
from fixfunc.rtl.payload import fields_of, layout
from fixfunc.spec import commands
from fixfunc.spec.colours import EDGE, RESOLVE
from fixfunc.spec.commands import CommandError
from fixfunc.spec.payloads import COLOUR


class ResolvePacket(wiring.Component):
    """Execute RESOLVE packets: check where the surfaces lie, ask for the resolve, wait for its end.

    Parameters
    ----------
    params : CommandReaderParams

    Members
    -------
    packet : In(PacketUnit())
        The packet.
    bounds : In(BOUNDS)
    flushed : In(1)
        All that has left the reader is in memory.
    draws_target : In(1)
        The draw state's target has been cleared as a whole: its planes may be drawn on.
    begin, end : Out
        Where the surface lies that is written.
    planes_disjoint : In(1)
        That surface has no byte in common with the planes of the draw state's target; a clock
        behind ``end``.
    invalidate : Out(1)
        The target that has been cleared is another one, whose planes may be written now.
    request : Out(stream.Signature(layout(RESOLVE)))
    resolved : In(1)
        What was asked for is done.
    """

    def __init__(self, params):
        self._params = params
        super().__init__(
            {
                "packet": In(PacketUnit()),
                "bounds": In(BOUNDS),
                "flushed": In(1),
                "draws_target": In(1),
                "begin": Out(32),
                "end": Out(END),
                "planes_disjoint": In(1),
                "invalidate": Out(1),
                "request": Out(stream.Signature(layout(RESOLVE))),
                "resolved": In(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        packet = self.packet
        fields = fields_of(packet.first, commands.RESOLVE_PACKET)
        source, clocks = self._place(m, fields, "source", fields.samples)
        target, _ = self._place(m, fields, "target", 0)
        packets = ByteRange(self.bounds.packets_begin, self.bounds.packets_end)
        in_memory = Signal()
        target_disjoint = Signal()
        m.d.sync += [
            in_memory.eq(fits(source, self.bounds.limit) & fits(target, self.bounds.limit)),
            target_disjoint.eq(disjoint(target, source) & disjoint(target, packets)),
        ]
        latency = max(clocks + 1, PlaneCheck.LATENCY)
        sides = fields.width, fields.height
        rules = [rule for side in sides for rule in (side != 0, side <= self._params.pixels)]
        rules.append(fields.samples < self._params.resolve_samples.bit_length())
        if not self._params.resolves_srgb:
            rules.append(~fields.srgb)
        m.d.comb += [
            self.begin.eq(target.begin),
            self.end.eq(target.end),
            *(self.request.payload[name].eq(fields[name]) for name in layout(RESOLVE).members),
        ]

        clock = Signal(range(latency + 1))
        with m.FSM():
            with m.State("CHECK"), m.If(packet.active):
                m.d.sync += clock.eq(clock + 1)
                with m.If(clock == latency):
                    m.d.sync += clock.eq(0)
                    with m.If(~self.flushed):
                        m.d.comb += packet.error.eq(CommandError.ORDER)
                    with m.Elif(~Cat(rules).all()):
                        m.d.comb += packet.error.eq(CommandError.STATE)
                    with m.Elif(~in_memory):
                        m.d.comb += packet.error.eq(CommandError.ADDRESS)
                    with m.Elif(~target_disjoint | (self.draws_target & ~self.planes_disjoint)):
                        m.d.comb += packet.error.eq(CommandError.OVERLAP)
                    with m.Else():
                        m.d.comb += self.invalidate.eq(~self.draws_target)
                        m.next = "REQUEST"
                    m.d.comb += packet.done.eq(packet.error != CommandError.NONE)
            with m.State("REQUEST"):
                m.d.comb += self.request.valid.eq(1)
                with m.If(self.request.ready):
                    m.next = "RESOLVE"
            with m.State("RESOLVE"), m.If(self.resolved):
                m.d.comb += packet.done.eq(1)
                m.next = "CHECK"
        return m

    def _place(self, m, fields, name, samples):
        """Where a surface lies, and after how many clocks that is known."""
        m.submodules[f"{name}_tiles"] = tiles = TileCounts(EDGE)
        m.d.comb += [
            tiles.width.eq(fields.width),
            tiles.height.eq(fields.height),
            tiles.samples.eq(samples),
        ]
        end = Signal(END, name=f"{name}_end")
        m.d.sync += end.eq(surface_end(fields[name], tiles.number, Surface(EDGE, COLOUR)))
        return ByteRange(fields[name], end), tiles.latency + 1
