# SPDX-License-Identifier: BSD-2-Clause
"""Rules of D3D11 that calls obey, and calls with what does not exist."""

import numpy as np
import pytest

from fixfunc.models.geometry.geometry_stage import Emitted
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
    SamplerState,
)
from fixfunc.models.machine.shaders import ComputeShader, GeometryShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, Cull
from tests.host.drawing import (
    DRAWN,
    MEMORY,
    READ,
    RGBA8,
    WHOLE,
    Scene,
    corners,
)


def target(device, form=RGBA8, levels=1, layers=1, bind=DRAWN):
    return device.create_texture2d(form, 32, 24, levels, layers, bind=bind)


# Arguments.


@pytest.mark.plan("host-10")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s: s.context.rs.set_viewports([None]), "viewports must be a sequence, each a View"),
        (lambda s: s.context.rs.set_scissor_rects([(1, 2, 3)]), "each 4 values, each an integer"),
        (lambda s: s.context.rs.set_state(5), "state must be a RasterizerState or None, not 5"),
        (lambda s: s.context.om.set_blend_state(5), "state must be a BlendState or None"),
        (lambda s: s.context.om.set_render_targets([s.colours]), "each a View or None"),
        (lambda s: s.context.om.set_render_targets(s.target), "colours must be a sequence"),
        (lambda s: s.context.ia.set_index_buffer(None, None), "form must be a Format"),
        (lambda s: s.context.ia.set_vertex_buffers(0, None, [1]), "buffers must be a sequence"),
        (lambda s: s.context.ia.set_vertex_buffers(0, [None], [0], [-4]), "offset must lie in"),
        (lambda s: s.context.ia.set_input_layout(5), "layout must be a InputLayout or None"),
        (lambda s: s.context.ps.set_shader_resources(0, [s.colours]), "each a View or None"),
        (lambda s: s.context.ps.set_shader(5), "shader must be a Shader or None"),
        (lambda s: s.context.update_subresource(None, b"1"), "target must be a Buffer or a Tex"),
        (lambda s: s.context.update_subresource(s.bind(corners(WHOLE)), "a"), "data must be a nd"),
        (
            lambda s: s.context.update_subresource(s.bind(corners(WHOLE)), np.array(["a"])),
            "data must be numbers",
        ),
        (lambda s: s.context.read(None), "resource must be a Buffer or a Texture"),
        (lambda s: s.context.begin(None), "query must be a Query, not NoneType"),
        (lambda s: s.context.draw_instanced_indirect(None), "arguments must be a Buffer"),
        (lambda s: s.context.clear_render_target_view(s.target, "abcd"), "colour must be 4 values"),
        (lambda s: s.context.clear_render_target_view(s.target, (1, 2)), "colour must be 4 values"),
        (lambda s: s.context.clear_depth_stencil_view(s.depth, "x"), "depth must be a number"),
        (
            lambda s: s.context.copy_subresource_region(s.colours, 0, s.colours, 0),
            "target_subresource must be 2 values, each an integer, not 0",
        ),
        (
            lambda s: s.context.resolve_subresource(s.bind(corners(WHOLE)), (0, 0), None, (0, 0)),
            "target must be a Texture, not Buffer",
        ),
        (lambda s: s.device.release(None), "resource must be a Buffer or a Texture or a Query"),
        (lambda s: s.device.create_render_target_view(None), "texture must be a Texture"),
        (lambda s: s.device.create_texture2d("x", 8, 8), "form must be a Format, not x"),
        (lambda s: s.device.create_texture2d(RGBA8, 8, 8, sample_count=1.0), "be an integer"),
        (lambda s: s.device.create_texture2d(RGBA8, 8, 8, bind=None), "bind must be a Bind"),
        (lambda s: s.device.create_texture2d(RGBA8, 8, 8, data=5), "data must be a sequence"),
        (lambda s: s.device.create_input_layout([5]), "elements must be a sequence, each a Elem"),
        (lambda _s: Device(MEMORY, strategy=7), "strategy must be one of Strategy: FLUSH"),
        (lambda _s: Viewport(width="x"), "width must be a finite number"),
        (lambda _s: BlendState([5]), "render_target must be a sequence, each a RenderTarget"),
        (lambda _s: DepthStencilState(front_face=5), "front_face must be a StencilFace"),
        (lambda _s: RasterizerState(depth_bias_clamp="x"), "depth_bias_clamp must be a number"),
        (lambda _s: SamplerState(border_color=5), "border_color must be a sequence"),
    ],
)
def test_arguments_of_another_type_are_refused(call, text):
    scene = Scene()
    with pytest.raises(InputError, match=text):
        call(scene)
    scene.draw(WHOLE)
    assert scene.shown().all()


@pytest.mark.plan("host-10")
def test_what_is_released_is_not_used():
    scene = Scene()
    device, context = scene.device, scene.context
    old = device.create_buffer(64)
    device.release(old)
    new = device.create_buffer(64)
    assert new.address == old.address
    with pytest.raises(InputError, match="resource must not be released"):
        device.release(old)
    assert device.create_buffer(64).address != new.address
    with pytest.raises(InputError, match="source must not be released"):
        context.copy_resource(new, old)
    vertices = scene.bind(corners(WHOLE))
    device.release(vertices)
    with pytest.raises(InputError, match="vertex buffer 0 must not be released"):
        context.draw(3)
    scene.bind(corners(WHOLE))
    view = device.create_shader_resource_view(device.create_texture2d(RGBA8, 4, 4))
    context.ps.set_shader_resources(2, [view])
    device.release(view.resource)
    with pytest.raises(InputError, match="resource 2 must not be released"):
        context.draw(3)
    query = device.create_query(QueryKind.OCCLUSION)
    device.release(query)
    with pytest.raises(InputError, match="query must not be released"):
        context.begin(query)
    context.clear_state()
    device.release(scene.colours)
    with pytest.raises(InputError, match="view must not be released"):
        context.clear_render_target_view(scene.target, (0, 0, 0, 0))


@pytest.mark.plan("host-10")
def test_what_is_another_devices_is_not_used():
    scene, stranger = Scene(), Scene()
    buffer = scene.bind(corners(WHOLE))
    with pytest.raises(InputError, match="resource must be of the same device"):
        scene.device.release(stranger.colours)
    with pytest.raises(InputError, match="target must be of the same device"):
        scene.context.copy_resource(stranger.bind(corners(WHOLE)), buffer)
    scene.context.om.set_render_targets([stranger.target])
    with pytest.raises(InputError, match="target 0 must be of the same device"):
        scene.context.draw(3)
    scene.context.om.set_render_targets([scene.target])
    scene.context.vs.set_shader(stranger.device.create_vertex_shader(len))
    with pytest.raises(InputError, match="shader must be of the same device"):
        scene.context.draw(3)


# Targets.


@pytest.mark.plan("host-11")
def test_targets_do_not_overlap_and_have_as_many_layers():
    scene = Scene()
    device, om = scene.device, scene.context.om
    several = target(device, layers=3)
    whole = device.create_render_target_view(several)
    first_slice, second_slice = (
        device.create_render_target_view(several, first_layer=n, layer_count=1) for n in (0, 1)
    )
    om.set_render_targets([first_slice, None, second_slice])
    for views in ([scene.target, scene.target], [first_slice, scene.target, first_slice]):
        with pytest.raises(InputError, match="render targets must not overlap"):
            om.set_render_targets(views)
    with pytest.raises(InputError, match="targets must be of one size, layers and samples"):
        om.set_render_targets([whole, scene.target])
    with pytest.raises(InputError, match="targets must be of one size, layers and samples"):
        om.set_render_targets([whole], scene.depth)
    with pytest.raises(InputError, match="bind must not be DEPTH_STENCIL for a 3D texture"):
        device.create_texture3d(Format.D32_FLOAT, 8, 8, 8, bind=Bind.DEPTH_STENCIL)
    with pytest.raises(InputError, match="bind must be no target's for a buffer"):
        device.create_buffer(64, DRAWN)


@pytest.mark.plan("host-11")
def test_a_second_source_has_one_target():
    scene = Scene()
    context = scene.context
    mix = RenderTargetBlend(True, BlendFactor.SRC1_COLOR, BlendFactor.ZERO)
    context.om.set_blend_state(BlendState([mix]))
    half = np.float32(0.5)
    scene.shade(lambda quads, _bound: PixelResults([quads.floats(0), quads.floats(0) * half]))
    scene.draw(WHOLE)
    # 128 of 255: the second source has the bits of the target.
    assert (scene.image() == (128, 128, 128, 255)).all()
    second = scene.device.create_render_target_view(target(scene.device))
    context.om.set_render_targets([scene.target, second])
    with pytest.raises(InputError, match="render targets must be one, in slot 0"):
        context.draw(3)


@pytest.mark.plan("host-11")
def test_a_level_is_drawn_from_another():
    scene = Scene()
    device, context = scene.device, scene.context
    texture = target(device, levels=2, bind=DRAWN | READ)
    context.update_subresource(texture, np.full((24, 32, 4), 77, np.uint8))
    small = device.create_render_target_view(texture, first_level=1)
    context.om.set_render_targets([small])
    context.rs.set_viewports([Viewport(width=16, height=12)])
    scene.shade(
        lambda quads, bound: PixelResults(
            bound.sample(0, 0, np.zeros((*quads.x.shape, 2), np.float32), lod=0.0)
        )
    )
    view = device.create_shader_resource_view(texture, level_count=1)
    context.ps.set_shader_resources(0, [view])
    scene.draw(WHOLE)
    assert (context.read(texture, (1, 0)) == 77).all()
    context.ps.set_shader_resources(0, [device.create_shader_resource_view(texture)])
    with pytest.raises(InputError, match="resource in slot 0 must not be drawn to"):
        context.draw(3)


@pytest.mark.plan("host-11")
def test_buffers_are_not_read_and_written_at_once():
    scene = Scene()
    device, context = scene.device, scene.context
    both = device.create_buffer(64, READ | Bind.UNORDERED_ACCESS)
    context.cs.set_shader(device.create_compute_shader(ComputeShader(lambda _waves, _bound: None)))
    context.cs.set_unordered_access_views(0, [device.create_unordered_access_view(both)])
    context.dispatch(1)
    context.cs.set_shader_resources(1, [device.create_shader_resource_view(both)])
    with pytest.raises(InputError, match="resource in slot 1 must not be written to"):
        context.dispatch(1)
    scene.bind(corners(WHOLE))
    stream = device.create_buffer(64, Bind.STREAM_OUTPUT | Bind.INDEX_BUFFER)
    with pytest.raises(InputError, match="targets of stream output must be bound once"):
        context.so.set_targets([stream, stream])
    context.so.set_targets([stream])
    context.ia.set_index_buffer(stream, Format.R32_UINT)
    with pytest.raises(InputError, match="index buffer must not be one of stream output"):
        context.draw_indexed(3)
    context.ia.set_index_buffer(None, Format.UNKNOWN)


# Clears, copies, resolves.


@pytest.mark.plan("host-12")
@pytest.mark.parametrize(
    ("form", "colour", "kind", "stored"),
    [
        (Format.R32G32B32A32_UINT, (1, 2.75, -3, 5e9), "<u4", (1, 2, 0, 0xFFFFFFFF)),
        (Format.R32G32B32A32_SINT, (1, -2.75, -3, -5e9), "<i4", (1, -2, -3, -(1 << 31))),
        (Format.R8G8B8A8_SINT, (200, -2, np.nan, -200), "i1", (127, -2, 0, -128)),
        (Format.R8G8B8A8_UNORM_SRGB, (0.5, 0, np.nan, 0.5), "u1", (188, 0, 0, 128)),
        (Format.R32G32B32A32_FLOAT, (1e300, -1e300, 0.5, 0), "<f4", (np.inf, -np.inf, 0.5, 0)),
    ],
)
def test_clears_convert_floats_to_the_format(form, colour, kind, stored):
    device = Device(MEMORY)
    texture = target(device, form)
    device.context.clear_render_target_view(device.create_render_target_view(texture), colour)
    texels = device.context.read(texture)[:, :, 0].copy().view(kind)
    assert (texels == np.array(stored, kind)).all()


@pytest.mark.plan("host-12")
@pytest.mark.parametrize(
    ("form", "first", "second", "mean"),
    [
        (Format.R8G8B8A8_SNORM, -128 / 127, 64 / 127, -31),
        (Format.R8G8B8A8_UNORM_SRGB, 0.0, 1.0, 188),
        (RGBA8, 0.0, 1.0, 128),
    ],
)
def test_means_are_of_the_formats_values(form, first, second, mean):
    scene = Scene()
    device, context = scene.device, scene.context
    kind = "i1" if form == Format.R8G8B8A8_SNORM else "u1"
    drawn = device.create_texture2d(form, 32, 24, sample_count=2, bind=DRAWN)
    context.om.set_render_targets([device.create_render_target_view(drawn)])
    for n, value in enumerate((first, second)):
        context.om.set_blend_state(None, sample_mask=1 << n)
        scene.draw(WHOLE, (value,) * 4)
    out = device.create_texture2d(form, 32, 24)
    context.resolve_subresource(out, (0, 0), drawn, (0, 0))
    assert (context.read(out)[..., :3].view(kind) == mean).all()
    # Columns of both values, and their level below.
    columns = device.create_texture2d(form, 32, 24, 2, bind=DRAWN | READ)
    texels = context.read(drawn)[:, :16].reshape(24, 32, 4)
    context.update_subresource(columns, texels)
    context.generate_mips(device.create_shader_resource_view(columns))
    assert (context.read(columns, (1, 0))[..., :3].view(kind) == mean).all()


@pytest.mark.plan("host-12")
def test_smaller_levels_of_volumes_are_means():
    device = Device(MEMORY)
    texture = device.create_texture3d(RGBA8, 5, 4, 3, 0, DRAWN | READ)
    data = np.random.default_rng(0).integers(0, 256, (3, 4, 5, 4), dtype=np.uint8)
    device.context.update_subresource(texture, data)
    device.context.generate_mips(device.create_shader_resource_view(texture))
    total = data[:2, :, :4].astype(int).reshape(1, 2, 2, 2, 2, 2, 4).sum((1, 3, 5))
    level = device.context.read(texture, (1, 0))[..., 0, :]
    assert (level == (total + 4) // 8).all()


@pytest.mark.plan("host-12")
def test_resolves_and_copies_that_break_a_rule():
    device = Device(MEMORY)
    context = device.context

    def made(form, samples):
        bind = DRAWN if samples > 1 else READ
        return device.create_texture2d(form, 8, 8, sample_count=samples, bind=bind)

    whole = made(Format.R8G8B8A8_UINT, 4)
    with pytest.raises(
        InputError, match="format of a mean must be UNORM, SNORM or FLOAT, not R8G8B8A8_UINT"
    ):
        context.resolve_subresource(made(Format.R8G8B8A8_UINT, 1), (0, 0), whole, (0, 0))
    with pytest.raises(InputError, match="format must be that of R8G8B8A8_UINT"):
        context.resolve_subresource(made(RGBA8, 1), (0, 0), whole, (0, 0), RGBA8)
    typeless = made(Format.R8G8B8A8_TYPELESS, 4)
    context.resolve_subresource(made(RGBA8, 1), (0, 0), typeless, (0, 0))
    with pytest.raises(InputError, match="target must not be the source"):
        context.copy_resource(whole, whole)
    depths = device.create_texture2d(Format.D24_UNORM_S8_UINT, 8, 8, bind=Bind.DEPTH_STENCIL)
    plain = made(Format.R24G8_TYPELESS, 1)
    with pytest.raises(InputError, match="box must be all of a texture with samples or depths"):
        context.copy_subresource_region(depths, (0, 0), plain, (0, 0), box=(0, 0, 0, 4, 4, 1))
    context.copy_resource(depths, plain)


# Predication, draws of nothing, the greatest buffer.


@pytest.mark.plan("host-3")
def test_updates_are_left_out_too():
    scene = Scene()
    device, context = scene.device, scene.context
    predicate = device.create_query(QueryKind.OCCLUSION_PREDICATE)
    context.begin(predicate)
    context.end(predicate)
    context.set_predication(predicate, False)
    buffer = device.create_buffer(4)
    context.update_subresource(buffer, b"1234")
    assert not context.read(buffer).any()
    context.set_predication(None)
    context.update_subresource(buffer, b"1234")
    assert bytes(context.read(buffer)) == b"1234"


@pytest.mark.plan("host-2")
def test_scissors_may_be_greater_than_targets():
    scene = Scene()
    context = scene.context
    context.rs.set_state(RasterizerState(cull=Cull.NONE, scissor_enable=True))
    context.rs.set_scissor_rects([(4, 0, (1 << 31) - 1, (1 << 31) - 1)])
    scene.draw(WHOLE)
    assert scene.shown()[:, 4:].all() and not scene.shown()[:, :4].any()


@pytest.mark.plan("host-2")
@pytest.mark.parametrize(("number", "drawn"), [(0, True), (1, False), (15, False), (16, True)])
def test_a_viewport_that_is_not_set_shows_nothing(number, drawn):
    scene = Scene()

    def chosen(inputs, _bound):
        invocation = np.repeat(np.arange(len(inputs.position)), 3)
        return Emitted(
            invocation,
            inputs.position.reshape(-1, 4),
            inputs.attributes.reshape(len(invocation), -1, 4),
            viewport=np.full(len(invocation), number, np.uint32),
        )

    scene.context.gs.set_shader(scene.device.create_geometry_shader(GeometryShader(chosen)))
    scene.draw(WHOLE)
    assert scene.shown().all() if drawn else not scene.shown().any()


@pytest.mark.plan("host-1")
def test_instances_of_no_vertex_take_no_time():
    scene = Scene()
    scene.bind(corners(WHOLE))
    scene.context.draw_instanced(0, (1 << 32) - 1)
    assert not scene.shown().any()


@pytest.mark.plan("host-8")
def test_the_greatest_buffer_has_a_view():
    device = Device(256 << 20)
    buffer = device.create_buffer(1 << 27, READ)
    assert len(device.create_shader_resource_view(buffer).encode()) == 32
