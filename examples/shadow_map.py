# SPDX-License-Identifier: BSD-2-Clause
"""A shadow map of a low sun: its near plane is close, and depth clip is off.

Heads of columns lie in front of the near plane. Their depths are cut to it, sample by sample, so
that they cast their shadows, and the map's precision is left for what shadows fall on.
"""

import numpy as np
import trimesh

from fixfunc.examples.scaffold import Picture, camera, lambert, main, opaque, project
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import RasterizerState, SamplerState
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Compare, Cull

EDGE = 1024  # pixels of the map
SUN = np.array((-0.62, 0.52, 0.58), np.float32)
EYE = (3.6, 3.0, 9.5)
HALF = 8.0  # of what the map shows
NEAR, FAR = -4.4, 9.0  # along the sun's rays, from the middle: first heads lie at -6
BIAS = np.float32(0.001)
SLOPE = 3.0  # texels that depths are biased by, for nine comparisons around


def sun() -> np.ndarray:
    """To the clip space of the map: float32, shape (4, 4)."""
    back = SUN / np.linalg.norm(SUN)
    right = np.cross((0, 1, 0), back)
    right /= np.linalg.norm(right)
    out = np.eye(4)
    out[:3, :3] = right / HALF, np.cross(back, right) / HALF, -back / (FAR - NEAR)
    out[2, 3] = -NEAR / (FAR - NEAR)
    return out.astype(np.float32)


def caster(waves: VertexWaves, bound: Bindings) -> VertexResults:
    """Positions alone."""
    return VertexResults(project(waves.floats(0)[..., :3], bound.floats(0).reshape(4, 4)))


def vertex(waves: VertexWaves, bound: Bindings) -> VertexResults:
    """To clip space; the place in the map, normal and tint are attributes."""
    place = waves.floats(0)[..., :3]
    seen, lit = bound.floats(0).reshape(2, 4, 4)
    rows = [project(place, lit), waves.floats(1), waves.floats(2)]
    return VertexResults(project(place, seen), np.stack(rows, 2))


def pixel(quads: PixelQuads, bound: Bindings) -> PixelResults:
    """Sun where nothing is nearer to it: nine comparisons, each of four texels."""
    place = quads.floats(0)
    across = place[..., :2] * np.float32((0.5, -0.5)) + np.float32(0.5)
    # As depths of the map are cut, so are those that are compared with them.
    depth = np.clip(place[..., 2] - BIAS, 0, 1)
    found = np.zeros(depth.shape, np.float32)
    for offset in np.ndindex(3, 3):
        moved = across + (np.float32(offset) - np.float32(1)) / np.float32(EDGE)
        found += bound.sample_compare(0, 0, moved, depth, lod=0)
    share = found[..., None] / np.float32(9)
    facing = lambert(quads.floats(1)[..., :3], SUN, 0)
    ground, stone = np.float32((0.80, 0.70, 0.52)), np.float32((0.93, 0.90, 0.84))
    tint = ground + (stone - ground) * quads.floats(2)[..., :1]
    warm = np.float32((0.85, 0.72, 0.52)) * facing * share
    return PixelResults(opaque(tint * (np.float32((0.24, 0.30, 0.42)) + warm)))


def shapes() -> np.ndarray:
    """Vertices of triangles, float32 of shape (n, 8): two rows of columns, and the ground."""
    parts = []
    for n in range(12):
        x, z = (n % 6 - 2.5) * 2.0, 1.6 * (-1) ** (n // 6)
        for radius, low, high in ((0.42, 0, 0.25), (0.3, 0.25, 2.9), (0.42, 2.9, 3.1)):
            column = trimesh.creation.cylinder(radius, high - low, sections=28)
            turn = trimesh.geometry.align_vectors((0, 0, 1), (0, 1, 0))
            column.apply_transform(turn)
            column.apply_translation((x, (low + high) / 2, z))
            parts.append(column)
    for z in (-1.6, 1.6):
        beam = trimesh.creation.box((11.2, 0.4, 0.8))
        parts.append(beam.apply_translation((0, 3.3, z)))
    out = []
    for mesh in parts:
        rows = np.zeros((mesh.faces.size, 8), np.float32)
        rows[:, :3] = mesh.vertices[mesh.faces].reshape(-1, 3)
        rows[:, 3:6] = np.repeat(mesh.face_normals, 3, 0)
        rows[:, 6] = 1
        out.append(rows)
    corners = np.array([(-30, 30), (30, 30), (30, -30), (-30, 30), (30, -30), (-30, -30)])
    ground = np.zeros((6, 8), np.float32)
    ground[:, [0, 2]] = corners
    ground[:, 4] = 1
    return np.concatenate([*out, ground])


def draw(width: int = 640, height: int = 360) -> np.ndarray:
    """Columns in a low sun."""
    picture = Picture(width, height)
    device = picture.device
    context = picture.context
    count = picture.mesh(shapes())
    depths = Bind.DEPTH_STENCIL | Bind.SHADER_RESOURCE
    texture = device.create_texture2d(Format.R32_TYPELESS, EDGE, EDGE, bind=depths)
    target = device.create_depth_stencil_view(texture, Format.D32_FLOAT)
    context.clear_depth_stencil_view(target, 1.0)
    context.om.set_render_targets([], target)
    context.rs.set_viewports([Viewport(width=EDGE, height=EDGE)])
    context.rs.set_state(
        RasterizerState(cull=Cull.NONE, depth_clip_enable=False, slope_scaled_depth_bias=SLOPE)
    )
    context.vs.set_shader(device.create_vertex_shader(caster))
    context.vs.set_constant_buffers(0, [picture.constants(sun())])
    context.ps.set_shader(None)
    context.draw_indexed(count)

    context.om.set_render_targets([picture.target], picture.depth)
    context.rs.set_viewports([Viewport(width=width, height=height)])
    context.rs.set_state(RasterizerState(cull=Cull.BACK, front_counter_clockwise=True))
    seen = camera(EYE, (-0.6, 1.0, 0), width / height, 42)
    context.vs.set_shader(device.create_vertex_shader(vertex))
    context.vs.set_constant_buffers(0, [picture.constants(seen, sun())])
    compare = SamplerState(
        mip_filter="point",
        address_u="border",
        address_v="border",
        reduction="comparison",
        comparison_func=Compare.LESS_EQUAL,
    )
    context.ps.set_samplers(0, [compare])
    view = device.create_shader_resource_view(texture, Format.R32_FLOAT)
    context.ps.set_shader_resources(0, [view])
    context.ps.set_shader(device.create_pixel_shader(PixelShader(pixel)))
    context.draw_indexed(count)
    return picture.image()


if __name__ == "__main__":
    main(draw, "shadow_map")
