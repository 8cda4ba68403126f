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
    <plane>_new_epoch, <plane>_epoch_bounds, <plane>_clear, <plane>_value : Out
        The other side of :class:`~fixfunc.rtl.depth.hiz.bounds_ram.BoundsRam`.
    <plane>_room : In(1)
        It has room for a pending clear.
    <plane>_visits : Out(1)
        Tiles that are visited are cleared in this plane.
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
            members |= {
                f"{plane}_new_epoch": Out(1),
                f"{plane}_epoch_bounds": Out(bounds_layout(bits)),
                f"{plane}_clear": Out(1),
                f"{plane}_value": Out(bits),
                f"{plane}_room": In(1),
                f"{plane}_visits": Out(1),
            }
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
            bounds = getattr(self, f"{plane}_epoch_bounds")
            value = getattr(self, f"{plane}_value")
            begins = self.clear_begins & clear[plane]
            m.d.comb += [
                value.eq(values[plane]),
                getattr(self, f"{plane}_new_epoch").eq(self.target_changes | (begins & whole)),
                getattr(self, f"{plane}_clear").eq(begins & ~whole),
                bounds.low.eq(Mux(self.target_changes, 0, value)),
                bounds.high.eq(Mux(self.target_changes, -1, value)),
                visit[n].eq(clear[plane] & ~whole & ~getattr(self, f"{plane}_room")),
            ]
            with m.If(self.clear_begins):
                m.d.sync += getattr(self, f"{plane}_visits").eq(visit[n])
        m.d.comb += self.visit_tiles.eq(visit.any())
        with m.If(self.target_changes | (self.clear_begins & clear.depth)):
            m.d.sync += self.serial.eq(self.serial + 1)
        return m
