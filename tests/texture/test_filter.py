# SPDX-License-Identifier: BSD-2-Clause
import operator
import struct
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture import filter as golden
from fixfunc.models.texture.texels import TEXELS
from fixfunc.rtl.texture.filter.filter import CONFIGS, FilterParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.filter import FILTER_STATE, FILTER_TAPS, FILTERED_QUAD
from fixfunc.tb.texture import filter as bench
from tests import volume
from tests.bench import check_bench
from tests.tiers import by_tier

BLOCK = STEM = "filter"
# By the numbers of Unit: what is 1.0, and whether there is a sign.
ONES = [65535, 4095, 1023, 32767, 16383]
FUNCTIONS = [
    lambda *_: False,
    operator.lt,
    operator.eq,
    operator.le,
    operator.gt,
    operator.ne,
    operator.ge,
    lambda *_: True,
]
LOWER_LEFT_FIRST = [2, 3, 1, 0]


def beats(count, seed=0):
    """States, grids of quads, and the state of each."""
    rows = bench.requests(np.random.default_rng(seed), count, CONFIGS["default"])
    is_taps = (rows[:, 0] & np.uint64(1)) == 1
    states = codec.unpack(rows[~is_taps], FILTER_STATE, dtype(FILTER_STATE))
    taps = codec.unpack(rows[is_taps], FILTER_TAPS, dtype(FILTER_TAPS))
    return states, taps, (np.cumsum(~is_taps) - 1)[is_taps]


def nearest(value):
    """Bits of the float32 nearest to a rational, ties to even."""
    if not value:
        return 0
    exponent = 0
    while abs(value) * Fraction(2) ** -exponent >= 2:
        exponent += 1
    while abs(value) * Fraction(2) ** -exponent < 1:
        exponent -= 1
    step = Fraction(2) ** (exponent - 23)
    return int(np.float32(float(round(value / step) * step)).view(np.uint32))


def flushed(word):
    """A float32 as a number of Python's; one without a highest bit is 0."""
    value = struct.unpack("<f", struct.pack("<I", word))[0]
    return 0.0 if abs(value) < 2.0**-126 else value


def grid(state, beat, pixel, n):
    """Four texels of a channel as rationals."""
    names = [f"unit_{name}" for name in "rgba"]
    gathers = state["op"] == 3
    which = int(state["component"]) if gathers else n
    corners = [LOWER_LEFT_FIRST[n]] * 4 if gathers else range(4)
    unit = int(state[names[which]])
    out = []
    for corner in corners:
        red, green = (int(beat[f"t{pixel}_{corner}_{channel}"]) for channel in range(2))
        raw = int(beat[f"t{pixel}_{corner}_{which}"])
        if state["compares"]:
            depth = red + (green << 16)
            reference = int(beat[f"reference{pixel}"])
            if state["floats"]:
                depth, reference = (flushed(v) for v in (depth, reference))
            elif state["unit_r"] >= 3:
                depth, reference = (v - (v >> 31 << 32) for v in (depth, reference))
            out.append(Fraction(bool(FUNCTIONS[state["function"]](reference, depth))))
        else:
            out.append(Fraction(raw - (raw >> 15 << 16) * (unit >= 3), ONES[unit]))
    return out


def naive(state, quad, pixel, n):
    """A channel of a pixel: every weight a rational."""
    total = Fraction(0)
    seen = []
    for beat in quad:
        u, v = (Fraction(int(beat[f"{axis}{pixel}"]), 256) for axis in "uv")
        shares = [(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v]
        weight = Fraction(int(beat[f"weight{pixel}"]), 256)
        texels = grid(state, beat, pixel, n)
        seen += [t for t, share in zip(texels, shares, strict=True) if share * weight]
        total += weight * sum(t * share for t, share in zip(texels, shares, strict=True))
    if state["op"] in (1, 2):
        return (min if state["op"] == 1 else max)(seen)
    return total / int(quad[-1][f"count{pixel}"])


@pytest.mark.plan("filter-1")
def test_results_are_those_of_exact_rationals():
    states, taps, state_of = beats(1500)
    found = golden.filter_quads(states, taps, state_of)
    ends = np.flatnonzero(taps["end"])
    assert len(found) == len(ends) > 100
    start = 0
    for row, end in zip(found, ends, strict=True):
        quad, state = taps[start : end + 1], states[state_of[end]]
        start = end + 1
        for pixel in range(4):
            for n in range(4):
                assert row[f"c{pixel}_{n}"] == nearest(naive(state, quad, pixel, n))


@pytest.mark.plan("filter-2")
@pytest.mark.parametrize("config", by_tier(CONFIGS, also=("bytes",)))
def test_volume(config):
    volume.check_paces(STEM, config, 800)


@pytest.mark.qualify
@pytest.mark.plan("filter-2")
def test_a_million_grids():
    found = 0
    for n in range(20):
        rows = bench.requests(np.random.default_rng(n), 55_000, CONFIGS["default"])
        found += len(rows)
        volume.check(STEM, "default", rows)
    assert found > 1_000_000


def clocks(config, rows, quads):
    """Clocks that packed beats of so many quads take."""
    run = volume.volume(STEM, config).run({"i": rows}, quads + 1)
    assert len(run.outputs["o"]) == quads
    return run.clocks


@pytest.mark.plan("filter-3")
def test_a_quad_a_clock():
    rows = bench.single(np.random.default_rng(0), 3000, CONFIGS["default"])
    assert clocks("tiny", rows, len(rows) - 1) <= len(rows) + 20


@pytest.mark.plan("filter-3")
@pytest.mark.parametrize(("samples", "interval"), [(2, 2), (3, 13), (7, 13), (16, 16), (48, 48)])
def test_samples_take_a_clock_each_and_a_division_13(samples, interval):
    """The beats of the next quad enter while one is divided."""
    rng = np.random.default_rng(1)
    state = bench.draw(rng, CONFIGS["default"])
    state["op"] = 0
    taps = np.zeros(100 * samples, dtype(FILTER_TAPS))
    taps["kind"] = 1
    taps["end"][samples - 1 :: samples] = 1
    for pixel in range(4):
        taps[f"weight{pixel}"], taps[f"count{pixel}"] = 256, samples
    rows = [
        codec.pack(table, *how)
        for table, *how in ((state, FILTER_STATE, bench.BITS), (taps, FILTER_TAPS, bench.BITS))
    ]
    assert abs(clocks("tiny", np.concatenate(rows), 100) - 100 * interval) <= 40


@pytest.mark.plan("filter-4")
@pytest.mark.parametrize("name", ["R32_FLOAT", "R8G8B8A8_UINT", "R24_UNORM_X8_TYPELESS"])
def test_formats_that_it_does_not_filter(name):
    with pytest.raises(InputError, match="to filter must be"):
        golden.units(TEXELS[name])


@pytest.mark.plan("filter-5")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)


@pytest.mark.plan("filter-2")
def test_no_quads_are_none():
    nothing = golden.filter_quads(*(np.zeros(0, dtype(t)) for t in (FILTER_STATE, FILTER_TAPS)), [])
    assert len(nothing) == 0
    assert nothing.dtype == dtype(FILTERED_QUAD)


@pytest.mark.plan("filter-2")
def test_units_are_those_of_the_formats():
    assert [len(params.units) for params in CONFIGS.values()] == [5, 1, 7]
    assert len(FilterParams(packed=False).units) == 3
