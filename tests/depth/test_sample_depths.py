# SPDX-License-Identifier: BSD-2-Clause
"""Depths of samples: planes, bias and formats; before any of them is compared."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from fixfunc.models.depth.depth_test import (
    D24_MAX,
    depth_bias,
    interpolate,
    sample_depths,
)
from fixfunc.models.formats import MOST, encode, store
from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import lane_positions
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DepthFormat
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import float_bits

FORMATS = list(DepthFormat)


def tiles(rng, count):
    out = np.zeros(count, dtype(payloads.TILE))
    out["x"] = rng.integers(0, 3, count)
    out["y"] = rng.integers(0, 2, count)
    out["mask"] = rng.integers(0, 1 << 63, count, dtype=np.uint64)
    out["z0"] = rng.integers(1 << 20, 1 << 31, count)
    out["dx"], out["dy"] = rng.integers(-1 << 22, 1 << 22, (2, count))
    out["zmax"] = rng.integers(0, 1 << 24, count)
    out["exponent"] = rng.integers(1, 128, count)
    out["steep"] = rng.random(count) < 0.2
    out["back"] = rng.integers(0, 2, count)
    return out


@pytest.mark.plan("depth-test-1")
@pytest.mark.parametrize("samples", range(4))
def test_depths_are_the_plane_rounded(samples):
    some = tiles(np.random.default_rng(0), 50)
    x, y = lane_positions(samples)
    got = store(sample_depths(some, samples), DepthFormat.D24)
    for t, found in zip(some, got, strict=True):
        value = (
            int(t["z0"]) * 16 + int(x[2, 5]) * int(t["dx"]) + int(y[2, 5]) * int(t["dy"]) + 2048
        ) >> 12
        assert int(found[2, 5]) == value % (1 << 24)


@pytest.mark.plan("depth-test-1")
def test_a_depth_a_hair_below_zero_is_zero():
    flat = np.zeros(2, dtype(payloads.TILE))
    flat["z0"] = [-16, 0xFFFFFF00]  # -1/16 of a unit, and the greatest depth
    assert store(sample_depths(flat, 0), DepthFormat.D24)[:, 0, 0].tolist() == [0, D24_MAX]
    assert store(sample_depths(flat, 0, bias=np.array([256, 256])), DepthFormat.D24)[
        :, 0, 0
    ].tolist() == [1, D24_MAX]
    assert store(sample_depths(flat, 0, bias=np.array([-256, -256])), DepthFormat.D24)[
        :, 0, 0
    ].tolist() == [0, D24_MAX - 1]


def test_interpolate_follows_the_triangle_to_any_tile():
    made = setup(scenes.triangles(np.random.default_rng(0), 200, 300, 200), draw_state(300, 200, 4))
    found, owner = rasterize(made.records)
    got = interpolate(made.records[owner], np.stack([found["x"], found["y"]], -1), 4)
    assert len(got) > 1000 and (got == store(sample_depths(found, 2), DepthFormat.D24)).all()


@pytest.mark.plan("depth-test-3")
@pytest.mark.parametrize("form", [DepthFormat.D16, DepthFormat.D24])
def test_floats_are_encoded_exactly_at_every_rounding_boundary(form):
    """The floats next to each half between two codes: all of them for D16, many for D24."""
    most = MOST[form]
    codes = (
        np.arange(most)
        if form == DepthFormat.D16
        else np.random.default_rng(0).integers(0, most, 50000)
    )
    middle = ((codes + 0.5) / most).astype(np.float32)
    for z in (np.nextafter(middle, np.float32(0)), middle, np.nextafter(middle, np.float32(1))):
        got = encode(z, form)
        exact = [floor(Fraction(float(v)) * most + Fraction(1, 2)) for v in z[::7]]
        assert got[::7].tolist() == exact
    assert encode([0, 1, -1, 2, np.nan, -0.0], form).tolist() == [0, most, 0, most, 0, 0]
    assert (
        encode([np.nan, 0.1, 0.9], form, (0.25, 0.75)).tolist()
        == encode([0.25, 0.25, 0.75], form).tolist()
    )


@pytest.mark.plan("depth-test-4")
@pytest.mark.parametrize("form", [DepthFormat.D16, DepthFormat.D24])
def test_samples_are_stored_to_within_a_hair_of_the_exact_depth(form):
    """Half a step from the exact rational, and a hair: 1/250 of a step of D16. The ends exactly."""
    rng = np.random.default_rng(1)
    depth = np.concatenate(
        [
            rng.integers(0, (D24_MAX << 12) + 1, 4000),
            rng.integers(0, 1 << 20, 1000),
            [0, D24_MAX << 12],
        ]
    )
    got = store(depth, form)
    assert got[-2:].tolist() == [0, MOST[form]]
    step = Fraction(1, MOST[form])
    hair = step / 250 if form == DepthFormat.D16 else 0
    for d, g in zip(depth.tolist(), got.tolist(), strict=True):
        assert abs(g * step - Fraction(d, D24_MAX << 12)) <= step / 2 + hair


@pytest.mark.plan("depth-test-4")
def test_floats_are_the_nearest_ones():
    """Halves to even; beyond the unit's 24 bits; below the least normal float zero."""
    rng = np.random.default_rng(2)
    depth = rng.integers(0, 1 << 47, 6000) >> rng.integers(0, 47, 6000)
    exponent = rng.integers(1, 128, 6000)
    # Ties: 25 bits, of which the last is set, wherever they begin.
    ties = (rng.integers(1 << 23, 1 << 24, 3000) * 2 + 1) << rng.integers(0, 20, 3000)
    depth[:3000] = ties
    exponent[:300] = rng.integers(1, 14, 300)
    tied = 0
    for d, e, g in zip(
        depth.tolist(), exponent.tolist(), store(depth, DepthFormat.D32F, exponent), strict=True
    ):
        exact = Fraction(d) * Fraction(2) ** (e - 150 - 12)
        if exact < Fraction(2) ** -126:
            assert g == 0
            continue
        near, below, above = (
            Fraction(float(np.uint32(int(g) + step).view(np.float32))) for step in (0, -1, 1)
        )
        distance = abs(near - exact)
        assert distance <= min(abs(below - exact), abs(above - exact))
        if distance == min(abs(below - exact), abs(above - exact)):
            assert g % 2 == 0
            tied += 1
    assert tied > 2000
    assert store(np.array([-5]), DepthFormat.D32F, 127)[0] == 0


def cut(bias):
    """A bias cut to s33.8."""
    return max(min(bias, (1 << 41) - 1), -(1 << 41))


@pytest.mark.plan("depth-test-5")
@pytest.mark.parametrize("form", FORMATS)
def test_bias_is_the_exact_one_rounded(form):
    rng = np.random.default_rng(int(form))
    some = tiles(rng, 40)
    for constant, slope, clamp in [
        (0, 1.0, 0),
        (5, 0, 0),
        (-7, 2.5, 0),
        (0, -1e-3, 0),
        (1 << 20, 0, 1e-3),
        (-(1 << 20), 0, -1e-3),
        (3, 1e30, 0),
        (0, -1e30, 0),
        (1 << 30, 0, 0),
        (-(1 << 30), 3e5, 0),
        (0, 1e9, 0.25),
        (0, 1e-42, 0),
        (1, 0.1, 1e-7),
    ]:
        state = draw_state(
            8,
            8,
            depth_format=form,
            depth_max=MOST[form],
            bias_constant=constant & 0xFFFFFFFF,
            bias_slope=float_bits(slope),
            bias_clamp=float_bits(clamp),
        )
        for t, got in zip(some, depth_bias(some, state).tolist(), strict=True):
            step = 65537 if form == DepthFormat.D16 else 256
            one = Fraction(D24_MAX)  # 1.0 in units
            if form == DepthFormat.D32F:
                one = Fraction(2) ** (150 - int(t["exponent"]))
            steepest = max(abs(int(t["dx"])), abs(int(t["dy"])))
            if t["steep"]:
                steepest = 1 << 31
            by_slope = cut(Fraction(float(np.float32(slope))) * steepest)
            exact = constant * step + by_slope
            limit = cut(Fraction(float(np.float32(clamp))) * one * 256)
            # What rounds to zero is no limit.
            if abs(limit) >= Fraction(1, 2):
                exact = min(exact, limit) if clamp > 0 else max(exact, limit)
            exact = cut(exact)
            assert abs(got - exact) <= 1, (constant, slope, clamp)


def test_a_wrong_range():
    with pytest.raises(InputError, match="depth_range must lie in 0..1, the least first"):
        encode(0.5, DepthFormat.D24, (0.75, 0.25))
