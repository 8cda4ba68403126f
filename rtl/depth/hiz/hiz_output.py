# SPDX-License-Identifier: BSD-2-Clause
"""HiZ output: outcomes of tiles, and the tiles that stay."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.feedback import ADDRESS, KEY, NOTE
from fixfunc.rtl.depth.hiz.tile_bounds import DECISION
from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind, Outcome

TILES = 128  # places of the output FIFO
TESTS = 1023  # most tests in flight: tiles wait for memory between this block and the test


class HizOutput(wiring.Component):
    """Decide about a tile by what its bounds say; put it out, or drop it. One a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    state_leaves, state : In(1), In(layout(payloads.DRAW_STATE))
        A draw state is to be passed on, in clock 1.
    beat_enters, tile_enters : In(1)
        A beat enters the pipeline before this block; a tile does.
    room : Out(1)
        They may, two clocks later.
    drained : Out(1)
        No tile and no test is in flight.
    decision : In(DECISION)
        What is decided about a tile, in clock 0.
    writes : In(1)
        Its draw may write depths. In clock 0.
    depth_known : In(1)
        Bounds of depths are known.
    context_complete, entry_known : Out(1)
        A request of a context has reached its end; the bounds of its tile are known. In clock 0.
    tile : In(layout(payloads.tile(edge)))
        The same tile in clock 1,
    address : In(ADDRESS)
        and where its entry is.
    serial : In(8)
        Clears so far.
    test_begins, test_key : Out
        The depth test is going to report of the tile. In clock 1.
    outside_found : Out(1)
        A tile lies outside the target. In clock 1.
    test_ends : In(1)
        A report has been taken.
    control_valid, control, fence_error : In
        A control beat is to be passed on at once; what a fence tells of errors.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
    """

    def __init__(self, edge: int) -> None:
        shape = beat(tile=payloads.tile(edge), **payloads.CONTROL)
        flags = (
            *("state_leaves", "beat_enters", "tile_enters", "writes", "depth_known", "test_ends"),
            "control_valid",
        )
        super().__init__(
            dict.fromkeys(flags, In(1))
            | {
                "decision": In(DECISION),
                "state": In(layout(payloads.DRAW_STATE)),
                "room": Out(1),
                "drained": Out(1),
                "context_complete": Out(1),
                "entry_known": Out(1),
                "tile": In(layout(payloads.tile(edge))),
                "address": In(ADDRESS),
                "serial": In(8),
                "test_begins": Out(1),
                "test_key": Out(KEY),
                "outside_found": Out(1),
                "control": In(shape),
                "fence_error": In(3),
                "o": Out(stream.Signature(shape)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.beats = beats = CreditedFIFO(self.o.payload.shape(), TILES, lookahead=2)
        m.submodules.tests = tests = CreditCounter(TESTS, lookahead=2)
        wiring.connect(m, beats.o, wiring.flipped(self.o))

        decision = self.decision
        # A tile without an entry, or whose bounds are not known, is tested.
        is_tile = decision.valid & ~decision.clearing & ~decision.is_context
        refused = decision.outside | ~decision.legal
        known = decision.has_entry & self.depth_known
        dropped = refused | (known & decision.drop) | (decision.has_entry & decision.stencil_fails)
        valid = Signal()
        retained = Signal()
        outcome = Signal(Outcome)
        has_entry = Signal()
        m.d.comb += [
            self.context_complete.eq(decision.is_context),
            self.entry_known.eq(decision.has_entry & ~refused),
        ]
        m.d.sync += [
            valid.eq(is_tile),
            retained.eq(~dropped),
            outcome.eq(Mux(known & decision.accept, Outcome.ACCEPT, Outcome.TEST)),
            has_entry.eq(decision.has_entry),
            self.test_begins.eq(is_tile & ~dropped & self.writes),
            self.outside_found.eq((is_tile | decision.is_context) & decision.outside),
        ]
        with m.If(dropped):
            m.d.sync += outcome.eq(Outcome.DROP)

        note = Signal(NOTE)
        sent = valid & (retained | self.tile.last)
        m.d.comb += [
            note.serial.eq(self.serial),
            note.has_entry.eq(has_entry),
            note.address.eq(self.address),
            self.test_key.x.eq(self.tile.x),
            self.test_key.y.eq(self.tile.y),
            beats.consume.eq(self.beat_enters),
            beats.cancel.eq(valid & ~sent),
            beats.push.eq(sent | self.state_leaves | self.control_valid),
            beats.i.eq(self.control),
            tests.consume.eq(self.tile_enters),
            tests.cancel.eq(valid & ~self.test_begins),
            tests.release.eq(self.test_ends),
            self.room.eq(beats.available & tests.available),
            self.drained.eq(tests.idle),
        ]
        with m.If(sent):
            m.d.comb += [
                beats.i.as_value().eq(0),
                beats.i.tile.eq(self.tile),
                beats.i.tile.mask.eq(Mux(retained, self.tile.mask, 0)),
                beats.i.tile.full.eq(retained & self.tile.full),
                beats.i.tile.outcome.eq(outcome),
                beats.i.tile.note.eq(Mux(retained, note, 0)),
            ]
        with m.Elif(self.state_leaves):
            m.d.comb += beats.i.draw_state.eq(self.state)
        with m.Elif(self.control.kind == Kind.FENCE):
            m.d.comb += beats.i.fence.error.eq(self.fence_error)
        return m
