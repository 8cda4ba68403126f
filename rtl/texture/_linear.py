# SPDX-License-Identifier: BSD-2-Clause
"""sRGB to linear."""

from decimal import ROUND_HALF_UP, Decimal

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.pipeline import NEVER_COLLIDES, delay


def linear(value):
    """Of 255 -> of 65535, to the nearest."""
    share = Decimal(value) / 255
    if share <= Decimal("0.04045"):
        share /= Decimal("12.92")
    else:
        share = ((share + Decimal("0.055")) / Decimal("1.055")) ** Decimal("2.4")
    return int((65535 * share).to_integral_value(ROUND_HALF_UP))


class Linear(wiring.Component):
    """Texels of UNORM8, their colours sRGB -> of UNORM16, linear; free-running.

    Parameters
    ----------
    lanes : int
        Texels a clock.

    Members
    -------
    i, applies : In
        Red, green, blue, alpha; whether anything is to be done.
    o : Out
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 3

    def __init__(self, lanes):
        self._lanes = lanes
        texels = ArrayLayout(ArrayLayout(16, 4), lanes)
        super().__init__({"i": In(texels), "applies": In(1), "o": Out(texels)})

    def elaborate(self, platform):
        m = Module()
        applies = delay(m, self.applies, 2, "applies")
        colours = [(n, c) for n in range(self._lanes) for c in range(3)]
        for k in range(0, len(colours), 2):  # block RAM has two ports
            m.submodules[f"table_{k // 2}"] = table = Memory(shape=16, depth=256, init=[linear(n) for n in range(256)], attrs=NEVER_COLLIDES)
            for n, c in colours[k:k + 2]:
                read, found = table.read_port(), Signal(16, name=f"found_{n}_{c}")
                m.d.comb += read.addr.eq(self.i[n][c][:8])
                m.d.sync += found.eq(read.data)
                m.d.sync += self.o[n][c].eq(Mux(applies, found, delay(m, self.i[n][c], 2, f"as_is_{n}_{c}")))
        for n in range(self._lanes):
            alpha = delay(m, self.i[n][3], 2, f"alpha_{n}")
            m.d.sync += self.o[n][3].eq(Mux(applies, Cat(alpha[:8], alpha[:8]), alpha))
        return m
