# SPDX-License-Identifier: BSD-2-Clause
"""From differences back to depths, and what cannot be differences."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.differences import grid
from fixfunc.rtl.depth.differences.difference_coder import LAST, TRANSFERS
from fixfunc.rtl.depth.differences.grid import QUARTER, QUARTERS
from fixfunc.rtl.depth.differences.numbers import Numbers
from fixfunc.rtl.depth.differences.portions import Portions
from fixfunc.rtl.depth.differences.sums import Sums
from fixfunc.rtl.depth.differences.widths import (
    CODE,
    MOST,
    TRANSFER,
    header_bits,
)
from fixfunc.rtl.lib.bits import leading_zeros, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import DEPTH


class DifferenceDecoder(wiring.Component):
    """The inverse of :class:`~fixfunc.rtl.depth.differences.difference_coder.DifferenceCoder`.

    A tile in four clocks.

    Parameters
    ----------
    samples : int
        Most samples of a pixel.

    Members
    -------
    samples, transfers, data : In
        log2 of the samples of a pixel; transfers of the data. The same in all four clocks of a
        tile.
    excess : In(1)
        Bits behind the data are set: the tile is wrong.
    quarter : In(2)
        0 to 3 in the clocks of a tile.
    o : Out
        ``depths`` by lane, for a clock, :attr:`LATENCY` clocks after the first of the tile.
        ``wrong``: a code is above the greatest, spare bits or bits behind the payloads are set, or
        these go on beyond the transfers; of such tiles depths are anything.
    """

    # Clocks of a tile's first portion, then of its first quarter.
    COLLECTED = Numbers.LATENCY + LAST + 1
    LATENCY = COLLECTED + Sums.LATENCY + LAST

    def __init__(self, samples: int) -> None:
        self._order = TileOrder(samples)
        self._portions = Portions(self._order)
        depths = ArrayLayout(DEPTH, grid.LANES)
        super().__init__(
            {
                "samples": In(2),
                "transfers": In(TRANSFERS),
                "data": In(MOST * TRANSFER),
                "excess": In(1),
                "quarter": In(2),
                "o": Out(StructLayout({"depths": depths, "wrong": 1})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(
            0,
            samples=self.samples,
            transfers=self.transfers,
            quarter=self.quarter,
            turn=self.data[0],
        )
        m.submodules.numbers = numbers = Numbers(self._order)
        m.d.comb += [
            numbers.samples.eq(self.samples),
            numbers.data.eq(self.data),
            numbers.portion.eq(self.quarter),
        ]
        timeline.enter(Numbers.TAKEN, too_great=numbers.too_great)
        self._wrong(m, timeline, numbers.end)
        values = [Value.cast(numbers.o[n]) for n in range(sum(self._portions.most))]
        self._sum(m, timeline, self._collected(m, timeline, values))
        return m

    def _wrong(self, m, timeline, end):
        """Codes that are too great, spare bits, and bits behind the end."""
        order = self._order
        data = self.data
        spare = [
            Cat(data[1:CODE], data[CODE * len(order.groups[mode]) : header_bits(order, mode)]).any()
            for mode in order.modes
        ]
        now = timeline[Numbers.TAKEN]
        is_bad = Signal()  # of this tile, until its last portion
        was_bad = now.too_great | (is_bad & (now.quarter != QUARTERS[0]))
        m.d.sync += is_bad.eq(was_bad)
        timeline.enter(
            Numbers.TAKEN,
            spare=register(m, order.by_mode(self.samples, spare) | self.excess, 1, "spare"),
            used=register(m, self._used(m), len(end), "used"),
        )
        beyond = end > now.transfers << TRANSFER.bit_length() - 1
        wrong = Signal()
        with m.If(now.quarter == LAST):
            m.d.sync += wrong.eq(was_bad | now.spare | beyond | (now.used > end))
        # Until the next tile's last portion; until its own depths it waits from quarter to quarter.
        timeline.enter(Numbers.TAKEN + 1, wrong=wrong)
        m.d.comb += self.o.wrong.eq(timeline[self.LATENCY - LAST].wrong)

    def _used(self, m):
        """How many bits of the data there are, up to the highest that is set."""
        words = [self.data.word_select(n, TRANSFER) for n in range(MOST)]
        occupied = named(m, Cat(word.any() for word in words), "occupied")
        highest = Signal(TRANSFER)
        index = Signal(range(MOST))
        m.d.comb += highest.eq(words[0])
        for n in range(1, MOST):
            with m.If(occupied[n]):
                m.d.comb += [highest.eq(words[n]), index.eq(n)]
        zeros = leading_zeros(highest)
        return TRANSFER * (index + 1) - zeros

    def _collected(self, m, timeline, numbers):
        """All numbers of a tile by lane; a quarter a clock."""
        portions = self._portions
        by_portion = [numbers]
        for n in range(LAST):
            by_portion.append(
                [
                    register(m, number, DEPTH, f"number_{place}_before_{n + 1}")
                    for place, number in enumerate(by_portion[-1])
                ]
            )
        options = {
            (portion, place): number
            for portion, numbers in zip(QUARTERS, reversed(by_portion), strict=True)
            for place, number in enumerate(numbers)
        }
        now = timeline[Numbers.LATENCY]
        selection = portions.by_mode(m, now.samples)
        lanes = [
            selection.of({mode: portions.place_of(n, mode) for mode in self._order.modes}, options)
            for n in range(grid.LANES)
        ]
        is_last = named(m, now.quarter == LAST, "is_last")
        quarters = [Signal(ArrayLayout(DEPTH, QUARTER), name=f"lanes_{q}") for q in QUARTERS]
        for q, quarter in enumerate(quarters):
            loaded = Cat(lanes[QUARTER * q : QUARTER * (q + 1)])
            following = quarters[q + 1].as_value() if q < LAST else Const(0)
            m.d.sync += quarter.eq(Mux(is_last, loaded, following))
        return quarters[0]

    def _sum(self, m, timeline, quarter):
        """Sums of a quarter, collected to a tile of depths."""
        now = timeline[self.COLLECTED - 1]
        m.submodules.sums = sums = Sums(self._order.modes)
        m.d.comb += [
            sums.residuals.eq(quarter),
            sums.samples.eq(now.samples),
            sums.turn.eq(now.turn),
            sums.quarter.eq(now.quarter),
        ]
        quarters = [Value.cast(sums.o)]
        for n in range(LAST):
            quarters.append(register(m, quarters[-1], DEPTH * QUARTER, f"depths_before_{n + 1}"))
        m.d.comb += self.o.depths.eq(Cat(reversed(quarters)))
