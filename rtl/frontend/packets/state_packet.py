# SPDX-License-Identifier: BSD-2-Clause
"""STATE packets: draw states, checked before they count."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.packets.packet import PacketUnit
from fixfunc.rtl.frontend.state_check import state_supported
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.memory.surface.state_check import needs_constant
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.commands import CommandError
from fixfunc.spec.state import Kind


class StatePacket(wiring.Component):
    """Execute STATE packets of two transfers: check a draw state, pass it on, and hold it.

    With several colour planes its ``slot`` says of which its blending is. That of the first begins
    a draw state.

    Parameters
    ----------
    params : CommandReaderParams

    Members
    -------
    packet : In(PacketUnit())
        The packet.
    restart : In(1)
        A START begins: the draw state is forgotten.
    constant_valid : In(1)
        There has been a blend constant.
    state : Out(layout(payloads.DRAW_STATE))
        The draw state in force.
    state_valid : Out(1)
        There is one.
    """

    def __init__(self, params):
        self._params = params
        super().__init__(
            {
                "packet": In(PacketUnit()),
                "restart": In(1),
                "constant_valid": In(1),
                "state": Out(layout(payloads.DRAW_STATE)),
                "state_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        packet = self.packet
        candidate = Signal(layout(payloads.DRAW_STATE))
        supported = Signal()
        lacks_constant = named(
            m, needs_constant(candidate) & ~self.constant_valid, "lacks_constant"
        )
        rules = state_supported(candidate, self._params)
        planes = self._params.colour_planes
        if planes > 1:
            rules &= (candidate.slot == 0) | (self.state_valid & (candidate.slot < planes))
        m.d.sync += supported.eq(rules)
        with m.If(self.restart):
            m.d.sync += self.state_valid.eq(0)
        with m.FSM():
            with m.State("READ"), m.If(packet.active):
                kind = Const(Kind.STATE, payloads.KIND.bits)
                fields = Cat(kind, packet.first[32:], packet.i.payload.data)
                m.d.comb += packet.i.ready.eq(1)
                m.d.sync += candidate.eq(fields[: payloads.width(payloads.DRAW_STATE)])
                with m.If(packet.i.valid & packet.i.payload.error):
                    m.d.comb += [
                        packet.done.eq(1),
                        packet.error.eq(CommandError.READ),
                    ]
                with m.Elif(packet.i.valid):
                    m.next = "CHECK"
            with m.State("CHECK"):
                if planes == 1:
                    m.d.sync += candidate.slot.eq(0)
                m.next = "OUTPUT"
            with m.State("OUTPUT"):
                m.d.comb += [
                    packet.o.valid.eq(supported & ~lacks_constant),
                    packet.o.payload.draw_state.eq(candidate),
                ]
                with m.If(~supported | lacks_constant):
                    m.d.comb += [
                        packet.done.eq(1),
                        packet.error.eq(Mux(supported, CommandError.ORDER, CommandError.STATE)),
                    ]
                    m.next = "READ"
                with m.Elif(packet.o.ready):
                    m.d.comb += packet.done.eq(1)
                    m.d.sync += [
                        self.state.eq(candidate),
                        self.state_valid.eq(1),
                    ]
                    m.next = "READ"
        return m
