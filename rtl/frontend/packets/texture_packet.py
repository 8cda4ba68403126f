# SPDX-License-Identifier: BSD-2-Clause
"""TEXTURE packets: a texture and its sampler, checked before they count."""

from collections.abc import Collection

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.packets.packet import BOUNDS, PacketUnit
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.texture.descriptors.texture_check import STATE, TextureCheck
from fixfunc.spec import payloads
from fixfunc.spec.commands import CommandError
from fixfunc.spec.textures.cache import LINE, StoredFormat
from fixfunc.spec.textures.unit import TEXTURE_STATE

LINE_BITS = (LINE - 1).bit_length()


class TexturePacket(wiring.Component):
    """Execute TEXTURE packets of three transfers; a level takes four clocks to be checked.

    Parameters
    ----------
    formats : collection of StoredFormat
        Known ones.
    extent : int
        log2 of the greatest width and height.
    anisotropy : int
        Most samples along a footprint that there may be.

    Members
    -------
    packet : In(PacketUnit())
        The packet.
    restart : In(1)
        A START begins: the texture is forgotten.
    bounds : In(BOUNDS)
        Levels lie below its limit.
    texture : Out(STATE)
        The texture in force.
    texture_valid : Out(1)
        There is one.
    """

    def __init__(self, formats: Collection[StoredFormat], extent: int, anisotropy: int) -> None:
        self._rules = formats, extent, anisotropy
        super().__init__(
            {
                "packet": In(PacketUnit()),
                "restart": In(1),
                "bounds": In(BOUNDS),
                "texture": Out(STATE),
                "texture_valid": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        packet = self.packet
        candidate = Signal(STATE)
        kind = Const(0, TEXTURE_STATE[0].bits)
        second = Signal.like(packet.first)
        m.submodules.check = check = TextureCheck(*self._rules)
        m.d.comb += [
            check.candidate.eq(candidate),
            check.limit.eq(self.bounds.limit[LINE_BITS:]),
        ]
        with m.If(self.restart):
            m.d.sync += self.texture_valid.eq(0)
        failed = named(m, packet.i.valid & packet.i.payload.error, "failed")
        with m.FSM():
            with m.State("SECOND"), m.If(packet.active):
                m.d.comb += packet.i.ready.eq(1)
                m.d.sync += second.eq(packet.i.payload.data)
                self._read(m, packet, failed, "THIRD")
            with m.State("THIRD"):
                fields = Cat(kind, packet.first[32:], second, packet.i.payload.data)
                m.d.comb += packet.i.ready.eq(1)
                m.d.sync += candidate.eq(fields[: payloads.width(TEXTURE_STATE)])
                self._read(m, packet, failed, "BEGIN")
            with m.State("BEGIN"):
                m.d.comb += check.start.eq(1)
                m.next = "CHECK"
            with m.State("CHECK"), m.If(check.done):
                m.next = "OUTPUT"
            with m.State("OUTPUT"):
                of_state = Mux(check.beyond, CommandError.ADDRESS, CommandError.NONE)
                m.d.comb += [
                    packet.done.eq(1),
                    packet.error.eq(Mux(check.supported, of_state, CommandError.STATE)),
                ]
                with m.If(check.supported & ~check.beyond):
                    m.d.sync += [self.texture.eq(candidate), self.texture_valid.eq(1)]
                m.next = "SECOND"
        return m

    def _read(self, m, packet, failed, following):
        with m.If(failed):
            m.d.comb += [packet.done.eq(1), packet.error.eq(CommandError.READ)]
            m.next = "SECOND"
        with m.Elif(packet.i.valid):
            m.next = following
