# SPDX-License-Identifier: BSD-2-Clause
"""BLEND_CONSTANT packets: what colours are blended with."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.packets.packet import PacketUnit
from fixfunc.rtl.payload import fields_of
from fixfunc.spec import commands
from fixfunc.spec.payloads import BLEND_CONSTANT
from fixfunc.spec.state import Kind


class ConstantPacket(wiring.Component):
    """Execute BLEND_CONSTANT packets: each becomes a clear of nothing, which keeps its place.

    Members
    -------
    packet : In(PacketUnit())
        The packet.
    restart : In(1)
        A START begins: the constant is forgotten.
    constant_valid : Out(1)
        There has been one.
    """

    packet: In(PacketUnit())
    restart: In(1)
    constant_valid: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        packet = self.packet
        constant = fields_of(packet.first, commands.BLEND_CONSTANT_PACKET)
        beat = packet.o.payload.clear
        m.d.comb += [
            packet.o.valid.eq(packet.active),
            beat.kind.eq(Kind.CLEAR),
            beat.constant.eq(1),
            *(beat[field.name].eq(constant[field.name]) for field in BLEND_CONSTANT),
            packet.done.eq(packet.active & packet.o.ready),
        ]
        with m.If(self.restart):
            m.d.sync += self.constant_valid.eq(0)
        with m.Elif(packet.done):
            m.d.sync += self.constant_valid.eq(1)
        return m
