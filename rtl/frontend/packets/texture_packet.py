# SPDX-License-Identifier: BSD-2-Clause
"""TEXTURE packets: a texture and its sampler, checked before they count."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.packets.packet import BOUNDS, PacketUnit
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.descriptors.texture_check import CANDIDATE, TextureCheck
from fixfunc.spec.commands import CommandError
from fixfunc.spec.textures.cache import LINE
from fixfunc.spec.textures.unit import TEXTURE_STATE

LINE_BITS = (LINE - 1).bit_length()


class TexturePacket(wiring.Component):
    """Execute TEXTURE packets of three transfers; a level takes four clocks to be checked.

    Parameters
    ----------
    params : CommandReaderParams

    Members
    -------
    packet : In(PacketUnit())
        The packet.
    restart : In(1)
        A START begins: the texture is forgotten.
    bounds : In(BOUNDS)
        Levels lie below its limit.
    texture : Out(layout(params.texture))
        The texture in force.
    texture_valid : Out(1)
        There is one.
    """

    def __init__(self, params) -> None:
        self._params = params
        super().__init__(
            {
                "packet": In(PacketUnit()),
                "restart": In(1),
                "bounds": In(BOUNDS),
                "texture": Out(layout(params.texture)),
                "texture_valid": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        packet = self.packet
        p = self._params
        candidate = Signal(CANDIDATE)
        kind = Const(0, TEXTURE_STATE[0].bits)
        second = Signal.like(packet.first)
        m.submodules.check = check = TextureCheck(
            p.texture_formats,
            p.texture_extent,
            p.texture_anisotropy,
            surfaces=p.texture_surfaces,
            rows=p.texture_rows,
            points=p.texture_points,
        )
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
                m.d.sync += candidate.eq(fields[: len(Value.cast(candidate))])
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
                    m.d.sync += [*carried(self.texture, candidate, ()), self.texture_valid.eq(1)]
                m.next = "SECOND"
        return m

    def _read(self, m, packet, failed, following):
        with m.If(failed):
            m.d.comb += [packet.done.eq(1), packet.error.eq(CommandError.READ)]
            m.next = "SECOND"
        with m.Elif(packet.i.valid):
            m.next = following
