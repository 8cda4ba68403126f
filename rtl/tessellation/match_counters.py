# SPDX-License-Identifier: BSD-2-Clause
"""Counters of the domain-matching unit."""

from amaranth.hdl import Module, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads, points

EVENTS = StructLayout({f.name: 1 for f in points.MATCHES})


class MatchCounters(wiring.Component):
    """Count events, and report the counts at the end of every draw.

    Members
    -------
    events : In(EVENTS)
        Events of this clock, under the names of :data:`fixfunc.spec.points.MATCHES`.
    end_draw : In(1)
        A draw ends, after the events of this clock. Allowed while ``available`` is set.
    available : Out(1)
        There is room for a report.
    o : Out(stream.Signature(layout(points.MATCHES)))
        Counts since reset, with every end of a draw.
    """

    def __init__(self):
        super().__init__(
            {
                "events": In(EVENTS),
                "end_draw": In(1),
                "available": Out(1),
                "o": Out(stream.Signature(layout(points.MATCHES))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.reports = reports = fifo.SyncFIFO(
            width=payloads.width(points.MATCHES), depth=4
        )
        wiring.connect(m, reports.r_stream, wiring.flipped(self.o))

        # Events are counted a clock late, because their paths are long. The report follows them.
        counts = layout(points.MATCHES)(reports.w_data)
        t = Timeline(m)
        t.enter(0, end_draw=self.end_draw, **{name: self.events[name] for name in EVENTS.members})
        for name in EVENTS.members:
            total = Signal(32, name=name)
            m.d.sync += total.eq(total + getattr(t[1], name))
            m.d.comb += counts[name].eq(total)
        m.d.comb += [
            reports.w_en.eq(t[2].end_draw),
            self.available.eq(reports.level < 2),
        ]
        return m
