# SPDX-License-Identifier: BSD-2-Clause
"""Commands of the controller, against one that goes clock by clock through all rules."""

from dataclasses import fields, replace

import numpy as np
import pytest

from fixfunc.models.memory.dram.accesses import ACCESS
from fixfunc.models.memory.dram.address_map import AddressMap
from fixfunc.models.memory.dram.controller import Command, Dram, schedule
from fixfunc.models.memory.dram.timing import Timing
from fixfunc.spec.errors import InputError
from tests.memory.dram import naive

TIMES = [field.name for field in fields(Timing)]
SHORT = Timing(3, 2, 6, 2, 3, 2, 2, 4, 2, burst=1, turnaround=1)
MAPS = [
    AddressMap((("column", 1), ("bank", 1))),
    AddressMap((("bank", 2), ("column", 2))),
    AddressMap((("column", 1), ("channel", 1), ("column", 1), ("bank", 1))),
]


def stream(rng, count, gap):
    """Accesses of few rows, banks and addresses, in crowds and after gaps."""
    found = np.zeros(count, ACCESS)
    steps = rng.integers(0, gap + 1, count) * (rng.random(count) < rng.choice([0.1, 0.5, 1]))
    found["clock"] = np.cumsum(steps)
    row = rng.choice([0, 0, 0, 1, 1, 2], count)
    found["address"] = (row * 16 + rng.integers(0, 16, count) * (rng.random(count) < 0.7)) * 32
    found["write"] = rng.random(count) < rng.choice([0, 0.2, 0.5, 1])
    return found


def configuration(rng, timing):
    """A small window, and patience from none to more than is ever needed."""
    return Dram(
        timing,
        MAPS[rng.integers(len(MAPS))],
        window=int(rng.choice([1, 2, 3, 8])),
        patience=int(rng.choice([0, 5, 20, 60, 5000])),
    )


def told(dram, accesses):
    return [tuple(row) for row in schedule(dram, accesses).tolist()]


@pytest.mark.plan("dram-1")
@pytest.mark.parametrize("rule", TIMES)
def test_every_clock_is_that_of_a_naive_controller(rule):
    """Rule by rule: one that is much longer than the others holds what they would let through."""
    rng = np.random.default_rng(TIMES.index(rule))
    for _ in range(12):
        others = {name: int(rng.integers(name == "burst", 4)) for name in TIMES}
        timing = Timing(**others | {rule: int(rng.integers(8, 30))})
        dram = configuration(rng, timing)
        accesses = stream(rng, int(rng.integers(1, 40)), int(rng.choice([1, 4, 40])))
        assert told(dram, accesses) == naive.schedule(dram, accesses)


@pytest.mark.plan("dram-1")
def test_timings_of_any_kind():
    rng = np.random.default_rng(99)
    for _ in range(60):
        timing = Timing(**{name: int(rng.integers(name == "burst", 12)) for name in TIMES})
        dram = configuration(rng, timing)
        accesses = stream(rng, int(rng.integers(1, 30)), int(rng.choice([1, 4, 40])))
        assert told(dram, accesses) == naive.schedule(dram, accesses)


@pytest.mark.plan("dram-1")
@pytest.mark.parametrize("rule", TIMES)
def test_every_rule_holds_something_back(rule):
    """Commands obey all rules, and come so close to each that a longer one would be broken."""
    rng = np.random.default_rng(5)
    longer = replace(SHORT, **{rule: getattr(SHORT, rule) + 9})
    found = set()
    for _ in range(12):
        dram = Dram(SHORT, MAPS[0], window=4)
        log = []
        for clock, _, kind, bank, row, access in told(dram, stream(rng, 40, 4)):
            later = naive.Told(clock, kind, bank, row, access)
            assert not naive.broken(SHORT, log, later)
            found |= naive.broken(longer, log, later)
            log.append(later)
    late = {"t_cas": "turnaround", "t_cwl": "t_wr"}
    assert late.get(rule, rule) in found


@pytest.mark.plan("dram-2")
def test_the_oldest_that_is_ready_goes_first():
    """A row that is open serves younger accesses while the oldest waits for its own row."""
    dram = Dram(SHORT, MAPS[0])
    accesses = np.zeros(4, ACCESS)
    accesses["address"] = [0, 128, 32, 160]  # rows 0, 1, 0 of bank 0; row 1
    accesses["write"] = [False, False, False, False]
    commands = schedule(dram, accesses)
    columns = commands[commands["kind"] >= Command.READ]
    assert columns["access"].tolist() == [0, 2, 1, 3]
    kinds = [Command(kind).name for kind in commands["kind"]]
    assert kinds == ["ACTIVATE", "READ", "READ", "PRECHARGE", "ACTIVATE", "READ", "READ"]
    # t_rcd 3; a read a clock; t_ras 6; t_rp 2; t_rcd 3.
    assert commands["clock"].tolist() == [0, 3, 4, 6, 8, 11, 12]


@pytest.mark.plan("dram-2")
def test_accesses_to_one_address_keep_their_order():
    """A read behind a write of its address does not pass it, though it would be ready first."""
    timing = replace(SHORT, turnaround=9)
    accesses = np.zeros(3, ACCESS)
    accesses["address"] = [0, 32, 32]
    accesses["write"] = [False, True, False]
    commands = schedule(Dram(timing, MAPS[0]), accesses)
    columns = commands[commands["kind"] >= Command.READ]
    assert columns["access"].tolist() == [0, 1, 2]
    accesses["address"][2] = 0  # of another address it does
    commands = schedule(Dram(timing, MAPS[0]), accesses)
    columns = commands[commands["kind"] >= Command.READ]
    assert columns["access"].tolist() == [0, 2, 1]


@pytest.mark.plan("dram-2")
@pytest.mark.parametrize("patience", [0, 30, 200])
def test_no_access_starves(patience):
    """Hits of an open row come for ever; the one access to another row is served in time."""
    accesses = np.zeros(800, ACCESS)
    accesses["clock"] = np.arange(800)
    accesses["address"] = 32 * (np.arange(800) % 2)
    accesses["address"][100] = 128
    dram = Dram(SHORT, MAPS[0], window=8, patience=patience)
    commands = schedule(dram, accesses)
    column = commands[commands["kind"] >= Command.READ]
    served = int(column["clock"][column["access"] == 100][0])
    worst = sum(getattr(SHORT, name) for name in TIMES)
    assert patience <= served - 100 <= patience + dram.window * worst
    patient = schedule(replace(dram, patience=1 << 20), accesses)
    assert patient["access"][-1] == 100


@pytest.mark.plan("dram-2")
def test_accesses_wait_outside_a_full_window():
    """A window of one serves in order, whatever is open."""
    rng = np.random.default_rng(7)
    accesses = stream(rng, 200, 3)
    commands = schedule(Dram(SHORT, MAPS[0], window=1), accesses)
    columns = commands[commands["kind"] >= Command.READ]
    assert (np.diff(columns["access"].astype(np.int64)) == 1).all()


@pytest.mark.plan("dram-3")
def test_no_accesses_no_commands():
    assert not len(schedule(Dram(SHORT, MAPS[2]), np.zeros(0, ACCESS)))


@pytest.mark.plan("dram-3")
@pytest.mark.parametrize(
    "change, said",
    [
        ({"clock": [5, 4]}, "clock must never fall, not 4"),
        ({"clock": [5, 1 << 62]}, f"clock must lie below 2\\^62, not {1 << 62}"),
        ({"address": [0, 33]}, "address must be a multiple of 32, not 33"),
    ],
)
def test_accesses_that_no_controller_takes(change, said):
    accesses = np.zeros(2, ACCESS)
    for name, values in change.items():
        accesses[name] = values
    with pytest.raises(InputError, match=said):
        schedule(Dram(SHORT, MAPS[0]), accesses)


@pytest.mark.plan("dram-3")
def test_records_of_another_kind():
    with pytest.raises(InputError, match="accesses must be a row of ACCESS, not float64"):
        schedule(Dram(SHORT, MAPS[0]), np.zeros(2))


@pytest.mark.plan("dram-3")
@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: replace(SHORT, burst=0), "burst must lie in 1..65536, not 0"),
        (lambda: replace(SHORT, t_rp=-1), "t_rp must lie in 0..65536, not -1"),
        (lambda: replace(SHORT, t_rp=1.5), "t_rp must be an integer, not 1.5"),
        (lambda: Dram(SHORT, MAPS[0], window=0), "window must lie in 1..1024, not 0"),
        (lambda: Dram(SHORT, MAPS[0], hertz=0), "hertz must lie in 1..1000000000000, not 0"),
    ],
)
def test_parameters_that_are_none(make, said):
    with pytest.raises(InputError, match=said):
        make()


@pytest.mark.plan("dram-3")
def test_times_are_rounded_up_to_clocks():
    """12 ns at 1 GHz are 12 clocks, a picosecond more are 13; at 924 MHz 11.088 are 12."""
    times = dict.fromkeys(TIMES, 12_000)
    assert set(vars(Timing.from_picoseconds(10**9, **times)).values()) == {12}
    assert Timing.from_picoseconds(10**9, **times | {"t_rp": 12_001}).t_rp == 13
    assert Timing.from_picoseconds(924_000_000, **times).t_wr == 12
