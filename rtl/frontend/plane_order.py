# SPDX-License-Identifier: BSD-2-Clause
"""Plane order: which colour planes of a target have been cleared before they are drawn to."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.packet import BEAT
from fixfunc.rtl.frontend.state_check import covers_target
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind


class PlaneOrder(wiring.Component):
    """Watch the beats of a reader whose targets have several colour planes.

    A draw state of the first plane begins all of them: the others are not written until each has
    had a state of its own. A clear of all planes begins a target, and its first colour plane; each
    other one begins with a clear of all of it.

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
        Every plane that the draw states write is among them.
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
                "unflushed": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        state = self.beat.draw_state
        clear = self.beat.clear
        written = Signal(self._planes)
        m.d.comb += self.drawable.eq(~(written & ~self.begun).any())
        with m.If(self.taken), m.Switch(self.beat.kind):
            with m.Case(Kind.STATE):
                with m.If(state.slot == 0):
                    m.d.sync += written.eq(state.colour_write.any())
                with m.Else():
                    m.d.sync += written.bit_select(state.slot, 1).eq(state.colour_write.any())
            with m.Case(Kind.CLEAR):
                with m.If(self.begins_target):
                    m.d.sync += self.begun.eq(1)
                with m.Elif(clear.colour & covers_target(self.state, clear)):
                    m.d.sync += self.begun.bit_select(clear.slot, 1).eq(1)
                with m.If(clear.colour & (clear.slot != 0)):
                    m.d.sync += self.unflushed.eq(1)
            with m.Case(Kind.WORK), m.If(written[1:].any()):
                m.d.sync += self.unflushed.eq(1)
            with m.Case(Kind.FENCE):
                m.d.sync += self.unflushed.eq(0)
        return m
