# SPDX-License-Identifier: BSD-2-Clause
"""TRIANGLES packets: lists of triangles, one a transfer."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from fixfunc.rtl.frontend.packets.packet import PacketUnit
from fixfunc.rtl.payload import fields_of, layout
from fixfunc.spec import commands, payloads
from fixfunc.spec.commands import CommandError
from fixfunc.spec.state import Kind


class TrianglesPacket(wiring.Component):
    """Execute TRIANGLES packets: one triangle per clock, as long as transfers are there.

    Where depths have upper bits, every ninth transfer holds those of the next eight triangles.

    Members
    -------
    packet : In(PacketUnit())
        The packet.
    state, state_valid : In
        The draw state in force, as in
        :class:`~fixfunc.rtl.frontend.packets.state_packet.StatePacket`.
    target_cleared : In(1)
        The target of the draw state has been cleared as a whole.
    """

    packet: In(PacketUnit())
    state: In(layout(payloads.DRAW_STATE))
    state_valid: In(1)
    target_cleared: In(1)

    def elaborate(self, platform):
        m = Module()
        packet = self.packet
        transfer = packet.i
        triangle = fields_of(transfer.payload.data, commands.TRIANGLE_PACKET)
        out = packet.o.payload.triangle
        remaining = Signal(24)
        has_upper = fields_of(packet.first, commands.TRIANGLES_PACKET).upper
        left = Signal(range(commands.UPPER_TRIANGLES + 1))  # triangles whose upper bits are here
        upper = Signal(payloads.width(commands.UPPER_PACKET))  # theirs, the next one's lowest
        step = len(upper) // commands.UPPER_TRIANGLES
        with m.FSM():
            with m.State("CHECK"), m.If(packet.active):
                m.d.sync += [
                    remaining.eq(packet.length - 1),
                    left.eq(0),
                    upper.eq(0),
                ]
                with m.If(~self.state_valid | ~self.target_cleared):
                    m.d.comb += [
                        packet.done.eq(1),
                        packet.error.eq(CommandError.ORDER),
                    ]
                with m.Else():
                    m.next = "OUTPUT"
            with m.State("OUTPUT"):
                more = remaining != 0
                read_error = more & transfer.valid & transfer.payload.error
                is_upper = has_upper & (left == 0)
                m.d.comb += [
                    packet.o.valid.eq(more & transfer.valid & ~transfer.payload.error & ~is_upper),
                    transfer.ready.eq(more & (packet.o.ready | is_upper)),
                    out.kind.eq(Kind.WORK),
                    out.state.eq(self.state.state),
                    *(out[f.name].eq(triangle[f.name]) for f in commands.TRIANGLE_PACKET[:-3]),
                    *(
                        out[f"z{k}"].eq(Cat(triangle[f"z{k}"], upper.word_select(k, step // 3)))
                        for k in range(3)
                    ),
                ]
                with m.If(read_error):
                    m.d.comb += packet.error.eq(CommandError.READ)
                with m.If(~more | read_error):
                    m.d.comb += packet.done.eq(1)
                    m.next = "CHECK"
                with m.Elif(transfer.valid & (packet.o.ready | is_upper)):
                    m.d.sync += [
                        remaining.eq(remaining - 1),
                        left.eq(Mux(is_upper, commands.UPPER_TRIANGLES, left - 1)),
                        upper.eq(Mux(is_upper, transfer.payload.data, upper >> step)),
                    ]
        return m
