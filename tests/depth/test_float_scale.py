# SPDX-License-Identifier: BSD-2-Clause
"""A number times a float32, in Amaranth's simulator: at random, and at the ends of the result."""

import numpy as np
import pytest
from amaranth.sim import Simulator

from fixfunc.models.depth.depth_test import BIAS_MOST
from fixfunc.rtl.depth.test.bias import FloatScale


def exact(value, bits):
    """The product rounded half up, and cut, in Python's integers."""
    exponent = bits >> 23 & 255
    mantissa = bits & (1 << 23) - 1 | (exponent > 0) << 23
    product = value * (-mantissa if bits >> 31 else mantissa)
    shift = 150 - max(exponent, 1)
    rounded = (product + (1 << shift >> 1)) >> shift
    return min(max(rounded, -BIAS_MOST - 1), BIAS_MOST)


def float_bits(sign, exponent, fraction):
    return int(sign) << 31 | int(exponent) << 23 | int(fraction)


def products():
    """Pairs of a number and the bits of a float32."""
    rng = np.random.default_rng(1)
    for _ in range(4000):
        value = rng.choice([0, 1, (1 << 32) - 1, rng.integers(0, 1 << 32)])
        exponent = rng.choice([rng.integers(0, 151), rng.integers(110, 151)])  # below 2^24
        fraction = rng.choice([0, (1 << 23) - 1, rng.integers(0, 1 << 23)])
        yield int(value), float_bits(rng.integers(0, 2), exponent, fraction)
    for k in range(1, 32):  # about 2^33, where the result is cut
        for value in ((1 << k) - 1, 1 << k, (1 << k) + 1):
            for exponent in range(158 - k, min(163 - k, 151)):
                for fraction in (0, 1, (1 << 23) - 1):
                    for sign in (0, 1):
                        yield value, float_bits(sign, exponent, fraction)


@pytest.mark.plan("depth-test-5")
def test_products_are_rounded_and_cut():
    unit = FloatScale()
    pairs = list(products())
    got = []

    async def drive(ctx):
        for value, scale in pairs + [(0, 0)] * (FloatScale.LATENCY - 1):
            ctx.set(unit.value, value)
            ctx.set(unit.scale, scale)
            await ctx.tick()
            got.append(ctx.get(unit.o))

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    expected = [exact(*pair) for pair in pairs]
    assert got[FloatScale.LATENCY - 1 :] == expected
    inner = [value for value in expected if abs(value) < BIAS_MOST]
    assert len(inner) > 2000 and max(inner) > BIAS_MOST - 1024
    assert {BIAS_MOST, -BIAS_MOST - 1} < set(expected)
