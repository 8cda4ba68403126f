# SPDX-License-Identifier: BSD-2-Clause
"""Widths of groups: their codes, and lengths of payloads."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.tile_groups.tile_order import squares
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.compression.colour_order import CHANNELS, ColourOrder
from fixfunc.rtl.output.compression.differences import placed


def codes_layout(order: ColourOrder) -> ArrayLayout:
    """Codes of all payloads."""
    return ArrayLayout(order.code, order.leaves)


def total_bits(order: ColourOrder) -> int:
    """Bits of the sum of all lengths."""
    return (order.colour * sum(order.most)).bit_length()


def length(order: ColourOrder, samples: Value, code: Value, group: int) -> Value:
    """Bits of a payload: lanes times width."""
    width = Mux(code.all(), order.bits, code)
    wide = (order.bits * max(order.most)).bit_length()
    known = {size: (width * size)[:wide] for size in set(order.sizes[group])}
    return order.by_mode(samples, [known[size] for size in order.sizes[group]])


def planes_used(code: Value) -> Value:
    """Which planes a payload has, by its code."""
    all_of_them = (1 << len(code)) - 1
    return Cat(*[code > plane for plane in range(all_of_them - 1)], *[code.all()] * 2)


class Widths(wiring.Component):
    """Codes of a tile's groups, and the sum of their lengths. One tile a clock.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    i : In
        ``samples``, ``with_alpha``, and ``places`` of differences.
    o : Out
        ``codes`` by payload, :data:`CODED` clocks later; ``total``, :data:`LATENCY` clocks later.
    """

    CODED = 2
    LATENCY = 5

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        members = {"samples": 2, "with_alpha": 1, "places": placed(order)}
        super().__init__(
            {
                "i": In(StructLayout(members)),
                "o": Out(StructLayout({"codes": codes_layout(order), "total": total_bits(order)})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, samples=self.i.samples, with_alpha=self.i.with_alpha)
        count = self._order.count
        own = [
            self._code(m, channel, group) for channel in range(CHANNELS) for group in range(count)
        ]
        self._shared(m, timeline[1].samples, own)
        self._sum(m, timeline)
        return m

    def _code(self, m, channel, group):
        """The code that a group of a channel needs by itself."""
        bits = self._order.bits
        low = bits * channel
        values = [self.i.places[n][low : low + bits] for n in self._order.of_group(group)]
        nonzero = Cat(*values).any()
        # Where a number is less than 0 its inverse tells how many bits it needs.
        magnitude = Signal(bits - 1, name=f"magnitude_{channel}_{group}")
        inverted = [value[:-1] ^ value[-1].replicate(bits - 1) for value in values]
        m.d.comb += magnitude.eq(_ored(inverted))
        # One bit more than the magnitude has; the last code stands for all bits.
        width_code = Mux(nonzero, 1, 0)
        for bit in range(bits - 1):
            last = (1 << self._order.code) - 1
            width_code = Mux(magnitude[bit], min(bit + 2, last), width_code)
        code = Signal(self._order.code, name=f"code_{channel}_{group}")
        m.d.sync += code.eq(width_code)
        return code

    def _shared(self, m, samples, own):
        """Groups of other samples than the first have one code for all three colour channels."""
        for group in range(self._order.count):
            three = [own[self._order.leaf(channel, group)] for channel in range(3)]
            most = three[0]
            for n, code in enumerate(three[1:]):
                most = named(m, Mux(code > most, code, most), f"most_{group}_{n}")
            is_square = self._order.by_mode(
                samples, [Const(group < squares(mode), 1) for mode in self._order.modes]
            )
            for channel in range(3):
                chosen = Mux(is_square, three[channel], most)
                m.d.sync += self.o.codes[self._order.leaf(channel, group)].eq(chosen)
            m.d.sync += self.o.codes[self._order.leaf(3, group)].eq(own[self._order.leaf(3, group)])

    def _sum(self, m, timeline):
        """The sum of all lengths, in two steps."""
        samples = timeline[self.CODED].samples
        with_alpha = timeline[self.CODED].with_alpha
        lengths = []
        for group in range(self._order.count):
            each = [
                length(self._order, samples, self.o.codes[self._order.leaf(channel, group)], group)
                for channel in range(CHANNELS)
            ]
            lengths.append(self._register(m, sum(each[:3]) + Mux(with_alpha, each[3], 0)))
        half = -(-self._order.count // 2)
        halves = [self._register(m, sum(part)) for part in (lengths[:half], lengths[half:])]
        m.d.sync += self.o.total.eq(halves[0] + halves[1])

    def _register(self, m, value):
        out = Signal(total_bits(self._order), name="length")
        m.d.sync += out.eq(value)
        return out


def _ored(values):
    out = values[0]
    for value in values[1:]:
        out |= value
    return out
