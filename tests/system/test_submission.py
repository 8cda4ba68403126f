# SPDX-License-Identifier: BSD-2-Clause
"""From calls to the ring: driver, command buffers, ring and fences, scheduler."""

from collections import deque

import numpy as np
import pytest

from fixfunc.models.system.kernel_ring import CommandMemory, KernelRing
from fixfunc.models.system.scheduler import Execution, Scheduler, Submission
from fixfunc.models.system.user_mode_driver import DrawCall, SetState, UserModeDriver
from fixfunc.spec.errors import InputError, Stalled


@pytest.mark.plan("submission-1")
@pytest.mark.parametrize("words", [10, 16, 1000])
def test_draws_have_the_state_that_was_set(words):
    """Whoever reads the command buffers in order sees each draw with what its program had set."""
    rng = np.random.default_rng(words)
    driver = UserModeDriver(4, words)
    wanted, expected, calls = {}, [], 0
    for number in range(600):
        for _ in range(rng.integers(0, 4)):
            slot, value = int(rng.integers(4)), int(rng.integers(3))
            driver.set_state(slot, value)
            wanted[slot] = value
            calls += 1
        driver.draw(number)
        expected.append((number, dict(wanted)))
        if rng.random() < 0.05:
            driver.forget()
    driver.flush()
    found, card, sent = [], {}, 0
    for buffer in driver.buffers:
        assert 0 < 2 * len(buffer) <= words
        for command in buffer:
            if isinstance(command, SetState):
                card[command.slot] = command.value
                sent += 1
            else:
                found.append((command.call, dict(card)))
    assert found == expected
    assert driver.filtered == calls - sent > 0


@pytest.mark.plan("submission-1")
def test_what_changes_nothing_is_filtered():
    driver = UserModeDriver(2, 100)
    driver.set_state(0, "a")
    driver.set_state(0, "b")  # the one before is never seen
    driver.draw(1)
    driver.set_state(0, "c")
    driver.set_state(0, "b")  # as the card has it
    driver.draw(2)
    driver.forget()  # another process was there
    driver.draw(3)
    driver.flush()
    first, second = driver.buffers
    assert first == [SetState(0, "b"), DrawCall(1), DrawCall(2)]
    assert second == [SetState(0, "b"), DrawCall(3)]
    with pytest.raises(InputError, match="words must be at least 6, of a draw and its state"):
        small = UserModeDriver(2, 4)
        small.set_state(0, 1)
        small.set_state(1, 1)
        small.draw(0)
    with pytest.raises(InputError, match="slot must lie in 0..1, not 2"):
        driver.set_state(2, 0)


@pytest.mark.plan("submission-2")
@pytest.mark.parametrize("first", [0, 1, 0xFFFF_FF80, 0x7FFF_FF80])
def test_fences_come_back_whatever_wraps(first):
    """Ring, room for command buffers and numbers wrap, in any order of submits and completions."""
    rng = np.random.default_rng(first % 97)
    ring = KernelRing(8, first)
    memory = CommandMemory(0x1000, 4096, ring)
    pending, taken, finished = deque(), deque(), []
    stalls = submits = 0
    for _ in range(3000):
        action = rng.integers(3)
        if action == 0:
            size = int(rng.choice([1, 256, 257, 1000, 2048]))
            try:
                address = memory.allocate(size)
            except Stalled:
                stalls += 1
                continue
            live = [(a, s) for a, s, _ in [*pending, *taken]]
            assert 0x1000 <= address <= 0x2000 - size
            assert address % 256 == 0
            assert all(address + size <= a or address >= a + s for a, s in live)
            while True:
                try:
                    sequence = ring.submit(address, size)
                except Stalled:
                    assert len(pending) == 7
                    taken.append(pending.popleft())
                    assert ring.take().sequence == taken[-1][2]
                    continue
                break
            assert sequence == (first + submits) % (1 << 32)
            submits += 1
            memory.submitted(address, sequence)
            pending.append((address, size, sequence))
        elif action == 1:
            entry = ring.take()
            assert (entry is None) == (not pending)
            if entry:
                taken.append(pending.popleft())
                assert (entry.address, entry.size, entry.sequence) == taken[-1]
        elif taken:
            finished.append(taken.popleft()[2])
            assert ring.complete() == finished[-1] == ring.completed
        assert all(ring.done(it) for it in finished[-50:])
        assert not any(ring.done(it) for _, _, it in [*pending, *taken])
    assert submits > 500
    assert stalls > 100


@pytest.mark.plan("submission-2")
def test_rings_and_rooms_that_are_none():
    ring = KernelRing(2)
    memory = CommandMemory(0, 512, ring)
    with pytest.raises(InputError, match="entries must be a power of two, not 3"):
        KernelRing(3)
    with pytest.raises(InputError, match="complete must come behind a take, not before one"):
        ring.complete()
    with pytest.raises(InputError, match="size must lie in 1..512, not 513"):
        memory.allocate(513)
    with pytest.raises(InputError, match="first must be a multiple of 256, not 1"):
        CommandMemory(1, 256, ring)
    with pytest.raises(InputError, match="address must be of an allocation that is not submitted"):
        memory.submitted(0, 1)
    assert memory.allocate(512) == 0
    memory.submitted(0, ring.submit(0, 512))
    with pytest.raises(Stalled):
        ring.submit(0, 1)
    with pytest.raises(Stalled):
        memory.allocate(1)
    ring.take()
    ring.complete()
    assert memory.allocate(512) == 0


def naive_scheduler(scheduler, processes):
    """Nanosecond by nanosecond."""
    names = list(processes)
    left = {name: list(enumerate(processes[name])) for name in names}
    found = []
    busy, current, last, used, now = 0, None, len(names) - 1, 0, 0
    working = None
    granted = False  # a switch has been made, for the command buffer that is next
    while any(left.values()) or working:
        if busy:
            busy -= 1
            now += 1
            used += working is not None
            if busy:
                continue
            if working:
                name, number, begin, hangs = working
                found.append(Execution(name, number, begin, now, not hangs))
                working = None
                if hangs:
                    left[name] = []
                    current = None
                    busy = scheduler.reset
                continue
        ready = [it for it in names if left[it] and left[it][0][1].arrival <= now]
        if not ready:
            now += 1
            used += 1
            continue
        choice = current
        expired = scheduler.time_slice is not None and used >= scheduler.time_slice
        if not granted and (current not in ready or expired):
            choice = next(
                names[(last + k) % len(names)]
                for k in range(1, len(names) + 1)
                if names[(last + k) % len(names)] in ready
            )
            if choice == current:
                used = 0
        if choice != current:
            current, last, used = choice, names.index(choice), 0
            granted, busy = True, scheduler.switch
            if busy:
                continue
        granted = False
        number, submission = left[current].pop(0)
        hangs = submission.time is None or submission.time > scheduler.timeout
        working = (current, number, now, hangs)
        busy = scheduler.timeout if hangs else submission.time
    return found


@pytest.mark.plan("submission-3")
def test_executions_are_those_of_a_scheduler_by_nanoseconds():
    rng = np.random.default_rng(1)
    for _ in range(150):
        scheduler = Scheduler(
            switch=int(rng.choice([0, 1, 5])),
            time_slice=[None, 0, 7, 20][rng.integers(4)],
            timeout=int(rng.choice([9, 12, 30])),
            reset=int(rng.choice([0, 4])),
        )
        processes = {}
        for name in "abc"[: rng.integers(1, 4)]:
            arrivals = np.cumsum(rng.choice([0, 0, 3, 40], rng.integers(0, 8)))
            times = rng.choice([1, 3, 10, 12], len(arrivals))
            processes[name] = [
                Submission(int(at), None if rng.random() < 0.05 else int(time))
                for at, time in zip(arrivals, times, strict=True)
            ]
        assert scheduler.run(processes) == naive_scheduler(scheduler, processes)


@pytest.mark.plan("submission-3")
def test_a_process_starves_unless_time_is_sliced():
    """One submits for ever; the other has one command buffer, and waits for it."""
    busy = [Submission(0, 10)] * 100
    lone = [Submission(5, 10)]
    ends = []
    for time_slice in (None, 100, 30):
        scheduler = Scheduler(switch=7, time_slice=time_slice, timeout=1000, reset=0)
        found = scheduler.run({"busy": busy, "lone": lone})
        ends.append(next(it.end for it in found if it.process == "lone"))
        switches = 2 if time_slice is None else 3
        assert found[-1].end == 101 * 10 + switches * 7
    assert ends == [7 + 1000 + 7 + 10, 7 + 100 + 7 + 10, 7 + 30 + 7 + 10]


@pytest.mark.plan("submission-4")
def test_a_hung_command_buffer_is_reset_and_others_go_on():
    scheduler = Scheduler(switch=2, time_slice=0, timeout=50, reset=9)
    good = [Submission(0, 10)] * 3
    bad = [Submission(0, 10), Submission(0, None), Submission(0, 10)]
    found = scheduler.run({"bad": bad, "good": good})
    assert [(it.process, it.number, it.completed) for it in found] == [
        ("bad", 0, True),
        ("good", 0, True),
        ("bad", 1, False),
        ("good", 1, True),
        ("good", 2, True),
    ]
    assert found[2].end - found[2].begin == 50
    assert found[3].begin - found[2].end == 9 + 2


@pytest.mark.plan("submission-4")
def test_schedules_that_are_none():
    scheduler = Scheduler(0, None, 1, 0)
    assert scheduler.run({}) == scheduler.run({"a": []}) == []
    with pytest.raises(InputError, match="arrival must lie in 5.."):
        scheduler.run({"a": [Submission(5, 1), Submission(4, 1)]})
    with pytest.raises(InputError, match="timeout must lie in 1.."):
        Scheduler(0, None, 0, 0)
    with pytest.raises(InputError, match="time must lie in 1.."):
        Submission(0, 0)
