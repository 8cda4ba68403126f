# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of a tile's payloads, a portion a clock."""

from amaranth.hdl import Cat, Const, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.differences.grid import QUARTERS
from fixfunc.rtl.depth.differences.portions import Portions
from fixfunc.rtl.depth.differences.widths import (
    CODE,
    GREATEST,
    HEADER,
    LONG_HEADER,
    MOST,
    TRANSFER,
    behind_header,
    planes_used,
)
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.bit_planes import from_planes
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.rtl.lib.tile_groups.unpacker import Unpacker
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import DEPTH


class Numbers(wiring.Component):
    """The inverse of :class:`~fixfunc.rtl.depth.differences.payloads.Payloads`.

    Parameters
    ----------
    order : TileOrder

    Members
    -------
    samples, data : In
        Of a tile, the same for all of its portions.
    portion : In(2)
    too_great, end : Out
        A code is above the greatest; the bit behind the payload: :attr:`TAKEN` clock later.
    o : Out
        By slot and place, one behind the other; :attr:`LATENCY` clocks later.
    """

    TAKEN = 1
    LATENCY = 2

    def __init__(self, order: TileOrder) -> None:
        self._order = order
        self._portions = Portions(order)
        self._unpacker = Unpacker(MOST, DEPTH * self._portions.lanes, TRANSFER)
        super().__init__(
            {
                "samples": In(2),
                "data": In(MOST * TRANSFER),
                "portion": In(2),
                "too_great": Out(1),
                "end": Out(self._unpacker.position.shape()),
                "o": Out(ArrayLayout(DEPTH, sum(self._portions.most))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        timeline.enter(0, samples=self.samples, portion=self.portion)
        self._take(m, timeline)
        numbers = self._numbers(m, timeline)
        m.d.comb += self.o.eq(Cat(numbers))
        return m

    def _take(self, m, timeline):
        """A portion's bits, codes of its groups, and where each begins."""
        portions = self._portions
        selection = portions.selection(m, self.portion, self.samples, "portion")
        fields = [
            self.data[CODE * n : CODE * (n + 1)] if n else Const(GREATEST, CODE)
            for n in range(self._order.count)
        ]
        m.submodules.unpacker = unpacker = self._unpacker
        codes = []
        too_great = []
        begins = [Const(0, 1)]
        for slot, coded in enumerate(portions.codes(selection, fields)):
            field = named(m, coded, f"field_{slot}")
            too_great.append(field > GREATEST)
            codes.append(named(m, Mux(field > GREATEST, GREATEST, field), f"code_{slot}"))
            length = portions.length(selection, codes[slot], slot)
            begins.append(named(m, begins[slot] + length, f"begin_{slot + 1}"))
        m.d.comb += [
            unpacker.row.eq(self.data),
            unpacker.start.eq(self.portion == QUARTERS[0]),
            unpacker.at.eq(Mux(behind_header(self._order, self.samples), LONG_HEADER, HEADER)),
            unpacker.length.eq(begins[-1]),
        ]
        timeline.enter(self.TAKEN, bits=unpacker.o)
        m.d.sync += self.too_great.eq(Cat(too_great).any())
        m.d.comb += self.end.eq(unpacker.position)
        for slot, (code, begin) in enumerate(zip(codes, begins, strict=False)):
            timeline.enter(
                self.TAKEN,
                **{
                    f"code_{slot}": register(m, code, CODE, f"taken_code_{slot}"),
                    f"begin_{slot}": register(m, begin, len(begin), f"taken_begin_{slot}"),
                },
            )

    def _numbers(self, m, timeline):
        """Numbers of a portion: the highest plane that is used is a sign above."""
        portions = self._portions
        now = timeline[self.TAKEN]
        selection = portions.selection(m, now.portion, now.samples, "taken_portion")
        out = []
        for slot, most in enumerate(portions.most):
            code = timeline.value(f"code_{slot}", self.TAKEN)
            begin = timeline.value(f"begin_{slot}", self.TAKEN)
            payload = named(m, (now.bits >> begin)[: DEPTH * most], f"payload_{slot}")
            used = named(m, planes_used(code), f"used_{slot}")
            sizes = portions.sizes[slot]
            for place in range(most):
                options = {
                    size: Cat(payload[plane * size + place] for plane in range(DEPTH))
                    for size in set(sizes.values())
                    if place < size
                }
                keys = {index: size for index, size in sizes.items() if size in options}
                bits = named(m, selection.of(keys, options), f"bits_{slot}_{place}")
                number = from_planes(m, bits, used, f"sign_{slot}_{place}")
                out.append(register(m, number, DEPTH, f"number_{slot}_{place}"))
        return out
