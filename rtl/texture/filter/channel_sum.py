# SPDX-License-Identifier: BSD-2-Clause
"""A channel of a pixel: the sum over its samples, or the extreme."""

from amaranth.hdl import Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import register
from fixfunc.spec.textures.filter import CORNERS

TEXEL = signed(17)
FRACTION = 8  # bits of a weight
GRID = signed(TEXEL.width + 3 * FRACTION)  # a grid, times its weight
TOTAL = signed(GRID.width + 6)  # 48 of them


class ChannelSum(wiring.Component):
    """The sum of grids times their weights, or the extreme of texels that have weight, times 2^24;
    free-running.

    Members
    -------
    i : In(ArrayLayout(signed(17), 4))
        Texels of a grid.
    u : In(8)
        Weight of the right column, of 256.
    v : In(8)
        Weight of the lower row, :attr:`V` clocks later.
    weight : In(9)
        Of the grid, :attr:`WEIGHT` clocks later.
    valid, first : In(1)
        There is a grid; it is the pixel's first. :attr:`VALID` clocks later.
    extreme, greatest : In(1)
        Not the mean, but the extreme; the greatest. Both hold for all grids of a pixel: they come
        with the texels.
    o : Out(signed(47))
        :attr:`LATENCY` clocks later, with this grid in it.
    """

    V = 1
    WEIGHT = 2
    VALID = 3
    LATENCY = 4

    def __init__(self) -> None:
        super().__init__(
            {
                "i": In(ArrayLayout(TEXEL, CORNERS)),
                "u": In(FRACTION),
                "v": In(FRACTION),
                "weight": In(FRACTION + 1),
                "valid": In(1),
                "first": In(1),
                "extreme": In(1),
                "greatest": In(1),
                "o": Out(TOTAL),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        extremes = [self.extreme]
        greatests = [self.greatest]
        for clock in range(3):
            extremes.append(register(m, extremes[-1], 1, f"extreme_{clock}"))
            greatests.append(register(m, greatests[-1], 1, f"greatest_{clock}"))
        kinds = [*zip(extremes, greatests, strict=True)]
        rows = [
            between(m, self.i[2 * n], self.i[2 * n + 1], self.u, kinds[0], f"row_{n}")
            for n in range(2)
        ]
        grid = between(m, *rows, self.v, kinds[1], "grid")
        extreme, _ = kinds[2]
        scaled = Mux(extreme, grid << FRACTION, grid * self.weight)
        weighted = register(m, scaled, GRID, "weighted")
        counts = register(m, self.weight.any(), 1, "counts")
        extreme, greatest = kinds[3]
        is_less = named(m, weighted < self.o, "is_less")
        kept = Mux(counts & (is_less ^ greatest), weighted, self.o)
        total = named(m, Mux(extreme, kept, self.o + weighted), "total")
        with m.If(self.valid):
            m.d.sync += self.o.eq(Mux(self.first, weighted, total))
        return m


def between(
    m: Module, a: Value, b: Value, fraction: Value, kind: tuple[Value, Value], name: str
) -> Signal:
    """256 times a value between two, or times the extreme of those that have weight; a register.

    ``kind``: the extreme is meant, and the greatest.
    """
    extreme, greatest = kind
    difference = named(m, b - a, f"{name}_difference")
    is_less = difference < 0
    chosen = Mux(fraction.any() & (is_less ^ greatest), b, a)
    mean = (a << FRACTION) + difference * fraction
    value = Mux(extreme, chosen << FRACTION, mean)
    return register(m, value, signed(len(a) + FRACTION), name)
