# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.frontend.vertex_ring.vertex_ring.VertexRing`."""

import cocotb
import numpy as np
from amaranth.hdl import Array, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.frontend.vertex_ring import Beats, VertexRing, packets
from fixfunc.models.payload import dtype
from fixfunc.rtl.frontend.vertex_ring.corner_fetch import BEATS
from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRing as Block
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.spec import commands
from fixfunc.spec.commands import RingKind
from fixfunc.spec.payloads import TRANSFER
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.frontend.vertex_streams import stream as packet_stream

TABLES = {
    RingKind.TRIANGLE: commands.RING_TRIANGLE,
    RingKind.RELEASE: commands.RING_RELEASE,
    RingKind.ERROR: commands.RING_ERROR,
}
BITS = max(sum(f.bits for f in table) for table in TABLES.values())
MAY_BE_SILENT = ("values",)
UNDER_WAY = 16  # beats that the pixel stage holds

KEPT = StructLayout(
    {
        "kind": 2,
        "count": commands.SLOT_BITS + 1,
        "attributes": 4,
        "slot0": commands.SLOT_BITS,
        "slot1": commands.SLOT_BITS,
        "slot2": commands.SLOT_BITS,
    }
)


class Harness(wiring.Component):
    """A ring, and a pixel stage that reads every attribute of every triangle, and frees slots.

    Parameters
    ----------
    params : VertexRingParams

    Members
    -------
    i, o : In(stream.Signature(TRANSFER)), Out(stream.Signature(BEATS))
        Those of the ring.
    values : Out(stream.Signature(ATTRIBUTE))
        Attributes of triangles in order: of each corner, one behind the other. A sink that does not
        take them holds up releases.
    """

    def __init__(self, params: VertexRingParams) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(TRANSFER)),
                "o": Out(stream.Signature(BEATS)),
                "values": Out(stream.Signature(ATTRIBUTE)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ring = ring = Block(self._params)
        m.submodules.under_way = under_way = StreamFIFO(KEPT, UNDER_WAY)
        wiring.connect(m, wiring.flipped(self.i), ring.i)
        beats = ring.o.payload
        kept = under_way.i.payload
        m.d.comb += [
            self.o.payload.eq(beats),
            self.o.valid.eq(ring.o.valid & under_way.i.ready),
            under_way.i.valid.eq(ring.o.valid & self.o.ready),
            ring.o.ready.eq(self.o.ready & under_way.i.ready),
            kept.kind.eq(beats.kind),
            kept.count.eq(beats.release.count),
            kept.attributes.eq(beats.triangle.attributes),
            *(kept[f"slot{n}"].eq(beats.triangle[f"slot{n}"]) for n in range(3)),
        ]
        self._pixels(m, ring, under_way.o)
        return m

    def _pixels(self, m, ring, beats):
        """Read attributes; free slots."""
        turn = beats.payload
        corner = Signal(range(3))
        attribute = Signal(4)
        slots = Array(turn[f"slot{n}"] for n in range(3))
        m.d.comb += [
            ring.slot.eq(slots[corner]),
            ring.attribute.eq(attribute),
            self.values.payload.eq(ring.found),
        ]
        with m.FSM():
            with m.State("TURN"), m.If(beats.valid):
                m.d.comb += beats.ready.eq(1)
                with m.If(turn.kind == RingKind.RELEASE):
                    m.d.comb += ring.released.eq(turn.count)
                with m.Elif((turn.kind == RingKind.TRIANGLE) & turn.attributes.any()):
                    m.d.comb += beats.ready.eq(0)
                    m.next = "GIVE"
            with m.State("GIVE"):
                m.d.comb += self.values.valid.eq(1)
                with m.If(self.values.ready):
                    m.next = "READ"
                    m.d.sync += attribute.eq(attribute + 1)
                    with m.If(attribute + 1 == turn.attributes):
                        m.d.sync += [attribute.eq(0), corner.eq(corner + 1)]
                        with m.If(corner == 2):
                            m.d.sync += corner.eq(0)
                            m.d.comb += beats.ready.eq(1)
                            m.next = "TURN"
            with m.State("READ"):
                m.next = "GIVE"


def requests(rng: np.random.Generator, count: int, params: VertexRingParams) -> np.ndarray:
    """Transfers of packets, of which a third may break a rule."""
    return packet_stream(rng, count, params.slots, params.attributes, wrong=0.3)


def expected(rows: np.ndarray, params: VertexRingParams) -> dict[str, np.ndarray]:
    """Packed beats out, and attributes of the triangles among them."""
    ring = VertexRing(params.slots, params.attributes)
    out = [np.zeros((0, codec.words(BITS)), np.uint64)]
    values = [np.zeros((0, 2), np.uint64)]
    for packet in packets(np.ascontiguousarray(rows).view(np.uint8).reshape(-1, TRANSFER // 8)):
        for beats in ring.execute(packet):
            out.append(codec.pack(beats.records, TABLES[beats.kind], BITS))
            if beats.kind == RingKind.TRIANGLE:
                values.append(_values(ring, beats))
    return {"o": np.concatenate(out), "values": np.concatenate(values)}


def _values(ring: VertexRing, beats: Beats) -> np.ndarray:
    """Attributes of triangles, corner by corner, as packed rows."""
    records = beats.records
    slots = np.stack([records[f"slot{k}"] for k in range(3)], 1)
    used = int(records["attributes"][0])  # all are of one packet
    return np.ascontiguousarray(ring.values[slots, :used]).view(np.uint64).reshape(-1, 2)


def describe(row: np.ndarray, _: VertexRingParams) -> str:
    """A beat in words."""
    kind = int(row[0]) & 3
    if kind not in TABLES:
        return codec.to_hex(row)
    table = TABLES[RingKind(kind)]
    record = codec.unpack(row[None], table, dtype(table))[0]
    fields = ", ".join(f"{f.name} {int(record[f.name]):#x}" for f in table[1:])
    return f"{RingKind(kind).name} {fields}"


class VertexRingBench(StreamBench):
    """Bench with a pixel stage behind the ring."""

    stem = "vertex_ring"
    ports = "o", "values"


# plan: vertex-ring-8
@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def packets_become_triangles(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = VertexRingBench(dut)
    await bench.run(requests(bench.rng, 250, bench.params), source, sink)
