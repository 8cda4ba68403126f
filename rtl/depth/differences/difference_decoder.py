# SPDX-License-Identifier: BSD-2-Clause
"""From differences back to depths, and what cannot be differences."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.differences import grid
from fixfunc.rtl.depth.differences.difference_coder import LAST, TRANSFERS
from fixfunc.rtl.depth.differences.grid import QUARTER, QUARTERS
from fixfunc.rtl.depth.differences.portions import Portions
from fixfunc.rtl.depth.differences.sums import Sums
from fixfunc.rtl.depth.differences.widths import (
    CODE,
    GREATEST,
    HEADER,
    LONG_HEADER,
    MOST,
    TRANSFER,
    behind_header,
    header_bits,
    planes_used,
)
from fixfunc.rtl.lib.bits import leading_zeros, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.bit_planes import from_planes
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.rtl.lib.tile_groups.unpacker import Unpacker
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
    quarter : In(2)
        0 to 3 in the clocks of a tile.
    o : Out
        ``depths`` by lane, for a clock, :attr:`LATENCY` clocks after the first of the tile.
        ``wrong``: a code is above the greatest, spare bits or bits behind the payloads are set, or
        these go on beyond the transfers; of such tiles depths are anything.
    """

    # Clocks of a portion: its bits, its numbers, all numbers of the tile.
    TAKEN = 1
    NUMBERS = TAKEN + 1
    COLLECTED = NUMBERS + LAST + 1  # of a tile's first portion, and from here on of a quarter
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
        end = self._take(m, timeline)
        self._wrong(m, timeline, end)
        numbers = self._numbers(m, timeline)
        self._sum(m, timeline, self._collected(m, timeline, numbers))
        return m

    def _take(self, m, timeline):
        """A portion's bits, codes of its groups, and where each begins; the end of the payloads."""
        portions = self._portions
        selection = portions.selection(m, self.quarter, self.samples, "portion")
        fields = [
            self.data[CODE * n : CODE * (n + 1)] if n else Const(GREATEST, CODE)
            for n in range(self._order.count)
        ]
        m.submodules.unpacker = unpacker = Unpacker(MOST, DEPTH * portions.lanes, TRANSFER)
        codes = []
        too_great = []
        begins = [Const(0, 1)]
        for slot, coded in enumerate(portions.codes(selection, fields)):
            field = named(m, coded, f"field_{slot}")
            too_great.append(field > GREATEST)
            codes.append(named(m, Mux(field > GREATEST, GREATEST, field), f"code_{slot}"))
            length = portions.length(selection, codes[slot], slot)
            begins.append(named(m, begins[slot] + length, f"begin_{slot + 1}"))
        m.d.comb += [
            unpacker.row.eq(self.data),
            unpacker.start.eq(self.quarter == QUARTERS[0]),
            unpacker.at.eq(Mux(behind_header(self._order, self.samples), LONG_HEADER, HEADER)),
            unpacker.length.eq(begins[-1]),
        ]
        timeline.enter(
            self.TAKEN,
            bits=unpacker.o,
            too_great=register(m, Cat(too_great).any(), 1, "too_great"),
        )
        for slot, (code, begin) in enumerate(zip(codes, begins, strict=False)):
            timeline.enter(
                self.TAKEN,
                **{
                    f"code_{slot}": register(m, code, CODE, f"taken_code_{slot}"),
                    f"begin_{slot}": register(m, begin, len(begin), f"taken_begin_{slot}"),
                },
            )
        return unpacker.position

    def _wrong(self, m, timeline, end):
        """Codes that are too great, spare bits, and bits behind the end."""
        order = self._order
        data = self.data
        spare = [
            Cat(data[1:CODE], data[CODE * len(order.groups[mode]) : header_bits(order, mode)]).any()
            for mode in order.modes
        ]
        now = timeline[self.TAKEN]
        is_bad = Signal()  # of this tile, until its last portion
        was_bad = now.too_great | (is_bad & (now.quarter != QUARTERS[0]))
        m.d.sync += is_bad.eq(was_bad)
        timeline.enter(
            self.TAKEN,
            spare=register(m, order.by_mode(self.samples, spare), 1, "spare"),
            used=register(m, self._used(m), len(end), "used"),
        )
        beyond = end > now.transfers << TRANSFER.bit_length() - 1
        wrong = Signal()
        with m.If(now.quarter == LAST):
            m.d.sync += wrong.eq(was_bad | now.spare | beyond | (now.used > end))
        # Until the next tile's last portion; until its own depths it waits from quarter to quarter.
        timeline.enter(self.TAKEN + 1, wrong=wrong)
        m.d.comb += self.o.wrong.eq(timeline[self.LATENCY - LAST].wrong)

    def _used(self, m):
        """How many bits of the data there are, up to the highest that is set."""
        words = [self.data.word_select(n, TRANSFER) for n in range(MOST)]
        some = named(m, Cat(word.any() for word in words), "some")
        highest = Signal(TRANSFER)
        index = Signal(range(MOST))
        m.d.comb += highest.eq(words[0])
        for n in range(1, MOST):
            with m.If(some[n]):
                m.d.comb += [highest.eq(words[n]), index.eq(n)]
        zeros = leading_zeros(highest)
        return TRANSFER * (index + 1) - zeros

    def _numbers(self, m, timeline):
        """Numbers of a portion by slot and place."""
        portions = self._portions
        now = timeline[self.TAKEN]
        selection = portions.selection(m, now.quarter, now.samples, "taken_portion")
        out = []
        for slot, most in enumerate(portions.most):
            code = timeline.value(f"code_{slot}", self.TAKEN)
            begin = timeline.value(f"begin_{slot}", self.TAKEN)
            payload = named(m, (now.bits >> begin)[: DEPTH * most], f"payload_{slot}")
            used = named(m, planes_used(code), f"used_{slot}")
            sizes = portions.sizes[slot]
            numbers = []
            for place in range(most):
                options = {
                    size: Cat(payload[plane * size + place] for plane in range(DEPTH))
                    for size in set(sizes.values())
                    if place < size
                }
                keys = {index: size for index, size in sizes.items() if size in options}
                bits = named(m, selection.of(keys, options), f"bits_{slot}_{place}")
                number = from_planes(m, bits, used, f"sign_{slot}_{place}")
                numbers.append(register(m, number, DEPTH, f"number_{slot}_{place}"))
            out.append(numbers)
        return out

    def _collected(self, m, timeline, numbers):
        """All numbers of a tile by lane; a quarter a clock."""
        portions = self._portions
        by_portion = [numbers]
        for n in range(LAST):
            by_portion.append(
                [
                    [
                        register(m, number, DEPTH, f"number_{slot}_{place}_before_{n + 1}")
                        for place, number in enumerate(numbers)
                    ]
                    for slot, numbers in enumerate(by_portion[-1])
                ]
            )
        options = {
            (portion, slot, place): number
            for portion, numbers in zip(QUARTERS, reversed(by_portion), strict=True)
            for slot, its in enumerate(numbers)
            for place, number in enumerate(its)
        }
        now = timeline[self.NUMBERS]
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
