# SPDX-License-Identifier: BSD-2-Clause
"""The volume library itself, on components small enough to see through."""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import PACES, SimulationError, Volume
from fixfunc.models.payload import dtype
from fixfunc.rtl.lib.arithmetic import Divider, Multiplier
from fixfunc.rtl.lib.delay import DelayLine, delay
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.spec import payloads


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


class Arithmetic(wiring.Component):
    """A multiplier and a divider behind streams that never stall."""

    def __init__(self, part, inputs, output):
        self._part = part
        self._inputs = inputs
        self._output = output
        super().__init__(
            {"i": In(stream.Signature(sum(inputs.values()))), "o": Out(stream.Signature(output))}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.part = part = self._part
        m.submodules.queue = queue = CreditedFIFO(self._output, 128)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        low = 0
        valid = self.i.valid & queue.available
        m.d.comb += [
            self.i.ready.eq(queue.available),
            queue.consume.eq(valid),
        ]
        for name, bits in self._inputs.items():
            m.d.comb += getattr(part, name).eq(self.i.payload[low : low + bits])
            low += bits
        m.d.comb += [
            queue.push.eq(delay(m, valid, part.latency, "valid")),
            queue.i.eq(part.o),
        ]
        return m


@pytest.mark.plan("triangle-setup-8")
@pytest.mark.parametrize(
    ("a", "b", "out"), [(25, 25, 50), (33, 25, 58), (48, 25, 56), (14, 48, 48), (26, 8, 34)]
)
def test_multiplier(a, b, out):
    volume = Volume(Arithmetic(Multiplier(a, b, out), {"a": a, "b": b}, out), "multiply")
    rng = np.random.default_rng(a)
    x = np.append(
        rng.integers(-1 << a - 1, 1 << a - 1, 500), [-1 << a - 1, (1 << a - 1) - 1, -1, 0]
    )
    y = np.append(
        rng.integers(-1 << b - 1, 1 << b - 1, 500), [-1 << b - 1, (1 << b - 1) - 1, -1, 0]
    )
    fields = (payloads.Field("a", a, True), payloads.Field("b", b, True))
    rows = codec.pack(np.rec.fromarrays([x, y], names="a,b"), fields)
    got = volume.run({"i": rows}, 600).outputs["o"][:, 0]
    assert [int(v) for v in got] == [
        int(p) * int(q) % (1 << out) for p, q in zip(x, y, strict=True)
    ]


@pytest.mark.plan("triangle-setup-8")
def test_divider():
    volume = Volume(
        Arithmetic(Divider(49, 24, 48), {"high": 49, "low": 24, "divisor": 49}, 48), "divide"
    )
    rng = np.random.default_rng(0)
    divisor = rng.integers(1, 1 << rng.integers(1, 49, 400))
    high = rng.integers(0, divisor)
    low = rng.integers(0, 1 << 24, 400)
    fields = (payloads.Field("high", 49), payloads.Field("low", 24), payloads.Field("divisor", 49))
    rows = codec.pack(np.rec.fromarrays([high, low, divisor], names="high,low,divisor"), fields)
    got = volume.run({"i": rows}, 600).outputs["o"][:, 0]
    assert [int(v) for v in got] == [
        ((int(h) << 48) + (int(lo) << 24)) // int(d)
        for h, lo, d in zip(high, low, divisor, strict=True)
    ]


def test_wrong_delay():
    with pytest.raises(ValueError, match="clocks must be above two, not 2"):
        DelayLine(8, 2)
