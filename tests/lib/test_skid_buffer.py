# SPDX-License-Identifier: BSD-2-Clause
from itertools import product

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import stream
from amaranth.sim import Simulator

from fixfunc.models.lib import skid_buffer as golden
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.lib.skid_buffer import SkidBuffer, StallablePipeline
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib import skid_buffer as bench
from tests.lib.bench import broken, check_bench, check_page, is_caught

STEM = "skid_buffer"


@pytest.mark.parametrize("latency", [0, 1, 5])
def test_nothing_is_lost_or_reordered(latency):
    """The model, whatever the output does: beats come out as they went in."""
    rng = np.random.default_rng(0)
    model = golden.StallablePipeline(lambda beat: beat, latency)
    beats = list(range(100))
    out = []
    for ready in [*clocked.pace(rng, 400), *[True] * 200]:
        outputs = model.step(int(bool(beats)), beats[0] if beats else 0, int(ready))
        if outputs["ready"] and beats:
            del beats[0]
        if outputs["valid"] and ready:
            out.append(outputs["payload"])
    assert out == list(range(100))


def test_the_first_beat_takes_the_latency():
    """From ``i`` to ``o``: the unit's latency and two more clocks, of one place one."""
    for latency, places in product((1, 4), (1, 2)):
        model = golden.StallablePipeline(lambda beat: beat, latency, places)
        valid = [model.step(1, 5, 1)["valid"] for _ in range(12)]
        assert valid.index(1) == latency + StallablePipeline.AROUND + places - 2


@pytest.mark.parametrize("places", [1, 2])
def test_beats_of_every_other_clock_stop_nothing(places):
    """Whose receiver takes each a clock late: the pipeline moves on in every clock."""
    model = golden.StallablePipeline(lambda beat: beat, 4, places)
    waited = 0
    taken = []
    for clock in range(40):
        outputs = model.step(1 - clock % 2, clock, waited)
        assert outputs["ready"]
        if outputs["valid"] and waited:
            taken.append(outputs["payload"])
        waited = int(outputs["valid"] and not waited)
    assert taken == list(range(0, 2 * len(taken), 2))
    assert len(taken) > 12


@pytest.mark.parametrize("name", bench.CASES)
def test_every_bin_is_hit(name):
    case = bench.CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("self.enable.eq(next_level < 2)", "self.enable.eq(next_level < 3)"),
        ("self.enable.eq(next_level < 2)", "self.enable.eq(next_level < 1)"),
        ("push.eq(self.push & self.enable)", "push.eq(self.push)"),
        ("pop | (level == 0)", "pop"),
        ("Mux(level == 2, second, self.i)", "self.i"),
    ],
)
def test_a_broken_one_is_caught(right, wrong):
    assert is_caught(STEM, "skid_buffer", right, wrong)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Mux(is_held, held, self.i)", "self.i"),
        ("self.o.valid.eq(is_held | self.push)", "self.o.valid.eq(self.push)"),
        ("is_held.eq(waits)", "is_held.eq(self.o.valid)"),
        ("self.enable.eq(~(is_held & self.push))", "self.enable.eq(1)"),
        ("self.enable.eq(~(is_held & self.push))", "self.enable.eq(~is_held)"),
        ("m.If(~is_held)", "m.If(is_held)"),
    ],
)
def test_a_broken_one_of_one_place_is_caught(right, wrong):
    assert is_caught(STEM, "skid_buffer_of_one", right, wrong)


def test_other_numbers_of_places():
    with pytest.raises(InputError, match="places must be 1 or 2, not 3"):
        SkidBuffer(8, 3)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("1 + self._latency", "self._latency"),
        ("EnableInserter(skid.enable)(inner)", "inner"),
        ("self.i.ready.eq(skid.enable)", "self.i.ready.eq(1)"),
    ],
)
def test_a_broken_pipeline_is_caught(right, wrong):
    case = bench.CASES["stallable_pipeline_4"]
    trace = case.trace(np.random.default_rng(1), 600)
    module = broken(f"lib.{STEM}", right, wrong)
    component = module.StallablePipeline(bench.Increment(4), 4)
    assert clocked.difference(trace, clocked.simulate(component, trace)) is not None


def test_waveforms():
    check_page(STEM)


def test_bench(simulator):
    check_bench(STEM, simulator)


@pytest.mark.parametrize(("sources", "sinks"), [(1, 1), (1, 2), (2, 1), (2, 2), (1, 3)])
def test_all_move_or_none(sources, sinks):
    """Every combination of who offers, who takes, and ``when``."""
    m = Module()
    signature = stream.Signature(1)
    sources = [signature.create(path=("source", str(n))) for n in range(sources)]
    sinks = [signature.create(path=("sink", str(n))) for n in range(sinks)]
    when = Signal()
    moves = Signal()
    m.d.comb += moves.eq(move_together(m, sources, sinks, when))
    driven = [when, *(s.valid for s in sources), *(s.ready for s in sinks)]
    seen = set()

    async def drive(ctx):
        for word in range(1 << len(driven)):
            bits = [word >> n & 1 for n in range(len(driven))]
            for signal, bit in zip(driven, bits, strict=True):
                ctx.set(signal, bit)
            assert ctx.get(moves) == all(bits)
            taken = [ctx.get(s.valid & s.ready) for s in (*sources, *sinks)]
            assert taken == [all(bits)] * len(taken)
            # A sink hears of a beat whatever it says itself; so does a source.
            for signal, port in zip(driven[1:], (*sources, *sinks), strict=True):
                others = [b for s, b in zip(driven, bits, strict=True) if s is not signal]
                answer = port.ready if port in sources else port.valid
                assert ctx.get(answer) == all(others)
            seen.add(ctx.get(moves))

    simulator = Simulator(m)
    simulator.add_testbench(drive)
    simulator.run()
    assert seen == {0, 1}
