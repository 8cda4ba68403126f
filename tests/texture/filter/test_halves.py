# SPDX-License-Identifier: BSD-2-Clause
"""Halves in the filter: the golden model against exact rationals, the hardware's invariants."""

from fractions import Fraction
from math import copysign, inf, isinf, isnan, nan

import numpy as np
import pytest

from fixfunc.models.payload import dtype
from fixfunc.models.texture import filter as golden
from fixfunc.rtl.texture.filter.filter import CONFIGS
from fixfunc.spec.textures.filter import FILTER_STATE, FilterOp, Unit
from fixfunc.tb.texture import filter as bench
from tests import volume
from tests.texture.filter.grids import hardware, single
from tests.texture.test_filter import LOWER_LEFT_FIRST, nearest

BLOCK = "filter"
CONFIG = "tiny"
EXTREMES = {FilterOp.MINIMUM: min, FilterOp.MAXIMUM: max}


def half(bits):
    """A half as a number of Python's."""
    return float(np.uint16(bits).view(np.float16))


def rounded(value, zero):
    """The nearest float32 of a rational; of nothing that zero."""
    return float(np.uint32(nearest(value)).view(np.float32)) if value else zero


def towards(a, b, share):
    """a + share (b - a), both operations rounded, by their rules of zeros and infinities."""
    if not share:
        return a
    if isnan(a) or isnan(b) or (isinf(a) and isinf(b) and a != b):
        return nan
    if isinf(a) or isinf(b):
        return a if isinf(a) else b
    # A difference of zeros is below zero if it is -0 - +0, and a sum if both are.
    only = copysign(1, b) < 0 < copysign(1, a) and a == b == 0
    difference = rounded(Fraction(b) - Fraction(a), -0.0 if only else 0.0)
    both = a == difference == 0 and copysign(1, a) < 0 > copysign(1, difference)
    return rounded(Fraction(a) + share * Fraction(difference), -0.0 if both else 0.0)


def naive(state, quad, pixel, n):
    """A channel of a pixel, one texel and one sample after the other."""
    total, coarse, number = None, None, 0
    seen = []
    for beat in quad:
        weight = int(beat[f"weight{pixel}"])
        u, v = (Fraction(int(beat[f"{axis}{pixel}"]), 256) for axis in "uv")
        gathers = state["op"] == FilterOp.GATHER
        which = int(state["component"]) if gathers else n
        texels = [half(beat[f"t{pixel}_{corner}_{which}"]) for corner in range(4)]
        lacks = int(beat[f"missing{pixel}"]).bit_length() - 1
        if lacks >= 0:
            first, second, third = (texels[corner] for corner in range(4) if corner != lacks)
            both = towards(first, second, Fraction(1, 2))
            texels[lacks] = towards(both, third, Fraction(float(np.float32(1) / np.float32(3))))
        if gathers:
            texels = [texels[LOWER_LEFT_FIRST[n]]] * 4
            u = v = Fraction(0)
        if not weight:
            continue
        shares = [Fraction(1), u, v, u * v]
        for corner, (t, share) in enumerate(zip(texels, shares, strict=True)):
            seen += [t] * bool(share and corner != lacks and not isnan(t))
        rows = [towards(texels[k], texels[k + 1], u) for k in (0, 2)]
        value = towards(*rows, v)
        if weight < 256:
            if coarse is None:
                coarse = value
                continue
            value, coarse = towards(value, coarse, Fraction(256 - weight, 256)), None
        number += 1
        part = Fraction(float(np.float32(1) / np.float32(number)))
        total = value if number == 1 else towards(total, value, part)
    if state["op"] in EXTREMES:
        key = EXTREMES[state["op"]]
        return key(seen, key=lambda t: (t, copysign(1, t))) if seen else nan
    return total


def bits_of(value):
    """Of a float32; NaN is one."""
    return 0x7FC00000 if isnan(value) else int(np.float32(value).view(np.uint32))


@pytest.mark.plan("filter-8")
@pytest.mark.parametrize("op", FilterOp)
def test_results_are_those_of_one_rounding_after_the_other(op):
    rng = np.random.default_rng(op)
    state = np.zeros(1, dtype(FILTER_STATE))
    for name in "rgba":
        state[f"unit_{name}"] = Unit.HALF
    state["op"], state["component"] = op, 2
    taps = bench.quads(rng, 25, state, CONFIGS[CONFIG])
    found = golden.filter_quads(state, taps, np.zeros(len(taps), np.intp))
    begin = 0
    for row, end in zip(found, np.flatnonzero(taps["end"]), strict=True):
        quad = taps[begin : end + 1]
        begin = end + 1
        for pixel in range(4):
            for n in range(4):
                assert row[f"c{pixel}_{n}"] == bits_of(naive(state[0], quad, pixel, n))


def values(bits):
    """Halves as float32, and NaN as the only one."""
    found = np.asarray(bits).astype(np.uint16).view(np.float16).astype(np.float32)
    return np.where(np.isnan(found), np.uint32(0x7FC00000).view(np.float32), found)


def assert_same(found, wanted):
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


def finite(rng, count):
    """Grids of halves that are numbers, many of them near each other."""
    found = rng.integers(0, 1 << 16, (count, 4, 4))
    near = rng.integers(0x3BF0, 0x3C10, found.shape) | rng.integers(0, 2, found.shape) << 15
    found = np.where(rng.random(found.shape) < 0.5, near, found)
    return np.where(found & 0x7C00 == 0x7C00, found & 0x83FF, found)


@pytest.mark.plan("filter-7")
def test_a_point_is_its_texel():
    """Every half, zeros of both signs and infinities among them; the texels beside it are NaN."""
    own = np.full((1 << 14, 4, 4), 0x7C01)
    own[:, 0] = np.arange(1 << 16).reshape(-1, 4)
    nothing = np.zeros(len(own), np.int64)
    found = hardware(*single(own, nothing, nothing, Unit.HALF), CONFIG)
    assert_same(found, values(own[:, 0]))


@pytest.mark.plan("filter-7")
def test_a_result_lies_within_its_texels():
    rng = np.random.default_rng(5)
    own = finite(rng, 4000)
    u, v = rng.integers(0, 256, (2, 4000))
    found = hardware(*single(own, u, v, Unit.HALF), CONFIG)
    assert (found >= values(own).min(1)).all()
    assert (found <= values(own).max(1)).all()


@pytest.mark.plan("filter-7")
def test_a_constant_gives_the_constant():
    rng = np.random.default_rng(6)
    own = np.repeat(finite(rng, 4000)[:, :1], 4, 1)
    u, v = rng.integers(0, 256, (2, 4000))
    found = hardware(*single(own, u, v, Unit.HALF), CONFIG)
    assert np.array_equal(found, values(own[:, 0]))


@pytest.mark.plan("filter-7")
@pytest.mark.parametrize("axis", ["u", "v"])
def test_a_result_moves_one_way_with_the_weight(axis):
    rng = np.random.default_rng(7)
    own = np.repeat(finite(rng, 40), 256, 0)
    moving = np.tile(np.arange(256), 40)
    still = np.repeat(rng.integers(0, 256, 40), 256)
    places = (moving, still) if axis == "u" else (still, moving)
    found = hardware(*single(own, *places, Unit.HALF), CONFIG).reshape(40, 256, 4)
    steps = np.diff(found, axis=1)
    assert ((steps >= 0).all(1) | (steps <= 0).all(1)).all()
    assert (steps != 0).any()


@pytest.mark.plan("filter-7")
def test_an_infinity_counts_where_it_has_weight():
    """With one of the other sign it is no number [fs 7.18.16.2]."""
    own = np.full((8, 4, 4), 0x3C00)
    own[:, 1] = 0x7C00
    own[4:, 0] = 0xFC00
    u = np.array([0, 0, 1, 255] * 2)
    found = hardware(*single(own, u, 0 * u, Unit.HALF), CONFIG)[:, 0]
    assert np.array_equal(found, [1, 1, inf, inf, -inf, -inf, nan, nan], equal_nan=True)


@pytest.mark.plan("filter-3")
@pytest.mark.parametrize(("samples", "interval"), [(1, 4), (2, 17), (4, 43)])
def test_a_grid_takes_four_clocks_and_a_sample_more_thirteen(samples, interval):
    own = np.zeros((400 * samples, 4, 4), np.int64)
    state, beats = single(own, *np.zeros((2, len(own)), np.int64), Unit.HALF)
    records = bench.codec.unpack(beats, bench.FILTER_TAPS, dtype(bench.FILTER_TAPS))
    records["end"] = np.arange(len(records)) % samples == samples - 1
    rows = np.concatenate([state, bench.codec.pack(records, bench.FILTER_TAPS)])
    run = volume.volume("filter", CONFIG).run({"i": rows}, 101)
    assert len(run.outputs["o"]) == 100
    assert abs(run.clocks - 100 * interval) <= 80
