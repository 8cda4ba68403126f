# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.lib import forwarded_memory as golden
from fixfunc.rtl.lib.forwarded_memory import ForwardedMemory, Forwarding
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib import forwarded_memory as bench
from tests.lib.bench import check_bench, check_page, is_caught

STEM = "forwarded_memory"


def test_the_model_counts_like_an_array():
    """Of a row that comes again and again, each operation sees the result of the one before."""
    rng = np.random.default_rng(0)
    model = golden.ForwardedMemory(4, 3, 1, 1)
    addresses = [int(address) for address in rng.integers(0, 4, 200)]
    counts = [0] * 4
    for n, address in enumerate(addresses + [0] * 3):
        if n >= 3:
            done = addresses[n - 3]
            assert model.value == counts[done]
            counts[done] += 1
        model.step(int(n < 200), address, model.value + 1)
    assert model.rows.tolist() == counts


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"latency": 1}, "latency must be above 1, not 1"),
        ({"write_delay": 2}, "write_delay must be 0 or 1, not 2"),
    ],
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        ForwardedMemory(8, 4, **wrong)


def test_forwarding_reaches_two_operations_at_least():
    with pytest.raises(InputError, match="^reach must be above 1, not 1$"):
        Forwarding(8, 4, 1)


def test_a_row_every_clock():
    """One operation a clock on one row: its value rises by one every clock."""
    trace = [
        clocked.Clock({"valid": 1, "address": 2, "result": max(0, n - 2 + 1)}, {"value": n - 2})
        if n >= 2
        else clocked.Clock({"valid": 1, "address": 2, "result": 0}, {})
        for n in range(20)
    ]
    assert clocked.difference(trace, clocked.simulate(ForwardedMemory(8, 5), trace)) is None


@pytest.mark.parametrize("name", bench.CASES)
def test_every_bin_is_hit(name):
    case = bench.CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("forwarded_memory_2_1", "latency + write_delay, latency > 2", "latency, latency > 2"),
        ("forwarded_memory_3_1", "valid & (address == self.address)", "address == self.address"),
        ("forwarded_memory_3_1", "same[0] & ~self.fill", "same[0]"),
        ("forwarded_memory_3_0", "results[n - older.start]", "results[n]"),
        ("forwarded_memory_4_1", "for n in reversed(older)", "for n in older"),
        ("forwarded_memory_2_1", "forwarding.written if self._write_delay", "self.result if 1"),
    ],
)
def test_a_broken_one_is_caught(name, right, wrong):
    assert is_caught(STEM, name, right, wrong)


def test_waveforms():
    check_page(STEM)


def test_bench(simulator):
    check_bench(STEM, simulator)
