# SPDX-License-Identifier: BSD-2-Clause
"""Sums of differences: from places of groups back to colours of lanes."""

from operator import add

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.tile_groups.tile_order import (
    EDGE,
    lane,
    pixel,
    pixels,
)
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.compression.colour_order import CHANNELS, ColourOrder
from fixfunc.rtl.output.compression.differences import by_channel, channels, placed
from fixfunc.spec.colours import LANES

STEPS = (1, 2, 4)  # a sum of eight, step by step


def colour(value):
    """Red, green, blue, alpha of G, R - G, B - G, A."""
    bits = len(value) // CHANNELS
    green, red, blue, alpha = (value[bits * n : bits * (n + 1)] for n in range(CHANNELS))
    return Cat((red + green)[:bits], green, (blue + green)[:bits], alpha)


class Sums(wiring.Component):
    """Colours of a tile from its differences. One tile a clock.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    i : In
        ``samples``, ``turn``, the colour of lane (0, 0), and channels of ``places``.
    o : Out
        Colours of lanes, :data:`LATENCY` clocks later.
    """

    LATENCY = 3 + 2 * len(STEPS)

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        members = {"samples": 2, "turn": 1, "lane": order.colour, "places": placed(order)}
        super().__init__(
            {"i": In(StructLayout(members)), "o": Out(ArrayLayout(order.colour, LANES))}
        )

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
            for mode in self._order.modes:
                wide, high = pixels(mode)
                inside = x < wide and y < high
                options.append(
                    self.i.places[self._order.place_of(mode, lane(mode, 0, x, y))]
                    if inside
                    else Const(0, self._order.colour)
                )
            return self._order.by_mode(samples, options)

        cells = {}
        for y in range(EDGE):
            for x in range(EDGE):
                out = Signal(self._order.colour, name=f"cell_{y}_{x}")
                m.d.sync += out.eq(Mux(turn, cell(y, x), cell(x, y)))
                cells[x, y] = out
        return cells

    def _summed(self, m, cells, column):
        """Sums down the first column, or along all rows: each step over twice as many."""
        for step in STEPS:
            after = {}
            for (x, y), value in cells.items():
                before = (x, y - step) if column else (x - step, y)
                adds = min(before) >= 0 and (not column or x == 0)
                out = Signal(self._order.colour, name=f"sum_{column:d}_{step}_{y}_{x}")
                m.d.sync += out.eq(by_channel(add, value, cells[before]) if adds else value)
                after[x, y] = out
            cells = after
        return cells

    def _lanes(self, m, timeline, cells):
        """Lanes from sample 0, and differences of the others."""
        now = timeline[self.LATENCY - 2]
        samples, turn, places = now.samples, now.turn, now.places
        upright = {}
        for (x, y), value in cells.items():
            out = Signal(self._order.colour, name=f"upright_{y}_{x}")
            m.d.comb += out.eq(Mux(turn, cells[y, x], value))
            upright[x, y] = out
        for number in range(LANES):
            bases = []
            differences = []
            for mode in self._order.modes:
                sample, x, y = pixel(mode, number)
                bases.append(upright[x, y])
                differences.append(
                    places[self._order.place_of(mode, number)]
                    if sample
                    else Const(0, self._order.colour)
                )
            of_sample_0 = Signal(self._order.colour, name=f"of_sample_0_{number}")
            difference = Signal(self._order.colour, name=f"difference_{number}")
            m.d.sync += [
                of_sample_0.eq(self._order.by_mode(samples, bases)),
                difference.eq(self._order.by_mode(samples, differences)),
                self.o[number].eq(colour(by_channel(add, of_sample_0, difference))),
            ]
