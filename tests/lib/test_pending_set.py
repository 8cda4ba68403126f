# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.rtl.lib.pending_set import PendingSet
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib import pending_set as bench
from tests.lib.bench import check_bench, check_page, is_caught

STEM = "pending_set"


def test_wrong_parameters():
    with pytest.raises(InputError, match="^places must be above 0, not 0$"):
        PendingSet(4, 0)


def test_a_place_is_free_in_the_clock_after_a_removal():
    """With one place: a key is inserted and removed, and another has its place at once."""
    rows = [(1, 3, 0, 0, 3), (0, 0, 1, 3, 3), (1, 4, 0, 0, 3), (0, 0, 0, 0, 4)]
    wanted = [(0, 1), (1, 0), (0, 1), (1, 0)]
    trace = [
        clocked.Clock(
            dict(zip(("insert", "key", "remove", "removed", "lookup_0"), row, strict=True)),
            {"pending_0": pending, "available": available},
        )
        for row, (pending, available) in zip(rows, wanted, strict=True)
    ]
    assert clocked.difference(trace, clocked.simulate(PendingSet(4, 1), trace)) is None


@pytest.mark.parametrize("name", bench.CASES)
def test_every_bin_is_hit(name):
    case = bench.CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("pending_set_2", "~valid.all()", "~valid[0]"),
        ("pending_set_7", "lowest(~valid)", "~valid"),
        ("pending_set_7", "(valid & equal).any()", "equal.any()"),
        ("pending_set_7", "key[compared] == lookup", "key[compared] == self.lookup_0[compared]"),
        ("pending_set_2", "(valid & ~removes) | inserts", "(valid | inserts) & ~removes"),
        ("pending_set_2", " & self.remove.replicate(self._places)", ""),
    ],
)
def test_a_broken_one_is_caught(name, right, wrong):
    assert is_caught(STEM, name, right, wrong)


def test_waveforms():
    check_page(STEM)


def test_bench(simulator):
    check_bench(STEM, simulator)
