# SPDX-License-Identifier: BSD-2-Clause
"""From tiles of colours to what lies in memory."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.tile_groups.bit_planes import by_planes
from fixfunc.rtl.lib.tile_groups.placing import PlacingTree
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.compression import header
from fixfunc.rtl.output.compression.colour_order import CHANNELS, ColourOrder
from fixfunc.rtl.output.compression.differences import TURNS, Differences, placed
from fixfunc.rtl.output.compression.palette import PaletteCoder
from fixfunc.rtl.output.compression.widths import Widths, codes_layout, length, planes_used
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import LANES, coded, uncoded
from fixfunc.spec.state import DIFFERENCES, TileMode


class ColourCoder(wiring.Component):
    """Differences and a palette side by side: the fewest bytes win. One tile a clock.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    i : In(layout(uncoded(order.colour)))
    o : Out(layout(coded(order.colour)))
        :meth:`latency` clocks later.
    """

    TURNED = Differences.LATENCY + Widths.LATENCY + 1  # the shorter turn is chosen

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        self._placing = PlacingTree(
            [order.bits * most for most in order.most] * CHANNELS, order.room
        )
        super().__init__(
            {"i": In(layout(uncoded(order.colour))), "o": Out(layout(coded(order.colour)))}
        )

    @property
    def _placed(self):
        """Clocks until payloads lie side by side."""
        return self.TURNED + 1 + self._placing.latency

    @property
    def latency(self) -> int:
        """Clocks: payloads, header before them, choice."""
        return self._placed + 2

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = [self.i[f"colour{n}"] for n in range(LANES)]
        timeline = Timeline(m)
        alpha = 3 * self._order.bits
        timeline.enter(
            0,
            samples=self.i.samples,
            lane=lanes[0],
            with_alpha=Cat(lane[alpha:] != lanes[0][alpha:] for lane in lanes).any(),
            is_clear=self.i.clears & ~Cat(lane != self.i.cleared for lane in lanes).any(),
        )
        self._turn(m, timeline, lanes)
        self._place(m, timeline)
        m.submodules.palette = palette = PaletteCoder(self._order.colour)
        m.d.comb += palette.i.eq(Cat(*lanes))
        timeline.enter(palette.LATENCY, palette=palette.o.data, is_palette=palette.o.fits)
        self._choose(m, timeline, Cat(*lanes))
        return m

    def _turn(self, m, timeline, lanes):
        """Differences in both turns, of which the shorter is kept."""
        m.submodules.differences = differences = Differences(self._order)
        m.d.comb += [
            differences.i.samples.eq(timeline[0].samples),
            differences.i.lanes.eq(Cat(*lanes)),
        ]
        first = differences.LATENCY
        known = first + Widths.LATENCY
        sums = []
        kept = []
        for turn in TURNS:
            m.submodules[f"widths_{turn}"] = widths = Widths(self._order)
            m.d.comb += [
                widths.i.samples.eq(timeline[first].samples),
                widths.i.with_alpha.eq(timeline[first].with_alpha),
                widths.i.places.eq(differences.o[turn]),
            ]
            m.submodules[f"waiting_{turn}"] = waiting = DelayLine(
                placed(self._order).size, Widths.LATENCY, near=True
            )
            m.d.comb += waiting.i.eq(differences.o[turn])
            timeline.enter(first + Widths.CODED, **{f"codes_{turn}": widths.o.codes})
            sums.append(widths.o.total)
            kept.append(waiting.o)
        turn = Signal()
        m.d.comb += turn.eq(sums[1] < sums[0])
        places = Signal(placed(self._order))
        codes = Signal(codes_layout(self._order))
        total = Signal.like(sums[0])
        m.d.sync += [
            places.eq(Mux(turn, kept[1], kept[0])),
            codes.eq(Mux(turn, *(timeline[known].__getattr__(f"codes_{n}") for n in (1, 0)))),
            total.eq(Mux(turn, sums[1], sums[0])),
        ]
        timeline.enter(known, turn=turn)
        timeline.enter(known + 1, places=places, codes=codes, total=total)

    def _place(self, m, timeline):
        """Payloads side by side."""
        now = timeline[self.TURNED]
        samples = now.samples
        m.submodules.placing = placing = self._placing
        for channel in range(CHANNELS):
            for group in range(self._order.count):
                n = self._order.leaf(channel, group)
                code = now.codes[n]
                if channel == 3:
                    code = Mux(now.with_alpha, code, 0)
                low = self._order.bits * channel
                end = low + self._order.bits
                values = [now.places[k][low:end] for k in self._order.of_group(group)]
                plane_mask = named(m, planes_used(code), f"plane_mask_{n}")
                m.d.sync += [
                    placing.i[f"value{n}"].eq(
                        by_planes(self._order, samples, values, plane_mask, group)
                    ),
                    placing.i[f"length{n}"].eq(length(self._order, samples, code, group)),
                ]
        timeline.enter(self._placed, payload=placing.o.value)

    def _choose(self, m, timeline, lanes):
        """The header before the payloads; then the fewest bytes."""
        now = timeline[self._placed]
        samples, with_alpha = now.samples, now.with_alpha
        codes = [now.codes[n] for n in range(self._order.leaves)]
        wide = header.length(self._order, samples, with_alpha)
        longest = header.longest(self._order)
        moved = Cat(Const(0, longest), now.payload) >> (longest - wide)[: len(wide)]
        data = Signal(self._order.room)
        bits = Signal(range(1 << 13))
        m.d.sync += [
            data.eq(
                moved | header.packed(self._order, samples, now.lane, with_alpha, now.turn, codes)
            ),
            bits.eq(now.total + wide),
        ]
        m.submodules.raw = raw = DelayLine(len(lanes), self._placed + 1, near=True)
        m.d.comb += raw.i.eq(lanes)
        after = timeline[self._placed + 1]
        step = self._order.step
        steps = (bits + step - 1) >> step.bit_length() - 1
        code = Signal(4)
        chosen = Signal(len(lanes))
        is_clear, is_palette, palette = after.is_clear, after.is_palette, after.palette
        with m.If(is_clear):
            m.d.comb += code.eq(TileMode.CLEARED)
        with m.Elif(is_palette):
            m.d.comb += [
                code.eq(TileMode.PALETTE),
                chosen.eq(palette),
            ]
        with m.Elif(steps <= self._order.steps):
            m.d.comb += [
                code.eq(DIFFERENCES + steps),
                chosen.eq(data),
            ]
        with m.Else():
            m.d.comb += [
                code.eq(TileMode.RAW),
                chosen.eq(raw.o),
            ]
        m.d.sync += self.o.code.eq(code)
        m.d.sync += [
            self.o[f"data{n}"].eq(chosen[32 * n : 32 * (n + 1)]) for n in range(self._order.words)
        ]
