# SPDX-License-Identifier: BSD-2-Clause
"""sRGB to linear colours."""

from decimal import ROUND_HALF_UP, Decimal

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import NO_COLLISION
from fixfunc.rtl.lib.timeline import Timeline


def linear(value: int) -> int:
    """The linear value, out of 65535, of an sRGB value out of 255; rounded to nearest."""
    share = Decimal(value) / 255
    if share <= Decimal("0.04045"):
        share /= Decimal("12.92")
    else:
        share = ((share + Decimal("0.055")) / Decimal("1.055")) ** Decimal("2.4")
    return int((65535 * share).to_integral_value(ROUND_HALF_UP))


LINEAR = [linear(n) for n in range(256)]  # of every byte


class Linear(wiring.Component):
    """Convert sRGB texels of UNORM8 to linear ones of UNORM16; free-running.

    Parameters
    ----------
    lanes : int
        Texels a clock.

    Members
    -------
    i : In(ArrayLayout(ArrayLayout(16, 4), lanes))
        Red, green, blue, alpha.
    enable : In(1)
        The texels are to be converted; else they pass.
    o : Out(ArrayLayout(ArrayLayout(16, 4), lanes))
        The texels, :attr:`LATENCY` clocks later.
    """

    LATENCY = 2

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        texels = ArrayLayout(ArrayLayout(16, 4), lanes)
        super().__init__({"i": In(texels), "enable": In(1), "o": Out(texels)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        t.enter(0, enable=self.enable, texels=self.i)
        enable = t[1].enable
        texels = t[1].texels
        colours = [(n, c) for n in range(self._lanes) for c in range(3)]
        for k in range(0, len(colours), 2):  # block RAM has two ports
            m.submodules[f"table_{k // 2}"] = table = Memory(
                shape=16, depth=256, init=LINEAR, attrs=NO_COLLISION
            )
            for n, c in colours[k : k + 2]:
                read = table.read_port()
                m.d.comb += read.addr.eq(self.i[n][c][:8])
                m.d.sync += self.o[n][c].eq(Mux(enable, read.data, texels[n][c]))
        for n in range(self._lanes):
            alpha = texels[n][3]
            m.d.sync += self.o[n][3].eq(Mux(enable, Cat(alpha[:8], alpha[:8]), alpha))
        return m
