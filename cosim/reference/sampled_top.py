# SPDX-License-Identifier: BSD-2-Clause
"""The top with its probes, and its stall counters over time, for simulation."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.cosim.reference import probed_top
from fixfunc.rtl import top as rtl
from fixfunc.rtl.top import TopParams
from fixfunc.spec.counters import COUNTERS, PROBES

STALLS = tuple(COUNTERS.index(f"stall_{name}") for name in PROBES)  # one address behind the other
INTERVAL = 64  # clocks between two samples, at first
OCTAVE = 256  # samples after which that doubles: a run of any length has a bounded number of them
SAMPLE = {"clock": 64, "value": 64}


class SampledTop(wiring.Component):
    """A top whose stall counters are read again and again while a START is obeyed.

    ``sampled`` has a beat a counter, in the order of :data:`fixfunc.spec.counters.PROBES`, with the
    clock since reset in which it was asked; the last ones come behind the last status. Samples are
    64 clocks apart, and twice as far after every 256. Its other ports are those of the top, whose
    counters are read as ever between two samples.

    Parameters
    ----------
    params : TopParams
    """

    def __init__(self, params: TopParams) -> None:
        self._top = rtl.Top(params, probes=True)
        members = dict(self._top.signature.members)
        super().__init__(members | {"sampled": Out(stream.Signature(StructLayout(SAMPLE)))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.top = top = self._top
        read = "counter_address", "counter_value"
        for name, member in top.signature.members.items():
            if name not in read:
                ends = wiring.flipped(getattr(self, name)), getattr(top, name)
                wiring.connect(m, *(ends if member.flow is In else reversed(ends)))
        clock = Signal(SAMPLE["clock"])
        place = Signal(range(len(STALLS) + 1), init=len(STALLS))
        sampling = Signal()
        owned = Signal()  # the value that is read is a sample's
        asked = Signal(SAMPLE["clock"])
        address = top.counter_address
        value = top.counter_value
        m.d.comb += [
            sampling.eq(place != len(STALLS)),
            address.valid.eq(sampling | self.counter_address.valid),
            address.payload.eq(Mux(sampling, STALLS[0] + place, self.counter_address.payload)),
            self.counter_address.ready.eq(address.ready & ~sampling),
            value.ready.eq(Mux(owned, self.sampled.ready, self.counter_value.ready)),
            self.sampled.valid.eq(value.valid & owned),
            self.sampled.payload.clock.eq(asked),
            self.sampled.payload.value.eq(value.payload),
            self.counter_value.valid.eq(value.valid & ~owned),
            self.counter_value.payload.eq(value.payload),
        ]
        m.d.sync += clock.eq(clock + 1)
        with m.If(address.valid & address.ready):
            m.d.sync += [
                owned.eq(sampling),
                asked.eq(clock),
            ]
            with m.If(sampling):
                m.d.sync += place.eq(place + 1)
        with m.If(self._due(m, ~sampling)):
            m.d.sync += place.eq(0)
        return m

    def _due(self, m, idle):
        """Whether a sample begins in this clock, in which none is under way."""
        interval = Signal(SAMPLE["clock"], init=INTERVAL)
        elapsed = Signal(SAMPLE["clock"])
        samples = Signal(range(OCTAVE))
        active = Signal()
        ended = Signal()
        due = Signal()
        m.d.comb += due.eq(idle & (ended | (active & (elapsed >= interval - 1))))
        m.d.sync += elapsed.eq(elapsed + 1)
        with m.If(due):
            m.d.sync += [
                ended.eq(0),
                elapsed.eq(0),
                samples.eq(samples + 1),
            ]
            with m.If(samples == OCTAVE - 1):
                m.d.sync += interval.eq(interval << 1)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += active.eq(1)
        with m.Elif(self.o.valid & self.o.ready & self.o.payload.last):
            m.d.sync += [
                active.eq(0),
                ended.eq(1),
            ]
        return due


class Harness(probed_top.Harness):
    """As :class:`fixfunc.cosim.reference.probed_top.Harness`, with samples of stalls.

    Parameters
    ----------
    params : TopParams
    """

    top = SampledTop
