# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.geometry import triangle_setup
from fixfunc.models.pixel import interpolator

RANGE = Fraction(1, 1 << 22)


def random_triangles(rng, count, spread):
    """Snapped triangles that are not degenerate, and positions inside, by exact edge functions."""
    triangles = np.zeros(count, triangle_setup.TRIANGLE)
    for k in range(3):
        for axis in "xy":
            triangles[f"{axis}{k}"] = rng.integers(-spread, spread, count)
    return triangles


def exact(triangle, rhw, x, y, values):
    """Perspective interpolation in rationals: the attribute, or None where 1/w is not above 0."""
    points = [(int(triangle[f"x{k}"]), int(triangle[f"y{k}"])) for k in range(3)]
    edge = []
    for corner in range(3):
        (x0, y0), (x1, y1) = points[(corner + 1) % 3], points[(corner + 2) % 3]
        edge.append((y0 - y1) * (x - x0) + (x1 - x0) * (y - y0))
    shares = [e * Fraction(float(q)) for e, q in zip(edge, rhw, strict=True)]
    total = sum(shares)
    if total == 0:
        return None
    return sum(s * Fraction(float(v)) for s, v in zip(shares, values, strict=True)) / total


def inside(rng, triangles):
    """A position inside of each triangle, or on its edge, rounded to 1/256 pixel."""
    share = rng.dirichlet((0.4, 0.4, 0.4), len(triangles))
    return tuple(
        np.rint(sum(share[:, k] * triangles[f"{axis}{k}"].astype(float) for k in range(3))).astype(
            np.int64
        )
        for axis in "xy"
    )


@pytest.mark.plan("interpolator-1")
@pytest.mark.parametrize("spread", [600, 1 << 16, 1 << 22])
@pytest.mark.parametrize("depths", [1.0, 8.0, 100.0])
def test_attributes_are_those_of_exact_rationals(spread, depths):
    rng = np.random.default_rng(int(spread * depths))
    count = 1200
    triangles = random_triangles(rng, count, spread)
    rhw = (1 / np.exp(rng.uniform(0, np.log(depths) + 1e-9, (count, 3)))).astype(np.float32)
    x, y = inside(rng, triangles)
    corners = interpolator.corners(triangles, rhw)
    values = rng.choice([1.0, 1e-3, 1e6], (count, 3)) * rng.uniform(-1, 1, (count, 3))
    values = values.astype(np.float32)
    got = interpolator.attributes(values[..., None], interpolator.weights(corners, x, y))[:, 0]
    edge = interpolator.edges(corners, x, y)
    covered = (edge >= 0).all(1) & (edge.sum(1) > 0)
    assert covered.sum() > count / 4
    for n in np.flatnonzero(covered):
        right = exact(triangles[n], rhw[n], int(x[n]), int(y[n]), values[n])
        extent = Fraction(float(values[n].max())) - Fraction(float(values[n].min()))
        unit = Fraction(float(np.spacing(np.float32(abs(float(right))))))
        assert abs(Fraction(float(got[n])) - right) <= RANGE * extent + unit


@pytest.mark.plan("interpolator-2")
def test_corners_have_their_own_values_and_weights_sum_to_one():
    rng = np.random.default_rng(5)
    triangles = random_triangles(rng, 500, 1 << 20)
    rhw = rng.uniform(0.01, 1, (500, 3)).astype(np.float32)
    corners = interpolator.corners(triangles, rhw)
    area = interpolator.edges(corners, corners.x[:, 0], corners.y[:, 0]).sum(1)
    keep = area > 0
    for k in range(3):
        got = interpolator.weights(corners, corners.x[:, k], corners.y[:, k])[keep]
        assert (got.sum(1) == interpolator.ONE).all()
        assert (np.abs(got - interpolator.ONE * (np.arange(3) == k)) <= 2).all()


@pytest.mark.plan("interpolator-3")
def test_linear_weights_ignore_w():
    rng = np.random.default_rng(6)
    triangles = random_triangles(rng, 300, 1 << 12)
    x, y = inside(rng, triangles)
    same = np.ones((300, 3), np.float32)
    other = rng.uniform(0.1, 1, (300, 3)).astype(np.float32)
    linear = interpolator.weights(interpolator.corners(triangles, other), x, y, perspective=False)
    # q is 1, or 2^23 in all corners: the quotient is that of E either way.
    flat = interpolator.weights(interpolator.corners(triangles, same), x, y)
    assert (np.abs(linear - flat) <= 2).all()
    assert (
        np.abs(interpolator.weights(interpolator.corners(triangles, other), x, y) - flat) > 2
    ).any()


@pytest.mark.plan("interpolator-4")
def test_helpers_beyond_the_horizon_saturate():
    triangles = np.zeros(1, triangle_setup.TRIANGLE)
    for k, point in enumerate(((0, 0), (2560, 0), (0, 2560))):
        triangles[f"x{k}"], triangles[f"y{k}"] = point
    corners = interpolator.corners(triangles, np.array([[1, 0.001, 0.001]], np.float32))
    far = np.array([25600])
    got = interpolator.weights(corners, far, far)
    assert (np.abs(got[:, 1:]) >= 256 * interpolator.ONE).any()
    assert (np.abs(got[:, 1:]) <= 512 * interpolator.ONE).all()
    assert got.sum() == interpolator.ONE


def scattered(rng, size, count):
    """Triangles within so many pixels, and helpers up to two pixels away."""
    triangles = np.zeros(count, triangle_setup.TRIANGLE)
    for axis in "xy":
        base = rng.integers(0, 1 << 16, count)
        for k in range(3):
            triangles[f"{axis}{k}"] = base + rng.integers(0, size + 1, count)
    x, y = (
        triangles[f"{axis}0"].astype(np.int64) + rng.integers(-512, 513, count) for axis in "xy"
    )
    return triangles, x, y


@pytest.mark.plan("interpolator-4")
@pytest.mark.parametrize("size", [64, 128, 256, 1024])
@pytest.mark.parametrize("depth", [1.0, 3.0])
def test_weights_of_helpers_are_exact_ones(size, depth):
    """Where they fit, whatever the sign, in units of the greater of both; the others saturate."""
    rng = np.random.default_rng(size)
    triangles, x, y = scattered(rng, size, 1500)
    rhw = rng.uniform(1, depth, (1500, 3)).astype(np.float32)
    corners = interpolator.corners(triangles, rhw)
    got = interpolator.weights(corners, x, y)
    fit = 0
    for n in range(len(triangles)):
        exactly = [
            exact(triangles[n], rhw[n], int(x[n]), int(y[n]), unit) for unit in np.eye(3).tolist()
        ]
        edge = interpolator.edges(corners, x, y)[n]
        if edge.sum() == 0 or sum(e * Fraction(float(q)) for e, q in zip(edge, rhw[n])) <= 0:
            continue
        greater = max(1, *map(abs, exactly[1:]))
        for share, right in zip(got[n, 1:].tolist(), exactly[1:], strict=True):
            if abs(right) > 513:
                assert 255 < abs(share) / interpolator.ONE <= 512
                assert (share > 0) == (right > 0)
            elif abs(right) < 255:
                error = abs(Fraction(share, interpolator.ONE) - right)
                assert error <= Fraction(3, 2) * min(greater, 512) / (1 << 24)
                fit += 1
    assert fit > 1500


@pytest.mark.plan("interpolator-4")
@pytest.mark.parametrize(("size", "share"), [(64, 0.03), (128, 0.015), (256, 0.01)])
def test_derivatives_of_small_triangles(size, share):
    """Of a linear attribute, from a pixel within to its neighbour: few are off by 5 %.

    They are slivers, less than 1/256 of a pixel wide.
    """
    rng = np.random.default_rng(size)
    triangles, x, y = scattered(rng, size, 4000)
    x, y = inside(rng, triangles)
    corners = interpolator.corners(triangles, np.ones((4000, 3), np.float32))
    area = interpolator.edges(corners, x, y).sum(1)
    values = rng.uniform(-1, 1, (4000, 3, 1)).astype(np.float32)
    found, right = (
        interpolator.attributes(values, interpolator.weights(corners, x + step, y))[:, 0]
        for step in (256, 0)
    )
    slope = found - right
    points = [
        (triangles[f"x{k}"].astype(float), triangles[f"y{k}"].astype(float)) for k in range(3)
    ]
    (x0, y0), (x1, y1), (x2, y2) = points
    v0, v1, v2 = values[:, :, 0].astype(float).T
    with np.errstate(all="ignore"):
        turn = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        wanted = 256 * ((v1 - v0) * (y2 - y0) - (v2 - v0) * (y1 - y0)) / turn
        off = np.abs(slope - wanted) > 0.05 * np.abs(wanted) + 1e-3
    assert off[area > 0].mean() < share


@pytest.mark.plan("interpolator-5")
def test_a_cut_triangle_interpolates_by_its_primitive():
    # A triangle's half, its corners 0, 1 and the middle of 1 and 2, gives the triangle's values.
    whole = np.zeros(1, triangle_setup.TRIANGLE)
    half = np.zeros(1, triangle_setup.TRIANGLE)
    points = ((0, 0), (4096, 0), (0, 4096))
    cut = ((0, 0), (4096, 0), (2048, 2048))
    for k in range(3):
        whole[f"x{k}"], whole[f"y{k}"] = points[k]
        half[f"x{k}"], half[f"y{k}"] = cut[k]
    ones = np.ones((1, 3), np.float32)
    original = np.array([[[1, 0, 0], [0, 1, 0], [0, 0.5, 0.5]]], np.float32)
    values = np.array([[[3.0], [-5.0], [11.0]]], np.float32)
    x, y = np.array([1500]), np.array([700])
    got = interpolator.attributes(
        values, interpolator.weights(interpolator.corners(half, ones), x, y, original=original)
    )
    right = interpolator.attributes(
        values, interpolator.weights(interpolator.corners(whole, ones), x, y)
    )
    assert abs(got - right) <= 16 * 2.0**-22
