# SPDX-License-Identifier: BSD-2-Clause
from collections import deque

import numpy as np
import pytest
from amaranth.sim import Simulator

from fixfunc.models.lib import axi as golden
from fixfunc.models.lib.axi import BYTES, Burst
from fixfunc.rtl.lib import axi
from fixfunc.rtl.lib.axi import Axi, AxiRead, AxiReader, AxiWrite, AxiWriter
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench.clocked import port
from fixfunc.tb.lib import axi as bench
from tests.lib.bench import broken, check_bench, check_page

STEM = "axi"
BURSTS = [Burst(0, 3, 1), Burst(96, 0, 2), Burst(32, 1, 3), Burst(64, 5, 4), Burst(0, 2, 5)] * 3
MEMORY = np.random.default_rng(5).integers(0, 256, 32 * BYTES).astype(np.uint8)
CLOCKS = 300


class Pins:
    """Ports of a component by their names in Verilog, in one clock of a simulation."""

    def __init__(self, context, component):
        self._context = context
        self._component = component

    def __getitem__(self, name):
        return self._context.get(port(self._component, name))

    def __setitem__(self, name, value):
        self._context.set(port(self._component, name), int(value))

    def transferred(self, valid, ready):
        """A beat has moved."""
        return self[valid] and self[ready]


def run(component, clock):
    """Call ``clock(pins, drive)`` in every clock: to drive it, then to see what moves."""

    async def process(context):
        pins = Pins(context, component)
        for _ in range(CLOCKS):
            clock(pins, True)
            clock(pins, False)
            await context.tick()

    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


def read(module, error_at=None, seed=0):
    """Beats that a reader gives of :data:`BURSTS`; memory stalls, and one transfer has an error."""
    rng = np.random.default_rng(seed)
    requests = deque(BURSTS)
    transfers = deque()
    out = []
    count = 0

    def clock(pins, drive):
        nonlocal count
        if drive:
            pins["request__valid"] = bool(requests)
            pins["request__payload"] = bench.pack(requests[0]) if requests else 0
            pins["memory__arready"] = rng.random() < 0.5
            pins["memory__rvalid"] = bool(transfers)
            if transfers:
                pins["memory__rdata"] = transfers[0]
                pins["memory__rresp"] = 2 if count == error_at else 0
            pins["o__ready"] = rng.random() < 0.5
            return
        if pins.transferred("request__valid", "request__ready"):
            requests.popleft()
        if pins.transferred("o__valid", "o__ready"):
            out.append(pins["o__payload"])
        if pins.transferred("memory__rvalid", "memory__rready"):
            transfers.popleft()
            count += 1
        if pins.transferred("memory__arvalid", "memory__arready"):
            burst = Burst(pins["memory__araddr"], pins["memory__arlen"] + 1, 0)
            transfers.extend(transfer.data for transfer in golden.read(MEMORY, [burst]))

    run(module.AxiReader(bench.MOST, bench.IN_FLIGHT, bench.TAG), clock)
    return out


def write(module, error_at=None, seed=0):
    """Responses of a writer to the :data:`BURSTS` that have transfers, and memory after them."""
    rng = np.random.default_rng(seed)
    bursts = deque(burst for burst in BURSTS if burst.transfers)
    data = deque(range(1, 1 + sum(burst.transfers for burst in bursts)))
    memory = MEMORY.copy()
    addresses = deque()
    responses = deque()
    written = []
    out = []

    def clock(pins, drive):
        if drive:
            pins["burst__valid"] = bool(bursts) and rng.random() < 0.7
            pins["burst__payload"] = bench.pack(bursts[0]) if bursts else 0
            pins["data__valid"] = bool(data) and rng.random() < 0.7
            pins["data__payload"] = data[0] if data else 0
            pins["memory__awready"] = rng.random() < 0.5
            pins["memory__wready"] = rng.random() < 0.5
            pins["memory__bvalid"] = bool(responses)
            pins["memory__bresp"] = responses[0] if responses else 0
            pins["response__ready"] = rng.random() < 0.5
            return
        if pins.transferred("burst__valid", "burst__ready"):
            bursts.popleft()
        if pins.transferred("data__valid", "data__ready"):
            data.popleft()
        if pins.transferred("response__valid", "response__ready"):
            out.append(pins["response__payload"])
            responses.popleft()
        if pins.transferred("memory__awvalid", "memory__awready"):
            addresses.append((pins["memory__awaddr"], pins["memory__awlen"] + 1))
        if pins.transferred("memory__wvalid", "memory__wready"):
            written.append((pins["memory__wdata"], pins["memory__wlast"]))
        while addresses and len(written) >= addresses[0][1]:
            address, count = addresses.popleft()
            burst = [written.pop(0) for _ in range(count)]
            assert [last for _, last in burst] == [0] * (count - 1) + [1]
            words = [word for word, _ in burst]
            memory[:] = golden.write(memory, [Burst(address, count, 0)], words)
            responses.append(2 if len(out) + len(responses) == error_at else 0)

    run(module.AxiWriter(bench.MOST, bench.IN_FLIGHT, bench.TAG), clock)
    return out, memory


WRITES = [burst for burst in BURSTS if burst.transfers]
AFTER = golden.write(MEMORY, WRITES, range(1, 1 + sum(burst.transfers for burst in WRITES)))


def of_read(beats):
    """What a reader gave, or None if it is not what bursts are."""
    return [bench.unpack(beat) for beat in beats]


def test_bursts_are_read_in_order():
    assert of_read(read(axi)) == golden.read(MEMORY, BURSTS)


def test_bursts_are_written_in_order():
    responses, memory = write(axi)
    assert responses == [burst.tag for burst in WRITES]
    assert (memory == AFTER).all()


def test_errors_come_with_their_transfer_or_response():
    error = 1 << bench.TRANSFER + bench.INDEX + 2
    beats = read(axi, error_at=4)
    nonempty = [n for n, transfer in enumerate(golden.read(MEMORY, BURSTS)) if not transfer.empty]
    assert [n for n, beat in enumerate(beats) if beat & error] == [nonempty[4]]
    responses, _ = write(axi, error_at=2)
    assert [beat >> bench.TAG for beat in responses] == [0, 0, 1] + [0] * (len(WRITES) - 3)


def test_ports_have_the_names_of_the_standard():
    read_names = set(AxiRead().members)
    assert {"arvalid", "arready", "araddr", "arlen", "rvalid", "rready", "rlast"} <= read_names
    assert set(Axi().members) == read_names | set(AxiWrite().members)


@pytest.mark.parametrize("kind", [AxiReader, AxiWriter])
@pytest.mark.parametrize(
    ("most", "in_flight", "message"),
    [
        (0, 4, "most must be 1 to 256, not 0"),
        (257, 4, "most must be 1 to 256, not 257"),
        (8, 2, "in_flight must be above 2, not 2"),
    ],
)
def test_wrong_parameters(kind, most, in_flight, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        kind(most, in_flight, 4)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("index == head.transfers - 1", "index == head.transfers"),
        ("pending.r_rdy & ~empty & self.o.ready", "pending.r_rdy & self.o.ready"),
        ("pending.w_rdy & (may_read | ~reads)", "pending.w_rdy"),
        ("port.arlen.eq(request.transfers - 1)", "port.arlen.eq(request.transfers)"),
        ("port.arvalid.eq(begins)", "port.arvalid.eq(pending.w_en)"),
        ("self.o.payload.tag.eq(head.tag)", "self.o.payload.tag.eq(self.request.payload.tag)"),
    ],
)
def test_a_broken_reader_is_caught(right, wrong):
    assert of_read(read(broken(f"lib.{STEM}", right, wrong))) != golden.read(MEMORY, BURSTS)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("index == lengths.r_data - 1", "index == lengths.r_data"),
        ("address_ready & lengths.w_rdy", "lengths.w_rdy"),
        ("port.awlen.eq(burst.transfers - 1)", "port.awlen.eq(burst.transfers)"),
        ("lengths.r_rdy & (~port.wvalid | port.wready)", "lengths.r_rdy"),
        ("pending.w_data.eq(burst.tag)", "pending.w_data.eq(burst.tag + 1)"),
    ],
)
def test_a_broken_writer_is_caught(right, wrong):
    try:
        responses, memory = write(broken(f"lib.{STEM}", right, wrong))
    except AssertionError:  # the last transfer of a burst is not where it should be
        return
    assert responses != [burst.tag for burst in WRITES] or (memory != AFTER).any()


def test_waveforms():
    check_page(STEM)


def test_bench(simulator):
    check_bench(STEM, simulator)
