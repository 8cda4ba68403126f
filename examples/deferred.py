# SPDX-License-Identifier: BSD-2-Clause
"""A deferred pass: four targets of what is seen, then the light of many lamps from them.

Light is a target of floats, where lamps add up beyond one; a last pass turns it into colours. All
passes are for each sample, so that edges stay smooth.
"""

import numpy as np
import trimesh

from fixfunc.examples.scaffold import Picture, camera, main, opaque, project, smooth
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
)
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, Cull

EYE = np.array((0.0, 4.2, 8.4), np.float32)
SAMPLES = 2  # of a pixel
LAMPS = 24
TOGETHER = 12  # lamps of a pass
WIDE, HALF = Format.R32G32B32A32_FLOAT, Format.R16G16B16A16_FLOAT
# Place, normal, tint, and how it shines: power and strength.
TARGETS = (WIDE, HALF, Format.R8G8B8A8_UNORM, Format.R16G16_FLOAT)
BOTH = Bind.RENDER_TARGET | Bind.SHADER_RESOURCE


def vertex(waves: VertexWaves, bound: Bindings) -> VertexResults:
    """To clip space; place, normal and surface are attributes."""
    place = waves.floats(0)
    position = project(place[..., :3], bound.floats(0).reshape(4, 4))
    return VertexResults(position, np.stack([place, waves.floats(1), waves.floats(2)], 2))


def on_screen(waves: VertexWaves, _bound: Bindings) -> VertexResults:
    """Positions are those of clip space already."""
    return VertexResults(opaque(waves.floats(0)[..., :3]))


def store(quads: PixelQuads, _bound: Bindings) -> PixelResults:
    """What is seen, into four targets: the ground is tiled, the others are of one colour."""
    place, surface = quads.floats(0), quads.floats(2)
    tiles = (np.floor(place[..., 0]) + np.floor(place[..., 2])) % 2
    is_ground = surface[..., 1] > 0
    grey = np.where(is_ground, np.float32(0.35) + np.float32(0.4) * tiles, np.float32(0.8))
    shine = np.zeros((*grey.shape, 4), np.float32)
    shine[..., 0] = np.where(is_ground, np.float32(24), np.float32(60))
    shine[..., 1] = np.where(is_ground, np.float32(0.3), np.float32(1.2))
    return PixelResults(
        [opaque(place[..., :3]), quads.floats(1).copy(), opaque(np.stack([grey] * 3, -1)), shine]
    )


def light(quads: PixelQuads, bound: Bindings) -> PixelResults:
    """What some lamps add, by the four targets: scattered, and mirrored towards the eye."""
    at, sample = np.stack([quads.x, quads.y], -1), quads.sample[:, None, None]
    place, normal, tint, shine = (bound.fetch(n, at, sample=sample)[..., :3] for n in range(4))
    is_seen = (normal != 0).any(-1, keepdims=True)
    normal = _unit(normal)
    towards_eye = _unit(EYE - place)
    total = np.zeros_like(place)
    for lamp, colour in bound.floats(0).reshape(-1, 2, 4)[..., :3]:
        towards = lamp - place
        square = (towards * towards).sum(-1, keepdims=True)
        towards = towards / np.sqrt(square)
        half = _unit(towards + towards_eye)
        scattered = np.maximum((normal * towards).sum(-1, keepdims=True), 0)
        mirrored = np.maximum((normal * half).sum(-1, keepdims=True), 0) ** shine[..., :1]
        strength = (tint * scattered + mirrored * shine[..., 1:2]) / (square + np.float32(0.05))
        total += strength * colour
    return PixelResults(opaque(np.where(is_seen, total, np.float32(0))))


def _unit(vector):
    length = np.sqrt((vector * vector).sum(-1, keepdims=True))
    return vector / np.maximum(length, np.float32(1e-20))


def tones(quads: PixelQuads, bound: Bindings) -> PixelResults:
    """Light of any strength as colours: bright ones saturate slowly."""
    at = np.stack([quads.x, quads.y], -1)
    found = bound.fetch(0, at, sample=quads.sample[:, None, None])[..., :3]
    return PixelResults(opaque(np.sqrt(found / (found + np.float32(1)))))


def lamps() -> np.ndarray:
    """Lamps on a spiral around the middle: place and colour, float32 of shape (n, 2, 4)."""
    number = np.arange(LAMPS)
    angle = number * 2.4
    radius = 0.9 + 4.6 * np.sqrt(number / LAMPS)
    out = np.zeros((LAMPS, 2, 4), np.float32)
    out[:, 0, 0] = radius * np.cos(angle)
    out[:, 0, 1] = 0.45 + 0.25 * np.cos(3 * angle)
    out[:, 0, 2] = radius * np.sin(angle)
    hue = angle[:, None] + np.array((0.0, 2.1, 4.2))
    out[:, 1, :3] = 0.75 * (0.55 + 0.45 * np.cos(hue)) ** 2
    return out


def shapes() -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces: balls in a ring around a greater one, and the ground."""
    ground = np.array([(-9, 0, 7), (9, 0, 7), (9, 0, -9), (-9, 0, -9)], float)
    faces = [np.array([(0, 1, 2), (0, 2, 3)])]
    vertices = [smooth(ground, faces[0], (0, 1))]
    for n in range(9):
        angle = 2 * np.pi * n / 8
        far, radius = (3.0, 0.55) if n < 8 else (0, 0.95)
        ball = trimesh.creation.icosphere(3, radius)
        points = ball.vertices + (far * np.cos(angle), radius, far * np.sin(angle))
        faces.append(ball.faces + sum(map(len, vertices)))
        vertices.append(smooth(points, ball.faces))
    return np.concatenate(vertices), np.concatenate(faces)


def draw(width: int = 640, height: int = 360) -> np.ndarray:
    """Balls among many lamps, by a deferred pass."""
    picture = Picture(width, height, SAMPLES)
    device = picture.device
    context = picture.context

    def target(form):
        made = device.create_texture2d(form, width, height, sample_count=SAMPLES, bind=BOTH)
        view = device.create_render_target_view(made)
        context.clear_render_target_view(view, (0, 0, 0, 0))
        return view, device.create_shader_resource_view(made)

    def screen(sources, shader):
        context.ps.set_shader_resources(0, sources)
        program = PixelShader(shader, sample_index=True)
        context.ps.set_shader(device.create_pixel_shader(program))
        context.draw_indexed(count)
        context.ps.set_shader_resources(0, [None] * len(sources))

    targets, seen = zip(*[target(form) for form in TARGETS], strict=True)
    context.om.set_render_targets(targets, picture.depth)
    solid = RasterizerState(cull=Cull.BACK, front_counter_clockwise=True)
    context.rs.set_state(solid)
    matrix = camera(tuple(EYE), (0, 0.2, 0), width / height, 42)
    picture.shaders(vertex, store, picture.constants(matrix))
    context.draw_indexed(picture.mesh(*shapes()))

    corners = np.zeros((3, 8), np.float32)
    corners[:, :2] = (-1, 3), (3, -1), (-1, -1)
    count = picture.mesh(corners)
    context.rs.set_state(RasterizerState(cull=Cull.NONE))
    context.vs.set_shader(device.create_vertex_shader(on_screen))
    context.om.set_depth_stencil_state(DepthStencilState(depth_enable=False))
    view, sums = target(HALF)
    context.om.set_render_targets([view])
    add = RenderTargetBlend(True, BlendFactor.ONE, BlendFactor.ONE)
    context.om.set_blend_state(BlendState([add]))
    for first in range(0, LAMPS, TOGETHER):
        some = picture.constants(lamps()[first : first + TOGETHER])
        context.ps.set_constant_buffers(0, [some])
        screen(seen, light)
    context.om.set_blend_state(None)
    context.om.set_render_targets([picture.target])
    screen([sums], tones)
    return picture.image()


if __name__ == "__main__":
    main(draw, "deferred")
