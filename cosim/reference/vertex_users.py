# SPDX-License-Identifier: BSD-2-Clause
"""Harness: a domain-matching unit, a wave constructor, and users that release vertices late."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.payload import layout
from fixfunc.rtl.tessellation.domain_matching import DomainMatching, DomainMatchingParams
from fixfunc.rtl.tessellation.wave_constructor import WaveConstructor, WaveConstructorParams
from fixfunc.spec import points
from fixfunc.spec.state import PointKind

NOISE = 16  # bits


class Harness(wiring.Component):
    """A domain-matching unit whose users hold every vertex until it is shaded, and for some time.

    References are released in an order of their own, which does not depend on that of the points.

    Parameters
    ----------
    params : DomainMatchingParams

    Members
    -------
    i : In(stream.Signature(layout(points.DOMAIN_POINT)))
        Input of the unit, once the harness is initialised.
    o : Out(stream.Signature(layout(points.MATCHED_POINT)))
        Output of the unit.
    counted : Out(stream.Signature(layout(points.MATCHES)))
        Counters of the unit, without stalls, which depend on the users.
    """

    def __init__(self, params: DomainMatchingParams) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(layout(points.DOMAIN_POINT))),
                "o": Out(stream.Signature(layout(points.MATCHED_POINT))),
                "counted": Out(stream.Signature(layout(points.MATCHES))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.unit = unit = DomainMatching(p)
        m.submodules.waves = waves = WaveConstructor(WaveConstructorParams(p.lanes))
        size = p.waves * p.lanes
        initialised_count = Signal(range(size + 1))  # vertices whose count is cleared after reset
        ready = initialised_count == size
        m.d.sync += initialised_count.eq(initialised_count + ~ready)
        m.d.comb += [
            unit.i.valid.eq(self.i.valid & ready),
            self.i.ready.eq(unit.i.ready & ready),
            unit.i.payload.eq(self.i.payload),
            self.counted.valid.eq(unit.counted.valid),
            unit.counted.ready.eq(self.counted.ready),
            self.counted.payload.eq(unit.counted.payload),
            self.counted.payload.stalls.eq(0),
        ]

        # A point leaves the harness and enters the FIFO ahead of the wave constructor in the same
        # clock. Without the FIFO the harness would deadlock behind a sink that waits for valid: the
        # wave constructor's ready waits for its valid, which would wait for the sink's ready.
        m.submodules.fifo = fifo = StreamFIFO(layout(points.MATCHED_POINT), 4)
        wiring.connect(m, fifo.o, waves.i)
        point = unit.o.payload
        move = Signal()
        m.d.comb += [
            move.eq(unit.o.valid & self.o.ready & fifo.i.ready),
            unit.o.ready.eq(self.o.ready & fifo.i.ready),
            self.o.valid.eq(unit.o.valid & fifo.i.ready),
            self.o.payload.eq(point),
            fifo.i.valid.eq(unit.o.valid & self.o.ready),
            fifo.i.payload.eq(point),
            waves.index.ready.eq(1),
            waves.o.ready.eq(1),
        ]

        is_point = move & (point.kind == PointKind.POINT)
        self._users(m, unit, waves, is_point, point, ready, initialised_count)
        return m

    def _users(self, m, unit, waves, is_point, point, ready, initialised_count):
        """Release references to vertices whose lane has been shaded, from changing places on."""
        p = self._params
        lane_bits = p.lanes.bit_length() - 1
        size = p.waves * p.lanes
        noise = Signal(NOISE, init=1)
        m.d.sync += noise.eq(Cat(noise[1:], noise[0] ^ noise[2] ^ noise[3] ^ noise[5]))

        # Lanes of each wave that have been shaded: none when the wave begins.
        m.submodules.shaded = shaded = Memory(shape=lane_bits + 1, depth=p.waves, init=[])
        begin_write = shaded.write_port()
        end_write = shaded.write_port()
        shaded_lanes = shaded.read_port(domain="comb")
        m.d.comb += [
            begin_write.en.eq(is_point & ~point.hit & (point.dsid[:lane_bits] == 0)),
            begin_write.addr.eq(point.dsid >> lane_bits),
            begin_write.data.eq(0),
            end_write.en.eq(waves.o.valid),
            end_write.addr.eq(waves.o.payload.dsid >> lane_bits),
            end_write.data.eq(waves.o.payload.end),
        ]

        # References to each vertex: one more for a point, one less for a release. If both are to
        # the same vertex, neither counts.
        m.submodules.references = references = Memory(shape=16, depth=size, init=[])
        acquire = references.write_port()
        release = references.write_port()
        acquire_count = references.read_port(domain="comb")
        release_count = references.read_port(domain="comb")
        vertex = Signal(range(size))
        release_valid = Signal()
        unshaded = vertex[:lane_bits] >= shaded_lanes.data
        m.d.comb += [
            release_count.addr.eq(vertex),
            shaded_lanes.addr.eq(vertex >> lane_bits),
            release_valid.eq(ready & (release_count.data != 0) & ~unshaded & (noise[:2] != 0)),
            unit.release.valid.eq(release_valid),
            unit.release.payload.eq(vertex),
        ]
        with m.If((release_count.data == 0) | (noise[4:7] == 0) | unshaded):
            m.d.sync += vertex.eq(vertex + Mux(noise[7:12] == 0, noise, 1))
        same_vertex = is_point & release_valid & (point.dsid == vertex)
        m.d.comb += [
            acquire_count.addr.eq(point.dsid),
            acquire.addr.eq(point.dsid),
            acquire.data.eq(acquire_count.data + 1),
            acquire.en.eq(is_point & ~same_vertex),
            release.addr.eq(Mux(ready, vertex, initialised_count)),
            release.data.eq(Mux(ready, release_count.data - 1, 0)),
            release.en.eq((release_valid & ~same_vertex) | ~ready),
        ]
