# SPDX-License-Identifier: BSD-2-Clause
"""PIXEL_STATE packets: how pixels are shaded, checked before it counts."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.packets.packet import PacketUnit
from fixfunc.rtl.payload import fields_of, layout
from fixfunc.spec import commands
from fixfunc.spec.commands import CommandError
from fixfunc.spec.pixels.interpolation import How, Where
from fixfunc.spec.pixels.pixel_state import ATTRIBUTES, PIXEL_STATE
from fixfunc.spec.pixels.texture_stage import TextureOp

OPTIONS = {"how": How, "where": Where}


class PixelStatePacket(wiring.Component):
    """Execute PIXEL_STATE packets.

    Members
    -------
    packet : In(PacketUnit())
        The packet.
    restart : In(1)
        A START begins: the pixel state is forgotten.
    state : Out(stream.Signature(layout(PIXEL_STATE)))
        It, when it breaks no rule.
    state_valid : Out(1)
        There has been one.
    """

    packet: In(PacketUnit())
    restart: In(1)
    state: Out(stream.Signature(layout(PIXEL_STATE)))
    state_valid: Out(1)

    def elaborate(self, platform):
        m = Module()
        packet = self.packet
        candidate = fields_of(packet.first, commands.PIXEL_STATE_PACKET)
        known = Signal()
        m.d.sync += known.eq(
            Cat(
                candidate.op == TextureOp.NONE,  # there are no texels
                candidate.attribute < ATTRIBUTES,
                *(
                    candidate[f"{name}{n}"] < len(options)
                    for name, options in OPTIONS.items()
                    for n in range(ATTRIBUTES)
                ),
            ).all()
        )
        m.d.comb += [
            *(self.state.payload[f.name].eq(candidate[f.name]) for f in PIXEL_STATE),
        ]
        with m.If(self.restart):
            m.d.sync += self.state_valid.eq(0)
        with m.FSM():
            with m.State("CHECK"), m.If(packet.active):
                m.next = "OUTPUT"
            with m.State("OUTPUT"):
                m.d.comb += self.state.valid.eq(known)
                with m.If(~known):
                    m.d.comb += [
                        packet.done.eq(1),
                        packet.error.eq(CommandError.STATE),
                    ]
                    m.next = "CHECK"
                with m.Elif(self.state.ready):
                    m.d.comb += packet.done.eq(1)
                    m.d.sync += self.state_valid.eq(1)
                    m.next = "CHECK"
        return m
