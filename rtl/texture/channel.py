# SPDX-License-Identifier: BSD-2-Clause
"""BC3 to BC5: a channel with two end points of 8 bits, and six or four values between them."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.bits import choose
from fixfunc.rtl.lib.timeline import Timeline

# Fraction bits of a scale. With so many, every value is rounded as the exact one would be.
SHIFT = 18
# Bits of a scale and of what it multiplies, signs included.
SCALE_BITS = 25
SUM_BITS = 12
RANGES = ((255, 255), (65535, 255), (32767, 127))  # by kind: greatest value, greatest end point
UNORM8, UNORM16, SNORM16 = range(3)


def scale(kind, parts):
    """The factor of a weighted sum of end points whose weights add up to ``parts``."""
    greatest, unit = RANGES[kind]
    return (greatest << SHIFT) // (parts * unit)


class Channel(wiring.Component):
    """Decode one channel; free-running.

    Parameters
    ----------
    lanes : int
        Texels a clock.
    wide : bool
        There are channels of 16 bits.

    Members
    -------
    i : In(64)
        Eight bytes of a block.
    row : In(range(max(16 // lanes, 2)))
        Which ``lanes`` of its texels to decode.
    kind : In(2)
        UNORM8, UNORM16 or SNORM16.
    o : Out(ArrayLayout(16, lanes))
        Values of the texels, :attr:`latency` clocks later.
    """

    def __init__(self, lanes, wide=True):
        self._lanes = lanes
        self._wide = wide
        self._multipliers = [Multiplier(SUM_BITS, SCALE_BITS if wide else 18) for _ in range(8)]
        super().__init__(
            {
                "i": In(64),
                "row": In(range(max(16 // lanes, 2))),
                "kind": In(2),
                "o": Out(ArrayLayout(16, lanes)),
            }
        )

    @property
    def _product(self):
        """Clock of the products: end points, multiples, parts, sums, multipliers."""
        return 4 + self._multipliers[0].latency

    @property
    def latency(self):
        """Clocks from a block to its texels: products, rounding, palette, texels."""
        return self._product + 3

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, index=self.i[16:], row=self.row, kind=self.kind)

        # Clock 1: end points. -128 counts as -127. If the first is greater, eight values are
        # interpolated, else six, and two are the ends of the range.
        sign = self.kind == SNORM16 if self._wide else 0
        raw = [Cat(self.i[at : at + 8], self.i[at + 7] & sign).as_signed() for at in (0, 8)]
        eight_values = Signal()
        endpoints = [Signal(signed(9), name=f"end_{n}") for n in range(2)]
        m.d.sync += eight_values.eq(raw[0] > raw[1])
        m.d.sync += [
            end.eq(Mux(value == -128, -127, value))
            for end, value in zip(endpoints, raw, strict=True)
        ]
        t.enter(1, eight_values=eight_values)

        # Clock 4: weighted sums of the end points, and their scale.
        sums = self._sums(m, endpoints, t[2].eight_values)
        kinds = range(3 if self._wide else 1)
        sum_scale = Signal(signed(SCALE_BITS))
        scales = [Mux(t[3].eight_values, scale(k, 7), scale(k, 5)) for k in kinds]
        m.d.sync += sum_scale.eq(choose(t[3].kind, scales))

        # The palette: rounded products.
        rounding = t[self._product + 1]
        palette = [Signal(16, name=f"entry_{n}") for n in range(8)]
        for n, (entry, multiplier) in enumerate(zip(palette, self._multipliers, strict=True)):
            m.submodules[f"multiplier_{n}"] = multiplier
            m.d.comb += [
                multiplier.a.eq(sums[n]),
                multiplier.b.eq(sum_scale),
            ]
            rounded = Signal(16, name=f"rounded_{n}")
            m.d.sync += rounded.eq(multiplier.o + (1 << SHIFT - 1) >> SHIFT)
            if n < 6:
                m.d.sync += entry.eq(rounded)
            else:
                limits = [(-RANGES[k][0] if k == SNORM16 else 0, RANGES[k][0]) for k in kinds]
                limit = choose(rounding.kind, [pair[n - 6] & 0xFFFF for pair in limits])
                m.d.sync += entry.eq(Mux(rounding.eight_values, rounded, limit))

        last = t[self.latency - 1]
        for n in range(self._lanes):
            by_row = [last.index[3 * texel : 3 * texel + 3] for texel in range(n, 16, self._lanes)]
            m.d.sync += self.o[n].eq(choose(choose(last.row, by_row), palette))
        return m

    @staticmethod
    def _sums(m, endpoints, eight_values):
        """Weighted sums of the end points, in the order of a palette.

        They are three clocks behind the end points; ``eight_values`` is one clock behind them.
        """
        multiples = []
        for n, end in enumerate(endpoints):
            odd = {k: Signal(signed(SUM_BITS), name=f"end_{n}_times_{k}") for k in (1, 3, 5, 7)}
            m.d.sync += [
                odd[1].eq(end),
                odd[3].eq((end << 1) + end),
                odd[5].eq((end << 2) + end),
                odd[7].eq((end << 3) - end),
            ]
            multiples.append({0: 0, **odd, 2: odd[1] << 1, 4: odd[1] << 2, 6: odd[3] << 1})
        sums = []
        for n, (sevenths, fifths) in enumerate(
            ((7, 5), (0, 0), (6, 4), (5, 3), (4, 2), (3, 1), (2, 0), (1, 0))
        ):
            first = Signal(signed(SUM_BITS), name=f"part_{n}_0")
            second = Signal(signed(SUM_BITS), name=f"part_{n}_1")
            total = Signal(signed(SUM_BITS), name=f"sum_{n}")
            m.d.sync += [
                first.eq(Mux(eight_values, multiples[0][sevenths], multiples[0][fifths])),
                second.eq(Mux(eight_values, multiples[1][7 - sevenths], multiples[1][5 - fifths])),
                total.eq(first + second),
            ]
            sums.append(total)
        return sums
