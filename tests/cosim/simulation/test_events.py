# SPDX-License-Identifier: BSD-2-Clause
"""What a run keeps by clocks, of components whose clocks are known."""

from functools import cache

import numpy as np
import pytest

from fixfunc.cosim import catalogue
from fixfunc.cosim.reference import top
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.simulation.events import Keep
from fixfunc.cosim.simulation.volume import Memory, Volume
from fixfunc.cosim.time import timeline
from fixfunc.spec.counters import COUNTERS, PROBES
from fixfunc.spec.errors import InputError
from fixfunc.tb import catalogue as benches
from tests.cosim.simulation.test_volume import Echo
from tests.cosim.test_protocol import BEATS, LENGTH, SIZE, master, run_master

ROWS = np.arange(200, dtype=np.uint64)[:, None]


@cache
def echo():
    return Volume(Echo(8), "echo")


def mastered(keep, **behaviour):
    """The master writes a burst for each beat, then reads one."""
    memory = Memory(np.zeros(SIZE, np.uint8), **{"latency": (20, 60)} | behaviour)
    return run_master(memory, keep=keep)[0]


@pytest.mark.plan("time-1")
def test_a_run_that_keeps_events_is_the_same_run():
    paces = "random", "bursty"
    for run in (
        lambda keep: echo().run({"i": ROWS}, 200, paces, keep=keep),
        lambda keep: mastered(keep, channel="own"),
    ):
        usual, kept, again = (run(keep) for keep in (None, Keep(16, 1000), None))
        assert usual.events is again.events is None
        assert kept.events.interval == 16
        for name, beats in usual.outputs.items():
            assert (kept.outputs[name] == beats).all()
        assert usual.simulated == kept.simulated == again.simulated


@pytest.mark.plan("time-1")
@pytest.mark.parametrize("interval", [8, 24, 64, 100_000])
def test_beats_and_stalls_are_those_of_their_intervals(interval):
    """A register passes beats on a clock later; a patient sink lets each wait for a clock."""
    streams = {}
    for clocks in (8, interval):
        run = echo().run({"i": ROWS}, 200, ("full", "patient"), keep=Keep(clocks))
        assert run.events.interval == clocks
        streams[clocks] = run.events.streams
    for name in ("i", "o"):
        found = streams[interval][name]
        assert len(found) == -(-run.simulated // interval)
        for kind in ("beats", "stalls"):
            finest = np.pad(streams[8][name][kind], (0, -len(streams[8][name]) % (interval // 8)))
            assert (found[kind] == finest.reshape(len(found), -1).sum(1)).all()
            assert found[kind].sum() in (199, 200)
        assert found["beats"].sum() == 200
    # From the third interval on each beat takes two clocks; the first is taken at once.
    assert streams[8]["o"][2:50].tolist() == [(4, 4)] * 48
    assert streams[8]["i"][60:].tolist() == [(0, 0)] * (len(streams[8]["i"]) - 60)


@pytest.mark.plan("time-1")
def test_intervals_double_where_there_are_too_many():
    """Their number has a bound, and nothing is lost."""
    run = echo().run({"i": ROWS}, 200, ("starved", "starved"), keep=Keep(1))
    found = run.events.streams["o"]
    assert run.events.interval in (4, 8, 16)
    assert 512 <= len(found) <= 1024
    assert len(found) == -(-run.simulated // run.events.interval)
    assert found["beats"].sum() == 200
    assert (found["beats"] + found["stalls"]).max() <= run.events.interval


@pytest.mark.plan("time-2")
def test_every_burst_has_its_clocks():
    run = mastered(Keep(1, 2 * len(BEATS)))
    bursts = run.events.bursts
    assert run.events.ports == ("memory",)
    assert bursts["write"].tolist() == [1, 0] * len(BEATS)
    assert set(bursts["address"].tolist()) == {1024}
    assert set(bursts["transfers"].tolist()) == {LENGTH + 1}
    assert not bursts["id"].any() and not bursts["port"].any()
    order = [bursts[name].astype(np.int64) for name in ("addressed", "first", "last", "answered")]
    assert (np.diff(order, axis=0) >= [[1], [LENGTH], [0]]).all()
    assert (order[0][1:] > order[3][:-1]).all()  # one at a time
    waits = bursts["due"] - np.where(bursts["write"], bursts["last"], bursts["addressed"])
    assert 20 <= waits.min() < waits.max() <= 60
    assert (bursts["due"] <= bursts["answered"]).all()
    reads = bursts[bursts["write"] == 0]
    assert (reads["answered"] == reads["last"]).all()
    moved = run.events.streams
    for way, chosen in (("read", reads), ("write", bursts[bursts["write"] == 1])):
        times = moved[f"memory.{way}"]
        assert times["beats"].sum() == chosen["transfers"].sum()


@pytest.mark.plan("time-2")
def test_more_bursts_than_are_asked_for_are_an_error():
    with pytest.raises(InputError, match="bursts of a run must be at most 79, which memory is"):
        mastered(Keep(64, 2 * len(BEATS) - 1))
    assert not len(mastered(Keep(64)).events.bursts)
    with pytest.raises(InputError, match="interval must be at least 1 clock, not 0"):
        mastered(Keep(0))


@pytest.mark.plan("time-3")
@pytest.mark.parametrize("channel", ["own", "shared"])
def test_a_replay_answers_as_memory_did(channel):
    """Of one port; and of all ports of a cache that reads and writes at a time."""
    bursts = mastered(Keep(64, 100), channel=channel).events.bursts
    assert (master().replay(bursts, channel) == bursts["due"]).all()
    assert (master().replay(bursts[::-1], channel) == bursts["due"][::-1]).all()
    block = benches.block("cached_depth" if channel == "own" else "tile_cache")
    unit = block.volume("tiny")
    rows = block.bench.requests(np.random.default_rng(5), 300, block.parameters("tiny"))
    run = block.run(
        unit,
        rows,
        1 << 16,
        "tiny",
        behaviour={"channel": channel},
        keep=Keep(64, 100_000),
    )
    found = run.events.bursts
    writes = found[found["write"] == 1]
    assert 0 < len(writes) < len(found)
    for port in set(writes["port"].tolist()):  # data are in the order of their bursts
        first, last = (writes[writes["port"] == port][name] for name in ("first", "last"))
        assert (first[1:] > last[:-1]).all()
    assert (unit.replay(found, channel) == found["due"]).all()
    other = {"own": "shared", "shared": "own"}[channel]
    assert (unit.replay(found, other) != found["due"]).any()


@pytest.mark.plan("time-4")
@pytest.mark.qualify  # a top of its own: a minute to build
def test_stalls_are_sampled_while_a_top_draws():
    """The last sample is what the counters say in the end; none falls; each has its clock."""
    block = Bench.of(catalogue.block("top"), top)
    stimuli = benches.block("top").bench
    params = block.parameters("tiny")
    rows = stimuli.requests(np.random.default_rng(2), 120, params)
    memory = Memory(stimuli.memory(rows, params))
    run = block.volume("tiny").run(stimuli.inputs(rows, params), 1 << 16, memory=memory)
    stalls = timeline.stalls(run.outputs["sampled"])
    counted = dict(zip(COUNTERS, run.outputs["counter_value"][:, 0].tolist()))
    for name in PROBES:
        clocks, values = stalls[name]
        assert values[-1] == counted[f"stall_{name}"]
        assert (np.diff(values.astype(np.int64)) >= 0).all()
        steps = np.diff(clocks.astype(np.int64))
        assert steps[1:200].max() <= 64 + 2 * len(PROBES)  # a status ends some of them early
        assert np.median(steps[1:200]) == 64
        assert 128 <= steps[300:].max() <= 128 + 2 * len(PROBES)
        assert (np.diff(values.astype(np.int64))[1:] <= steps[1:]).all()
    assert sum(int(values[-1]) for _, values in stalls.values()) > 0
