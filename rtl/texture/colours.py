# SPDX-License-Identifier: BSD-2-Clause
"""BC1 to BC3: two colours of 5, 6 and 5 bits, and two between them."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose
from fixfunc.rtl.lib.timeline import Timeline

# A third of a sum up to 766, rounded down, is its product with the factor, shifted.
THIRD_FACTOR = 683
THIRD_SHIFT = 11


class Colours(wiring.Component):
    """Decode colours; free-running.

    Parameters
    ----------
    lanes : int
        Texels a clock.

    Members
    -------
    i : In(64)
        A block of BC1, or the upper half of one of BC2 or BC3.
    row : In(range(max(16 // lanes, 2)))
        Which ``lanes`` of its texels to decode.
    punch_through : In(1)
        The block is of BC1: if the first colour is not the greater, there are three colours and
        transparent black.
    o : Out(ArrayLayout(ArrayLayout(8, 4), lanes))
        Red, green, blue, and alpha of 0 or 255, :attr:`LATENCY` clocks later.
    """

    LATENCY = 5

    def __init__(self, lanes):
        self._lanes = lanes
        super().__init__(
            {
                "i": In(64),
                "row": In(range(max(16 // lanes, 2))),
                "punch_through": In(1),
                "o": Out(ArrayLayout(ArrayLayout(8, 4), lanes)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, index=self.i[32:], row=self.row)
        three_colours = Signal()
        m.d.sync += three_colours.eq(self.punch_through & (self.i[:16] <= self.i[16:32]))
        t.enter(1, three_colours=three_colours)

        # Clock 4: the palette.
        palette = Signal(ArrayLayout(ArrayLayout(8, 4), 4))
        for channel in range(3):
            values = self._palette_channel(m, t, channel)
            m.d.sync += [palette[n][channel].eq(value) for n, value in enumerate(values)]
        m.d.sync += [
            *(palette[n][3].eq(255) for n in range(3)),
            palette[3][3].eq(Mux(t[3].three_colours, 0, 255)),
        ]

        entries = [palette[n].as_value() for n in range(4)]
        for n in range(self._lanes):
            by_row = [t[4].index[2 * texel : 2 * texel + 2] for texel in range(n, 16, self._lanes)]
            m.d.sync += self.o[n].as_value().eq(choose(choose(t[4].row, by_row), entries))
        return m

    def _palette_channel(self, m, t, channel):
        """A channel of the four colours, in clock 3."""
        names = first, second = f"first_{channel}", f"second_{channel}"
        for n, name in enumerate(names):
            t.enter(0, **{name: self._expanded(self.i[16 * n : 16 * n + 16], channel)})
        a = t.value(first, 1)
        b = t.value(second, 1)
        double = Signal(9, name=f"double_{channel}")
        triples = [Signal(10, name=f"triple_{channel}_{n}") for n in range(2)]
        products = [Signal(8 + THIRD_SHIFT, name=f"product_{channel}_{n}") for n in range(2)]
        m.d.sync += [
            double.eq(a + b + 1),
            triples[0].eq((a << 1) + b + 1),
            triples[1].eq(a + (b << 1) + 1),
            products[0].eq(triples[0] * THIRD_FACTOR),
            products[1].eq(triples[1] * THIRD_FACTOR),
        ]
        t.enter(2, **{f"middle_{channel}": double[1:]})
        three_colours = t[3].three_colours
        return (
            t.value(first, 3),
            t.value(second, 3),
            Mux(three_colours, t.value(f"middle_{channel}", 3), products[0][THIRD_SHIFT:]),
            Mux(three_colours, 0, products[1][THIRD_SHIFT:]),
        )

    @staticmethod
    def _expanded(colour, channel):
        """A channel of 5 or 6 bits, expanded to 8."""
        low, bits = ((11, 5), (5, 6), (0, 5))[channel]
        return Cat(colour[low + 2 * bits - 8 : low + bits], colour[low : low + bits])
