# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.geometry.geometry_stage import Emitted
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
    StencilFace,
)
from fixfunc.models.machine.shaders import GeometryShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.draw import StepClass, Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import Strategy
from fixfunc.spec.state import BlendFactor, Compare, Cull, StencilOp
from tests.host.drawing import (
    GREEN,
    LAYOUT,
    LEFT,
    RED,
    RIGHT,
    WHOLE,
    Scene,
    corners,
    words,
)

# Draw calls.


@pytest.mark.plan("host-1")
def test_every_draw_call_draws_the_same():
    scene = Scene()
    context = scene.context
    rows = np.concatenate([corners(LEFT, RED), corners(RIGHT, GREEN)])
    scene.bind(rows)
    indices = scene.device.create_buffer(
        bind=Bind.INDEX_BUFFER, data=np.array([9, 9, 0, 1, 2, 3, 4, 5], "<u2")
    )
    context.ia.set_index_buffer(indices, Format.R16_UINT)
    arguments = scene.device.create_buffer(
        bind=Bind.UNORDERED_ACCESS, data=words(9, 6, 1, 6, 0, 6, 1, 2, 6, 0)
    )
    calls = [
        lambda: context.draw(6, 6),
        lambda: context.draw_indexed(6, 2, 6),
        lambda: context.draw_instanced(6, 1, 6),
        lambda: context.draw_indexed_instanced(6, 1, 2, 6),
        lambda: context.draw_instanced_indirect(arguments, 4),
        lambda: context.draw_indexed_instanced_indirect(arguments, 20),
    ]
    for call in calls:
        context.clear_render_target_view(scene.target, (0, 0, 0, 0))
        context.clear_depth_stencil_view(scene.depth, 1.0)
        call()
        image = scene.image()[:, :, 0]
        assert not image[:, :16].any()
        assert (image[:, 16:] == (0, 255, 0, 255)).all()


@pytest.mark.plan("host-1")
def test_instances_step_their_own_buffer():
    scene = Scene()
    context = scene.context
    scene.bind(corners(LEFT / (1, 4)))
    each = scene.device.create_buffer(
        data=np.array([(9, 9), (0, -0.5), (0, 0.5), (1, 0.5)], np.float32)
    )
    context.ia.set_vertex_buffers(1, [each], [8])
    layout = (*LAYOUT, Element(2, Format.R32G32_FLOAT, 1, 0, StepClass.PER_INSTANCE, 1))
    context.ia.set_input_layout(scene.device.create_input_layout(layout))

    def moved(waves, _bound):
        from fixfunc.models.frontend.vertex_stage import VertexResults

        shift = np.zeros((*waves.mask.shape, 4), np.float32)
        shift[..., :2] = waves.floats(2)[..., :2]
        return VertexResults(waves.floats(0) + shift, waves.floats(1)[..., None, :])

    context.vs.set_shader(scene.device.create_vertex_shader(moved))
    context.draw_instanced(6, 3, 0, 1)
    shown = scene.shown()
    assert shown[15:21, :16].all() and shown[3:9].all()
    assert not shown[9:15].any() and not shown[15:21, 16:].any()


@pytest.mark.plan("host-1")
@pytest.mark.parametrize("strategy", list(Strategy))
def test_state_holds_for_the_draws_behind_it(strategy):
    scene = Scene(strategy=strategy)
    context = scene.context
    for n in range(40):
        context.rs.set_viewports([Viewport(x=n % 8 * 4, y=n // 8 * 4, width=3, height=3)])
        scene.draw(WHOLE, (n / 255, 0, 0, 1))
    image = scene.image()[:, :, 0]
    for n in range(40):
        y, x = n // 8 * 4, n % 8 * 4
        assert (image[y : y + 3, x : x + 3] == (n, 0, 0, 255)).all()
        assert not image[y + 3, x].any()


# What stages do.


@pytest.mark.plan("host-2")
def test_depth_and_stencil_tests_and_writes():
    scene = Scene()
    context = scene.context
    scene.draw(LEFT, RED, 0.25)
    scene.draw(WHOLE, GREEN, 0.5)
    image = scene.image()[:, :, 0]
    assert (image[:, :16] == (255, 0, 0, 255)).all() and (image[:, 16:] == (0, 255, 0, 255)).all()
    # Where the stencil value is 1, which the left half writes.
    face = StencilFace(pass_=StencilOp.REPLACE)
    state = DepthStencilState(
        depth_enable=False, stencil_enable=True, front_face=face, back_face=face
    )
    context.om.set_depth_stencil_state(state, 1)
    scene.draw(LEFT, RED)
    equal = StencilFace(func=Compare.EQUAL)
    state = DepthStencilState(
        depth_enable=False, stencil_enable=True, front_face=equal, back_face=equal
    )
    context.om.set_depth_stencil_state(state, 1)
    scene.draw(WHOLE, (0, 0, 1, 1))
    image = scene.image()[:, :, 0]
    assert (image[:, :16] == (0, 0, 255, 255)).all() and (image[:, 16:] == (0, 255, 0, 255)).all()
    stored = scene.context.read(scene.depths)[:, :, 0]
    assert (stored[:, :16, 3] == 1).all() and not stored[:, 16:, 3].any()
    depths = np.ascontiguousarray(stored).view("<u4")[..., 0] & 0xFFFFFF
    assert (depths[:, 16:] == 0x800000).all() and (depths[:, :16] == 0x400000).all()


@pytest.mark.plan("host-2")
def test_depths_go_to_memory_and_come_back():
    scene = Scene(samples=4)
    scene.draw(LEFT, RED, 0.25)
    before = scene.context.read(scene.depths)
    copy = scene.device.create_texture2d(
        Format.D24_UNORM_S8_UINT, 32, 24, sample_count=4, bind=Bind.DEPTH_STENCIL
    )
    scene.context.copy_resource(copy, scene.depths)
    scene.context.clear_depth_stencil_view(scene.depth, 0.0)
    view = scene.device.create_depth_stencil_view(copy)
    scene.context.om.set_render_targets([scene.target], view)
    scene.draw(WHOLE, GREEN, 0.5)
    image = scene.image()[..., 0, :]
    assert (image[:, :16] == (255, 0, 0, 255)).all() and (image[:, 16:] == (0, 255, 0, 255)).all()
    after = scene.context.read(copy)
    assert (after[:, :16] == before[:, :16]).all() and (after[:, 16:] != before[:, 16:]).any()


@pytest.mark.plan("host-2")
def test_blending_masks_and_several_targets():
    scene = Scene()
    device, context = scene.device, scene.context
    second = device.create_texture2d(Format.R8G8B8A8_UNORM, 32, 24, bind=Bind.RENDER_TARGET)
    view = device.create_render_target_view(second)
    context.om.set_render_targets([scene.target, view])
    context.clear_render_target_view(scene.target, (0.2, 0.2, 0.2, 1))
    scene.shade(
        lambda quads, _bound: PixelResults([quads.floats(0), quads.floats(0) * np.float32(0.5)])
    )
    mix = RenderTargetBlend(True, BlendFactor.SRC_ALPHA, BlendFactor.INV_SRC_ALPHA)
    context.om.set_blend_state(
        BlendState([mix, RenderTargetBlend(write_mask=5)], independent_blend_enable=True)
    )
    scene.draw(WHOLE, (1, 0.4, 1, 0.6))
    # 255 * 153 / 255 + 51 * 102 / 255; 102 * 153 / 255 + 51 * 102 / 255
    assert (scene.image()[:, :, 0] == (173, 82, 173, 153)).all()
    assert (context.read(second)[:, :, 0] == (128, 0, 128, 0)).all()


@pytest.mark.plan("output-merger-6")
def test_targets_of_other_formats():
    scene = Scene()
    device, context = scene.device, scene.context
    forms = (Format.R16G16B16A16_FLOAT, Format.B5G6R5_UNORM, Format.R8G8B8A8_UNORM_SRGB)
    textures = [device.create_texture2d(form, 32, 24, bind=Bind.RENDER_TARGET) for form in forms]
    context.om.set_render_targets(
        [device.create_render_target_view(texture) for texture in textures]
    )
    context.om.set_blend_state(
        BlendState([RenderTargetBlend(True, BlendFactor.ONE, BlendFactor.ONE)])
    )
    scene.shade(lambda quads, _bound: PixelResults([quads.floats(0)] * 3))
    for _ in range(3):
        scene.draw(WHOLE, (0.25, 0.5, 0, 1))
    half, packed, srgb = (context.read(texture)[:, :, 0] for texture in textures)
    assert (half.copy().view("<f2") == (0.75, 1.5, 0, 1)).all()
    # 3 times 8 of 31, 3 times 32 of 63, cut.
    assert (packed.copy().view("<u2") == (24 << 11 | 63 << 5)).all()
    assert (srgb == (225, 255, 0, 255)).all()
    whole = device.create_texture2d(Format.R32_UINT, 32, 24, bind=Bind.RENDER_TARGET)
    context.om.set_render_targets([device.create_render_target_view(whole)])
    with pytest.raises(InputError, match="blend must be off for R32_UINT"):
        context.draw(3)
    context.om.set_blend_state(None)

    def number(quads, _bound):
        return PixelResults((quads.x * 1000 + quads.y)[..., None].repeat(4, 3).astype(np.uint32))

    scene.shade(number)
    context.draw(3)
    y, x = np.mgrid[:24, :32]
    assert (context.read(whole)[:, :, 0].copy().view("<u4")[..., 0] == x * 1000 + y).all()


@pytest.mark.plan("host-2")
def test_sample_mask_scissor_and_discard():
    scene = Scene(samples=4)
    context = scene.context
    context.om.set_blend_state(None, sample_mask=0b0101)
    context.rs.set_state(RasterizerState(cull=Cull.NONE, scissor_enable=True))
    context.rs.set_scissor_rects([(3, 5, 20, 11)])

    def odd(quads, _bound):
        return PixelResults(quads.floats(0), discarded=quads.x % 2 == 1)

    scene.shade(odd, discards=True)
    scene.draw(WHOLE)
    shown = scene.image().any(3)
    right = np.zeros((24, 32, 4), bool)
    right[5:11, 4:20:2, ::2] = True
    assert (shown == right).all()
    assert (
        np.ascontiguousarray(context.read(scene.depths)).view("<u4")[..., 0] < 0xFFFFFF
    ).sum() == right.sum()


@pytest.mark.plan("host-2")
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_alpha_to_coverage(samples, early):
    scene = Scene(samples=samples)
    context = scene.context
    context.om.set_blend_state(BlendState(alpha_to_coverage_enable=True))

    def ramp(quads, _bound):
        colour = np.ones((*quads.x.shape, 4), np.float32)
        colour[..., 3] = quads.x.astype(np.float32) / np.float32(16) - np.float32(0.25)
        colour[quads.y == 3, 3] = np.nan
        return PixelResults(colour)

    scene.shade(ramp, early=early)
    scene.draw(WHOLE)
    # A colour of 1 tells what is written, whatever alpha becomes.
    shown = scene.image()[..., 0] == 255
    share = np.clip(np.arange(32) / 16 - 0.25, 0, 1)
    right = np.arange(samples) < np.floor(share * samples + 0.5)[:, None]
    assert (shown[:3] == right).all() and (shown[4:] == right).all()
    assert not shown[3].any()
    written = context.read(scene.depths).copy().view("<u4")[..., 0] & 0xFFFFFF != 0xFFFFFF
    passed = shown | early
    assert (written == passed).all()
    query = scene.device.create_query(QueryKind.OCCLUSION)
    context.clear_depth_stencil_view(scene.depth, 1.0)
    context.begin(query)
    scene.draw(WHOLE)
    context.end(query)
    assert context.get_data(query) == passed.sum()


@pytest.mark.plan("host-2")
def test_what_is_discarded_behind_an_early_test_is_counted_but_not_drawn():
    scene = Scene()
    query = scene.device.create_query(QueryKind.OCCLUSION)

    def odd(quads, _bound):
        return PixelResults(quads.floats(0), discarded=quads.x % 2 == 1)

    scene.shade(odd, discards=True, early=True)
    scene.context.begin(query)
    scene.draw(WHOLE)
    scene.context.end(query)
    assert scene.context.get_data(query) == 32 * 24
    assert scene.shown()[:, ::2].all() and not scene.shown()[:, 1::2].any()
    stored = np.ascontiguousarray(scene.context.read(scene.depths)).view("<u4")[..., 0]
    assert (stored & 0xFFFFFF == 0x800000).all()


@pytest.mark.plan("host-2")
def test_depths_of_a_shader():
    scene = Scene(depth=Format.D32_FLOAT)

    def ramp(quads, _bound):
        return PixelResults(quads.floats(0), depth=quads.x.astype(np.float32) / np.float32(32))

    scene.shade(ramp, depth="any")
    scene.draw(WHOLE, RED)
    stored = scene.context.read(scene.depths)[:, :, 0].copy().view("<f4")[..., 0]
    assert (stored == np.arange(32, dtype=np.float32) / 32).all()
    scene.shade(lambda quads, _bound: PixelResults(quads.floats(0)))
    scene.draw(WHOLE, GREEN, 0.5)
    image = scene.image()[:, :, 0]
    assert (image[:, :17] == (255, 0, 0, 255)).all() and (image[:, 17:] == (0, 255, 0, 255)).all()


@pytest.mark.plan("host-2")
def test_layers_and_viewports_by_a_geometry_shader():
    scene = Scene(layers=3)
    context = scene.context
    context.rs.set_viewports([Viewport(width=32, height=24), Viewport(width=16, height=24)])

    def spread(inputs, _bound):
        count = len(inputs.primitive)
        layer = np.repeat(inputs.instance, 3)
        return Emitted(
            np.repeat(np.arange(count), 3),
            inputs.position.reshape(-1, 4),
            inputs.attributes.reshape(-1, 1, 4),
            viewport=(layer == 1).astype(np.uint32),
            layer=layer.astype(np.uint32) * 2 % 3,
        )

    program = GeometryShader(spread, most=3, instances=2)
    context.gs.set_shader(scene.device.create_geometry_shader(program))
    scene.draw(WHOLE)
    assert scene.image(0).all() and not scene.image(1).any()
    assert scene.image(2)[:, :16].all() and not scene.image(2)[:, 16:].any()


@pytest.mark.plan("host-2")
def test_aliased_lines_are_the_default_and_wide_ones_with_multisampling():
    for multisample in (False, True):
        scene = Scene()
        scene.context.ia.set_primitive_topology(Topology.LINE_LIST)
        scene.context.rs.set_state(RasterizerState(multisample_enable=multisample))
        y = 1 - 2 * 10.5 / 24
        row = corners([(-1, y), (1, y)])
        row[1, 4:] = (0, 0, 0, 1)
        scene.bind(row)
        scene.context.draw(2)
        rows = np.flatnonzero(scene.shown().any(1))
        assert rows.tolist() == [10]
        if not multisample:
            ramp = scene.image()[10, :, 0, 0].astype(float)
            right = 255 * (1 - (np.arange(32) + 0.5) / 32)
            assert np.abs(ramp - right).max() <= 0.5 + 1e-3


@pytest.mark.plan("host-2")
def test_conservative_coverage_and_what_is_covered_whole():
    scene = Scene()
    context = scene.context
    context.om.set_render_targets([scene.target])
    context.rs.set_state(RasterizerState(cull=Cull.NONE, conservative_raster=True))

    def kind(quads, _bound):
        colour = np.zeros((*quads.x.shape, 4), np.float32)
        colour[..., 0] = quads.inner
        colour[..., 3] = 1
        return PixelResults(colour)

    scene.shade(kind)
    # Corners at (4.5, 6), (12.5, 6) and (4.5, 12) pixels.
    scene.draw([(x / 16 - 1, 1 - y / 12) for x, y in ((4.5, 6), (12.5, 6), (4.5, 12))])
    red, alpha = np.moveaxis(scene.image()[:, :, 0], 2, 0)[[0, 3]]
    assert np.flatnonzero(alpha.any(1)).tolist() == list(range(5, 13))
    assert np.flatnonzero(alpha[6]).tolist() == list(range(4, 13))
    assert np.flatnonzero(red[6]).tolist() == []
    assert np.flatnonzero(red[7]).tolist() == list(range(5, 9))
    context.om.set_render_targets([scene.target], scene.depth)
    with pytest.raises(InputError, match="conservative_raster must be off with a target of depths"):
        context.draw(3)


@pytest.mark.plan("output-merger-8")
@pytest.mark.parametrize("samples", [1, 4])
def test_a_target_of_few_bits_is_dithered_by_pixels(samples):
    scene = Scene(samples=samples)
    host, context = scene.device, scene.context
    target = host.create_texture2d(Format.B5G6R5_UNORM, 32, 24, 1, 1, samples, Bind.RENDER_TARGET)
    context.om.set_render_targets([host.create_render_target_view(target)])
    found = {}
    for dither in (False, True):
        context.om.set_blend_state(BlendState((RenderTargetBlend(dither_enable=dither),)))
        scene.draw(WHOLE, (0.3, 0.3, 0.3, 1))
        words = context.read(target).reshape(24, 32, samples, 2).view("<u2")[..., 0]
        assert (words == words[:, :, :1]).all()  # all samples of a pixel have its threshold
        found[dither] = words[:, :, 0] >> 11
    assert (found[False] == 9).all()  # 0.3 of 31 is 9.3
    assert set(found[True].ravel().tolist()) == {9, 10}
    assert (found[True] == np.tile(found[True][:4, :4], (6, 8))).all()
    assert (found[True][:4, :4] == 10).sum() == 5
