# SPDX-License-Identifier: BSD-2-Clause
import math

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture import level_of_detail as golden
from fixfunc.models.texture.sampler import Sampler, level_of_detail
from fixfunc.rtl.texture.level_of_detail.level_of_detail import CONFIGS
from fixfunc.spec.textures.level_of_detail import LOD_STATE
from fixfunc.tb import catalogue
from fixfunc.tb.bench.states import parted
from fixfunc.tb.texture import level_of_detail as bench
from tests import volume
from tests.bench import check_bench
from tests.textures import noise
from tests.tiers import by_tier

BLOCK = STEM = "level_of_detail"


def saturated(value):
    return min(max(value, -(1 << 16)), (1 << 16) - 1)


def flushed(value):
    """Without what is denormal."""
    value = np.float32(value)
    if np.isnan(value):
        return np.uint32(0x7FC00000).view(np.float32)
    return np.copysign(np.float32(0), value) if abs(value) < np.float32(2.0**-126) else value


def squared(a, b, sizes):
    """The squared length from one pixel to another, rounding by rounding."""
    parts = []
    for first, second, size in zip(a, b, sizes, strict=True):
        texels = flushed(flushed(flushed(second) - flushed(first)) * np.float32(size))
        square = flushed(texels * texels)
        if np.isnan(square):
            square = np.float32(0)
        parts.append(min(square, np.finfo(np.float32).max))
    return flushed(parts[0] + parts[1])


def logarithm(value):
    """Of a float32 that is not negative, s8.8."""
    if value == 0:
        return -(1 << 16)
    if np.isinf(value):
        return 128 << 8
    mantissa, exponent = math.frexp(value)
    steps = int(mantissa * 512) - 256
    return (exponent - 1 << 8) + round(256 * math.log2(1 + steps / 256))


def anisotropic(steps, squares, sizes, most):
    """Level, number of samples, and axis of a pixel, as docs/numerics.md has them."""

    def product(a, b):
        return flushed(a * b)

    def bounded(value):
        return np.float32(0) if np.isnan(value) else min(value, np.finfo(np.float32).max)

    (xu, xv), (yu, yv) = ([product(v, np.float32(n)) for v, n in zip(s, sizes)] for s in steps)
    a = flushed(bounded(product(xv, xv)) + bounded(product(yv, yv)))
    c = flushed(bounded(product(xu, xu)) + bounded(product(yu, yu)))
    b = flushed(np.float32(-2) * flushed(product(xu, xv) + product(yu, yv)))
    p = flushed(a - c)
    t = np.sqrt(flushed(product(p, p) + product(b, b)))
    square = product(flushed(flushed(a + c) + t), np.float32(0.5))
    determinant = abs(flushed(product(xu, yv) - product(yu, xv)))
    longer = flushed(t + abs(p))
    shorter = flushed(product(b, b) / longer)
    share = flushed(square / flushed(t + t))
    sides = [np.sqrt(product(longer, share)), np.sqrt(product(shorter, share))]
    sides[1] = -sides[1] if b > 0 else sides[1]
    u, v = reversed(sides) if p >= 0 else sides
    is_right_angle = flushed(product(xu, yu) + product(xv, yv)) == 0
    regular = np.isfinite([u, v, square, determinant]).all() and not is_right_angle
    major = max(squares)
    along = steps[int(squares[1] > squares[0])]
    if regular and determinant > 0 and square > 0:
        major = square
        along = [flushed(side / np.float32(size)) for side, size in zip((u, v), sizes)]
    limit = round(256 * math.log2(most))
    ratio = min(max(logarithm(major) - logarithm(bounded(determinant)), 0), limit)
    lod = (logarithm(major) >> 1) - ratio
    kept = max(ratio + min(lod, 0), 0)
    count = next(n for n in range(1, 17) if round(256 * math.log2(n)) >= kept)
    return lod, count, along if count > 1 else (np.float32(0),) * 2


def naive(state, quad, pixel):
    """Fields of a pixel by name, by a logarithm of its own."""
    places = [[quad[f"{name}{n}"].view(np.float32) for name in "uv"] for n in range(4)]
    x, y = (0, 0) if state["coarse"] else (pixel & 1, pixel >> 1)
    ends = (places[2 * y], places[2 * y + 1]), (places[x], places[x + 2])
    if state["explicit_gradients"] and "across_u0" in quad.dtype.names:
        ends = [
            ([np.float32(0)] * 2, [quad[f"{way}_{n}{pixel}"].view(np.float32) for n in "uv"])
            for way in ("across", "down")
        ]
    sizes = state["width"], state["height"]
    across, down = (squared(*pair, sizes) for pair in ends)
    own, count, along = logarithm(max(across, down)) >> 1, 1, (np.float32(0),) * 2
    most = min(int(state["anisotropy"]), 16)
    if state["explicit_level"]:
        own = 0
    elif most > 1:
        steps = [
            [flushed(flushed(b) - flushed(a)) for a, b in zip(*pair, strict=True)] for pair in ends
        ]
        own, count, along = anisotropic(steps, (across, down), sizes, most)
    lod = saturated(saturated(own + int(quad[f"bias{pixel}"])) + int(state["bias"]))
    lod = max(min(lod, int(state["maximum"])), int(state["minimum"]), key=int)
    lod = max(lod, int(state["least"])) if state["least"] > 0 else lod
    last = int(state["last"])
    held = min(max(lod, 0), last << 8)
    level = held >> 8 if state["smooth"] else min(held + 128 >> 8, last)
    fraction = held & 255 if state["smooth"] else 0
    return {
        "unclamped": own,
        "level": level,
        "fraction": fraction,
        "minifies": lod > 0,
        "count": count,
        **{f"along_{n}": int(v.view(np.uint32)) for n, v in zip("uv", along, strict=True)},
    }


@pytest.mark.plan("level-of-detail-1")
@pytest.mark.parametrize("config", ["default", "tiny_gradients"])
def test_levels_are_those_found_step_by_step(config):
    rows = bench.requests(np.random.default_rng(0), 1500, CONFIGS[config])
    states, quads, state_of = parted(rows, LOD_STATE, CONFIGS[config].quad)
    found = golden.levels_of_quads(states, quads, state_of)
    with np.errstate(all="ignore"):
        for row, quad, which in zip(found, quads, state_of, strict=True):
            for pixel in range(4):
                wanted = naive(states[which], quad, pixel)
                assert {name: row[f"{name}{pixel}"] for name in wanted} == wanted


@pytest.mark.plan("level-of-detail-2")
@pytest.mark.parametrize("config", by_tier(CONFIGS))
def test_volume(config):
    volume.check_paces(STEM, config, 800)


@pytest.mark.qualify
@pytest.mark.plan("level-of-detail-2")
def test_a_million_quads():
    found = 0
    for n in range(20):
        rows = bench.requests(np.random.default_rng(n), 55_000, CONFIGS["default"])
        found += len(volume.check(STEM, "default", rows))
    assert found > 1_000_000


@pytest.mark.plan("level-of-detail-6")
@pytest.mark.parametrize(("anisotropy", "turns"), [(0, 1), (1, 1), (2, 4), (16, 4)])
def test_only_an_anisotropic_filter_takes_a_clock_for_each_pixel(anisotropy, turns):
    """400 quads more under one state: a clock each, or four."""
    params = CONFIGS["tiny"]
    rng = np.random.default_rng(0)
    state = bench.draw(rng, params)
    state["explicit_level"] = 0
    state["explicit_gradients"] = 0
    state["anisotropy"] = anisotropy
    clocks = []
    for count in (100, 500):
        quads = bench.quads(rng, count, params)
        beats = ((state, LOD_STATE), (quads, params.quad))
        rows = np.concatenate([codec.pack(it, table, bench.bits(params)) for it, table in beats])
        run, _, mismatches, first = catalogue.block(STEM).compare(
            volume.volume(STEM, "tiny"), rows, "tiny", ("full", "full")
        )
        assert not mismatches, first
        clocks.append(run.clocks)
    assert clocks[1] - clocks[0] == 400 * turns


@pytest.mark.plan("level-of-detail-4")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)


@pytest.mark.plan("level-of-detail-5")
@pytest.mark.parametrize("size", [(64, 64), (100, 7), (1, 33)], ids=str)
@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("anisotropy", [1, 5, 16])
def test_levels_of_the_hardware_are_those_of_the_sampler(size, coarse, anisotropy):
    rng = np.random.default_rng(size)
    texture = noise(*size)
    sampler = Sampler(bias=-0.5, min_lod=0.25, max_lod=4.5, anisotropy=anisotropy)
    quads = bench.quads(rng, 500)
    state = np.zeros(1, dtype(LOD_STATE))
    state["width"], state["height"] = size
    state["last"], state["coarse"], state["smooth"] = len(texture.levels) - 1, coarse, 1
    state["bias"], state["minimum"], state["maximum"] = -128, 64, 1152
    state["anisotropy"] = anisotropy
    for pixel in range(4):
        quads[f"bias{pixel}"] = 0
    rows = bench.packed(CONFIGS["tiny"], state, quads)
    table = CONFIGS["tiny"].levels
    out = codec.unpack(volume.check(STEM, "tiny", rows), table, dtype(table))
    bits = np.stack([[quads[f"{name}{n}"] for name in "uv"] for n in range(4)])
    places = np.ascontiguousarray(bits.transpose(2, 0, 1)).view(np.float32).reshape(-1, 2, 2, 2)
    wanted = level_of_detail(texture, sampler, places, coarse=coarse).reshape(-1, 4, 2)
    for pixel in range(4):
        held = out[f"level{pixel}"] + out[f"fraction{pixel}"] / 256
        assert np.array_equal(held, wanted[:, pixel, 0])
        assert np.array_equal(out[f"unclamped{pixel}"] / 256, wanted[:, pixel, 1])
