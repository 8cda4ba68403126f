# SPDX-License-Identifier: BSD-2-Clause
"""BC6H: what a block's bits mean, by its mode."""

from typing import NamedTuple

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.bits import choose
from fixfunc.rtl.pipeline import delay

WIDE = 16  # bits of an end point, a sign not counted


class Mode(NamedTuple):
    """Of a mode: bits of the first end point; of the others' red, green and blue; whether these are differences to it; and
    which bits (end point, channel, number) lie elsewhere than they do in most modes."""

    width: int
    deltas: tuple
    differs: bool
    strays: str


# In modes of two subsets most bits have one place: (first bit of the block, bits) by end point and channel.
_USUAL = {"rw": (5, 10), "gw": (15, 10), "bw": (25, 10), "rx": (35, 6), "gy": (41, 4), "gx": (45, 6), "gz": (51, 4), "bx": (55, 6), "by": (61, 4),
          "ry": (65, 6), "rz": (71, 6)}
_USUAL_ALONE = {"rw": (5, 10), "gw": (15, 10), "bw": (25, 10), "rx": (35, 10), "gx": (45, 10), "bx": (55, 10)}

# By a block's lowest two bits, or its lowest five: the rest, each with its place in the block.
MODES = {
    0: Mode(10, (5, 5, 5), True, "gy4@2 by4@3 bz4@4 gz4@40 bz0@50 bz1@60 bz2@70 bz3@76"),
    1: Mode(7, (6, 6, 6), True, "gy5@2 gz4@3 gz5@4 bz0@12 bz1@13 by4@14 by5@22 bz2@23 gy4@24 bz3@32 bz5@33 bz4@34"),
    2: Mode(11, (5, 4, 4), True, "rw10@40 gw10@49 bz0@50 bw10@59 bz1@60 bz2@70 bz3@76"),
    6: Mode(11, (4, 5, 4), True, "rw10@39 gz4@40 gw10@50 bw10@59 bz1@60 bz0@69 bz2@70 gy4@75 bz3@76"),
    10: Mode(11, (4, 4, 5), True, "rw10@39 by4@40 gw10@49 bz0@50 bw10@60 bz1@69 bz2@70 bz4@75 bz3@76"),
    14: Mode(9, (5, 5, 5), True, "by4@14 gy4@24 bz4@34 gz4@40 bz0@50 bz1@60 bz2@70 bz3@76"),
    18: Mode(8, (6, 5, 5), True, "gz4@13 by4@14 bz2@23 gy4@24 bz3@33 bz4@34 bz0@50 bz1@60"),
    22: Mode(8, (5, 6, 5), True, "bz0@13 by4@14 gy5@23 gy4@24 gz5@33 bz4@34 gz4@40 bz1@60 bz2@70 bz3@76"),
    26: Mode(8, (5, 5, 6), True, "bz1@13 by4@14 by5@23 gy4@24 bz5@33 bz4@34 gz4@40 bz0@50 bz2@70 bz3@76"),
    30: Mode(6, (6, 6, 6), False, "gz4@11 bz0@12 bz1@13 by4@14 gy5@21 by5@22 bz2@23 gy4@24 gz5@31 bz3@32 bz5@33 bz4@34"),
    3: Mode(10, (10, 10, 10), False, ""),
    7: Mode(11, (9, 9, 9), True, "rw10@44 gw10@54 bw10@64"),
    11: Mode(12, (8, 8, 8), True, "rw11@43 rw10@44 gw11@53 gw10@54 bw11@63 bw10@64"),
    15: Mode(16, (4, 4, 4), True, " ".join(f"{c}w{15 - n}@{at + n}" for c, at in (("r", 39), ("g", 49), ("b", 59)) for n in range(6))),
}
WIDTHS = sorted({mode.width for mode in MODES.values()})


def places(key):
    """Of each bit of a mode's end points, its place in the block: {"rw": [5, 6, ...], ...}."""
    mode, alone = MODES[key], key & 3 == 3
    strays = dict(stray.split("@") for stray in mode.strays.split())
    usual = _USUAL_ALONE if alone else _USUAL
    out = {}
    for end in "wx" if alone else "wxyz":
        for channel, delta in zip("rgb", mode.deltas, strict=True):
            at, count = usual.get(channel + end, (0, 0))
            out[channel + end] = [int(strays[name]) if (name := f"{channel}{end}{n}") in strays else at + n if n < count else None
                                  for n in range(mode.width if end == "w" else delta)]
    return out


class Bc6hEnds(wiring.Component):
    """End points of a BC6H block.

    Members
    -------
    i, signed : In
        The block; whether halves have a sign.
    ends : Out(ArrayLayout(ArrayLayout(signed(17), 3), 4))
        :attr:`LATENCY` clocks later: first and second of each subset; red, green, blue.
    """

    LATENCY = 6
    i: In(128)
    signed: In(1)
    ends: Out(ArrayLayout(ArrayLayout(signed(WIDE + 1), 3), 4))

    def elaborate(self, platform):
        m = Module()
        key, block, keys = Signal(range(len(MODES))), Signal(128), list(MODES)
        for n, known in enumerate(keys):
            with m.If(self.i[:2 if known < 2 else 5] == known):
                m.d.sync += key.eq(n)
        m.d.sync += block.eq(self.i)

        raw = {name: Signal(WIDE, name=name) for name in places(0)}
        lies = [places(known) for known in keys]
        for name, value in raw.items():
            m.d.sync += value.eq(Cat(choose(key, [self._bit(block, lies[n].get(name), b, name[1] != "w") for n in range(len(keys))])
                                     for b in range(WIDE)))
        differs, width = Signal(), Signal(range(len(WIDTHS)))
        m.d.sync += [differs.eq(choose(key, [MODES[known].differs for known in keys])),
                     width.eq(choose(key, [WIDTHS.index(MODES[known].width) for known in keys]))]

        # The lowest bit of what is stored has a place in 16 bits: the place below it; those below; those not above.
        later = delay(m, width, 1, "width")
        half, below, up_to, whole = Signal(WIDE), Signal(WIDE), Signal(WIDE), Signal()
        units = [1 << WIDE - bits for bits in WIDTHS]
        m.d.sync += [half.eq(choose(later, [unit >> 1 for unit in units])), below.eq(choose(later, [unit - 1 for unit in units])),
                     up_to.eq(choose(later, [2 * unit - 1 for unit in units])), whole.eq(later == len(WIDTHS) - 1)]
        sign = delay(m, self.signed, 4, "signed")
        still = delay(m, sign, 1, "still_signed")
        for e, end in enumerate("wxyz"):
            for c, channel in enumerate("rgb"):
                total, top = (Signal(WIDE, name=f"{channel}{end}_{part}") for part in ("sum", "top"))
                m.d.sync += [total.eq(raw[channel + end] + (0 if end == "w" else Mux(differs, raw[channel + "w"], 0))),
                             top.eq(choose(later, [total << WIDE - bits for bits in WIDTHS]))]
                wide = Signal(signed(WIDE + 1), name=f"{channel}{end}_wide")
                zero, most = (Signal(name=f"{channel}{end}_{part}") for part in ("zero", "most"))
                minus = sign & top[-1]
                ends = Mux(minus, ~(top & ~up_to)[:-1].any(), (top | below)[:-1].all() & (top[-1] | sign))
                m.d.sync += [wide.eq(Mux(minus, top.as_signed() - half, Cat(top | half, 0).as_signed())),
                             zero.eq(~whole & (top == 0)), most.eq(~whole & ends)]
                limit = Mux(still, Mux(wide[-1], -0x7FFF, 0x7FFF), 0xFFFF)
                m.d.sync += self.ends[e][c].eq(Mux(zero, 0, Mux(most, limit, wide)))
        return m

    @staticmethod
    def _bit(block, lies, n, extends):
        """A bit of an end point as it is stored; differences are extended."""
        if lies is None:
            return None
        if n >= len(lies):
            return block[lies[-1]] if extends else 0
        return block[lies[n]]
