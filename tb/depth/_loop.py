"""HiZ with something behind it that reports, so that its bench has one stream in and one out."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from rtl.depth.hiz import Hiz
from rtl.payload import beat, layout
from rtl.pipeline import delay
from spec import payloads
from spec.state import Kind, Outcome

STAMP = slice(6, 18)  # a beat's slot
WAITING = 256


class Harness(wiring.Component):
    """A :class:`~rtl.depth.hiz.Hiz` that hears of its tiles, in order, sooner or later.

    What it hears is made up from the tile. Every beat out says in its slot how many reports had counted before it did,
    modulo 4096: so that a golden model can do the same things in the same order. No tile may get lost: all are marked
    as their triangle's last.

    Parameters
    ----------
    params : HizParams
    """

    def __init__(self, params):
        self._params = params
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.hiz = hiz = Hiz(self._params)
        wiring.connect(m, wiring.flipped(self.i), hiz.i)

        # Reports: of tiles that may be written; the draw state goes by in the same stream.
        report = layout(payloads.feedback(self._params.edge))
        m.submodules.reports = reports = fifo.SyncFIFOBuffered(width=report.size, depth=WAITING)
        writes, given, moves = Signal(), hiz.o.payload, hiz.o.valid & hiz.o.ready
        tile, told = given.tile, Signal(report)
        with m.If(moves & (given.kind == Kind.STATE)):
            m.d.sync += writes.eq(given.draw_state.depth_test & given.draw_state.depth_write)
        m.d.comb += [told[name].eq(tile[name]) for name in ("x", "y", "note")]
        m.d.comb += [told.low.eq(tile.z0[16:30]), told.high.eq(tile.z0[16:30] | tile.dx[:14]), reports.w_data.eq(told),
                     reports.w_en.eq(moves & (given.kind == Kind.WORK) & (tile.outcome != Outcome.DROP) & writes)]

        # Sooner or later: at once for a while, then one in sixteen clocks.
        noise, clock, waits = Signal(16, init=1), Signal(11), Signal()
        m.d.sync += [noise.eq(Cat(noise[15] ^ noise[13] ^ noise[12] ^ noise[10], noise)), clock.eq(clock + 1)]
        with m.If(~waits | hiz.feedback.ready):
            m.d.sync += waits.eq(0)
        with m.If(~waits & reports.r_rdy & Mux(clock[-1], noise[:4] == 0, noise[0])):
            m.d.sync += waits.eq(1)
        m.d.comb += [hiz.feedback.valid.eq(waits), hiz.feedback.payload.eq(report(reports.r_data)), reports.r_en.eq(waits & hiz.feedback.ready)]

        # Stamps: as a tile's entry is read, or a control beat counts.
        counted, taken = Signal(12), self.i.valid & self.i.ready
        m.d.sync += counted.eq(counted + hiz.heard)
        m.submodules.stamps = stamps = fifo.SyncFIFOBuffered(width=12, depth=WAITING)
        work = self.i.payload.kind == Kind.WORK
        m.d.comb += [stamps.w_en.eq(delay(m, taken & work, hiz.READ + 1, "tile") | delay(m, taken & ~work, 4, "control")), stamps.w_data.eq(counted)]
        raw = given.as_value()
        m.d.comb += [self.o.valid.eq(hiz.o.valid), self.o.payload.eq(Cat(raw[:STAMP.start], stamps.r_data, raw[STAMP.stop:])),
                     hiz.o.ready.eq(self.o.ready), stamps.r_en.eq(moves)]
        return m
