# SPDX-License-Identifier: BSD-2-Clause
"""A depth as a format stores it, in Amaranth's simulator: at random, at ties, at the ends."""

import numpy as np
import pytest
from amaranth.sim import Simulator

from fixfunc.models.formats import MOST, store
from fixfunc.rtl.depth.test.sample_depths import Stored
from fixfunc.spec.state import DepthFormat
from tests.lib.bench import broken

FORMATS = tuple(DepthFormat)


def depths(rng, form):
    """Signed depths in 2^-12 of a unit, and exponents of units."""
    count = 1500
    depth = rng.integers(-(1 << 46), 1 << 46, count) >> rng.integers(0, 46, count)
    exponent = rng.integers(1, 128, count)
    # Halves between two of what is stored, and their neighbours.
    if form == DepthFormat.D32F:
        halves = (rng.integers(1 << 23, 1 << 24, 900) * 2 + 1) << rng.integers(0, 20, 900)
    else:
        step = 20 if form == DepthFormat.D16 else 12
        halves = (rng.integers(0, 1 << 36 - step, 900) << step) + (1 << step - 1)
        halves += halves >> 16 if form == DepthFormat.D16 else 0
    depth[:900] = halves + rng.choice([-1, 0, 0, 1], 900)
    exponent[:100] = rng.integers(1, 14, 100)
    depth[-8:] = [0, 1, -1, 1 << 11, (1 << 36) - 1, 1 << 36, ((1 << 24) - 1) << 12, (1 << 46) - 1]
    return depth, exponent


def run(unit, form, inputs, most):
    """What a unit gives for each of the inputs, with a range of 0 to ``most``."""
    latency = Stored.latency(FORMATS)
    got = []

    async def drive(ctx):
        ctx.set(unit.form, form)
        ctx.set(unit.most, most)
        for _ in range(3):
            await ctx.tick()
        depth, exponent = inputs
        for n in range(len(depth) + latency):
            ctx.set(unit.i, int(depth[min(n, len(depth) - 1)]))
            ctx.set(unit.exponent, int(exponent[min(max(n - unit.EXPONENT, 0), len(depth) - 1)]))
            if n >= latency:
                got.append(ctx.get(unit.o))
            await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    return np.array(got, np.uint32)


def expected(form, inputs, most):
    return np.minimum(store(inputs[0], form, inputs[1]), most).astype(np.uint32)


@pytest.mark.plan("depth-test-4")
@pytest.mark.parametrize("form", FORMATS)
def test_hardware_stores_the_same(form):
    inputs = depths(np.random.default_rng(int(form)), form)
    got = run(Stored(FORMATS, False), form, inputs, MOST[form])
    wanted = expected(form, inputs, MOST[form])
    assert (got == wanted).all(), np.flatnonzero(got != wanted)[:5]
    assert len(set(wanted.tolist())) > 500


@pytest.mark.plan("depth-test-4")
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(value[: last - 1].any() | value[last])", "1"),  # half up
        (" | value[last])", ")"),  # half down
        ("(exponent > 0)", "1"),
        ("len(scaled) - 24 - FRACTION", "len(scaled) - 23 - FRACTION"),
        ("above & ~is_float", "above"),
        ("zeros & 0b111000", "zeros & 0b110000"),
    ],
)
def test_a_broken_float_is_caught(right, wrong):
    module = broken("depth.test.sample_depths", right, wrong)
    form = DepthFormat.D32F
    inputs = depths(np.random.default_rng(int(form)), form)
    got = run(module.Stored(FORMATS, False), form, inputs, MOST[form])
    assert (got != expected(form, inputs, MOST[form])).any()
