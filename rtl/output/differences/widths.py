# SPDX-License-Identifier: BSD-2-Clause
"""Widths of groups: their codes, and lengths of payloads."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import Selection, gated, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.tile_order import squares
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.differences.colour_order import ALPHA, CHANNELS, ColourOrder
from fixfunc.spec.colours import LANES

SUMS = 4  # lengths of a channel's payloads are added in as many sums first


def length(order: ColourOrder, samples: Value, code: Value, group: int) -> Value:
    """Bits of a payload: lanes times width."""
    width = Mux(code.all(), order.bits, code)
    wide = order.widths[group].bit_length()
    known = {size: (width * size)[:wide] for size in set(order.sizes[group])}
    return order.by_mode(samples, [known[size] for size in order.sizes[group]])


def planes_used(code: Value) -> Value:
    """Which planes a payload has, by its code."""
    all_of_them = (1 << len(code)) - 1
    return Cat(*[code > plane for plane in range(all_of_them - 1)], *[code.all()] * 2)


def is_square(order: ColourOrder, samples: Value, group: int) -> Value:
    """Whether a group is of sample 0: others have one code for all three colour channels."""
    return order.by_mode(samples, [Const(group < squares(mode), 1) for mode in order.modes])


class Widths(wiring.Component):
    """Codes of a tile's groups, and the sum of their lengths, from a channel a clock.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    samples, channel, residuals : In
        Of a channel, by lane; channels of a tile come one behind the other.
    o : Out
        ``codes`` of a channel, by group, :data:`CODED` clocks later; ``total`` of all lengths,
        :data:`LATENCY` clocks after the first channel, for a clock.
    """

    COLLECTED = 2 + ALPHA  # all channels of a tile have codes
    CODED = COLLECTED + 1
    LATENCY = CODED + 1 + len(CHANNELS)

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        codes = ArrayLayout(order.code, order.count)
        super().__init__(
            {
                "samples": In(2),
                "channel": In(2),
                "residuals": In(ArrayLayout(order.bits, LANES)),
                "o": Out(StructLayout({"codes": codes, "total": order.length})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, samples=self.samples, channel=self.channel)
        codes = self._coded(m, timeline, self._used(m))
        self._collect(m, timeline, codes)
        self._sum(m, timeline)
        return m

    def _used(self, m):
        """What any number of a group needs: some bit, then each of its bits but the sign."""
        order = self._order
        needs = []
        for n in range(LANES):
            value = self.residuals[n]
            # Where a number is less than 0 its inverse tells how many bits it needs.
            inverted = value[:-1] ^ value[-1].replicate(order.bits - 1)
            needs.append(named(m, Cat(value.any(), inverted), f"needs_{n}"))
        selection = Selection(m, self.samples, order.modes, "mode")
        used = []
        for group in range(order.count):
            modes = {}
            for mode, groups in zip(order.modes, order.groups, strict=True):
                for lane in groups[group] if group < len(groups) else ():
                    modes.setdefault(lane, set()).add(mode)
            needed = Const(0, order.bits)
            for lane, those in modes.items():
                needed = needed | gated(needs[lane], selection.flag(those))
            used.append(register(m, needed, order.bits, f"used_{group}"))
        return used

    def _coded(self, m, timeline, used):
        """The code of each group; of groups that share one up to this colour channel."""
        order = self._order
        now = timeline[1]
        goes_on = named(m, now.channel[0] ^ now.channel[1], "goes_on")
        codes = []
        for group, own in enumerate(used):
            earlier = Signal(order.bits, name=f"earlier_{group}")
            shares = goes_on & ~is_square(order, now.samples, group)
            needed = named(m, own | gated(earlier, shares), f"needed_{group}")
            m.d.sync += earlier.eq(needed)
            codes.append(register(m, self._code(needed), order.code, f"code_{group}"))
        return codes

    def _code(self, needed):
        """One bit more than the highest that is needed; the last code stands for all bits."""
        code = Mux(needed[0], 1, 0)
        last = (1 << self._order.code) - 1
        for bit in range(1, self._order.bits):
            code = Mux(needed[bit], min(bit + 1, last), code)
        return code

    def _collect(self, m, timeline, codes):
        """Codes of all channels, which then come one by one."""
        order = self._order
        now = timeline[self.COLLECTED - ALPHA]  # of the last channel
        samples = now.samples
        is_last = named(m, now.channel == ALPHA, "is_last")
        channels = [Cat(codes)]
        for n in range(ALPHA):
            channels.insert(0, register(m, channels[0], order.codes, f"codes_before_{n + 1}"))
        blue = channels[ALPHA - 1]
        loaded = list(channels)
        for channel in range(ALPHA - 1):
            loaded[channel] = Cat(
                Mux(
                    is_square(order, samples, group),
                    channels[channel].word_select(group, order.code),
                    blue.word_select(group, order.code),
                )
                for group in range(order.count)
            )
        following = Const(0, order.codes)
        for channel in reversed(CHANNELS):
            out = Signal(order.codes, name=f"codes_{channel}")
            m.d.sync += out.eq(Mux(is_last, loaded[channel], following))
            following = out
        m.d.comb += self.o.codes.eq(following)

    def _sum(self, m, timeline):
        """The sum of all lengths."""
        order = self._order
        now = timeline[self.CODED]
        samples = now.samples
        lengths = [length(order, samples, self.o.codes[n], n) for n in range(order.count)]
        sums = [register(m, sum(lengths[n::SUMS]), order.length, f"sum_{n}") for n in range(SUMS)]
        after = timeline[self.CODED + 1]
        total = Signal(order.length)
        before = Mux(after.channel == CHANNELS[0], 0, total)
        m.d.sync += total.eq(before + sum(sums))
        m.d.comb += self.o.total.eq(total)
