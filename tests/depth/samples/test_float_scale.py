# SPDX-License-Identifier: BSD-2-Clause
"""A number times a float32, in Amaranth's simulator: at random, and at the ends of the result."""

import numpy as np
import pytest
from amaranth.sim import Simulator

from fixfunc.models.depth.depth_test import BIAS_MOST, times_float
from fixfunc.rtl.depth.test.bias import FloatScale


def exact(value, bits, unit):
    """The product rounded half up, and cut, in Python's integers."""
    exponent = bits >> 23 & 255
    mantissa = bits & (1 << 23) - 1 | (exponent > 0) << 23
    product = value * (-mantissa if bits >> 31 else mantissa)
    shift = unit - max(exponent, 1)
    rounded = (product + (1 << shift >> 1)) >> shift if shift > 0 else product << -shift
    return min(max(rounded, -BIAS_MOST - 1), BIAS_MOST)


def float_bits(sign, exponent, fraction):
    return int(sign) << 31 | int(exponent) << 23 | int(fraction)


def products():
    """A number, the bits of a float32, and the exponent of its unit."""
    rng = np.random.default_rng(1)
    for _ in range(4000):
        value = rng.choice([0, 1, (1 << 32) - 1, rng.integers(0, 1 << 32)])
        exponent = rng.choice([rng.integers(0, 255), rng.integers(110, 180)])
        fraction = rng.choice([0, (1 << 23) - 1, rng.integers(0, 1 << 23)])
        unit = rng.choice([150, rng.integers(0, 256)])
        yield int(value), float_bits(rng.integers(0, 2), exponent, fraction), int(unit)
    for k in range(1, 32):  # about 2^41, where the result is cut
        for value in ((1 << k) - 1, 1 << k, (1 << k) + 1):
            for exponent in range(166 - k, 171 - k):
                for fraction in (0, 1, (1 << 23) - 1):
                    for sign in (0, 1):
                        yield value, float_bits(sign, exponent, fraction), 150
    for unit in range(256):  # as limits of D32F are counted
        for exponent in (unit - 44, unit - 1, unit, unit + 9, unit + 10, unit + 11, 0, 254):
            if 0 <= exponent < 255:
                yield 256, float_bits(unit & 1, exponent, (1 << 23) - 1 if unit & 2 else 0), unit


@pytest.mark.plan("depth-test-5")
def test_products_are_rounded_and_cut():
    unit = FloatScale()
    products_in = list(products())
    got = []

    async def drive(ctx):
        for value, scale, counts in products_in + [(0, 0, 0)] * (FloatScale.LATENCY - 1):
            ctx.set(unit.value, value)
            ctx.set(unit.scale, scale)
            ctx.set(unit.unit, counts)
            await ctx.tick()
            got.append(ctx.get(unit.o))

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    expected = [exact(*product) for product in products_in]
    assert got[FloatScale.LATENCY - 1 :] == expected
    for value, scale, counts in products_in[::20]:
        assert times_float(np.array([value]), scale, counts)[0] == exact(value, scale, counts)
    inner = [value for value in expected if abs(value) < BIAS_MOST]
    assert len(inner) > 2000 and max(inner) > BIAS_MOST - (1 << 20)
    assert {BIAS_MOST, -BIAS_MOST - 1} < set(expected)
