# SPDX-License-Identifier: BSD-2-Clause
"""From what lies in memory to tiles of colours, and what cannot be one."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.tile_groups.bit_planes import from_planes
from fixfunc.rtl.lib.tile_groups.placing import TakingTree
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.compression import header
from fixfunc.rtl.output.compression.colour_coder import ROOM, TRANSFER
from fixfunc.rtl.output.compression.differences import BITS, CHANNELS, placed
from fixfunc.rtl.output.compression.palette import looked_up
from fixfunc.rtl.output.compression.sums import Sums
from fixfunc.rtl.output.compression.widths import codes_layout, length, planes_used
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import DECODED, LANES, STORED, TRANSFERS, WORDS
from fixfunc.spec.state import DIFFERENCES, TileMode


class ColourDecoder(wiring.Component):
    """The inverse of :class:`~fixfunc.rtl.output.compression.colour_coder.ColourCoder`.

    One tile a clock.

    Parameters
    ----------
    order : TileOrder

    Members
    -------
    i : In(layout(STORED))
    o : Out(layout(DECODED))
        :meth:`latency` clocks later. A tile is wrong if there is no such code, if spare or trailing
        bits are set, or if payloads go on beyond its transfers.
    """

    HEADER = 2  # clocks: what the code leaves of the data, codes of widths

    def __init__(self, order: TileOrder) -> None:
        self._order = order
        self._taking = TakingTree([BITS * most for most in order.most] * CHANNELS, ROOM)
        super().__init__({"i": In(layout(STORED)), "o": Out(layout(DECODED))})

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
        data = Cat(self.i[f"data{n}"] for n in range(WORDS))
        m.submodules.raw = raw = DelayLine(32 * WORDS, self.latency - 1, near=True)
        m.d.comb += raw.i.eq(data)
        self._header(m, timeline, data)
        self._payloads(m, timeline)
        self._differences(m, timeline)
        self._choose(m, timeline, raw.o)
        return m

    def _header(self, m, timeline, data):
        """What of the data counts, then codes of widths and what lies behind the header."""
        code = self.i.code
        transfers = Signal(3)
        m.d.comb += transfers.eq(code - DIFFERENCES)
        counted = Signal(ROOM)
        m.d.sync += counted.eq(
            Cat(
                data[TRANSFER * n : TRANSFER * (n + 1)] & (transfers > n).replicate(TRANSFER)
                for n in range(TRANSFERS)
            )
        )
        timeline.enter(1, transfers=_register(m, transfers, "transfers"), counted=counted)
        samples = timeline[1].samples
        with_alpha = counted[32]
        wide = header.length(self._order, samples, with_alpha)
        codes = Signal(codes_layout(self._order))
        payload = Signal(ROOM - header.FIXED)
        m.d.sync += [
            codes.eq(Cat(header.codes_of(self._order, samples, counted, with_alpha))),
            payload.eq(counted >> wide),
        ]
        timeline.enter(
            2,
            codes=codes,
            payload=payload,
            wide=_register(m, wide, "wide"),
            lane=_register(m, counted[:32], "lane"),
            turn=_register(m, counted[33], "turn"),
            spare=_register(m, counted[34:36].any(), "spare"),
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
        beyond = total > after.transfers << 8
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
                low = BITS * channel
                m.d.sync += places[n][low : low + BITS].eq(value)
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
        lanes = [Signal(32, name=f"lane_{n}") for n in range(LANES)]
        found = looked_up(raw)
        wrong = Signal()
        is_differences = (code > DIFFERENCES) & (code <= DIFFERENCES + TRANSFERS)
        for n, lane in enumerate(lanes):
            with m.If(is_differences & ~bad):
                m.d.comb += lane.eq(summed[32 * n : 32 * (n + 1)])
            with m.Elif(code == TileMode.CLEARED):
                m.d.comb += lane.eq(cleared)
            with m.Elif(code == TileMode.PALETTE):
                m.d.comb += lane.eq(found[n])
            with m.Elif(code == TileMode.RAW):
                m.d.comb += lane.eq(raw[32 * n : 32 * (n + 1)])
        known = (TileMode.CLEARED, TileMode.PALETTE, TileMode.RAW)
        others = Cat(code == each for each in known).any()
        m.d.comb += wrong.eq(Mux(is_differences, bad, ~others))
        m.d.sync += self.o.wrong.eq(wrong)
        m.d.sync += [self.o[f"colour{n}"].eq(lane) for n, lane in enumerate(lanes)]


def _register(m, value, name):
    out = Signal(len(value), name=name)
    m.d.sync += out.eq(value)
    return out
