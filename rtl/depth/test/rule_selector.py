# SPDX-License-Identifier: BSD-2-Clause
"""Rule selector: which samples of a tile are tested or cleared, by what rule, with what depths."""

from typing import Any

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.rule import RULE, clear_rule, draw_rule
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads


class RuleSelector(wiring.Component):
    """Choose between a draw and a clear. Combinational.

    Parameters
    ----------
    params : DepthTestParams
    accepts : bool
        A tile that HiZ accepted needs no depth: it may not be in its slot.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
        Of the tile.
    clear : In(layout(payloads.CLEAR))
    late_draw : In(1)
        Tiles of ``state`` are written when they have come back.
    mask : In(edge**2)
        Samples of the tile that its triangle covers.
    back : In(1)
        Its triangle faces away.
    clearing : In(1)
        The tile is cleared.
    is_late : In(1)
        It has come back.
    drawn : In(1)
        It may be drawn.
    accepted : In(1)
        HiZ has accepted it.
    on_target : In(edge**2)
        Its samples on the target; of a clear, within the rectangle.
    new_depths : In
        Depths that it brings.
    covered : Out(edge**2)
        Samples to which ``rule`` applies.
    rule : Out(RULE)
    depths : Out
        What they are compared with, and what is written.
    """

    def __init__(self, params: Any, accepts: bool) -> None:
        self._params = params
        self._accepts = accepts
        lanes = params.edge**2
        depths = ArrayLayout(params.depth_bits, lanes)
        members = {
            "state": In(layout(payloads.DRAW_STATE)),
            "clear": In(layout(payloads.CLEAR)),
            "late_draw": In(1),
            "mask": In(lanes),
            "back": In(1),
            "clearing": In(1),
            "is_late": In(1),
            "drawn": In(1),
            "accepted": In(1),
            "on_target": In(lanes),
            "new_depths": In(depths),
            "covered": Out(lanes),
            "rule": Out(RULE),
            "depths": Out(depths),
        }
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        of_draw = draw_rule(self.state, self.back, self.late_draw & ~self.is_late)
        of_clear = clear_rule(self.clear)
        cleared_depth = self.clear.depth_value
        drawn = Mux(self.drawn, self.mask, 0)
        m.d.comb += self.covered.eq(Mux(self.clearing, self.on_target, drawn))
        for name in RULE.members:
            m.d.comb += self.rule[name].eq(Mux(self.clearing, of_clear[name], of_draw[name]))
        for depth, new in zip(self.depths, self.new_depths, strict=True):
            m.d.comb += depth.eq(Mux(self.clearing, cleared_depth, new))
        if self._accepts:
            with m.If(self.accepted):
                m.d.comb += self.rule.depth.eq(0b111)
        return m
