# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.lib.float32.float_unit.FloatUnit`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.lib.float_unit import Form, operate
from fixfunc.models.payload import dtype
from fixfunc.rtl.lib.float32.float_unit import FloatUnitParams
from fixfunc.spec.floats import FloatOp
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES


def special(form: Form) -> np.ndarray:
    """Packed numbers of every class, and the ends of each: zeros, denormals, normal numbers, one,
    infinity, NaN; int64, of both signs.
    """
    infinity = ((1 << form.exponent) - 1) << form.fraction
    one = infinity // 2 >> form.fraction << form.fraction
    least = 1 << form.fraction
    positive = [
        *(0, 1, least - 1, least, least + 1, one - 1, one, one + 1),
        *(infinity - 1, infinity, infinity + 1, infinity | least // 2, infinity | least - 1),
    ]
    sign = 1 << form.exponent + form.fraction
    return np.array([bits | of for bits in positive for of in (0, sign)])


def numbers(rng: np.random.Generator, count: int, form: Form) -> np.ndarray:
    """Packed numbers, int64: of any bits, of few bits and near one, of a mantissa's ends."""
    bits = rng.integers(0, 1 << 1 + form.exponent + form.fraction, count)
    fraction = bits & (1 << form.fraction) - 1
    few = fraction & -(1 << rng.integers(0, form.fraction + 1, count))
    ends = rng.choice([0, 1, (1 << form.fraction) - 1, 1 << form.fraction - 1], count)
    near = (1 << form.exponent - 1) - 1 + rng.integers(-form.fraction - 3, form.fraction + 4, count)
    exponent = np.clip(near, 0, (1 << form.exponent) - 1)
    sign = bits >> form.exponent + form.fraction << form.exponent + form.fraction
    kind = rng.integers(0, 8, count)
    chosen = sign | exponent << form.fraction | np.where(kind < 4, few, ends)
    out = np.where(kind < 6, chosen, bits)
    return np.where(rng.random(count) < 0.1, rng.choice(special(form), count), out)


def requests(rng: np.random.Generator, count: int, params: FloatUnitParams) -> np.ndarray:
    """Packed operands. Sums cancel often, or have one that is half a unit of the other."""
    form = Form(params.exponent, params.fraction)
    records = np.zeros(count, dtype(params.operands))
    if params.op == FloatOp.FROM_FIXED:
        records["a"] = integers(rng, count, params.bits)
        return codec.pack(records, params.operands)
    for field in params.operands:
        records[field.name] = numbers(rng, count, form)
    if params.op in (FloatOp.ADD, FloatOp.MULTIPLY_ADD):
        _near(rng, records, params, form)
    if params.op == FloatOp.COMPARE:
        same = rng.random(count) < 0.2
        records["b"][same] = records["a"][same]
    return codec.pack(records, params.operands)


def integers(rng: np.random.Generator, count: int, bits: int) -> np.ndarray:
    """Signed integers of every size, and the ends; int64."""
    most = 1 << bits - 1
    out = rng.integers(-most, most, count) >> rng.integers(0, bits, count)
    ends = np.array([0, 1, -1, most - 1, -most, -most + 1])
    return np.where(rng.random(count) < 0.1, rng.choice(ends, count), out)


def _near(rng, records, params, form):
    """The last operand becomes that of which the rest is the opposite, within a few units, or is
    about half a unit of it.
    """
    last = params.operands[-1].name
    rest = [records[f.name].astype(np.int64) for f in params.operands[:-1]]
    product = operate(FloatOp.MULTIPLY, rest, form)[0] if len(rest) == 2 else rest[0]
    sign = 1 << form.exponent + form.fraction
    opposite = (product ^ sign) + rng.integers(-2, 3, len(records))
    less = rng.integers(form.fraction - 1, form.fraction + 4, len(records)) << form.fraction
    half = (product & sign) | np.maximum((product & sign - 1) - less, 0)
    half ^= rng.integers(0, 2, len(records)) * sign
    kind = rng.integers(0, 4, len(records))
    value = np.where(kind == 0, opposite, np.where(kind == 1, half, records[last]))
    records[last] = value & 2 * sign - 1


def expected(rows: np.ndarray, params: FloatUnitParams) -> np.ndarray:
    """Packed results of packed operands."""
    records = codec.unpack(rows, params.operands, dtype(params.operands))
    operands = [records[f.name].astype(np.int64) for f in params.operands]
    form = Form(params.exponent, params.fraction)
    out = np.zeros(len(records), dtype(params.results))
    values = operate(params.op, operands, form, params.point, params.bits)
    for field, value in zip(params.results, values, strict=True):
        out[field.name] = value
    return codec.pack(out, params.results)


def describe(row: np.ndarray, params: FloatUnitParams) -> str:
    """Results in words."""
    record = codec.unpack(row[None], params.results, dtype(params.results))[0]
    return ", ".join(f"{f.name} {int(record[f.name]):#x}" for f in params.results)


class FloatUnitBench(StreamBench):
    """Bench with one stream in, and one out."""

    stem = "float_unit"


# plan: float-unit-5
@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def results_leave_in_order(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = FloatUnitBench(dut)
    await bench.run(requests(bench.rng, 300, bench.params), source, sink)


# plan: float-unit-4
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def an_operation_a_clock(dut: HierarchyObject) -> None:
    """At full speed a result leaves each clock."""
    bench = FloatUnitBench(dut)
    await bench.run(requests(bench.rng, 200, bench.params))
    clocks = [clock for _, clock in bench.beats_out]
    assert clocks == list(range(clocks[0], clocks[0] + 200))
