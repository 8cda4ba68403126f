# SPDX-License-Identifier: BSD-2-Clause
"""Depth planes against exact rationals: of any steepness, of UNORM and of floats."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from fixfunc.cosim.commands import CommandList
from fixfunc.models.depth.depth_test import new_depths
from fixfunc.models.geometry.triangle_setup import (
    FAR,
    FAR_FLOAT,
    ONE,
    TRIANGLE,
    Z_MAX,
    block_depths,
    setup,
)
from fixfunc.models.raster.edge_evaluator import lane_positions, unpack
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DepthFormat
from fixfunc.tb.bench import scenes

SIZE = 64  # pixels


def corners(triangle):
    """Coordinates of a triangle's vertices, by axis."""
    return ([int(triangle[f"{axis}{k}"]) for k in range(3)] for axis in "xy")


def gradient(x, y, z):
    """Twice the area, and the exact change of depth for 1/256 pixel along x and along y."""
    area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])
    return (
        Fraction((z[1] - z[0]) * (y[2] - y[0]) - (z[2] - z[0]) * (y[1] - y[0])) / area,
        Fraction((z[2] - z[0]) * (x[1] - x[0]) - (z[1] - z[0]) * (x[2] - x[0])) / area,
    )


def exact_depth(z, form):
    """A vertex depth as setup takes it: in units of 2^-8, or the value of a float."""
    if form != DepthFormat.D32F:
        return Fraction(max(-FAR, min(z, FAR)))
    magnitude = min(z & (1 << 31) - 1, FAR_FLOAT)
    value = Fraction(float(np.uint32(magnitude).view(np.float32)))
    return -value if z >> 31 & 1 else value


def samples_of(triangles, form, samples):
    """Of covered samples: the triangle, the exact depth of its plane, the depth as it is stored.

    Depths of D16 and D24 are in 2^-8 units of D24.
    """
    state = draw_state(SIZE, SIZE, samples, depth_format=form)
    result = setup(triangles, state)
    tiles, owner = rasterize(result.records)
    depths = new_depths(tiles, state)
    log2 = int(state["samples"])
    lane_x, lane_y = lane_positions(log2)
    lx, ly = ((0, 0), (0, 1), (1, 1), (1, 2))[log2]
    for n, lanes in enumerate(unpack(tiles["mask"])):
        t = triangles[result.index[owner[n]]]
        x, y = corners(t)
        z = [exact_depth(int(t[f"z{k}"]), form) for k in range(3)]
        zx, zy = gradient(x, y, z)
        for j, i in np.argwhere(lanes):
            px = int(tiles["x"][n]) * (8 >> lx) * 256 + 128 + 16 * int(lane_x[j, i]) - x[0]
            py = int(tiles["y"][n]) * (8 >> ly) * 256 + 128 + 16 * int(lane_y[j, i]) - y[0]
            yield owner[n], z, z[0] + zx * px + zy * py, depths[n, j, i]


def slivers(rng, count, form):
    """Triangles of little area whose depths span the whole range, or differ at random.

    A third of them are of vertices far beyond the range.
    """
    place = np.concatenate(
        [scenes.KINDS[k][1](rng, count, SIZE, SIZE) for k in ("needle", "sliver")]
    )
    out = np.zeros(2 * count, TRIANGLE)
    most = ONE if form == DepthFormat.D32F else Z_MAX
    z = rng.integers(0, most + 1, (2 * count, 3))
    span = rng.random(2 * count) < 0.5
    z[span] = rng.choice([0, most], (int(span.sum()), 3))
    beyond = rng.random(2 * count) < 1 / 3
    z[beyond] = scenes.far(rng, int(beyond.sum()), form)
    for k in range(3):
        out[f"x{k}"] = place[:, k, 0]
        out[f"y{k}"] = place[:, k, 1]
        out[f"z{k}"] = z[:, k]
    return out


@pytest.mark.plan("triangle-setup-4")
def test_the_plane_is_the_floor_of_the_exact_one():
    """Slopes modulo 2^36 units a pixel; the start, modulo 2^32, by slopes that are not cut."""
    triangles = scenes.triangles(np.random.default_rng(5), 600, 300, 200)
    result = setup(triangles, draw_state(300, 200))
    for record, index, steep in zip(result.records, result.index, result.steep, strict=True):
        t = triangles[index]
        x, y = corners(t)
        z = [int(exact_depth(int(t[f"z{k}"]), DepthFormat.D24)) for k in range(3)]
        slopes = [floor(value * 2**24) for value in gradient(x, y, z)]
        fits = all(
            slope >= -(2**47) and floor(slope / Fraction(2**16) + Fraction(1, 2)) < 2**31
            for slope in slopes
        )
        assert steep == record["steep"] == (not fits)
        for name, slope in zip(("zx", "zy"), slopes, strict=True):
            assert (int(record[name]) - slope) % 2**60 == 0
            assert not fits or record[name] == slope
        origin = [int(record[f"{axis}0"]) // 8 * 8 * 256 + 128 for axis in "xy"]
        start = Fraction(z[0], 256) + sum(
            Fraction(s, 2**24) * Fraction(o - v[0], 256)
            for s, o, v in zip(slopes, origin, (x, y), strict=True)
        )
        assert int(record["z"]) == floor(start * 2**24) % 2**56
        assert record["exponent"] == 0
    assert 20 < result.steep.sum() < len(result.records) / 2


@pytest.mark.plan("depth-test-2", "triangle-setup-5")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_depths_lie_within_0_6_of_the_exact_ones(samples):
    """Units of D24, rounding included, of every triangle: slivers across the whole range too."""
    rng = np.random.default_rng(samples)
    some = np.concatenate(
        [slivers(rng, 1600, DepthFormat.D24), scenes.triangles(rng, 8, SIZE, SIZE)]
    )
    worst = Fraction(0)
    steep = setup(some, draw_state(SIZE, SIZE, samples)).steep
    of_steep = []
    beyond = 0
    for owner, _, exact, depth in samples_of(some, DepthFormat.D24, samples):
        inside = max(Fraction(0), min(exact / 256, Fraction(Z_MAX >> 8)))
        worst = max(worst, abs(int(depth) - inside))
        beyond += inside != exact / 256
        of_steep.append(steep[owner])
    assert len(of_steep) > 1000 and sum(of_steep) > 100 and beyond > 100
    assert worst <= Fraction(6, 10), float(worst)


@pytest.mark.plan("triangle-setup-5")
def test_a_triangle_thinner_than_a_pixel_has_no_flat_depth():
    """Each sample of it once took the depth of vertex 0."""
    thin = np.zeros(1, TRIANGLE)
    thin["x1"] = thin["x2"] = 64 * 256
    thin["y1"], thin["y2"] = 256, 280
    thin["z1"] = Z_MAX
    found = list(samples_of(thin, DepthFormat.D24, 1))
    assert len(found) == 3
    for _, _, exact, depth in found:
        assert abs(int(depth) - exact / 256) <= Fraction(6, 10)


@pytest.mark.plan("triangle-setup-13")
@pytest.mark.parametrize("samples", [1, 4])
def test_floats_lie_within_2_22_of_the_greatest_depth(samples):
    """Whatever the exponent; what is constant is exact."""
    rng = np.random.default_rng(samples)
    some = np.concatenate(
        [
            slivers(rng, 150, DepthFormat.D32F),
            scenes.triangles(rng, 60, SIZE, SIZE, DepthFormat.D32F),
        ]
    )
    flat = rng.random(len(some)) < 0.2
    for k in (1, 2):
        some[f"z{k}"][flat] = some["z0"][flat]
    worst = Fraction(0)
    exponents = set()
    constant = beyond = 0
    for _, z, exact, depth in samples_of(some, DepthFormat.D32F, samples):
        value = Fraction(float(np.uint32(depth).view(np.float32)))
        if exact < Fraction(2) ** -120:  # what is less than the least normal float is zero
            assert value < max(Fraction(2) ** -119, max(map(abs, z)) * Fraction(1, 1 << 22))
            beyond += exact < 0
            continue
        beyond += exact > 1
        error = abs(min(value, 1) - min(exact, 1))
        worst = max(worst, error / min(max(map(abs, z)), 1))
        exponents.add(int(depth) >> 23)
        if z[0] == z[1] == z[2] and z[0] <= 1:
            assert value == z[0]
            constant += 1
    assert worst <= Fraction(1, 1 << 22), float(worst * 2**22)
    assert len(exponents) > 20 and constant > 50 and beyond > 50


@pytest.mark.plan("triangle-setup-13")
def test_depths_share_the_greatest_exponent():
    def bits(*values):
        return np.array([values], np.float32).view(np.uint32).astype(np.int64)

    z, exponent = block_depths(bits(1.0, 0.25, 2.0**-30))
    assert exponent == 127 and z.tolist() == [[1 << 31, 1 << 29, 2]]
    z, exponent = block_depths(bits(1e-9, 1e-9, 0))
    assert z[0, 0] == z[0, 1] == int(np.float32(1e-9).view(np.uint32) & 0x7FFFFF | 0x800000) << 8
    assert z[0, 2] == 0
    z, exponent = block_depths(np.array([[1, (1 << 23) - 1, 0]]))
    assert exponent == 0 and not z.any()
    z, exponent = block_depths(bits(1.0, -0.25, 3.0))
    assert exponent == 127 and z.tolist() == [[1 << 31, -(1 << 29), 3 << 31]]
    z, exponent = block_depths(bits(-np.inf, np.nan, 2.0**-33))
    assert exponent == 127 and z.tolist() == [[-127 << 31, 127 << 31, 0]]


@pytest.mark.plan("triangle-setup-13")
@pytest.mark.parametrize("sign", [0, 1 << 31])
@pytest.mark.parametrize("bits", [FAR_FLOAT + 1, 0x7F800000, 0x7FC00000, 0x7FFFFFFF])
def test_what_is_beyond_127_counts_as_127(bits, sign):
    """In setup; a list of commands refuses it."""
    wrong = np.zeros(2, TRIANGLE)
    wrong["x1"] = wrong["y2"] = 2560
    wrong["z1"] = bits | sign, FAR_FLOAT | sign
    state = draw_state(4, 4, depth_format=DepthFormat.D32F)
    first, second = setup(wrong, state).records
    assert first == second
    with pytest.raises(InputError, match=f"z1 must lie within -{FAR_FLOAT}..{FAR_FLOAT}"):
        CommandList().state(state).triangles(wrong)


@pytest.mark.plan("triangle-setup-6")
@pytest.mark.parametrize("sign", [1, -1])
def test_no_depth_of_d24_beyond_127(sign):
    wrong = np.zeros(2, TRIANGLE)
    wrong["x1"] = wrong["y2"] = 2560
    wrong["z2"] = sign * (FAR + 1), sign * FAR
    first, second = setup(wrong, draw_state(4, 4)).records
    assert first == second
    with pytest.raises(
        InputError, match=f"z2 must lie within -{FAR}..{FAR}, not {sign * (FAR + 1)}"
    ):
        CommandList().state(draw_state(4, 4)).triangles(wrong)
