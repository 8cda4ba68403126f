# SPDX-License-Identifier: BSD-2-Clause
"""Reads of one id, and a memory that answers in any order."""

from collections import deque

import numpy as np
import pytest
from amaranth.sim import Simulator

from fixfunc.rtl.memory import read_reorder
from fixfunc.rtl.memory.read_reorder import ReadReorder
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench.clocked import port
from tests.lib.bench import broken

MOST = 5  # transfers
IN_FLIGHT = 4
CLOCKS = 4000
LAST, FAILS = 1 << 8, 1 << 9


def drawn(module, stalls, most=MOST, count=200):
    """What a reader of ``count`` bursts is given, and what it should be: numbers, flags above them.

    A number is that of the transfer, of all; ``stalls`` of both sides are so likely.
    """
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, most + 1, count)
    numbers = deque(np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1]))
    right = [
        int(n) % 256 | (n == burst[-1]) * LAST | (n % 7 == 3) * FAILS
        for burst in numbers
        for n in burst
    ]
    component = module.ReadReorder(most, IN_FLIGHT)
    out = []
    under_way = {}  # by id: transfers that are still to come
    orders = []

    async def process(context):
        def get(name):
            return context.get(port(component, name))

        def put(name, value):
            context.set(port(component, name), int(value))

        waits, offered = 0, None
        clocks = 0
        while len(out) < len(right) and clocks < CLOCKS:
            clocks += 1
            room = waits < IN_FLIGHT
            put("reads__arvalid", bool(numbers) and room)
            put("reads__arlen", len(numbers[0]) - 1 if numbers else 0)
            put("reads__rready", rng.random() >= stalls)
            put("memory__arready", rng.random() >= stalls)
            if offered is None and under_way and rng.random() >= stalls:
                offered = int(rng.choice(list(under_way)))
            put("memory__rvalid", offered is not None)
            if offered is not None:
                n = int(under_way[offered][0])
                put("memory__rid", offered)
                put("memory__rdata", n % 256)
                put("memory__rresp", 2 * (n % 7 == 3))
                put("memory__rlast", len(under_way[offered]) == 1)
            if get("memory__arvalid") and get("memory__arready"):
                burst = numbers.popleft()
                assert get("memory__arid") not in under_way
                assert get("memory__arlen") == len(burst) - 1
                under_way[get("memory__arid")] = deque(burst)
                waits += 1
            if offered is not None and get("memory__rready"):
                orders.append(int(under_way[offered].popleft()))
                if not under_way[offered]:
                    del under_way[offered]
                offered = None
            if get("reads__rvalid") and get("reads__rready"):
                is_last = get("reads__rlast")
                fails = get("reads__rresp") == 2
                out.append(get("reads__rdata") | is_last * LAST | fails * FAILS)
                waits -= is_last
            await context.tick()

    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()
    return out, right, orders


@pytest.mark.plan("tile-cache-19")
@pytest.mark.parametrize(("stalls", "most"), [(0, MOST), (0.3, MOST), (0.8, MOST), (0.3, 1)])
def test_transfers_come_in_the_order_of_the_reads(stalls, most):
    out, right, orders = drawn(read_reorder, stalls, most)
    assert out == right
    assert orders != sorted(orders), "memory has answered in order"


@pytest.mark.plan("tile-cache-19")
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Cat(column[: self._column], oldest)", "Cat(column[: self._column], ~oldest)"),
        ("whole[n].eq(memory.rlast)", "whole[n].eq(1)"),
        ("m.d.sync += have[n].eq(0)", "pass"),
        ("read.en.eq(fetch)", "read.en.eq(1)"),
        ("reads.rresp.eq(read.data.resp)", "reads.rresp.eq(0)"),
        ("column + 1 == known", "column == known"),
        ("newest.eq(newest + 1)", "newest.eq(0)"),
        ("~reads.rvalid | reads.rready", "1"),
    ],
)
def test_a_broken_one_is_caught(right, wrong):
    module = broken("memory.read_reorder", right, wrong)
    try:
        out, expected, _ = drawn(module, 0.3, count=60)
    except AssertionError:
        return
    assert out != expected


@pytest.mark.plan("tile-cache-19")
def test_wrong_parameters():
    with pytest.raises(InputError, match="^in_flight must be a power of two above 1, not 6$"):
        ReadReorder(MOST, 6)
