# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction

import numpy as np
import pytest
from amaranth.hdl import Module
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

    def __init__(self, bits):
        self._bits = bits
        super().__init__({"i": In(32), "o": Out(bits)})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.unorm = unorm = ToUnorm(self._bits)
        m.d.comb += [unorm.a.eq(self.i), self.o.eq(unorm.o)]
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
