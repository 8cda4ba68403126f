# SPDX-License-Identifier: BSD-2-Clause
"""Hierarchical depth and stencil."""

from dataclasses import dataclass
from typing import Literal, get_args

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.bounds_ram import BANKS
from fixfunc.rtl.depth.hiz.clear_control import ClearControl
from fixfunc.rtl.depth.hiz.context_switch import ContextSwitch
from fixfunc.rtl.depth.hiz.feedback import ADDRESS, Feedback
from fixfunc.rtl.depth.hiz.hiz_output import TESTS, HizOutput
from fixfunc.rtl.depth.hiz.tile_bounds import TileBounds
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.memory.surface.front import SurfaceFront
from fixfunc.rtl.memory.surface.state_queue import StateQueue
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat, Kind

Bounds = Literal["both", "max"]


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
    bounds: Bounds = "both"

    def __post_init__(self):
        EdgeEvaluatorParams(self.edge, self.samples)  # the same rules hold here
        if not 8 <= self.entries <= BANKS << ADDRESS or self.entries & self.entries - 1:
            raise ValueError(
                f"entries must be a power of two in 8..{BANKS << ADDRESS}, not {self.entries!r}"
            )
        if not 1 <= self.clears <= 8:
            raise ValueError(f"clears must be 1 to 8, not {self.clears!r}")
        if self.bounds not in get_args(Bounds):
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
    until the tiles before them have been looked up, but for draw states of the same target, which
    take five clocks between draws that write early, if both bounds are kept. A clear takes a few
    clocks, but for every 32nd of the whole target, and for rectangles beyond ``params.clears``.

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
        Requests to save what is known of a tile, or to restore it: one a clock. They wait until no
        test is in flight, and go before any tile that is offered. A save behind a restore waits for
        its answer: that is up to the caller.
    saved : Out(stream.Signature(layout(payloads.context(params.edge))))
        An answer for each, in order: what was known, as the request that restores it.
    """

    TOO_LATE = TileBounds.TOO_LATE  # a report counts too late for the tile

    def __init__(self, params: HizParams = CONFIGS["default"]) -> None:
        self._params = params
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
        """Clocks from a tile to its outcome: input, decision, outcome, FIFO."""
        return TileBounds.DECIDED + 2 + CreditedFIFO.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.front = front = SurfaceFront(p, TileBounds.DECIDED + 6)
        m.submodules.clears = clears = ClearControl(p.stencil)
        m.submodules.contexts = contexts = ContextSwitch(p.edge, TileBounds.STENCIL)
        m.submodules.passing = passing = StateQueue(TileBounds.DECIDED + 1)
        m.submodules.bounds = bounds = TileBounds(p)
        m.submodules.output = output = HizOutput(p.edge)
        m.submodules.reports = reports = Feedback(
            p.edge,
            TESTS,
            first=TileBounds.TOO_LATE - TileBounds.START,
            beyond=TileBounds.DECIDED + 2 - TileBounds.START,
        )
        wiring.connect(m, wiring.flipped(self.i), front.i)
        wiring.connect(m, output.o, wiring.flipped(self.o))
        wiring.connect(m, wiring.flipped(self.feedback), reports.i)
        wiring.connect(m, contexts.bounds, bounds.context)
        wiring.connect(m, reports.write, bounds.feedback)
        # Clears are counted modulo 256: at half of that nothing may be in flight that an older
        # number still belongs to.
        m.d.sync += [
            front.room.eq(output.room & ~self.initialising),
            front.drained.eq(output.drained | ~clears.serial[:7].all()),
        ]
        m.d.comb += [
            self.initialising.eq(bounds.initialising),
            # Tiles choose a single bound, and oppose it, for all that are in flight.
            front.states_wait.eq(p.bounds == "max"),
            bounds.state.eq(front.state),
            bounds.state_changes.eq(front.state_changes),
            passing.state.eq(front.state),
            passing.enters.eq(front.state_trails),
            output.state.eq(passing.o),
            output.state_leaves.eq(passing.leaves),
            bounds.legal.eq(front.legal),
            bounds.tile_valid.eq(front.tile_valid),
            bounds.tile.eq(front.tile),
            bounds.clearing.eq(front.clearing),
            bounds.is_context.eq(front.is_late),
        ]
        self._contexts(m, front, contexts, output.drained)
        self._clear(m, front, clears, bounds)
        self._put_out(m, front, clears, contexts, bounds, output)
        self._report(m, clears, bounds, output, reports)
        return m

    def _contexts(self, m, front, contexts, drained):
        """A request enters the pipeline as a tile."""
        wiring.connect(m, wiring.flipped(self.context), contexts.i)
        wiring.connect(m, contexts.o, wiring.flipped(self.saved))
        m.d.comb += [
            contexts.open.eq(front.open & drained),
            front.late_offered.eq(self.context.valid),
            front.late_enters.eq(contexts.accept),
            front.late_tile.eq(self.i.payload.tile),
            front.late_tile.x.eq(self.context.payload.x),
            front.late_tile.y.eq(self.context.payload.y),
        ]

    def _clear(self, m, front, clears, bounds):
        """Clears, and other targets, of which nothing is known."""
        wiring.connect(m, clears.depth_clear, bounds.depth_clear)
        if self._params.stencil:
            wiring.connect(m, clears.stencil_clear, bounds.stencil_clear)
        m.d.comb += [
            bounds.rectangle.eq(clears.rectangle),
            clears.state.eq(front.state),
            clears.clear.eq(front.clear),
            clears.clear_begins.eq(front.clear_begins),
            clears.target_changes.eq(front.target_changes),
            front.visit_tiles.eq(clears.visit_tiles),
        ]

    def _put_out(self, m, front, clears, contexts, bounds, output):
        """Outcomes, and the tiles that stay."""
        enters = self.i.valid & self.i.ready
        m.d.comb += [
            output.control_valid.eq(front.control_passes),
            output.control.eq(front.control),
            output.fence_error.eq(front.fence_error),
            output.writes.eq(bounds.writes),
            output.beat_enters.eq(enters),
            output.tile_enters.eq(enters & (self.i.payload.kind == Kind.WORK)),
            output.decision.eq(bounds.decision),
            output.depth_known.eq(contexts.bounds.depth_known),
            output.tile.eq(bounds.decided_tile),
            output.address.eq(bounds.address),
            output.serial.eq(clears.serial),
            contexts.complete.eq(output.context_complete),
            contexts.entry_known.eq(output.entry_known),
            front.outside.eq(output.outside_found),
        ]

    def _report(self, m, clears, bounds, output, reports):
        """Reports of the depth test, beside the tiles that are looked up."""
        m.d.comb += [
            reports.tile_valid.eq(bounds.lookup_valid),
            reports.key.x.eq(bounds.lookup_x),
            reports.key.y.eq(bounds.lookup_y),
            reports.test_begins.eq(output.test_begins),
            reports.test_key.eq(output.test_key),
            reports.serial.eq(clears.serial),
            self.feedback_taken.eq(reports.write.accept),
        ]
        m.d.sync += output.test_ends.eq(reports.write.accept)
