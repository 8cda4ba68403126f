# SPDX-License-Identifier: BSD-2-Clause
"""A triangle of three colours."""

import numpy as np

from fixfunc.examples.scaffold import Picture, main, opaque
from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format

# Position, colour.
CORNERS = np.array(
    [(0, 0.8, 0.5, 1, 0, 0), (0.7, -0.7, 0.5, 0, 1, 0), (-0.7, -0.7, 0.5, 0, 0, 1)], np.float32
)


def vertex(waves: VertexWaves, _bound: Bindings) -> VertexResults:
    """Positions are those of clip space already."""
    return VertexResults(opaque(waves.floats(0)[..., :3]), waves.floats(1)[..., None, :])


def pixel(quads: PixelQuads, _bound: Bindings) -> PixelResults:
    """The interpolated colour."""
    return PixelResults(opaque(quads.floats(0)[..., :3]))


def draw(width: int = 640, height: int = 360) -> np.ndarray:
    """A triangle of three colours."""
    picture = Picture(width, height)
    device = picture.device
    context = picture.context
    layout = [Element(0, Format.R32G32B32_FLOAT), Element(1, Format.R32G32B32_FLOAT, offset=12)]
    context.ia.set_input_layout(device.create_input_layout(layout))
    context.ia.set_vertex_buffers(0, [device.create_buffer(data=CORNERS)], [24])
    context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
    context.vs.set_shader(device.create_vertex_shader(vertex))
    context.ps.set_shader(device.create_pixel_shader(PixelShader(pixel)))
    context.draw(3)
    return picture.image()


if __name__ == "__main__":
    main(draw, "triangle")
