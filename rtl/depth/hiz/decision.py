# SPDX-License-Identifier: BSD-2-Clause
"""Decisions: what bounds say about a tile, and what the tile does to them."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.bounds_ram import update_layout
from fixfunc.rtl.depth.hiz.pending_clears import bounds_layout
from fixfunc.rtl.depth.test.rule import SIGNS, preserves_failing, signs
from fixfunc.rtl.lib.timeline import HeldTimeline, Timeline
from fixfunc.rtl.memory.surface.state_queue import SPACING
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import StencilOp


def common_members(bits: int) -> dict:
    """Members of both decisions, by bits of a value.

    state, state_changes : In(layout(payloads.DRAW_STATE)), In(1)
        Of the tile in clock -1; ``state`` is another one from this clock on.
    tests, clears, restores : In(1)
        A tile is tested; it is visited by a clear; its bounds are restored. In clock 0.
    back : In(1)
        Its triangle faces away. In clock 0.
    cleared : In(bits), touched, whole : In(1)
        Of the clear: its value; whether it touches the tile; whether it covers it. In clock 0.
    restored : In(bounds_layout(bits))
        Bounds that are restored. In clock 0.
    bounds : In(bounds_layout(bits))
        The tile's bounds before the update. In clock 1.
    update : Out(update_layout(bits))
        Their update. In clock 1.
    """
    return {
        "state": In(layout(payloads.DRAW_STATE)),
        "state_changes": In(1),
        "tests": In(1),
        "clears": In(1),
        "restores": In(1),
        "back": In(1),
        "cleared": In(bits),
        "touched": In(1),
        "whole": In(1),
        "restored": In(bounds_layout(bits)),
        "bounds": In(bounds_layout(bits)),
        "update": Out(update_layout(bits)),
    }


def of_tile(m: Module, decision: wiring.Component) -> HeldTimeline:
    """The state of a tile, by clocks since its clock -1."""
    return HeldTimeline(m, decision.state, decision.state_changes, SPACING)


def overrule(m: Module, decision: wiring.Component) -> None:
    """Clears and restored bounds come before what a draw does."""
    update = decision.update
    with m.If(decision.clears):
        m.d.sync += [
            update.low.eq(decision.cleared),
            update.high.eq(decision.cleared),
            update.lower.eq(decision.touched),
            update.higher.eq(decision.touched),
            update.full.eq(decision.whole),
        ]
    with m.If(decision.restores):
        m.d.sync += [
            update.low.eq(decision.restored.low),
            update.high.eq(decision.restored.high),
            update.lower.eq(1),
            update.higher.eq(1),
            update.full.eq(1),
        ]


class StencilDecision(wiring.Component):
    """Bounds of stencil values, which never tighten but by clears.

    Members
    -------
    state, tests, clears, ... : In, Out
        Those of :func:`common_members`, for 8 bits.
    fails : Out(1)
        Every stencil value that may be stored fails, and stays. In clock 1.
    """

    def __init__(self) -> None:
        super().__init__(common_members(8) | {"fails": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        front = self._written(m, "front")
        back = self._written(m, "back")
        writes, low, high = (Mux(self.back, b, f) for f, b in zip(front, back, strict=True))
        update = self.update
        m.d.sync += [
            update.low.eq(low),
            update.high.eq(high),
            update.lower.eq(self.tests & writes),
            update.higher.eq(self.tests & writes),
            update.full.eq(0),
        ]
        overrule(m, self)

        state = of_tile(m, self)[2]
        t = Timeline(m)
        t.enter(0, back=self.back)
        back = t[1].back
        read = state.stencil_read
        ref = state.stencil_ref & read
        low = self.bounds.low & read
        high = self.bounds.high & read
        allowed = signs(Mux(back, state.stencil_back_func, state.stencil_front_func))
        never = Cat(ref >= high, (ref < low) | (ref > high), ref <= low)
        fails = (~allowed | never).all() & (read.all() | (self.bounds.low == self.bounds.high))
        failing_preserved = (
            Mux(back, state.stencil_back_fail, state.stencil_front_fail) == StencilOp.KEEP
        )
        m.d.comb += self.fails.eq(fails & failing_preserved & state.stencil_test & state.hiz_drop)
        return m

    def _written(self, m, face):
        """Whether a face writes stencil values; the least and the greatest of them. Registers."""
        state = self.state
        operations = [state[f"stencil_{face}_{name}"] for name in ("fail", "depth_fail", "pass")]
        zero = Cat(op == StencilOp.ZERO for op in operations).any()
        replace = Cat(op == StencilOp.REPLACE for op in operations).any()
        modifying = Cat(op != StencilOp.KEEP for op in operations).any()
        any_value = (
            Cat(op > StencilOp.REPLACE for op in operations).any() | ~state.stencil_write.all()
        )
        writes = Signal(name=f"{face}_writes")
        low = Signal(8, name=f"{face}_low")
        high = Signal(8, name=f"{face}_high")
        m.d.sync += [
            writes.eq(modifying & state.stencil_test & (state.stencil_write != 0)),
            low.eq(Mux(any_value | zero, 0, state.stencil_ref)),
            high.eq(Mux(any_value, 255, Mux(replace, state.stencil_ref, 0))),
        ]
        return writes, low, high


class DepthDecision(wiring.Component):
    """Bounds of depths, and the tiles that they decide.

    Dropped tiles need no exception: a test that no sample passes leaves bounds unchanged.

    Members
    -------
    state, tests, clears, ... : In, Out
        Those of :func:`common_members`, for ``payloads.HIZ_BITS``.
    low, high : In(payloads.HIZ_BITS), low_ones, high_zeros, full : In(1)
        Bounds of the tile's new depths (:class:`~fixfunc.rtl.depth.hiz.depth_bounds.DepthBounds`).
        In clock 0.
    drop, accept : Out(1)
        By depths alone no sample passes; every sample does. In clock 2.
    """

    def __init__(self) -> None:
        bits = payloads.HIZ_BITS
        super().__init__(
            common_members(bits)
            | {
                "low": In(bits),
                "high": In(bits),
                "low_ones": In(1),
                "high_zeros": In(1),
                "full": In(1),
                "drop": Out(1),
                "accept": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        states = of_tile(m, self)
        state = states[1]
        update = self.update
        passing = signs(state.depth_compare)
        writes = state.depth_test & state.depth_write & self.tests
        allowed = Signal(SIGNS)
        m.d.comb += allowed.eq(passing & writes.replicate(3))
        m.d.sync += [
            update.low.eq(self.low),
            update.high.eq(self.high),
            update.lower.eq(allowed.less),
            update.higher.eq(allowed.greater),
            update.full.eq(self.full & state.early_write & ~state.stencil_test),
        ]
        overrule(m, self)
        t = Timeline(m)
        t.enter(0, low_ones=self.low_ones, high_zeros=self.high_zeros, back=self.back)

        # Which signs no comparison of the new depths with those in place can have.
        below = update.high < self.bounds.low
        above = update.low > self.bounds.high
        equal_high = (update.low == self.bounds.high) & t[1].low_ones
        equal_low = (update.high == self.bounds.low) & t[1].high_zeros
        impossible = Signal(SIGNS)
        m.d.sync += [
            impossible.less.eq(above | equal_high),
            impossible.equal.eq(below | above),
            impossible.greater.eq(below | equal_low),
        ]
        state = states[3]
        passing_signs = signs(state.depth_compare) | ~state.depth_test.replicate(3)
        never = impossible.as_value()
        m.d.comb += [
            self.drop.eq(
                state.hiz_drop
                & preserves_failing(state, t[2].back)
                & (~passing_signs | never).all()
            ),
            self.accept.eq(state.hiz_accept & ~state.stencil_test & (passing_signs | never).all()),
        ]
        return m
