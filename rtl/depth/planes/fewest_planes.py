# SPDX-License-Identifier: BSD-2-Clause
"""Planes of a tile as they go to memory."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.planes.plane_depths import PLANE
from fixfunc.rtl.lib.delay import DelayLine, register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import PLANES


class FewestPlanes(wiring.Component):
    """Make equal planes one, and leave out planes of no sample, in their order; one tile a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    planes : int
        How many may come.

    Members
    -------
    known : In(1)
        Without, none is left.
    planes : In(ArrayLayout(PLANE, planes))
    numbers : In(ArrayLayout(edge**2, ...))
        Of each sample's plane, bit by bit, lane (i, j) at bit j * edge + i of each.
    o, o_numbers, o_count : Out
        Planes and numbers that remain, :attr:`LATENCY` clocks later; planes beyond ``o_count`` are
        anything.
    """

    LATENCY = 6

    def __init__(self, edge: int, planes: int = PLANES) -> None:
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
                "o": Out(planes),
                "o_numbers": Out(numbers),
                "o_count": Out(3),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        t.enter(0, known=self.known, numbers=self.numbers)
        t.enter(3, distinct=self._renamed(m, t[2].numbers, self._first_equal(m), "distinct"))
        used = self._used(m, t)

        # The place of each plane, and the plane of each place.
        places = [Signal(self._bits, name=f"place_{k}") for k in range(self._most)]
        sources = [Signal(self._bits, name=f"source_{k}") for k in range(self._most)]
        below = [sum(used[:k]) for k in range(self._most + 1)]
        count = Signal(3)
        m.d.sync += [
            count.eq(below[self._most]),
            *(places[k].eq(below[k]) for k in range(self._most)),
        ]
        for place in range(self._most):
            for k in range(self._most):
                with m.If(used[k] & (below[k] == place)):
                    m.d.sync += sources[place].eq(k)
        m.submodules.line = line = DelayLine(self._most * PLANE.size, self.LATENCY - 1, near=True)
        m.d.comb += [
            line.i.eq(self.planes.as_value()),
            self.o_numbers.eq(self._renamed(m, t[5].distinct, places, "placed")),
        ]
        planes = [ArrayLayout(PLANE, self._most)(line.o)[k] for k in range(self._most)]
        m.d.sync += [
            self.o_count.eq(count),
            *(
                self.o[place].eq(Array(planes)[sources[place]].as_value())
                for place in range(self._most)
            ),
        ]
        return m

    def _first_equal(self, m):
        """The first plane that equals each one, in clock 2."""
        first = []
        for k in range(self._most):
            equal = [Signal(name=f"equal_{k}_{n}") for n in range(k)]
            m.d.sync += [
                flag.eq(self.planes[k].as_value() == self.planes[n].as_value())
                for n, flag in enumerate(equal)
            ]
            number = Const(k, self._bits)
            for n, flag in reversed(list(enumerate(equal))):
                number = Mux(flag, n, number)
            first.append(register(m, number, self._bits, f"first_{k}"))
        return first

    def _used(self, m, t):
        """Planes that a sample belongs to, in clock 4."""
        distinct = t[3].distinct
        known = t[3].known
        used = []
        for k in range(self._most):
            numbers = [self._number(distinct, n) for n in range(self._lanes)]
            used.append(Signal(name=f"used_{k}"))
            m.d.sync += used[k].eq(Cat(number == k for number in numbers).any() & known)
        return used

    def _number(self, numbers, lane):
        return Cat(bits[lane] for bits in numbers)

    def _renamed(self, m, numbers, names, name):
        """Numbers of the samples' planes, by other numbers; a clock later."""
        out = Signal(ArrayLayout(self._lanes, self._bits), name=name)
        renamed = [Array(names)[self._number(numbers, n)] for n in range(self._lanes)]
        m.d.sync += [out[b].eq(Cat(number[b] for number in renamed)) for b in range(self._bits)]
        return out
