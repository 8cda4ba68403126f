# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.lib import write_buffer as golden
from fixfunc.rtl.lib.write_buffer import WriteBuffer
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib import write_buffer as bench
from tests.lib.bench import check_bench, check_page, is_caught

STEM = "write_buffer"


def test_committed_rows_come_out_in_order():
    """The model: what was committed, and nothing else."""
    rng = np.random.default_rng(0)
    model = golden.WriteBuffer(8)
    committed = []
    out = []
    for n in range(600):
        push = int(n < 500 and model.available and rng.random() < 0.7)
        commit = int(model.pushed is not None and rng.random() < 0.5)
        if commit:
            committed.append(model.pushed)
        ready = int(rng.random() < 0.6)
        outputs = model.step(push, n, commit, ready)
        if outputs["valid"] and ready:
            out.append(outputs["payload"])
    assert out == committed
    assert len(out) > 100


@pytest.mark.parametrize("depth", [2, 6, 0])
def test_wrong_parameters(depth):
    message = f"^depth must be a power of two above 3, not {depth}$"
    with pytest.raises(InputError, match=message):
        WriteBuffer(8, depth)


@pytest.mark.parametrize("name", bench.CASES)
def test_every_bin_is_hit(name):
    case = bench.CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("level < self._depth - 1", "level < self._depth"),
        ("level < self._depth - 1", "level < self._depth - 2"),
        ("write.addr.eq(next_tail)", "write.addr.eq(tail)"),
        ("read.addr.eq(next_head)", "read.addr.eq(head)"),
        ("Mux(pop, level > 1, level != 0)", "level != 0"),
        ("level + self.commit - pop", "level + self.push - pop"),
    ],
)
def test_a_broken_one_is_caught(right, wrong):
    assert is_caught(STEM, "write_buffer_4", right, wrong)


def test_waveforms():
    check_page(STEM)


def test_bench(simulator):
    check_bench(STEM, simulator)
