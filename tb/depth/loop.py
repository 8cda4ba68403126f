# SPDX-License-Identifier: BSD-2-Clause
"""HiZ with something behind it that reports, so that its bench has one stream in and one out."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.hiz import Hiz
from fixfunc.rtl.depth.hiz.hiz_output import TESTS
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind, Outcome
from fixfunc.tb.depth.noise import sometimes

STAMP = slice(6, 18)  # a beat's slot
WAITING = TESTS + 1  # reports: as many as tests may be in flight


class Harness(wiring.Component):
    """A :class:`~fixfunc.rtl.depth.hiz.hiz.Hiz` that hears of its tiles, in order, sooner or later.

    What it hears is made up from the tile. Every beat out says in its slot how many reports had
    counted before it did, modulo 4096: so that a golden model can do the same things in the same
    order. No tile may get lost: all are marked as their triangle's last. One that is not stands for
    a request (:func:`requested`): it waits until no write is in flight, and where it is of another
    kind than the one before, for its answer.

    Parameters
    ----------
    params : HizParams
    patience : int
        Clocks without a beat in, before a report is made.
    """

    def __init__(self, params, patience=0):
        self._params = params
        self._patience = patience
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        saved = layout(payloads.context(params.edge))
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(shape)),
                "saved": Out(stream.Signature(saved)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.hiz = hiz = Hiz(self._params)

        # Reports: of tiles that may be written; the draw state goes by in the same stream.
        report = layout(payloads.feedback(self._params.edge))
        m.submodules.reports = reports = fifo.SyncFIFOBuffered(width=report.size, depth=WAITING)
        writes = Signal()
        beat_out = hiz.o.payload
        sent = hiz.o.valid & hiz.o.ready
        tile = beat_out.tile
        reported = Signal(report)
        with m.If(sent & (beat_out.kind == Kind.STATE)):
            m.d.sync += writes.eq(beat_out.draw_state.depth_test & beat_out.draw_state.depth_write)
        m.d.comb += [reported[name].eq(tile[name]) for name in ("x", "y", "note")]
        m.d.comb += [
            reported.low.eq(tile.z0[16:30]),
            reported.high.eq(tile.z0[16:30] | tile.dx[:14]),
            reports.w_data.eq(reported),
            reports.w_en.eq(
                sent & (beat_out.kind == Kind.WORK) & (tile.outcome != Outcome.DROP) & writes
            ),
        ]

        # Sooner or later.
        report_valid = Signal()
        idle_clocks = Signal(range(self._patience + 2))
        enable = sometimes(m, 1024)
        m.d.sync += idle_clocks.eq(
            Mux(self.i.valid & self.i.ready, 0, idle_clocks + (idle_clocks != self._patience))
        )
        with m.If(~report_valid | hiz.feedback.ready):
            m.d.sync += report_valid.eq(0)
        with m.If(~report_valid & reports.r_rdy & (idle_clocks == self._patience) & enable):
            m.d.sync += report_valid.eq(1)
        m.d.comb += [
            hiz.feedback.valid.eq(report_valid),
            hiz.feedback.payload.eq(report(reports.r_data)),
            reports.r_en.eq(report_valid & hiz.feedback.ready),
        ]

        # A clear, or a fence, waits for the stamps of tiles and draw states before it.
        kind = self.i.payload.kind
        in_line = (kind == Kind.WORK) | (kind == Kind.STATE)
        unstamped = Signal(hiz.TOO_LATE + 1)
        is_request = self._pass_requests(m, hiz, reports.w_en, ~in_line & unstamped.any())

        # Stamps: as a tile's entry is read, or a clear counts. A draw state, which may pass between
        # tiles, has one like theirs: what is reported just behind it is of an old target, or the
        # same before it.
        counted = Signal(12)
        accepted = self.i.valid & self.i.ready & ~is_request
        m.d.sync += counted.eq(counted + hiz.feedback_taken)
        m.submodules.stamps = stamps = fifo.SyncFIFOBuffered(width=12, depth=WAITING)
        m.d.sync += unstamped.eq(Cat(accepted & in_line, unstamped))
        m.d.comb += [
            stamps.w_en.eq(unstamped[-1] | delay(m, accepted & ~in_line, 4, "control")),
            stamps.w_data.eq(counted),
        ]
        raw = beat_out.as_value()
        m.d.comb += [
            self.o.valid.eq(hiz.o.valid & stamps.r_rdy),
            self.o.payload.eq(Cat(raw[: STAMP.start], stamps.r_data, raw[STAMP.stop :])),
            hiz.o.ready.eq(self.o.ready & stamps.r_rdy),
            stamps.r_en.eq(sent),
        ]
        return m

    def _pass_requests(self, m, hiz, reported, waits):
        """Pass beats on to where they belong.

        Returns whether the one that is offered is a request.
        """
        is_request = Signal()
        idle = Signal()
        kind = Signal(3)
        tile = self.i.payload.tile
        request = hiz.context.payload
        m.d.comb += [
            is_request.eq((self.i.payload.kind == Kind.WORK) & ~tile.last),
            hiz.i.valid.eq(self.i.valid & ~is_request & ~waits),
            hiz.i.payload.eq(self.i.payload),
            hiz.context.valid.eq(self.i.valid & is_request & idle),
            self.i.ready.eq(Mux(is_request, idle & hiz.context.ready, hiz.i.ready & ~waits)),
        ]
        connect_request(m, tile, request)
        wiring.connect(m, hiz.saved, wiring.flipped(self.saved))

        # Idle: every beat is out, and every report heard.
        beats = Signal(12)
        unapplied = Signal(12)
        unanswered = Signal(12)
        offered_kind = Cat(tile.full, tile.outcome)
        begins = hiz.context.valid & hiz.context.ready
        m.d.sync += [
            beats.eq(beats + (hiz.i.valid & hiz.i.ready) - (hiz.o.valid & hiz.o.ready)),
            unapplied.eq(unapplied + reported - hiz.feedback_taken),
            unanswered.eq(unanswered + begins - (hiz.saved.valid & hiz.saved.ready)),
        ]
        with m.If(begins):
            m.d.sync += kind.eq(offered_kind)
        m.d.comb += idle.eq(
            (beats == 0) & (unapplied == 0) & ((unanswered == 0) | (kind == offered_kind))
        )
        return is_request


def connect_request(m, tile, request):
    """The request that a tile stands for, in hardware: as :func:`requested`."""
    m.d.comb += [
        request.x.eq(tile.x),
        request.y.eq(tile.y),
        request.restore.eq(tile.full),
        request.bound.eq(tile.outcome),
        request.low.eq(tile.zmin),
        request.high.eq(tile.zmax),
        request.stencil_low.eq(tile.z0),
        request.stencil_high.eq(tile.z0 >> 8),
    ]


def requested(tile):
    """The request that a tile stands for: fields by name."""
    return {
        "x": tile["x"],
        "y": tile["y"],
        "restore": tile["full"],
        "bound": tile["outcome"],
        "low": tile["zmin"],
        "high": tile["zmax"],
        "stencil_low": tile["z0"] & 0xFF,
        "stencil_high": tile["z0"] >> 8 & 0xFF,
    }
