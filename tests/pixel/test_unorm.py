# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction

import numpy as np
import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.verilog.generate import generate
from fixfunc.models.lib import float32
from fixfunc.rtl.lib.float32.unorm import ToUnorm
from fixfunc.rtl.lib.skid_buffer import StallablePipeline

SPECIAL = 0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 1, 0x007FFFFF, 0x80000001


class Unit(wiring.Component):
    """The converter, as a pipeline takes it."""

    def __init__(self, bits, fraction=0):
        self._bits = bits
        self._fraction = fraction
        super().__init__({"i": In(32), "o": Out(bits + fraction)})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.unorm = unorm = ToUnorm(self._bits, self._fraction)
        rest = unorm.rest if self._fraction else []
        m.d.comb += [unorm.a.eq(self.i), self.o.eq(Cat(rest, unorm.o))]
        return m


def exact(bits, most):
    """[fs 3.2.3.6] in rationals."""
    value = np.uint32(bits).view(np.float32)
    if not value > 0:  # NaN too
        return 0
    if value >= 1:
        return most
    return int(Fraction(float(value)) * most + Fraction(1, 2))


def operands(most):
    """Both neighbours of every half, and the half itself where it is a float; any; special ones."""
    halves = ((np.arange(most + 2) - 0.5) / most).astype(np.float32).view(np.uint32)
    near = [(halves + np.int64(step)).astype(np.uint32) for step in (-1, 0, 1)]
    rng = np.random.default_rng(most)
    below = rng.integers(0, 0x3F800010, 2000, dtype=np.uint32)
    anything = rng.integers(0, 1 << 32, 2000, dtype=np.uint32)
    return np.concatenate([*near, below, anything, np.array(SPECIAL, np.uint32)])


@pytest.mark.plan("float-unit-7")
@pytest.mark.parametrize("bits", [8, 16])
def test_the_nearest_unorm(bits):
    most = (1 << bits) - 1
    given = operands(most)[:: 1 if bits == 8 else 17]
    given = np.concatenate([given, np.array(SPECIAL, np.uint32)])
    wanted = [exact(value, most) for value in given]
    unit = StallablePipeline(Unit(bits), ToUnorm.LATENCY)
    rows = given.astype(np.uint64)[:, None]
    run = Volume(unit, "unorm", generate(unit, "unorm")).run({"i": rows}, len(rows))
    assert run.outputs["o"][:, 0].tolist() == wanted
    assert float32.unorm(given.astype(np.int64), most).tolist() == wanted
    assert len(set(wanted)) > most // 20


@pytest.mark.plan("float-unit-7")
def test_what_the_nearest_takes_away():
    """By rationals: cut to 1/256 of a unit, less the nearest."""
    given = operands(255)
    unit = StallablePipeline(Unit(8, 8), ToUnorm.LATENCY)
    rows = given.astype(np.uint64)[:, None]
    run = Volume(unit, "unorm_rest", generate(unit, "unorm_rest")).run({"i": rows}, len(rows))
    nearest = np.array([exact(value, 255) for value in given])
    steps = np.array([exact_steps(value) for value in given])
    found = run.outputs["o"][:, 0].astype(np.int64)
    assert (found >> 8 == nearest).all()
    assert (found & 255 == (steps - 256 * nearest) & 255).all()
    assert (np.abs(steps - 256 * nearest) <= 128).all()
    assert (float32.unorm_steps(given.astype(np.int64), 255, 256) == steps).all()


def exact_steps(bits):
    """255 * 256 times a float within 0..1, cut."""
    value = np.uint32(bits).view(np.float32)
    return int(Fraction(float(value)) * 65280) if 0 < value < 1 else 65280 * bool(value >= 1)
