# SPDX-License-Identifier: BSD-2-Clause
"""Passed count in Amaranth's simulator: with short halves, every carry is seen."""

import numpy as np
import pytest

from fixfunc.rtl.depth.test.passed_count import PassedCount
from fixfunc.tb.bench.clocked import Clock, difference, simulate

LANES = 8
HALF = 4
LATENCY = 4  # clocks from the last sample to the whole count


@pytest.mark.plan("depth-test-18")
def test_the_count_carries_from_half_to_half_and_wraps():
    rng = np.random.default_rng(1)
    trace = []
    total = 0
    carries = 0
    for burst in range(80):
        clear = burst % 40 == 39
        if clear:
            trace.append(Clock({"passed": 0, "clear": 1}, {}))
            trace.append(Clock({"passed": 0, "clear": 0}, {"o": 0, "any": 0}))
            total = 0
        masks = rng.integers(0, 1 << LANES, rng.integers(1, 4)) if burst % 4 else [255, 255, 0]
        trace += [Clock({"passed": int(mask), "clear": 0}, {}) for mask in masks]
        counted = total + sum(int(mask).bit_count() for mask in masks)
        carries += counted // (1 << HALF) - total // (1 << HALF)
        total = counted
        outputs = {"o": total % (1 << 2 * HALF), "any": int(total > 0)}
        trace += [Clock({"passed": 0, "clear": 0}, {})] * (LATENCY - 1)
        trace.append(Clock({"passed": 0, "clear": 0}, outputs))
    assert carries > 20
    assert any(clock.outputs.get("o", 0) > 200 for clock in trace)
    assert difference(trace, simulate(PassedCount(LANES, HALF), trace)) is None
