# SPDX-License-Identifier: BSD-2-Clause
"""BC1 to BC3: colours of 5, 6 and 5 bits, and those between."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.bits import choose
from fixfunc.rtl.pipeline import delay

THIRD = 683, 11  # a factor and a shift: of sums up to 766, the floor of a third


class Colours(wiring.Component):
    """Decode colours; free-running.

    Parameters
    ----------
    lanes : int
        Texels a clock.

    Members
    -------
    i, row : In
        A BC1 block, or the upper half of one of BC2 or BC3; which ``lanes`` of its texels.
    punches : In(1)
        The order of the two colours tells whether there are three and transparent black: BC1.
    o : Out(ArrayLayout(ArrayLayout(8, 4), lanes))
        :attr:`LATENCY` clocks later: red, green, blue, and alpha of 0 or 255.
    """

    LATENCY = 5

    def __init__(self, lanes):
        self._lanes = lanes
        super().__init__({
            "i": In(64), "row": In(range(max(16 // lanes, 2))), "punches": In(1), "o": Out(ArrayLayout(ArrayLayout(8, 4), lanes)),
        })

    def elaborate(self, platform):
        m = Module()
        cuts = Signal()
        m.d.sync += cuts.eq(self.punches & (self.i[:16] <= self.i[16:32]))
        index, row = delay(m, self.i[32:], 4, "index"), delay(m, self.row, 4, "row")
        late = delay(m, cuts, 2, "cuts")
        palette = Signal(ArrayLayout(ArrayLayout(8, 4), 4))
        for c in range(3):
            for entry, value in enumerate(self._between(m, *(self._wide(self.i[at:at + 16], c) for at in (0, 16)), late, c)):
                m.d.sync += palette[entry][c].eq(value)
        m.d.sync += [*(palette[entry][3].eq(255) for entry in range(3)), palette[3][3].eq(Mux(late, 0, 255))]
        for n in range(self._lanes):
            of_rows = [index[2 * texel:2 * texel + 2] for texel in range(n, 16, self._lanes)]
            m.d.sync += self.o[n].as_value().eq(choose(choose(row, of_rows), [palette[entry].as_value() for entry in range(4)]))
        return m

    @staticmethod
    def _wide(colour, channel):
        """A channel of 5 or 6 bits, of 8."""
        low, bits = ((11, 5), (5, 6), (0, 5))[channel]
        return Cat(colour[low + 2 * bits - 8:low + bits], colour[low:low + bits])

    @staticmethod
    def _between(m, first, second, cuts, channel):
        """The four values of a channel: three clocks later, with ``cuts``."""
        first, second = (delay(m, value, 1, f"{name}_{channel}") for name, value in (("first", first), ("second", second)))
        half, thirds = Signal(9, name=f"half_{channel}"), [Signal(10, name=f"third_{channel}_{n}") for n in range(2)]
        m.d.sync += [half.eq(first + second + 1), thirds[0].eq((first << 1) + second + 1), thirds[1].eq(first + (second << 1) + 1)]
        near = []
        for n, value in enumerate(thirds):
            product = Signal(10 + THIRD[1], name=f"product_{channel}_{n}")
            m.d.sync += product.eq(value * THIRD[0])
            near.append(product[THIRD[1]:])
        ends = [delay(m, value, 2, f"{name}_{channel}_later") for name, value in (("first", first), ("second", second))]
        middle = delay(m, half[1:], 1, f"middle_{channel}")
        return *ends, Mux(cuts, middle, near[0]), Mux(cuts, 0, near[1])
