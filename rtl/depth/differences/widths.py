# SPDX-License-Identifier: BSD-2-Clause
"""Widths of groups of depths: twice a code of four bits; group 0 has all bits, and no code."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.differences.grid import QUARTER, index_of, indexes
from fixfunc.rtl.lib.bits import Selection, gated, named
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
    """Codes of a tile's groups, and the sum of their lengths, from a quarter of its lanes a clock.

    Parameters
    ----------
    order : TileOrder

    Members
    -------
    samples, quarter, residuals : In
        Of a quarter, by lane; quarters come one behind the other.
    o : Out
        ``codes``, that of group 0 the greatest, :data:`CODED` clocks after the last quarter;
        ``total`` of all lengths, :data:`LATENCY` clocks after it. Each for a clock.
    """

    CODED = 2
    LATENCY = 4

    def __init__(self, order: TileOrder) -> None:
        self._order = order
        super().__init__(
            {
                "samples": In(2),
                "quarter": In(2),
                "residuals": In(ArrayLayout(DEPTH, QUARTER)),
                "o": Out(StructLayout({"codes": codes_layout(order), "total": LENGTH})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        order = self._order
        timeline = Timeline(m)
        timeline.enter(0, samples=self.samples)
        used = self._used(m)
        codes = [Const(GREATEST, CODE)]
        for group in range(1, order.count):
            codes.append(register(m, self._code(used[group]), CODE, f"code_{group}"))
        m.d.comb += self.o.codes.eq(Cat(codes))
        samples = timeline[self.CODED].samples
        lengths = [length(order, samples, code, n) for n, code in enumerate(codes)]
        quarters = [register(m, sum(lengths[n::4]), LENGTH, f"sum_{n}") for n in range(4)]
        m.d.sync += self.o.total.eq(sum(quarters))
        return m

    def _used(self, m: Module) -> list[Value]:
        """What any number of a group needs: some bit, then of each pair of bits one."""
        order = self._order
        needs = []
        for at in range(QUARTER):
            value = self.residuals[at]
            # Where a number is less than 0 its inverse tells how many bits it needs; one more than
            # its highest.
            inverted = value[:-1] ^ value[-1].replicate(DEPTH - 1)
            pairs = [inverted[2 * pair - 1 : 2 * pair + 1].any() for pair in range(1, GREATEST)]
            needs.append(named(m, Cat(value.any(), *pairs), f"needs_{at}"))
        selection = Selection(
            m, Cat(self.quarter, self.samples), indexes(order.modes, [0]), "of_group"
        )
        used = []
        for group in range(order.count):
            numbers: dict[int, set[int]] = {}
            for mode, groups in zip(order.modes, order.groups, strict=True):
                for lane in groups[group] if group < len(groups) else ():
                    q, at = divmod(lane, QUARTER)
                    numbers.setdefault(at, set()).add(index_of(q, mode))
            out = Signal(GREATEST, name=f"used_{group}")
            earlier = gated(out, self.quarter != 0)
            for at, those in numbers.items():
                earlier = earlier | gated(needs[at], selection.flag(those))
            m.d.sync += out.eq(earlier)
            used.append(out)
        return used

    @staticmethod
    def _code(used: Value) -> Value:
        """The code that a group needs."""
        code: Value = Mux(used[0], 1, 0)
        for pair in range(1, GREATEST):
            code = Mux(used[pair], pair + 1, code)
        return code
