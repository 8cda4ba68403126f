# SPDX-License-Identifier: BSD-2-Clause
"""Hierarchical depth and stencil."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.bounds_ram import BANKS, BoundsRam
from fixfunc.rtl.depth.hiz.clear_control import ClearControl
from fixfunc.rtl.depth.hiz.context_switch import ContextSwitch
from fixfunc.rtl.depth.hiz.decision import DepthDecision, StencilDecision
from fixfunc.rtl.depth.hiz.depth_bounds import DepthBounds
from fixfunc.rtl.depth.hiz.entry_lookup import EntryLookup
from fixfunc.rtl.depth.hiz.feedback import ADDRESS, Feedback
from fixfunc.rtl.depth.hiz.hiz_output import TILES, HizOutput
from fixfunc.rtl.depth.hiz.single_bound import SingleBound
from fixfunc.rtl.lib.delay import DelayLine, delay
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.surface.front import SurfaceFront
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import payloads
from fixfunc.spec.state import Bound, DepthFormat, Kind


@dataclass(frozen=True)
class HizParams:
    """Shape of a :class:`Hiz`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    entries : int
        Tiles on chip, a power of two; of a larger target the others are always tested.
    clears : int
        Clears of rectangles, between two of the whole target, that take a few clocks. Any more
        visit their tiles.
    stencil : bool
        Bounds of stencil values are kept too. Without them draws that test these are refused.
    formats : tuple of DepthFormat
        Those of the depth test behind it.
    bounds : str
        ``"both"``: of depths, zmin and zmax of each tile. ``"max"``: one bound, in half of the
        memory: the one that the first draw after a clear of the whole target can use; a draw that
        writes the other way makes it rest until the next such clear.
    """

    edge: int = 8
    samples: int = 8
    entries: int = 1 << 16
    clears: int = 4
    stencil: bool = True
    formats: tuple = tuple(DepthFormat)
    bounds: str = "both"

    def __post_init__(self):
        EdgeEvaluatorParams(self.edge, self.samples)  # the same rules hold here
        if not 8 <= self.entries <= BANKS << ADDRESS or self.entries & self.entries - 1:
            raise ValueError(
                f"entries must be a power of two in 8..{BANKS << ADDRESS}, not {self.entries!r}"
            )
        if not 1 <= self.clears <= 8:
            raise ValueError(f"clears must be 1 to 8, not {self.clears!r}")
        if self.bounds not in ("both", "max"):
            raise ValueError(f"bounds must be 'both' or 'max', not {self.bounds!r}")

    @property
    def modes(self) -> range:
        """log2 of every sample count that this unit knows."""
        return range(self.samples.bit_length())


CONFIGS = {
    "default": HizParams(),
    "small": HizParams(entries=1 << 12),
    "one_bound": HizParams(entries=1 << 12, bounds="max"),
    "tiny": HizParams(edge=4, entries=128, clears=2),
    "tiny_one_bound": HizParams(edge=4, entries=128, clears=2, bounds="max"),
}
PURPOSE = {  # of each configuration
    "default": "65,536 tiles, both bounds",
    "small": "4,096 tiles, both bounds",
    "one_bound": "4,096 tiles, one bound chosen by the draws",
    "tiny": "for benches: 128 tiles of 4x4",
    "tiny_one_bound": "for benches: the same with one bound",
}
UNREAD = (*payloads.RASTER_STATE, *payloads.OUTPUT_STATE)  # of a draw state


class Hiz(wiring.Component):
    """Find tiles of which no sample can pass, and tiles of which every sample must.

    One tile and one report a clock, in order. A report counts one clock after it has been taken at
    the earliest; it waits while a tile that shares its count is being looked up. Control beats wait
    until the tiles before them have been looked up. A clear takes a few clocks, but for every 32nd
    of the whole target, and for rectangles beyond ``params.clears``.

    Clocks are counted from a tile's leave from the front. :attr:`DEPTH` is the clock in which the
    bounds of its depths are compared; those of its stencil values are two clocks before, since
    depths stay as they are where the stencil test fails.

    Parameters
    ----------
    params : HizParams

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles as :func:`fixfunc.spec.payloads.tile`.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        The same, with ``outcome`` and ``note``. Dropped tiles are left out, unless they are their
        triangle's last: then their mask is empty.
    feedback : In(stream.Signature(layout(payloads.feedback(params.edge))))
        A report of every tile that may be written, once it has been tested.
    feedback_taken : Out(1)
        A report counts.
    initialising : Out(1)
        The bounds RAM is swept, after a reset or at a clear. Tiles wait.
    context : In(stream.Signature(layout(payloads.context(params.edge))))
        Requests to save what is known of a tile, or to restore it: one a clock, while no test is in
        flight. They go before any tile that is offered.
    saved : Out(stream.Signature(layout(payloads.context(params.edge))))
        An answer for each, in order: what was known, as the request that restores it.
    """

    DEPTH = DepthBounds.LATENCY + 1
    STENCIL = DEPTH - 2
    LOOKUP = STENCIL - BoundsRam.LATENCY  # stencil bounds are read
    START = LOOKUP - EntryLookup.LATENCY
    TOO_LATE = LOOKUP + 2 + BoundsRam.READ - 1  # a report counts too late for the tile

    def __init__(self, params: HizParams = CONFIGS["default"]) -> None:
        self._params = params
        self._tile = layout(payloads.tile(params.edge))
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(shape)),
                "feedback": In(stream.Signature(layout(payloads.feedback(params.edge)))),
                "feedback_taken": Out(1),
                "initialising": Out(1),
                "context": In(stream.Signature(layout(payloads.context(params.edge)))),
                "saved": Out(stream.Signature(layout(payloads.context(params.edge)))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a tile to its outcome: input, bounds, update, comparison, outcome, FIFO."""
        return self.DEPTH + 3 + CreditedFIFO.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.front = front = SurfaceFront(p, self.DEPTH + 7)
        m.submodules.output = output = HizOutput(p.edge)
        m.submodules.clears = clears = ClearControl(p.stencil)
        m.submodules.contexts = contexts = ContextSwitch(p.edge, self.STENCIL)
        m.submodules.depth = depth = BoundsRam(
            payloads.HIZ_BITS, p.entries, p.edge, p.clears, p.bounds == "max"
        )
        rams = {"depth": depth}
        if p.stencil:
            m.submodules.stencil = stencil = BoundsRam(8, p.entries, p.edge, p.clears, False)
            rams["stencil"] = stencil
        wiring.connect(m, wiring.flipped(self.i), front.i)
        wiring.connect(m, output.o, wiring.flipped(self.o))
        self._contexts(m, front, contexts)
        self._clear(m, front, clears, rams)
        m.d.comb += self.initialising.eq(Cat(ram.initialising for ram in rams.values()).any())
        # Clears are counted modulo 256: at half of that nothing may be in flight that an older
        # number still belongs to.
        m.d.sync += [
            front.room.eq(output.room & ~self.initialising),
            front.drained.eq(output.drained | ~clears.serial[:7].all()),
        ]
        timeline, tile = self._look_up(m, front, rams)
        self._decide(m, front, clears, contexts, rams, timeline)
        self._put_out(m, front, clears, contexts, output, timeline, tile)
        self._hear(m, clears, contexts, output, depth, timeline)
        return m

    def _contexts(self, m, front, contexts):
        """A request enters the pipeline as a tile."""
        wiring.connect(m, wiring.flipped(self.context), contexts.i)
        wiring.connect(m, contexts.o, wiring.flipped(self.saved))
        m.d.comb += [
            contexts.open.eq(front.open),
            front.late_offered.eq(self.context.valid),
            front.late_enters.eq(contexts.accept),
            front.late_tile.eq(self.i.payload.tile),
            front.late_tile.x.eq(self.context.payload.x),
            front.late_tile.y.eq(self.context.payload.y),
        ]

    def _clear(self, m, front, clears, rams):
        """Clears, and other targets, of which nothing is known."""
        state = front.state
        m.d.comb += [
            clears.state.eq(state),
            clears.clear.eq(front.clear),
            clears.clear_begins.eq(front.clear_begins),
            clears.target_changes.eq(front.target_changes),
            front.visit_tiles.eq(clears.visit_tiles),
        ]
        for plane, ram in rams.items():
            m.d.comb += [
                ram.samples.eq(state.samples),
                ram.width.eq(state.target_width),
                ram.height.eq(state.target_height),
                ram.rectangle.eq(clears.rectangle),
                getattr(clears, f"{plane}_room").eq(ram.clear_room),
            ]
            for name in ("new_epoch", "epoch_bounds", "clear", "value"):
                m.d.comb += getattr(ram, name).eq(getattr(clears, f"{plane}_{name}"))

    def _look_up(self, m, front, rams):
        """A tile waits for its entry, and for its outcome; returns both clocks of it."""
        item = StructLayout({"tile": self._tile, "clearing": 1})
        m.submodules.to_lookup = to_lookup = DelayLine(item.size, self.START)
        m.submodules.to_outcome = to_outcome = DelayLine(item.size, self.DEPTH + 2 - self.START)
        m.submodules.lookup = lookup = EntryLookup(self._params.edge, self._params.entries)
        waiting = item(to_lookup.o)
        m.d.comb += [
            item(to_lookup.i).tile.eq(front.tile),
            item(to_lookup.i).clearing.eq(front.clearing),
            to_outcome.i.eq(to_lookup.o),
        ]
        timeline = Timeline(m)
        timeline.enter(0, valid=front.tile_valid, is_context=front.is_late)
        timeline.enter(
            self.START,
            x=waiting.tile.x,
            y=waiting.tile.y,
            back=waiting.tile.back,
            clearing=waiting.clearing,
        )
        start = timeline[self.START]
        m.d.comb += [
            lookup.state.eq(front.state),
            lookup.tile_valid.eq(start.valid),
            lookup.x.eq(start.x),
            lookup.y.eq(start.y),
        ]
        names = ("has_entry", "outside", "entry_valid", "entry_x", "entry_y", "bank", "address")
        timeline.enter(self.LOOKUP, **{name: getattr(lookup, name) for name in names})
        for plane, ram in rams.items():
            entry = timeline[self.LOOKUP + (2 if plane == "depth" else 0)]
            m.d.comb += [
                ram.tile_valid.eq(entry.entry_valid),
                ram.x.eq(entry.entry_x),
                ram.y.eq(entry.entry_y),
                ram.bank.eq(entry.bank),
                ram.address.eq(entry.address),
            ]
        return timeline, item(to_outcome.o).tile

    def _decide(self, m, front, clears, contexts, rams, timeline):
        """What bounds say about a tile, and what the tile does to them."""
        m.submodules.bounds = bounds = DepthBounds(self._params.edge)
        m.submodules.depth_decision = decision = DepthDecision()
        m.d.comb += [
            bounds.state.eq(front.state),
            bounds.tile.eq(front.tile),
        ]
        for name in ("low", "high", "low_ones", "high_zeros", "full"):
            m.d.comb += getattr(decision, name).eq(getattr(bounds, name))
        stencil_fails = 0
        if self._params.stencil:
            stencil_fails = self._decide_stencil(m, front, clears, contexts, rams, timeline)
        timeline.enter(self.DEPTH - 1, stencil_fails=stencil_fails)
        now = timeline[self.DEPTH - 1]
        request = contexts.depth_request
        fits = self._choose_bound(m, front, clears, contexts, rams["depth"], timeline)
        m.d.comb += decision.tests.eq(self._tests(front, now) & ~now.stencil_fails)
        self._connect(m, front, clears, "depth", decision, rams["depth"], now)
        m.d.comb += [
            decision.restores.eq(self._restores(front, now, request) & fits),
            decision.restored.low.eq(request.low),
            decision.restored.high.eq(request.high),
            contexts.depth.eq(rams["depth"].updated),
            contexts.stencil.eq(rams["stencil"].updated if self._params.stencil else 0xFF00),
        ]
        timeline.enter(self.DEPTH + 1, drop=decision.drop, accept=decision.accept)

    def _decide_stencil(self, m, front, clears, contexts, rams, timeline):
        """The same for stencil values; returns whether all of them fail, one clock later."""
        m.submodules.stencil_decision = decision = StencilDecision()
        now = timeline[self.STENCIL - 1]
        next_clock = timeline[self.STENCIL]
        request = contexts.stencil_request
        fails = Signal()
        fails_now = decision.fails & next_clock.has_entry
        m.d.comb += decision.tests.eq(self._tests(front, now))
        self._connect(m, front, clears, "stencil", decision, rams["stencil"], now)
        m.d.comb += [
            decision.restores.eq(self._restores(front, now, request)),
            decision.restored.low.eq(request.stencil_low),
            decision.restored.high.eq(request.stencil_high),
            rams["stencil"].discard.eq(fails_now & ~next_clock.clearing & ~next_clock.is_context),
        ]
        m.d.sync += fails.eq(fails_now)
        return fails

    def _connect(self, m, front, clears, plane, decision, ram, now):
        """A decision, beside the bounds RAM of its plane."""
        visits = getattr(clears, f"{plane}_visits")
        m.d.comb += [
            decision.state.eq(front.state),
            decision.back.eq(now.back),
            decision.clears.eq(now.valid & now.has_entry & now.clearing & visits),
            decision.cleared.eq(ram.value),
            decision.touched.eq(ram.touched),
            decision.whole.eq(ram.whole),
            decision.bounds.eq(ram.bounds),
            ram.update.eq(decision.update),
        ]

    @staticmethod
    def _tests(front, now):
        """A tile of a draw is tested that has an entry."""
        drawn = now.valid & ~now.clearing & ~now.is_context
        return drawn & now.has_entry & ~now.outside & front.legal

    @staticmethod
    def _restores(front, now, request):
        """A request restores bounds."""
        return now.is_context & request.restore & now.has_entry & ~now.outside & front.legal

    def _choose_bound(self, m, front, clears, contexts, depth, timeline):
        """Of a single bound, which one; returns whether that of a request fits."""
        if self._params.bounds == "both":
            m.d.comb += contexts.depth_known.eq(1)
            return 1
        m.submodules.single = single = SingleBound(payloads.HIZ_BITS)
        request = contexts.stencil_request
        restored = timeline[self.STENCIL - 1]
        restores = restored.is_context & request.restore & ~restored.outside & front.legal
        m.d.comb += [
            single.state.eq(front.state),
            single.tests.eq(self._tests(front, timeline[self.LOOKUP])),
            single.new_epoch.eq(clears.depth_new_epoch),
            single.clear.eq(clears.depth_clear),
            single.value.eq(clears.depth_value),
            single.restores.eq(restores),
            single.restored.eq(request.bound),
            depth.keeps_low.eq(single.bound == Bound.MIN),
            contexts.bound.eq(single.bound),
            contexts.depth_known.eq((single.bound == Bound.MAX) | (single.bound == Bound.MIN)),
        ]
        return contexts.depth_known & (contexts.depth_request.bound == contexts.bound)

    def _put_out(self, m, front, clears, contexts, output, timeline, tile):
        """Outcomes, and the tiles that stay."""
        now = timeline[self.DEPTH + 1]
        enters = self.i.valid & self.i.ready
        names = ("clearing", "is_context", "has_entry", "outside", "drop", "accept")
        for name in (*names, "stencil_fails"):
            m.d.comb += getattr(output, name).eq(getattr(now, name))
        for name in ("state", "legal", "control_valid", "control", "fence_error"):
            m.d.comb += getattr(output, name).eq(getattr(front, name))
        m.d.comb += [
            output.beat_enters.eq(enters),
            output.tile_enters.eq(enters & (self.i.payload.kind == Kind.WORK)),
            output.tile_valid.eq(now.valid),
            output.depth_known.eq(contexts.depth_known),
            output.tile.eq(tile),
            output.address.eq(timeline[self.DEPTH + 2].address),
            output.serial.eq(clears.serial),
            contexts.complete.eq(output.context_complete),
            contexts.entry_known.eq(output.entry_known),
            front.outside.eq(output.outside_found),
        ]

    def _hear(self, m, clears, contexts, output, depth, timeline):
        """Reports of the depth test, beside the tiles that are looked up."""
        too_late = self.TOO_LATE - self.START
        m.submodules.hearing = hearing = Feedback(
            self._params.edge, TILES, too_late, self.DEPTH + 3 - self.START
        )
        wiring.connect(m, wiring.flipped(self.feedback), hearing.i)
        start = timeline[self.START]
        m.d.comb += [
            hearing.tile_valid.eq(start.valid),
            hearing.key.x.eq(start.x),
            hearing.key.y.eq(start.y),
            hearing.test_begins.eq(output.test_begins),
            hearing.test_key.eq(output.test_key),
            hearing.serial.eq(clears.serial),
            hearing.initialising.eq(depth.initialising),
            hearing.bank_busy.eq(depth.bank_busy),
            hearing.depth_known.eq(delay(m, contexts.depth_known, too_late - 4, "depth_known")),
            output.test_ends.eq(delay(m, hearing.taken, 1, "test_ends")),
            depth.report.eq(hearing.taken),
            self.feedback_taken.eq(hearing.taken),
        ]
        for name in ("fits", "bank", "address", "bounds"):
            m.d.comb += getattr(depth, f"report_{name}").eq(getattr(hearing, name))
