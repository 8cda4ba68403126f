# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.models.lib import float32
from fixfunc.models.lib.float_unit import FLOAT32, Form, operate
from fixfunc.models.payload import dtype
from fixfunc.rtl.lib.float32.float_unit import CONFIGS, UNITS, FloatUnit, FloatUnitParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.floats import FloatOp
from fixfunc.tb.lib import float_unit as bench
from tests import volume
from tests.bench import check_bench

STEM = "float_unit"
BY_PROCESSOR = {
    FloatOp.ADD: float32.add,
    FloatOp.MULTIPLY: float32.multiply,
    FloatOp.MULTIPLY_ADD: float32.multiply_add,
    FloatOp.INVERT: float32.reciprocal,
    FloatOp.DIVIDE: float32.divide,
    FloatOp.SQUARE_ROOT: float32.square_root,
}
SMALL = Form(3, 2)
# Operations whose small formats are tried with all operands, and their clocks: a step each, and in
# ``make qualify`` as few as there can be, whose steps are the same.
EVERY = [
    pytest.param(op, latency, marks=() if latency == UNITS[op].STEPS else pytest.mark.qualify)
    for op in FloatOp
    if op not in (FloatOp.MULTIPLY_ADD, FloatOp.FROM_FIXED)
    for latency in sorted({2 if op == FloatOp.INVERT else 1, UNITS[op].STEPS})
]


def name(value):
    return value.name if isinstance(value, FloatOp) else str(value)


def floats(bits):
    return np.asarray(bits, np.uint32).view(np.float32)


def operands(op, count, seed, config):
    """Packed operands of a configuration, by the bench, as int64."""
    params = CONFIGS[config]
    assert params.op == op
    rows = bench.requests(np.random.default_rng(seed), count, params)
    records = codec.unpack(rows, params.operands, dtype(params.operands))
    return [records[f.name].astype(np.int64) for f in params.operands]


# Models and truths.


def exact(bits, form):
    """A packed number as a rational, or its class: by the definition of the format [fs 3.1.3]."""
    sign = -1 if bits >> form.exponent + form.fraction else 1
    exponent = bits >> form.fraction & (1 << form.exponent) - 1
    fraction = bits & (1 << form.fraction) - 1
    if exponent == (1 << form.exponent) - 1:
        return "nan" if fraction else ("inf", sign)
    if exponent == 0:
        return Fraction(0)
    value = 1 + Fraction(fraction, 1 << form.fraction)
    return sign * value * Fraction(2) ** (exponent - (1 << form.exponent - 1) + 1)


@cache
def grid(form):
    """Every finite number of a format that is not below zero, with denormals, and infinity's place:
    rationals by their packed bits.
    """
    bias = (1 << form.exponent - 1) - 1
    out = []
    for bits in range((((1 << form.exponent) - 1) << form.fraction) + 1):
        exponent, fraction = divmod(bits, 1 << form.fraction)
        whole = Fraction(fraction, 1 << form.fraction) + (exponent > 0)
        out.append(whole * Fraction(2) ** (max(exponent, 1) - bias))
    return out


@cache
def nearest(value, form):
    """Packed bits of the number nearest to a rational: the even one of two; denormals are zeros."""
    numbers = grid(form)
    magnitude = abs(value)
    distance = [abs(magnitude - number) for number in numbers]
    least = min(distance)
    candidates = [bits for bits, far in enumerate(distance) if far == least]
    bits = min(candidates, key=lambda bits: bits % 2)
    if magnitude >= numbers[-1]:
        bits = len(numbers) - 1
    if bits < 1 << form.fraction:
        bits = 0
    return bits | (value < 0) << form.exponent + form.fraction


@pytest.mark.plan("float-unit-1")
@pytest.mark.parametrize(
    "op", [FloatOp.ADD, FloatOp.MULTIPLY, FloatOp.INVERT, FloatOp.DIVIDE], ids=name
)
def test_small_formats_are_the_nearest_rational(op):
    """Every operand there is of 6 bits, whose result is a number."""
    every = range(64)
    count = 1 if op == FloatOp.INVERT else 2
    rows = np.array(list(product(every, repeat=count))).T
    got = operate(op, [*rows], SMALL)[0]
    tried = 0
    for n in range(rows.shape[1]):
        values = [exact(int(bits), SMALL) for bits in rows[:, n]]
        if not all(isinstance(value, Fraction) for value in values):
            continue
        if op in (FloatOp.INVERT, FloatOp.DIVIDE):
            if not values[-1]:
                continue
            value = (values[0] if count == 2 else 1) / values[-1]
        else:
            value = sum(values) if op == FloatOp.ADD else values[0] * values[1]
        if value:
            assert got[n] == nearest(value, SMALL), rows[:, n]
            tried += 1
    assert tried > (47 if count == 1 else 2000)


@pytest.mark.plan("float-unit-1")
@pytest.mark.parametrize("form", [SMALL, Form(4, 3), Form(5, 6)], ids=str)
def test_small_roots_are_the_nearest(form):
    """Every positive operand: the square lies between those of the middles around its root."""
    every = range(1 << form.fraction, ((1 << form.exponent) - 1) << form.fraction)
    got = operate(FloatOp.SQUARE_ROOT, [np.array(every)], form)[0]
    for bits, root in zip(every, got.tolist(), strict=True):
        below, at, above = (exact(root + step, form) for step in (-1, 0, 1))
        assert (below + at) ** 2 < 4 * exact(bits, form) < (at + above) ** 2


@pytest.mark.plan("float-unit-1")
@pytest.mark.parametrize("op", BY_PROCESSOR, ids=name)
def test_float32_is_the_processor_s(op):
    """Random operands, weighted to ties, cancellation and ends; and every pair of special ones."""
    config = {FloatOp.MULTIPLY_ADD: "default"}.get(op, op.name.lower())
    rows = operands(op, 200_000, 1, config)
    ends = bench.special(FLOAT32)
    pairs = np.array(list(product(ends, repeat=len(rows)))).T
    for values in (rows, [*pairs]):
        with np.errstate(all="ignore"):
            wanted = BY_PROCESSOR[op](*map(floats, values))
        assert (operate(op, values)[0] == wanted.view(np.uint32)).all()


@pytest.mark.plan("float-unit-1")
def test_comparisons_are_the_processor_s():
    ends = bench.special(FLOAT32)
    pairs = np.array(list(product(ends, repeat=2))).T
    for values in (operands(FloatOp.COMPARE, 100_000, 2, "compare"), [*pairs]):
        a, b = (float32.flush(floats(value)) for value in values)
        less, equal = operate(FloatOp.COMPARE, values)
        assert (less == (a < b)).all()
        assert (equal == (a == b)).all()


@pytest.mark.plan("float-unit-2")
@pytest.mark.parametrize(("bits", "point"), [(24, 8), (2, 0), (16, 16), (34, 26), (48, 8)])
def test_fixed_point_is_the_nearest(bits, point):
    """To fixed point and from there, against rationals: ties to even, what is beyond saturates."""
    rng = np.random.default_rng(bits)
    values = bench.numbers(rng, 2000, FLOAT32)
    most = 1 << bits - 1
    for n, got in enumerate(operate(FloatOp.TO_FIXED, [values], FLOAT32, point, bits)[0]):
        value = exact(int(values[n]), FLOAT32)
        if value == "nan":
            assert got == 0
        elif isinstance(value, tuple):
            assert got == (most - 1 if value[1] > 0 else -most)
        else:
            assert got == min(max(round(value * (1 << point)), -most), most - 1), n
    whole = bench.integers(rng, 2000, bits)
    got = floats(operate(FloatOp.FROM_FIXED, [whole], FLOAT32, point, bits)[0])
    for n, value in enumerate(got):
        wanted = Fraction(int(whole[n]), 1 << point)
        unit = Fraction(float(np.spacing(np.abs(value)))) if value else Fraction(0)
        error = abs(Fraction(float(value)) - wanted)
        even = int(value.view(np.uint32)) % 2 == 0
        assert error < unit / 2 or error == 0 or (error == unit / 2 and even), n


# Hardware.


@pytest.mark.plan("float-unit-6")
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"op": "ADD"}, "op must be one of ADD, .*, not ADD"),
        ({"latency": 7}, "latency must be 0, or 1 to 6, not 7"),
        ({"op": FloatOp.INVERT, "latency": 1}, "latency must be 0, or 2 to 9, not 1"),
        ({"exponent": 9}, "exponent must be 3 to 8, not 9"),
        ({"fraction": 1}, "fraction must be 2 to 23, not 1"),
        ({"op": FloatOp.TO_FIXED, "bits": 65}, "bits must be 2 to 64, not 65"),
        ({"op": FloatOp.FROM_FIXED, "point": 25}, "point must be 0 to 24, not 25"),
    ],
)
def test_wrong_parameters(values, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        FloatUnitParams(**values)


@pytest.mark.plan("float-unit-4")
@pytest.mark.parametrize("op", FloatOp, ids=name)
def test_latency_is_as_many_clocks_as_are_asked_for(op):
    for latency in range(2, UNITS[op].STEPS + 1):
        unit = FloatUnit(FloatUnitParams(op, latency))
        assert unit.latency == latency + 2


def tried(params, values):
    """A unit gives the golden results of all of these operands."""
    records = np.zeros(len(values[0]), dtype(params.operands))
    for field, value in zip(params.operands, values, strict=True):
        records[field.name] = value
    rows = codec.pack(records, params.operands)
    run = Volume(FloatUnit(params), STEM).run({"i": rows}, len(rows))
    assert len(run.outputs["o"]) == len(rows)
    assert run.clocks <= len(rows) + 24  # one a clock
    assert (run.outputs["o"] == bench.expected(rows, params)).all()


@pytest.mark.plan("float-unit-3")
@pytest.mark.parametrize(("op", "latency"), EVERY, ids=name)
def test_every_operand_of_a_small_format(op, latency):
    params = FloatUnitParams(op, latency, *SMALL, bits=6, point=3)
    count = len(params.operands)
    tried(params, [*np.array(list(product(range(64), repeat=count))).T])


@pytest.mark.plan("float-unit-3")
@pytest.mark.parametrize(
    "latency", [6, *(pytest.param(latency, marks=pytest.mark.qualify) for latency in (1, 3))]
)
def test_every_operand_of_a_small_multiply_add(latency):
    every = np.arange(1 << 18)
    params = FloatUnitParams(FloatOp.MULTIPLY_ADD, latency, *SMALL)
    tried(params, [every & 63, every >> 6 & 63, every >> 12])


@pytest.mark.plan("float-unit-3")
@pytest.mark.parametrize("point", [0, 4, 8])
def test_every_integer_of_a_few_bits(point):
    params = FloatUnitParams(FloatOp.FROM_FIXED, 0, 4, 3, bits=8, point=point)
    tried(params, [np.arange(-128, 128)])


@pytest.mark.plan("float-unit-3")
@pytest.mark.parametrize("config", CONFIGS)
def test_volume(config):
    volume.check_paces(STEM, config, 2000)


@pytest.mark.qualify
@pytest.mark.plan("float-unit-3")
@pytest.mark.parametrize("config", [config for config in CONFIGS if config != "tiny"])
def test_ten_million(config):
    for seed in range(10):
        rows = bench.requests(np.random.default_rng(seed), 1_000_000, CONFIGS[config])
        volume.check(STEM, config, rows)


@pytest.mark.plan("float-unit-5")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)
