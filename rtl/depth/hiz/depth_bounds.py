# SPDX-License-Identifier: BSD-2-Clause
"""What HiZ has to know of a tile."""

from amaranth.hdl import Array, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.bias import D24_MAX, DepthBias
from fixfunc.rtl.depth.test.sample_depths import BITS, FRACTION, MOST, Stored, heads, sum_bits
from fixfunc.rtl.lib.timeline import HeldTimeline, Timeline
from fixfunc.rtl.memory.surface.rectangle import RectangleMask
from fixfunc.rtl.memory.surface.state_queue import SPACING
from fixfunc.rtl.payload import layout
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat

SLACK = 1 << FRACTION - 3  # a plane's samples lie within a tenth of a unit of its vertices
WIDE = signed(46)
FORMATS = tuple(DepthFormat)


class TileRange(wiring.Component):
    """Bounds of a triangle's depths in a tile, by its vertices and by its plane at the tile's outer
    corners.

    Where no corner of the plane leaves 0..2^24 - 1 units, the plane bounds all samples, since one
    of them is covered and lies there; where one does, and of steep triangles, only the vertices
    count. Vertices at the ends of those units may lie beyond, and bound nothing. One tile a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    state, state_changes : In(layout(payloads.DRAW_STATE)), In(1)
        Of ``tile``: see :class:`~fixfunc.rtl.memory.surface.front.SurfaceFront`.
    tile : In(layout(payloads.tile(edge)))
    low, high : Out(32)
        In the state's format, :attr:`LATENCY` clocks later.
    """

    LATENCY = DepthBias.LATENCY + 1 + Stored.latency(FORMATS) + 1

    def __init__(self, edge):
        self._edge = edge
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "state_changes": In(1),
                "tile": In(layout(payloads.tile(edge))),
                "low": Out(32),
                "high": Out(32),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.bias = bias = DepthBias()
        state = self.state
        states = HeldTimeline(m, state, self.state_changes, SPACING)
        tile = self.tile
        t = Timeline(m)
        t.enter(
            0,
            z0=tile.z0,
            steep=tile.steep,
            exponent=tile.exponent,
            low_vertex=tile.zmin,
            high_vertex=tile.zmax,
        )
        m.d.comb += [
            bias.form.eq(state.depth_format),
            bias.constant.eq(states[DepthBias.CONSTANT].bias_constant),
            bias.slope.eq(states[DepthBias.SCALE].bias_slope),
            bias.clamp.eq(states[DepthBias.SCALE].bias_clamp),
        ]
        of_tile = ("dx", "dy", "steep", "exponent")
        m.d.comb += [getattr(bias, name).eq(tile[name]) for name in of_tile]

        # How far the tile reaches, from the centre of its first pixel: 8 steps back, and 8 less
        # than its pixels' forth.
        reached = {end: [] for end in ("low", "high")}
        for n, step in enumerate((tile.dx, tile.dy)):
            slope = step[:32].as_signed()
            across = Array(
                [slope << 4 + self._edge.bit_length() - 1 - shape[n] for shape in SHAPES]
            )[state.samples]
            for end, negative in (("low", 1), ("high", 0)):
                part = Signal(WIDE, name=f"{end}_{n}")
                m.d.sync += part.eq(Mux((slope < 0) == negative, across, 0) - (slope << 3))
                reached[end].append(part)
        plane_bounds = {}
        for end, parts in reached.items():
            total = Signal(WIDE, name=f"{end}_reach")
            plane_bounds[end] = Signal(WIDE, name=f"{end}_end")
            m.d.sync += total.eq(parts[0] + parts[1])
            m.d.sync += plane_bounds[end].eq(total + (t[2].z0 << FRACTION - 8))

        # Vertices and plane, where both are known.
        known = Signal()
        m.d.sync += known.eq(
            ~t[3].steep
            & (plane_bounds["low"] >= -SLACK)
            & (plane_bounds["high"] <= (D24_MAX << FRACTION) + SLACK)
        )
        for end, slack, extreme in (("low", -SLACK, 0), ("high", SLACK, D24_MAX)):
            vertex = Signal(WIDE, name=f"{end}_of_vertices")
            tighter = Signal(name=f"{end}_tighter")
            bound = Signal(WIDE, name=f"{end}_bound")
            is_open = Signal(name=f"{end}_is_open")
            m.d.sync += vertex.eq((t.value(f"{end}_vertex", 2) << FRACTION) + slack)
            t.enter(3, **{f"{end}_plane": plane_bounds[end], f"{end}_slack": vertex})
            plane = t.value(f"{end}_plane", 4)
            m.d.sync += [
                tighter.eq(
                    plane_bounds[end] > vertex if end == "low" else plane_bounds[end] < vertex
                ),
                bound.eq(Mux(known & tighter, plane, t.value(f"{end}_slack", 4))),
                is_open.eq(~known & (t.value(f"{end}_vertex", 4) == extreme)),
            ]
            t.enter(5, **{f"{end}_bound": bound, f"{end}_open": is_open})
            self._store(m, t, end, bias.o, states)
        return m

    def _store(self, m, t, end, bias, states):
        """The bound with its bias, as it is stored.

        Where a shader may move depths beyond it, that of the viewport.
        """
        ranged, cut, state = (states[self.LATENCY - clocks] for clocks in (3, 2, 1))
        m.submodules[f"{end}_stored"] = stored = Stored(FORMATS, False)
        bound = t.value(f"{end}_bound", DepthBias.LATENCY)
        biased = Signal(signed(sum_bits(FORMATS)), name=f"{end}_biased")
        one = Array(MOST.get(form, 0) for form in range(4))[self.state.depth_format]
        most = Signal(32, name=f"{end}_most")
        m.d.sync += [
            biased.eq(bound + (bias << FRACTION - 8)),
            most.eq(Mux(ranged.depth_max < one, ranged.depth_max, one)),
        ]
        t.enter(self.LATENCY - 2, **{f"{end}_most": most})
        m.d.comb += [
            stored.i.eq(biased),
            stored.exponent.eq(t[DepthBias.LATENCY + 1 + Stored.EXPONENT].exponent),
            stored.form.eq(self.state.depth_format),
            stored.least.eq(cut.depth_min),
            stored.most.eq(most),
        ]
        moved = state.depth_lowered if end == "low" else state.depth_raised
        beyond = t.value(f"{end}_open", self.LATENCY - 1)
        viewport_end = state.depth_min if end == "low" else t.value(f"{end}_most", self.LATENCY - 1)
        m.d.sync += getattr(self, end).eq(
            Mux(state.hiz_drop & ~moved & ~beyond, stored.o, viewport_end)
        )


class DepthBounds(wiring.Component):
    """A tile's bounds as HiZ compares them, and whether the tile covers every sample of the target;
    one tile a clock.

    Parameters
    ----------
    edge : int

    Members
    -------
    state, state_changes, tile : In
        Draw state and tile: see :class:`TileRange`.
    low, high : Out(payloads.HIZ_BITS)
        The highest bits of the bounds, :attr:`LATENCY` clocks later.
    low_ones, high_zeros : Out(1)
        All of the bits below are ones, or zeros.
    full : Out(1)
    """

    LATENCY = TileRange.LATENCY + 1

    def __init__(self, edge):
        self._edge = edge
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "state_changes": In(1),
                "tile": In(layout(payloads.tile(edge))),
                "low": Out(payloads.HIZ_BITS),
                "high": Out(payloads.HIZ_BITS),
                "low_ones": Out(1),
                "high_zeros": Out(1),
                "full": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.bounds = bounds = TileRange(self._edge)
        m.submodules.within = within = RectangleMask(self._edge)
        state = self.state
        m.d.comb += [
            bounds.state.eq(state),
            bounds.state_changes.eq(self.state_changes),
            bounds.tile.eq(self.tile),
            within.samples.eq(state.samples),
            within.x.eq(self.tile.x),
            within.y.eq(self.tile.y),
            within.rectangle.x1.eq(state.target_width),
            within.rectangle.y1.eq(state.target_height),
        ]
        full = Signal()
        form = state.depth_format
        covered = RectangleMask.LATENCY
        t = Timeline(m)
        t.enter(0, mask=self.tile.mask)
        t.enter(covered + 1, full=full)
        m.d.sync += full.eq((t[covered].mask | ~within.o).all())
        m.d.comb += self.full.eq(t[self.LATENCY].full)

        cut = [BITS[f] - payloads.HIZ_BITS for f in DepthFormat]
        m.d.sync += [
            self.low.eq(heads(bounds.low, form)),
            self.high.eq(heads(bounds.high, form)),
            self.low_ones.eq(Array(bounds.low[:n].all() for n in cut)[form]),
            self.high_zeros.eq(Array(~bounds.high[:n].any() for n in cut)[form]),
        ]
        return m
