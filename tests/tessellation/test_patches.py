# SPDX-License-Identifier: BSD-2-Clause
from collections import Counter, defaultdict

import numpy as np
import pytest

from fixfunc.models import pipeline
from fixfunc.models.tessellation import bezier, patches
from fixfunc.models.tessellation.domain_matching import ONE
from fixfunc.spec.errors import InputError

SIZE = 320, 180


def edges_of(control):
    """Control points of each patch's edges, the same from both ends: by them, (patch, axis, place) of those that share it."""
    found = defaultdict(list)
    for n, points in enumerate(control):
        for axis, end, edge in ((0, 0, points[0]), (1, 0, points[:, 0]), (0, ONE, points[3]), (1, ONE, points[:, 3])):
            key = tuple(map(tuple, edge.tolist()))
            found[min(key, key[::-1])].append((n, axis, end))
    return found


def teapot(factor):
    made = pipeline.teapot_patches(factor, *SIZE, samples=1)
    return made.tessellated, bezier.read_patches()[..., [0, 2, 1]] * (1, 1, -1)


@pytest.mark.parametrize("factor", [1, 4, 7.3, "adaptive"])
def test_patches_of_the_teapot_meet_without_cracks(factor):
    """The same points along an edge from both of its patches, to the bit."""
    made, control = teapot(factor)
    shared = [sides for sides in edges_of(control).values() if len(sides) == 2]
    assert len(shared) > 40
    for sides in shared:
        seen = [{tuple(p) for p in made.vertices[(made.places[:, 0] == n) & (made.places[:, 1 + axis] == end)].tolist()} for n, axis, end in sides]
        assert seen[0] == seen[1] and len(seen[0]) > 1, sides


def test_no_triangle_has_a_border_within_the_teapot():
    """Every side of a triangle is another's, but on edges of patches that nothing is joined to, and where an edge is a point."""
    made, control = teapot("adaptive")
    alone = {side for sides in edges_of(control).values() if len(sides) == 1 for side in sides}
    corners = [tuple(p) for p in made.vertices.tolist()]
    sides = Counter(frozenset((corners[a], corners[b])) for face in made.faces.tolist() for a, b in zip(face, (*face[1:], face[0]), strict=True))
    borders = {side for side, count in sides.items() if count == 1 and len(side) == 2}
    for face in made.faces.tolist():
        for a, b in zip(face, (*face[1:], face[0]), strict=True):
            if frozenset((corners[a], corners[b])) in borders:
                (patch, *first), (_, *second) = made.places[a].tolist(), made.places[b].tolist()
                on = {(patch, axis, first[axis]) for axis in range(2) if first[axis] == second[axis]}
                assert on & alone, (patch, first, second)


def test_an_edge_is_the_same_from_either_patch_and_either_end():
    """In float64, before anything is rounded away."""
    rng = np.random.default_rng(0)
    control, t = rng.normal(size=(2000, 4, 4, 3)), rng.integers(0, ONE + 1, 2000) / ONE
    edge, zero = bezier.shade(control, np.stack([0 * t, t], -1)), 0 * t
    for other, uv in ((control[:, :, ::-1], (zero, 1 - t)), (control[:, ::-1], (zero + 1, t)), (control.swapaxes(1, 2), (t, zero)),
                      (control.swapaxes(1, 2)[:, ::-1], (1 - t, zero))):
        assert (bezier.shade(other, np.stack(uv, -1)) == edge).all()


def test_vertices_lie_where_the_patches_do():
    """Against Bernstein polynomials of exact rationals' floats, and the hull that every Bezier patch lies in."""
    control = bezier.read_patches()
    uv = np.random.default_rng(0).integers(0, ONE + 1, (len(control), 2)) / ONE
    found = bezier.shade(control, uv)
    t = np.stack([1 - uv, uv], -1)
    weights = [(t[:, n, :1] ** np.arange(3, -1, -1)) * (t[:, n, 1:] ** np.arange(4)) * (1, 3, 3, 1) for n in range(2)]
    assert np.allclose(found, np.einsum("ni,nj,nijk->nk", *weights, control), atol=1e-12)


def test_the_domain_stage_is_called_for_waves():
    calls = []

    def domain(_control, uv):
        calls.append(len(uv))
        return np.concatenate([uv, np.zeros((len(uv), 1))], -1)

    made = patches.run(patches.PatchDraw(np.zeros((3, 1)), bezier.constant(5), domain, partitioning="integer"))
    assert sum(calls) == made.counters.misses == len(made.vertices) and len(calls) == made.waves == made.counters.waves
    assert max(calls) == 32 and len(made.faces) == 3 * 50 and made.counters.points == 450
    assert (made.vertices[:, :2] == made.places[:, 1:] / ONE).all()


def test_culled_patches_and_wrong_draws():
    draw = patches.PatchDraw(np.zeros((2, 1)), bezier.constant(0), lambda _control, uv: np.zeros((len(uv), 3)))
    assert len(patches.run(draw).faces) == 0
    draw.kind = "isoline"
    with pytest.raises(InputError, match="domain of a draw of triangles must be triangle or quad, not isoline"):
        patches.run(draw)


def test_a_frame_of_patches():
    frame = pipeline.render(pipeline.teapot_patches("adaptive", *SIZE))
    assert frame.counters["shaded_points"] < 0.4 * frame.counters["domain_points"]
    assert frame.counters["samples_passed"] > 50_000
