# SPDX-License-Identifier: BSD-2-Clause
"""A mesh from a glTF file, each part with the texture, or the colour, of its material."""

from pathlib import Path

import numpy as np

from fixfunc.examples.scaffold import Picture, camera, lambert, load, main, opaque, project
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.host.states import RasterizerState, SamplerState
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults
from fixfunc.spec.state import Cull

MESH = Path(__file__).parent / "data" / "house.glb"
LIGHT = np.array((0.45, 0.75, 0.48), np.float32)
SAMPLER = SamplerState(address_u="wrap", address_v="wrap", max_anisotropy=8)


def vertex(waves: VertexWaves, bound: Bindings) -> VertexResults:
    """To clip space; the normal and texture coordinates are attributes."""
    position = project(waves.floats(0)[..., :3], bound.floats(0).reshape(4, 4))
    return VertexResults(position, np.stack([waves.floats(1), waves.floats(2)], 2))


def pixel(quads: PixelQuads, bound: Bindings) -> PixelResults:
    """The texture in the light of the sun."""
    colour = bound.sample(0, 0, np.ascontiguousarray(quads.floats(1)[..., :2]))
    return PixelResults(opaque(colour[..., :3] * lambert(quads.floats(0)[..., :3], LIGHT)))


def draw(width: int = 640, height: int = 360) -> np.ndarray:
    """A mesh from a glTF file with its materials."""
    picture = Picture(width, height)
    context = picture.context
    matrix = picture.constants(camera((3.4, 2.3, 4.2), (0, 0.75, 0), width / height))
    picture.shaders(vertex, pixel, matrix)
    context.ps.set_samplers(0, [SAMPLER])
    # glTF's front faces are counter-clockwise.
    context.rs.set_state(RasterizerState(cull=Cull.BACK, front_counter_clockwise=True))
    for part in load(MESH):
        count = picture.mesh(part.vertices)
        context.ps.set_shader_resources(0, [picture.texture(part.picture)])
        context.draw_indexed(count)
    return picture.image()


if __name__ == "__main__":
    main(draw, "textured_mesh")
