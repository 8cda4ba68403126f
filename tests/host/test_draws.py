# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.geometry.geometry_stage import Emitted
from fixfunc.models.geometry.stream_output import Declaration, Entry
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
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.shaders import ComputeShader, GeometryShader
from fixfunc.spec.draw import StepClass, Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import Strategy
from fixfunc.spec.state import BlendFactor, Compare, Cull, StencilOp
from tests.host.drawing import LAYOUT, WHOLE, Scene, corners

LEFT = np.array([(-1, -1), (-1, 1), (0, 1), (-1, -1), (0, 1), (0, -1)], np.float32)
RIGHT = LEFT + (1, 0)
RED, GREEN = (1, 0, 0, 1), (0, 1, 0, 1)


def words(*values):
    return np.array(values, "<u4")


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
    other = scene.device.create_texture2d(
        Format.D24_UNORM_S8_UINT, 32, 24, sample_count=4, bind=Bind.DEPTH_STENCIL
    )
    scene.context.copy_resource(other, scene.depths)
    scene.context.clear_depth_stencil_view(scene.depth, 0.0)
    view = scene.device.create_depth_stencil_view(other)
    scene.context.om.set_render_targets([scene.target], view)
    scene.draw(WHOLE, GREEN, 0.5)
    image = scene.image()[..., 0, :]
    assert (image[:, :16] == (255, 0, 0, 255)).all() and (image[:, 16:] == (0, 255, 0, 255)).all()
    after = scene.context.read(other)
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


# Stream output, queries, predication.


@pytest.mark.plan("host-3")
def test_stream_output_and_draw_auto():
    scene = Scene()
    device, context = scene.device, scene.context
    declaration = Declaration([Entry(0), Entry(1)], {0: 32})
    program = GeometryShader(stream_output={0: declaration}, rasterized=None)
    context.gs.set_shader(device.create_geometry_shader(program))
    kept = device.create_buffer(32 * 9, Bind.STREAM_OUTPUT | Bind.VERTEX_BUFFER)
    context.so.set_targets([kept])
    query = device.create_query(QueryKind.SO_STATISTICS)
    full = device.create_query(QueryKind.SO_OVERFLOW_PREDICATE_STREAM0)
    for one in (query, full):
        context.begin(one)
    scene.draw(LEFT, RED)
    scene.draw(RIGHT, GREEN)
    for one in (query, full):
        context.end(one)
    assert context.get_data(query) == (3, 4)
    assert context.get_data(full) is True
    assert not scene.shown().any()
    context.gs.set_shader(None)
    context.so.set_targets([])
    context.ia.set_vertex_buffers(0, [kept], [32])
    context.draw_auto()
    image = scene.image()[:, :, 0]
    assert (image[:, :16] == (255, 0, 0, 255)).all()
    assert 0 < (image[:, 16:] == (0, 255, 0, 255)).all(2).sum() < 24 * 16
    # Appending goes on where it was.
    context.gs.set_shader(device.create_geometry_shader(program))
    more = device.create_buffer(32 * 12, Bind.STREAM_OUTPUT | Bind.VERTEX_BUFFER)
    context.so.set_targets([more])
    scene.draw(LEFT)
    context.so.set_targets([more], [-1])
    scene.draw(RIGHT)
    rows = context.read(more).view("<f4").reshape(12, 8)
    assert (rows[:, :2] == np.concatenate([LEFT, RIGHT])).all()


@pytest.mark.plan("host-3")
def test_queries_count():
    scene = Scene()
    device, context = scene.device, scene.context
    kinds = (QueryKind.OCCLUSION, QueryKind.PIPELINE_STATISTICS, QueryKind.OCCLUSION_PREDICATE)
    queries = [device.create_query(kind) for kind in kinds]
    for query in queries:
        context.begin(query)
    scene.draw(LEFT, z=0.25)
    scene.draw(WHOLE, z=0.5)
    for query in queries:
        context.end(query)
    passed, statistics, any_passed = (context.get_data(query) for query in queries)
    assert passed == 32 * 24
    assert any_passed is True
    assert statistics.ia_vertices == 9
    assert statistics.ia_primitives == statistics.c_invocations == 3
    assert statistics.ps_invocations == 32 * 24
    time = [device.create_query(QueryKind.TIMESTAMP) for _ in range(2)]
    for query in time:
        context.end(query)
    assert context.get_data(time[0]) < context.get_data(time[1])
    event = device.create_query(QueryKind.EVENT)
    context.end(event)
    assert context.get_data(event) is True


@pytest.mark.plan("host-3")
@pytest.mark.parametrize("value", [False, True])
@pytest.mark.parametrize("hidden", [False, True])
def test_predication_leaves_work_out(value, hidden):
    scene = Scene()
    device, context = scene.device, scene.context
    predicate = device.create_query(QueryKind.OCCLUSION_PREDICATE)
    context.clear_depth_stencil_view(scene.depth, 0.4 if hidden else 1.0)
    context.begin(predicate)
    scene.draw(LEFT)
    context.end(predicate)
    context.set_predication(predicate, value)
    context.clear_depth_stencil_view(scene.depth, 1.0)
    scene.draw(RIGHT)
    context.set_predication(None)
    drawn = scene.shown()[:, 16:].all()
    assert drawn == ((not hidden) != value)
    context.clear_depth_stencil_view(scene.depth, 1.0)
    scene.draw(RIGHT)
    assert scene.shown()[:, 16:].all()


@pytest.mark.plan("host-4")
def test_thread_groups_write_buffers():
    scene = Scene()
    device, context = scene.device, scene.context
    out = device.create_buffer(4 * 6 * 35, Bind.UNORDERED_ACCESS)

    def number(waves, bound):
        place = waves.dispatched[waves.mask]
        row = (place[:, 2] * 2 + place[:, 1]) * 105 + place[:, 0]
        bound.unordered(0).view("<u4")[row] = bound.buffer(1).view("<u4")[0] + row

    source = device.create_buffer(bind=Bind.SHADER_RESOURCE, data=words(1000))
    context.cs.set_shader(device.create_compute_shader(ComputeShader(number, (35, 2, 1))))
    context.cs.set_unordered_access_views(0, [device.create_unordered_access_view(out)])
    context.cs.set_shader_resources(1, [device.create_shader_resource_view(source)])
    query = device.create_query(QueryKind.PIPELINE_STATISTICS)
    context.begin(query)
    context.dispatch(3)
    context.end(query)
    got = context.read(out).view("<u4")
    assert (got == 1000 + np.arange(210)).all()
    assert context.get_data(query).cs_invocations == 210
    context.update_subresource(out, np.zeros(210, "<u4"))
    arguments = device.create_buffer(bind=Bind.UNORDERED_ACCESS, data=words(7, 1, 1, 1))
    context.dispatch_indirect(arguments, 4)
    assert np.count_nonzero(context.read(out).view("<u4")) == 70


# State that breaks a rule.


def cube(scene):
    texture = scene.device.create_texture2d(
        Format.R8G8B8A8_UNORM, 32, 24, bind=Bind.RENDER_TARGET | Bind.SHADER_RESOURCE
    )
    view = scene.device.create_render_target_view(texture)
    scene.context.om.set_render_targets([view])
    scene.context.ps.set_shader_resources(3, [scene.device.create_shader_resource_view(texture)])


def streamed(scene):
    buffer = scene.device.create_buffer(320, Bind.STREAM_OUTPUT | Bind.VERTEX_BUFFER)
    scene.context.so.set_targets([buffer])
    scene.context.ia.set_vertex_buffers(0, [buffer], [32])


@pytest.mark.plan("host-5")
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda s: s.context.vs.set_shader(None), "vertex shader must be set"),
        (lambda s: s.context.clear_state(), "vertex shader must be set"),
        (
            lambda s: s.context.ia.set_primitive_topology(Topology.PATCH_3),
            "hull shader must be set for patches",
        ),
        (
            lambda s: s.context.ds.set_shader(s.device.create_domain_shader(len)),
            "hull and domain shader must be set together",
        ),
        (
            lambda s: s.context.om.set_blend_state(BlendState(alpha_to_coverage_enable=True)),
            "alpha_to_coverage_enable must be off",
        ),
        (cube, "resource in slot 3 must not be drawn to"),
        (streamed, "vertex buffer 0 must not be one of stream output"),
    ],
)
def test_a_draw_that_breaks_a_rule_draws_nothing(change, text):
    scene = Scene()
    scene.bind(corners(WHOLE))
    change(scene)
    before = scene.device.machine.totals.copy()
    with pytest.raises(InputError, match=text):
        scene.context.draw(3)
    with pytest.raises(InputError):
        scene.context.draw_indexed(3)
    assert scene.device.machine.totals == before
    assert not scene.shown().any()


@pytest.mark.plan("host-5")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s: s.context.draw(-1), r"count must lie in 0\.\.67108864, not -1"),
        (lambda s: s.context.draw(1 << 27), r"count must lie in 0\.\.67108864"),
        (lambda s: s.context.draw(3, -1), "start_vertex must lie in"),
        (lambda s: s.context.draw(3.0), "count must be an integer"),
        (lambda s: s.context.draw_indexed(3), "index buffer must be set"),
        (lambda s: s.context.draw_auto(), "vertex buffer 0 must be one of STREAM_OUTPUT"),
        (lambda s: s.context.dispatch(1), "compute shader must be set"),
        (
            lambda s: s.context.draw_instanced_indirect(s.bind(corners(WHOLE)), 84),
            r"offset of arguments must lie in 0\.\.80",
        ),
        (
            lambda s: s.context.get_data(s.device.create_query(QueryKind.OCCLUSION)),
            "query must have ended",
        ),
        (
            lambda s: s.context.end(s.device.create_query(QueryKind.OCCLUSION)),
            "query must have begun",
        ),
        (
            lambda s: s.context.begin(s.device.create_query(QueryKind.EVENT)),
            "query must have a beginning",
        ),
        (
            lambda s: s.context.set_predication(s.device.create_query(QueryKind.OCCLUSION)),
            "query must be a predicate",
        ),
    ],
)
def test_calls_that_break_a_rule(call, text):
    scene = Scene()
    with pytest.raises(InputError, match=text):
        call(scene)
    scene.draw(WHOLE)
    assert scene.shown().all()


@pytest.mark.plan("host-5")
def test_results_of_a_shader_that_are_wrong_are_told_by_the_draw():
    scene = Scene()
    scene.shade(lambda quads, _bound: PixelResults(quads.floats(0)[..., :3]))
    with pytest.raises(InputError, match="colour must be float32 of shape"):
        scene.draw(WHOLE)
    # Depths had been written early.
    scene.context.clear_depth_stencil_view(scene.depth, 1.0)
    scene.shade(lambda quads, _bound: PixelResults(quads.floats(0), discarded=quads.x < 4))
    with pytest.raises(InputError, match="discarded must be none"):
        scene.draw(WHOLE)
    assert not scene.shown().any()
    scene.shade(lambda quads, _bound: PixelResults(quads.floats(0)))
    scene.context.clear_depth_stencil_view(scene.depth, 1.0)
    scene.draw(WHOLE)
    assert scene.shown().all()
