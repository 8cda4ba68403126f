# SPDX-License-Identifier: BSD-2-Clause
"""Widths of groups: codes, lengths of payloads, and payloads by bit plane."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, leading_zeros, named
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.compression.differences import BITS, PLACED
from fixfunc.rtl.output.compression.tile_order import (
    CHANNELS,
    COUNT,
    LEAVES,
    MODES,
    MOST,
    PLACES,
    SIZES,
    by_mode,
    squares,
)

WIDTHS = (0, 1, 2, 3, 4, 5, 6, 8)  # of differences, by their code
CODE = 3  # bits
CODE_MOST = len(WIDTHS) - 1
CODES = ArrayLayout(CODE, LEAVES)  # leaf: channel * COUNT + group
TOTAL = sum(CHANNELS * BITS * most for most in MOST).bit_length()


def leaf(channel: int, group: int) -> int:
    """Number of a payload."""
    return channel * COUNT + group


def places_of(group: int) -> list[int]:
    """Places of a group."""
    return [n for n, (its, _) in enumerate(PLACES) if its == group]


def length(samples, code, group):
    """Bits of a payload: lanes times width."""
    return by_mode(
        samples,
        [
            choose(code, [Const(width * SIZES[group][mode], 6) for width in WIDTHS])
            for mode in MODES
        ],
    )


def planes(samples, values, code, group):
    """A payload: bit 0 of each lane, then bit 1 of each, as many as the width."""
    used = [code > plane for plane in range(6)] + [code == 7] * 2

    def of(size):
        bits = [Cat(value[plane] & used[plane] for value in values[:size]) for plane in range(BITS)]
        return Cat(*bits) if size else Const(0, 1)

    payloads = {size: of(size) for size in set(SIZES[group])}
    return by_mode(samples, [payloads[size] for size in SIZES[group]])


class Widths(wiring.Component):
    """Codes of a tile's groups, and the sum of their lengths. One tile a clock.

    Members
    -------
    i : In
        ``samples``, ``with_alpha``, and ``places`` of differences.
    o : Out
        ``codes``, :data:`CODED` clocks later; ``total``, :data:`LATENCY` clocks later.
    """

    CODED = 2
    LATENCY = 5

    def __init__(self) -> None:
        members = {"samples": 2, "with_alpha": 1, "places": PLACED}
        super().__init__(
            {
                "i": In(StructLayout(members)),
                "o": Out(StructLayout({"codes": CODES, "total": TOTAL})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, samples=self.i.samples, with_alpha=self.i.with_alpha)
        own = [
            self._code(m, channel, group) for channel in range(CHANNELS) for group in range(COUNT)
        ]
        self._shared(m, timeline[1].samples, own)
        self._sum(m, timeline)
        return m

    def _code(self, m, channel, group):
        """The code that a group of a channel needs by itself."""
        low = BITS * channel
        values = [self.i.places[n][low : low + BITS] for n in places_of(group)]
        some = Cat(*values).any()
        # Where a number is less than 0 its inverse tells how many bits it needs.
        magnitude = Signal(BITS - 1, name=f"magnitude_{channel}_{group}")
        inverted = [value[:-1] ^ value[-1].replicate(BITS - 1) for value in values]
        m.d.comb += magnitude.eq(_ored(inverted))
        # One bit more than the magnitude has; 7 stands for 8.
        needed = named(m, BITS - leading_zeros(Cat(1, magnitude)), f"needed_{channel}_{group}")
        code = Signal(CODE, name=f"code_{channel}_{group}")
        m.d.sync += code.eq(Mux(some, Mux(needed > CODE_MOST, CODE_MOST, needed), 0))
        return code

    def _shared(self, m, samples, own):
        """Groups of other samples than the first have one code for all three colour channels."""
        for group in range(COUNT):
            three = [own[leaf(channel, group)] for channel in range(3)]
            most = three[0]
            for n, code in enumerate(three[1:]):
                most = named(m, Mux(code > most, code, most), f"most_{group}_{n}")
            is_square = by_mode(samples, [Const(group < squares(mode), 1) for mode in MODES])
            for channel in range(3):
                chosen = Mux(is_square, three[channel], most)
                m.d.sync += self.o.codes[leaf(channel, group)].eq(chosen)
            m.d.sync += self.o.codes[leaf(3, group)].eq(own[leaf(3, group)])

    def _sum(self, m, timeline):
        """The sum of all lengths, in two steps."""
        samples = timeline[self.CODED].samples
        with_alpha = timeline[self.CODED].with_alpha
        lengths = []
        for group in range(COUNT):
            each = [
                length(samples, self.o.codes[leaf(channel, group)], group)
                for channel in range(CHANNELS)
            ]
            lengths.append(self._register(m, sum(each[:3]) + Mux(with_alpha, each[3], 0)))
        halves = [
            self._register(m, sum(lengths[n : n + COUNT // 2])) for n in range(0, COUNT, COUNT // 2)
        ]
        m.d.sync += self.o.total.eq(halves[0] + halves[1])

    @staticmethod
    def _register(m, value):
        out = Signal(TOTAL, name="length")
        m.d.sync += out.eq(value)
        return out


def _ored(values):
    out = values[0]
    for value in values[1:]:
        out |= value
    return out
