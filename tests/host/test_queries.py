# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.geometry.stream_output import Declaration, Entry
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine.shaders import ComputeShader, GeometryShader
from tests.host.drawing import (
    GREEN,
    LEFT,
    RED,
    RIGHT,
    WHOLE,
    Scene,
    words,
)

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
    for counter in (query, full):
        context.begin(counter)
    scene.draw(LEFT, RED)
    scene.draw(RIGHT, GREEN)
    for counter in (query, full):
        context.end(counter)
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
    view = device.create_unordered_access_view(out, first=400)
    context.clear_unordered_access_view_uint(view, 0x12345678)
    got = context.read(out).view("<u4")
    assert (got[100:] == 0x12345678).all() and (got[:100] == 1000 + np.arange(100)).all()
    context.update_subresource(out, np.zeros(210, "<u4"))
    arguments = device.create_buffer(bind=Bind.UNORDERED_ACCESS, data=words(7, 1, 1, 1))
    context.dispatch_indirect(arguments, 4)
    assert np.count_nonzero(context.read(out).view("<u4")) == 70
