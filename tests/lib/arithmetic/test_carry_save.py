# SPDX-License-Identifier: BSD-2-Clause
"""Sums without carries, against Python's integers."""

import numpy as np
import pytest
from amaranth.hdl import Module, Signal, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic import carry_save as module
from fixfunc.tb.bench.clocked import Clock, difference, simulate
from tests.lib.bench import broken

BITS = 4


class Total(wiring.Component):
    """The sum of addends, of which each other one has a sign, through a carry-save adder."""

    def __init__(self, count, width, function=module.carry_save):
        self._width = width
        self._function = function
        super().__init__({"i": In(ArrayLayout(unsigned(BITS), count)), "o": Out(width)})

    def elaborate(self, platform):  # noqa: ARG002
        m = Module()
        # A clock for the simulator.
        m.d.sync += Signal().eq(self.i[0][0])
        addends = [addend.as_signed() if n % 2 else addend for n, addend in enumerate(self.i)]
        parts = self._function(m, addends, self._width, "total")
        assert [part.shape() for part in parts] == [signed(self._width)] * 2
        m.d.comb += self.o.eq(parts[0] + parts[1])
        return m


def trace(count, width):
    """Ends of the range in all places, and numbers between."""
    rng = np.random.default_rng(count)
    beats = rng.choice([0, 1, 7, 8, 15, 5, 10], (300, count))
    beats[0] = 15
    beats[1] = 8
    clocks = []
    for beat in beats.tolist():
        packed = sum(value << BITS * n for n, value in enumerate(beat))
        total = sum(value - 16 * (n % 2 and value >= 8) for n, value in enumerate(beat))
        clocks.append(Clock({"i": packed}, {"o": total % (1 << width)}))
    return clocks


@pytest.mark.parametrize("width", [3, 4, 9])
@pytest.mark.parametrize("count", range(2, 11))
def test_sums_are_those_of_integers(count, width):
    wanted = trace(count, width)
    assert difference(wanted, simulate(Total(count, width), wanted)) is None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("x ^ y ^ z", "x ^ y"),
        ("(y & z)) << 1", "(y & z))"),
        ("| (x & z)", ""),
        ("sums += left[", "sums += left[1 + "),
    ],
)
def test_a_broken_one_is_caught(right, wrong):
    wrong_one = broken("lib.arithmetic.carry_save", right, wrong).carry_save
    wanted = trace(5, 9)
    try:
        found = simulate(Total(5, 9, wrong_one), wanted)
    except (ValueError, AssertionError):
        return
    assert difference(wanted, found)


class Product(wiring.Component):
    """A factor with a sign times one without, by its partial products."""

    def __init__(self, function=module.partial_products):
        self._function = function
        super().__init__({"i": In(ArrayLayout(unsigned(BITS), 2)), "o": Out(signed(2 * BITS))})

    def elaborate(self, platform):  # noqa: ARG002
        m = Module()
        m.d.sync += Signal().eq(self.i[0][0])
        addends = self._function(self.i[0].as_signed(), self.i[1])
        m.d.comb += self.o.eq(sum(module.carry_save(m, addends, 2 * BITS, "product")))
        return m


def products():
    """All pairs of factors."""
    signs = [(n, n - 16 * (n >= 8)) for n in range(16)]
    return [
        Clock({"i": bits | second << BITS}, {"o": first * second % (1 << 2 * BITS)})
        for bits, first in signs
        for second in range(16)
    ]


def test_products_are_those_of_integers():
    assert difference(products(), simulate(Product(), products())) is None


@pytest.mark.parametrize(
    ("right", "wrong"), [("<< k for k", "<< k + 1 for k"), ("gated(first, bit)", "first")]
)
def test_a_broken_product_is_caught(right, wrong):
    wrong_one = broken("lib.arithmetic.carry_save", right, wrong).partial_products
    assert difference(products(), simulate(Product(wrong_one), products()))


class Squared(wiring.Component):
    """The square of a number, through a carry-save adder."""

    def __init__(self, bits):
        super().__init__({"i": In(bits), "o": Out(2 * bits)})

    def elaborate(self, platform):  # noqa: ARG002
        m = Module()
        m.d.sync += Signal().eq(self.i[0])  # a clock for the simulator
        rows = module.square_products(self.i)
        assert len(rows) <= len(self.i) // 2 + 1
        m.d.comb += self.o.eq(sum(module.carry_save(m, [*rows, 0], len(self.o), "rows")))
        return m


@pytest.mark.parametrize("bits", [1, 2, 3, 7, 8])
def test_every_square(bits):
    wanted = [Clock({"i": n}, {"o": n * n}) for n in range(1 << bits)]
    assert difference(wanted, simulate(Squared(bits), wanted)) is None
