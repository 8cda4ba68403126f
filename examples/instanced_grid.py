# SPDX-License-Identifier: BSD-2-Clause
"""A grid of boxes: one mesh, drawn by one call, with a place and a colour for each instance."""

import numpy as np
import trimesh

from fixfunc.examples.scaffold import VERTEX, Picture, camera, lambert, main, opaque, project
from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.host.states import RasterizerState
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults
from fixfunc.spec.draw import StepClass
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Cull

SIDE = 16  # boxes along a side
LIGHT = np.array((0.3, 0.85, 0.43), np.float32)
EACH = StepClass.PER_INSTANCE
# Of an instance: place and height; colour, RGBA8.
INSTANCE = (
    Element(3, Format.R32G32B32_FLOAT, 1, 0, EACH, 1),
    Element(4, Format.R8G8B8A8_UNORM, 1, 12, EACH, 1),
)


def vertex(waves: VertexWaves, bound: Bindings) -> VertexResults:
    """A box, as high as its instance says, at its place."""
    place = waves.floats(3)
    point = waves.floats(0)[..., :3]
    high = np.stack([point[..., 0], point[..., 1] * place[..., 1], point[..., 2]], -1)
    shift = np.stack([place[..., 0], np.zeros_like(place[..., 0]), place[..., 2]], -1)
    position = project(high + shift, bound.floats(0).reshape(4, 4))
    return VertexResults(position, np.stack([waves.floats(1), waves.floats(4)], 2))


def pixel(quads: PixelQuads, _bound: Bindings) -> PixelResults:
    """The instance's colour in the light."""
    light = lambert(quads.floats(0)[..., :3], LIGHT, 0.35)
    return PixelResults(opaque(quads.floats(1)[..., :3] * light))


def instances() -> np.ndarray:
    """Instances: 16 bytes each, float32 and their bits."""
    z, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    height = 0.7 + 2.2 * np.exp(-(x**2 + z**2) / 18) + 0.35 * np.cos(1.3 * x) * np.sin(1.1 * z)
    share = (height - height.min()) / np.ptp(height)
    colour = np.stack([40 + 200 * share, 90 + 60 * share, 210 - 150 * share, 255 + 0 * share], -1)
    out = np.zeros((SIDE * SIDE, 4), np.float32)
    out[:, :3] = np.stack([x, height, z], -1).reshape(-1, 3)
    out.view(np.uint8).reshape(-1, 16)[:, 12:] = colour.reshape(-1, 4).astype(np.uint8)
    return out


def draw(width: int = 640, height: int = 360) -> np.ndarray:
    """A grid of boxes by one call."""
    picture = Picture(width, height)
    device = picture.device
    context = picture.context
    box = trimesh.creation.box((0.8, 1, 0.8))
    corners = box.vertices[box.faces].reshape(-1, 3) + (0, 0.5, 0)
    normals = np.repeat(box.face_normals, 3, 0)
    vertices = np.concatenate([corners, normals, np.zeros((len(corners), 2))], 1)
    count = picture.mesh(vertices.astype(np.float32))
    context.ia.set_input_layout(device.create_input_layout(VERTEX + INSTANCE))
    context.ia.set_vertex_buffers(1, [device.create_buffer(data=instances())], [16])
    matrix = picture.constants(camera((13, 12, 17), (0, -0.3, 0), width / height, 45))
    picture.shaders(vertex, pixel, matrix)
    context.rs.set_state(RasterizerState(cull=Cull.BACK, front_counter_clockwise=True))
    context.draw_indexed_instanced(count, SIDE * SIDE)
    return picture.image()


if __name__ == "__main__":
    main(draw, "instanced_grid")
