# SPDX-License-Identifier: BSD-2-Clause
"""Header check: the first rule that a packet of the vertex ring breaks."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.spec import commands
from fixfunc.spec.commands import SLOTS_A_TRANSFER, VERTEX_OPCODES, Opcode, VertexError


class HeaderCheck(wiring.Component):
    """Rules of a header, in the order of :class:`fixfunc.spec.commands.VertexError`.

    Parameters
    ----------
    slots, attributes : int
        Of the ring.

    Members
    -------
    header : In(layout(VERTEX_PACKET))
    held : In(range(slots + 1))
        Slots that hold a vertex, in the order of packets.
    error : Out(4)
        One clock later; 0 if it breaks none.
    """

    def __init__(self, slots: int, attributes: int) -> None:
        self._size = slots
        self._most = attributes
        super().__init__(
            {
                "header": In(layout(commands.VERTEX_PACKET)),
                "held": In(range(slots + 1)),
                "error": Out(4),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        header = self.header
        fits = Signal()  # the length
        has_slots = Signal()
        rows = Signal(header.length.shape())  # behind the header
        # Entries that would fill the last transfer: fewer than it has.
        spare = SLOTS_A_TRANSFER * rows - (header.count << header.cut)
        m.d.comb += rows.eq(header.length - 1)
        with m.Switch(header.opcode):
            with m.Case(Opcode.VERTICES):
                m.d.comb += [
                    fits.eq(rows == header.count * (1 + header.attributes[1:])),
                    has_slots.eq(self.held + header.count <= self._size),
                ]
            with m.Case(Opcode.PRIMITIVES):
                m.d.comb += [
                    fits.eq((spare >= 0) & (spare < SLOTS_A_TRANSFER)),
                    has_slots.eq(1),
                ]
            with m.Case(Opcode.RELEASE):
                m.d.comb += [
                    fits.eq(rows == 0),
                    has_slots.eq(header.count.any() & (header.count <= self.held)),
                ]
        is_release = header.opcode == Opcode.RELEASE
        both = (header.opcode == Opcode.VERTICES) & header.cut & header.attributes.any()
        too_many = both | (header.attributes > self._most)
        error = Signal(VertexError)
        # The product of count and transfers decides in one clock, slots are released in the next.
        m.d.sync += self.error.eq(error)
        with m.If(~Cat(header.opcode == known for known in VERTEX_OPCODES).any()):
            m.d.comb += error.eq(VertexError.OPCODE)
        with m.Elif(~fits | (header.length == 0)):
            m.d.comb += error.eq(VertexError.LENGTH)
        with m.Elif(~is_release & too_many):
            m.d.comb += error.eq(VertexError.ATTRIBUTES)
        with m.Elif(~has_slots):
            m.d.comb += error.eq(Mux(is_release, VertexError.RELEASE, VertexError.ROOM))
        return m
