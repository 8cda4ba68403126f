# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.frontend.command_processor import AHEAD, CommandProcessor
from fixfunc.models.frontend.state.slots import StateSlots
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import width
from fixfunc.spec.ring import (
    CALLS,
    FIELDS,
    LENGTHS,
    TRANSFER,
    Condition,
    Event,
    Place,
    RingError,
    RingOp,
    Stop,
    Strategy,
)

RING = 1024  # bytes
MEMORY = 8192


def packet(op, length=None, **fields):
    """Bytes of a packet, fields that are not named being zero."""
    values = {"opcode": op, "length": length or LENGTHS.get(op, 1)} | fields
    word = 0
    low = 0
    for field in FIELDS[op]:
        word |= (values.pop(field.name, 0) & (1 << field.bits) - 1) << low
        low += field.bits
    assert not values, values
    assert width(FIELDS[op]) <= 8 * TRANSFER
    return word.to_bytes(TRANSFER, "little")


def state(kind, value=0):
    return packet(RingOp.SET_STATE, state_kind=kind) + bytes([value]) * TRANSFER


def draw(count=3):
    return packet(RingOp.DRAW, count=count)


class Host:
    """Writes packets into a ring, wrapping, and into memory behind it."""

    def __init__(self, **parameters):
        self.memory = np.zeros(MEMORY, np.uint8)
        self.processor = CommandProcessor(self.memory, 0, RING, **parameters)
        self.write = 0

    def put(self, address, *packets):
        data = np.frombuffer(b"".join(packets), np.uint8)
        self.memory[address : address + len(data)] = data

    def submit(self, *packets):
        for transfer in (
            b"".join(packets)[n : n + TRANSFER] for n in range(0, len(b"".join(packets)), TRANSFER)
        ):
            self.put(self.write, transfer)
            self.write = (self.write + TRANSFER) % RING
        return self.processor.submit(self.write)


# What packets do.


@pytest.mark.plan("command-processor-1")
def test_work_is_begun_in_order_with_its_state():
    host = Host()
    stopped = host.submit(state(0, 7), draw(1), state(0, 8), state(3, 9), draw(2))
    assert stopped.stop == Stop.EMPTY
    first, second = host.processor.work
    assert (first.packet["count"], second.packet["count"]) == (1, 2)
    slots = host.processor.slots
    assert slots.value(0, first.slots[0]) == bytes([7]) * TRANSFER
    assert slots.value(0, second.slots[0]) == bytes([8]) * TRANSFER
    assert slots.value(3, second.slots[3]) == bytes([9]) * TRANSFER
    assert first.slots[3] == -1


@pytest.mark.plan("command-processor-1")
def test_a_ring_wraps_for_ever():
    host = Host()
    for n in range(500):
        assert host.submit(packet(RingOp.NOP), draw(n)).stop == Stop.EMPTY
        assert host.processor.work[-1].packet["count"] == n
        host.processor.finish()
        assert host.processor.read == host.write
    assert not host.processor.work


@pytest.mark.plan("command-processor-2")
def test_calls_and_jumps():
    host = Host()
    host.put(2048, draw(10), packet(RingOp.CALL, address=4096), draw(12), packet(RingOp.RETURN))
    host.put(4096, draw(11), packet(RingOp.RETURN))
    host.put(6144, draw(14), packet(RingOp.JUMP, address=4 * TRANSFER))
    stopped = host.submit(
        draw(9), packet(RingOp.CALL, address=2048), draw(13), packet(RingOp.JUMP, address=6144)
    )
    # The last jump leads back into the ring, behind what was written: nothing is there yet.
    assert stopped.stop == Stop.EMPTY
    assert host.submit(draw(15)).stop == Stop.EMPTY
    counts = [int(work.packet["count"]) for work in host.processor.work]
    assert counts == [9, 10, 11, 12, 13, 14, 15]


@pytest.mark.plan("command-processor-2")
def test_calls_are_four_deep():
    host = Host()
    for n in range(CALLS):
        host.put(2048 + 512 * n, packet(RingOp.CALL, address=2560 + 512 * n), packet(RingOp.RETURN))
    host.put(2048 + 512 * (CALLS - 1), packet(RingOp.RETURN))
    assert host.submit(packet(RingOp.CALL, address=2048), draw()).stop == Stop.EMPTY
    assert len(host.processor.work) == 1
    # One more, and the processor stops at it.
    last = 2048 + 512 * (CALLS - 1)
    host.put(last, packet(RingOp.CALL, address=last + 512))
    stopped = host.submit(packet(RingOp.CALL, address=2048))
    assert (stopped.error, stopped.at) == (RingError.CALLS, last)


@pytest.mark.plan("command-processor-3")
@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize(
    ("test", "value", "passes"),
    [
        (Condition.EQUAL, 5, True),
        (Condition.EQUAL, 4, False),
        (Condition.EQUAL, 6, False),
        (Condition.REACHED, 5, True),
        (Condition.REACHED, 6, True),
        (Condition.REACHED, 4, False),
        (Condition.REACHED, (5 + (1 << 31) - 1), True),
        (Condition.REACHED, (5 + (1 << 31)), False),
        (Condition.ALWAYS, 0, True),
    ],
)
def test_waits_are_over_when_the_value_is_there(place, test, value, passes):
    host = Host()
    where = 3 if place == Place.REGISTER else 4000
    wait = packet(RingOp.WAIT, test=test, place=place, where=where, reference=5)
    begun = host.submit(draw(1), wait, draw(2))
    assert begun.stop == (Stop.EMPTY if test == Condition.ALWAYS else Stop.WAIT)
    if place == Place.REGISTER:
        stopped = host.processor.set_register(3, value)
    else:
        host.memory[4000:4004] = np.frombuffer(value.to_bytes(4, "little"), np.uint8)
        stopped = host.processor.run()
    assert stopped.stop == (Stop.EMPTY if passes else Stop.WAIT)
    assert len(host.processor.work) == 1 + passes
    assert passes or stopped.at == TRANSFER


@pytest.mark.plan("command-processor-3")
def test_sequence_numbers_wrap():
    host = Host()
    host.processor.set_register(0, (1 << 32) - 1)
    wait = packet(RingOp.WAIT, test=Condition.REACHED, where=0, reference=1)
    assert host.submit(wait).stop == Stop.WAIT
    assert host.processor.set_register(0, 0).stop == Stop.WAIT
    assert host.processor.set_register(0, 2).stop == Stop.EMPTY


@pytest.mark.plan("command-processor-3")
def test_a_present_waits_for_its_buffer_and_for_those_before_it():
    free = {0: True, 1: False}
    memory = np.zeros(MEMORY, np.uint8)
    processor = CommandProcessor(memory, 0, RING, can_present=lambda row: free[int(row["display"])])
    presents = [packet(RingOp.PRESENT, display=n) + bytes(TRANSFER) for n in (0, 0, 1)]
    rows = np.frombuffer(b"".join([*presents, draw()]), np.uint8)
    memory[: len(rows)] = rows
    for at in (2, 4):  # of two displays that are free, too, one is presented after the other
        assert processor.submit(len(rows)) == (Stop.WAIT, RingError.NONE, at * TRANSFER)
        assert [work.op for work in processor.work] == [RingOp.PRESENT]
        stopped = processor.finish()
    assert stopped == (Stop.WAIT, RingError.NONE, 4 * TRANSFER)
    assert not processor.work
    free[1] = True
    assert processor.run().stop == Stop.EMPTY
    assert [work.op for work in processor.work] == [RingOp.PRESENT, RingOp.DRAW]


@pytest.mark.plan("command-processor-4")
def test_events_happen_when_the_work_before_them_is_so_far():
    host = Host()
    events = [
        packet(RingOp.EVENT, event=event, place=Place.REGISTER, where=event, value=77)
        for event in Event
    ]
    assert host.submit(draw(), draw(), *events, draw()).stop == Stop.EMPTY
    registers = host.processor.registers
    assert registers[:4] == [77, 0, 0, 0]
    host.processor.finish(Event.READS_DONE)
    assert registers[:4] == [77, 0, 0, 0]
    host.processor.finish(Event.READS_DONE)
    assert registers[:4] == [77, 77, 0, 0]
    host.processor.finish(Event.WRITES_DONE, 2)
    assert registers[:4] == [77, 77, 77, 0]
    host.processor.finish(Event.ALL_DONE, 1)
    assert registers[:4] == [77, 77, 77, 0]
    host.processor.finish(Event.ALL_DONE, 1)
    assert registers[:4] == [77, 77, 77, 77]
    assert len(host.processor.work) == 1


@pytest.mark.plan("command-processor-4")
def test_a_flush_is_an_event_and_a_wait():
    host = Host()
    event = packet(
        RingOp.EVENT, event=Event.ALL_DONE, place=Place.MEMORY, where=4000, value=303, interrupt=1
    )
    wait = packet(RingOp.WAIT, test=Condition.EQUAL, place=Place.MEMORY, where=4000, reference=303)
    assert host.submit(draw(1), event, wait, draw(2)).stop == Stop.WAIT
    assert host.processor.interrupts == 0
    assert host.processor.finish().stop == Stop.EMPTY
    assert host.processor.interrupts == 1
    assert [int(work.packet["count"]) for work in host.processor.work] == [2]


@pytest.mark.plan("command-processor-4")
def test_writes_on_a_condition():
    host = Host()
    write = {"place": Place.REGISTER, "where": 1, "reference": 4, "to": Place.REGISTER}
    host.processor.set_register(1, 4)
    host.submit(
        packet(RingOp.WRITE, test=Condition.EQUAL, to_where=2, value=10, **write),
        packet(RingOp.WRITE, test=Condition.EQUAL, to_where=1, value=9, **write),
        packet(RingOp.WRITE, test=Condition.EQUAL, to_where=3, value=11, **write),
        packet(RingOp.WRITE, test=Condition.ALWAYS, to=Place.MEMORY, to_where=4000, value=12),
    )
    assert host.processor.registers[1:4] == [9, 10, 0]
    assert host.memory[4000] == 12


@pytest.mark.plan("command-processor-5")
def test_packets_that_have_been_fetched_are_not_read_again():
    """The FIFO runs ahead of a wait: what is changed within it is too late, behind it is not."""
    host = Host()
    wait = packet(RingOp.WAIT, test=Condition.EQUAL, where=0, reference=1)
    host.submit(wait, *[draw(1)] * 20)
    for n in range(1, 21):
        host.put(n * TRANSFER, draw(2))
    host.processor.set_register(0, 1)
    counts = [int(work.packet["count"]) for work in host.processor.work]
    assert counts == [1] * (AHEAD - 1) + [2] * (20 - AHEAD + 1)


# State.


@pytest.mark.plan("command-processor-6")
@pytest.mark.parametrize(
    ("strategy", "flushes"), [(Strategy.FLUSH, 99), (Strategy.TWO, 98), (Strategy.POOL, 0)]
)
def test_changes_wait_for_work_as_the_strategy_says(strategy, flushes):
    """A hundred draws, each behind a change; work takes as long as four draws."""
    host = Host(strategy=strategy, pool=8)
    for n in range(100):
        stopped = host.submit(state(0, n % 256), draw(n))
        while stopped.stop == Stop.STATE:
            stopped = host.processor.finish()
        assert stopped.stop == Stop.EMPTY
        if len(host.processor.work) > 4:
            host.processor.finish()
    assert host.processor.slots.flushes == flushes
    for work in host.processor.work:
        value = host.processor.slots.value(0, work.slots[0])
        assert value == bytes([int(work.packet["count"])]) * TRANSFER


@pytest.mark.plan("command-processor-6")
@given(st.lists(st.integers(0, 2), max_size=80), st.sampled_from(list(Strategy)))
def test_work_keeps_its_state_until_it_is_over(steps, strategy):
    slots = StateSlots(strategy, 3)
    wanted = b""
    work = []
    for n, step in enumerate(steps):
        if step == 0:
            value = bytes([n])
            if slots.change(1, value):
                wanted = value
            else:
                assert work
        elif step == 1:
            work.append((slots.hold(), wanted))
        elif work:
            slots.release(work.pop(0)[0])
        for held, value in work:
            assert held[1] < 0 or slots.value(1, held[1]) == value
    for held, _ in work:
        slots.release(held)
    assert slots.change(1, b"last")


# Hostile rings.


@pytest.mark.plan("command-processor-7")
@pytest.mark.parametrize(
    ("packets", "error", "at"),
    [
        ([packet(RingOp.NOP), bytes(TRANSFER)], RingError.OPCODE, 1),
        ([packet(RingOp.NOP, length=17)], RingError.LENGTH, 0),
        ([packet(RingOp.DRAW, length=2), bytes(TRANSFER)], RingError.LENGTH, 0),
        ([packet(RingOp.SET_STATE)], RingError.LENGTH, 0),
        ([packet(RingOp.JUMP, address=0)], RingError.LOOP, 0),
        ([draw(), packet(RingOp.JUMP, address=0)], RingError.LOOP, 0),
        ([packet(RingOp.JUMP, address=8)], RingError.ADDRESS, 0),
        ([packet(RingOp.JUMP, address=MEMORY)], RingError.ADDRESS, 0),
        ([packet(RingOp.CALL, address=0)], RingError.CALLS, 0),
        ([packet(RingOp.RETURN)], RingError.RETURN, 0),
        ([packet(RingOp.SET_STATE, state_kind=9), bytes(TRANSFER)], RingError.FIELD, 0),
        ([packet(RingOp.WAIT, test=3)], RingError.FIELD, 0),
        ([packet(RingOp.WAIT, test=Condition.EQUAL, where=16)], RingError.ADDRESS, 0),
        ([packet(RingOp.WAIT, test=1, place=1, where=MEMORY - 2)], RingError.ADDRESS, 0),
        ([packet(RingOp.EVENT, place=1, where=2)], RingError.ADDRESS, 0),
        ([packet(RingOp.WRITE, to=1, to_where=MEMORY)], RingError.ADDRESS, 0),
    ],
)
def test_hostile_rings_end_with_an_error(packets, error, at):
    host = Host()
    stopped = host.submit(*packets)
    assert (stopped.stop, stopped.error) == (Stop.ERROR, error)
    if error != RingError.LOOP or len(packets) == 1:
        assert stopped.at == at * TRANSFER
    # Nothing goes on behind an error.
    begun = len(host.processor.work)
    assert host.submit(draw()).stop == Stop.ERROR
    assert len(host.processor.work) == begun


@pytest.mark.plan("command-processor-7")
@pytest.mark.parametrize("seed", range(30))
def test_random_rings_end(seed):
    """Packets of any fields: each ends, and writes nothing but words."""
    rng = np.random.default_rng(seed)
    host = Host()
    for n in range(RING // TRANSFER - 1):
        rows = rng.integers(0, 256, TRANSFER, dtype=np.uint8)
        rows[0] = rng.choice([*RingOp])
        rows[1:4] = [rng.choice([1, 1, 1, 2]), 0, 0]
        if rng.random() < 0.7:
            rows[4:] = 0
            rows[4] = rng.integers(0, 256) & ~31
            rows[5] = rng.integers(0, 32)
        host.put(n * TRANSFER, rows.tobytes())
    stopped = host.processor.submit(RING - TRANSFER)
    while stopped.stop == Stop.STATE:
        stopped = host.processor.finish()
    assert stopped.stop in Stop


@pytest.mark.plan("command-processor-7")
@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda host: host.processor.submit(RING), r"write pointer must lie in 0\.\.1023"),
        (lambda host: host.processor.submit(8), "write pointer must be a multiple of 32"),
        (lambda host: host.processor.set_register(16, 0), r"register must lie in 0\.\.15"),
        (lambda host: host.processor.set_register(0, 1 << 32), r"value must lie in"),
        (lambda host: host.processor.finish(), r"count must lie in 0\.\.0, not 1"),
        (lambda host: CommandProcessor(host.memory, 8, 64), "base must be a multiple of 32"),
        (lambda host: CommandProcessor(host.memory, 0, MEMORY + 32), "size must lie in"),
    ],
)
def test_bad_hosts_are_refused(act, text):
    with pytest.raises(InputError, match=text):
        act(Host())
