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
    made = clip(inside, VIEW)
    assert made.clipped == made.rejected == 0
    assert made.triangles.tobytes() == inside.tobytes()
    assert (made.source == np.arange(len(inside))).all()


def test_vertices_inside_stay_and_all_lie_inside():
    given = triangles(1)
    made = clip(given, VIEW)
    assert made.clipped > 50
    assert made.rejected > 50
    values = made.triangles.astype(float)
    slack = 1e-5 * np.abs(values).max()
    assert (values[..., 3] >= -slack).all()
    assert (values[..., 2] >= -slack).all()
    assert (values[..., 3] - values[..., 2] >= -slack).all()
    kept = {vertex.tobytes() for vertex in made.triangles.reshape(-1, 4)}
    for n in np.unique(made.source):
        for vertex in given[n]:
            x, y, z, w = (float(v) for v in vertex)
            if w >= 0 and 0 <= z <= w and abs(x) <= 50 * w and abs(y) <= 50 * w:
                assert vertex.tobytes() in kept


def test_a_shared_side_is_cut_at_the_same_points():
    """Neighbours see it from both ends, and with any third corner."""
    for seed in range(30):
        a, b, c, d = np.random.default_rng(seed).normal(size=(4, 4)).astype(np.float32)
        a[3], b[3] = 1, 1
        a[2], b[2] = 0.5, -0.5  # crosses the near plane
        c[2], c[3], d[2], d[3] = 0.4, 1, 0.3, 1
        a[:2], b[:2], c[:2], d[:2] = a[:2] / 4, b[:2] / 4, c[:2] / 4, d[:2] / 4
        on_near = []
        for corners in (*itertools.permutations((a, b, c)), *itertools.permutations((a, b, d))):
            made = clip(np.stack(corners)[None], VIEW).triangles.reshape(-1, 4)
            inner = a.astype(float) + 0.5 * (b.astype(float) - a.astype(float))
            on_near.append({v.tobytes() for v in made if np.abs(v - inner).max() < 1e-5})
        assert on_near[0]
        assert all(points == on_near[0] for points in on_near)


def test_the_guard_band_keeps_positions_in_range():
    huge = np.array([[(-1, 0, 0.5, 1), (1e6, 1, 0.5, 1), (1e6, -1, 0.5, 1)]], np.float32)
    made = clip(huge, VIEW)
    assert made.clipped == 1
    assert np.abs(project(made.triangles, VIEW)[..., :2]).max() <= GUARD_BAND + 0.01
    assert (clip(huge / [1e4, 1, 1, 1], VIEW).clipped) == 0


def test_nan_is_passed_on():
    wrong = triangles(2, 4)
    wrong[1, 2, 0] = np.nan
    wrong[..., 3], wrong[..., 2] = 3, 1
    assert 1 in clip(wrong, VIEW).source
