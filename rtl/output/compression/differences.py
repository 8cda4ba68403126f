# SPDX-License-Identifier: BSD-2-Clause
"""Differences of colours: of a channel from the lane before, or from sample 0 of its pixel."""

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder, lane, pixel
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.colours import LANES

CHANNELS = 4  # G, R - G, B - G, A
BITS = 8  # of a channel
TURNS = range(2)  # along x, or with x and y exchanged


def placed(order: TileOrder) -> ArrayLayout:
    """Channels of all places of groups."""
    return ArrayLayout(CHANNELS * BITS, len(order.places))


def channels(colour: Value) -> Value:
    """G, R - G, B - G, A of red, green, blue, alpha."""
    red, green, blue, alpha = (colour[BITS * n : BITS * (n + 1)] for n in range(CHANNELS))
    return Cat(green, (red - green)[:BITS], (blue - green)[:BITS], alpha)


def reference(mode: int, number: int, turn: int) -> int:
    """The lane that a lane is taken from: before it in its row or column, or of sample 0."""
    sample, x, y = pixel(mode, number)
    if sample:
        return lane(mode, 0, x, y)
    for dx, dy in ((1, 0), (0, 1)) if turn == 0 else ((0, 1), (1, 0)):
        if x >= dx and y >= dy:
            return lane(mode, 0, x - dx, y - dy)
    return number


class Differences(wiring.Component):
    """Differences of a tile, in both turns. One tile a clock.

    Parameters
    ----------
    order : TileOrder

    Members
    -------
    i : In
        ``samples``, and the colours of ``lanes``.
    o : Out
        By turn, channels of all places, :data:`LATENCY` clocks later; 0 where there is no lane.
    """

    LATENCY = 3

    def __init__(self, order: TileOrder) -> None:
        self._order = order
        super().__init__(
            {
                "i": In(StructLayout({"samples": 2, "lanes": ArrayLayout(32, LANES)})),
                "o": Out(ArrayLayout(placed(order), len(TURNS))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, samples=self.i.samples)
        lanes = [Signal(CHANNELS * BITS, name=f"lane_{n}") for n in range(LANES)]
        m.d.sync += [lane.eq(channels(self.i.lanes[n])) for n, lane in enumerate(lanes)]
        samples = timeline[1].samples
        for number in range(len(self._order.places)):
            found = [self._order.lane_at(mode, number) for mode in self._order.modes]
            own = self._chosen(m, samples, lanes, found, f"own_{number}")
            for turn in TURNS:
                before = self._chosen(
                    m,
                    samples,
                    lanes,
                    [
                        None if own_lane is None else reference(mode, own_lane, turn)
                        for mode, own_lane in enumerate(found)
                    ],
                    f"before_{number}_{turn}",
                )
                m.d.sync += self.o[turn][number].eq(
                    Cat(
                        (own[b : b + BITS] - before[b : b + BITS])[:BITS]
                        for b in range(0, CHANNELS * BITS, BITS)
                    )
                )
        return m

    def _chosen(self, m, samples, lanes, numbers, name):
        """A lane by the number of samples; nothing, where there is none."""
        nothing = Const(0, CHANNELS * BITS)
        options = [nothing if number is None else lanes[number] for number in numbers]
        out = Signal(CHANNELS * BITS, name=name)
        m.d.sync += out.eq(self._order.by_mode(samples, options))
        return out
