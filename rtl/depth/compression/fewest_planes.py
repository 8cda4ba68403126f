# SPDX-License-Identifier: BSD-2-Clause
"""Planes of a tile as they go to memory."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression.plane_depths import PLANE
from fixfunc.rtl.lib.delay import DelayLine, delay
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
    left, left_numbers, left_count : Out
        The same, :attr:`LATENCY` clocks later; planes beyond ``left_count`` are anything.
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
                "left": Out(planes),
                "left_numbers": Out(numbers),
                "left_count": Out(3),
            }
        )

    def elaborate(self, platform):
        m = Module()

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
        numbers = self._renamed(m, delay(m, self.numbers, 2, "numbers"), first, "first")

        # Which of them have samples, by groups and altogether.
        known = delay(m, self.known, 4, "known")
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
            m.d.sync += used[k].eq(groups.any() & known)

        # Where each goes, and what comes to each place.
        place = [Signal(self._bits, name=f"place_{k}") for k in range(self._most)]
        taken = [Signal(self._bits, name=f"taken_{k}") for k in range(self._most)]
        below = [sum(used[:k]) for k in range(self._most + 1)]
        count = Signal(3)
        m.d.sync += [
            count.eq(below[self._most]),
            *(place[k].eq(below[k]) for k in range(self._most)),
        ]
        for slot in range(self._most):
            for k in range(self._most):
                with m.If(used[k] & (below[k] == slot)):
                    m.d.sync += taken[slot].eq(k)
        numbers = self._renamed(m, delay(m, numbers, 3, "named"), place, "place")
        m.submodules.line = line = DelayLine(self._most * PLANE.size, 6, near=True)
        m.d.comb += [
            line.i.eq(self.planes.as_value()),
            self.left_numbers.eq(numbers),
        ]
        planes = [ArrayLayout(PLANE, self._most)(line.o)[k] for k in range(self._most)]
        m.d.sync += [
            self.left_count.eq(count),
            *(
                self.left[slot].eq(Array(planes)[taken[slot]].as_value())
                for slot in range(self._most)
            ),
        ]
        return m

    def _number(self, numbers, lane):
        return Cat(bits[lane] for bits in numbers)

    def _renamed(self, m, numbers, names, name):
        """Numbers of the samples' planes, by other numbers; a clock later."""
        out = Signal(ArrayLayout(self._lanes, self._bits), name=name)
        renamed = [Array(names)[self._number(numbers, n)] for n in range(self._lanes)]
        m.d.sync += [out[b].eq(Cat(number[b] for number in renamed)) for b in range(self._bits)]
        return out
