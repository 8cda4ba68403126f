# SPDX-License-Identifier: BSD-2-Clause
"""Depth datapath: from a tile to what is left of it, wherever its depths are kept."""

from typing import Any

from amaranth.hdl import Module, Mux, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.bias import bias_bits
from fixfunc.rtl.depth.test.new_depths import NewDepths, test_clock
from fixfunc.rtl.depth.test.rule_selector import RuleSelector
from fixfunc.rtl.depth.test.tested_tiles import TestedTiles
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.timeline import HeldTimeline, Timeline
from fixfunc.rtl.memory.surface.rectangle import RECTANGLE, RectangleMask
from fixfunc.rtl.memory.surface.state_queue import SPACING
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Outcome


def tested_tile(params: Any) -> StructLayout:
    """A tile one clock after its test, and what became of its samples."""
    lanes = params.edge**2
    return StructLayout(
        {
            "valid": 1,  # it was drawn, not cleared
            "tile": layout(payloads.tile(params.edge)),
            "clearing": 1,
            "is_late": 1,  # it has come back from the shader
            "legal": 1,  # its draw state allows it
            "tests_stencil": 1,  # and so do these two
            "writes_depth": 1,
            "touchable": 1,  # it lies on the target, and on chip
            "on_target": lanes,  # its samples on the target
            "passed": lanes,
            "written": lanes,  # of its depths
            "changed": lanes,  # of its stencil values
        }
    )


class DepthDatapath(wiring.Component):
    """Test the samples of a tile against those in its slot, and write those that pass.

    One tile a clock, the same slot again at once; it never stalls. Clocks count from ``tile``;
    ``T`` is :func:`~fixfunc.rtl.depth.test.new_depths.test_clock`.

    Parameters
    ----------
    params : DepthTestParams
    fills : bool
        Slots are filled from elsewhere.

    Members
    -------
    state, state_changes, legal : In
        Of ``tile``: see :class:`~fixfunc.rtl.memory.surface.front.SurfaceFront`.
    clear : In(layout(payloads.CLEAR))
        The last clear, cut to the target. It holds as long as its tiles are in flight.
    late_draw : In(1)
        Tiles are written when they have come back from the shader.
    tile_valid, tile : In(1), In
        To be drawn, or to be cleared.
    clearing, is_late : In(1)
    shader : In
        Depths in place of those of the plane, in clock 0. Only with ``params.shader_depths``.
    depth_valid, depth_slot, stencil_valid, stencil_slot : In
        Where the tile lies, in clock T - 3.
    touchable : In(1)
        The tile lies on the target, and on chip. In clock T - 2.
    depth_fill, stencil_fill : In(1)
        The slot is filled before the test. In clock T - 2. Only with ``fills``.
    depth_values, stencil_values : In
        What is filled in. As late.
    o : Out(tested_tile(params))
        In clock T + 1, and with it
    depth, stencil : Out
        what the slot holds from now on;
    depth_before, stencil_before : Out
        and what it held before it was filled. Only with ``fills``.
    bias : Out(signed(bias_bits(params.formats)))
        Of the tile, :attr:`DepthBias.LATENCY` clocks after it.
    exact : Out(edge**2)
        The plane gives these depths as they are stored. In clock T - 1.
    """

    def __init__(self, params: Any, fills: bool) -> None:
        self._params = params
        self._fills = fills
        lanes = params.edge**2
        slot = range(params.tiles)
        depths = ArrayLayout(params.depth_bits, lanes)
        members = {
            "state": In(layout(payloads.DRAW_STATE)),
            "state_changes": In(1),
            "clear": In(layout(payloads.CLEAR)),
            "legal": In(1),
            "late_draw": In(1),
            "tile_valid": In(1),
            "tile": In(layout(payloads.tile(params.edge))),
            "clearing": In(1),
            "is_late": In(1),
            "touchable": In(1),
            "o": Out(tested_tile(params)),
            "bias": Out(signed(bias_bits(params.formats))),
            "exact": Out(lanes),
        }
        if params.shader_depths:
            members["shader"] = In(StructLayout({"replaces": 1, "depths": depths}))
        planes = {"depth": depths}
        if params.stencil:
            planes["stencil"] = ArrayLayout(8, lanes)
        for plane, values in planes.items():
            members |= {
                f"{plane}_valid": In(1),
                f"{plane}_slot": In(slot),
                plane: Out(values),
            }
            if fills:
                members |= {
                    f"{plane}_fill": In(1),
                    f"{plane}_values": In(values),
                    f"{plane}_before": Out(values),
                }
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        test = test_clock(p)
        m.submodules.tiles = tiles = TestedTiles(p, self._fills)
        timeline = self._wait(m, test)
        states = HeldTimeline(m, self.state, self.state_changes, SPACING)
        m.submodules.new_depths = new_depths = NewDepths(p)
        m.d.comb += [
            new_depths.state.eq(self.state),
            new_depths.state_changes.eq(self.state_changes),
            new_depths.tile.eq(self.tile),
            self.bias.eq(new_depths.bias),
            self.exact.eq(new_depths.exact),
        ]
        if p.shader_depths:
            m.d.comb += new_depths.shader.eq(self.shader)
        for plane in ("depth", "stencil") if p.stencil else ("depth",):
            prefix = "" if plane == "depth" else "stencil_"
            m.d.comb += [
                getattr(tiles, f"{prefix}valid").eq(getattr(self, f"{plane}_valid")),
                getattr(tiles, f"{prefix}place").eq(getattr(self, f"{plane}_slot")),
                getattr(self, plane).eq(getattr(tiles, plane)),
            ]
            if self._fills:
                m.d.comb += [
                    getattr(tiles, f"{prefix}fill").eq(getattr(self, f"{plane}_fill")),
                    getattr(tiles, f"{prefix}filled").eq(getattr(self, f"{plane}_values")),
                ]
                m.d.sync += getattr(self, f"{plane}_before").eq(getattr(tiles, f"{prefix}replaced"))
        self._rule(m, timeline, test, tiles, new_depths.o, states[test - 1])

        after = timeline[test + 1]
        m.d.comb += [
            self.o.valid.eq(after.valid & ~self.o.clearing),
            self.o.legal.eq(after.legal),
            self.o.tests_stencil.eq(states[test + 1].stencil_test),
            self.o.writes_depth.eq(states[test + 1].depth_test & states[test + 1].depth_write),
            self.o.touchable.eq(after.touchable),
            self.o.on_target.eq(after.on_target),
            self.o.passed.eq(tiles.passed),
            self.o.written.eq(tiles.wrote),
        ]
        if p.stencil:
            m.d.comb += self.o.changed.eq(tiles.changed)
        return m

    def _wait(self, m, test):
        """The tile waits for its depths, and for the outcome of its test, in block RAM."""
        tile = StructLayout({"tile": self.tile.shape(), "clearing": 1, "is_late": 1})
        early = test - 6
        m.submodules.to_depths = to_depths = DelayLine(tile.size, early)
        m.submodules.to_outcome = to_outcome = DelayLine(tile.size, 7)
        timeline = Timeline(m)
        waiting = tile(to_depths.o)
        tested = tile(to_outcome.o)
        m.d.comb += to_outcome.i.eq(to_depths.o)
        for name in tile.members:
            m.d.comb += [
                tile(to_depths.i)[name].eq(getattr(self, name)),
                self.o[name].eq(tested[name]),
            ]
        timeline.enter(0, valid=self.tile_valid, legal=self.legal)
        timeline.enter(
            early,
            x=waiting.tile.x,
            y=waiting.tile.y,
            mask=waiting.tile.mask,
            back=waiting.tile.back,
            outcome=waiting.tile.outcome,
            clearing=waiting.clearing,
            is_late=waiting.is_late,
        )
        timeline.enter(test - 2, touchable=self.touchable)
        return timeline

    def _rule(self, m, timeline, test, tiles, new_depths, state):
        """Which samples are tested or cleared, and by what rule."""
        edge = self._params.edge
        start = timeline[test - 1 - RectangleMask.LATENCY]
        m.submodules.mask = mask = RectangleMask(edge)
        target = {"x0": 0, "y0": 0, "x1": state.target_width, "y1": state.target_height}
        for name in RECTANGLE.members:
            place = Mux(start.clearing, self.clear[name], target[name])
            m.d.comb += mask.rectangle[name].eq(place)
        m.d.comb += [
            mask.samples.eq(state.samples),
            mask.x.eq(start.x),
            mask.y.eq(start.y),
        ]

        timeline.enter(test - 1, on_target=mask.o)
        now = timeline[test - 1]
        m.submodules.selector = selector = RuleSelector(self._params, accepts=self._fills)
        m.d.comb += [
            selector.state.eq(state),
            selector.clear.eq(self.clear),
            selector.late_draw.eq(self.late_draw),
            selector.drawn.eq(now.touchable & now.legal & (now.outcome != Outcome.DROP)),
            selector.accepted.eq(now.outcome == Outcome.ACCEPT),
            selector.on_target.eq(mask.o),
            *(selector.new_depths[n].eq(depth) for n, depth in enumerate(new_depths)),
        ]
        for name in ("mask", "back", "clearing", "is_late"):
            m.d.comb += getattr(selector, name).eq(getattr(now, name))
        rule = selector.rule
        m.d.comb += [
            tiles.against.eq(rule.against),
            tiles.read.eq(rule.read),
            tiles.new.eq(selector.depths),
        ]
        m.d.sync += [
            tiles.covered.eq(selector.covered),
            tiles.rule.eq(rule),
        ]
        # Each lane has a copy: nothing but a comparison lies between it and the outcome.
        signs = rule.depth.as_value()
        for n, lane in enumerate(tiles.lanes):
            m.d.sync += [
                lane.passes.eq(Mux(selector.covered[n], signs, 0)),
                lane.writes.eq(Mux(selector.covered[n] & rule.write, signs, 0)),
            ]
