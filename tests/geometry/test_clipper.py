# SPDX-License-Identifier: BSD-2-Clause
import itertools

import numpy as np

from fixfunc.models.geometry.clipper import GUARD_BAND, clip
from fixfunc.models.geometry.viewport import project

VIEW = (0, 0, 640, 480)


def triangles(seed, count=500):
    rng = np.random.default_rng(seed)
    out = rng.normal(size=(count, 3, 4)).astype(np.float32) * [2, 2, 1, 1]
    out[..., 3] = rng.uniform(-0.5, 3, (count, 3))
    return out.astype(np.float32)


def test_what_needs_no_cut_passes_bit_for_bit():
    inside = triangles(0)
    inside[..., 3] = 3
    inside[..., 2] = np.abs(inside[..., 2]) / 4
    inside[..., :2] /= 8
    result = clip(inside, VIEW)
    assert result.clipped == result.rejected == 0
    assert result.triangles.tobytes() == inside.tobytes()
    assert (result.source == np.arange(len(inside))).all()


def test_vertices_inside_stay_and_all_lie_inside():
    unclipped = triangles(1)
    result = clip(unclipped, VIEW)
    assert result.clipped > 50
    assert result.rejected > 50
    values = result.triangles.astype(float)
    slack = 1e-5 * np.abs(values).max()
    assert (values[..., 3] >= -slack).all()
    assert (values[..., 2] >= -slack).all()
    assert (values[..., 3] - values[..., 2] >= -slack).all()
    vertices = {vertex.tobytes() for vertex in result.triangles.reshape(-1, 4)}
    for n in np.unique(result.source):
        for vertex in unclipped[n]:
            x, y, z, w = (float(v) for v in vertex)
            if w >= 0 and 0 <= z <= w and abs(x) <= 50 * w and abs(y) <= 50 * w:
                assert vertex.tobytes() in vertices


def test_a_shared_side_is_cut_at_the_same_points():
    """A cut does not depend on the direction of the side, nor on the third corner."""
    for seed in range(30):
        a, b, c, d = np.random.default_rng(seed).normal(size=(4, 4)).astype(np.float32)
        a[3] = 1
        b[3] = 1
        # The side from a to b crosses the near plane.
        a[2] = 0.5
        b[2] = -0.5
        c[2] = 0.4
        c[3] = 1
        d[2] = 0.3
        d[3] = 1
        a[:2] = a[:2] / 4
        b[:2] = b[:2] / 4
        c[:2] = c[:2] / 4
        d[:2] = d[:2] / 4
        near_points = []
        for corners in (*itertools.permutations((a, b, c)), *itertools.permutations((a, b, d))):
            result = clip(np.stack(corners)[None], VIEW).triangles.reshape(-1, 4)
            inner = a.astype(float) + 0.5 * (b.astype(float) - a.astype(float))
            near_points.append({v.tobytes() for v in result if np.abs(v - inner).max() < 1e-5})
        assert near_points[0]
        assert all(points == near_points[0] for points in near_points)


def test_the_guard_band_keeps_positions_in_range():
    huge = np.array([[(-1, 0, 0.5, 1), (1e6, 1, 0.5, 1), (1e6, -1, 0.5, 1)]], np.float32)
    result = clip(huge, VIEW)
    assert result.clipped == 1
    assert np.abs(project(result.triangles, VIEW)[..., :2]).max() <= GUARD_BAND + 0.01
    assert (clip(huge / [1e4, 1, 1, 1], VIEW).clipped) == 0


def test_nan_is_passed_on():
    wrong = triangles(2, 4)
    wrong[1, 2, 0] = np.nan
    wrong[..., 3] = 3
    wrong[..., 2] = 1
    assert 1 in clip(wrong, VIEW).source
