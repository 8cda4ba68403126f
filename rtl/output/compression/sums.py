# SPDX-License-Identifier: BSD-2-Clause
"""Sums of differences: from places of groups back to colours of lanes."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.compression.differences import BITS, PLACED, channels
from fixfunc.rtl.output.compression.tile_order import (
    CHANNELS,
    EDGE,
    GROUPS,
    MODES,
    PLACES,
    by_mode,
    lane,
    pixels,
    place,
)
from fixfunc.spec.colours import LANES

STEPS = (1, 2, 4)  # a sum of eight, step by step


def colour(value):
    """Red, green, blue, alpha of G, R - G, B - G, A."""
    green, red, blue, alpha = (value[BITS * n : BITS * (n + 1)] for n in range(CHANNELS))
    return Cat((red + green)[:BITS], green, (blue + green)[:BITS], alpha)


def added(a, b):
    """Sums of channels."""
    return Cat((a[n : n + BITS] + b[n : n + BITS])[:BITS] for n in range(0, CHANNELS * BITS, BITS))


def place_of(mode: int, number: int) -> int:
    """The place of a lane."""
    for n, (group, at) in enumerate(PLACES):
        its = GROUPS[mode][group] if group < len(GROUPS[mode]) else []
        if at < len(its) and its[at] == number:
            return n
    raise AssertionError


class Sums(wiring.Component):
    """Colours of a tile from its differences. One tile a clock.

    Members
    -------
    i : In
        ``samples``, ``turn``, the colour of lane (0, 0), and channels of ``places``.
    o : Out
        Colours of lanes, :data:`LATENCY` clocks later.
    """

    LATENCY = 3 + 2 * len(STEPS)

    def __init__(self) -> None:
        members = {"samples": 2, "turn": 1, "lane": 32, "places": PLACED}
        super().__init__({"i": In(StructLayout(members)), "o": Out(ArrayLayout(32, LANES))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, samples=self.i.samples, turn=self.i.turn, places=self.i.places)
        grid = self._grid(m, timeline)
        grid = self._summed(m, grid, column=True)
        grid = self._summed(m, grid, column=False)
        self._lanes(m, timeline, grid)
        return m

    def _grid(self, m, timeline):
        """Sample 0 by columns and rows, these exchanged with the turn."""
        samples, turn = timeline[0].samples, timeline[0].turn
        corner = channels(self.i.lane)

        def cell(x, y):
            if x == y == 0:
                return corner
            options = []
            for mode in MODES:
                wide, high = pixels(mode)
                inside = x < wide and y < high
                options.append(
                    self.i.places[place_of(mode, lane(mode, 0, x, y))]
                    if inside
                    else Const(0, CHANNELS * BITS)
                )
            return by_mode(samples, options)

        cells = {}
        for y in range(EDGE):
            for x in range(EDGE):
                out = Signal(CHANNELS * BITS, name=f"cell_{y}_{x}")
                m.d.sync += out.eq(Mux(turn, cell(y, x), cell(x, y)))
                cells[x, y] = out
        return cells

    @staticmethod
    def _summed(m, cells, column):
        """Sums down the first column, or along all rows: each step over twice as many."""
        for step in STEPS:
            after = {}
            for (x, y), value in cells.items():
                before = (x, y - step) if column else (x - step, y)
                adds = min(before) >= 0 and (not column or x == 0)
                out = Signal(CHANNELS * BITS, name=f"sum_{column:d}_{step}_{y}_{x}")
                m.d.sync += out.eq(added(value, cells[before]) if adds else value)
                after[x, y] = out
            cells = after
        return cells

    def _lanes(self, m, timeline, cells):
        """Lanes from sample 0, and differences of the others."""
        now = timeline[self.LATENCY - 2]
        samples, turn, places = now.samples, now.turn, now.places
        upright = {}
        for (x, y), value in cells.items():
            out = Signal(CHANNELS * BITS, name=f"pixel_{y}_{x}")
            m.d.comb += out.eq(Mux(turn, cells[y, x], value))
            upright[x, y] = out
        for number in range(LANES):
            base, rest = [], []
            for mode in MODES:
                sample, x, y = place(mode, number)
                base.append(upright[x, y])
                rest.append(places[place_of(mode, number)] if sample else Const(0, CHANNELS * BITS))
            one, other = (Signal(CHANNELS * BITS, name=f"{n}_{number}") for n in ("base", "rest"))
            m.d.sync += [one.eq(by_mode(samples, base)), other.eq(by_mode(samples, rest))]
            m.d.sync += self.o[number].eq(colour(added(one, other)))
