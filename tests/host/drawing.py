# SPDX-License-Identifier: BSD-2-Clause
"""What tests of the host share: a device with targets, and shaders that pass what they get."""

import numpy as np

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import RasterizerState
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Cull

RGBA8 = Format.R8G8B8A8_UNORM
D24S8 = Format.D24_UNORM_S8_UINT
MEMORY = 1 << 24
LAYOUT = (Element(0, Format.R32G32B32A32_FLOAT), Element(1, Format.R32G32B32A32_FLOAT, offset=16))
WHOLE = np.array([(-1, 3), (3, -1), (-1, -1)], np.float32)  # a triangle over all of a target
LEFT = np.array([(-1, -1), (-1, 1), (0, 1), (-1, -1), (0, 1), (0, -1)], np.float32)
RIGHT = LEFT + (1, 0)
RED, GREEN = (1, 0, 0, 1), (0, 1, 0, 1)
READ, DRAWN = Bind.SHADER_RESOURCE, Bind.RENDER_TARGET


def words(*values):
    """Bytes of a buffer, as words."""
    return np.array(values, "<u4")


def picture(width, height, seed=0):
    """Texels of a texture: noise."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), dtype=np.uint8)


def vertex(waves, _bound):
    """Position, and one attribute."""
    return VertexResults(waves.floats(0), waves.floats(1)[..., None, :])


def pixel(quads, _bound):
    """The attribute."""
    return PixelResults(quads.floats(0))


def corners(points, colour=(1, 1, 1, 1), z=0.5):
    """Vertices at points of clip space, float32 of shape (n, 8), all of one colour."""
    points = np.asarray(points, np.float32)
    out = np.ones((len(points), 8), np.float32)
    out[:, :2] = points
    out[:, 2] = z
    out[:, 4:] = colour
    return out


class Scene:
    """A device with a colour and a depth target, bound, cleared to zeros and 1.0."""

    def __init__(self, width=32, height=24, samples=1, depth=D24S8, layers=1, **device):
        self.device = Device(MEMORY, **device)
        self.context = self.device.context
        self.colours = self.device.create_texture2d(
            RGBA8, width, height, 1, layers, samples, Bind.RENDER_TARGET
        )
        self.depths = self.device.create_texture2d(
            depth, width, height, 1, layers, samples, Bind.DEPTH_STENCIL
        )
        self.target = self.device.create_render_target_view(self.colours)
        self.depth = self.device.create_depth_stencil_view(self.depths)
        context = self.context
        context.clear_depth_stencil_view(self.depth, 1.0)
        context.om.set_render_targets([self.target], self.depth)
        context.rs.set_viewports([Viewport(width=width, height=height)])
        context.rs.set_state(RasterizerState(cull=Cull.NONE))
        context.ia.set_input_layout(self.device.create_input_layout(LAYOUT))
        context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
        context.vs.set_shader(self.device.create_vertex_shader(vertex))
        self.shade(pixel)

    def shade(self, function, **declared):
        """Set a pixel shader."""
        shader = self.device.create_pixel_shader(PixelShader(function, **declared))
        self.context.ps.set_shader(shader)

    def bind(self, vertices, **more):
        """Bind vertices to slot 0; returns their buffer."""
        buffer = self.device.create_buffer(data=vertices, **more)
        self.context.ia.set_vertex_buffers(0, [buffer], [32])
        return buffer

    def draw(self, points, colour=(1, 1, 1, 1), z=0.5):
        """Draw triangles."""
        self.bind(corners(points, colour, z))
        self.context.draw(len(points))

    def image(self, layer=0):
        """Colours: uint8, shape (height, width, samples, 4)."""
        return self.context.read(self.colours, (0, layer))

    def shown(self):
        """Which pixels are not cleared: bool, shape (height, width)."""
        return self.image().any((2, 3))
