# SPDX-License-Identifier: BSD-2-Clause
"""State gate: which control beats wait for the tiles before them."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.memory.surface.state_check import follows
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind

STATE = layout(payloads.DRAW_STATE)


class StateGate(wiring.Component):
    """Let a control beat pass when everything before it has drained; a draw state that
    :func:`~fixfunc.rtl.memory.surface.state_check.follows` the one in force, a clock after it was
    offered.

    Members
    -------
    waits, offered : In(1), In(STATE)
        A beat is offered, and does not enter in this clock; its header, and what it is as a draw
        state.
    state : In(STATE)
        The draw state in force, two clocks after it has entered.
    drained : In(1)
        Nothing is in flight.
    control_valid, kind : In
        A control beat has entered one clock ago.
    passes : Out(1)
        A control beat may enter.
    passes_on : Out(1)
        What ``control_valid`` speaks of is to be passed on at once.
    in_flight : Out(1)
        It is not: it is a draw state, which is in flight behind tiles.
    changes, trails : Out(1)
        A draw state is in force from this clock on; it is in flight.
    """

    waits: In(1)
    offered: In(STATE)
    state: In(STATE)
    drained: In(1)
    control_valid: In(1)
    kind: In(Kind)
    passes: Out(1)
    passes_on: Out(1)
    in_flight: Out(1)
    changes: Out(1)
    trails: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        is_known = Signal()  # to follow
        trails = Signal()
        m.d.comb += [
            self.passes.eq(self.drained | is_known),
            self.passes_on.eq(self.control_valid & ~trails),
            self.in_flight.eq(self.control_valid & trails),
        ]
        m.d.sync += [
            is_known.eq(
                self.waits & (self.offered.kind == Kind.STATE) & follows(self.offered, self.state)
            ),
            trails.eq(~self.drained),
            self.changes.eq(self.control_valid & (self.kind == Kind.STATE)),
            self.trails.eq(self.in_flight),
        ]
        return m
