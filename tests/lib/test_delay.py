# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.lib import delay as golden
from fixfunc.rtl.lib.delay import DelayLine, DrainTimer
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib import delay as bench
from tests.lib.bench import check_bench, check_page, is_caught

STEM = "delay"


def test_a_delay_is_a_shift():
    rows = np.arange(12).reshape(6, 2)
    assert golden.delayed(rows, 2).tolist() == [[0, 0], [0, 0], *rows[:4].tolist()]
    assert golden.delayed(rows, 9).tolist() == [[0, 0]] * 6


@pytest.mark.parametrize("latency", [1, 2, 5])
def test_drained_is_what_a_shift_register_says(latency):
    """Nothing is in a pipeline of ``latency`` stages, nor in the register before it."""
    enter = np.random.default_rng(0).random(300) < 0.2
    stages = [0] * (latency + 1)
    for entered, drained in zip(enter, golden.drained(enter, latency), strict=True):
        assert drained == (not any(stages))
        stages = [entered, *stages[:-1]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DelayLine(8, 2), "clocks must be above two, not 2"),
        (lambda: DrainTimer(0), "latency must be above 0, not 0"),
    ],
)
def test_wrong_parameters(make, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        make()


@pytest.mark.parametrize("name", bench.CASES)
def test_every_bin_is_hit(name):
    case = bench.CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("delay_line_33", "following == rows - 1", "following == rows - 2"),
        ("delay_line_17_near", "following == rows - 1", "following == rows"),
        ("drain_timer_3", "Mux(self.enter, self._latency,", "Mux(self.enter, self._latency - 1,"),
        ("drain_timer_4", "(remaining == 0) & ~self.enter", "remaining == 0"),
    ],
)
def test_a_broken_one_is_caught(name, right, wrong):
    assert is_caught(STEM, name, right, wrong)


def test_waveforms():
    check_page(STEM)


def test_bench(simulator):
    check_bench(STEM, simulator)
