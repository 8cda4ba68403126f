# SPDX-License-Identifier: BSD-2-Clause
"""Palettes: tiles of four colours at most, which take one transfer."""

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, lowest, named, pick
from fixfunc.rtl.lib.delay import register
from fixfunc.spec.colours import LANES

PALETTE = 4  # colours


def palette_bits(colour: int) -> int:
    """Bits of a palette of colours of so many bits, and of what each lane has of it."""
    return colour * PALETTE + 2 * LANES


class PaletteCoder(wiring.Component):
    """Colours in the order in which lanes first show them, and which each lane has.

    Parameters
    ----------
    colour : int
        Bits of a colour.

    Members
    -------
    i : In
        The colours of lanes.
    o : Out
        These ``lanes``; ``one``, all are the same; ``fits``; ``data``, colours that are not there
        being zero; :data:`LATENCY` clocks later, one tile a clock.
    """

    LATENCY = PALETTE

    def __init__(self, colour: int) -> None:
        self._colour = colour
        lanes = ArrayLayout(colour, LANES)
        out = {"lanes": lanes, "one": 1, "fits": 1, "data": palette_bits(colour)}
        super().__init__({"i": In(lanes), "o": Out(StructLayout(out))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = self.i.as_value()
        size = self._colour
        colours = Const(0, 0)
        remaining = Const((1 << LANES) - 1, LANES)
        index = Const(0, 2 * LANES)
        one = Const(0, 0)
        for n in range(PALETTE):
            # The first lane that remains, and all that have its colour.
            each = [lanes.word_select(k, size) for k in range(LANES)]
            first = named(m, lowest(remaining), f"first_{n}") if n else Const(1, LANES)
            colour = named(m, pick(first, each), f"colour_{n}")
            others = named(m, Cat(lane != colour for lane in each), f"others_{n}")
            is_same = named(m, remaining & ~others, f"is_same_{n}")
            index = register(
                m,
                Cat(Mux(is_same[k], n, index[2 * k : 2 * k + 2]) for k in range(LANES)),
                2 * LANES,
                f"index_{n}",
            )
            remaining = register(m, remaining & others, LANES, f"remaining_{n}")
            colours = register(m, Cat(colours, colour), size * (n + 1), f"colours_{n}")
            lanes = register(m, lanes, size * LANES, f"lanes_{n}")
            one = register(m, one, 1, f"one_{n}") if n else ~remaining.any()
        m.d.comb += [
            self.o.lanes.eq(lanes),
            self.o.one.eq(one),
            self.o.fits.eq(~remaining.any()),
            self.o.data.eq(Cat(colours, index)),
        ]
        return m


def looked_up(data: Value, colour: int) -> list[Value]:
    """Colours of lanes, each of so many bits, from a tile that has a palette."""
    colours = [data[colour * n : colour * (n + 1)] for n in range(PALETTE)]
    begin = colour * PALETTE
    return [choose(data[begin + 2 * k : begin + 2 * k + 2], colours) for k in range(LANES)]
