# SPDX-License-Identifier: BSD-2-Clause
"""Patches through the front half: hull shader, tessellator, domain shader."""

import numpy as np
import pytest

from fixfunc.models.frontend.input_assembler import Draw
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import teapot_patches
from fixfunc.models.tessellation import bezier, patches
from fixfunc.models.tessellation.stages import HullResults, Tessellation
from fixfunc.models.tessellation.tessellator import FACTORS, tessellate
from fixfunc.spec.draw import Topology
from fixfunc.spec.errors import InputError
from tests.machine.test_front_half import buffer, drawn


def flat_hull(outer, inner):
    """A hull shader that passes control points on, with the same factors for every patch."""

    def hull(patches):
        count = len(patches.primitive)
        return HullResults(
            np.tile(np.float32(outer), (count, 1)),
            np.tile(np.float32(inner), (count, 1)).reshape(count, -1),
            patches.position,
            patches.primitive,
        )

    return hull


def bilinear(waves):
    """A domain shader: between four control points; it hands on u, v and the patch."""
    u, v = waves.uv[..., 0, None], waves.uv[..., 1, None]
    corner = waves.hull.control[waves.patch]
    low = corner[..., 0, :] + (corner[..., 1, :] - corner[..., 0, :]) * u
    high = corner[..., 2, :] + (corner[..., 3, :] - corner[..., 2, :]) * u
    attributes = np.zeros((*waves.mask.shape, 1, 4), np.float32)
    attributes[..., 0, :2] = waves.uv
    attributes[..., 0, 2] = waves.hull.constants[waves.patch]
    return VertexResults((low + (high - low) * v).astype(np.float32), attributes)


def square(x, y, size):
    """Four control points of a square, as a list of positions."""
    return [(x, y, 0.5), (x + size, y, 0.5), (x, y + size, 0.5), (x + size, y + size, 0.5)]


SQUARES = np.float32(square(-0.9, -0.9, 0.8) + square(0.1, -0.9, 0.8) + square(-0.9, 0.1, 0.8))


@pytest.mark.plan("front-half-7")
@pytest.mark.parametrize("limit", [1, 2])
def test_more_patches_than_a_point_can_number_are_divided_in_turns(limit, monkeypatch):
    arguments = {
        "topology": Topology.PATCH_4,
        "vertex_buffers": {0: buffer(SQUARES)},
        "tessellation": Tessellation(flat_hull([3.0, 5.0, 2.5, 7.0], [4.0, 3.0]), bilinear),
    }
    whole = drawn(Draw(12), **arguments)
    monkeypatch.setattr(patches, "PATCH_LIMIT", limit)
    turns = drawn(Draw(12), **arguments)
    for expected, found in zip(whole[:4], turns[:4], strict=True):
        assert np.array_equal(expected, found)
    assert turns[4]["ds_points"] == whole[4]["ds_points"]


@pytest.mark.plan("front-half-7")
@pytest.mark.parametrize("instances", [1, 3])
def test_triangles_of_patches_are_those_of_the_tessellator(instances):
    outer = [3.0, 5.0, 2.5, 7.0]
    inner = [4.0, 3.0]
    triangles, instance, primitive, attributes, counters = drawn(
        Draw(12, instances=instances),
        topology=Topology.PATCH_4,
        vertex_buffers={0: buffer(SQUARES)},
        tessellation=Tessellation(flat_hull(outer, inner), bilinear),
    )
    patch = tessellate("quad", outer, inner, "fractional_odd", "triangle_cw")
    count = len(patch.primitives)
    assert len(triangles) == 3 * instances * count
    # All triangles of a patch have its number [fs 11.7.9.1].
    assert primitive.tolist() == [
        n for _ in range(instances) for n in range(3) for _ in range(count)
    ]
    assert instance.tolist() == [n for n in range(instances) for _ in range(3 * count)]
    uv = attributes[..., 0, :2].view(np.float32)
    wanted = (patch.points / np.float32(1 << 16)).astype(np.float32)[patch.primitives]
    for n in range(3 * instances):
        assert np.array_equal(uv[n * count : (n + 1) * count], wanted)
    corner = SQUARES.reshape(3, 4, 3)
    at = corner[primitive[:, None], 0, :2] + np.float32(0.8) * uv
    for k in range(3):
        x = (at[:, k, 0] + 1) * 32 * 256
        assert np.abs(triangles[f"x{k}"] - x).max() < 1
    assert counters["hs_invocations"] == 3 * instances
    assert counters["ds_invocations"] < counters["ds_points"] == 9 * count * instances
    assert counters["ia_primitives"] == 3 * instances


@pytest.mark.plan("front-half-7")
def test_the_mesh_of_patches_is_the_same():
    """The teapot: drawn by patches, and as the mesh that the same patches give."""
    scene = teapot_patches(6, 320, 180)
    control = bezier.read_patches()[..., [0, 2, 1]] * (1, 1, -1)
    outer, inner = bezier.constant(6)(control)

    def hull(patches):
        shape = len(patches.primitive), 4, 4, 3
        points = patches.position[..., :3].astype(np.float64).reshape(shape)
        return HullResults(np.float32(outer), np.float32(inner), points)

    def domain(waves):
        flat = waves.mask.reshape(-1)
        position = np.zeros((len(flat), 4), np.float32)
        points = bezier.shade(
            waves.hull.control[waves.patch.reshape(-1)[flat]],
            waves.uv.reshape(-1, 2)[flat].astype(np.float64),
        )
        x, y, z = points.astype(np.float32).T[:, :, None]
        m = scene.transform
        position[flat] = ((x * m[:, 0] + y * m[:, 1]) + z * m[:, 2]) + m[:, 3]
        return VertexResults(position.reshape(*waves.mask.shape, 4))

    def vertex(waves):
        position = np.zeros((*waves.mask.shape, 4), np.float32)
        position[..., :3] = waves.floats(0)[..., :3]
        return VertexResults(position)

    port = Viewport(width=320, height=180)
    draw = Draw(16 * len(control))
    triangles = drawn(
        draw,
        shader=vertex,
        topology=Topology.PATCH_16,
        vertex_buffers={0: buffer(control.reshape(-1, 3))},
        viewports=[port],
        tessellation=Tessellation(hull, domain),
    )[0]
    frame = render(scene)
    assert len(triangles) == len(frame.triangles)
    # Control points are float32 here, and float64 there.
    for k in range(3):
        for axis in "xy":
            apart = triangles[f"{axis}{k}"] - frame.triangles[f"{axis}{k}"]
            assert np.abs(apart).max() <= 1


@pytest.mark.plan("front-half-7")
@pytest.mark.parametrize(
    ("kind", "output", "factors", "corners", "count"),
    [
        ("isoline", "line", [3, 5], 2, 15),
        ("isoline", "point", [2, 3], 1, 8),
        ("triangle", "triangle_ccw", [1, 1, 1, 1], 3, 1),
        ("triangle", "point", [1, 1, 1, 1], 1, 3),
    ],
)
def test_isolines_triangles_and_points(kind, output, factors, corners, count):
    numbers = FACTORS[kind][0]
    stages = Tessellation(
        flat_hull(factors[:numbers], factors[numbers:]), bilinear, kind, "integer", output
    )
    triangles, _, _, attributes, counters = drawn(
        Draw(4),
        topology=Topology.PATCH_4,
        vertex_buffers={0: buffer(SQUARES[:4])},
        tessellation=stages,
    )
    assert counters["c_invocations"] == count
    assert len(triangles) == count * (1 if corners == 3 else 2)
    assert len(np.unique(attributes[..., 0, :2].reshape(-1, 2), axis=0)) > corners - 1


@pytest.mark.plan("front-half-7")
def test_a_patch_that_is_culled_shades_nothing():
    def hull(patches):
        results = flat_hull([2.0] * 4, [2.0] * 2)(patches)
        results.outer[1, 2] = np.nan
        return results

    _, _, primitive, _, counters = drawn(
        Draw(12),
        topology=Topology.PATCH_4,
        vertex_buffers={0: buffer(SQUARES)},
        tessellation=Tessellation(hull, bilinear),
    )
    assert set(primitive.tolist()) == {0, 2}
    assert counters["hs_invocations"] == 3


@pytest.mark.plan("front-half-7")
def test_wrong_factors_are_refused():
    with pytest.raises(InputError, match="outer must be float32 of shape"):
        drawn(
            Draw(4),
            topology=Topology.PATCH_4,
            vertex_buffers={0: buffer(SQUARES)},
            tessellation=Tessellation(flat_hull([1.0] * 3, [1.0] * 2), bilinear),
        )


@pytest.mark.plan("front-half-6")
@pytest.mark.parametrize(
    ("topology", "stages", "text"),
    [
        (Topology.PATCH_3, None, "topology must be no patch if it is drawn as it is"),
        (Topology.TRIANGLE_LIST, "both", "topology must be a patch if there is tessellation"),
    ],
)
def test_patches_are_tessellated_and_nothing_else_is(topology, stages, text):
    tessellation = Tessellation(flat_hull([1.0] * 4, [1.0] * 2), bilinear) if stages else None
    with pytest.raises(InputError, match=text):
        drawn(Draw(3), topology=topology, tessellation=tessellation)
