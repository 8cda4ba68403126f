# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.lib import fifo as golden
from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.fifo import CreditedFIFO, StreamFIFO
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib import fifo as bench
from tests.lib.bench import check_bench, check_page, is_caught

STEM = "fifo"


@pytest.mark.parametrize("lookahead", [1, 2, 3])
def test_credits_are_never_overdrawn(lookahead):
    """The model, with a pipeline that takes all it may: every place is filled, and no more."""
    model = golden.CreditCounter(7, lookahead)
    allowed = [0] * (lookahead - 1)
    most = 0
    for n in range(200):
        allowed.append(model.available)
        model.step(allowed.pop(0), int(n > 20 and n % 5 == 4 and model.free < 7), 0)
        assert model.free >= 0
        most = max(most, 7 - model.free)
    assert most == 7


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CreditCounter(4, 0), "lookahead must be 1 to 3, not 0"),
        (lambda: CreditCounter(4, 4), "lookahead must be 1 to 3, not 4"),
        (lambda: CreditedFIFO(8, 16, 16), "lookahead must be 1 to 15, not 16"),
        (lambda: CreditedFIFO(8, 2), "depth must be above 2, not 2"),
        (lambda: StreamFIFO(8, 1), "depth must be above 1, not 1"),
    ],
)
def test_wrong_parameters(make, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        make()


def test_a_beat_every_clock():
    """At full speed: the first beat after the latency, then one a clock; credits suffice."""
    model = golden.CreditedFIFO(16)
    trace = []
    for n in range(60):
        push = int(n >= 1)
        trace.append(bench.credited_step(model, 1, 0, push, n % 256, 1))
    assert all(clock.outputs["available"] for clock in trace)
    assert all(clock.outputs["o__valid"] for clock in trace[1 + golden.StreamFIFO.LATENCY :])
    assert clocked.difference(trace, clocked.simulate(CreditedFIFO(8, 16), trace)) is None


def test_latencies_agree():
    assert CreditedFIFO.LATENCY == StreamFIFO.LATENCY == golden.StreamFIFO.LATENCY


@pytest.mark.parametrize(("depth", "clocks"), [(2, 2), (3, 1)])
def test_a_short_fifo(depth, clocks):
    """A FIFO of two takes a beat every other clock: too few for beats that cannot wait."""
    model = golden.StreamFIFO(depth)
    trace = [bench.streamed_step(model, n, 1) for n in range(40)]
    ready = [clock.outputs["i__ready"] for clock in trace]
    assert ready == [int(n % clocks == 0) for n in range(40)]
    assert clocked.difference(trace, clocked.simulate(StreamFIFO(8, depth), trace)) is None


@pytest.mark.parametrize("name", bench.CASES)
def test_every_bin_is_hit(name):
    case = bench.CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("file", "name", "right", "wrong"),
    [
        ("credit", "credit_4_1", "free > self._lookahead", "free >= self._lookahead"),
        ("credit", "credit_7_3", " + self.cancel", ""),
        ("credit", "credit_3_1", "free == self._places", "free >= self._places - 1"),
        (STEM, "credited_fifo_3_1", "CreditCounter(depth,", "CreditCounter(depth + 2,"),
        (
            STEM,
            "credited_fifo_9_1",
            "= StreamFIFO(shape, depth)",
            "= StreamFIFO(shape, depth // 2)",
        ),
        (STEM, "credited_fifo_9_1", "credit.cancel.eq(self.cancel)", "credit.cancel.eq(0)"),
        (STEM, "credited_fifo_24_3", "eq(self.o.valid & self.o.ready)", "eq(self.o.ready)"),
        (STEM, "credited_fifo_24_3", "depth, lookahead)", "depth)"),
        (STEM, "stream_fifo_8", "~self.o.valid | self.o.ready", "self.o.ready"),
        (STEM, "stream_fifo_3", "(rows.level != 0)", "0"),
        (STEM, "stream_fifo_8", "depth=self._depth)", "depth=self._depth + 1)"),
    ],
)
def test_a_broken_one_is_caught(file, name, right, wrong):
    assert is_caught(file, name, right, wrong)


def test_waveforms():
    check_page(STEM)


def test_bench(simulator):
    check_bench(STEM, simulator)
