# SPDX-License-Identifier: BSD-2-Clause
"""Answers, outcomes and efficiency of a DRAM; memories of the source documents."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.models.memory.dram.accesses import ACCESS
from fixfunc.models.memory.dram.configurations import GTX_480, GTX_1080, peak
from fixfunc.models.memory.dram.controller import Dram
from fixfunc.models.memory.dram.service import Outcome, serve
from tests.memory.dram import naive
from tests.memory.dram.test_controller import MAPS, SHORT, stream


def tiles(rng, count, clocks, writes):
    """Tiles of 256 bytes anywhere in 16 MB, each asked for in one clock, as a cache does."""
    found = np.zeros(8 * count, ACCESS)
    found["clock"] = np.repeat(np.sort(rng.integers(0, clocks, count)), 8)
    columns = np.repeat(rng.integers(0, 1 << 16, count) * 8, 8) + np.tile(np.arange(8), count)
    found["address"] = columns * 32
    found["write"] = np.repeat(rng.random(count) < writes, 8)
    return found


@pytest.mark.plan("dram-7")
def test_outcomes_and_answers_are_told_by_the_commands():
    """Of each access, whoever reads all commands: what was for it, and when its data moved."""
    rng = np.random.default_rng(8)
    accesses = stream(rng, 300, 4)
    accesses["client"] = rng.integers(0, 3, 300) * 7
    dram = Dram(SHORT, MAPS[2], window=4, distance=50)
    found = serve(dram, accesses)
    for number, access in enumerate(accesses.tolist()):
        own = found.commands[found.commands["access"] == number]
        kinds = own["kind"].tolist()
        rows = [kind for kind in kinds if kind not in naive.COLUMNS]
        expected = {
            (): Outcome.HIT,
            (naive.ACTIVATE,): Outcome.CLOSED,
            (naive.PRECHARGE, naive.ACTIVATE): Outcome.CONFLICT,
        }
        assert found.outcome[number] == expected[tuple(rows)]
        assert kinds[-1] == (naive.WRITE if access[2] else naive.READ)
        told = naive.Told(int(own["clock"][-1]), kinds[-1], 0, 0, number)
        assert found.answered[number] == naive.data(SHORT, told)[1] + 50
        assert found.latency[number] == found.answered[number] - access[0]


@pytest.mark.plan("dram-7")
def test_clients_add_up():
    rng = np.random.default_rng(9)
    accesses = stream(rng, 400, 3)
    accesses["client"] = rng.choice([2, 3, 200], 400)
    dram = Dram(SHORT, MAPS[2], distance=9)
    found = serve(dram, accesses)
    rows = {int(row["client"]): row for row in found.clients()}
    assert set(rows) == {2, 3, 200}
    for client, row in rows.items():
        own = np.flatnonzero(accesses["client"] == client)
        assert row["accesses"] == len(own) == row["hits"] + row["closed"] + row["conflicts"]
        assert row["read"] + row["written"] == 32 * len(own)
        assert row["written"] == 32 * sum(bool(accesses["write"][n]) for n in own)
        assert row["conflicts"] == sum(found.outcome[n] == Outcome.CONFLICT for n in own)
        assert row["latency"] == pytest.approx(np.mean([found.latency[n] for n in own]))
        assert row["worst"] == max(found.latency[n] for n in own)
    clocks = int(found.answered.max()) - 9 - int(accesses["clock"][0])
    assert found.clocks == clocks
    assert found.efficiency == pytest.approx(400 / (2 * clocks))
    nothing = serve(dram, accesses[:0])
    assert (nothing.clocks, nothing.efficiency, len(nothing.clients())) == (0, 0, 0)


@pytest.mark.plan("dram-8")
def test_a_row_in_order_moves_data_in_every_clock():
    """All of a row behind one ACTIVATE; the documents' reason to go by rows [trip 2]."""
    accesses = np.zeros(64, ACCESS)
    accesses["address"] = np.arange(64) * 32
    dram = replace(GTX_480, map=MAPS[0].by_row(1, 16, 2048))
    found = serve(dram, accesses)
    timing = dram.timing
    assert found.clocks == timing.t_rcd + timing.t_cas + 2 * 64
    scattered = accesses.copy()
    scattered["address"] = np.arange(64) * 2048 * 16  # a row each, of one bank
    slow = serve(dram, scattered)
    assert slow.clocks == timing.t_rcd + timing.t_cas + 2 + 63 * (timing.t_ras + timing.t_rp)
    assert slow.clocks > 20 * found.clocks


@pytest.mark.plan("dram-8")
def test_peaks_are_those_of_the_documents():
    """Close to 180 GB/s [trip 2]; 8 controllers of 32 bits at 10 GHz [rtr 23.10.2]."""
    assert peak(GTX_480) == 179_200_000_000
    assert peak(GTX_1080) == 320_000_000_000 == 8 * 32 * 10 * 10**9 // 8
    assert GTX_480.hertz == 1_400_000_000


@pytest.mark.plan("dram-8")
def test_a_lone_read_takes_400_clocks():
    accesses = np.zeros(1, ACCESS)
    assert serve(GTX_480, accesses).latency.tolist() == [400]
    lone = serve(GTX_1080, accesses).latency[0] / GTX_1080.hertz
    assert lone == pytest.approx(400 / 1.4e9, rel=0.01)


@pytest.mark.plan("dram-8")
def test_loaded_latency_lies_in_400_to_800_clocks():
    """The mean of random tiles, three in ten of them written, up to three quarters of the peak."""
    rng = np.random.default_rng(1)
    means = []
    for load in (0.05, 0.3, 0.55, 0.75):
        accesses = tiles(rng, 1000, int(1000 * 8 / 4 / load), 0.3)
        means.append(serve(GTX_480, accesses).latency.mean())
    assert means == sorted(means)
    assert 400 <= means[0] < means[-1] <= 800


@pytest.mark.plan("dram-8")
def test_banks_and_windows_make_the_efficiency():
    """What the controller has it for: fewer banks or a smaller window move less."""
    rng = np.random.default_rng(3)
    accesses = tiles(rng, 500, 1, 0.3)
    full = serve(GTX_480, accesses).efficiency
    blind = serve(replace(GTX_480, window=1), accesses).efficiency
    one_bank = replace(GTX_480, map=GTX_480.map.by_tile(8, 1, 2048, 256))
    single = serve(one_bank, accesses).efficiency
    assert full > 1.5 * blind
    assert full > 2 * single
