# SPDX-License-Identifier: BSD-2-Clause
from collections import Counter, defaultdict

import numpy as np
import pytest

from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import teapot_patches
from fixfunc.models.tessellation import bezier, patches
from fixfunc.models.tessellation.domain_matching import ONE
from fixfunc.spec.errors import InputError

SIZE = 320, 180


def edges_of(control):
    """Patches' edges by their control points: lists of (patch, axis, position).

    Control points in reverse are the same edge.
    """
    edges = defaultdict(list)
    for n, points in enumerate(control):
        for axis, end, edge in (
            (0, 0, points[0]),
            (1, 0, points[:, 0]),
            (0, ONE, points[3]),
            (1, ONE, points[:, 3]),
        ):
            key = tuple(map(tuple, edge.tolist()))
            edges[min(key, key[::-1])].append((n, axis, end))
    return edges


def teapot(factor):
    result = teapot_patches(factor, *SIZE, samples=1)
    return result.tessellated, bezier.read_patches()[..., [0, 2, 1]] * (1, 1, -1)


@pytest.mark.plan("domain-matching-10")
@pytest.mark.parametrize("factor", [1, 4, 7.3, "adaptive"])
def test_patches_of_the_teapot_meet_without_cracks(factor):
    """An edge has the same points from both of its patches, to the bit."""
    result, control = teapot(factor)
    shared = [sides for sides in edges_of(control).values() if len(sides) == 2]
    assert len(shared) > 40
    for sides in shared:
        points = [
            {
                tuple(p)
                for p in result.vertices[
                    (result.places[:, 0] == n) & (result.places[:, 1 + axis] == end)
                ].tolist()
            }
            for n, axis, end in sides
        ]
        assert points[0] == points[1] and len(points[0]) > 1, sides


def test_no_triangle_has_a_border_within_the_teapot():
    """Every side of a triangle is another's, except on edges of patches without a neighbour.

    Sides of no length do not count.
    """
    result, control = teapot("adaptive")
    unshared = {side for sides in edges_of(control).values() if len(sides) == 1 for side in sides}
    corners = [tuple(p) for p in result.vertices.tolist()]
    sides = Counter(
        frozenset((corners[a], corners[b]))
        for face in result.faces.tolist()
        for a, b in zip(face, (*face[1:], face[0]), strict=True)
    )
    borders = {side for side, count in sides.items() if count == 1 and len(side) == 2}
    for face in result.faces.tolist():
        for a, b in zip(face, (*face[1:], face[0]), strict=True):
            if frozenset((corners[a], corners[b])) in borders:
                (patch, *first) = result.places[a].tolist()
                (_, *second) = result.places[b].tolist()
                edges = {
                    (patch, axis, first[axis]) for axis in range(2) if first[axis] == second[axis]
                }
                assert edges & unshared, (patch, first, second)


def test_an_edge_is_the_same_from_either_patch_and_either_end():
    """Points of an edge are equal in float64, without rounding."""
    rng = np.random.default_rng(0)
    control = rng.normal(size=(2000, 4, 4, 3))
    t = rng.integers(0, ONE + 1, 2000) / ONE
    edge = bezier.shade(control, np.stack([0 * t, t], -1))
    zero = 0 * t
    for turned, uv in (
        (control[:, :, ::-1], (zero, 1 - t)),
        (control[:, ::-1], (zero + 1, t)),
        (control.swapaxes(1, 2), (t, zero)),
        (control.swapaxes(1, 2)[:, ::-1], (1 - t, zero)),
    ):
        assert (bezier.shade(turned, np.stack(uv, -1)) == edge).all()


@pytest.mark.plan("domain-matching-10")
def test_vertices_lie_where_the_patches_do():
    """The domain stage agrees with Bernstein polynomials."""
    control = bezier.read_patches()
    uv = np.random.default_rng(0).integers(0, ONE + 1, (len(control), 2)) / ONE
    positions = bezier.shade(control, uv)
    t = np.stack([1 - uv, uv], -1)
    weights = [
        (t[:, n, :1] ** np.arange(3, -1, -1)) * (t[:, n, 1:] ** np.arange(4)) * (1, 3, 3, 1)
        for n in range(2)
    ]
    assert np.allclose(positions, np.einsum("ni,nj,nijk->nk", *weights, control), atol=1e-12)


def test_the_domain_stage_is_called_for_waves():
    calls = []

    def domain(_control, uv):
        calls.append(len(uv))
        return np.concatenate([uv, np.zeros((len(uv), 1))], -1)

    result = patches.run(
        patches.PatchDraw(np.zeros((3, 1)), bezier.constant(5), domain, partitioning="integer")
    )
    assert (
        sum(calls) == result.counters.misses == len(result.vertices)
        and len(calls) == result.waves == result.counters.waves
    )
    assert max(calls) == 32 and len(result.faces) == 3 * 50 and result.counters.points == 450
    assert (result.vertices[:, :2] == result.places[:, 1:] / ONE).all()


def test_culled_patches_and_wrong_draws():
    draw = patches.PatchDraw(
        np.zeros((2, 1)), bezier.constant(0), lambda _control, uv: np.zeros((len(uv), 3))
    )
    assert len(patches.run(draw).faces) == 0
    draw.kind = "isoline"
    with pytest.raises(
        InputError, match="domain of a draw of triangles must be triangle or quad, not isoline"
    ):
        patches.run(draw)


def test_a_frame_of_patches():
    frame = render(teapot_patches("adaptive", *SIZE))
    assert frame.counters["shaded_points"] < 0.4 * frame.counters["domain_points"]
    assert frame.counters["samples_passed"] > 50_000
