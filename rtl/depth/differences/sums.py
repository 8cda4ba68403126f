# SPDX-License-Identifier: BSD-2-Clause
"""Sums: from residuals back to depths, a quarter of a tile a clock."""

from collections.abc import Callable, Collection, Iterator
from functools import partial

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.differences import grid
from fixfunc.rtl.depth.differences.grid import QUARTER, History
from fixfunc.rtl.lib.bits import Selection
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.tile_order import Step, operand
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import DEPTH

LaneOf = Callable[[int, int, int], int | None]


def _way(step: Step, mode: int, turn: int, lane: int) -> Iterator[int]:
    """Lanes that a step leads to, one after the other."""
    at = operand(step, mode, turn, lane)
    while at is not None:
        yield at
        at = operand(step, mode, turn, at)


def _within(step: Step, distances: Collection[int]) -> LaneOf:
    """The lane on the way that is so many lanes away, if it lies in the same quarter."""

    def lane_of(mode: int, turn: int, lane: int) -> int | None:
        way = _way(step, mode, turn, lane)
        within = (at for at in way if at // QUARTER == lane // QUARTER)
        return next((at for at in within if lane - at in distances), None)

    return lane_of


def _earlier(step: Step) -> LaneOf:
    """The first on the way that lies in an earlier quarter: all before it are in its sum."""

    def lane_of(mode: int, turn: int, lane: int) -> int | None:
        way = _way(step, mode, turn, lane)
        return next((at for at in way if at // QUARTER != lane // QUARTER), None)

    return lane_of


class Sums(wiring.Component):
    """The inverse of :class:`~fixfunc.rtl.depth.differences.residuals.Residuals`.

    A step is undone by sums of all that lie on its way: within a row of two numbers, of four and of
    eight, or of both rows; then that of an earlier quarter is added.

    Parameters
    ----------
    modes : range
        log2 of the samples of a pixel, of all that may come.

    Members
    -------
    samples, turn, quarter : In
        Of a quarter; those of a tile come one behind the other.
    residuals : In
        The same quarter's, a clock later.
    o : Out
        Depths of the quarter by lane, :attr:`LATENCY` clocks after its residuals.
    """

    # Lanes, one after the other. Pixels of two lanes begin with the second; two rows need one sum.
    DISTANCES = ((1,), (2,), (4, 8))
    ADDED = 2  # numbers one after the other in a clock
    LATENCY = -(-(3 * (len(DISTANCES) + 1) + 1) // ADDED)

    def __init__(self, modes: range) -> None:
        self._modes = modes
        super().__init__(
            {
                "residuals": In(ArrayLayout(DEPTH, QUARTER)),
                "samples": In(2),
                "turn": In(1),
                "quarter": In(2),
                "o": Out(ArrayLayout(DEPTH, QUARTER)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, index=Cat(self.quarter, self.samples, self.turn))
        *steps, of_sample_0 = grid.SUMS
        additions: list[tuple[LaneOf, bool]] = []
        for step in steps:
            additions += [(_within(step, distances), False) for distances in self.DISTANCES]
            additions.append((_earlier(step), True))
        additions.append((partial(operand, of_sample_0), False))
        values = [Value.cast(self.residuals[n]) for n in range(QUARTER)]
        clock = 0
        for n, (lane_of, of_sums) in enumerate(additions):
            if n % self.ADDED == 0:
                index = timeline[clock].index
                numbers = grid.indexes(self._modes, grid.TURNS)
                selection = Selection(m, index, numbers, f"selected_{clock}", ahead=True)
            values = self._added(m, values, selection, lane_of, of_sums, f"sum_{n}")
            if n % self.ADDED == self.ADDED - 1 or n == len(additions) - 1:
                clock += 1
                values = [
                    register(m, value, DEPTH, f"after_{clock}_{at}")
                    for at, value in enumerate(values)
                ]
        m.d.comb += self.o.eq(Cat(values))
        return m

    def _added(self, m, values, selection, lane_of, of_sums, name):
        """Numbers with others added: those of the same stage, or sums of earlier quarters."""
        sums = [Signal(DEPTH, name=f"{name}_{at}") for at in range(QUARTER)]
        history = History(m, sums if of_sums else values, name)
        shapes = [(mode, turn) for turn in grid.TURNS for mode in self._modes]
        added = grid.operands(history, selection, shapes, lane_of)
        m.d.comb += [
            total.eq(value + other) for total, value, other in zip(sums, values, added, strict=True)
        ]
        return sums
