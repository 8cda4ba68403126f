# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.rtl.lib.pending_table import PendingTable
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib import pending_table as bench
from tests.lib.bench import check_bench, check_page, is_caught

STEM = "pending_table"
PORTS = ("lookup", "lookup_0", "lookup_1", "insert", "remove", "removed")


@pytest.mark.parametrize(("rows", "columns"), [(3, 4), (2, 1)])
def test_wrong_parameters(rows, columns):
    with pytest.raises(InputError, match="must be a power of two above 1, not [31]$"):
        PendingTable(rows, columns)


def test_a_key_is_pending_from_its_insertion_until_two_clocks_after_its_removal():
    """Key 5 of row 1, and key 4 beside it."""
    rows = [(0,) * 6] * 2 + [
        (1, 4, 5, 0, 0, 0),
        (0, 0, 0, 1, 0, 0),
        (0, 0, 0, 0, 1, 5),
        (0, 0, 0, 0, 0, 0),
        (0, 0, 0, 0, 0, 0),
    ]
    wanted = [None, None, (0, 0, 0), (0, 0, 0), (0, 1, 1), (0, 1, 1), (0, 0, 0)]
    trace = [
        clocked.Clock(
            dict(zip(PORTS, row, strict=True)),
            dict(zip(("pending_0", "pending_1", "any_0"), said, strict=True)) if said else {},
        )
        for row, said in zip(rows, wanted, strict=True)
    ]
    assert clocked.difference(trace, clocked.simulate(PendingTable(2, 4), trace)) is None


@pytest.mark.parametrize("name", bench.CASES)
def test_every_bin_is_hit(name):
    case = bench.CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("pending_table_2", "bits[0] ^ bits[1]", "bits[0]"),
        ("pending_table_2", "differ.any()", "differ.all()"),
        ("pending_table_8", 'Mux(self.lookup, getattr(self, f"lookup_{n}"), key)', "key"),
        ("pending_table_8", "transparent_for=(write,)", ""),
        ("pending_table_2", "follow.data.eq(leaving_bits.data)", "follow.data.as_value().eq(~0)"),
        ("pending_table_2", "leaves << self._column(leaving)", "~0"),
        ("pending_table_8", "Cat(row, self.ready).eq(row + 1)", "self.ready.eq(1)"),
    ],
)
def test_a_broken_one_is_caught(name, right, wrong):
    assert is_caught(STEM, name, right, wrong)


def test_waveforms():
    check_page(STEM)


def test_bench(simulator):
    check_bench(STEM, simulator)
