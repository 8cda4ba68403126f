# SPDX-License-Identifier: BSD-2-Clause
"""The mesh demo, drawn by the machine through device and context: every sample is the same."""

import numpy as np
import pytest

from fixfunc.cosim.frame import mesh
from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import RasterizerState, SamplerState
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.scene import shading
from fixfunc.models.scene.render import render, transformed
from fixfunc.models.scene.scene import Scene
from fixfunc.models.texture.texture import of_picture
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Cull

RGBA8 = Format.R8G8B8A8_UNORM
SIZE = 320, 180


def drawn(scene):
    """Depths, and the colours of samples, by the machine."""
    device = Device()
    context = device.context
    colours, depths = (
        device.create_texture2d(form, *SIZE, sample_count=scene.samples, bind=bind)
        for form, bind in (
            (RGBA8, Bind.RENDER_TARGET),
            (Format.D24_UNORM_S8_UINT, Bind.DEPTH_STENCIL),
        )
    )
    target = device.create_render_target_view(colours)
    depth = device.create_depth_stencil_view(depths)
    background = [value / 255 for value in shading.BACKGROUND]
    context.clear_render_target_view(target, (*background, 1.0))
    context.clear_depth_stencil_view(depth, 1.0)
    context.om.set_render_targets([target], depth)
    context.rs.set_viewports([Viewport(width=SIZE[0], height=SIZE[1])])
    context.rs.set_state(RasterizerState(cull=Cull.NONE))
    # Texture coordinates are those of a face's corners: each has vertices of its own.
    parts = [scene.corners, shading.colours(scene)[scene.faces], scene.coordinates]
    vertices = np.concatenate(parts, 2)
    elements = [Element(n, Format.R32G32B32_FLOAT, offset=12 * n) for n in range(2)]
    elements.append(Element(2, Format.R32G32_FLOAT, offset=24))
    context.ia.set_input_layout(device.create_input_layout(elements))
    context.ia.set_vertex_buffers(0, [device.create_buffer(data=vertices)], [4 * vertices.shape[2]])
    context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)

    def vertex(waves, _bound):
        position = transformed(waves.floats(0)[..., :3], scene.transform)
        return VertexResults(position, np.stack([waves.floats(1), waves.floats(2)], -2))

    def pixel(quads, bound):
        if not scene.texture:
            return PixelResults(quads.floats(0))
        texel = bound.sample(0, 0, np.ascontiguousarray(quads.floats(1)[..., :2]))
        both = (np.clip(v.astype(np.float64), 0, 1) for v in (quads.floats(0), texel))
        colour, texel = (np.floor(v * 65535 + 0.5) for v in both)
        lit = np.floor(colour * texel / 65535 + 0.5) / 65535
        return PixelResults(lit.astype(np.float32))

    context.vs.set_shader(device.create_vertex_shader(vertex))
    context.ps.set_shader(device.create_pixel_shader(PixelShader(pixel)))
    if scene.texture:
        made = scene.texture
        levels = [level[0] for level in made.levels]
        texture = device.create_texture2d(RGBA8, made.width, made.height, len(levels), data=levels)
        context.ps.set_shader_resources(0, [device.create_shader_resource_view(texture)])
        wrap = SamplerState(address_u="wrap", address_v="wrap")
        context.ps.set_samplers(0, [wrap])
    context.draw(scene.faces.size)
    octets = context.read(depths)
    words = np.zeros((*octets.shape[:3], 4), np.uint8)
    words[..., :3] = octets[..., :3]
    return words.view("<u4")[..., 0], context.read(colours)


@pytest.mark.plan("machine-6")
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("wrapped", [False, True], ids=["smooth", "textured"])
def test_the_mesh_demo_is_the_machines(samples, wrapped):
    y, x = np.mgrid[:64, :64]
    picture = np.stack([x * 4, y * 4, (x ^ y) * 4, 255 + 0 * x], -1).astype(np.uint8)
    texture = of_picture(picture) if wrapped else None
    scene = Scene(*mesh.teapot(6), *SIZE, samples, texture=texture)
    frame = render(scene)
    depth, colours = drawn(scene)
    assert (depth == frame.depth).all()
    total = colours[..., :3].astype(np.uint16).sum(2)
    mean = ((total + samples // 2) // samples).astype(np.uint8)
    assert (mean == frame.colour).all()
    assert len(np.unique(mean.reshape(-1, 3), axis=0)) > 200
