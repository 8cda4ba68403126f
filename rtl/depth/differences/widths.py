# SPDX-License-Identifier: BSD-2-Clause
"""Widths of groups of depths: twice a code of four bits; group 0 has all bits, and no code."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import DEPTH

CODE = 4  # bits
GREATEST = DEPTH // 2  # code
HEADER = 64  # bits in front of the payloads,
LONG_HEADER = 80  # and where there are more codes
TRANSFER = 256  # bits
LEAST, MOST = 2, 5  # transfers of a tile
ROOM = MOST * TRANSFER
LENGTH = 11  # bits of a sum of lengths


def codes_layout(order: TileOrder) -> ArrayLayout:
    """Codes of all groups."""
    return ArrayLayout(CODE, order.count)


def header_bits(order: TileOrder, mode: int) -> int:
    """Bits in front of the payloads."""
    return max(HEADER, CODE * len(order.groups[mode]))


def behind_header(order: TileOrder, samples: Value) -> Value:
    """Whether the header is a long one."""
    is_long = [Const(header_bits(order, mode) > HEADER, 1) for mode in order.modes]
    return order.by_mode(samples, is_long)


def planes_used(code: Value) -> Value:
    """Which planes a payload has, by its code."""
    return Cat(code > plane // 2 for plane in range(DEPTH))


def length(order: TileOrder, samples: Value, code: Value, group: int) -> Value:
    """Bits of a payload: lanes times width."""
    known = {size: (code * (2 * size))[:8] for size in set(order.sizes[group])}
    return order.by_mode(samples, [known[size] for size in order.sizes[group]])


class Widths(wiring.Component):
    """Codes of a tile's groups, and the sum of the lengths of all but the first.

    Parameters
    ----------
    order : TileOrder

    Members
    -------
    i : In
        ``samples``, and ``places`` of differences.
    o : Out
        ``codes``, :data:`CODED` clocks later, that of group 0 the greatest; ``total``,
        :data:`LATENCY` clocks later.
    """

    CODED = 1
    LATENCY = 4

    def __init__(self, order: TileOrder) -> None:
        self._order = order
        places = ArrayLayout(DEPTH, len(order.places))
        super().__init__(
            {
                "i": In(StructLayout({"samples": 2, "places": places})),
                "o": Out(StructLayout({"codes": codes_layout(order), "total": LENGTH})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, samples=self.i.samples)
        m.d.comb += self.o.codes[0].eq(GREATEST)
        for group in range(1, self._order.count):
            values = [self.i.places[n] for n in self._order.of_group(group)]
            m.d.sync += self.o.codes[group].eq(self._code(m, values, group))
        samples = timeline[self.CODED].samples
        lengths = [
            register(m, length(self._order, samples, self.o.codes[n], n), LENGTH, f"length_{n}")
            for n in range(1, self._order.count)
        ]
        quarters = [register(m, sum(lengths[n::4]), LENGTH, f"quarter_{n}") for n in range(4)]
        m.d.sync += self.o.total.eq(sum(quarters))
        return m

    def _code(self, m: Module, values: Sequence[Value], group: int) -> Value:
        """The code that a group needs."""
        nonzero = Cat(*values).any()
        # Where a number is less than 0 its inverse tells how many bits it needs; one more than
        # its highest.
        inverted = [
            named(m, value[:-1] ^ value[-1].replicate(DEPTH - 1), f"inverted_{group}_{n}")
            for n, value in enumerate(values)
        ]
        code = Mux(nonzero, 1, 0)
        for pair in range(1, GREATEST):
            bits = Cat(value[2 * pair - 1 : 2 * pair + 1] for value in inverted)
            code = Mux(bits.any(), pair + 1, code)
        return code
