# SPDX-License-Identifier: BSD-2-Clause
"""The volume tier checks protocols: each rule is broken on purpose, by a small component."""

from functools import cache

import numpy as np
import pytest
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim.simulation.volume import Memory, ProtocolError, Volume
from fixfunc.rtl.lib.axi import Axi

BEATS = np.arange(1, 41, dtype=np.uint64).reshape(-1, 1)
NOWHERE = (1 << 64) - 1
SIZE = 16384  # bytes of memory
PACE = ("random", "random")


class Faulty(wiring.Component):
    """A register that passes beats on, but for what ``fault`` says."""

    i: In(stream.Signature(8))
    o: Out(stream.Signature(8))

    def __init__(self, fault):
        self._fault = fault
        super().__init__()

    def elaborate(self, _platform):
        m = Module()
        valid = Signal(init=self._fault == "valid in reset")
        payload = Signal(8)
        clock = Signal()
        m.d.sync += clock.eq(~clock)
        m.d.comb += [
            self.i.ready.eq(~valid | self.o.ready),
            self.o.valid.eq(valid),
            self.o.payload.eq(payload),
        ]
        with m.If(self.i.ready):
            m.d.sync += [
                valid.eq(self.i.valid),
                payload.eq(self.i.payload),
            ]
        if self._fault == "valid falls before ready":
            m.d.comb += self.o.valid.eq(valid & clock)
        if self._fault == "payload changes before ready":
            m.d.comb += self.o.payload.eq(payload ^ clock)
        return m


def run_faulty(fault):
    return Volume(Faulty(fault), "faulty").run({"i": BEATS}, 100, PACE, limit=20_000)


def test_a_sound_stream_passes():
    assert (run_faulty(None).outputs["o"] == BEATS).all()


@pytest.mark.parametrize(
    "fault", ["valid in reset", "valid falls before ready", "payload changes before ready"]
)
def test_a_stream_that_breaks_a_rule_is_caught(fault):
    with pytest.raises(ProtocolError, match=rf"^o: clock \d+: {fault}$"):
        run_faulty(fault)


FIELDS = {
    "arsize": 5,
    "awsize": 5,
    "arburst": 1,
    "awburst": 1,
    "arid": 0,
    "awid": 0,
    "araddr": 1024,
    "awaddr": 1024,
    "wstrb": (1 << 32) - 1,
}
LENGTH = 3  # transfers of a burst, less one


FICKLE = "arvalid", "awvalid", "wvalid", "araddr", "awaddr", "wdata", "wstrb"


class Master(wiring.Component):
    """Writes a burst and reads one, for every beat in; the beat out is the worst response.

    Built once for all faults, which inputs say: constants of the port, by the names of
    :data:`FIELDS`; ``last``, the transfer with ``wlast``; ``fickle``, one more than the number of a
    signal of :data:`FICKLE` that changes while its channel waits.
    """

    def __init__(self):
        port = Axi().create()
        super().__init__(
            {
                "i": In(stream.Signature(8)),
                "o": Out(stream.Signature(2)),
                "memory": Out(Axi()),
                "last": In(8),
                "fickle": In(3),
                **{name: In(len(getattr(port, name))) for name in FIELDS},
            }
        )

    def elaborate(self, _platform):
        m = Module()
        port = self.memory
        number = Signal(8)
        clock = Signal()
        worst = Signal(2)
        m.d.sync += clock.eq(~clock)

        def drive(name, value):
            """Assign a signal of the port; a fickle one is right in every other clock."""
            if name not in FICKLE:
                return getattr(port, name).eq(value)
            wrong = 0 if name.endswith("valid") else value ^ 32
            changes = clock & (self.fickle == 1 + FICKLE.index(name))
            return getattr(port, name).eq(Mux(changes, wrong, value))

        m.d.comb += [drive(name, getattr(self, name)) for name in FIELDS]
        m.d.comb += [
            port.awlen.eq(LENGTH),
            port.arlen.eq(LENGTH),
            port.wlast.eq(number == self.last),
            drive("wdata", number + 1),
            self.o.payload.eq(worst),
        ]
        with m.FSM():
            with m.State("ADDRESS"):
                m.d.comb += drive("awvalid", self.i.valid)
                m.d.sync += [
                    number.eq(0),
                    worst.eq(0),
                ]
                with m.If(port.awvalid & port.awready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += drive("wvalid", 1)
                with m.If(port.wvalid & port.wready):
                    m.d.sync += number.eq(number + 1)
                    with m.If(number == LENGTH):
                        m.next = "WRITTEN"
            with m.State("WRITTEN"):
                m.d.comb += port.bready.eq(1)
                with m.If(port.bvalid):
                    m.d.sync += worst.eq(port.bresp)
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += drive("arvalid", 1)
                with m.If(port.arvalid & port.arready):
                    m.next = "DATA"
            with m.State("DATA"):
                m.d.comb += port.rready.eq(1)
                with m.If(port.rvalid):
                    m.d.sync += worst.eq(worst | port.rresp)
                    with m.If(port.rlast):
                        m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += [
                    self.o.valid.eq(1),
                    self.i.ready.eq(self.o.ready),
                ]
                with m.If(self.o.ready):
                    m.next = "ADDRESS"
        return m


@cache
def master():
    return Volume(Master(), "master")


def run_master(memory=None, fields=(), last=LENGTH, fickle=None, keep=None):
    memory = memory or Memory(np.zeros(SIZE, np.uint8), (0, 8))
    held = FIELDS | dict(fields) | {"last": last, "fickle": 0}
    held |= {"fickle": 1 + FICKLE.index(fickle)} if fickle else {}
    for name, value in held.items():
        master().hold(name, value)
    run = master().run({"i": BEATS}, 100, memory=memory, limit=50_000, keep=keep)
    return run, memory.data.view("<u8").reshape(-1, 4)


def test_a_sound_master_passes():
    run, data = run_master()
    assert not run.outputs["o"].any() and len(run.outputs["o"]) == len(BEATS)
    assert data[32:36, 0].tolist() == [1, 2, 3, 4] and data.sum() == 10
    assert not len(run.outside)


@pytest.mark.parametrize("channel", ["ar", "aw"])
@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("size", 4, "size is not that of whole transfers"),
        ("burst", 0, "burst is not of ascending addresses"),
        ("id", 1, "id is not 0"),
        ("addr", 1040, "address is not that of a transfer"),
        ("addr", 4096 - 96, "burst crosses 4 KB"),
    ],
)
def test_a_burst_that_breaks_a_rule_is_caught(channel, field, value, rule):
    with pytest.raises(ProtocolError, match=rf"^memory: clock \d+: {rule}$"):
        run_master(fields={channel + field: value})


@pytest.mark.parametrize("last", [LENGTH - 1, LENGTH + 1])
def test_a_burst_that_ends_elsewhere_is_caught(last):
    with pytest.raises(ProtocolError, match="last is not at the end of a burst"):
        run_master(last=last)


@pytest.mark.parametrize(
    ("signal", "rule"),
    [
        ("arvalid", "valid falls"),
        ("awvalid", "valid falls"),
        ("wvalid", "valid falls"),
        ("araddr", "payload changes"),
        ("awaddr", "payload changes"),
        ("wdata", "payload changes"),
        ("wstrb", "payload changes"),
    ],
)
def test_a_channel_that_changes_before_it_is_taken_is_caught(signal, rule):
    with pytest.raises(ProtocolError, match=f"{rule} before ready"):
        run_master(fickle=signal)


def test_a_burst_ends_at_the_end_of_a_page():
    assert not run_master(fields={"araddr": 4096 - 128, "awaddr": 8192 - 128})[0].outputs["o"].any()


def test_only_bytes_with_a_strobe_are_written():
    data = np.full(SIZE, 7, np.uint8)
    run_master(Memory(data, (0, 8)), fields={"wstrb": 0x0F0F0F0E})
    wanted = np.full((4, 32), 7, np.uint8)
    wanted[:, [byte for byte in range(32) if 0x0F0F0F0E >> byte & 1]] = 0
    assert (data[1024:1152].reshape(4, 32) == wanted).all()
    assert (data[:1024] == 7).all() and (data[1152:] == 7).all()


def test_what_lies_outside_is_answered_so_and_told():
    data = np.zeros(1024 + 64, np.uint8)
    run, _ = run_master(Memory(data, (0, 8)))
    assert set(run.outputs["o"].ravel().tolist()) == {3}
    assert sorted(set(run.outside.tolist())) == [1088, 1120]
    assert not data.any()


@pytest.mark.parametrize(("faults", "worst"), [((1024 + 70, NOWHERE), 2), ((NOWHERE, 1150), 2)])
def test_one_transfer_can_fail(faults, worst):
    run, data = run_master(Memory(np.zeros(SIZE, np.uint8), (0, 8), faults=faults))
    assert set(run.outputs["o"].ravel().tolist()) == {worst}
    assert data.any() == (faults[1] == NOWHERE)


@pytest.mark.parametrize("channel", ["own", "shared"])
def test_a_channel_of_dram_knows_its_rows(channel):
    """A row that is open is asked at once, and stays open while other banks are asked.

    Of two rows of one bank each must be closed for the other: 28 clocks, twice a beat. Answers wait
    at random for a few clocks more.
    """
    clocks = {}
    for name, address in (("row", 1024), ("bank", 1024 + 2048), ("conflict", 1024 + 16 * 2048)):
        memory = Memory(np.zeros(1 << 17, np.uint8), channel=channel)
        run, data = run_master(memory, fields={"araddr": address})
        assert data[32:36, 0].tolist() == [1, 2, 3, 4] and data.sum() == 10
        clocks[name] = run.clocks / len(BEATS)
    assert 2 * 74 < clocks["row"] < 2 * 74 + 40
    assert abs(clocks["bank"] - clocks["row"]) < 10
    assert abs(clocks["conflict"] - clocks["row"] - 2 * 28) < 10
