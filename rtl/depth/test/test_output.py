# SPDX-License-Identifier: BSD-2-Clause
"""Test output: tiles of the samples that passed, counts of samples, and bounds for HiZ."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.datapath import tested_tile
from fixfunc.rtl.depth.test.new_depths import test_clock
from fixfunc.rtl.depth.test.passed_count import PassedCount
from fixfunc.rtl.depth.test.sample_depths import heads
from fixfunc.rtl.depth.test.tested_tiles import DepthRange
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.surface.state_queue import StateQueue
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind, Outcome

TILES = 128  # places of each FIFO: above the tiles in flight


def tested_beat(edge: int) -> UnionLayout:
    """Shape of a beat behind the depth test."""
    return beat(tile=payloads.tested(edge), **payloads.CONTROL)


class TestOutput(wiring.Component):
    """Put tested tiles and control beats out, in order; report depths to HiZ.

    A tile goes out with the samples that it came with, beside those that passed.

    A tile of which no sample passed is dropped, unless it is its triangle's last. A fence has the
    number of samples that passed since the last fence that began to count.

    Parameters
    ----------
    params : DepthTestParams

    Members
    -------
    state, state_trails : In
        Of tiles that enter the pipeline: see
        :class:`~fixfunc.rtl.memory.surface.front.SurfaceFront`.
    late_draw : In(1)
        Tiles go out before they are written, and come back.
    retain : In(1)
        No tile is dropped.
    beat_enters : In(1)
        A beat enters the pipeline before this block.
    report_enters : In(1)
        A tile enters that may be reported to HiZ.
    room : Out(1)
        A beat and a report may enter, two clocks later.
    report_room : Out(1)
        A report may enter.
    idle : Out(1)
        No beat is in flight.
    i : In(tested_tile(params))
    depth : In
        What the tile's slot holds.
    control_valid, control : In
        A control beat is to be passed on at once.
    fence_error : In(3)
        Error bits of a fence.
    finished : Out(1)
        ``passed_tile`` of a late draw has no sample left, nor stencil values to change.
    passed_tile : Out(layout(payloads.tile(params.edge)))
        The tile of ``i`` with the samples that passed, one clock later.
    passed : Out(edge**2)
        Samples of ``i`` that have passed in the end.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
    feedback : Out(stream.Signature(layout(payloads.feedback(params.edge))))
    """

    def __init__(self, params: Any) -> None:
        self._params = params
        control = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "state_trails": In(1),
                "late_draw": In(1),
                "retain": In(1),
                "beat_enters": In(1),
                "report_enters": In(1),
                "room": Out(1),
                "report_room": Out(1),
                "idle": Out(1),
                "i": In(tested_tile(params)),
                "depth": In(ArrayLayout(params.depth_bits, params.edge**2)),
                "control_valid": In(1),
                "control": In(control),
                "fence_error": In(3),
                "finished": Out(1),
                "passed_tile": Out(layout(payloads.tile(params.edge))),
                "passed": Out(params.edge**2),
                "o": Out(stream.Signature(tested_beat(params.edge))),
                "feedback": Out(stream.Signature(layout(payloads.feedback(params.edge)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.beats = beats = CreditedFIFO(self.o.payload.shape(), TILES, lookahead=2)
        wiring.connect(m, beats.o, wiring.flipped(self.o))
        tile = self.i.tile
        first_test = self.i.valid & ~self.i.is_late
        # A tile that will change nothing does not come back, but where all of them do.
        finished = first_test & self.late_draw & ~self.retain
        finished &= ~self.i.passed.any() & ~self.i.tests_stencil
        final = (self.i.valid & (self.i.is_late | ~self.late_draw)) | finished
        reports = self._report(m, final)
        retained = self.i.passed.any() | tile.last | self.retain
        m.submodules.passing = passing = StateQueue(test_clock(self._params) + 2)
        sent = Signal()
        covered = Signal(len(tile.mask))
        dropped = Signal()
        m.d.sync += [
            sent.eq(first_test & retained),
            dropped.eq(first_test & ~retained),
            covered.eq(tile.mask),
            self.finished.eq(finished),
            self.passed_tile.eq(tile),
            self.passed_tile.mask.eq(self.i.passed),
            self.passed_tile.full.eq(self.i.passed.all()),
        ]
        m.d.comb += [
            beats.consume.eq(self.beat_enters),
            beats.cancel.eq(dropped),
            beats.push.eq(sent | passing.leaves | self.control_valid),
            passing.state.eq(self.state),
            passing.enters.eq(self.state_trails),
            beats.i.eq(self.control),
            self.idle.eq(beats.idle),
            self.report_room.eq(reports.available),
            self.room.eq(beats.available & reports.available),
        ]
        with m.If(sent):
            m.d.comb += [
                beats.i.as_value().eq(0),
                beats.i.tile.eq(self.passed_tile),
                beats.i.tile.covered.eq(covered),
            ]
        with m.Elif(passing.leaves):
            m.d.comb += beats.i.draw_state.eq(passing.o)
        m.submodules.passed_count = passed_count = PassedCount(len(self.i.passed))
        is_fence = self.control_valid & (self.control.kind == Kind.FENCE)
        fence = named(m, is_fence & ~self.control.fence.release, "fence")
        m.d.comb += [
            self.passed.eq(Mux(final, self.i.passed, 0)),
            passed_count.passed.eq(self.passed),
            passed_count.clear.eq(fence & self.control.fence.begin),
        ]
        with m.If(fence):
            m.d.comb += [
                beats.i.fence.passed.eq(passed_count.o),
                beats.i.fence.any.eq(passed_count.any),
                beats.i.fence.error.eq(self.fence_error),
            ]
        return m

    def _report(self, m, final):
        """Least and greatest depth of a tile, to HiZ, after a test that may have written.

        HiZ waits for a report of every tile that it did not drop. A tile that was refused has one
        too, with the widest bounds.
        """
        lanes = self._params.edge**2
        shape = self.feedback.payload.shape()
        m.submodules.range = bounds = DepthRange(payloads.HIZ_BITS, lanes)
        m.submodules.reports = reports = CreditedFIFO(shape, TILES, lookahead=2)
        wiring.connect(m, reports.o, wiring.flipped(self.feedback))
        state = self.state
        tile = self.i.tile
        for n, depth in enumerate(self.depth):
            head = heads(depth, state.depth_format, self._params.formats)
            m.d.comb += bounds.i[n].eq(head)
        writes = (tile.outcome != Outcome.DROP) & self.i.writes_depth
        t = Timeline(m)
        t.enter(
            0,
            touchable=self.i.touchable & self.i.legal,
            written=final & writes,
            **{f"tile_{name}": tile[name] for name in ("x", "y", "note")},
        )
        end = t[DepthRange.latency(lanes)]
        m.d.comb += [
            bounds.included.eq(self.i.on_target),
            reports.consume.eq(self.report_enters),
            reports.cancel.eq(self.i.valid & ~(final & writes)),
            reports.push.eq(end.written),
            reports.i.low.eq(Mux(end.touchable, bounds.low, 0)),
            reports.i.high.eq(Mux(end.touchable, bounds.high, -1)),
            reports.i.x.eq(end.tile_x),
            reports.i.y.eq(end.tile_y),
            reports.i.note.eq(end.tile_note),
        ]
        return reports
