# SPDX-License-Identifier: BSD-2-Clause
"""Sums of differences: from those of a channel back to the channel."""

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import Selection, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.tile_order import Place, Step, operand
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.differences.colour_order import TURNS, ColourOrder
from fixfunc.spec.colours import LANES


def _along(distance: int) -> Step:
    """Of sample 0, so many before it in its row, without the first; of the first, so many above."""

    def step(sample: int, x: int, y: int) -> Place | None:
        if sample == 0 and x > distance:
            return 0, x - distance, y
        return (0, 0, y - distance) if sample == x == 0 and y >= distance else None

    return step


def _of_column_0(sample: int, x: int, y: int) -> Place | None:
    """Of sample 0, the first of the row."""
    return (0, 0, y) if sample == 0 and x else None


def _of_sample_0(sample: int, x: int, y: int) -> Place | None:
    """Of others, the pixel's sample 0."""
    return (0, x, y) if sample else None


class Sums(wiring.Component):
    """The inverse of :class:`~fixfunc.rtl.output.differences.residuals.Residuals`.

    Along rows and column 0 sums of two numbers, of four and of eight; then to those of a row its
    first is added, then to other samples that of sample 0. A channel a clock.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    samples, turn : In
        Of a tile, a clock before its residuals: log2 of the samples of a pixel.
    residuals : In
        By lane; of lane (0, 0) the channel itself.
    o : Out
        The channel by lane, :data:`LATENCY` clocks after its residuals.
    """

    STEPS = (_along(1), _along(2), _along(4), _of_column_0, _of_sample_0)
    ADDED = 2  # numbers one after the other in a clock
    LATENCY = -(-len(STEPS) // ADDED)

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        values = ArrayLayout(order.bits, LANES)
        super().__init__(
            {"samples": In(2), "turn": In(1), "residuals": In(values), "o": Out(values)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        order = self._order
        timeline = Timeline(m)
        timeline.enter(0, index=Cat(self.samples, self.turn))
        numbers = {mode | turn << 2: (mode, turn) for turn in TURNS for mode in order.modes}
        values = [Value.cast(value) for value in self.residuals]
        for n, step in enumerate(self.STEPS):
            clock, later = divmod(n, self.ADDED)
            if not later:
                index = timeline[clock].index
                selection = Selection(m, index, numbers, f"selected_{clock}", ahead=True)
            options = dict(enumerate(values))
            sums = []
            for lane, value in enumerate(values):
                keys = {number: operand(step, *shape, lane) for number, shape in numbers.items()}
                keys = {number: key for number, key in keys.items() if key is not None}
                sums.append(value + selection.of(keys, options))
            is_registered = later == self.ADDED - 1 or n == len(self.STEPS) - 1
            values = [
                register(m, total, order.bits, f"sum_{n}_{lane}")
                if is_registered
                else named(m, total[: order.bits], f"sum_{n}_{lane}")
                for lane, total in enumerate(sums)
            ]
        m.d.comb += self.o.eq(Cat(values))
        return m
