# SPDX-License-Identifier: BSD-2-Clause
import math
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.lib import arithmetic as golden
from fixfunc.rtl.lib.arithmetic.divider import Divider
from fixfunc.rtl.lib.arithmetic.interval_register import IntervalRegister
from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.arithmetic.reciprocal import Reciprocal
from fixfunc.rtl.lib.arithmetic.shared_multiplier import SharedMultiplier
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib.arithmetic import pipelined, shared
from tests import tiers
from tests.lib.bench import check_bench, check_page, is_caught

STEM = "arithmetic"
CASES = pipelined.CASES | shared.CASES


def test_wrap_is_two_s_complement():
    values = np.arange(-400, 400).astype(object)
    assert (golden.wrap(values, 8) == values.astype(np.int64).astype(np.int8)).all()


def test_products_and_quotients_are_exact():
    """Integers beyond any machine word, against rationals."""
    rng = np.random.default_rng(0)
    a, b = pipelined.signed(rng, 50, 90), pipelined.signed(rng, 50, 70)
    assert golden.multiply(a, b, 160).tolist() == [x * y for x, y in zip(a, b, strict=True)]
    for divisor in (3, (3 << 80) + 1):
        for dividend in (a[0], -(5 << 90), 0):
            exact = math.floor(Fraction(int(dividend) << 9, divisor))
            quotient, beyond = golden.divide([dividend], [divisor], 9, 200)
            assert quotient[0] == exact and not beyond[0]
            quotient, beyond = golden.divide([dividend], [divisor], 9, 8)
            assert (quotient[0] - exact) % 256 == 0
            assert beyond[0] == (not -128 <= exact < 128)


@pytest.mark.parametrize("widths", pipelined.PRODUCTS)
def test_latencies_agree(widths):
    assert Multiplier(*widths).latency == golden.multiplier_latency(*widths)


def test_a_division_takes_a_clock_a_bit():
    assert [Divider(*widths).latency for widths in pipelined.QUOTIENTS] == [8, 12, 20, 3, 80]


def test_as_few_units_as_serve_the_interval():
    """All turns fit in an interval, one unit fewer would not do, and no turn could be spared."""
    for count in range(1, 14):
        for interval in range(1, 16):
            turns = golden.turns(count, interval)
            units = -(-count // turns)
            assert turns <= interval
            assert units * interval >= count > (units - 1) * interval
            assert units * (turns - 1) < count


@pytest.mark.parametrize(("bits", "power"), [(24, 48), (34, 60), (40, 67), (12, 27)])
def test_no_guess_of_a_reciprocal_is_far_off(bits, power):
    """Both ends of every range of the table, where its entry is the worst: 3/4 of a range. Two
    steps square that twice, to less than a unit of the quotient.
    """
    table = Reciprocal(bits, power).table()
    index = (len(table) - 1).bit_length()
    below = bits - 1 - index
    for n, entry in enumerate(table):
        least = (1 << bits - 1) + (n << below)
        for divisor in least, least + (1 << below) - 1:
            error = abs(1 - Fraction(entry * divisor, 1 << index + 2 + bits - 1))
            assert error < Fraction(3, 4 << index)


@pytest.mark.parametrize("shape", [(3, 8, 1), (4, 10, 2), (8, 17, 8), (10, 22, 4)])
def test_every_divisor_of_few_bits(shape):
    least = 1 << shape[0] - 1
    divisors = np.arange(least, 2 * least).astype(object)
    check_reciprocals(np.concatenate([divisors, divisors[:10]]), shape)


@pytest.mark.parametrize("shape", [(24, 48, 8), (34, 60, 8)])
def test_reciprocals_at_both_ends_of_a_table_s_ranges(shape):
    count = len(Reciprocal(*shape).table())
    step = (1 << shape[0] - 1) // count
    least = (1 << shape[0] - 1) + np.arange(count).astype(object) * step
    ends = [least, least + 1, least + step // 2, least + step - 1, least[:10]]
    check_reciprocals(np.concatenate(ends), shape)


def check_reciprocals(divisors, shape):
    """They are the golden ones; the last few divisors only push the others out."""
    trace = pipelined.reciprocals(divisors, shape)
    assert clocked.difference(trace, clocked.simulate(Reciprocal(*shape), trace)) is None


@pytest.mark.parametrize("interval", shared.INTERVALS)
@pytest.mark.parametrize("count", [*shared.PRODUCT_COUNTS, *shared.QUOTIENT_COUNTS])
def test_latencies_of_sets_agree(count, interval):
    multiplier = SharedMultiplier(count, *shared.SET_PRODUCTS, interval)
    assert multiplier.latency == golden.shared_multiplier_latency(
        count, *shared.SET_PRODUCTS, interval
    )
    divider = Divider(*shared.SET_QUOTIENTS, count, interval)
    assert divider.latency == golden.divider_latency(count, shared.SET_BITS, interval)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Multiplier(8, 9, 18), "out_bits must be 1 to 17, not 18"),
        (lambda: Multiplier(8, 9, 0), "out_bits must be 1 to 17, not 0"),
        (lambda: Divider(8, 1, 8, 8), "dividend_bits must be above 1, not 1"),
        (lambda: Divider(8, 9, -1, 8), "fraction must not be negative, not -1"),
        (lambda: Divider(8, 9, 8, 17), "out_bits must be 1 to 16, not 17"),
        (lambda: Divider(8, 9, 8, 8, 0), "count must be above 0, not 0"),
        (lambda: Divider(8, 9, 8, 8, 1, 0), "interval must be above 0, not 0"),
        (lambda: Divider(8, 9, 9, 8, 1, 3), "dividend_bits - 1 must be a multiple of 3, not 8"),
        (lambda: Divider(8, 10, 8, 8, 1, 3), "fraction must be a multiple of 3, not 8"),
        (lambda: SharedMultiplier(0, 8, 8), "count must be above 0, not 0"),
        (lambda: SharedMultiplier(2, 8, 8, None, 0), "interval must be above 0, not 0"),
        (lambda: IntervalRegister(8, 0), "interval must be above 0, not 0"),
        (lambda: Reciprocal(2, 3), "bits must be 3 or more, not 2"),
        (lambda: Reciprocal(8, 20), "power must be 9 to 19, not 20"),
        (lambda: Reciprocal(34, 62), "power must be 35 to 61, not 62"),
        (lambda: Reciprocal(24, 48, 9).elaborate(None), "latency must be 1 to 8, not 9"),
    ],
)
def test_wrong_parameters(make, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        make()


@pytest.mark.parametrize("name", CASES)
def test_every_bin_is_hit(name):
    case = CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("file", "name", "right", "wrong"),
    [
        ("multiplier", "multiplier_36_36_72", "LIMB = 17", "LIMB = 18"),
        ("multiplier", "multiplier_36_36_72", "< self._out]", "< self._out - 40]"),
        ("multiplier", "multiplier_19_18_37", "* cls.LIMB :].as_signed()", "* cls.LIMB :]"),
        ("multiplier", "multiplier_53_35_88", "2 * n + 1 : 2 * n + 2", "2 * n + 1 : 2 * n + 1"),
        ("shared_multiplier", "shared_multiplier_5_2", "Mux(self.start, 0, ", "(lambda n: n)("),
        ("shared_multiplier", "shared_multiplier_5_3", "turn < len(arrivals) - 1", "False"),
        ("shared_multiplier", "shared_multiplier_2_4", "m.If(arrivals[-1])", "m.If(1)"),
        ("shared_multiplier", "shared_multiplier_5_1", "Array([self.b[k]", "Array([self.a[k]"),
        ("divider", "divider_4_6_3_8", "fits = ~difference[-1]", "fits = (difference != 0)"),
        ("divider", "divider_5_13_0_9", " & ~divisor[len(shifted) :].any()", ""),
        ("divider", "divider_20_9_12_12", "dividend[left - 1] if left else negative", "negative"),
        ("divider", "divider_12_3_1_2", "^ result.negative.replicate(out_bits)", ""),
        ("divider", "divider_5_13_0_9", "above | fits if", "fits if"),
        ("divider", "divider_5_13_0_9", "result.above | ", ""),
        ("divider", "divider_49_57_24_56", "| result.quotient[out_bits - 1 :].any()", ""),
        ("divider", "divider_49_57_24_56", "self._bits + 1), name", "self._bits), name"),
        ("divider", "shared_divider_2_4", "Mux(enters, divisor, held_divisor)", "divisor"),
        ("divider", "shared_divider_2_4", "turn * self._bits_a_stage, f", "turn, f"),
        ("divider", "shared_divider_3_3", "m.If(turns[turn] if turn else 1)", "m.If(1)"),
        ("divider", "shared_divider_1_2", "self._interval > 1:", "self._turns > 1:"),
        ("reciprocal", "reciprocal_34_60_7", "twice + 2 * n + 1", "twice + 2 * n + 9"),
        ("reciprocal", "reciprocal_24_48_7", " + (rest >= now.most)", ""),
        ("reciprocal", "reciprocal_24_48_7", "rest >= now", "rest > now"),
        ("reciprocal", "reciprocal_34_60_7", "[:width].as_signed()", "[:width]"),
        ("interval_register", "interval_register_3", "eq(self._interval - 1)", "eq(1)"),
        ("interval_register", "interval_register_1", "self.room & ", ""),
        ("interval_register", "interval_register_2", "eq(self.accept)", "eq(self.i.valid)"),
        ("interval_register", "interval_register_4", "wait - (wait != 0)", "0"),
    ],
)
def test_a_broken_one_is_caught(file, name, right, wrong):
    assert is_caught(f"{STEM}.{file}", name, right, wrong)


def test_waveforms():
    check_page(STEM)


@pytest.mark.plan("triangle-setup-8")
def test_bench(simulator):
    check_bench("arithmetic.pipelined", simulator)


@pytest.mark.parametrize("simulator", tiers.simulators("shared"))
@pytest.mark.plan("triangle-setup-8")
def test_bench_of_sets(simulator):
    check_bench("arithmetic.shared", simulator)
