# SPDX-License-Identifier: BSD-2-Clause
"""Packet intake: transfers become vertices in memories, and operations in order."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.vertex_ring.header_check import HeaderCheck
from fixfunc.rtl.frontend.vertex_ring.operation import (
    OPERATION,
    VERTEX,
    Step,
    attribute_write,
    vertex_write,
)
from fixfunc.rtl.frontend.vertex_ring.slot_window import SlotWindow
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.payload import fields_of, layout
from fixfunc.spec import commands
from fixfunc.spec.commands import SLOTS_A_TRANSFER, Opcode
from fixfunc.spec.payloads import TRANSFER, width

ENTRY = width(commands.CORNER_SLOTS)
HALF = TRANSFER // 2


class PacketIntake(wiring.Component):
    """Checks headers; a transfer of vertices, or an entry of a list, a clock.

    Parameters
    ----------
    slots, attributes : int
        Of the ring.

    Members
    -------
    i : In(stream.Signature(TRANSFER))
    restart : In(1)
        No slot is held; a packet that was broken off is forgotten. Nothing is ``pending``.
    released : In(range(slots + 1))
        As of :class:`~fixfunc.rtl.frontend.vertex_ring.slot_window.SlotWindow`.
    vertex : Out(vertex_write(slots))
    attributes : Out(attribute_write(slots))
    o : Out(stream.Signature(OPERATION))
    pending : Out(1)
        Of what has been taken an operation is still to go out.
    """

    def __init__(self, slots: int, attributes: int) -> None:
        self._most = attributes
        self._size = slots
        super().__init__(
            {
                "i": In(stream.Signature(TRANSFER)),
                "restart": In(1),
                "released": In(range(slots + 1)),
                "vertex": Out(vertex_write(slots)),
                "attributes": Out(attribute_write(slots)),
                "o": Out(stream.Signature(OPERATION)),
                "pending": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.window = window = SlotWindow(self._size)
        m.submodules.check = check = HeaderCheck(self._size, self._most)
        header = Signal(layout(commands.VERTEX_PACKET))
        remaining = Signal(header.length.shape())  # transfers of the packet
        m.d.comb += [
            window.restart.eq(self.restart),
            window.released.eq(self.released),
            check.header.eq(header),
            check.held.eq(window.count),
        ]
        moves = named(m, self.i.valid & self.i.ready, "moves")
        with m.FSM() as fsm:
            with m.State("HEADER"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid):
                    m.d.sync += header.eq(self.i.payload)
                    m.next = "CHECK"
            with m.State("CHECK"):
                m.d.sync += remaining.eq(header.length - 1)
                m.next = "ISSUE"
            with m.State("ISSUE"):
                self._issue(m, header, check.error, window)
            with m.State("VERTICES"):
                m.d.comb += self.i.ready.eq(window.has_room)
                self._vertices(m, window, header, moves)
                with m.If(moves):
                    self._count(m, remaining)
                with m.If(self.restart):
                    m.next = "HEADER"
            with m.State("PRIMITIVES"):
                self._primitives(m, window, header, remaining, moves)
                with m.If(self.restart):
                    m.next = "HEADER"
            with m.State("SKIP"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(moves):
                    self._count(m, remaining)
                with m.If(self.restart):
                    m.next = "HEADER"
        with m.If(fsm.ongoing("CHECK") | fsm.ongoing("ISSUE")):
            m.d.comb += self.pending.eq(1)
        return m

    def _count(self, m, remaining):
        """A transfer less; behind the last a header follows."""
        m.d.sync += remaining.eq(remaining - 1)
        with m.If(remaining == 1):
            m.next = "HEADER"

    def _issue(self, m, header, error, window):
        """A header's operation, and what its packet has behind it."""
        is_wrong = named(m, error != 0, "is_wrong")
        opcode = header.opcode
        writes = named(m, ~is_wrong & (opcode == Opcode.VERTICES), "writes")
        releases = named(m, ~is_wrong & (opcode == Opcode.RELEASE), "releases")
        step = Mux(is_wrong, Step.ERROR, Mux(releases, Step.RELEASE, Step.BEGIN))
        out = self.o.payload
        m.d.comb += [
            self.o.valid.eq(~writes),
            out.step.eq(step),
            out.error.eq(error),
            out.count.eq(header.count),
        ]
        with m.If(writes | self.o.ready):
            m.next = "HEADER"
            with m.If(is_wrong & (header.length > 1)):
                m.next = "SKIP"
            with m.Elif(~is_wrong & ~releases & header.count.any()):
                m.next = "PRIMITIVES"
                with m.If(writes):
                    m.next = "VERTICES"
            with m.If(releases):
                m.d.comb += window.release.eq(header.count)

    def _vertices(self, m, window, header, moves):
        """A transfer of a vertex: its place and attribute 0, or two attributes more."""
        row = Signal(3)
        low, high = self.i.payload[:HALF], self.i.payload[HALF:]
        is_first = named(m, row == 0, "is_first")
        is_last = named(m, row == header.attributes[1:], "is_last")
        vertex = Signal(VERTEX)
        place = fields_of(low, commands.VERTEX_PLACE)
        weights = fields_of(high, commands.VERTEX_WEIGHTS)
        m.d.comb += [
            *(vertex[f.name].eq(place[f.name]) for f in commands.VERTEX_PLACE),
            *(vertex[f.name].eq(weights[f.name]) for f in commands.VERTEX_WEIGHTS),
            vertex.attributes.eq(header.attributes),
            vertex.has_weights.eq(header.cut),
            self.vertex.enable.eq(moves & is_first),
            self.vertex.slot.eq(window.following),
            self.vertex.vertex.eq(vertex),
            self.attributes.slot.eq(window.following),
            self.attributes.row.eq(row),
            # Where attributes are even, the last half of a vertex is none.
            self.attributes.even_enable.eq(moves & (Cat(0, row) < header.attributes)),
            self.attributes.even.eq(high),
            self.attributes.odd_enable.eq(moves & ~is_first),
            self.attributes.odd.eq(low),
            window.write.eq(moves & is_last),
        ]
        with m.If(moves):
            m.d.sync += row.eq(Mux(is_last, 0, row + 1))
        with m.If(self.restart):
            m.d.sync += row.eq(0)

    def _primitives(self, m, window, header, remaining, moves):
        """An entry of a list a clock."""
        entries = Signal(ENTRY * SLOTS_A_TRANSFER)  # the next one lowest
        left = Signal(range(SLOTS_A_TRANSFER + 1))  # of these
        at = Signal(header.count.shape())
        second = Signal()
        out = self.o.payload
        slots = fields_of(entries[:ENTRY], commands.CORNER_SLOTS)
        takes = named(m, self.o.valid & self.o.ready, "takes")
        ends = named(m, ~header.cut | second, "ends")
        has_space = (left == 0) | ((left == 1) & self.o.ready)
        m.d.comb += [
            self.pending.eq(left != 0),
            self.i.ready.eq((remaining != 0) & has_space),
            self.o.valid.eq(left != 0),
            out.step.eq(Step.ENTRY),
            *(out.slots[n].eq(slots[f"slot{n}"]) for n in range(3)),
            window.slots.eq(out.slots),
            out.used.eq(window.used),
            out.held.eq(window.held),
            out.cut.eq(header.cut),
            out.second.eq(second),
            out.attributes.eq(header.attributes),
            out.at.eq(at),
        ]
        with m.If(moves):
            m.d.sync += [
                entries.eq(self.i.payload),
                left.eq(SLOTS_A_TRANSFER),
                remaining.eq(remaining - 1),
            ]
        with m.Elif(takes):
            m.d.sync += [entries.eq(entries >> ENTRY), left.eq(left - 1)]
        with m.If(takes):
            m.d.sync += [second.eq(~ends), at.eq(at + ends)]
            with m.If(ends & (at + 1 == header.count)):
                m.d.sync += [left.eq(0), at.eq(0)]
                m.next = "HEADER"
        with m.If(self.restart):
            m.d.sync += [second.eq(0), at.eq(0)]
