# SPDX-License-Identifier: BSD-2-Clause
"""A channel of a pixel: the sum over its samples, or the extreme."""

from typing import NamedTuple

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.carry_save import carry_save, partial_products
from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.spec.textures.filter import CORNERS, COUNT

TEXEL = signed(17)
FRACTION = 8  # bits of a weight
ONE = 1 << FRACTION
GRID = signed(TEXEL.width + 3 * FRACTION)  # a grid, times its weight; or one sample of two levels


class Widths(NamedTuple):
    """Bits of sums, by whether a pixel has several samples: 48 at most."""

    several: bool

    @property
    def total(self) -> int:
        """A sum, with its sign."""
        return GRID.width + (COUNT.bit_length() if self.several else 0)

    @property
    def magnitude(self) -> int:
        """A sum without its sign."""
        return self.total - 1

    @property
    def quotient(self) -> int:
        """A sum by the odd part of the number of samples, with two bits below."""
        return self.magnitude + (2 if self.several else 0)


class ChannelSum(wiring.Component):
    """The sum of grids times their weights, or the extreme of texels that have weight, times 2^24;
    free-running.

    Parameters
    ----------
    widths : Widths

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
    o : Out(signed(widths.total))
        :attr:`LATENCY` clocks later, with this grid in it.
    """

    V = 2
    WEIGHT = 4
    VALID = 6
    LATENCY = 7

    def __init__(self, widths: Widths) -> None:
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
                "o": Out(signed(widths.total)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        kinds = [(self.extreme, self.greatest)]
        for clock in range(self.VALID):
            kinds.append(tuple(register(m, kind, 1, f"kind_{clock}") for kind in kinds[-1]))
        rows = [
            between(m, self.i[2 * n], self.i[2 * n + 1], self.u, kinds[0], f"row_{n}")
            for n in range(2)
        ]
        grid = between(m, *rows, self.v, kinds[self.V], "grid", FRACTION)
        extreme, _ = kinds[self.WEIGHT]
        weight = named(m, Mux(extreme, ONE, self.weight), "scale")
        parts = partial_products(grid, weight)
        product = carry_save(m, parts, GRID.width, "product")
        halves = [register(m, part, GRID, f"part_{n}") for n, part in enumerate(product)]
        weighted = register(m, sum(halves), GRID, "weighted")
        counts = delay(m, named(m, self.weight.any(), "has_weight"), 2, "counts")
        extreme, greatest = kinds[self.VALID]
        low = 3 * FRACTION  # bits that an extreme lacks
        upper, before = weighted[low:].as_signed(), self.o[low:].as_signed()
        is_less = named(m, upper < before, "is_less")
        kept = Mux(counts & (is_less ^ greatest), upper, before)
        mean = named(m, (self.o + weighted)[: len(self.o)], "sum")
        top = Mux(extreme, kept, mean[low:].as_signed())[: len(before)]
        total = named(m, Cat(mean[:low], top), "total").as_signed()
        with m.If(self.valid):
            m.d.sync += self.o.eq(Mux(self.first, weighted, total))
        return m


def between(
    m: Module,
    a: Value,
    b: Value,
    fraction: Value,
    kind: tuple[Value, Value],
    name: str,
    zeros: int = 0,
) -> Signal:
    """256 times a value between two, or times the extreme of those that have weight; two clocks.

    It is a sum of 256 of them, and has no difference, whose carry would come before all others.
    ``kind``: the extreme is meant, and the greatest; of extremes so many low bits are ``zeros``.
    """
    extreme, greatest = kind
    is_less = named(m, b[zeros:].as_signed() < a[zeros:].as_signed(), f"{name}_is_less")
    chosen = Mux(fraction.any() & (is_less ^ greatest), b, a) << FRACTION
    shape = signed(len(a) + FRACTION)
    picks = [a, *(Mux(bit, b, a) << k for k, bit in enumerate(fraction))]
    low, high = carry_save(m, picks, shape.width, f"{name}_picks")
    low = register(m, Mux(extreme, chosen, low), shape, f"{name}_low")
    high = register(m, gated(high, ~extreme), shape, f"{name}_high")
    return register(m, low + high, shape, name)
