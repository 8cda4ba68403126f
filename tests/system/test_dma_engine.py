# SPDX-License-Identifier: BSD-2-Clause
"""Copies beside drawing, the bus they cross, and fences between them."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.system.bus import PCIE_2_X16, PCIE_3_X16, PCIE_4_X16, Bus
from fixfunc.models.system.dma_engine import (
    Copy,
    CopyError,
    DeadlockError,
    Draw,
    Engines,
    Place,
    Signal,
    Wait,
)
from fixfunc.models.system.page_table import Aperture
from fixfunc.spec.errors import InputError

LOCAL, SYSTEM = Aperture.LOCAL, Aperture.SYSTEM
TIMES = {"bus": Bus(1, 8 * 10**9, 1, 1, 10), "local_bandwidth": 4 * 10**9}  # a byte a nanosecond


def engines(size=4096):
    rng = np.random.default_rng(1)
    memories = {it: rng.integers(0, 256, size, dtype=np.uint8) for it in Aperture}
    return Engines(memories, **TIMES)


def copy(source, destination, size=100, at=(0, 0)):
    return Copy(Place(source, at[0]), Place(destination, at[1]), size)


@pytest.mark.plan("dma-engine-1")
def test_bandwidths_are_those_of_the_documents():
    """8 GB/s each way [trip 2]; 15.75 and 31.51 GB/s [rtr 23.4]."""
    assert PCIE_2_X16.bandwidth == 8 * 10**9
    assert round(float(PCIE_3_X16.bandwidth) / 1e9, 2) == 15.75
    assert round(float(PCIE_4_X16.bandwidth) / 1e9, 2) == 31.51


@pytest.mark.plan("dma-engine-1")
def test_a_transfer_takes_its_bytes_and_the_latency():
    assert PCIE_2_X16.time(8_000_000) == 1000 + 10**6
    assert PCIE_2_X16.time(0) == 0
    for size in (1, 7, 8, 9, 12345):
        for bus in (PCIE_2_X16, PCIE_3_X16):
            exact = bus.latency + Fraction(size * 10**9) / bus.bandwidth
            assert exact <= bus.time(size) < exact + 1
    with pytest.raises(InputError, match="coded must lie in 8..65536, not 7"):
        Bus(16, 1, 8, 7, 0)


@pytest.mark.plan("dma-engine-2")
@pytest.mark.parametrize("source", Aperture)
@pytest.mark.parametrize("destination", Aperture)
def test_bytes_go_where_they_shall(source, destination):
    """System memory to itself is refused: that is no work of a card [trip 2]."""
    if source == destination == SYSTEM:
        with pytest.raises(CopyError, match="copy must have an end in local memory, not from"):
            copy(source, destination)
        return
    found = engines()
    before = {it: found.memories[it].copy() for it in Aperture}
    spans = found.run({"dma": [copy(source, destination, 100, (50, 1000))]})
    before[destination][1000:1100] = before[source][50:150]
    for it in Aperture:
        assert (found.memories[it] == before[it]).all()
    assert spans[0].end - spans[0].begin == (50 if source == destination else 110)


@pytest.mark.plan("dma-engine-2")
def test_overlapping_bytes_are_read_before_they_are_written():
    """Memory is put together by moving it down, over itself [trip 2]."""
    found = engines()
    before = found.memories[LOCAL].copy()
    found.run({"dma": [copy(LOCAL, LOCAL, 1000, (100, 50))]})
    assert (found.memories[LOCAL][50:1050] == before[100:1100]).all()


def reading(into):
    """A draw that sees the first byte of local memory when it ends."""
    return Draw(200, lambda memory: into.append(int(memory[0])))


@pytest.mark.plan("dma-engine-3")
def test_copies_go_on_beside_draws_in_the_order_of_fences():
    """Three textures, each for its draw: the engine copies the next while one is drawn."""
    found = engines()
    found.memories[SYSTEM][:3] = [11, 12, 13]
    seen = []
    dma, drawing = [], []
    for frame in range(3):
        dma += [Wait("drawn", frame), Copy(Place(SYSTEM, frame), Place(LOCAL, 1 + frame), 1)]
        dma += [Copy(Place(LOCAL, 1 + frame), Place(LOCAL, 0), 1), Signal("copied", frame + 1)]
        drawing += [Wait("copied", frame + 1), reading(seen), Signal("drawn", frame + 1)]
    spans = found.run({"dma": dma, "3d": drawing})
    assert seen == [11, 12, 13]
    assert spans[-1].end == 3 * (11 + 1 + 200)  # each waits for the other: nothing overlaps
    found = engines()
    found.memories[SYSTEM][:3] = [11, 12, 13]
    seen = []
    ahead = [copy(SYSTEM, LOCAL, 100, (0, 200)), copy(SYSTEM, LOCAL, 50, (0, 400))]
    first = [copy(SYSTEM, LOCAL, 1), Signal("copied", 1)]
    spans = found.run({"dma": [*first, *ahead], "3d": [Wait("copied", 1), reading(seen)]})
    assert seen == [11]
    assert [(it.queue, it.begin, it.end) for it in spans] == [
        ("dma", 0, 11),
        ("dma", 11, 121),
        ("dma", 121, 181),
        ("3d", 11, 211),
    ]


@pytest.mark.plan("dma-engine-3")
def test_without_a_fence_a_draw_sees_what_was_there():
    """A draw of 200 ends before a copy of 1100 has: its texture is the old one."""
    for fence, expected in ((True, 11), (False, 99)):
        found = engines()
        found.memories[SYSTEM][0] = 11
        found.memories[LOCAL][0] = 99
        seen = []
        waits = [Wait("copied", 1)] if fence else []
        dma = [copy(SYSTEM, LOCAL, 1090), Signal("copied", 1)]
        found.run({"dma": dma, "3d": [*waits, reading(seen)]})
        assert seen == [expected]


@pytest.mark.plan("dma-engine-4")
@pytest.mark.parametrize(
    "fence, value, reached",
    [
        (5, 5, True),
        (5, 6, False),
        (1, 0xFFFF_FFFF, True),  # the fence has wrapped
        (0xFFFF_FFFF, 1, False),  # it has not yet
        (0, 1 << 31, False),
        ((1 << 31) - 1, 0, True),
    ],
)
def test_fences_wrap(fence, value, reached):
    found = engines()
    queues = {"a": [Signal("f", fence)], "b": [Wait("f", value), Draw(1)]}
    if reached:
        assert len(found.run(queues)) == 1
    else:
        with pytest.raises(DeadlockError, match=f"queues wait for ever: b for f {value}"):
            found.run(queues)


@pytest.mark.plan("dma-engine-4")
def test_queues_that_wait_for_each_other_are_told():
    queues = {
        "a": [Wait("b", 1), Signal("a", 1)],
        "b": [Draw(5), Wait("a", 1), Signal("b", 1)],
    }
    with pytest.raises(DeadlockError, match="a for b 1, b for a 1"):
        engines().run(queues)
    with pytest.raises(InputError, match="copy must lie within 4096 bytes, not 4000"):
        engines().run({"dma": [copy(SYSTEM, LOCAL, 100, (0, 4000))]})
    assert engines().run({}) == []


def writing(value, time):
    """A draw that leaves a value in the first byte of local memory."""

    def effect(memory):
        memory[0] = value

    return Draw(time, effect)


@pytest.mark.plan("dma-engine-3")
def test_a_copy_reads_when_it_begins():
    """A draw that ends within it comes too late; one that ends in the same nanosecond does not."""
    found = engines()
    found.memories[LOCAL][0] = 99
    found.run({"3d": [writing(7, 50)], "dma": [copy(LOCAL, SYSTEM)]})
    assert (found.memories[SYSTEM][0], found.memories[LOCAL][0]) == (99, 7)
    found = engines()
    queues = {
        "a": [Draw(100), Signal("ready", 1)],
        "b": [writing(7, 100)],
        "c": [Wait("ready", 1), copy(LOCAL, SYSTEM)],
    }
    found.run(queues)
    assert found.memories[SYSTEM][0] == 7
