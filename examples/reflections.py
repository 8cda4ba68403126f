# SPDX-License-Identifier: BSD-2-Clause
"""A ring that mirrors its room: the room is drawn into a cube first, six faces from the middle.

A geometry shader would do it in one pass; here each face is a target of its own, as it was always
done. Smaller levels of the cube are made by the device, for where the ring bends strongly.
"""

from collections.abc import Callable

import numpy as np
import trimesh

from fixfunc.examples.scaffold import Picture, camera, lambert, main, opaque, project, smooth
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import RasterizerState, SamplerState
from fixfunc.models.host.views import View
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Cull

EDGE = 256  # pixels of a face
EYE = np.array((0.0, 1.1, 5.6), np.float32)
ROOM = np.array((3.2, 2.0, 3.2))  # half of its sides; the eye looks in through its front wall
LIGHT = np.array((0.4, 0.8, 0.5), np.float32)
NEAR, FAR = 0.1, 20
# Where the camera of each face looks, and what is up for it, in the order of faces.
LOOKS = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
UPS = ((0, 1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1), (0, 1, 0), (0, 1, 0))
BOTH = Bind.RENDER_TARGET | Bind.SHADER_RESOURCE


def face_camera(face: int) -> np.ndarray:
    """To the clip space of a face's camera, which sees a right angle: float32, shape (4, 4)."""
    look, up = np.array(LOOKS[face], float), np.array(UPS[face], float)
    out = np.zeros((4, 4))
    out[:, :3] = np.cross(up, look), up, look * FAR / (FAR - NEAR), look
    out[2, 3] = -NEAR * FAR / (FAR - NEAR)
    return out.astype(np.float32)


def vertex(waves: VertexWaves, bound: Bindings) -> VertexResults:
    """To clip space; place, normal and hue are attributes."""
    place = waves.floats(0)
    position = project(place[..., :3], bound.floats(0).reshape(4, 4))
    return VertexResults(position, np.stack([place, waves.floats(1), waves.floats(2)], 2))


def room(quads: PixelQuads, _bound: Bindings) -> PixelResults:
    """Walls with tiles, and balls of one colour."""
    place, hue = quads.floats(0)[..., :3], quads.floats(2)[..., :1]
    tiles = np.floor(place * np.float32(1.25) + np.float32(0.01)).sum(-1, keepdims=True) % 2
    phase = np.float32((0.0, 1 / 3, 2 / 3)) + hue
    tint = np.float32(0.62) + np.float32(0.34) * np.cos(np.float32(2 * np.pi) * phase)
    is_wall = quads.floats(2)[..., 1:2] > 0
    tint = np.where(is_wall, tint * (np.float32(0.55) + np.float32(0.45) * tiles), tint)
    return PixelResults(opaque(tint * lambert(quads.floats(1)[..., :3], LIGHT, 0.55)))


def mirror(quads: PixelQuads, bound: Bindings) -> PixelResults:
    """The cube in the mirrored direction, brighter at grazing angles."""
    normal = _unit(quads.floats(1)[..., :3])
    ray = _unit(quads.floats(0)[..., :3] - EYE)
    cosine = (ray * normal).sum(-1, keepdims=True)
    mirrored = ray - np.float32(2) * cosine * normal
    found = bound.sample(0, 0, mirrored)[..., :3]
    rim = (np.float32(1) - np.abs(cosine)) ** 5
    return PixelResults(opaque(found * np.float32(0.86) + rim * np.float32(0.14)))


def _unit(vector):
    return vector / np.sqrt((vector * vector).sum(-1, keepdims=True))


def walls() -> np.ndarray:
    """Triangles of the room, seen from inside: float32, shape (36, 8)."""
    out = []
    for axis in range(3):
        for side in (-1, 1):
            u, v = ((axis + 1) % 3, (axis + 2) % 3)
            # Counter-clockwise from inside.
            signs = [(-1, -1), (-side, side), (1, 1), (-1, -1), (1, 1), (side, -side)]
            for a, b in signs:
                row = np.zeros(8)
                row[[axis, u, v]] = side * ROOM[axis], a * ROOM[u], b * ROOM[v]
                row[3 + axis] = -side
                row[6:] = (2 * axis + (side > 0)) / 6, 1
                out.append(row)
    return np.array(out, np.float32)


def ball(place: tuple, radius: float, hue: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a ball."""
    made = trimesh.creation.icosphere(3, radius)
    return smooth(made.vertices + place, made.faces, (hue, 0)), made.faces


def ring() -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of the ring."""
    made = trimesh.creation.torus(1.15, 0.45, major_sections=96, minor_sections=48)
    turn = trimesh.geometry.align_vectors((0, 0, 1), (0.35, 0.55, 0.75))
    return smooth(trimesh.transform_points(made.vertices, turn), made.faces), made.faces


def draw(width: int = 640, height: int = 360) -> np.ndarray:
    """A ring that mirrors a room."""
    picture = Picture(width, height)
    context = picture.context
    things = [(walls(), None)]
    for n in range(5):
        angle = 2 * np.pi * (n / 5 + 0.05)
        place = (2.3 * np.cos(angle), -1.35, 2.3 * np.sin(angle))
        things.append(ball(place, 0.6, 0.13 + n / 5))

    def everything(matrix):
        picture.shaders(vertex, room, picture.constants(matrix))
        for vertices, faces in things:
            context.draw_indexed(picture.mesh(vertices, faces))

    cube = drawn_cube(picture, everything)
    context.om.set_render_targets([picture.target], picture.depth)
    context.rs.set_viewports([Viewport(width=width, height=height)])
    context.rs.set_state(RasterizerState(cull=Cull.BACK, front_counter_clockwise=True))
    seen = camera(tuple(EYE), (0, -0.1, 0), width / height, 42)
    everything(seen)
    context.ps.set_samplers(0, [SamplerState()])
    context.ps.set_shader_resources(0, [cube])
    context.ps.set_shader(picture.device.create_pixel_shader(PixelShader(mirror)))
    context.draw_indexed(picture.mesh(*ring()))
    return picture.image()


def drawn_cube(picture: Picture, everything: Callable[[np.ndarray], None]) -> View:
    """A cube of what is seen from the middle, with smaller levels."""
    device, context = picture.device, picture.context
    form = Format.R8G8B8A8_UNORM
    cube = device.create_texture2d(form, EDGE, EDGE, 0, 6, bind=BOTH, cube=True)
    depths = device.create_texture2d(Format.D24_UNORM_S8_UINT, EDGE, EDGE, bind=Bind.DEPTH_STENCIL)
    depth = device.create_depth_stencil_view(depths)
    context.rs.set_viewports([Viewport(width=EDGE, height=EDGE)])
    # Cameras of faces are of a left hand: fronts turn the other way.
    context.rs.set_state(RasterizerState(cull=Cull.BACK))
    for face in range(6):
        target = device.create_render_target_view(cube, first_layer=face, layer_count=1)
        context.clear_render_target_view(target, (0, 0, 0, 1))
        context.clear_depth_stencil_view(depth, 1.0)
        context.om.set_render_targets([target], depth)
        everything(face_camera(face))
    view = device.create_shader_resource_view(cube, cube=True)
    context.generate_mips(view)
    return view


if __name__ == "__main__":
    main(draw, "reflections")
