# SPDX-License-Identifier: BSD-2-Clause
"""Differences of colours: of a channel from the lane before, or from sample 0 of its pixel."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.compression.tile_order import (
    CHANNELS,
    GROUPS,
    MODES,
    PLACES,
    SIZES,
    by_mode,
    reference,
)
from fixfunc.spec.colours import LANES

BITS = 8  # of a channel
TURNS = range(2)  # along x, or with x and y exchanged
PLACED = ArrayLayout(CHANNELS * BITS, len(PLACES))  # channels of all places of groups


def channels(colour):
    """G, R - G, B - G, A of red, green, blue, alpha."""
    red, green, blue, alpha = (colour[BITS * n : BITS * (n + 1)] for n in range(CHANNELS))
    return Cat(green, (red - green)[:BITS], (blue - green)[:BITS], alpha)


class Differences(wiring.Component):
    """Differences of a tile, in both turns. One tile a clock.

    Members
    -------
    i : In
        ``samples``, and the colours of ``lanes``.
    o : Out
        By turn, channels of all places, :data:`LATENCY` clocks later; 0 where there is no lane.
    """

    LATENCY = 3

    def __init__(self) -> None:
        super().__init__(
            {
                "i": In(StructLayout({"samples": 2, "lanes": ArrayLayout(32, LANES)})),
                "o": Out(ArrayLayout(PLACED, len(TURNS))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, samples=self.i.samples)
        lanes = [Signal(CHANNELS * BITS, name=f"lane_{n}") for n in range(LANES)]
        m.d.sync += [lane.eq(channels(self.i.lanes[n])) for n, lane in enumerate(lanes)]
        samples = timeline[1].samples
        for number, (group, at) in enumerate(PLACES):
            own = self._chosen(
                m, samples, lanes, group, at, f"own_{number}", lambda mode, g, a: GROUPS[mode][g][a]
            )
            for turn in TURNS:
                before = self._chosen(
                    m,
                    samples,
                    lanes,
                    group,
                    at,
                    f"before_{number}_{turn}",
                    lambda mode, g, a, turn=turn: reference(mode, g, a, turn),
                )
                m.d.sync += self.o[turn][number].eq(
                    Cat(
                        (own[b : b + BITS] - before[b : b + BITS])[:BITS]
                        for b in range(0, CHANNELS * BITS, BITS)
                    )
                )
        return m

    @staticmethod
    def _chosen(m, samples, lanes, group, at, name, which):
        """A lane by the number of samples; nothing, where a group has none there."""
        options = [
            lanes[which(mode, group, at)] if at < SIZES[group][mode] else Const(0, len(lanes[0]))
            for mode in MODES
        ]
        out = Signal(len(lanes[0]), name=name)
        m.d.sync += out.eq(by_mode(samples, options))
        return out
