# SPDX-License-Identifier: BSD-2-Clause
"""Corner fetch: places of triangles' corners, and the beats of the ring in order."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.vertex_ring.operation import OPERATION, VERTEX, Step, vertex_write
from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.delay import NO_COLLISION
from fixfunc.rtl.payload import beat
from fixfunc.spec import commands
from fixfunc.spec.commands import RingKind, VertexError

BEATS = beat(
    triangle=commands.RING_TRIANGLE, release=commands.RING_RELEASE, error=commands.RING_ERROR
)


class CornerFetch(wiring.Component):
    """An operation a clock; its beat, if it has one, two clocks later.

    Vertices are in three copies, one for each corner.

    Parameters
    ----------
    slots : int
        Of the ring.

    Members
    -------
    write : In(vertex_write(slots))
        A slot that no operation under way reads.
    i : In(stream.Signature(OPERATION))
    o : Out(stream.Signature(BEATS))
    idle : Out(1)
        No operation is under way, and no beat.
    """

    def __init__(self, slots: int) -> None:
        self._size = slots
        super().__init__(
            {
                "write": In(vertex_write(slots)),
                "i": In(stream.Signature(OPERATION)),
                "o": Out(stream.Signature(BEATS)),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        operation = Signal(OPERATION)
        valid = Signal()
        moves = named(m, ~self.o.valid | self.o.ready, "moves")
        m.d.comb += [
            self.i.ready.eq(moves),
            self.idle.eq(~valid & ~self.o.valid),
        ]
        corners = [self._corner(m, n, moves) for n in range(3)]
        error = self._error(m, operation, corners)
        failed = Signal()  # a triangle of the packet has broken a rule
        kept = Signal(ArrayLayout(VERTEX, 3))  # corners of a cut triangle
        is_entry = named(m, operation.step == Step.ENTRY, "is_entry")
        waits = named(m, operation.cut & ~operation.second, "waits")
        gives = Signal()
        beats = Signal(BEATS)
        m.d.comb += gives.eq(Mux(is_entry, ~failed & (error.any() | ~waits), 1))
        with m.If(moves):
            m.d.sync += [
                operation.eq(self.i.payload),
                valid.eq(self.i.valid),
                self.o.valid.eq(valid & gives & (operation.step != Step.BEGIN)),
                self.o.payload.eq(beats),
            ]
            with m.If(valid & (operation.step == Step.BEGIN)):
                m.d.sync += failed.eq(0)
            with m.If(valid & is_entry):
                m.d.sync += failed.eq(failed | error.any())
                with m.If(waits):
                    m.d.sync += (kept[n].eq(corner) for n, corner in enumerate(corners))
        with m.If(operation.step == Step.RELEASE):
            m.d.comb += [
                beats.release.kind.eq(RingKind.RELEASE),
                beats.release.count.eq(operation.count),
            ]
        with m.Elif(~is_entry | error.any()):
            m.d.comb += [
                beats.error.kind.eq(RingKind.ERROR),
                beats.error.error.eq(Mux(is_entry, error, operation.error)),
                beats.error.at.eq(operation.at),
            ]
        with m.Else():
            self._put(m, beats.triangle, operation, corners, kept)
        return m

    def _corner(self, m, n, moves):
        """The vertex of a corner of the operation."""
        m.submodules[f"vertices_{n}"] = memory = Memory(
            shape=VERTEX, depth=self._size, init=[], attrs=NO_COLLISION
        )
        write = memory.write_port()
        read = memory.read_port()
        m.d.comb += [
            write.en.eq(self.write.enable),
            write.addr.eq(self.write.slot),
            write.data.eq(self.write.vertex),
            read.en.eq(moves),
            read.addr.eq(self.i.payload.slots[n]),
        ]
        return read.data

    def _error(self, m, operation, corners):
        """The first rule that an entry breaks; 0 if it does not."""
        gives_places = operation.cut & ~operation.second
        no_weights = ~Cat(corner.has_weights for corner in corners).all()
        lacks = Cat(corner.attributes < operation.attributes for corner in corners).any()
        error = Signal(VertexError)
        with m.If(~operation.used.all()):
            m.d.comb += error.eq(VertexError.NOT_WRITTEN)
        with m.Elif(~operation.held.all()):
            m.d.comb += error.eq(VertexError.RELEASED)
        with m.Elif(gives_places & no_weights):
            m.d.comb += error.eq(VertexError.WEIGHTS)
        with m.Elif(~gives_places & lacks):
            m.d.comb += error.eq(VertexError.MISSING)
        return Cat(error)

    def _put(self, m, triangle, operation, corners, kept):
        """A triangle goes out; of a cut one with corners of the entry before."""
        m.d.comb += [
            triangle.kind.eq(RingKind.TRIANGLE),
            triangle.cut.eq(operation.cut),
            triangle.attributes.eq(operation.attributes),
        ]
        for n, corner in enumerate(corners):
            m.d.comb += triangle[f"slot{n}"].eq(operation.slots[n])
            for field in commands.VERTEX_PLACE:
                place = Mux(operation.cut, kept[n][field.name], corner[field.name])
                m.d.comb += triangle[f"{field.name}{n}"].eq(place)
            for field in commands.VERTEX_WEIGHTS:
                weight = gated(kept[n][field.name], operation.cut)
                m.d.comb += triangle[f"{field.name}{n}"].eq(weight)
