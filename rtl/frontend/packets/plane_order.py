# SPDX-License-Identifier: BSD-2-Clause
"""Plane order: which colour planes of a target have been cleared before they are drawn to."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.packets.packet import BEAT
from fixfunc.rtl.frontend.state_check import covers_target
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind


class PlaneOrder(wiring.Component):
    """Watch the beats of a reader whose targets have several colour planes.

    A draw state of the first plane begins all of them: the others are not written until each has
    had a state of its own. A clear of all planes begins a target, and its first colour plane. Each
    other one begins with a clear of all of it.

    Every plane has a cache of its own, and a port: what one of them writes to a place in memory
    has no order against what another one does, but for a FENCE between. A cache also holds tiles of
    the target before until its plane is cleared, and writes them at the next FENCE.

    Parameters
    ----------
    planes : int
        Colour planes of a target.

    Members
    -------
    beat : In(BEAT)
    taken : In(1)
        ``beat`` leaves the reader.
    begins_target : In(1)
        ``beat`` is a clear of all planes of all of the target.
    state : In(layout(payloads.DRAW_STATE))
        The draw state in force.
    begun : Out(planes)
        Planes that have been cleared as a whole.
    drawable : Out(1)
        Every plane that the draw states write has been cleared as a whole.
    needs_fence : Out(planes)
        Planes that may not begin, as a cache may still write to their place in memory: since the
        last FENCE something has been drawn, or a plane cleared in part or twice, or this one
        cleared.
    unflushed : Out(1)
        Something has been drawn or cleared, since the last FENCE, in a plane but the first.
    """

    def __init__(self, planes: int) -> None:
        self._planes = planes
        super().__init__(
            {
                "beat": In(BEAT),
                "taken": In(1),
                "begins_target": In(1),
                "state": In(layout(payloads.DRAW_STATE)),
                "begun": Out(planes),
                "drawable": Out(1),
                "needs_fence": Out(planes),
                "unflushed": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        state = self.beat.draw_state
        clear = self.beat.clear
        written = Signal(self._planes)
        # Since the last FENCE: planes that were cleared as a whole, and whether there was any work.
        cleared = Signal(self._planes)
        worked = Signal()
        whole = covers_target(self.state, clear)
        m.d.comb += [
            self.drawable.eq(~(written & ~self.begun).any()),
            self.needs_fence.eq(Mux(worked, ~0, cleared)),
        ]
        with m.If(self.taken), m.Switch(self.beat.kind):
            with m.Case(Kind.STATE):
                with m.If(state.slot == 0):
                    m.d.sync += written.eq(state.colour_write.any())
                with m.Else():
                    m.d.sync += written.bit_select(state.slot, 1).eq(state.colour_write.any())
            with m.Case(Kind.CLEAR):
                with m.If(self.begins_target):
                    m.d.sync += self.begun.eq(1)
                with m.Elif(clear.colour & whole):
                    m.d.sync += self.begun.bit_select(clear.slot, 1).eq(1)
                with m.If(clear.colour & whole):
                    m.d.sync += cleared.bit_select(clear.slot, 1).eq(1)
                with m.If(clear.colour & (~whole | cleared.bit_select(clear.slot, 1))):
                    m.d.sync += worked.eq(1)
                with m.If(clear.colour & (clear.slot != 0)):
                    m.d.sync += self.unflushed.eq(1)
            with m.Case(Kind.WORK):
                m.d.sync += [
                    worked.eq(1),
                    self.unflushed.eq(self.unflushed | written[1:].any()),
                ]
            with m.Case(Kind.FENCE), m.If(self.beat.fence.flush):
                m.d.sync += [
                    worked.eq(0),
                    cleared.eq(0),
                    self.unflushed.eq(0),
                ]
        return m
