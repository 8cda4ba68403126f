# SPDX-License-Identifier: BSD-2-Clause
"""A deferred pass: four targets of what is seen, then light from them, beyond one, then tones.

What is lit from four targets of 32 bits a channel is bit for bit what a shader lights at once, with
depths drawn before; and that is llvmpipe's picture.
"""

import numpy as np
import pytest

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
)
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, Cull
from tests.machine.frames import shapes
from tests.machine.frames.scene import SIZE, Frame, Pass

BOTH = Bind.RENDER_TARGET | Bind.SHADER_RESOURCE
WIDE = Format.R32G32B32A32_FLOAT
HALF = Format.R16G16B16A16_FLOAT
# Normal, place, tint, and how it shines.
EXACT = (WIDE, WIDE, WIDE, WIDE)
USUAL = (Format.R10G10B10A2_UNORM, HALF, Format.R8G8B8A8_UNORM, Format.R8G8_UNORM)
LAMPS = np.float32([(1.6, 1.2, 0.4), (-1.2, 0.8, 1.5), (0.2, 2.4, -1.4)])
SHINES = np.float32([(6, 3, 1), (0.6, 2, 5), (2, 5, 2)])
WHOLE = np.float32([(-1, 3, 0, 1), (3, -1, 0, 1), (-1, -1, 0, 1)])
ONE = np.float32(1)


def lit(lamp, normal, place, tint, shine):
    """Light of a lamp: no length is taken, so that float32 says the same everywhere."""
    towards = LAMPS[lamp] - place[..., :3]
    square = (towards * towards).sum(-1, keepdims=True)
    cosine = (towards * normal[..., :3]).sum(-1, keepdims=True)
    strength = np.maximum(cosine, np.float32(0)) / (square + ONE)
    return tint[..., :3] * SHINES[lamp] * strength * (ONE + shine[..., :1])


def tones(light):
    """From 0 to any number, to 0 to 1."""
    out = np.ones((*light.shape[:-1], 4), np.float32)
    out[..., :3] = light[..., :3] / (light[..., :3] + ONE)
    return out


GLSL = """
vec3 lamps[3] = vec3[](vec3(1.6, 1.2, 0.4), vec3(-1.2, 0.8, 1.5), vec3(0.2, 2.4, -1.4));
vec3 shines[3] = vec3[](vec3(6, 3, 1), vec3(0.6, 2, 5), vec3(2, 5, 2));
vec3 sum = vec3(0.0);
for (int n = 0; n < 3; n++) {
    vec3 towards = lamps[n] - a1.xyz;
    float strength = max(dot(towards, a0.xyz), 0.0) / (dot(towards, towards) + 1.0);
    sum += a2.rgb * shines[n] * strength * (1.0 + a3.x);
}
colour = vec4(sum / (sum + 1.0), 1.0);
"""


def parts():
    """Vertices of what is seen, 20 floats each, and its triangles."""
    matrix = shapes.view()
    out = []
    for made, tint, shine in (
        (shapes.torus(), (0.9, 0.5, 0.25), 0.75),
        (shapes.ground(2.0, -0.5), (0.6, 0.65, 0.7), 0.25),
        (shapes.sphere(24, 12), (0.3, 0.7, 0.8), 0.5),
    ):
        points, _, faces = made
        normals = np.broadcast_to((0.0, 1, 0), points.shape)
        if len(points) > 4:
            normals = points / np.linalg.norm(points, axis=1, keepdims=True)
        if shine == 0.5:
            points = points * 0.45
        many = len(points)
        position = shapes.projected(points, matrix)
        tints = np.tile(tint, (many, 1))
        rows = shapes.vertices(position, normals, points, tints, np.full((many, 1), shine))
        out.append((rows, faces))
    return out


def vertex(waves, _bound):
    """Position and four attributes."""
    return VertexResults(waves.floats(0), np.stack([waves.floats(n + 1) for n in range(4)], 2))


def stored(formats):
    """A shader that puts four attributes out: a normal of UNORM is moved to 0 to 1."""

    def store(quads, _bound):
        values = [np.ascontiguousarray(quads.floats(n)) for n in range(4)]
        if formats[0] != WIDE:
            values[0] = values[0] * np.float32(0.5) + np.float32(0.5)
        return PixelResults(values)

    return store


def light_from(formats, lamp):
    """A shader that lights what four textures say."""

    def light(quads, bound):
        at = np.stack([quads.x, quads.y], -1)
        values = [bound.fetch(n, at) for n in range(4)]
        if formats[0] != WIDE:
            values[0] = values[0] * np.float32(2) - ONE
        out = np.ones((*quads.x.shape, 4), np.float32)
        out[..., :3] = lit(lamp, *values)
        return PixelResults(out)

    return light


def toned(quads, bound):
    """Tones of a texture of floats."""
    return PixelResults(tones(bound.fetch(0, np.stack([quads.x, quads.y], -1))))


def at_once(quads, _bound):
    """All light in one shader, added as a target of floats adds it."""
    values = [np.ascontiguousarray(quads.floats(n)) for n in range(4)]
    total = np.zeros((*quads.x.shape, 3), np.float32)
    for lamp in range(3):
        total = total + lit(lamp, *values)
    return PixelResults(tones(total))


class Deferred:
    """A device that draws the scene, of a size with the screen's aspect."""

    def __init__(self, size=(160, 90)):
        self._size = size
        self.device = Device()
        self.context = self.device.context
        self._shown = self.texture(Format.R8G8B8A8_UNORM)
        self._depths = self.device.create_depth_stencil_view(
            self.texture(Format.D32_FLOAT, Bind.DEPTH_STENCIL)
        )
        self.context.rs.set_viewports([Viewport(width=size[0], height=size[1])])
        self.context.rs.set_state(RasterizerState(cull=Cull.NONE))
        self.context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
        self.target = self.device.create_render_target_view(self._shown)

    def texture(self, form, bind=BOTH):
        """A texture of the screen's size."""
        return self.device.create_texture2d(form, *self._size, bind=bind)

    def shade(self, pixel):
        """Set a pixel shader."""
        self.context.ps.set_shader(self.device.create_pixel_shader(PixelShader(pixel)))

    def scene(self):
        """Draw what is seen."""
        device, context = self.device, self.context
        context.clear_depth_stencil_view(self._depths, 1.0)
        elements = [Element(n, WIDE, offset=16 * n) for n in range(5)]
        context.ia.set_input_layout(device.create_input_layout(elements))
        context.vs.set_shader(device.create_vertex_shader(vertex))
        for rows, faces in parts():
            context.ia.set_vertex_buffers(0, [device.create_buffer(data=rows)], [80])
            data = np.ascontiguousarray(faces, "<u4")
            buffer = device.create_buffer(bind=Bind.INDEX_BUFFER, data=data)
            context.ia.set_index_buffer(buffer, Format.R32_UINT)
            context.draw_indexed(data.size)

    def screen(self, textures, pixel):
        """Draw over all of the bound target from textures."""
        device, context = self.device, self.context
        views = [device.create_shader_resource_view(of) for of in textures]
        context.ia.set_input_layout(device.create_input_layout([Element(0, WIDE)]))
        context.ia.set_vertex_buffers(0, [device.create_buffer(data=WHOLE)], [16])
        passed = device.create_vertex_shader(lambda waves, _: VertexResults(waves.floats(0)))
        context.vs.set_shader(passed)
        context.ps.set_shader_resources(0, views)
        self.shade(pixel)
        context.draw(3)
        context.ps.set_shader_resources(0, [None] * len(views))

    def forward(self):
        """The scene in one pass: uint8, shape (height, width, 3)."""
        self.context.clear_render_target_view(self.target, (0, 0, 0, 1))
        self.context.om.set_render_targets([self.target], self._depths)
        self.shade(at_once)
        self.scene()
        return self.context.read(self._shown)[:, :, 0, :3]

    def deferred(self, formats, light=WIDE):
        """The scene by four targets, one of light, and tones."""
        device, context = self.device, self.context
        textures = [self.texture(form) for form in formats]
        views = [device.create_render_target_view(of) for of in textures]
        for view in views:
            context.clear_render_target_view(
                view, (0.5, 0.5, 0.5, 0) if view is views[0] else (0,) * 4
            )
        context.om.set_render_targets(views, self._depths)
        self.shade(stored(formats))
        self.scene()
        sums = self.texture(light)
        view = device.create_render_target_view(sums)
        context.clear_render_target_view(view, (0, 0, 0, 0))
        context.om.set_render_targets([view])
        context.om.set_depth_stencil_state(DepthStencilState(depth_enable=False))
        add = RenderTargetBlend(True, BlendFactor.ONE, BlendFactor.ONE)
        context.om.set_blend_state(BlendState([add]))
        for lamp in range(len(LAMPS)):
            self.screen(textures, light_from(formats, lamp))
        context.om.set_blend_state(None)
        context.om.set_render_targets([self.target])
        self.screen([sums], toned)
        self.light = context.read(sums)
        return context.read(self._shown)[:, :, 0, :3]


@pytest.mark.plan("frames-8")
def test_light_from_four_targets_is_that_of_one_pass():
    found = Deferred().deferred(EXACT)
    wanted = Deferred().forward()
    assert np.array_equal(found, wanted)
    assert len(np.unique(wanted.reshape(-1, 3), axis=0)) > 1000


@pytest.mark.plan("frames-8")
def test_one_pass_is_llvmpipes(llvmpipe_frames):
    passes = [Pass(rows, None, GLSL, faces) for rows, faces in parts()]
    shaded = [Pass(it.vertices, at_once, GLSL, it.indices) for it in passes]
    theirs = llvmpipe_frames()(Frame(shaded, background=(0, 0, 0, 1)))[..., :3].astype(int)
    ours = Deferred(SIZE).forward().astype(int)
    assert (np.abs(ours - theirs).max(2) > 2).mean() <= 0.0001


@pytest.mark.plan("frames-8")
def test_usual_formats_are_nearly_the_same():
    """Of 8, 10 and 16 bits: light exceeds one, which only floats keep."""
    made = Deferred()
    found = made.deferred(USUAL, HALF).astype(int)
    wanted = Deferred().forward().astype(int)
    assert np.abs(found - wanted).max() <= 4, np.abs(found - wanted).max()
    light = np.ascontiguousarray(made.light).view("<f2")
    assert 1 < light.max() < 100
