# SPDX-License-Identifier: BSD-2-Clause
"""From what lies in memory to tiles of colours, and what cannot be one."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.tile_groups.bit_planes import from_planes
from fixfunc.rtl.lib.tile_groups.placing import TakingTree
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.compression import header
from fixfunc.rtl.output.compression.colour_order import CHANNELS, ColourOrder
from fixfunc.rtl.output.compression.differences import placed
from fixfunc.rtl.output.compression.palette import looked_up, palette_bits
from fixfunc.rtl.output.compression.sums import Sums
from fixfunc.rtl.output.compression.widths import codes_layout, length, planes_used
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import LANES, decoded, stored
from fixfunc.spec.state import DIFFERENCES, TileMode


class ColourDecoder(wiring.Component):
    """The inverse of :class:`~fixfunc.rtl.output.compression.colour_coder.ColourCoder`.

    One tile a clock.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    i : In(layout(stored(order.colour)))
    o : Out(layout(decoded(order.colour)))
        :meth:`latency` clocks later. A tile is wrong if there is no such code, if spare or trailing
        bits are set, or if payloads go on beyond its bytes.
    """

    HEADER = 2  # clocks: what the code leaves of the data, codes of widths

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        self._taking = TakingTree([order.bits * most for most in order.most] * CHANNELS, order.room)
        super().__init__(
            {"i": In(layout(stored(order.colour))), "o": Out(layout(decoded(order.colour)))}
        )

    @property
    def _taken(self):
        """Clocks until payloads lie apart."""
        return self.HEADER + self._taking.latency

    @property
    def latency(self) -> int:
        """Clocks: payloads, differences, sums, choice."""
        return self._taken + 1 + Sums.LATENCY + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(
            0,
            samples=self.i.samples,
            code=self.i.code,
            cleared=self.i.cleared,
        )
        data = Cat(self.i[f"data{n}"] for n in range(self._order.words))
        spare = data[palette_bits(self._order.colour) : self._order.step]
        if len(spare):
            timeline.enter(1, palette_spare=_register(m, spare.any(), "palette_spare"))
        m.submodules.raw = raw = DelayLine(len(data), self.latency - 1, near=True)
        m.d.comb += raw.i.eq(data)
        self._header(m, timeline, data)
        self._payloads(m, timeline)
        self._differences(m, timeline)
        self._choose(m, timeline, raw.o)
        return m

    def _header(self, m, timeline, data):
        """What of the data counts, then codes of widths and what lies behind the header."""
        code = self.i.code
        order = self._order
        steps = Signal(3)
        m.d.comb += steps.eq(code - DIFFERENCES)
        counted = Signal(order.room)
        m.d.sync += counted.eq(
            Cat(
                data[order.step * n : order.step * (n + 1)] & (steps > n).replicate(order.step)
                for n in range(order.steps)
            )
        )
        timeline.enter(1, steps=_register(m, steps, "steps"), counted=counted)
        samples = timeline[1].samples
        flags = order.colour  # behind lane (0, 0)
        with_alpha = counted[flags]
        wide = header.length(self._order, samples, with_alpha)
        codes = Signal(codes_layout(self._order))
        payload = Signal(order.room - order.header)
        m.d.sync += [
            codes.eq(Cat(header.codes_of(self._order, samples, counted, with_alpha))),
            payload.eq(counted >> wide),
        ]
        timeline.enter(
            2,
            codes=codes,
            payload=payload,
            wide=_register(m, wide, "wide"),
            lane=_register(m, counted[:flags], "lane"),
            turn=_register(m, counted[flags + 1], "turn"),
            spare=_register(m, counted[flags + 2 : order.header].any(), "spare"),
        )

    def _payloads(self, m, timeline):
        """Payloads are taken apart; what lies behind them must be nothing."""
        now = timeline[self.HEADER]
        m.submodules.taking = taking = self._taking
        m.d.comb += taking.i.value.eq(now.payload)
        for n in range(self._order.leaves):
            size = length(self._order, now.samples, now.codes[n], n % self._order.count)
            m.d.comb += taking.i[f"length{n}"].eq(size)
        summed = self.HEADER + taking.summed
        after = timeline[summed]
        total = Signal(range(1 << 13))
        m.d.comb += total.eq(taking.total + after.wide)
        beyond = total > after.steps << self._order.step.bit_length() - 1
        trailing = (after.payload >> taking.total).any()
        bad = _register(m, after.spare | beyond | trailing, "bad")
        timeline.enter(summed + 1, bad=bad)

    def _differences(self, m, timeline):
        """Signed values from bit planes, and their sums."""
        now = timeline[self._taken]
        samples = now.samples
        places = Signal(placed(self._order))
        used = [named(m, planes_used(now.codes[n]), f"used_{n}") for n in range(self._order.leaves)]
        for channel in range(CHANNELS):
            for n, place in enumerate(self._order.places):
                number = self._order.leaf(channel, place[0])
                payload = self._taking.o[f"value{number}"]
                value = from_planes(m, self._order, samples, payload, used[number], place)
                low = self._order.bits * channel
                m.d.sync += places[n][low : low + self._order.bits].eq(value)
        m.submodules.sums = sums = Sums(self._order)
        after = timeline[self._taken + 1]
        m.d.comb += [
            sums.i.samples.eq(after.samples),
            sums.i.turn.eq(after.turn),
            sums.i.lane.eq(after.lane),
            sums.i.places.eq(places),
        ]
        timeline.enter(self.latency - 1, summed=Cat(*sums.o))

    def _choose(self, m, timeline, raw):
        """The tile by its code."""
        now = timeline[self.latency - 1]
        code, cleared, bad, summed = now.code, now.cleared, now.bad, now.summed
        is_palette = code == TileMode.PALETTE
        if palette_bits(self._order.colour) < self._order.step:
            is_palette &= ~now.palette_spare
        is_palette = named(m, is_palette, "is_palette")
        wide = self._order.colour
        lanes = [Signal(wide, name=f"lane_{n}") for n in range(LANES)]
        found = looked_up(raw, wide)
        wrong = Signal()
        is_differences = code > DIFFERENCES
        last = DIFFERENCES + self._order.steps
        if last < max(TileMode):
            is_differences &= code <= last
        is_differences = named(m, is_differences, "is_differences")
        for n, lane in enumerate(lanes):
            with m.If(is_differences & ~bad):
                m.d.comb += lane.eq(summed[wide * n : wide * (n + 1)])
            with m.Elif(code == TileMode.CLEARED):
                m.d.comb += lane.eq(cleared)
            with m.Elif(is_palette):
                m.d.comb += lane.eq(found[n])
            with m.Elif(code == TileMode.RAW):
                m.d.comb += lane.eq(raw[wide * n : wide * (n + 1)])
        others = (code == TileMode.CLEARED) | (code == TileMode.RAW) | is_palette
        m.d.comb += wrong.eq(Mux(is_differences, bad, ~others))
        m.d.sync += self.o.wrong.eq(wrong)
        m.d.sync += [self.o[f"colour{n}"].eq(lane) for n, lane in enumerate(lanes)]


def _register(m, value, name):
    out = Signal(len(value), name=name)
    m.d.sync += out.eq(value)
    return out
