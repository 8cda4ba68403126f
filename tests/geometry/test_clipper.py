# SPDX-License-Identifier: BSD-2-Clause
import itertools

import numpy as np
import pytest

from fixfunc.models.geometry.clipper import GUARD_BAND, clip
from fixfunc.models.geometry.viewport import Viewport, project
from fixfunc.spec.errors import InputError
from tests.oracles.clipping import fractions, planes
from tests.oracles.naive_frame.clipping import clipped

VIEW = Viewport(0, 0, 640, 480)
VIEWS = [VIEW, Viewport(-100.5, 20.25, 1920, 333.125)]
FAR_OUT = np.float32(3.402823466e34)  # [fs 15.16.1]: nothing in this range becomes infinite


def triangles(seed, count=500, corners=3):
    """Corners all around the view volume, a few of them far away."""
    rng = np.random.default_rng(seed)
    out = rng.normal(size=(count, corners, 4)) * [2, 2, 1, 1]
    out[..., 3] = rng.uniform(-0.5, 3, (count, corners))
    out[rng.random((count, corners)) < 0.1] *= 1000
    out[..., 0] *= np.where(rng.random((count, corners)) < 0.05, 1000, 1)
    # On planes exactly, and zeros.
    on_near = rng.random((count, corners)) < 0.05
    out[..., 2] = np.where(on_near, 0, out[..., 2])
    on_far = rng.random((count, corners)) < 0.05
    out[..., 2] = np.where(on_far, out[..., 3], out[..., 2])
    return out.astype(np.float32)


# Truths.


@pytest.mark.plan("clipper-1")
@pytest.mark.parametrize("corners", [1, 2, 3])
def test_what_needs_no_cut_passes_bit_for_bit(corners):
    inside = triangles(0, 500, 3)[:, :corners]
    inside[..., 3] = 3
    inside[..., 2] = np.minimum(np.abs(inside[..., 2]) / 4, 3)
    inside[..., :2] = np.clip(inside[..., :2] / 8, -3, 3)
    result = clip(inside, VIEW)
    assert result.clipped == result.rejected == 0
    assert result.positions.tobytes() == inside.tobytes()
    assert (result.source == np.arange(len(inside))).all()
    assert np.array_equal(result.weights, np.tile(np.eye(corners), (500, 1, 1)))
    assert (result.edges == (1 << corners) - 1).all()


@pytest.mark.plan("clipper-2")
@pytest.mark.parametrize("depth_clip", [True, False])
@pytest.mark.parametrize("view", VIEWS)
def test_cut_triangles_are_those_of_the_naive_clipper(view, depth_clip):
    """Bit for bit, with two clip distances, some of them at the ends of float32."""
    unclipped = triangles(1, 600)
    rng = np.random.default_rng(11)
    distances = rng.normal(1, 1, (600, 3, 2)).astype(np.float32)
    distances[:20] *= np.float32(5e37)
    distances[20:40] *= np.float32(1e-38)
    distances[rng.random(distances.shape) < 0.02] = 0
    result = clip(unclipped, view, depth_clip=depth_clip, clip_distances=distances)
    assert result.clipped > 200
    fields = view.x, view.y, view.width, view.height
    cut = 0
    for n in np.unique(result.source):
        # Greatest distances are cut to where their differences are finite.
        limited = np.clip(distances[n].astype(float), -(2.0**126), 2.0**126)
        limited[np.abs(limited) < 2.0**-126] = 0
        fan = clipped(unclipped[n].astype(float).tolist(), fields, depth_clip, limited.tolist())
        parts = result.source == n
        assert (
            result.positions[parts].tobytes()
            == np.float32([[corner.position for corner in corners] for corners in fan]).tobytes()
        )
        assert (
            result.weights[parts].tobytes()
            == np.float32([[corner.weights for corner in corners] for corners in fan]).tobytes()
        )
        cut += len(fan) > 1
    assert cut > 50


@pytest.mark.plan("clipper-3")
def test_a_shared_edge_is_cut_at_the_same_points():
    """A cut does not depend on the direction of the edge, nor on the third corner."""
    cuts = 0
    for seed in range(100):
        a, b, c, d = triangles(seed, 4)[:, 0]
        points = []
        for corners in (*itertools.permutations((a, b, c)), *itertools.permutations((a, b, d))):
            result = clip(np.stack(corners)[None], VIEW)
            places = [next(n for n in range(3) if corners[n] is corner) for corner in (a, b)]
            third = 3 - sum(places)
            on_edge = (result.weights[..., third] == 0) & (result.weights.max(-1) < 1)
            points.append({vertex.tobytes() for vertex in result.positions[on_edge]})
            if not len(result.source):
                points.pop()  # all of it is outside, whatever becomes of the edge
        assert all(point == points[0] for point in points)
        cuts += bool(points and points[0])
    assert cuts > 20


@pytest.mark.plan("clipper-4")
def test_new_edges_are_none_of_the_triangle():
    """In a wireframe no line is drawn along a plane, nor across a polygon."""
    unclipped = triangles(6, 400)
    result = clip(unclipped, VIEW, edges=np.full(400, 0b101, np.uint8))
    assert result.clipped > 100
    for weights, edges in zip(result.weights, result.edges, strict=True):
        for n in range(3):
            start, end = weights[n], weights[(n + 1) % 3]
            # Along an edge of the triangle one weight is zero at both ends.
            along = {k for k in range(3) if start[k] == end[k] == 0}
            drawn = bool(edges >> n & 1)
            # Edge n lies across from corner n + 2: edges 0 and 2 are asked for.
            assert not drawn or along & {2, 1}
    kept = {
        tuple(sorted([w[n].tobytes(), w[(n + 1) % 3].tobytes()]))
        for w, edges in zip(result.weights, result.edges, strict=True)
        for n in range(3)
        if edges >> n & 1
    }
    assert len(kept) > 100


@pytest.mark.plan("clipper-4")
def test_edges_of_a_cut_triangle():
    """One corner behind the near plane: four corners, two triangles."""
    near = np.array([[(0, 0, 1, 2), (1, 0, 1, 2), (0, 1, -1, 2)]], np.float32)
    result = clip(near, VIEW)
    # Corners 0, 1, the cut of edge 1, the cut of edge 2: the edge between the cuts is new.
    assert result.weights[0].argmax(1).tolist()[:2] == [0, 1]
    assert result.edges.tolist() == [0b011, 0b100]


@pytest.mark.plan("clipper-5")
def test_lines_keep_their_direction():
    lines = triangles(7, 500, 2)
    result = clip(lines, VIEW)
    assert result.clipped > 50
    cutting = planes(VIEW)
    for n, line, weights in zip(result.source, result.positions, result.weights, strict=True):
        assert weights[0, 0] > weights[1, 0] or line[0].tobytes() == line[1].tobytes()
        for end in range(2):
            if weights[end, end] == 1:
                assert line[end].tobytes() == lines[n, end].tobytes()
            slack = max(abs(value) for value in fractions(line[end])) * GUARD_BAND / 2**20
            assert all(plane(fractions(line[end])) >= -slack for plane in cutting)


@pytest.mark.plan("clipper-5")
def test_points_are_inside_or_not():
    points = triangles(8, 2000, 1)
    result = clip(points, VIEW)
    assert 100 < len(result.source) < 1900
    assert result.positions.tobytes() == points[result.source].tobytes()
    inside = {
        n
        for n, (point,) in enumerate(points)
        if all(plane(fractions(point)) >= 0 for plane in planes(VIEW))
        and abs(point[0]) <= point[3]
        and abs(point[1]) <= point[3]
    }
    assert set(result.source) == inside


@pytest.mark.plan("clipper-6")
def test_clip_distances_cut():
    """A distance that is the x coordinate cuts where x is 0."""
    rng = np.random.default_rng(9)
    inside = rng.uniform(-1, 1, (200, 3, 4)).astype(np.float32)
    inside[..., 2] = 0.5
    inside[..., 3] = 1
    distances = np.stack([inside[..., 0], np.ones((200, 3))], 2).astype(np.float32)
    result = clip(inside, VIEW, clip_distances=distances)
    assert result.clipped > 50
    assert result.rejected > 10
    assert result.positions[..., 0].min() >= -(2.0**-23)
    new = result.weights.max(-1) < 1
    assert np.abs(result.positions[new][:, 0]).max() <= 2.0**-23


@pytest.mark.plan("clipper-6")
def test_a_distance_that_is_no_number():
    corners = np.array([[(0, 0, 0.5, 1), (1, 0, 0.5, 1), (0, 1, 0.5, 1)]] * 4, np.float32)
    distances = np.ones((4, 3, 8), np.float32)
    distances[1, 2, 7] = np.nan
    distances[2, 0, 0] = np.inf
    distances[3, :, 4] = -np.inf
    result = clip(corners, VIEW, clip_distances=distances)
    assert result.source.tolist() == [0, 2]
    assert result.discarded == 1
    assert result.rejected == 1


@pytest.mark.plan("clipper-6")
def test_cull_distances():
    """Discarded where all corners are below 0, or no number, in any one of the distances."""
    corners = np.array([[(0, 0, 0.5, 1), (1, 0, 0.5, 1), (0, 1, 0.5, 1)]] * 5, np.float32)
    distances = np.zeros((5, 3, 2), np.float32)
    distances[1, :, 1] = [-1, -2, -3]
    distances[2, :, 1] = [-1, 0, -3]
    distances[3, :, 0] = [-1, np.nan, -np.inf]
    distances[4, :, 0] = [np.nan, np.nan, 1]
    result = clip(corners, VIEW, cull_distances=distances)
    assert result.source.tolist() == [0, 2, 4]
    assert result.culled == 2


@pytest.mark.plan("clipper-6")
def test_more_than_eight_distances_are_refused():
    corners = np.zeros((1, 3, 4), np.float32)
    five = np.zeros((1, 3, 5), np.float32)
    with pytest.raises(InputError, match="be at most 8 together"):
        clip(corners, VIEW, clip_distances=five, cull_distances=five)


@pytest.mark.plan("clipper-7")
def test_the_guard_band_keeps_positions_in_range():
    huge = np.array([[(-1, 0, 0.5, 1), (1e6, 1, 0.5, 1), (1e6, -1, 0.5, 1)]], np.float32)
    result = clip(huge, VIEW)
    assert result.clipped == 1
    assert np.abs(project(result.positions, VIEW)[..., :2]).max() <= GUARD_BAND + 0.01
    assert clip(huge / np.float32([1e4, 1, 1, 1]), VIEW).clipped == 0


@pytest.mark.plan("clipper-7")
@pytest.mark.parametrize("depth_clip", [True, False])
def test_coordinates_of_the_valid_range_stay_finite(depth_clip):
    rng = np.random.default_rng(10)
    wild = np.exp(rng.uniform(-80, np.log(FAR_OUT), (500, 3, 4))) * rng.choice([-1, 1], (500, 3, 4))
    wild[..., 3] = np.abs(wild[..., 3])
    result = clip(wild.astype(np.float32), VIEW, depth_clip=depth_clip)
    assert np.isfinite(result.positions).all()
    above = result.positions[..., 3] > 0
    assert above.mean() > 0.9
    screen = project(result.positions[above], VIEW)
    assert np.isfinite(screen[:, :2]).all()
    assert np.abs(screen[:, :2]).max() <= GUARD_BAND + 0.01


@pytest.mark.plan("clipper-7")
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_discarded(wrong):
    corners = triangles(2, 4)
    corners[..., 2] = 1
    corners[..., 3] = 3
    corners[1, 2, 0] = wrong
    result = clip(corners, VIEW)
    assert 1 not in result.source
    assert result.discarded == 1


@pytest.mark.plan("clipper-7")
@pytest.mark.parametrize("corners", [1, 2, 3])
def test_nothing_is_clipped_of_nothing(corners):
    result = clip(np.zeros((0, corners, 4), np.float32), VIEW)
    assert result.positions.shape == (0, corners, 4)
