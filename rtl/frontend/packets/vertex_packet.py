# SPDX-License-Identifier: BSD-2-Clause
"""Packets of the vertex ring: vertices, triangles by their slots, releases."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.packets.packet import PacketUnit
from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRing, VertexRingParams
from fixfunc.rtl.payload import fields_of, layout
from fixfunc.spec import commands, payloads
from fixfunc.spec.commands import CommandError, Opcode, RingKind, VertexError
from fixfunc.spec.state import Kind


class VertexPacket(wiring.Component):
    """Execute VERTICES, PRIMITIVES and RELEASE packets by a vertex ring.

    A packet is done when all of its beats have gone out. What reading cannot go on behind, whether
    it is a rule of the ring or of memory, ends it once the triangles before have gone out.

    Parameters
    ----------
    params : VertexRingParams

    Members
    -------
    packet : In(PacketUnit())
        The packet. A RELEASE is a FENCE with ``release``.
    restart : In(1)
        A START begins: no slot is held.
    drawable : In(1)
        There is all that triangles need: states, and a target that has been cleared.
    state : In(layout(payloads.DRAW_STATE))
        The draw state in force.
    corners : Out(layout(commands.RING_TRIANGLE))
        More about the triangle that ``packet`` puts out.
    vertex_error : Out(VertexError)
        The rule of the ring that a packet has broken.
    released, slot, attribute, found
        As of :class:`~fixfunc.rtl.frontend.vertex_ring.vertex_ring.VertexRing`.
    """

    def __init__(self, params: VertexRingParams) -> None:
        self._params = params
        super().__init__(
            {
                "packet": In(PacketUnit()),
                "restart": In(1),
                "drawable": In(1),
                "state": In(layout(payloads.DRAW_STATE)),
                "corners": Out(layout(commands.RING_TRIANGLE)),
                "vertex_error": Out(VertexError),
                "released": In(range(params.slots + 1)),
                "slot": In(range(params.slots)),
                "attribute": In(range(params.attributes)),
                "found": Out(ATTRIBUTE),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ring = ring = VertexRing(self._params)
        packet = self.packet
        transfer = packet.i
        remaining = Signal(24)  # transfers
        unreadable = Signal()
        opcode = fields_of(packet.first, commands.PACKET).opcode
        m.d.comb += [
            ring.restart.eq(self.restart),
            ring.released.eq(self.released),
            ring.slot.eq(self.slot),
            ring.attribute.eq(self.attribute),
            self.found.eq(ring.found),
        ]
        with m.If(self.restart):
            m.d.sync += self.vertex_error.eq(0)
        self._put(m, ring)
        with m.FSM():
            with m.State("CHECK"), m.If(packet.active):
                m.d.sync += [
                    remaining.eq(packet.length - 1),
                    unreadable.eq(0),
                ]
                m.next = "HEADER"
                with m.If((opcode == Opcode.PRIMITIVES) & ~self.drawable):
                    m.d.comb += [
                        packet.done.eq(1),
                        packet.error.eq(CommandError.ORDER),
                    ]
                    m.next = "CHECK"
            with m.State("HEADER"):
                m.d.comb += [
                    ring.i.valid.eq(1),
                    ring.i.payload.eq(packet.first),
                ]
                with m.If(ring.i.ready):
                    m.next = "TRANSFERS"
            with m.State("TRANSFERS"):
                has_transfer = transfer.valid & (remaining != 0)
                m.d.comb += [
                    ring.i.valid.eq(has_transfer & ~transfer.payload.error),
                    ring.i.payload.eq(transfer.payload.data),
                    transfer.ready.eq((remaining != 0) & (ring.i.ready | transfer.payload.error)),
                ]
                with m.If(transfer.valid & transfer.ready):
                    m.d.sync += remaining.eq(remaining - 1)
                with m.If((remaining == 0) | (has_transfer & transfer.payload.error)):
                    m.d.sync += unreadable.eq(remaining != 0)
                    m.next = "DRAIN"
            with m.State("DRAIN"), m.If(ring.idle):
                error = Mux(unreadable, CommandError.READ, CommandError.NONE)
                m.d.comb += [
                    packet.done.eq(1),
                    packet.error.eq(Mux(self.vertex_error != 0, CommandError.VERTEX, error)),
                ]
                m.next = "CHECK"
        return m

    def _put(self, m, ring):
        """Beats of the ring become those of a frame; of an error the number stays."""
        out = self.packet.o
        beat = ring.o.payload
        is_error = beat.kind == RingKind.ERROR
        m.d.comb += [
            out.valid.eq(ring.o.valid & ~is_error),
            ring.o.ready.eq(is_error | out.ready),
            self.corners.eq(beat.triangle),
        ]
        with m.If(ring.o.valid & is_error):
            m.d.sync += self.vertex_error.eq(beat.error.error)
        with m.If(beat.kind == RingKind.RELEASE):
            fence = out.payload.fence
            m.d.comb += [
                fence.kind.eq(Kind.FENCE),
                fence.release.eq(1),
                fence.sequence.eq(beat.release.count),
            ]
        with m.Else():
            triangle = out.payload.triangle
            m.d.comb += [
                triangle.kind.eq(Kind.WORK),
                triangle.state.eq(self.state.state),
                *(
                    triangle[f"{name}{k}"].eq(beat.triangle[f"{name}{k}"])
                    for name in "xyz"
                    for k in range(3)
                ),
            ]
