# SPDX-License-Identifier: BSD-2-Clause
"""Planes of a tile as memory stores them."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression.plane_depths import PLANE
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import PLANES


class FewestPlanes(wiring.Component):
    """Make equal planes one, and leave out planes of no sample, in their order; one tile a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    planes : int
        Most planes of a tile.

    Members
    -------
    known : In(1)
        The planes are those of the samples; without, a tile has none.
    planes : In(ArrayLayout(PLANE, planes))
    numbers : In(ArrayLayout(edge**2, ...))
        Number of each sample's plane, bit by bit, lane (i, j) at bit j * edge + i of each.
    compact, compact_numbers, compact_count : Out
        The same, :attr:`LATENCY` clocks later; planes from ``compact_count`` on are anything.
    """

    LATENCY = 7

    def __init__(self, edge, planes=PLANES):
        self._lanes = edge**2
        self._most = planes
        self._bits = (planes - 1).bit_length()
        planes = ArrayLayout(PLANE, planes)
        numbers = ArrayLayout(self._lanes, self._bits)
        super().__init__(
            {
                "known": In(1),
                "planes": In(planes),
                "numbers": In(numbers),
                "compact": Out(planes),
                "compact_numbers": Out(numbers),
                "compact_count": Out(3),
            }
        )

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, numbers=self.numbers, known=self.known)

        # Which planes are equal, then the first of each.
        first = [Signal(self._bits, name=f"first_{k}") for k in range(self._most)]
        for k in range(self._most):
            equal = [Signal(name=f"equal_{k}_{n}") for n in range(k)]
            m.d.sync += [
                flag.eq(self.planes[k].as_value() == self.planes[n].as_value())
                for n, flag in enumerate(equal)
            ]
            m.d.sync += first[k].eq(k)
            for n, flag in reversed(list(enumerate(equal))):
                with m.If(flag):
                    m.d.sync += first[k].eq(n)
        numbers = self._renumbered(m, t[2].numbers, first, "first_numbers_3")
        t.enter(3, first_numbers=numbers)

        # Which of them have samples, by groups and altogether.
        used = []
        for k in range(self._most):
            groups = Signal(-(-self._lanes // 8), name=f"groups_{k}")
            m.d.sync += groups.eq(
                Cat(
                    Cat((self._number(numbers, n) == k) for n in range(g, g + 8)).any()
                    for g in range(0, self._lanes, 8)
                )
            )
            used.append(Signal(name=f"used_{k}"))
            m.d.sync += used[k].eq(groups.any() & t[4].known)

        # Each plane's place, and the plane in each place.
        place = [Signal(self._bits, name=f"place_{k}") for k in range(self._most)]
        source = [Signal(self._bits, name=f"source_{k}") for k in range(self._most)]
        below = [sum(used[:k]) for k in range(self._most + 1)]
        count = Signal(3)
        m.d.sync += [
            count.eq(below[self._most]),
            *(place[k].eq(below[k]) for k in range(self._most)),
        ]
        for slot in range(self._most):
            for k in range(self._most):
                with m.If(used[k] & (below[k] == slot)):
                    m.d.sync += source[slot].eq(k)
        numbers = self._renumbered(m, t[6].first_numbers, place, "compact_numbers_7")
        m.submodules.line = line = DelayLine(self._most * PLANE.size, 6, near=True)
        m.d.comb += [
            line.i.eq(self.planes.as_value()),
            self.compact_numbers.eq(numbers),
        ]
        planes = [ArrayLayout(PLANE, self._most)(line.o)[k] for k in range(self._most)]
        m.d.sync += [
            self.compact_count.eq(count),
            *(
                self.compact[slot].eq(Array(planes)[source[slot]].as_value())
                for slot in range(self._most)
            ),
        ]
        return m

    def _number(self, numbers, lane):
        return Cat(bits[lane] for bits in numbers)

    def _renumbered(self, m, numbers, by_plane, name):
        """Numbers of the samples' planes, replaced by those of ``by_plane``; a clock later."""
        out = Signal(ArrayLayout(self._lanes, self._bits), name=name)
        lanes = [Array(by_plane)[self._number(numbers, n)] for n in range(self._lanes)]
        m.d.sync += [out[b].eq(Cat(number[b] for number in lanes)) for b in range(self._bits)]
        return out
