# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.rtl.lib.scoreboard import Scoreboard
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib import scoreboard as bench
from tests.lib.bench import check_bench, check_page, is_caught

STEM = "scoreboard"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"keys": 1}, "keys must be above 1, not 1"),
        ({"threshold": 3}, "threshold must be 0 to 2, not 3"),
        ({"threshold": -1}, "threshold must be 0 to 2, not -1"),
    ],
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        Scoreboard(**({"keys": 4, "most": 3} | wrong))


def test_an_event_is_seen_in_the_next_clock():
    """A key is watched from the first clock on: above rises a clock after it, and falls so."""
    names = ("increment", "increment_key", "decrement", "decrement_key", "lookup", "lookup_key")
    rows = [(0, 0, 0, 0, 1, 2), (1, 2, 0, 0, 0, 0), (0, 0, 1, 2, 0, 0), (0, 0, 0, 0, 0, 0)]
    above = [0, 0, 1, 0]
    trace = [
        clocked.Clock(dict(zip(names, row, strict=True)), {"above": value})
        for row, value in zip(rows, above, strict=True)
    ]
    assert clocked.difference(trace, clocked.simulate(Scoreboard(4, 3), trace)) is None


@pytest.mark.parametrize("name", bench.CASES)
def test_every_bin_is_hit(name):
    case = bench.CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("scoreboard_0", "earlier.eq(change(self.lookup_key))", "earlier.eq(0)"),
        ("scoreboard_0", "later.eq(change(watched))", "later.eq(0)"),
        ("scoreboard_1", "count.eq(count + earlier)", "count.eq(count)"),
        ("scoreboard_1", " - (decremented == event)", " - 0"),
        ("scoreboard_2", "count > settled_most", "count >= settled_most"),
        ("scoreboard_0", "self.above.eq(1)", "self.above.eq(0)"),
    ],
)
def test_a_broken_one_is_caught(name, right, wrong):
    assert is_caught(STEM, name, right, wrong)


def test_waveforms():
    check_page(STEM)


def test_bench(simulator):
    check_bench(STEM, simulator)
