# SPDX-License-Identifier: BSD-2-Clause
"""Vertex ring: vertices in slots, triangles by the slots of their corners."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.vertex_ring.attribute_memory import AttributeMemory
from fixfunc.rtl.frontend.vertex_ring.corner_fetch import BEATS, CornerFetch
from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE
from fixfunc.rtl.frontend.vertex_ring.packet_intake import PacketIntake
from fixfunc.spec.commands import SLOT_LIMIT
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import TRANSFER


@dataclass(frozen=True)
class VertexRingParams:
    """Shape of a :class:`VertexRing`.

    Parameters
    ----------
    slots : int
        Vertices that are held: a power of two from 8 to 4096.
    attributes : int
        Most of a vertex, of four components each: 2, 4 or 8.
    """

    slots: int = 1024
    attributes: int = 8

    def __post_init__(self):
        if self.slots not in (1 << bits for bits in range(3, SLOT_LIMIT.bit_length())):
            raise InputError("slots", f"be a power of two from 8 to {SLOT_LIMIT}", self.slots)
        if self.attributes not in (2, 4, 8):
            raise InputError("attributes", "be one of 2, 4, 8", self.attributes)


CONFIGS = {
    "default": VertexRingParams(),
    "tiny": VertexRingParams(slots=8, attributes=4),
}
PURPOSE = {  # of each configuration
    "default": "1024 vertices with eight attributes each",
    "tiny": "for benches: eight vertices with four attributes each",
}


class VertexRing(wiring.Component):
    """Vertices on chip, and triangles by their slots, one a clock; a cut one takes two.

    Parameters
    ----------
    params : VertexRingParams

    Members
    -------
    restart : In(1)
        No slot is held. All beats have gone out.
    i : In(stream.Signature(TRANSFER))
        Packets: :data:`fixfunc.spec.commands.VERTEX_OPCODES`. A transfer of vertices a clock; of a
        list of triangles one in six clocks; a header takes three clocks.
    o : Out(stream.Signature(beat(triangle=..., release=..., error=...)))
        Triangles, releases and errors in the order of packets:
        :class:`fixfunc.spec.commands.RingKind`.
    released : In(range(params.slots + 1))
        ``count`` of a RELEASE in the clock in which it leaves the pixel stage; in others 0.
    slot, attribute : In(range(params.slots)), In(range(params.attributes))
        An attribute of a triangle that has gone out and whose RELEASE has not come back.
    found : Out(layout(VERTEX_ATTRIBUTE))
        It, one clock later.
    idle : Out(1)
        All beats of the transfers that were taken have gone out.
    """

    def __init__(self, params: VertexRingParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__(
            {
                "restart": In(1),
                "i": In(stream.Signature(TRANSFER)),
                "o": Out(stream.Signature(BEATS)),
                "released": In(range(params.slots + 1)),
                "slot": In(range(params.slots)),
                "attribute": In(range(params.attributes)),
                "found": Out(ATTRIBUTE),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        slots, attributes = self._params.slots, self._params.attributes
        m.submodules.intake = intake = PacketIntake(slots, attributes)
        m.submodules.fetch = fetch = CornerFetch(slots)
        m.submodules.values = values = AttributeMemory(slots, attributes)
        wiring.connect(m, wiring.flipped(self.i), intake.i)
        wiring.connect(m, intake.o, fetch.i)
        wiring.connect(m, fetch.o, wiring.flipped(self.o))
        m.d.comb += [
            intake.restart.eq(self.restart),
            intake.released.eq(self.released),
            fetch.write.eq(intake.vertex),
            values.write.eq(intake.attributes),
            values.slot.eq(self.slot),
            values.attribute.eq(self.attribute),
            self.found.eq(values.o),
            self.idle.eq(~intake.pending & fetch.idle),
        ]
        return m
