# SPDX-License-Identifier: BSD-2-Clause
"""Bandwidth of frame buffers in the documents' numbers."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest

from fixfunc.models.architecture.frame_bandwidth import FrameRate
from fixfunc.spec.errors import InputError


@pytest.mark.plan("hidden-fragments-4")
@pytest.mark.parametrize("complexity", [1, 2, 4, 6])
def test_overdraw_is_the_mean_of_all_orders(complexity):
    """Every order of as many depths: how often one is nearer than all before it."""
    orders = list(permutations(range(complexity)))
    passed = sum(order[n] == min(order[: n + 1]) for order in orders for n in range(complexity))
    assert FrameRate(complexity=complexity).overdraw == Fraction(passed, len(orders))


@pytest.mark.plan("hidden-fragments-4")
def test_bandwidths_are_those_of_the_documents():
    """8 Gb/s of colours and of depths written, 16 read, where 2.083 is taken for 2 [fb]."""
    rate = FrameRate()
    assert round(float(rate.overdraw), 3) == 2.083
    rounded = rate.colour_written() / rate.overdraw * 2 / 10**9
    assert round(float(rounded)) == 8
    assert round(float(rate.colour_written()) / 1e9, 2) == 8.29
    assert rate.depth_written() == rate.colour_written()
    assert round(rate.depth_read() / 1e9) == 16


@pytest.mark.plan("hidden-fragments-4")
def test_factors_are_those_of_the_documents():
    """4K at 144 Hz: 10 times, 9.6 to be exact; 4 samples: 4 times; n passes: n times [fb]."""
    rate = FrameRate()
    large = replace(rate, width=3840, height=2160, hertz=144)
    many = replace(large, samples=4, passes=3)
    for name in ("colour_written", "depth_written", "depth_read"):
        base = getattr(rate, name)()
        assert Fraction(getattr(large, name)(), base) == Fraction(96, 10)
        assert Fraction(getattr(many, name)(), base) == Fraction(96, 10) * 4 * 3


@pytest.mark.plan("hidden-fragments-4")
def test_rates_that_are_none():
    with pytest.raises(InputError, match="complexity must lie in 1..1048576, not 0"):
        FrameRate(complexity=0)
