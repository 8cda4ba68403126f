# SPDX-License-Identifier: BSD-2-Clause
"""From differences back to depths, and what cannot be differences."""

from amaranth.hdl import Cat, Const, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.differences import grid
from fixfunc.rtl.depth.differences.difference_coder import TRANSFERS
from fixfunc.rtl.depth.differences.widths import (
    CODE,
    GREATEST,
    HEADER,
    LENGTH,
    LONG_HEADER,
    ROOM,
    behind_header,
    codes_layout,
    header_bits,
    length,
    planes_used,
)
from fixfunc.rtl.lib.bits import choose, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.bit_planes import from_planes
from fixfunc.rtl.lib.tile_groups.placing import TakingTree, levels
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import DEPTH


class DifferenceDecoder(wiring.Component):
    """The inverse of :class:`~fixfunc.rtl.depth.differences.difference_coder.DifferenceCoder`.

    One tile a clock.

    Parameters
    ----------
    samples : int
        Most samples of a pixel.

    Members
    -------
    i : In
        ``samples``, log2; ``transfers`` of ``data``.
    o : Out
        ``depths`` by lane, :meth:`latency` clocks later. ``wrong``: a code is above the greatest,
        spare bits or bits behind the payloads are set, or these go on beyond the transfers; of such
        tiles depths are anything.
    """

    HEADER = 1  # clocks: codes, and what lies behind them

    def __init__(self, samples: int) -> None:
        self._order = TileOrder(samples)
        self._taking = TakingTree([DEPTH * most for most in self._order.most], ROOM - HEADER)
        depths = ArrayLayout(DEPTH, grid.COUNT)
        super().__init__(
            {
                "i": In(StructLayout({"samples": 2, "transfers": TRANSFERS, "data": ROOM})),
                "o": Out(StructLayout({"depths": depths, "wrong": 1})),
            }
        )

    @property
    def _taken(self):
        """Clocks until payloads lie apart."""
        return self.HEADER + self._taking.latency

    @classmethod
    def latency(cls, samples: int) -> int:
        """Clocks: payloads, numbers in order, sums, lanes."""
        return cls.HEADER + 2 * levels(TileOrder(samples).count) + 1 + len(grid.SUMS) + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, samples=self.i.samples, transfers=self.i.transfers)
        self._header(m, timeline)
        self._payloads(m, timeline)
        self._sums(m, timeline, self._numbers(m, timeline))
        return m

    def _header(self, m, timeline):
        """Codes; those that there are not are 0, and their bits belong to the payloads."""
        order = self._order
        data = self.i.data
        codes = [Const(GREATEST, CODE)]
        for group in range(1, order.count):
            field = data[CODE * group : CODE * (group + 1)]
            options = [field if group < len(its) else Const(0, CODE) for its in order.groups]
            codes.append(order.by_mode(self.i.samples, options))
        spare = [
            Cat(data[1:CODE], data[CODE * len(order.groups[mode]) : header_bits(order, mode)]).any()
            for mode in order.modes
        ]
        bad = order.by_mode(self.i.samples, spare) | Cat(code > GREATEST for code in codes).any()
        clamped = [Mux(code > GREATEST, GREATEST, code) for code in codes]
        is_long = behind_header(order, self.i.samples)
        payload = Mux(is_long, data[LONG_HEADER:], data[HEADER:])
        timeline.enter(
            self.HEADER,
            bad=register(m, bad, 1, "bad"),
            codes=register(m, Cat(clamped), codes_layout(order).size, "codes"),
            payload=register(m, payload, ROOM - HEADER, "payload"),
            wide=register(m, Mux(is_long, LONG_HEADER, HEADER), LENGTH, "wide"),
        )

    def _codes(self, clock):
        return [clock.codes.word_select(n, CODE) for n in range(self._order.count)]

    def _payloads(self, m, timeline):
        """Payloads are taken apart; what lies behind them must be nothing."""
        now = timeline[self.HEADER]
        samples = now.samples
        m.submodules.taking = taking = self._taking
        m.d.comb += taking.i.value.eq(now.payload)
        for n, code in enumerate(self._codes(now)):
            m.d.comb += taking.i[f"length{n}"].eq(length(self._order, samples, code, n))
        summed = self.HEADER + taking.summed
        after = timeline[summed]
        beyond = taking.total + after.wide > after.transfers << 8
        trailing = (after.payload >> taking.total).any()
        wrong = register(m, after.bad | beyond | trailing, 1, "wrong")
        timeline.enter(summed + 1, wrong=wrong)

    def _numbers(self, m, timeline):
        """Numbers sample by sample, from places of groups."""
        order = self._order
        now = timeline[self._taken]
        samples = now.samples
        plane_masks = [
            named(m, planes_used(code), f"plane_mask_{n}")
            for n, code in enumerate(self._codes(now))
        ]
        places = [
            from_planes(
                m, order, samples, self._taking.o[f"value{group}"], plane_masks[group], (group, at)
            )
            for group, at in order.places
        ]
        timeline.enter(self.HEADER, turn=register(m, self.i.data[0], 1, "turn"))
        index = Cat(samples, timeline[self._taken].turn)
        return [
            register(
                m,
                choose(
                    index,
                    [
                        None
                        if mode not in order.modes
                        else places[order.place_of(mode, grid.lane_of(mode, turn, number))]
                        for turn in grid.TURNS
                        for mode in range(4)
                    ],
                ),
                DEPTH,
                f"difference_{number}",
            )
            for number in range(grid.COUNT)
        ]

    def _sums(self, m, timeline, values):
        """Sums of the numbers, then lanes."""
        order = self._order
        shapes = [(mode, turn) for turn in grid.TURNS for mode in range(4)]
        first = self._taken + 1
        for n, step in enumerate(grid.SUMS):
            now = timeline[first + n]
            values = grid.applied(
                m, values, step, shapes, Cat(now.samples, now.turn), True, f"sum_{n}"
            )
        end = timeline[first + len(grid.SUMS)]
        index = Cat(end.samples, end.turn)
        for n in range(grid.COUNT):
            options = []
            for mode, turn in shapes:
                number = next(k for k in range(grid.COUNT) if grid.lane_of(mode, turn, k) == n)
                options.append(values[number] if mode in order.modes else None)
            m.d.sync += self.o.depths[n].eq(choose(index, options))
        m.d.sync += self.o.wrong.eq(end.wrong)
