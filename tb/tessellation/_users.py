# SPDX-License-Identifier: BSD-2-Clause
"""A domain-matching unit with a wave constructor, and users that hold every vertex until it has been shaded, and some time longer."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.rtl.tessellation.domain_matching import DomainMatching
from fixfunc.rtl.tessellation.wave_constructor import WaveConstructor, WaveConstructorParams
from fixfunc.spec import points
from fixfunc.spec.state import PointKind

NOISE = 16  # bits


class Harness(wiring.Component):
    """Points in; what the unit says of them out, and how often, stalls left out.

    References are given back in an order of their own, which has nothing to do with that of the points.

    Parameters
    ----------
    params : DomainMatchingParams
    """

    def __init__(self, params):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(layout(points.DOMAIN_POINT))), "o": Out(stream.Signature(layout(points.MATCHED_POINT))),
            "counted": Out(stream.Signature(layout(points.MATCHES))),
        })

    def elaborate(self, platform):
        m = Module()
        p, lane_bits = self._params, self._params.lanes.bit_length() - 1
        m.submodules.unit = unit = DomainMatching(p)
        m.submodules.waves = waves = WaveConstructor(WaveConstructorParams(p.lanes))
        size = p.waves * p.lanes
        cleared = Signal(range(size + 1))  # counts of the vertices, after reset
        ready = cleared == size
        m.d.comb += [unit.i.valid.eq(self.i.valid & ready), self.i.ready.eq(unit.i.ready & ready), unit.i.payload.eq(self.i.payload)]
        m.d.sync += cleared.eq(cleared + ~ready)
        m.d.comb += [self.counted.valid.eq(unit.counted.valid), unit.counted.ready.eq(self.counted.ready),
                     self.counted.payload.eq(unit.counted.payload), self.counted.payload.stalls.eq(0)]

        # A point goes two ways at once.
        given, moves = unit.o.payload, Signal()
        m.d.comb += [moves.eq(unit.o.valid & self.o.ready & waves.i.ready), unit.o.ready.eq(self.o.ready & waves.i.ready),
                     self.o.valid.eq(unit.o.valid & waves.i.ready), self.o.payload.eq(given),
                     waves.i.valid.eq(unit.o.valid & self.o.ready), waves.i.payload.eq(given), waves.index.ready.eq(1), waves.o.ready.eq(1)]

        # How many lanes of each wave have been shaded, and how many references to each vertex are held.
        m.submodules.shaded = shaded = Memory(shape=lane_bits + 1, depth=p.waves, init=[])
        m.submodules.held = held = Memory(shape=16, depth=size, init=[])
        begins, shades, done = shaded.write_port(), shaded.write_port(), shaded.read_port(domain="comb")
        takes, gives, now, some = held.write_port(), held.write_port(), held.read_port(domain="comb"), held.read_port(domain="comb")
        is_point, noise, place = moves & (given.kind == PointKind.POINT), Signal(NOISE, init=1), Signal(range(size))
        m.d.sync += noise.eq(Cat(noise[1:], noise[0] ^ noise[2] ^ noise[3] ^ noise[5]))
        m.d.comb += [begins.en.eq(is_point & ~given.hit & (given.dsid[:lane_bits] == 0)), begins.addr.eq(given.dsid >> lane_bits), begins.data.eq(0),
                     shades.en.eq(waves.o.valid), shades.addr.eq(waves.o.payload.dsid >> lane_bits), shades.data.eq(waves.o.payload.end)]

        # One vertex after the other, from a place that changes: all of its references, if it has been shaded.
        ours, gone = place, Signal()
        m.d.comb += [some.addr.eq(ours), done.addr.eq(ours >> lane_bits),
                     gone.eq(ready & (some.data != 0) & (ours[:lane_bits] < done.data) & (noise[:2] != 0)),
                     unit.release.valid.eq(gone), unit.release.payload.eq(ours)]
        with m.If((some.data == 0) | (noise[4:7] == 0) | (ours[:lane_bits] >= done.data)):
            m.d.sync += place.eq(place + Mux(noise[7:12] == 0, noise, 1))
        same = is_point & gone & (given.dsid == ours)
        m.d.comb += [now.addr.eq(given.dsid), takes.addr.eq(given.dsid), takes.data.eq(now.data + 1), takes.en.eq(is_point & ~same),
                     gives.addr.eq(Mux(ready, ours, cleared)), gives.data.eq(Mux(ready, some.data - 1, 0)), gives.en.eq((gone & ~same) | ~ready)]
        return m
