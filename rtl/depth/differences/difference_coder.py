# SPDX-License-Identifier: BSD-2-Clause
"""From depths to their differences, in as few transfers as they take."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.differences import grid
from fixfunc.rtl.depth.differences.grid import QUARTERS
from fixfunc.rtl.depth.differences.payloads import Payloads
from fixfunc.rtl.depth.differences.residuals import Residuals
from fixfunc.rtl.depth.differences.widths import (
    HEADER,
    LEAST,
    LENGTH,
    LONG_HEADER,
    MOST,
    TRANSFER,
    Widths,
    behind_header,
)
from fixfunc.rtl.lib.delay import DelayLine, held, register
from fixfunc.rtl.lib.tile_groups.packer import Packer
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import DEPTH

TRANSFERS = 3  # bits of their number
LAST = QUARTERS[-1]


class DifferenceCoder(wiring.Component):
    """Differences along rows or columns, whichever take fewer bits. A tile in four clocks.

    Parameters
    ----------
    samples : int
        Most samples of a pixel.

    Members
    -------
    samples, depths : In
        log2 of the samples of a pixel; by lane. The same in all four clocks of a tile.
    quarter : In(2)
        0 to 3 in the clocks of a tile; 0 between tiles.
    o : Out
        ``transfers``, which may be more than those of ``data``; for a clock, :meth:`latency` clocks
        after the first of the tile.
    """

    # Clocks of a quarter, and of a tile's first quarter.
    TOTAL = Residuals.LATENCY + LAST + Widths.LATENCY
    TURNED = TOTAL + 1  # the shorter turn is chosen, and this quarter's residuals with it
    COLLECTED = TURNED + LAST + 1  # residuals of all of the tile

    def __init__(self, samples: int) -> None:
        self._order = TileOrder(samples)
        self._payloads = Payloads(self._order)
        super().__init__(
            {
                "samples": In(2),
                "depths": In(ArrayLayout(DEPTH, grid.LANES)),
                "quarter": In(2),
                "o": Out(StructLayout({"transfers": TRANSFERS, "data": MOST * TRANSFER})),
            }
        )

    @classmethod
    def latency(cls, samples: int) -> int:
        """Clocks until all payloads are side by side."""
        return cls.COLLECTED + Payloads.latency(TileOrder(samples)) + LAST + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        order = self._order
        timeline = Timeline(m)
        timeline.enter(0, samples=self.samples, quarter=self.quarter)
        m.submodules.residuals = residuals = Residuals(order.modes)
        m.d.comb += [
            residuals.samples.eq(self.samples),
            residuals.depths.eq(self.depths),
            residuals.quarter.eq(self.quarter),
        ]
        self._turn(m, timeline, residuals.o)
        m.submodules.waiting = waiting = DelayLine(
            residuals.o.shape().size, self.TURNED - Residuals.LATENCY, near=True
        )
        m.d.comb += waiting.i.eq(residuals.o)
        by_turn = residuals.o.shape()(waiting.o)
        turn = timeline[self.TURNED].turn
        quarter = Mux(turn, by_turn[1].as_value(), by_turn[0].as_value())
        self._pack(m, timeline, self._collected(m, timeline, quarter))
        return m

    def _held(self, m, timeline, clock, value, name):
        """A value of a tile's last quarter in this clock, for the four clocks from the next on."""
        return held(m, value, timeline[clock].quarter == LAST, name)

    def _turn(self, m, timeline, residuals):
        """The shorter turn; rows if both are as long."""
        now = timeline[Residuals.LATENCY]
        coded = Residuals.LATENCY + LAST + Widths.CODED
        totals = []
        for turn in grid.TURNS:
            m.submodules[f"widths_{turn}"] = widths = Widths(self._order)
            m.d.comb += [
                widths.samples.eq(now.samples),
                widths.quarter.eq(now.quarter),
                widths.residuals.eq(residuals[turn]),
            ]
            timeline.enter(coded, **{f"codes_{turn}": widths.o.codes.as_value()})
            totals.append(widths.o.total)
        end = timeline[self.TOTAL]
        is_shorter = totals[1] < totals[0]
        codes = Mux(is_shorter, end.codes_1, end.codes_0)
        total = Mux(is_shorter, totals[1], totals[0])
        turn = Signal()
        chosen_codes = Signal(len(codes))
        chosen_total = Signal(LENGTH)
        with m.If(end.quarter == QUARTERS[0]):
            m.d.sync += [
                turn.eq(is_shorter),
                chosen_codes.eq(codes),
                chosen_total.eq(total),
            ]
        timeline.enter(self.TURNED, turn=turn, codes=chosen_codes, total=chosen_total)

    def _collected(self, m, timeline, quarter):
        """Residuals of all of the tile."""
        quarters = [quarter]
        for n in range(LAST):
            quarters.append(register(m, quarters[-1], len(quarter), f"quarter_{n}"))
        return self._held(m, timeline, self.TURNED, Cat(reversed(quarters)), "residuals_of_tile")

    def _pack(self, m, timeline, residuals):
        """Payloads side by side, the header before them."""
        order = self._order
        turned = timeline[self.TURNED]
        bits = turned.total + Mux(behind_header(order, turned.samples), LONG_HEADER, HEADER)
        transfers = ((bits + TRANSFER - 1) >> 8)[:TRANSFERS]
        transfers = Mux(transfers < LEAST, LEAST, transfers)
        tile = Cat(turned.turn, turned.codes, transfers)
        tile = self._held(m, timeline, self.TURNED, tile, "of_tile")
        codes = tile[1 : 1 + len(turned.codes)]
        now = timeline[self.COLLECTED]
        m.submodules.payloads = payloads = self._payloads
        m.d.comb += [
            payloads.samples.eq(now.samples),
            payloads.codes.eq(codes),
            payloads.residuals.eq(residuals),
            payloads.portion.eq(now.quarter),
        ]
        packed = self.COLLECTED + Payloads.latency(order)
        header = Cat(tile[0], Const(0, 3), codes[4:], tile[-TRANSFERS:])
        header = self._held(m, timeline, packed - 4, header, "header")
        m.submodules.packer = packer = Packer(MOST, len(payloads.o.value))
        then = timeline[packed]
        m.d.comb += [
            packer.start.eq(then.quarter == QUARTERS[0]),
            packer.at.eq(Mux(behind_header(order, then.samples), LONG_HEADER, HEADER)),
            packer.first.eq(header[:-TRANSFERS]),
            packer.value.eq(payloads.o.value),
            packer.length.eq(payloads.o.length),
            self.o.data.eq(packer.row),
            self.o.transfers.eq(self._held(m, timeline, packed, header[-TRANSFERS:], "transfers")),
        ]
