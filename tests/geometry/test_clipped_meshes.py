# SPDX-License-Identifier: BSD-2-Clause
"""Meshes that planes cut: every sample within is hit, and none twice [fs 3.4.2]."""

from typing import NamedTuple

import numpy as np
import pytest

from fixfunc.models.geometry.clipper import GUARD_BAND, clip
from fixfunc.models.geometry.viewport import Viewport, project, snap
from fixfunc.models.raster.tile_rasterizer import coverage
from tests.oracles.naive import POSITIONS

SIZE = 64
VIEW = Viewport(0, 0, SIZE, SIZE)
SEEDS = range(24)


class Floor(NamedTuple):
    """A plane one below the eye, in triangles, and what a camera sees of it."""

    positions: np.ndarray  # float32, shape (n, 3, 4)
    place: np.ndarray  # float64, shape (height, width, samples, 2): of the floor at each sample
    depth: np.ndarray  # float64: w there, not above zero behind the eye
    half: float  # no triangle is missing up to so far from the middle
    near: float
    far: float


def floor(seed):
    """A floor of random size, 2 to 128 triangles, seen from any side through near and far planes
    that are up to a factor of 10^4 apart: more is not in float32's z.
    """
    rng = np.random.default_rng(seed)
    extent = 10.0 ** rng.uniform(0.5, 6)
    cells = int(rng.integers(1, 9))
    step = np.linspace(-extent, extent, cells + 1)
    grid = np.stack(np.meshgrid(step, step), -1)
    grid += rng.uniform(-0.3, 0.3, grid.shape) * extent / cells
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    faces = np.concatenate([np.stack(face, 2).reshape(-1, 3, 2) for face in ((a, b, c), (a, c, d))])
    world = np.insert(faces, 1, -1.0, axis=2)
    pitch, roll = rng.uniform(-0.8, 0.8), rng.uniform(-3, 3)
    turned = np.array(
        [[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]]
    ) @ np.array([[np.cos(roll), 0, np.sin(roll)], [0, 1, 0], [-np.sin(roll), 0, np.cos(roll)]])
    x, y, w = np.moveaxis(world @ turned.T, -1, 0)
    near = 10.0 ** rng.uniform(-4, 0)
    far = near * 10.0 ** rng.uniform(1, 4)
    positions = np.stack([x, y, far / (far - near) * (w - near), w], -1).astype(np.float32)
    row, column, sample = np.mgrid[:SIZE, :SIZE, :4]
    offset = np.array(POSITIONS[4])[sample] / 16
    across = (column + 0.5 + offset[..., 0]) * 2 / SIZE - 1
    down = 1 - (row + 0.5 + offset[..., 1]) * 2 / SIZE
    ray = np.stack([across, down, np.ones_like(across)], -1) @ turned
    depth = -1 / ray[..., 1]
    place = ray[..., [0, 2]] * depth[..., None]
    return Floor(positions, place, depth, extent * (1 - 0.4 / cells), near, far)


def hits(clipped):
    """How many triangles hit each sample: shape (height, width, samples)."""
    screen = project(clipped.positions, VIEW)
    assert np.abs(screen[..., :2]).max(initial=0) <= GUARD_BAND + 0.01
    return coverage(snap(screen[..., :2]), SIZE, SIZE, samples=4).sum(0)


@pytest.mark.plan("clipper-9")
@pytest.mark.parametrize("depth_clip", [True, False])
def test_a_cut_mesh_has_no_cracks_and_hits_nothing_twice(depth_clip):
    """Triangles reach behind the eye, and up to 10^10 screens beyond the guard band."""
    cut = 0
    seen = 0
    for seed in SEEDS:
        its = floor(seed)
        clipped = clip(its.positions, VIEW, depth_clip=depth_clip)
        counts = hits(clipped)
        assert counts.max() <= 1
        within = (its.depth > 0) & (np.abs(its.place).max(-1) < its.half)
        if depth_clip:
            # A cut is known to 2^-22 of the greatest coordinate.
            slack = np.abs(its.positions).max() * 2.0**-20
            within &= (its.depth > its.near * 1.01 + slack) & (its.depth < its.far * 0.99 - slack)
        assert (counts[within] == 1).all()
        cut += clipped.clipped
        seen += within.sum()
    assert cut > 60
    assert seen > 50_000


@pytest.mark.plan("clipper-9")
def test_distances_part_a_mesh_between_them():
    """A distance and its opposite: each sample is hit on one side, and nowhere along the cut on
    none. (On the cut itself both sides count as inside, and so samples there may be hit by both.)
    """
    parted = 0
    for seed in SEEDS:
        its = floor(seed)
        whole = hits(clip(its.positions, VIEW))
        # A line across the floor: linear in its places, so in x, y and w.
        side = (its.positions @ np.array([0.3, 1, 0, 0.2], np.float32))[..., None]
        one, other = (clip(its.positions, VIEW, clip_distances=sign * side) for sign in (1, -1))
        assert hits(one).max() <= 1
        assert hits(other).max() <= 1
        both = hits(one) + hits(other)
        assert (both[whole == 1] >= 1).mean() > 0.999 if (whole == 1).any() else True
        parted += (hits(one) > 0).any() and (hits(other) > 0).any()
    assert parted > 5


@pytest.mark.plan("clipper-9")
@pytest.mark.parametrize("depth_clip", [True, False])
@pytest.mark.parametrize("scale", [2.0**-80, 2.0**-20, 1.0, 2.0**100])
def test_corners_at_the_eye(scale, depth_clip):
    """w is 0, or the least beside the others: what comes out lies in the guard band."""
    rng = np.random.default_rng(3)
    corners = rng.normal(size=(400, 3, 4))
    corners[..., 3] = rng.choice([0, 2.0**-20, -(2.0**-20), 1, -1], (400, 3))
    corners[..., 2] = rng.choice([0, 2.0**-21, 0.5, -0.5], (400, 3))
    corners[:100, 0, :2] = 0
    corners[:50, 0, 3] = 0
    result = clip((corners * scale).astype(np.float32), VIEW, depth_clip=depth_clip)
    assert result.clipped > 100
    assert result.discarded == 0
    positions = result.positions
    assert (positions[..., 3] >= 0).all()
    above = positions[..., 3] > 0
    # The eye itself has no place on the screen: its primitive is discarded behind.
    assert (positions[~above][:, :2] == 0).all()
    screen = project(positions[above], VIEW)
    assert np.abs(screen[:, :2]).max() <= GUARD_BAND + 0.01
    if depth_clip:
        assert (positions[..., 2] >= 0).all()
        assert (screen[:, 2] <= 1 + 2.0**-20).all()


@pytest.mark.plan("clipper-9")
@pytest.mark.parametrize("depth_clip", [True, False])
@pytest.mark.parametrize(
    "view", [Viewport(), Viewport(-32768, -32768, 0, 1), Viewport(32767, 5), Viewport(0, 0, 1e-40)]
)
def test_viewports_of_nothing(view, depth_clip):
    """They cut no x, or leave nothing; no corner is infinite, nor no number."""
    rng = np.random.default_rng(8)
    corners = (rng.normal(size=(500, 3, 4)) * 3).astype(np.float32)
    corners[:250, 1] = 0  # the eye
    result = clip(corners, view, depth_clip=depth_clip)
    assert np.isfinite(result.positions).all()
    assert result.clipped > 50
    assert (result.positions[..., 3] >= 0).all()


@pytest.mark.plan("clipper-9")
def test_beyond_the_valid_range_nothing_is_infinite():
    """Above 2^124 [fs 15.16.1] differences from near and far may overflow: t is 0 then."""
    rng = np.random.default_rng(4)
    wild = (rng.normal(size=(2000, 3, 4)) * 2.0**126).clip(-3.4e38, 3.4e38).astype(np.float32)
    wild[..., 3] = np.abs(wild[..., 3]) * 2.0 ** -rng.integers(0, 20, (2000, 3))
    for depth_clip in (True, False):
        result = clip(wild, VIEW, depth_clip=depth_clip)
        assert np.isfinite(result.positions).all()
        assert result.clipped > 100
        assert (result.positions[..., 3] >= 0).all()
