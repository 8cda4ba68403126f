# SPDX-License-Identifier: BSD-2-Clause
"""Residuals: what is left of depths once their neighbours are taken from them, in both turns."""

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.differences import grid
from fixfunc.rtl.depth.differences.grid import QUARTER, QUARTERS, History
from fixfunc.rtl.lib.bits import Selection, choose, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.tile_order import operand
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import DEPTH


class Residuals(wiring.Component):
    """Residuals of a quarter of a tile a clock.

    Parameters
    ----------
    modes : range
        log2 of the samples of a pixel, of all that may come.

    Members
    -------
    depths, samples : In
        By lane; log2 of the samples of a pixel. The same in all four clocks of a tile.
    quarter : In(2)
        Which quarter this is; those of a tile come one behind the other.
    o : Out
        By turn, and by the lane within the quarter; :attr:`LATENCY` clocks later.
    """

    LATENCY = 3

    def __init__(self, modes: range) -> None:
        self._modes = modes
        super().__init__(
            {
                "depths": In(ArrayLayout(DEPTH, grid.LANES)),
                "samples": In(2),
                "quarter": In(2),
                "o": Out(ArrayLayout(ArrayLayout(DEPTH, QUARTER), len(grid.TURNS))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, index=Cat(self.quarter, self.samples))
        selections = [
            Selection(
                m,
                timeline[max(0, clock - 1)].index,
                grid.indexes(self._modes, grid.TURNS[:1]),
                f"selected_{clock}",
                ahead=clock > 0,
            )
            for clock in range(self.LATENCY)
        ]
        of_sample_0, before, slopes, downwards = grid.DIFFERENCES
        values = self._from_sample_0(m, selections[0], of_sample_0)
        for turn in grid.TURNS:
            first = self._less(m, values, selections[1], before, turn)
            first = [
                register(m, value, DEPTH, f"across_{turn}_{n}") for n, value in enumerate(first)
            ]
            second = self._less(m, first, selections[2], slopes, turn)
            second = [named(m, value, f"slope_{turn}_{n}") for n, value in enumerate(second)]
            for n, value in enumerate(self._less(m, second, selections[2], downwards, turn)):
                m.d.sync += self.o[turn][n].eq(value)
        return m

    def _from_sample_0(self, m, selection, step):
        """Depths, but of sample 0 less those of sample 0: the same in both turns."""
        lanes = [Value.cast(self.depths[n]) for n in range(grid.LANES)]
        out = []
        for at in range(QUARTER):
            quarters = [lanes[QUARTER * q + at] for q in QUARTERS]
            keys = {
                grid.index_of(q, mode): found
                for mode in self._modes
                for q in QUARTERS
                if (found := operand(step, mode, 0, QUARTER * q + at)) is not None
            }
            taken = selection.of(keys, dict(enumerate(lanes)))
            value = choose(self.quarter, quarters) - taken
            out.append(register(m, value, DEPTH, f"offset_{at}"))
        return out

    def _less(self, m, values, selection, step, turn):
        """Numbers less those of a step."""
        history = History(m, values, f"{step.__name__.strip('_')}_{turn}")
        shapes = [(mode, 0) for mode in self._modes]

        def lane_of(mode, _, number):
            return operand(step, mode, turn, number)

        taken = grid.operands(history, selection, shapes, lane_of)
        return [(value - other)[:DEPTH] for value, other in zip(values, taken, strict=True)]
