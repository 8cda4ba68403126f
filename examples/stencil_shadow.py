# SPDX-License-Identifier: BSD-2-Clause
"""A shadow volume: a geometry shader extrudes the outline, the stencil test counts its faces.

Three passes: depths in dim light; the volume's back faces add to the stencil values where they are
hidden and its front faces subtract; light is added where the count is zero.
"""

import numpy as np
import trimesh

from fixfunc.examples.scaffold import Picture, camera, lambert, main, opaque, project, smooth
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.geometry.geometry_stage import Emitted, GeometryInputs
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
    StencilFace,
)
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.machine.shaders import GeometryShader, PixelShader
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.state import BlendFactor, Compare, Cull, StencilOp

LIGHT = np.array((2.6, 4.6, 1.8), np.float32)  # a point
FAR = np.float32(30)  # how far a shadow reaches
AMBIENT = np.float32(0.22)


def vertex(waves: VertexWaves, bound: Bindings) -> VertexResults:
    """To clip space; place, normal and colour are attributes."""
    place = waves.floats(0)
    position = project(place[..., :3], bound.floats(0).reshape(4, 4))
    return VertexResults(position, np.stack([place, waves.floats(1), waves.floats(2)], 2))


def dim(quads: PixelQuads, _bound: Bindings) -> PixelResults:
    """What is lit by the sky alone."""
    return PixelResults(opaque(_colour(quads) * AMBIENT))


def lit(quads: PixelQuads, _bound: Bindings) -> PixelResults:
    """What the lamp adds."""
    towards = LIGHT - quads.floats(0)[..., :3]
    light = lambert(quads.floats(1)[..., :3], _unit(towards), 0)
    return PixelResults(opaque(_colour(quads) * light * (1 - AMBIENT)))


def _colour(quads):
    """Of the ground, and of what stands on it: by the first texture coordinate."""
    ground, ring = np.float32((0.62, 0.66, 0.72)), np.float32((0.92, 0.55, 0.20))
    return ground + (ring - ground) * quads.floats(2)[..., :1]


def _unit(vector):
    return vector / np.sqrt((vector * vector).sum(-1, keepdims=True))


def volume(inputs: GeometryInputs, bound: Bindings) -> Emitted:
    """The volume of triangles that face the lamp: both ends, and sides along the outline.

    Corners 0, 2 and 4 are the triangle's, the others its neighbours'.
    """
    place = inputs.attributes[..., 0, :].view(np.float32)[..., :3]
    own = place[:, ::2]
    faces = _faces(own)
    strips, invocation = [], []
    for order, is_far in (((0, 1, 2), False), ((0, 2, 1), True)):
        cap = own[faces][:, order]
        strips.append(_away(cap) if is_far else cap)
        invocation.append(np.flatnonzero(faces))
    for k in range(3):
        a, b = own[:, k], own[:, (k + 1) % 3]
        beyond = np.stack([a, place[:, 2 * k + 1], b], 1)
        outline = np.flatnonzero(faces & ~_faces(beyond))
        near = np.stack([a, b], 1)[outline]
        far = _away(near)
        strips += [
            np.stack([near[:, 0], far[:, 0], near[:, 1]], 1),
            np.stack([near[:, 1], far[:, 0], far[:, 1]], 1),
        ]
        invocation += [outline, outline]
    number = np.concatenate(invocation)
    order = np.argsort(number, kind="stable")
    points = np.concatenate(strips)[order].reshape(-1, 3).astype(np.float32)
    return Emitted(
        np.repeat(number[order], 3),
        project(points, bound.floats(0).reshape(4, 4)),
        cut=np.tile([False, False, True], len(order)),
    )


def _faces(triangles):
    """Which triangles, counter-clockwise, face the lamp."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return (normal * (LIGHT - triangles[:, 0])).sum(1) > 0


def _away(points):
    """Points moved away from the lamp."""
    return points + _unit(points - LIGHT) * FAR


def shapes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices of ring and ground; indices of triangles; those of the ring with neighbours."""
    ring = trimesh.creation.torus(0.85, 0.3, major_sections=48, minor_sections=24)
    turn = trimesh.geometry.align_vectors((0, 0, 1), (0.5, 0.62, 0.6))
    points = trimesh.transform_points(ring.vertices, turn) + (0, 1.35, 0)
    ground = np.array([(-7, 0, 7), (7, 0, 7), (7, 0, -7), (-7, 0, -7)], float)
    below = np.zeros((4, 8), np.float32)
    below[:, :3] = ground
    below[:, 4] = 1
    vertices = np.concatenate([smooth(points, ring.faces, (1, 0)), below])
    n = len(points)
    faces = np.concatenate([ring.faces, [(n, n + 1, n + 2), (n, n + 2, n + 3)]])
    opposite = {
        (face[k], face[(k + 1) % 3]): face[(k + 2) % 3] for face in ring.faces for k in range(3)
    }
    adjacent = np.array(
        [[v for k in range(3) for v in (f[k], opposite[f[(k + 1) % 3], f[k]])] for f in ring.faces]
    )
    return vertices, faces, adjacent


def draw(width: int = 640, height: int = 360) -> np.ndarray:
    """A ring and its shadow, by a stencilled shadow volume."""
    picture = Picture(width, height)
    device = picture.device
    context = picture.context
    vertices, faces, adjacent = shapes()
    matrix = picture.constants(camera((2.2, 3.4, 6.0), (0, 0.75, 0), width / height, 42))
    context.vs.set_shader(device.create_vertex_shader(vertex))
    context.vs.set_constant_buffers(0, [matrix])
    solid = RasterizerState(cull=Cull.BACK, front_counter_clockwise=True)
    context.rs.set_state(solid)

    count = picture.mesh(vertices, faces)
    context.ps.set_shader(device.create_pixel_shader(PixelShader(dim)))
    context.draw_indexed(count)

    # The volume: no colours, no depths, stencil values alone.
    picture.mesh(vertices, adjacent)
    context.ia.set_primitive_topology(Topology.TRIANGLE_LIST_ADJ)
    context.gs.set_shader(device.create_geometry_shader(GeometryShader(volume, most=24)))
    context.gs.set_constant_buffers(0, [matrix])
    context.ps.set_shader(None)
    both = RasterizerState(cull=Cull.NONE, front_counter_clockwise=True, depth_clip_enable=False)
    context.rs.set_state(both)
    count_faces = DepthStencilState(
        depth_write=False,
        stencil_enable=True,
        front_face=StencilFace(depth_fail=StencilOp.DECR),
        back_face=StencilFace(depth_fail=StencilOp.INCR),
    )
    context.om.set_depth_stencil_state(count_faces)
    context.draw_indexed(adjacent.size)

    context.gs.set_shader(None)
    context.rs.set_state(solid)
    count = picture.mesh(vertices, faces)
    context.ps.set_shader(device.create_pixel_shader(PixelShader(lit)))
    outside = StencilFace(func=Compare.EQUAL)
    context.om.set_depth_stencil_state(
        DepthStencilState(
            depth_write=False,
            depth_func=Compare.EQUAL,
            stencil_enable=True,
            front_face=outside,
            back_face=outside,
        )
    )
    add = RenderTargetBlend(True, BlendFactor.ONE, BlendFactor.ONE)
    context.om.set_blend_state(BlendState([add]))
    context.draw_indexed(count)
    return picture.image()


if __name__ == "__main__":
    main(draw, "stencil_shadow")
