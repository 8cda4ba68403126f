# SPDX-License-Identifier: BSD-2-Clause
"""The volume library itself, on components small enough to see through."""

import numpy as np
import pytest
from amaranth.hdl import Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import PACES, SimulationError, Volume
from fixfunc.models.payload import dtype
from fixfunc.rtl.lib.arithmetic.divider import Divider
from fixfunc.rtl.lib.arithmetic.interval_register import IntervalRegister
from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.arithmetic.shared_multiplier import SharedMultiplier
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
    """A pipeline of lib/arithmetic behind streams: a beat every ``interval`` clocks."""

    def __init__(self, part, inputs, interval=1):
        self._part = part
        self._inputs = inputs
        self._interval = interval
        self._widths = [len(Value.cast(getattr(part, name))) for name in inputs]
        width = len(Value.cast(part.o))
        super().__init__(
            {"i": In(stream.Signature(sum(self._widths))), "o": Out(stream.Signature(width))}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.part = part = self._part
        m.submodules.queue = queue = CreditedFIFO(self.o.payload.shape(), 128)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        m.submodules.intake = intake = IntervalRegister(self.i.payload.shape(), self._interval)
        wiring.connect(m, wiring.flipped(self.i), intake.i)
        m.d.comb += [
            intake.room.eq(queue.available),
            queue.consume.eq(intake.accept),
        ]
        if hasattr(part, "start"):
            m.d.comb += part.start.eq(intake.start)
        low = 0
        for name, bits in zip(self._inputs, self._widths, strict=True):
            m.d.comb += Value.cast(getattr(part, name)).eq(intake.o[low : low + bits])
            low += bits
        m.d.comb += [
            queue.push.eq(delay(m, intake.start, part.latency, "valid")),
            queue.i.eq(part.o),
        ]
        return m


@pytest.mark.plan("triangle-setup-8")
@pytest.mark.parametrize(
    ("a", "b", "out"), [(25, 25, 50), (33, 25, 58), (48, 25, 56), (14, 48, 48), (26, 8, 34)]
)
def test_multiplier(a, b, out):
    volume = Volume(Arithmetic(Multiplier(a, b, out), ("a", "b")), "multiply")
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
@pytest.mark.parametrize("interval", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_shared_multiplier(count, interval):
    """Every product of every set, whatever takes turns, at one set an interval."""
    part = SharedMultiplier(count, 20, 9, interval=interval)
    volume = Volume(Arithmetic(part, ("a", "b"), interval), "shared_multiplier")
    rng = np.random.default_rng(interval)
    names = [f"{axis}{k}" for axis in "ab" for k in range(count)]
    bits = [20] * count + [9] * count
    values = np.array([rng.integers(-1 << n - 1, 1 << n - 1, 300) for n in bits])
    fields = [payloads.Field(name, n, True) for name, n in zip(names, bits, strict=True)]
    rows = codec.pack(np.rec.fromarrays(values, names=names), fields)
    out = volume.run({"i": rows}, 600)
    products = [payloads.Field(f"o{k}", 29, True) for k in range(count)]
    got = codec.unpack(out.outputs["o"], products, dtype(products))
    for k in range(count):
        assert (got[f"o{k}"] == values[k] * values[count + k]).all()
    latency = part.latency + 2 + CreditedFIFO.LATENCY
    assert out.clocks == (len(rows) - 1) * interval + latency


@pytest.mark.plan("triangle-setup-8")
@pytest.mark.parametrize(("count", "interval"), [(1, 1), (2, 1), (2, 2), (2, 4), (1, 2), (3, 2)])
def test_divider(count, interval):
    part = Divider(49, 24, 48, count, interval)
    volume = Volume(Arithmetic(part, ("high", "low", "divisor"), interval), "divider")
    rng = np.random.default_rng(interval)
    divisor = rng.integers(1, 1 << rng.integers(1, 49, 400))
    divisor[:3] = 1, (1 << 49) - 1, 1 << 48
    high = rng.integers(0, divisor, (count, 400))
    high[:, :3] = divisor[:3] - 1
    low = rng.integers(0, 1 << 24, (count, 400))
    names = [f"{name}{k}" for name in ("high", "low") for k in range(count)]
    bits = [49] * count + [24] * count
    fields = [payloads.Field(name, n) for name, n in zip(names, bits, strict=True)]
    fields.append(payloads.Field("divisor", 49))
    records = np.rec.fromarrays([*high, *low, divisor], names=[*names, "divisor"])
    got = volume.run({"i": codec.pack(records, fields)}, 600).outputs["o"]
    for row, *operands in zip(got, divisor, *high, *low, strict=True):
        value = codec.to_int(row)
        for k in range(count):
            dividend = (int(operands[1 + k]) << 48) + (int(operands[1 + count + k]) << 24)
            assert value >> 48 * k & (1 << 48) - 1 == dividend // int(operands[0])


def test_wrong_sharing():
    for arguments, message in (
        ((0, 8, 8), "count must be above 0, not 0"),
        ((2, 8, 8, None, 0), "interval must be above 0, not 0"),
    ):
        with pytest.raises(ValueError, match=message):
            SharedMultiplier(*arguments)
    with pytest.raises(ValueError, match="quotient must be a multiple of 5, not 48"):
        Divider(49, 24, 48, 1, 5)


def test_wrong_delay():
    with pytest.raises(ValueError, match="clocks must be above two, not 2"):
        DelayLine(8, 2)
