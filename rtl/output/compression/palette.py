# SPDX-License-Identifier: BSD-2-Clause
"""Palettes: tiles of four colours at most, which take one transfer."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, lowest
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.output.compression.colour_order import PALETTE
from fixfunc.spec.colours import LANES


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
        ``fits``; ``data``, colours that are not there being zero; :data:`LATENCY` clocks later, one
        tile a clock.
    """

    LATENCY = 2 * PALETTE

    def __init__(self, colour: int) -> None:
        self._colour = colour
        super().__init__(
            {
                "i": In(ArrayLayout(colour, LANES)),
                "o": Out(StructLayout({"data": palette_bits(colour), "fits": 1})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = self.i
        remaining = Signal(LANES, name="remaining_0")
        m.d.comb += remaining.eq(~0)
        index = Signal(2 * LANES, name="index_0")
        colours = []
        for n in range(PALETTE):
            # The first lane that remains, then all of its colour.
            first = Signal(LANES, name=f"first_{n}")
            colour = Signal(self._colour, name=f"colour_{n}")
            m.d.comb += first.eq(lowest(remaining))
            m.d.sync += colour.eq(_one_of(first, lanes))
            lanes = delay(m, lanes, 1, f"waiting_{n}")
            remaining = delay(m, remaining, 1, f"waiting_remaining_{n}")
            index = delay(m, index, 1, f"waiting_index_{n}")
            same = Signal(LANES, name=f"same_{n}")
            m.d.comb += same.eq(
                Cat(remaining[k] & (lanes[k] == colour) for k in range(LANES)),
            )
            next_remaining = Signal(LANES, name=f"remaining_{n + 1}")
            next_index = Signal(2 * LANES, name=f"index_{n + 1}")
            m.d.sync += [
                next_remaining.eq(remaining & ~same),
                next_index.eq(Cat(Mux(same[k], n, index[2 * k : 2 * k + 2]) for k in range(LANES))),
            ]
            colours.append(delay(m, colour, 2 * (PALETTE - n) - 1, f"kept_{n}"))
            lanes = delay(m, lanes, 1, f"later_{n}")
            remaining = next_remaining
            index = next_index
        m.d.comb += [
            self.o.data.eq(Cat(*colours, index)),
            self.o.fits.eq(~remaining.any()),
        ]
        return m


def _one_of(one_hot, lanes):
    """The lane of the bit that is set; zero, if none is."""
    wide = len(lanes[0])
    out = lanes[0] & one_hot[0].replicate(wide)
    for k in range(1, LANES):
        out |= lanes[k] & one_hot[k].replicate(wide)
    return out


def looked_up(data: Value, colour: int) -> list[Value]:
    """Colours of lanes, each of so many bits, from a tile that has a palette."""
    colours = [data[colour * n : colour * (n + 1)] for n in range(PALETTE)]
    begin = colour * PALETTE
    return [choose(data[begin + 2 * k : begin + 2 * k + 2], colours) for k in range(LANES)]
