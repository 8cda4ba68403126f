# SPDX-License-Identifier: BSD-2-Clause
"""PIXEL_STATE packets: how pixels are shaded, checked before it counts."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.packets.packet import PacketUnit
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.payload import fields_of, layout
from fixfunc.spec import commands
from fixfunc.spec.commands import CommandError
from fixfunc.spec.pixels.interpolation import How, Where
from fixfunc.spec.pixels.pixel_state import ATTRIBUTES, PIXEL_STATE
from fixfunc.spec.pixels.texture_stage import TextureOp

OPTIONS = {"how": How, "where": Where}


class PixelStatePacket(wiring.Component):
    """Execute PIXEL_STATE packets.

    Parameters
    ----------
    textured : bool
        There are textures; else no operation but NONE is known.

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
    texture_valid : In(1)
        So has a texture.
    """

    packet: In(PacketUnit())
    restart: In(1)
    state: Out(stream.Signature(layout(PIXEL_STATE)))
    state_valid: Out(1)
    texture_valid: In(1)

    def __init__(self, textured: bool) -> None:
        self._textured = textured
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        packet = self.packet
        candidate = fields_of(packet.first, commands.PIXEL_STATE_PACKET)
        known = Signal()
        is_plain = candidate.op == TextureOp.NONE
        lacks_texture = named(m, ~is_plain & ~self.texture_valid & self._textured, "lacks_texture")
        m.d.sync += known.eq(
            Cat(
                candidate.op <= (max(TextureOp) if self._textured else TextureOp.NONE),
                candidate.attribute < ATTRIBUTES,
                candidate.coordinates < ATTRIBUTES,
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
                m.d.comb += self.state.valid.eq(known & ~lacks_texture)
                with m.If(lacks_texture | ~known):
                    m.d.comb += [
                        packet.done.eq(1),
                        packet.error.eq(Mux(lacks_texture, CommandError.ORDER, CommandError.STATE)),
                    ]
                    m.next = "CHECK"
                with m.Elif(self.state.ready):
                    m.d.comb += packet.done.eq(1)
                    m.d.sync += self.state_valid.eq(1)
                    m.next = "CHECK"
        return m
