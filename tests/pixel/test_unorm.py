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


class EitherUnit(wiring.Component):
    """The converter to 24 bits, or to 16."""

    def __init__(self):
        super().__init__({"i": In(33), "o": Out(24)})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.unorm = unorm = ToUnorm(24, fewer=16)
        m.d.comb += [unorm.a.eq(self.i[:32]), unorm.is_short.eq(self.i[32])]
        m.d.comb += self.o.eq(unorm.o)
        return m


def exact(bits, most):
    """[fs 3.2.3.6] in rationals."""
    value = np.uint32(bits).view(np.float32)
    if not value > 0:  # NaN too
        return 0
    if value >= 1:
        return most
    return int(Fraction(float(value)) * most + Fraction(1, 2))


def operands(most, stride=1):
    """Both neighbours of halves, and the half itself where it is a float; any; special ones."""
    halves = ((np.arange(0, most + 2, stride) - 0.5) / most).astype(np.float32).view(np.uint32)
    near = [(halves + np.int64(step)).astype(np.uint32) for step in (-1, 0, 1)]
    rng = np.random.default_rng(most)
    below = rng.integers(0, 0x3F800010, 2000, dtype=np.uint32)
    anything = rng.integers(0, 1 << 32, 2000, dtype=np.uint32)
    return np.concatenate([*near, below, anything, np.array(SPECIAL, np.uint32)])


@pytest.mark.plan("float-unit-7")
@pytest.mark.parametrize(("bits", "stride"), [(8, 1), (16, 17), (24, 4099)])
def test_the_nearest_unorm(bits, stride):
    most = (1 << bits) - 1
    given = operands(most, stride)
    wanted = [exact(value, most) for value in given]
    unit = StallablePipeline(Unit(bits), ToUnorm.LATENCY)
    rows = given.astype(np.uint64)[:, None]
    run = Volume(unit, "unorm", generate(unit, "unorm")).run({"i": rows}, len(rows))
    assert run.outputs["o"][:, 0].tolist() == wanted
    assert float32.unorm(given.astype(np.int64), most).tolist() == wanted
    assert len(set(wanted)) > most // stride


@pytest.mark.plan("float-unit-7")
def test_the_nearest_of_either_length():
    """From one to the next."""
    given = operands((1 << 24) - 1, 65521)
    given = np.concatenate([given, operands(65535, 257)])
    is_short = np.random.default_rng(0).random(len(given)) < 0.5
    wanted = [
        exact(*how) for how in zip(given, np.where(is_short, 65535, (1 << 24) - 1), strict=True)
    ]
    unit = StallablePipeline(EitherUnit(), ToUnorm.LATENCY)
    rows = (given | is_short.astype(np.uint64) << np.uint64(32))[:, None]
    run = Volume(unit, "unorm_either", generate(unit, "unorm_either")).run({"i": rows}, len(rows))
    assert run.outputs["o"][:, 0].tolist() == wanted


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
