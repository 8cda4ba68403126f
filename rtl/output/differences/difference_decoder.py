# SPDX-License-Identifier: BSD-2-Clause
"""From differences back to colours, and what cannot be differences."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import Selection, gated, leading_zeros, named
from fixfunc.rtl.lib.delay import DelayLine, held, register
from fixfunc.rtl.lib.tile_groups.bit_planes import from_planes
from fixfunc.rtl.lib.tile_groups.placing import TakingTree
from fixfunc.rtl.lib.tile_groups.unpacker import Unpacker
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.differences import header
from fixfunc.rtl.output.differences.colour_order import ALPHA, CHANNELS, ColourOrder, channel_of
from fixfunc.rtl.output.differences.sums import Sums
from fixfunc.rtl.output.differences.widths import length, planes_used
from fixfunc.spec.colours import LANES


class DifferenceDecoder(wiring.Component):
    """The inverse of :class:`~fixfunc.rtl.output.differences.difference_coder.DifferenceCoder`.

    A channel a clock, a tile in four.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    samples, data : In
        log2 of the samples of a pixel; the header's part of the data. The same in all four clocks
        of a tile.
    channel : In(2)
        0 to 3 in the clocks of a tile.
    later_steps, later_data : In
        Of the same tile, how many steps of the data there are; :attr:`then` clocks after ``data``,
        for four clocks.
    o : Out
        ``colours`` by lane, for a clock, :attr:`latency` clocks after the first of the tile.
        ``wrong``: spare bits or bits behind the payloads are set, or these go on beyond the steps;
        of such tiles colours are anything.
    """

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        self._taking = TakingTree(order.widths, order.channel)
        colours = ArrayLayout(order.colour, LANES)
        super().__init__(
            {
                "samples": In(2),
                "data": In(order.step),
                "channel": In(2),
                "later_steps": In(3),
                "later_data": In(order.room),
                "o": Out(StructLayout({"colours": colours, "wrong": 1})),
            }
        )

    # Clocks of a channel.

    @property
    def then(self) -> int:
        """Clocks until the length of a channel's payloads is known."""
        return 1 + self._taking.summed

    @property
    def _taken(self):
        """Clocks until payloads lie apart."""
        return 1 + self._taking.latency

    @property
    def latency(self) -> int:
        """Clocks: payloads, differences, sums, green and all channels of a tile."""
        return self._taken + 1 + Sums.LATENCY + 1 + ALPHA

    def elaborate(self, platform: object) -> Module:
        m = Module()
        order = self._order
        timeline = Timeline(m)
        data = self.data
        timeline.enter(
            0,
            samples=self.samples,
            channel=self.channel,
            first=channel_of(data[: order.colour], self.channel),
            with_alpha=data[order.colour],
            turn=data[order.colour + 1],
            spare=data[order.colour + 2 : order.header].any(),
        )
        codes = self._codes(m)
        self._take(m, timeline, codes)
        self._sum(m, timeline, self._numbers(m, timeline, codes))
        return m

    def _codes(self, m):
        """Codes of a channel; none of alpha, if it does not follow."""
        order = self._order
        selection = Selection(m, Cat(self.channel, self.samples), order.indexes, "selected")
        is_there = (self.channel != ALPHA) | self.data[order.colour]
        coded = Cat(header.codes_of(order, selection, self.data))
        return register(m, gated(coded, is_there), order.codes, "codes")

    def _take(self, m, timeline, codes):
        """Payloads of a channel, taken apart; behind those of all channels must be nothing."""
        order = self._order
        samples = timeline[1].samples
        m.submodules.taking = taking = self._taking
        for n in range(order.count):
            code = codes.word_select(n, order.code)
            m.d.comb += taking.i[f"length{n}"].eq(length(order, samples, code, n))
        now = timeline[self.then]
        m.submodules.unpacker = unpacker = Unpacker(order.steps, order.channel, order.step)
        is_first = now.channel == CHANNELS[0]
        begin = named(m, header.length(order, now.samples, now.with_alpha), "begin")
        m.d.comb += [
            unpacker.row.eq(self.later_data),
            unpacker.start.eq(is_first),
            unpacker.at.eq(begin),
            unpacker.length.eq(taking.total),
            taking.i.value.eq(unpacker.o),
        ]
        # The unpacker's position may be beyond what it can tell.
        end = Signal(order.length)
        m.d.sync += end.eq(Mux(is_first, begin, end) + taking.total)
        used = register(m, self._used(m), order.length, "used")
        steps = register(m, self.later_steps, 3, "steps")
        after = timeline[self.then + 1]
        beyond = end > steps << order.step.bit_length() - 1
        is_wrong = after.spare | beyond | (used > end)
        wrong = held(m, is_wrong, after.channel == ALPHA, "wrong")
        timeline.enter(self.then + 1 + len(CHANNELS), wrong=wrong)
        m.d.comb += self.o.wrong.eq(timeline[self.latency].wrong)

    def _used(self, m):
        """How many bits of the steps there are, up to the highest that is set."""
        order = self._order
        words = [self.later_data.word_select(n, order.step) for n in range(order.steps)]
        occupied = [word.any() & (self.later_steps > n) for n, word in enumerate(words)]
        highest = Signal(order.step)
        index = Signal(range(order.steps))
        m.d.comb += highest.eq(words[0])
        for n in range(1, order.steps):
            with m.If(occupied[n]):
                m.d.comb += [highest.eq(words[n]), index.eq(n)]
        return order.step * (index + 1) - leading_zeros(highest)

    def _numbers(self, m, timeline, codes):
        """Signed numbers of a channel by lane; of lane (0, 0) that of the header."""
        order = self._order
        m.submodules.codes = line = DelayLine(len(codes), self._taken - 1, near=True)
        m.d.comb += line.i.eq(codes)
        now = timeline[self._taken]
        samples, first = now.samples, now.first
        selection = Selection(m, samples, order.modes, "mode")
        used = {
            group: named(m, planes_used(line.o.word_select(group, order.code)), f"used_{group}")
            for group in range(order.count)
        }
        numbers = [register(m, first, order.bits, "number_0")]
        for n in range(1, LANES):
            places = {mode: order.places[order.place_of(mode, n)] for mode in order.modes}
            of_group = {mode: group for mode, (group, _) in places.items()}
            bits = {}
            for mode, (group, at) in places.items():
                payload = self._taking.o[f"value{group}"]
                size = order.sizes[group][mode]
                bits[group, at, size] = Cat(payload[k * size + at] for k in range(order.bits))
            keys = {mode: (*place, order.sizes[place[0]][mode]) for mode, place in places.items()}
            its = named(m, selection.of(keys, bits), f"bits_{n}")
            its_used = named(m, selection.of(of_group, used), f"used_of_{n}")
            number = from_planes(m, its, its_used, f"sign_{n}")
            numbers.append(register(m, number, order.bits, f"number_{n}"))
        return numbers

    def _sum(self, m, timeline, numbers):
        """Channels, collected to a tile of colours."""
        order = self._order
        before = timeline[self._taken]
        m.submodules.sums = sums = Sums(order)
        m.d.comb += [
            sums.samples.eq(before.samples),
            sums.turn.eq(before.turn),
            sums.residuals.eq(Cat(numbers)),
        ]
        now = timeline[self._taken + 1 + Sums.LATENCY]
        # Red and blue come less green, which came one or two clocks before.
        is_red = named(m, now.channel == 1, "is_red")
        is_blue = named(m, now.channel == 2, "is_blue")
        channels = [Signal(order.channel, name=f"channel_before_{n}") for n in CHANNELS]
        values = []
        for n in range(LANES):
            one, two = (channels[k].word_select(n, order.bits) for k in (0, 1))
            green = gated(one, is_red) | gated(two, is_blue)
            values.append((sums.o[n] + green)[: order.bits])
        m.d.sync += channels[0].eq(Cat(values))
        m.d.sync += [channels[n].eq(channels[n - 1]) for n in CHANNELS[1:]]
        alpha, blue, red, green = channels
        for n in range(LANES):
            lane = (part.word_select(n, order.bits) for part in (red, green, blue, alpha))
            m.d.comb += self.o.colours[n].eq(Cat(*lane))
