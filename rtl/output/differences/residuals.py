# SPDX-License-Identifier: BSD-2-Clause
"""Residuals: differences of a channel from the lane before, or from sample 0 of its pixel."""

from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import Selection
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.tile_order import Place, operand
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.differences.colour_order import TURNS, ColourOrder, channel_of
from fixfunc.spec.colours import LANES


def _before(sample: int, x: int, y: int) -> Place | None:
    """Of sample 0 the pixel before it in its row, in column 0 the one above; else sample 0."""
    if sample:
        return 0, x, y
    if x or y:
        return (0, x - 1, y) if x else (0, 0, y - 1)
    return None


class Residuals(wiring.Component):
    """Differences of a channel, in both turns. A channel a clock.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    samples, lanes : In
        log2 of the samples of a pixel; colours. The same in all four clocks of a tile.
    channel : In(2)
    o : Out
        By turn, and by lane; that of lane (0, 0) is 0. :data:`LATENCY` clocks later.
    """

    LATENCY = 2

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        super().__init__(
            {
                "samples": In(2),
                "lanes": In(ArrayLayout(order.colour, LANES)),
                "channel": In(2),
                "o": Out(ArrayLayout(ArrayLayout(order.bits, LANES), len(TURNS))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        order = self._order
        timeline = Timeline(m)
        timeline.enter(0, samples=self.samples)
        values = [
            register(m, channel_of(Value.cast(lane), self.channel), order.bits, f"value_{n}")
            for n, lane in enumerate(self.lanes)
        ]
        selection = Selection(m, timeline[1].samples, order.modes, "mode")
        options = dict(enumerate(values))
        for turn in TURNS:
            m.d.sync += self.o[turn][0].eq(0)
            for n in range(1, LANES):
                keys = {mode: operand(_before, mode, turn, n) for mode in order.modes}
                m.d.sync += self.o[turn][n].eq(values[n] - selection.of(keys, options))
        return m
