# SPDX-License-Identifier: BSD-2-Clause
"""BC6H: end points of a block, by its mode."""

from typing import NamedTuple

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose
from fixfunc.rtl.lib.timeline import Timeline

WIDE = 16  # bits of an unquantised end point without its sign


class Mode(NamedTuple):
    """A mode of a block.

    Parameters
    ----------
    width : int
        Bits of the first end point.
    deltas : tuple of int
        Bits of the other end points: red, green, blue.
    delta : bool
        The other end points are differences to the first.
    moved_bits : str
        Bits that do not lie where they do in most modes: channel, end point, number, position.
    """

    width: int
    deltas: tuple
    delta: bool
    moved_bits: str


# Where bits lie in most modes of two subsets, by channel and end point: (first bit, number of
# bits). The end points are w, x, y and z.
_COMMON_PAIR = {
    "rw": (5, 10),
    "gw": (15, 10),
    "bw": (25, 10),
    "rx": (35, 6),
    "gy": (41, 4),
    "gx": (45, 6),
    "gz": (51, 4),
    "bx": (55, 6),
    "by": (61, 4),
    "ry": (65, 6),
    "rz": (71, 6),
}
# The same of one subset.
_COMMON_SINGLE = {
    "rw": (5, 10),
    "gw": (15, 10),
    "bw": (25, 10),
    "rx": (35, 10),
    "gx": (45, 10),
    "bx": (55, 10),
}

# Modes by the lowest two bits of a block, or by its lowest five.
MODES = {
    0: Mode(10, (5, 5, 5), True, "gy4@2 by4@3 bz4@4 gz4@40 bz0@50 bz1@60 bz2@70 bz3@76"),
    1: Mode(
        7,
        (6, 6, 6),
        True,
        "gy5@2 gz4@3 gz5@4 bz0@12 bz1@13 by4@14 by5@22 bz2@23 gy4@24 bz3@32 bz5@33 bz4@34",
    ),
    2: Mode(11, (5, 4, 4), True, "rw10@40 gw10@49 bz0@50 bw10@59 bz1@60 bz2@70 bz3@76"),
    6: Mode(
        11, (4, 5, 4), True, "rw10@39 gz4@40 gw10@50 bw10@59 bz1@60 bz0@69 bz2@70 gy4@75 bz3@76"
    ),
    10: Mode(
        11, (4, 4, 5), True, "rw10@39 by4@40 gw10@49 bz0@50 bw10@60 bz1@69 bz2@70 bz4@75 bz3@76"
    ),
    14: Mode(9, (5, 5, 5), True, "by4@14 gy4@24 bz4@34 gz4@40 bz0@50 bz1@60 bz2@70 bz3@76"),
    18: Mode(8, (6, 5, 5), True, "gz4@13 by4@14 bz2@23 gy4@24 bz3@33 bz4@34 bz0@50 bz1@60"),
    22: Mode(
        8, (5, 6, 5), True, "bz0@13 by4@14 gy5@23 gy4@24 gz5@33 bz4@34 gz4@40 bz1@60 bz2@70 bz3@76"
    ),
    26: Mode(
        8, (5, 5, 6), True, "bz1@13 by4@14 by5@23 gy4@24 bz5@33 bz4@34 gz4@40 bz0@50 bz2@70 bz3@76"
    ),
    30: Mode(
        6,
        (6, 6, 6),
        False,
        "gz4@11 bz0@12 bz1@13 by4@14 gy5@21 by5@22 bz2@23 gy4@24 gz5@31 bz3@32 bz5@33 bz4@34",
    ),
    3: Mode(10, (10, 10, 10), False, ""),
    7: Mode(11, (9, 9, 9), True, "rw10@44 gw10@54 bw10@64"),
    11: Mode(12, (8, 8, 8), True, "rw11@43 rw10@44 gw11@53 gw10@54 bw11@63 bw10@64"),
    15: Mode(
        16,
        (4, 4, 4),
        True,
        " ".join(
            f"{channel}w{15 - n}@{first + n}"
            for channel, first in (("r", 39), ("g", 49), ("b", 59))
            for n in range(6)
        ),
    ),
}
WIDTHS = sorted({mode.width for mode in MODES.values()})


def bit_positions(key):
    """Positions in a block of the bits of a mode's end points: {"rw": [5, 6, ...], ...}."""
    mode = MODES[key]
    single = key & 3 == 3
    moved = dict(item.split("@") for item in mode.moved_bits.split())
    common = _COMMON_SINGLE if single else _COMMON_PAIR
    positions = {}
    for end in "wx" if single else "wxyz":
        for channel, delta in zip("rgb", mode.deltas, strict=True):
            first, count = common.get(channel + end, (0, 0))
            positions[channel + end] = [
                int(moved[name])
                if (name := f"{channel}{end}{n}") in moved
                else first + n
                if n < count
                else None
                for n in range(mode.width if end == "w" else delta)
            ]
    return positions


class Bc6hEndpoints(wiring.Component):
    """End points of a BC6H block, one block a clock; free-running.

    Members
    -------
    i : In(128)
        The block.
    signed : In(1)
        Halves of the block have a sign.
    endpoints : Out(ArrayLayout(ArrayLayout(signed(17), 3), 4))
        First and second end point of each subset, as red, green, blue; unquantised, in clock
        :attr:`LATENCY`.
    """

    LATENCY = 6
    i: In(128)
    signed: In(1)
    endpoints: Out(ArrayLayout(ArrayLayout(signed(WIDE + 1), 3), 4))

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, block=self.i, signed=self.signed)

        # Clock 1: the mode.
        keys = list(MODES)
        mode = Signal(range(len(MODES)))
        for n, key in enumerate(keys):
            with m.If(self.i[: 2 if key < 2 else 5] == key):
                m.d.sync += mode.eq(n)

        # Clock 2: end points as they are stored, and what the mode says of them.
        stored = self._stored(m, t, mode)
        delta = Signal()
        width = Signal(range(len(WIDTHS)))
        m.d.sync += [
            delta.eq(choose(mode, [MODES[key].delta for key in keys])),
            width.eq(choose(mode, [WIDTHS.index(MODES[key].width) for key in keys])),
        ]
        t.enter(2, width=width)

        # Clock 4: constants of the width, for end points whose highest bit is aligned to 16 bits.
        units = [1 << WIDE - bits for bits in WIDTHS]
        half_unit = Signal(WIDE)
        below_unit = Signal(WIDE)
        up_to_unit = Signal(WIDE)
        full_width = Signal()
        m.d.sync += [
            half_unit.eq(choose(t[3].width, [unit >> 1 for unit in units])),
            below_unit.eq(choose(t[3].width, [unit - 1 for unit in units])),
            up_to_unit.eq(choose(t[3].width, [2 * unit - 1 for unit in units])),
            full_width.eq(t[3].width == len(WIDTHS) - 1),
        ]
        constants = half_unit, below_unit, up_to_unit, full_width

        for e, end in enumerate("wxyz"):
            for c, channel in enumerate("rgb"):
                name = channel + end
                base = 0 if end == "w" else Mux(delta, stored[f"{channel}w"], 0)
                value = Signal(WIDE, name=f"{name}_value")
                m.d.sync += value.eq(stored[name] + base)  # clock 3
                self._unquantise(m, t, name, value, constants, self.endpoints[e][c])
        return m

    @staticmethod
    def _unquantise(m, t, name, value, constants, out):
        """Scale an end point in clock 3 to 16 bits, or to 15 and a sign, in clock 6.

        Zero and the greatest values are exact; others get half a unit.
        """
        half_unit, below_unit, up_to_unit, full_width = constants
        aligned = Signal(WIDE, name=f"{name}_aligned")
        m.d.sync += aligned.eq(choose(t[3].width, [value << WIDE - bits for bits in WIDTHS]))

        negative = t[4].signed & aligned[-1]
        lowest = ~(aligned & ~up_to_unit)[:-1].any()
        highest = (aligned | below_unit)[:-1].all() & (aligned[-1] | t[4].signed)
        scaled = Signal(signed(WIDE + 1), name=f"{name}_scaled")
        is_zero = Signal(name=f"{name}_is_zero")
        is_limit = Signal(name=f"{name}_is_limit")
        m.d.sync += [
            scaled.eq(
                Mux(
                    negative,
                    aligned.as_signed() - half_unit,
                    Cat(aligned | half_unit, 0).as_signed(),
                )
            ),
            is_zero.eq(~full_width & (aligned == 0)),
            is_limit.eq(~full_width & Mux(negative, lowest, highest)),
        ]

        limit = Mux(t[5].signed, Mux(scaled[-1], -0x7FFF, 0x7FFF), 0xFFFF)
        m.d.sync += out.eq(Mux(is_zero, 0, Mux(is_limit, limit, scaled)))

    def _stored(self, m, t, mode):
        """End points as they are stored, in clock 2; differences have their sign extended."""
        by_mode = [bit_positions(key) for key in MODES]
        stored = {name: Signal(WIDE, name=f"{name}_stored") for name in by_mode[0]}
        for name, value in stored.items():
            bits = [
                [
                    self._stored_bit(t[1].block, positions.get(name), n, name[1] != "w")
                    for positions in by_mode
                ]
                for n in range(WIDE)
            ]
            m.d.sync += value.eq(Cat(choose(mode, options) for options in bits))
        return stored

    @staticmethod
    def _stored_bit(block, positions, n, extended):
        """Bit n of an end point; None if the mode has no such end point."""
        if positions is None:
            return None
        if n >= len(positions):
            return block[positions[-1]] if extended else 0
        return block[positions[n]]
