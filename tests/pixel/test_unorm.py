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
    """The converter, as a pipeline takes it: its inputs, and its outputs, side by side."""

    def __init__(self, *units, with_sign=False):
        self.unorm = ToUnorm(*units, with_sign=with_sign)
        inputs = [self.unorm.a, *(getattr(self.unorm, name, []) for name in ("unit", "is_signed"))]
        self.inputs = Cat(inputs)
        self.outputs = Cat(getattr(self.unorm, "fraction", []), self.unorm.o)
        super().__init__({"i": In(len(self.inputs)), "o": Out(len(self.outputs))})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.unorm = self.unorm
        m.d.comb += [self.inputs.eq(self.i), self.o.eq(self.outputs)]
        return m


def converted(given, *units, with_sign=False):
    """What the hardware makes of inputs: int64."""
    unit = StallablePipeline(Unit(*units, with_sign=with_sign), ToUnorm.LATENCY)
    name = "_".join(("unorm", *(f"{bits}_{fraction}" for bits, fraction in units)))
    name += "_signed" * with_sign
    rows = given.astype(np.uint64)[:, None]
    return Volume(unit, name, generate(unit, name)).run({"i": rows}, len(rows)).outputs["o"][:, 0]


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
    assert converted(given, (bits, 0)).tolist() == wanted
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
    unit = np.where(is_short, 2, 1).astype(np.uint64)
    assert converted(given | unit << np.uint64(32), (24, 0), (16, 0)).tolist() == wanted


@pytest.mark.plan("float-unit-7")
def test_what_the_nearest_takes_away():
    """By rationals: cut to 1/256 of a unit, less the nearest."""
    given = operands(255)
    nearest = np.array([exact(value, 255) for value in given])
    steps = np.array([exact_steps(value) for value in given])
    found = converted(given, (8, 8)).astype(np.int64)
    assert (found >> 8 == nearest).all()
    assert (found & 255 == (steps - 256 * nearest) & 255).all()
    assert (np.abs(steps - 256 * nearest) <= 128).all()
    assert (float32.unorm_steps(given.astype(np.int64), 255, 256) == steps).all()


def exact_steps(bits, most=65280):
    """``most``, 255 * 256, times a float within 0..1, cut."""
    value = np.uint32(bits).view(np.float32)
    return int(Fraction(float(value)) * most) if 0 < value < 1 else most * bool(value >= 1)


UNITS = (1, 14), (2, 14), (4, 8), (5, 6), (7, 8), (8, 8), (10, 6), (15, 6), (16, 6), (16, 0)


@pytest.mark.plan("float-unit-7")
def test_units_and_signs_follow_one_another():
    """By rationals [fs 3.2.3.3]: of any unit, SNORM or not, ties away from zero, cut towards it."""
    rng = np.random.default_rng(3)
    given = np.concatenate([operands((1 << bits) - 1, max(1 << bits >> 7, 1)) for bits, _ in UNITS])
    given ^= rng.integers(0, 2, len(given), dtype=np.uint32) << 31
    unit = rng.integers(0, len(UNITS), len(given))
    is_signed = rng.integers(0, 2, len(given))
    rows = given.astype(np.uint64) | np.uint64(1) << (32 + unit).astype(np.uint64)
    rows |= is_signed.astype(np.uint64) << np.uint64(32 + len(UNITS))
    found = converted(rows, *UNITS, with_sign=True).astype(np.int64)
    kept = {-1: 0, 0: 0, 1: 0}
    for value, n, signed, out in zip(given, unit, is_signed, found, strict=True):
        bits, places = UNITS[n]
        number = float(np.uint32(value).view(np.float32))
        sign = -1 if number < 0 else 1
        magnitude = int(value) & (1 << 31) - 1
        whole = exact(magnitude, (1 << bits) - 1) if signed or sign > 0 else 0
        steps = 0
        if places and (signed or sign > 0):
            steps = exact_steps(magnitude, (1 << bits) - 1 << places) - (whole << places)
        wanted = sign * whole, min(sign * steps, (1 << max(places, 1) - 1) - 1)
        assert ((out >> 14) - (out >> 30 << 17), _signed(out, 14)) == wanted, (number, bits, signed)
        kept[np.sign(wanted[0])] += 1
    assert min(kept.values()) > 1000


def _signed(word, bits):
    low = int(word) & (1 << bits) - 1
    return low - (low >> bits - 1 << bits)
