# SPDX-License-Identifier: BSD-2-Clause
"""The volume library itself, on components small enough to see through."""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import LATENCIES, PACES, SimulationError, Volume
from fixfunc.models.payload import dtype
from fixfunc.spec import payloads
from fixfunc.tb import catalogue as benches
from tests.volume import volume


class Echo(wiring.Component):
    """Beats of any width, one register deep; optionally never ready."""

    def __init__(self, width, stuck=False):
        self._stuck = stuck
        super().__init__({"i": In(stream.Signature(width)), "o": Out(stream.Signature(width))})

    def elaborate(self, platform):
        m = Module()
        ready = ~self.o.valid | self.o.ready
        m.d.comb += self.i.ready.eq(0 if self._stuck else ready)
        with m.If(ready):
            m.d.sync += [
                self.o.valid.eq(self.i.valid & self.i.ready),
                self.o.payload.eq(self.i.payload),
            ]
        return m


@pytest.mark.parametrize("width", [1, 8, 9, 16, 17, 32, 33, 64, 65, 200])
def test_every_width_at_every_pace(width):
    volume = Volume(Echo(width), "echo")
    rows = np.random.default_rng(width).integers(
        0, 1 << 64, (200, codec.words(width)), dtype=np.uint64
    )
    if width % 64:
        rows[:, -1] &= np.uint64((1 << width % 64) - 1)
    clocks = {}
    for source in PACES:
        for sink in PACES:
            out = volume.run({"i": rows}, 200, (source, sink), seed=3)
            assert (out.outputs["o"] == rows).all()
            clocks[source, sink] = out.clocks
            assert volume.run({"i": rows}, 200, (source, sink), seed=3).clocks == out.clocks
    assert clocks["full", "full"] == 201
    assert clocks["starved", "full"] > 1000


def test_nothing_hangs():
    rows = np.zeros((3, 1), np.uint64)
    with pytest.raises(SimulationError, match="not drained after 5000 clocks"):
        Volume(Echo(8, stuck=True), "echo").run({"i": rows}, 3, limit=5000)
    with pytest.raises(SimulationError, match="more than 2 beats out"):
        Volume(Echo(8), "echo").run({"i": rows}, 2)
    with pytest.raises(ValueError, match="i must have 1 words a beat"):
        Volume(Echo(8), "echo").run({"i": np.zeros((3, 2), np.uint64)}, 3)


def test_a_transfer_outside_memory_is_a_mismatch(monkeypatch):
    """Whatever the beats are: here they are right."""
    block = benches.block("command_reader")
    rows = block.bench.requests(np.random.default_rng(2), 40, block.parameters("tiny"))
    unit = volume("command_reader", "tiny")
    assert block.compare(unit, rows, "tiny")[2:] == (0, None)
    run = unit.run
    monkeypatch.setattr(
        unit, "run", lambda *args, **more: run(*args, **more)._replace(outside=np.uint64([0x40]))
    )
    words = "memory: there is no transfer at 0x40"
    assert block.compare(unit, rows, "tiny")[2:] == (1, words)


def test_memory_behaves_as_it_is_told(monkeypatch):
    """What is not told is as it is without; a memory that answers later takes longer."""
    block = benches.block("command_reader")
    rows = block.bench.requests(np.random.default_rng(2), 40, block.parameters("tiny"))
    unit = volume("command_reader", "tiny")
    memories = []
    run = unit.run

    def kept(*args, memory, **more):
        memories.append(memory)
        return run(*args, memory=memory, **more)

    monkeypatch.setattr(unit, "run", kept)
    slow = {"latency": (4000, 8000)}
    usual, told = (block.compare(unit, rows, "tiny", behaviour=b)[0] for b in ({}, slow))
    assert [memory.latency for memory in memories] == [LATENCIES[0], (4000, 8000)]
    assert memories[0].ready == memories[1].ready
    assert told.clocks > 2 * usual.clocks


@pytest.mark.parametrize(
    "fields",
    [
        payloads.TRIANGLE,
        payloads.DRAW_STATE,
        payloads.SETUP,
        payloads.TILE,
        payloads.tile(4),
        payloads.CLEAR,
    ],
)
def test_codec(fields):
    rng = np.random.default_rng(0)
    records = np.zeros(50, dtype(fields))
    for f in fields:
        value = rng.integers(0, 1 << f.bits, 50, dtype=np.uint64)
        records[f.name] = value.astype(np.int64) - (1 << f.bits - 1) if f.signed else value
    packed = codec.pack(records, fields, 700)
    assert (codec.unpack(packed, fields, dtype(fields)) == records).all()
    value = codec.to_int(packed[7])
    low = 0
    for f in fields:
        assert value >> low & (1 << f.bits) - 1 == int(records[f.name][7]) % (1 << f.bits)
        low += f.bits
    assert (codec.from_int(value, 700) == packed[7]).all()
