# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of a tile's groups side by side, a portion a clock."""

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.differences.grid import LANES
from fixfunc.rtl.depth.differences.portions import Portions
from fixfunc.rtl.depth.differences.widths import codes_layout, planes_used
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.tile_groups.placing import PlacingTree, levels
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.spec.payloads import DEPTH


class Payloads(wiring.Component):
    """Residuals of a portion by bit plane, each group as wide as its code says, without gaps.

    Parameters
    ----------
    order : TileOrder

    Members
    -------
    samples, codes, residuals : In
        Of a tile, by group and by lane.
    portion : In(2)
    o : Out
        ``value`` and its ``length``; :attr:`latency` clocks later.
    """

    def __init__(self, order: TileOrder) -> None:
        self._order = order
        self._portions = Portions(order)
        widths = [DEPTH * most for most in self._portions.most]
        self._placing = PlacingTree(widths, DEPTH * self._portions.lanes)
        super().__init__(
            {
                "samples": In(2),
                "codes": In(codes_layout(order)),
                "residuals": In(ArrayLayout(DEPTH, LANES)),
                "portion": In(2),
                "o": Out(self._placing.o.shape()),
            }
        )

    @staticmethod
    def latency(order: TileOrder) -> int:
        """Clocks: bit planes, then a tree."""
        return 1 + levels(len(Portions(order).most))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        portions = self._portions
        selection = portions.selection(m, self.portion, self.samples, "selected")
        m.submodules.placing = placing = self._placing
        group_codes = [Value.cast(self.codes[n]) for n in range(self._order.count)]
        codes = [
            named(m, code, f"code_{n}")
            for n, code in enumerate(portions.codes(selection, group_codes))
        ]
        for slot, code in enumerate(codes):
            m.d.sync += [
                placing.i[f"value{slot}"].eq(self._by_planes(m, selection, slot, code)),
                placing.i[f"length{slot}"].eq(portions.length(selection, code, slot)),
            ]
        m.d.comb += self.o.eq(placing.o)
        return m

    def _by_planes(self, m, selection, slot, code):
        """A slot's payload: bit 0 of each lane, then bit 1."""
        portions = self._portions
        lanes = {n: Value.cast(self.residuals[n]) for n in range(LANES)}
        used = named(m, planes_used(code), f"used_{slot}")
        values = []
        for place in range(portions.most[slot]):
            keys = {index: portions.lane(slot, place, index) for index in portions.sizes[slot]}
            keys = {index: lane for index, lane in keys.items() if lane is not None}
            value = selection.of(keys, lanes)[:DEPTH] & used
            values.append(named(m, value, f"value_{slot}_{place}"))
        sizes = portions.sizes[slot]
        options = {
            size: Cat(value[plane] for plane in range(DEPTH) for value in values[:size])
            for size in set(sizes.values())
        }
        return selection.of(sizes, options)
