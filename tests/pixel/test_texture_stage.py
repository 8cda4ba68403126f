# SPDX-License-Identifier: BSD-2-Clause
import math
import operator
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.lib import float32
from fixfunc.models.payload import dtype
from fixfunc.models.pixel import texture_stage as golden
from fixfunc.rtl.pixel.texture_stage import CONFIGS
from fixfunc.spec.pixels.texture_stage import STAGE_QUAD, STAGE_STATE
from fixfunc.tb.pixel import texture_stage as bench
from tests import volume
from tests.bench import check_bench
from tests.tiers import by_tier

BLOCK = STEM = "texture_stage"
ONE = 65535
# In the order of D3D11; each takes alpha and the reference.
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


def beats(count, seed=0):
    """States, attributes of quads, and the state of each."""
    rows = bench.requests(np.random.default_rng(seed), count, CONFIGS["default"])
    is_quad = (rows[:, 0] & np.uint64(1)) == 1
    states = codec.unpack(rows[~is_quad], STAGE_STATE, dtype(STAGE_STATE))
    quads = codec.unpack(rows[is_quad], STAGE_QUAD, dtype(STAGE_QUAD))
    return states, quads, (np.cumsum(~is_quad) - 1)[is_quad]


def number(bits):
    """A float32 with denormals as zeros."""
    value = float(np.uint32(bits).view(np.float32))
    return 0.0 if abs(value) < 2.0**-126 else value


def nearest(value):
    """The integer nearest to a number, ties up."""
    return math.floor(value + Fraction(1, 2))


def unorm(bits):
    """[fs 3.2.3.6]: NaN is 0, then clamped, scaled, and a half added; fractions dropped."""
    value = number(bits)
    if math.isnan(value):
        return 0
    return nearest(Fraction(min(max(value, 0.0), 1.0)) * ONE)


def combined(op, n, colour, texel, texel_alpha):
    """A channel of OpenGL's texture environments, in 65535ths."""
    c, t, at = (Fraction(value, ONE) for value in (colour, texel, texel_alpha))
    product = c * t
    if n == 3:
        value = {1: t, 2: product, 3: c, 4: product}[op]
    else:
        value = {1: t, 2: product, 3: c * (1 - at) + t * at, 4: min(c + t, Fraction(1))}[op]
    return nearest(value * ONE)


def naive(states, quads, state_of):
    """Colours as bits, and masks, quad by quad."""
    held = {}
    for beat, which in zip(quads, state_of, strict=True):
        state = states[which]
        held[int(beat["attribute"])] = beat
        if not beat["end"]:
            continue
        source = held[min(int(state["attribute"]), max(held))]
        mask = int(beat["mask"])
        colours = []
        for pixel in range(4):
            own = [int(source[f"p{pixel}_{n}"]) for n in range(4)]
            if not state["interpolated"]:
                own = [int(state[f"constant_{name}"]) for name in "rgba"]
            if state["op"]:
                its = [unorm(bits) for bits in own]
                texel = [int(beat[f"t{pixel}_{n}"]) for n in range(4)]
                units = [
                    combined(int(state["op"]), n, its[n], texel[n], texel[3]) for n in range(4)
                ]
                # Exact in twice the digits, then rounded once more: no quotient is a tie.
                own = [int(np.float32(np.float64(u) / ONE).view(np.uint32)) for u in units]
            test = FUNCTIONS[int(state["alpha_test"])]
            if not test(number(own[3]), number(int(state["alpha_reference"]))):
                mask &= ~(255 << 8 * pixel)
            colours.append(own)
        held = {}
        yield colours, mask


@pytest.mark.plan("texture-stage-1")
def test_colours_are_those_of_exact_rationals():
    some = beats(3000)
    found = golden.shade(*some)
    wanted = [*naive(*some)]
    assert len(found) == len(wanted) > 500
    for row, (colours, mask) in zip(found, wanted, strict=True):
        assert [[int(row[f"c{p}_{n}"]) for n in range(4)] for p in range(4)] == colours
        assert row["mask"] == mask


@pytest.mark.plan("texture-stage-1")
def test_every_unorm_survives_a_float():
    """All of 16 bits become floats that are the nearest, and come back."""
    every = np.arange(ONE + 1)
    bits = golden.floats(every)
    assert (float32.unorm(bits) == every).all()
    for value in every[::97].tolist():
        exact = Fraction(value, ONE)
        its = Fraction(float(np.uint32(bits[value]).view(np.float32)))
        beside = np.uint32(bits[value]) + np.array([-1, 1], np.int64)
        others = [Fraction(float(np.uint32(b).view(np.float32))) for b in beside if b >= 0]
        assert all(abs(its - exact) < abs(other - exact) for other in others)


@pytest.mark.plan("texture-stage-2")
@pytest.mark.parametrize("config", by_tier(CONFIGS, also=("plain",)))
def test_volume(config):
    volume.check_paces(STEM, config, 800)


@pytest.mark.plan("texture-stage-3")
def test_a_quad_a_clock():
    """Of one attribute each; beats of a state, and of further attributes, take a clock each."""
    states, quads, _ = beats(4000)
    quads["attribute"], quads["end"] = 0, 1
    rows = [codec.pack(states[:1], STAGE_STATE, bench.BITS), codec.pack(quads, STAGE_QUAD)]
    run = volume.volume(STEM, "tiny").run({"i": np.concatenate(rows)}, len(quads) + 1)
    assert len(run.outputs["o"]) == len(quads)
    assert run.clocks <= len(quads) + 20


@pytest.mark.qualify
@pytest.mark.plan("texture-stage-2")
def test_a_million_quads():
    found = 0
    for n in range(20):
        rows = bench.requests(np.random.default_rng(n), 110_000, CONFIGS["default"])
        found += len(volume.check(STEM, "default", rows))
    assert found > 1_000_000


@pytest.mark.plan("texture-stage-4")
def test_colours_without_a_texture_keep_their_bits():
    states, quads, state_of = beats(2000)
    states["op"], states["interpolated"], states["attribute"] = 0, 1, 15
    found = golden.shade(states, quads, state_of)
    ends = quads[quads["end"] == 1]
    for pixel in range(4):
        for n in range(4):
            assert (found[f"c{pixel}_{n}"] == ends[f"p{pixel}_{n}"]).all()


@pytest.mark.plan("texture-stage-5")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)
