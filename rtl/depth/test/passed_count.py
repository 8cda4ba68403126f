# SPDX-License-Identifier: BSD-2-Clause
"""Passed count: samples that passed, for fences."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

GROUP = 8  # samples that are added up in one clock


class PassedCount(wiring.Component):
    """Count the samples that passed, in two halves: a carry through all bits would be too long.

    The count is whole four clocks after the last sample. One tile a clock.

    Parameters
    ----------
    lanes : int
        Samples a clock.
    half : int
        Bits of each half of the count.

    Members
    -------
    passed : In(lanes)
    clear : In(1)
        Begin to count at zero.
    o : Out(2 * half)
    any : Out(1)
        Whether it has counted anything.
    """

    def __init__(self, lanes: int, half: int = 32) -> None:
        self._half = half
        super().__init__(
            {
                "passed": In(lanes),
                "clear": In(1),
                "o": Out(2 * half),
                "any": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = len(self.passed)
        groups = [Signal(range(GROUP + 1), name=f"group_{n}") for n in range(lanes // GROUP)]
        step = Signal(range(lanes + 1))
        low = Signal(self._half)
        carry = Signal()
        high = Signal(self._half)
        m.d.sync += [
            group.eq(sum(self.passed[GROUP * n : GROUP * (n + 1)]))
            for n, group in enumerate(groups)
        ]
        m.d.sync += [
            step.eq(sum(groups)),
            Cat(low, carry).eq(low + step),
            high.eq(high + carry),
            self.any.eq(self.any | (step != 0)),
        ]
        with m.If(self.clear):
            m.d.sync += [
                low.eq(0),
                high.eq(0),
                self.any.eq(0),
            ]
        m.d.comb += self.o.eq(Cat(low, high))
        return m
