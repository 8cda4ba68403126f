# SPDX-License-Identifier: BSD-2-Clause
import math
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.lib import arithmetic as golden
from fixfunc.rtl.lib.arithmetic.divider import Divider
from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.spec.errors import InputError
from fixfunc.tb.lib import arithmetic as bench
from fixfunc.tb.lib import clocked
from tests.lib.bench import check_bench, check_page, is_caught

STEM = "arithmetic"


def test_wrap_is_two_s_complement():
    values = np.arange(-400, 400).astype(object)
    assert (golden.wrap(values, 8) == values.astype(np.int64).astype(np.int8)).all()


def test_products_and_quotients_are_exact():
    """Integers beyond any machine word, against rationals."""
    rng = np.random.default_rng(0)
    a, b = bench.signed(rng, 50, 90), bench.signed(rng, 50, 70)
    assert golden.multiply(a, b, 160).tolist() == [x * y for x, y in zip(a, b, strict=True)]
    high, low, divisor = (np.array([value], object) for value in (3 << 80, 5, (3 << 80) + 1))
    quotient = golden.divide(high, low, divisor, 4, 9)[0]
    dividend = (3 << 89) + (5 << 5)
    assert quotient == math.floor(Fraction(dividend, (3 << 80) + 1))


@pytest.mark.parametrize("widths", bench.PRODUCTS)
def test_latencies_agree(widths):
    assert Multiplier(*widths).latency == golden.multiplier_latency(*widths)


def test_a_division_takes_a_clock_a_bit():
    assert [Divider(*widths).latency for widths in bench.QUOTIENTS] == [7, 12, 9]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Multiplier(8, 9, 18), "out_bits must be 1 to 17, not 18"),
        (lambda: Multiplier(8, 9, 0), "out_bits must be 1 to 17, not 0"),
        (lambda: Divider(8, 9, 8), "dividend must be 1 to 8, not 9"),
    ],
)
def test_wrong_parameters(make, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        make()


@pytest.mark.parametrize("name", bench.CASES)
def test_every_bin_is_hit(name):
    case = bench.CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("multiplier_36_36_72", "LIMB = 17", "LIMB = 18"),
        ("multiplier_36_36_72", "< self._out]", "< self._out - 40]"),
        ("multiplier_19_18_37", "whole * cls.LIMB :].as_signed()", "whole * cls.LIMB :]"),
        ("multiplier_53_35_88", "terms[2 * n + 1 : 2 * n + 2]", "terms[2 * n + 1 : 2 * n + 1]"),
        ("divider_8_4_7", "fits = ~trial[-1]", "fits = trial != 0"),
        ("divider_5_12_12", "Signal(self._bits + 1, name", "Signal(self._bits, name"),
        ("divider_20_1_9", "self._quotient - len(self.low)", "0"),
    ],
)
def test_a_broken_one_is_caught(name, right, wrong):
    assert is_caught(STEM, name, right, wrong)


def test_waveforms():
    check_page(STEM)


def test_bench(simulator):
    check_bench(STEM, simulator)
