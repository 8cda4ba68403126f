# SPDX-License-Identifier: BSD-2-Clause
"""A scene drawn through device and context."""

import numpy as np

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
    SamplerState,
    StencilFace,
)
from fixfunc.models.machine.shaders import HullShader, PixelShader
from fixfunc.models.tessellation.stages import HullResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, Compare
from tests.machine.frames.scene import SHADOW, SIZE

READ, DRAWN, DEPTHS = Bind.SHADER_RESOURCE, Bind.RENDER_TARGET, Bind.DEPTH_STENCIL
RGBA8 = Format.R8G8B8A8_UNORM
BLENDS = {
    None: BlendState(),
    "over": BlendState(
        (RenderTargetBlend(True, BlendFactor.SRC_ALPHA, BlendFactor.INV_SRC_ALPHA),)
    ),
    "add": BlendState((RenderTargetBlend(True, BlendFactor.ONE, BlendFactor.ONE),)),
}


class Drawing:
    """A frame on a device."""

    def __init__(self, frame, size=SIZE):
        self._frame = frame
        self.device = Device()
        self._context = self.device.context
        self._colours = self.device.create_texture2d(
            RGBA8, *size, sample_count=frame.samples, bind=DRAWN | READ
        )
        self._shown = self.device.create_texture2d(RGBA8, *size, bind=DRAWN)
        depths = self.device.create_texture2d(
            Format.D24_UNORM_S8_UINT, *size, sample_count=frame.samples, bind=DEPTHS
        )
        shadow = self.device.create_texture2d(
            Format.R32_TYPELESS, SHADOW, SHADOW, bind=DEPTHS | READ
        )
        self.target = self.device.create_render_target_view(self._colours)
        self._depth = self.device.create_depth_stencil_view(depths)
        self._shadow = self.device.create_depth_stencil_view(shadow, Format.D32_FLOAT)
        self._shadow_map = self.device.create_shader_resource_view(shadow, Format.R32_FLOAT)
        self._size = size

    def image(self):
        """What the frame shows: uint8, shape (height, width, 4)."""
        context = self._context
        context.clear_render_target_view(self.target, self._frame.background)
        context.clear_depth_stencil_view(self._depth, 1.0, 0)
        context.clear_depth_stencil_view(self._shadow, 1.0)
        for part in self._frame.passes:
            self._draw(part)
        if self._frame.samples == 1:
            return context.read(self._colours)[:, :, 0]
        context.resolve_subresource(self._shown, (0, 0), self._colours, (0, 0))
        return context.read(self._shown)[:, :, 0]

    def _draw(self, part):
        context, device = self._context, self.device
        size = (SHADOW, SHADOW) if part.into_shadow else self._size
        context.ps.set_shader_resources(0, [None] * 4)
        colours = [] if part.into_shadow else [self.target]
        context.om.set_render_targets(colours, self._shadow if part.into_shadow else self._depth)
        context.rs.set_viewports([Viewport(width=size[0], height=size[1])])
        context.rs.set_state(
            RasterizerState(
                cull=part.cull, multisample_enable=True, depth_clip_enable=part.depth_clip
            )
        )
        self._set_tests(part)
        context.om.set_blend_state(
            BLENDS[part.blend] if part.colour else BlendState((RenderTargetBlend(write_mask=0),))
        )
        self._set_textures(part)
        elements = [
            Element(n, Format.R32G32B32A32_FLOAT, offset=16 * n) for n in range(part.attributes + 1)
        ]
        context.ia.set_input_layout(device.create_input_layout(elements))
        buffer = device.create_buffer(data=part.vertices)
        context.ia.set_vertex_buffers(0, [buffer], [16 * len(elements)])
        self._set_shaders(part)
        if part.indices is None:
            context.draw(len(part.vertices))
            return
        data = np.asarray(part.indices, "<u4").ravel()
        indices = device.create_buffer(bind=Bind.INDEX_BUFFER, data=data)
        context.ia.set_index_buffer(indices, Format.R32_UINT)
        context.draw_indexed(len(data))

    def _set_tests(self, part):
        stencil = part.stencil
        faces = {}
        if stencil:
            for name, operations in (("front_face", stencil.front), ("back_face", stencil.back)):
                faces[name] = StencilFace(*operations, stencil.compare)
        state = DepthStencilState(
            depth_enable=part.depth,
            depth_write=part.depth_write,
            depth_func=Compare.LESS_EQUAL,
            stencil_enable=stencil is not None,
            **faces,
        )
        self._context.om.set_depth_stencil_state(state, stencil.reference if stencil else 0)

    def _set_textures(self, part):
        context = self._context
        for slot, (texture, sampler) in enumerate(part.textures):
            context.ps.set_shader_resources(slot, [self._view(texture)])
            u, v = sampler.address[:2]
            context.ps.set_samplers(
                slot,
                [
                    SamplerState(
                        sampler.minify,
                        sampler.magnify,
                        sampler.mip,
                        u,
                        v,
                        border_color=sampler.border,
                        reduction=sampler.reduction,
                        comparison_func=sampler.comparison,
                    )
                ],
            )

    def _view(self, texture):
        if texture is None:
            return self._shadow_map
        data = [level[n] for n in range(texture.faces) for level in texture.levels]
        made = self.device.create_texture2d(
            RGBA8,
            texture.width,
            texture.height,
            len(texture.levels),
            texture.faces,
            cube=texture.faces == 6,
            data=data,
        )
        return self.device.create_shader_resource_view(made, cube=texture.faces == 6)

    def _set_shaders(self, part):
        context, device = self._context, self.device
        context.vs.set_shader(device.create_vertex_shader(_passed(part.attributes)))
        pixel = part.pixel and device.create_pixel_shader(PixelShader(part.pixel, **part.declared))
        context.ps.set_shader(pixel)
        context.hs.set_shader(None)
        context.ds.set_shader(None)
        context.ia.set_primitive_topology(
            Topology.PATCH_4 if part.patches else Topology.TRIANGLE_LIST
        )
        if part.patches:
            hull = HullShader(_factors(part.patches.factor), partitioning="integer")
            context.hs.set_shader(device.create_hull_shader(hull))
            context.ds.set_shader(device.create_domain_shader(part.patches.domain))


def _passed(attributes):
    """A vertex shader that passes what it gets."""

    def vertex(waves, _bound):
        rows = [waves.floats(n + 1) for n in range(attributes)]
        return VertexResults(waves.floats(0), np.stack(rows, 2) if rows else None)

    return vertex


def _factors(factor):
    """A hull shader with one factor for all."""

    def hull(patches, _bound):
        count = len(patches.position)
        outer, inner = (np.full((count, n), factor, np.float32) for n in (4, 2))
        return HullResults(outer, inner, patches.attributes.view(np.float32))

    return hull
