# SPDX-License-Identifier: BSD-2-Clause
"""A small program on device and context, whose draws fill the target."""

import numpy as np

from fixfunc.cosim.report.capture import Capture
from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import BlendState, DepthStencilState, RasterizerState
from fixfunc.models.pixel.pixel_stage import PixelResults, PixelShader
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Cull

SIZE = 12, 10


class Small:
    """A target of 12 by 10 pixels, black, of depth 1 and stencil value 0, with a capture."""

    def __init__(self, samples=1, pixels=()):
        self.device = Device(1 << 22)
        self.context = self.device.context
        size = Format.R8G8B8A8_UNORM, *SIZE
        self.colours = self.device.create_texture2d(
            *size, sample_count=samples, bind=Bind.RENDER_TARGET
        )
        depths = self.device.create_texture2d(
            Format.D24_UNORM_S8_UINT, *SIZE, sample_count=samples, bind=Bind.DEPTH_STENCIL
        )
        target = self.device.create_render_target_view(self.colours)
        view = self.device.create_depth_stencil_view(depths)
        self.context.clear_render_target_view(target, (0, 0, 0, 1))
        self.context.clear_depth_stencil_view(view, 1.0, 0)
        self.context.om.set_render_targets([target], view)
        self.context.rs.set_viewports([Viewport(width=SIZE[0], height=SIZE[1])])
        self.context.rs.set_state(RasterizerState(cull=Cull.NONE))
        layout = self.device.create_input_layout([Element(0, Format.R32G32B32A32_FLOAT)])
        self.context.ia.set_input_layout(layout)
        self.context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
        self.context.vs.set_shader(self.device.create_vertex_shader(_position))
        self.capture = self.device.machine.probe = Capture(*SIZE, samples, pixels)
        self.capture.fill((0, 0, 0))

    def draw(self, z, colour, depth=None, blend=None, discards=None, reference=0):
        """A triangle that covers all pixels; ``discards`` takes x and y of pixels."""

        def shader(quads):
            every = np.broadcast_to(np.float32(colour), (*quads.x.shape, 4)).copy()
            if discards is None:
                return PixelResults(every)
            return PixelResults(every, discards(quads.x, quads.y))

        corners = np.float32([(-1, 1, z, 1), (3, 1, z, 1), (-1, -3, z, 1)])
        buffer = self.device.create_buffer(data=corners)
        self.context.ia.set_vertex_buffers(0, [buffer], [16])
        self.context.om.set_depth_stencil_state(depth or DepthStencilState(), reference)
        self.context.om.set_blend_state(blend or BlendState())
        made = PixelShader(lambda quads, _bound: shader(quads), discards=discards is not None)
        self.context.ps.set_shader(self.device.create_pixel_shader(made))
        with self.capture.draw(f"z {z}", "triangle list"):
            self.context.draw(3)

    def visits(self, x, y):
        """What triangles did at a pixel, in order."""
        every = self.capture.history.visits()
        return every[every["pixel"] == y * SIZE[0] + x]

    def picture(self):
        """What memory holds: uint8, shape (height, width, 3)."""
        return self.context.read(self.colours)[:, :, 0, :3]


def _position(waves, _bound):
    position = waves.floats(0)
    return VertexResults(position, np.zeros((*position.shape[:-1], 0, 4), np.float32))
