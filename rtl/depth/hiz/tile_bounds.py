# SPDX-License-Identifier: BSD-2-Clause
"""Bounds of tiles against those of triangles: what HiZ decides."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.bounds_ram import BoundsRam
from fixfunc.rtl.depth.hiz.clear_control import PlaneClear
from fixfunc.rtl.depth.hiz.context_switch import ContextBounds
from fixfunc.rtl.depth.hiz.decision import DepthDecision, StencilDecision
from fixfunc.rtl.depth.hiz.depth_bounds import DepthBounds
from fixfunc.rtl.depth.hiz.entry_lookup import EntryLookup
from fixfunc.rtl.depth.hiz.feedback import ADDRESS, FeedbackWrite
from fixfunc.rtl.depth.hiz.single_bound import SingleBound
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.timeline import HeldTimeline, Timeline
from fixfunc.rtl.memory.surface.rectangle import RECTANGLE
from fixfunc.rtl.memory.surface.state_queue import SPACING
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Bound

# What is decided about a tile.
DECISION = StructLayout(
    {
        "valid": 1,
        "legal": 1,
        "clearing": 1,  # it stands for a clear
        "is_context": 1,  # it stands for a request of a context
        "has_entry": 1,
        "outside": 1,  # it lies off the target
        "drop": 1,  # no sample passes the depth test
        "accept": 1,  # every covered sample does
        "stencil_fails": 1,  # no sample passes the stencil test
    }
)


class TileBounds(wiring.Component):
    """Compare the bounds of a triangle with those of its tile, and update the latter.

    One tile a clock. Clocks are counted from the one in which a tile leaves the front.
    :attr:`DEPTH` is the clock in which the bounds of its depths are compared; those of its stencil
    values are two clocks before, since depths stay as they are where the stencil test fails.

    Parameters
    ----------
    params : HizParams

    Members
    -------
    state, state_changes, legal : In
        Of ``tile``: see :class:`~fixfunc.rtl.memory.surface.front.SurfaceFront`.
    tile_valid, tile, clearing, is_context : In
        A tile in clock 0; it stands for a clear, or for a request of a context.
    depth_clear, stencil_clear : In(PlaneClear(bits))
        Clears of each plane, and the ``rectangle`` of both.
    rectangle : In(RECTANGLE)
    context : In(ContextBounds(params.edge))
        Requests to save or to restore bounds.
    feedback : In(FeedbackWrite())
        Bounds that the depth test reports.
    lookup_valid, lookup_x, lookup_y : Out
        A tile that is looked up, in clock :attr:`START`.
    decision : Out(DECISION)
        In clock :attr:`DECIDED`.
    writes : Out(1)
        The tile's draw may write depths. As late.
    decided_tile, address : Out
        The tile and its entry, a clock later.
    initialising : Out(1)
        A bounds RAM is swept.
    """

    DEPTH = DepthBounds.LATENCY + 1
    STENCIL = DEPTH - 2
    LOOKUP = STENCIL - BoundsRam.LATENCY  # stencil bounds are read
    START = LOOKUP - EntryLookup.LATENCY
    DECIDED = DEPTH + 1
    TOO_LATE = LOOKUP + 2 + BoundsRam.READ - 1  # a report counts too late for the tile

    def __init__(self, params):
        self._params = params
        self._tile = layout(payloads.tile(params.edge))
        of_stencil = {"stencil_clear": In(PlaneClear(8))} if params.stencil else {}
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "state_changes": In(1),
                "legal": In(1),
                "tile_valid": In(1),
                "tile": In(self._tile),
                "clearing": In(1),
                "is_context": In(1),
                "depth_clear": In(PlaneClear(payloads.HIZ_BITS)),
                "rectangle": In(RECTANGLE),
                "context": In(ContextBounds(params.edge)),
                "feedback": In(FeedbackWrite()),
                "lookup_valid": Out(1),
                "lookup_x": Out(self._tile.members["x"]),
                "lookup_y": Out(self._tile.members["y"]),
                "decision": Out(DECISION),
                "writes": Out(1),
                "decided_tile": Out(self._tile),
                "address": Out(ADDRESS),
                "initialising": Out(1),
            }
            | of_stencil
        )

    def elaborate(self, platform):
        m = Module()
        p = self._params
        t = Timeline(m)
        states = HeldTimeline(m, self.state, self.state_changes, SPACING)
        m.submodules.depth = depth = BoundsRam(
            payloads.HIZ_BITS, p.entries, p.edge, p.clears, p.bounds == "max"
        )
        rams = {"depth": depth}
        if p.stencil:
            m.submodules.stencil = stencil = BoundsRam(8, p.entries, p.edge, p.clears, False)
            rams["stencil"] = stencil
        m.d.comb += self.initialising.eq(Cat(ram.initialising for ram in rams.values()).any())
        self._look_up(m, t)
        for plane, ram in rams.items():
            self._clear(m, t, plane, ram)
        stencil_fails = self._decide_stencil(m, t, states, rams["stencil"]) if p.stencil else 0
        t.enter(self.DEPTH - 1, stencil_fails=stencil_fails)
        self._decide_depth(m, t, states, depth)
        self._accept_feedback(m, t, depth)
        decided = t[self.DECIDED]
        m.d.comb += [
            *(self.decision[name].eq(getattr(decided, name)) for name in DECISION.members),
            self.writes.eq(states[self.DECIDED].depth_test & states[self.DECIDED].depth_write),
            self.address.eq(t[self.DECIDED + 1].address),
            self.context.stencil.eq(rams["stencil"].updated if p.stencil else 0xFF00),
        ]
        return m

    def _look_up(self, m, t):
        """A tile waits for its entry, and for its decision."""
        item = StructLayout({"tile": self._tile, "clearing": 1})
        m.submodules.to_lookup = to_lookup = DelayLine(item.size, self.START)
        m.submodules.to_decision = to_decision = DelayLine(item.size, self.DECIDED + 1 - self.START)
        m.submodules.lookup = lookup = EntryLookup(self._params.edge, self._params.entries)
        waiting = item(to_lookup.o)
        m.d.comb += [
            item(to_lookup.i).tile.eq(self.tile),
            item(to_lookup.i).clearing.eq(self.clearing),
            to_decision.i.eq(to_lookup.o),
            self.decided_tile.eq(item(to_decision.o).tile),
        ]
        t.enter(0, valid=self.tile_valid, is_context=self.is_context, legal=self.legal)
        t.enter(self.START, back=waiting.tile.back, clearing=waiting.clearing)
        m.d.comb += [
            self.lookup_valid.eq(t[self.START].valid),
            self.lookup_x.eq(waiting.tile.x),
            self.lookup_y.eq(waiting.tile.y),
            lookup.state.eq(self.state),
            lookup.tile_valid.eq(self.lookup_valid),
            lookup.x.eq(self.lookup_x),
            lookup.y.eq(self.lookup_y),
        ]
        names = ("has_entry", "outside", "entry_valid", "entry_x", "entry_y", "bank", "address")
        t.enter(self.LOOKUP, **{name: getattr(lookup, name) for name in names})

    def _clear(self, m, t, plane, ram):
        """Clears of a plane, and the entries that its bounds RAM reads."""
        clear = getattr(self, f"{plane}_clear")
        entry = t[self.LOOKUP + (2 if plane == "depth" else 0)]
        m.d.comb += [
            ram.samples.eq(self.state.samples),
            ram.width.eq(self.state.target_width),
            ram.height.eq(self.state.target_height),
            ram.rectangle.eq(self.rectangle),
            clear.room.eq(ram.clear_room),
            ram.tile_valid.eq(entry.entry_valid),
            ram.x.eq(entry.entry_x),
            ram.y.eq(entry.entry_y),
            ram.bank.eq(entry.bank),
            ram.address.eq(entry.address),
        ]
        for name in ("new_epoch", "epoch_bounds", "clear", "value"):
            m.d.comb += getattr(ram, name).eq(getattr(clear, name))

    def _decide_depth(self, m, t, states, ram):
        """What bounds of depths say about a tile, and what the tile does to them."""
        m.submodules.bounds = bounds = DepthBounds(self._params.edge)
        m.submodules.depth_decision = decision = DepthDecision()
        of_tile = ("state", "state_changes", "tile")
        m.d.comb += [getattr(bounds, name).eq(getattr(self, name)) for name in of_tile]
        for name in ("low", "high", "low_ones", "high_zeros", "full"):
            m.d.comb += getattr(decision, name).eq(getattr(bounds, name))
        compared = t[self.DEPTH - 1]
        request = self.context.depth_request
        fits = self._choose_bound(m, t, ram)
        connect(m, decision, ram, self.depth_clear, (states, self.DEPTH - 2), compared)
        m.d.comb += [
            decision.tests.eq(is_tested(compared) & ~compared.stencil_fails),
            decision.restores.eq(is_restored(compared, request) & fits),
            decision.restored.low.eq(request.low),
            decision.restored.high.eq(request.high),
            self.context.depth.eq(ram.updated),
        ]
        t.enter(self.DECIDED, drop=decision.drop, accept=decision.accept)

    def _decide_stencil(self, m, t, states, ram):
        """The same for stencil values; returns whether all of them fail, one clock later."""
        m.submodules.stencil_decision = decision = StencilDecision()
        compared = t[self.STENCIL - 1]
        updated = t[self.STENCIL]
        request = self.context.stencil_request
        fails = Signal()
        fails_later = Signal()
        connect(m, decision, ram, self.stencil_clear, (states, self.STENCIL - 2), compared)
        m.d.comb += [
            decision.tests.eq(is_tested(compared)),
            decision.restores.eq(is_restored(compared, request)),
            decision.restored.low.eq(request.stencil_low),
            decision.restored.high.eq(request.stencil_high),
            fails.eq(decision.fails & updated.has_entry),
            ram.discard.eq(fails & ~updated.clearing & ~updated.is_context),
        ]
        m.d.sync += fails_later.eq(fails)
        return fails_later

    def _choose_bound(self, m, t, ram):
        """Of a single bound, which one; returns whether that of a request fits."""
        context = self.context
        if self._params.bounds == "both":
            m.d.comb += context.depth_known.eq(1)
            return 1
        m.submodules.single = single = SingleBound(payloads.HIZ_BITS)
        request = context.stencil_request
        restored = t[self.STENCIL - 1]
        m.d.comb += [
            single.state.eq(self.state),
            single.tests.eq(is_tested(t[self.LOOKUP])),
            single.new_epoch.eq(self.depth_clear.new_epoch),
            single.clear.eq(self.depth_clear.clear),
            single.value.eq(self.depth_clear.value),
            single.restores.eq(
                restored.is_context & request.restore & ~restored.outside & restored.legal
            ),
            single.restored.eq(request.bound),
            ram.keeps_low.eq(single.bound == Bound.MIN),
            context.bound.eq(single.bound),
            context.depth_known.eq((single.bound == Bound.MAX) | (single.bound == Bound.MIN)),
        ]
        return context.depth_known & (context.depth_request.bound == context.bound)

    def _accept_feedback(self, m, t, ram):
        """Bounds that the depth test reports are written beside those of tiles."""
        feedback = self.feedback
        # A bound that is chosen by a tile holds for reports that count behind this tile.
        t.enter(self.LOOKUP, depth_known=self.context.depth_known)
        m.d.comb += [
            feedback.initialising.eq(ram.initialising),
            feedback.bank_busy.eq(ram.bank_busy),
            feedback.depth_known.eq(t[self.TOO_LATE].depth_known),
            ram.report.eq(feedback.accept),
        ]
        for name in ("fits", "bank", "address", "bounds"):
            m.d.comb += getattr(ram, f"report_{name}").eq(getattr(feedback, name))


def is_tested(tile):
    """A tile of a draw is tested that has an entry."""
    drawn = tile.valid & ~tile.clearing & ~tile.is_context
    return drawn & tile.has_entry & ~tile.outside & tile.legal


def is_restored(tile, request):
    """A request restores bounds."""
    return tile.is_context & request.restore & tile.has_entry & ~tile.outside & tile.legal


def connect(m, decision, ram, clear, known, compared):
    """A decision, beside the bounds RAM of its plane; draw states are known in a clock."""
    states, clock = known
    visited = compared.valid & compared.has_entry & compared.clearing
    m.d.comb += [
        decision.state.eq(states[clock]),
        decision.state_changes.eq(states.changes(clock)),
        decision.back.eq(compared.back),
        decision.clears.eq(visited & clear.visits),
        decision.cleared.eq(ram.value),
        decision.touched.eq(ram.touched),
        decision.whole.eq(ram.whole),
        decision.bounds.eq(ram.bounds),
        ram.update.eq(decision.update),
    ]
