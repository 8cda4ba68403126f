# SPDX-License-Identifier: BSD-2-Clause
"""From depths to their differences, in as few transfers as they take."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.differences import grid
from fixfunc.rtl.depth.differences.widths import (
    HEADER,
    LEAST,
    LONG_HEADER,
    ROOM,
    TRANSFER,
    Widths,
    behind_header,
    length,
    planes_used,
)
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import DelayLine, register
from fixfunc.rtl.lib.tile_groups.bit_planes import by_planes
from fixfunc.rtl.lib.tile_groups.placing import PlacingTree, levels
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import DEPTH

TRANSFERS = 3  # bits of their number


class DifferenceCoder(wiring.Component):
    """Differences along rows or columns, whichever take fewer bits. One tile a clock.

    Parameters
    ----------
    samples : int
        Most samples of a pixel.

    Members
    -------
    i : In
        ``samples``, log2, and ``depths`` by lane.
    o : Out
        ``transfers``, which may be more than those of ``data``; :meth:`latency` clocks later.
    """

    PLACED = len(grid.DIFFERENCES) + 2  # clocks: lanes in order, differences, places of groups
    TURNED = PLACED + Widths.LATENCY + 1  # the shorter turn is chosen

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self._order = TileOrder(samples)
        self._placing = PlacingTree([DEPTH * most for most in self._order.most], ROOM - HEADER)
        depths = ArrayLayout(DEPTH, grid.COUNT)
        super().__init__(
            {
                "i": In(StructLayout({"samples": 2, "depths": depths})),
                "o": Out(StructLayout({"transfers": TRANSFERS, "data": ROOM})),
            }
        )

    @classmethod
    def latency(cls, samples: int) -> int:
        """Clocks: payloads, header before them."""
        return cls.TURNED + 1 + levels(TileOrder(samples).count) + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, samples=self.i.samples)
        waiting_places = []
        sums = []
        for turn in grid.TURNS:
            places = self._differences(m, timeline, turn)
            m.submodules[f"widths_{turn}"] = widths = Widths(self._order)
            m.submodules[f"waiting_{turn}"] = waiting = DelayLine(
                len(places), Widths.LATENCY, near=True
            )
            m.d.comb += [
                widths.i.samples.eq(timeline[self.PLACED].samples),
                widths.i.places.eq(places),
                waiting.i.eq(places),
            ]
            timeline.enter(self.PLACED + Widths.CODED, **{f"codes_{turn}": widths.o.codes})
            waiting_places.append(waiting.o)
            sums.append(widths.o.total)
        self._turn(m, timeline, waiting_places, sums)
        self._place(m, timeline)
        return m

    def _differences(self, m, timeline, turn):
        """Differences by places of groups, all in one value."""
        order = self._order
        shapes = [(mode, turn) for mode in order.modes]
        first = timeline[0].samples
        values = [
            register(
                m,
                order.by_mode(
                    first,
                    [self.i.depths[grid.lane_of(*shape, number)] for shape in shapes],
                ),
                DEPTH,
                f"depth_{turn}_{number}",
            )
            for number in range(grid.COUNT)
        ]
        for n, step in enumerate(grid.DIFFERENCES):
            samples = timeline[n + 1].samples
            values = grid.applied(m, values, step, shapes, samples, False, f"less_{turn}_{n}")
        by_lane = [
            {grid.lane_of(mode, turn, number): value for number, value in enumerate(values)}
            for mode in order.modes
        ]
        samples = timeline[len(grid.DIFFERENCES) + 1].samples
        places = []
        for n in range(len(order.places)):
            lanes = [order.lane_at(mode, n) for mode in order.modes]
            options = [
                Const(0, DEPTH) if lane is None else its[lane]
                for lane, its in zip(lanes, by_lane, strict=True)
            ]
            places.append(register(m, order.by_mode(samples, options), DEPTH, f"at_{turn}_{n}"))
        return Cat(places)

    def _turn(self, m, timeline, places, sums):
        """The shorter turn; rows if both are as long."""
        now = timeline[self.TURNED - 1]
        codes = [now.codes_0, now.codes_1]
        turn = sums[1] < sums[0]
        timeline.enter(
            self.TURNED,
            turn=register(m, turn, 1, "turn"),
            total=register(m, Mux(turn, sums[1], sums[0]), len(sums[0]), "total"),
            codes=register(m, Mux(turn, codes[1], codes[0]), codes[0].shape().size, "codes"),
            places=register(m, Mux(turn, places[1], places[0]), len(places[0]), "places"),
        )

    def _place(self, m, timeline):
        """Payloads side by side, the header before them."""
        order = self._order
        now = timeline[self.TURNED]
        m.submodules.placing = placing = self._placing
        for group in range(order.count):
            code = now.codes.word_select(group, 4)
            values = [now.places.word_select(n, DEPTH) for n in order.of_group(group)]
            plane_mask = named(m, planes_used(code), f"plane_mask_{group}")
            payload = by_planes(order, now.samples, values, plane_mask, group)
            m.d.sync += [
                placing.i[f"value{group}"].eq(payload),
                placing.i[f"length{group}"].eq(length(order, now.samples, code, group)),
            ]
        after = timeline[self.latency(self._samples) - 1]
        is_long = behind_header(order, after.samples)
        header = Cat(after.turn, Const(0, 3), after.codes[4:])
        of_first = 4 * DEPTH  # bits of group 0
        bits = Signal(range(1 << 12))
        m.d.comb += bits.eq(after.total + Mux(is_long, LONG_HEADER, HEADER) + of_first)
        transfers = ((bits + TRANSFER - 1) >> 8)[:TRANSFERS]
        behind_short = Cat(Const(0, HEADER), placing.o.value)
        behind_long = Cat(Const(0, LONG_HEADER), placing.o.value)
        m.d.sync += [
            self.o.transfers.eq(Mux(transfers < LEAST, LEAST, transfers)),
            self.o.data.eq(Mux(is_long, behind_long, behind_short) | header),
        ]
