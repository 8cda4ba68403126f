# SPDX-License-Identifier: BSD-2-Clause
"""Clear control: what a clear means for the bounds of each plane."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.pending_clears import bounds_layout
from fixfunc.rtl.depth.test.sample_depths import heads
from fixfunc.rtl.memory.surface.rectangle import RECTANGLE
from fixfunc.rtl.memory.surface.state_check import covers_target
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads


class PlaneClear(wiring.Signature):
    """Clears of the bounds of one plane, seen from who orders them.

    Members
    -------
    new_epoch, epoch_bounds : Out(1), Out(bounds_layout(bits))
        All of the target is cleared, to these bounds.
    clear, value : Out(1), Out(bits)
        A rectangle is cleared, to this value.
    visits : Out(1)
        Tiles that are visited are cleared.
    room : In(1)
        There is room for a pending clear.
    """

    def __init__(self, bits: int) -> None:
        super().__init__(
            {
                "new_epoch": Out(1),
                "epoch_bounds": Out(bounds_layout(bits)),
                "clear": Out(1),
                "value": Out(bits),
                "visits": Out(1),
                "room": In(1),
            }
        )


class ClearControl(wiring.Component):
    """Turn clears, and changes of the target, into epochs and pending clears.

    Parameters
    ----------
    stencil : bool
        Bounds of stencil values are kept too.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
    clear : In(layout(payloads.CLEAR))
        Cut to the target, one clock before ``clear_begins`` at the latest.
    clear_begins : In(1)
        The clear counts.
    target_changes : In(1)
        There is another target, of which nothing is known.
    serial : Out(8)
        How many of both have changed bounds of depths so far.
    rectangle : Out(RECTANGLE)
    visit_tiles : Out(1)
        The tiles of the clear must be visited, because one plane has no room for it.
    depth_clear, stencil_clear : Out(PlaneClear(bits))
        The clear of each plane.
    """

    def __init__(self, stencil: bool) -> None:
        self._bits = {"depth": payloads.HIZ_BITS} | ({"stencil": 8} if stencil else {})
        members = {
            "state": In(layout(payloads.DRAW_STATE)),
            "clear": In(layout(payloads.CLEAR)),
            "clear_begins": In(1),
            "target_changes": In(1),
            "serial": Out(8),
            "rectangle": Out(RECTANGLE),
            "visit_tiles": Out(1),
        }
        for plane, bits in self._bits.items():
            members[f"{plane}_clear"] = Out(PlaneClear(bits))
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        clear = self.clear
        whole = Signal()
        visit = Signal(len(self._bits))
        m.d.sync += whole.eq(covers_target(clear, self.state))
        for name in RECTANGLE.members:
            m.d.comb += self.rectangle[name].eq(clear[name])
        values = {
            "depth": heads(clear.depth_value, self.state.depth_format),
            "stencil": clear.stencil_value,
        }
        for n, plane in enumerate(self._bits):
            out = getattr(self, f"{plane}_clear")
            begin = self.clear_begins & clear[plane]
            m.d.comb += [
                out.value.eq(values[plane]),
                out.new_epoch.eq(self.target_changes | (begin & whole)),
                out.clear.eq(begin & ~whole),
                out.epoch_bounds.low.eq(Mux(self.target_changes, 0, out.value)),
                out.epoch_bounds.high.eq(Mux(self.target_changes, -1, out.value)),
                visit[n].eq(clear[plane] & ~whole & ~out.room),
            ]
            with m.If(self.clear_begins):
                m.d.sync += out.visits.eq(visit[n])
        m.d.comb += self.visit_tiles.eq(visit.any())
        with m.If(self.target_changes | (self.clear_begins & clear.depth)):
            m.d.sync += self.serial.eq(self.serial + 1)
        return m
