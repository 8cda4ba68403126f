# SPDX-License-Identifier: BSD-2-Clause
"""One memory for host and card: what is spared, and what is waited for."""

import numpy as np
import pytest

from fixfunc.models.memory.dram.accesses import ACCESS
from fixfunc.models.memory.dram.configurations import GTX_480
from fixfunc.models.system.bus import PCIE_3_X16
from fixfunc.models.system.unified_memory import (
    Shared,
    separate_time,
    serve_together,
    unified_time,
)
from fixfunc.spec.errors import InputError

GTX_1080 = 320 * 10**9  # bytes a second [rtr 23.4]
SYSTEM = 40 * 10**9
MB = 1 << 20


@pytest.mark.plan("unified-memory-1")
def test_a_copy_is_what_the_bus_takes():
    """15.75 GB/s, a twentieth of local memory: data that are read once are bounded by the bus."""
    work = Shared(64 * MB)
    assert separate_time(work, SYSTEM, GTX_1080, PCIE_3_X16) == PCIE_3_X16.time(64 * MB)
    assert PCIE_3_X16.time(64 * MB) == pytest.approx(64 * MB / 15.75, rel=0.001)
    assert unified_time(work, SYSTEM) == pytest.approx(2 * 64 * MB / 40)
    assert unified_time(work, SYSTEM) < separate_time(work, SYSTEM, GTX_1080, PCIE_3_X16)


@pytest.mark.plan("unified-memory-1")
def test_what_is_read_often_wants_a_memory_of_its_own():
    """Bytes counted one by one; the time of each side is what it moves over what it can."""
    for reads in range(40):
        work = Shared(MB, reads, host=3 * MB, card=5 * MB)
        moved = {"host": 3 + 1 + 1, "local": 5 + 1 + reads, "all": 3 + 5 + 1 + reads}
        one = separate_time(work, SYSTEM, GTX_1080, PCIE_3_X16)
        expected = max(MB * moved["host"] / 40, MB * moved["local"] / 320, PCIE_3_X16.time(MB))
        assert float(one) == pytest.approx(expected)
        assert float(unified_time(work, SYSTEM)) == pytest.approx(MB * moved["all"] / 40)
    assert unified_time(work, SYSTEM) > one


def stream(rng, count, step, base):
    found = np.zeros(count, ACCESS)
    found["clock"] = np.arange(count) * step
    found["address"] = base + 32 * rng.integers(0, 4096, count)
    return found


@pytest.mark.plan("unified-memory-2")
def test_host_and_card_wait_for_each_other():
    rng = np.random.default_rng(1)
    streams = {"card": stream(rng, 1500, 1, 0), "host": stream(rng, 300, 4, 1 << 22)}
    found = serve_together(GTX_480, streams)
    together = {int(row["client"]): row for row in found["together"].clients()}
    for number, name in enumerate(streams):
        alone = found[name]
        assert together[number]["accesses"] == len(streams[name]) == len(alone.accesses)
        assert together[number]["latency"] > alone.latency.mean()
    longest = max(found[name].clocks for name in streams)
    assert longest <= found["together"].clocks <= sum(found[name].clocks for name in streams)


@pytest.mark.plan("unified-memory-2")
def test_what_is_refused():
    assert serve_together(GTX_480, {})["together"].clocks == 0
    with pytest.raises(InputError, match="name of a stream must be another one, not together"):
        serve_together(GTX_480, {"together": np.zeros(0, ACCESS)})
    with pytest.raises(InputError, match="reads must lie in 0.."):
        Shared(1, -1)
