# SPDX-License-Identifier: BSD-2-Clause
"""Deferred contexts and their lists [fs 6.3]."""

import numpy as np
import pytest

from fixfunc.models.frontend.compute_stage import ComputeShader
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.lists.deferred_context import GROUPS
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind, CpuAccess, Usage
from fixfunc.models.host.states import RasterizerState
from fixfunc.models.host.transfers.mapping import MapType
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.descriptors import UnorderedFlag
from fixfunc.spec.draw import Topology
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Cull
from tests.host.drawing import LEFT, MEMORY, READ, RED, RGBA8, RIGHT, WHOLE, Scene, corners, words

DYNAMIC = {"usage": Usage.DYNAMIC, "cpu_access": CpuAccess.WRITE}
STAGING = {"usage": Usage.STAGING, "cpu_access": CpuAccess.READ, "bind": Bind(0)}


def prepared(scene):
    """A deferred context of a scene's device, with what the scene's own has bound."""
    own = scene.context
    context = scene.device.create_deferred_context()
    context.om.set_render_targets([scene.target], scene.depth)
    context.rs.set_viewports([Viewport(width=32, height=24)])
    context.rs.set_state(RasterizerState(cull=Cull.NONE))
    context.ia.set_input_layout(own.ia.layout)
    context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
    context.vs.set_shader(own.vs.shader)
    context.ps.set_shader(own.ps.shader)
    return context


def draw(scene, context, points, colour=RED, z=0.5):
    """Draw triangles by a context."""
    buffer = scene.device.create_buffer(data=corners(points, colour, z))
    context.ia.set_vertex_buffers(0, [buffer], [32])
    context.draw(len(points))


def bound(context):
    """What groups of a context have bound."""
    return [
        {
            name: value.copy() if isinstance(value, dict) else value
            for name, value in vars(getattr(context, group)).items()
            if not name.startswith("_")
        }
        for group in GROUPS
    ]


@pytest.mark.plan("host-22")
def test_a_list_draws_what_its_calls_would():
    scene = Scene()
    deferred = prepared(scene)
    deferred.clear_render_target_view(scene.target, (0, 0, 1, 1))
    draw(scene, deferred, LEFT)
    commands = deferred.finish_command_list()
    assert not scene.shown().any()
    for _ in range(2):  # as often as one likes
        scene.context.clear_depth_stencil_view(scene.depth, 1.0)
        scene.context.execute_command_list(commands)
        image = scene.image()[:, :, 0]
        assert (image[:, :16] == (255, 0, 0, 255)).all()
        assert (image[:, 16:] == (0, 0, 255, 255)).all()
        scene.context.clear_render_target_view(scene.target, (0, 0, 0, 0))


@pytest.mark.plan("host-22")
def test_a_list_inherits_nothing_that_is_bound():
    """[fs 6.3.3]: without a shader of its own it does not draw."""
    scene = Scene()
    deferred = scene.device.create_deferred_context()
    with pytest.raises(InputError, match="DeferredContext.draw: vertex shader must be set"):
        deferred.draw(3)
    scene.context.rs.set_scissor_rects([(0, 0, 1, 1)])
    scene.context.rs.set_state(RasterizerState(cull=Cull.NONE, scissor_enable=True))
    deferred = prepared(scene)
    draw(scene, deferred, WHOLE)
    scene.context.execute_command_list(deferred.finish_command_list())
    assert scene.shown().all()


@pytest.mark.plan("host-22")
@pytest.mark.parametrize("restore", [False, True])
def test_what_is_bound_behind_a_list(restore):
    """[fs 6.3.4]: nothing, or what was before."""
    scene = Scene()
    query = scene.device.create_query(QueryKind.OCCLUSION_PREDICATE)
    scene.context.begin(query)
    scene.context.end(query)
    scene.context.set_predication(query, False)
    scene.bind(corners(RIGHT, RED))
    before = bound(scene.context)
    deferred = prepared(scene)
    draw(scene, deferred, LEFT)
    scene.context.execute_command_list(deferred.finish_command_list(), restore)
    new = bound(Device(MEMORY).context)
    if not restore:
        assert [group.keys() for group in new] == [group.keys() for group in before]
        found = bound(scene.context)
        for group, fields in zip(found, new, strict=True):
            assert {k: v for k, v in group.items() if k != "heap"} == {
                k: v for k, v in fields.items() if k != "heap"
            }
        with pytest.raises(InputError, match="vertex shader must be set"):
            scene.context.draw(6)
        return
    assert bound(scene.context) == before
    scene.context.draw(6)  # left out: the predicate is false
    assert scene.shown()[:, :16].all() and not scene.shown()[:, 16:].any()
    scene.context.set_predication(None)
    scene.context.draw(6)
    assert scene.shown().all()


@pytest.mark.plan("host-22")
@pytest.mark.parametrize("restore", [False, True])
def test_what_is_bound_to_a_deferred_context_behind_its_list(restore):
    scene = Scene()
    deferred = prepared(scene)
    draw(scene, deferred, LEFT)
    first = deferred.finish_command_list(restore)
    if not restore:
        with pytest.raises(InputError, match="vertex shader must be set"):
            deferred.draw(3)
        return
    draw(scene, deferred, RIGHT)
    second = deferred.finish_command_list()
    scene.context.execute_command_list(second)
    assert not scene.shown()[:, :16].any() and scene.shown()[:, 16:].all()
    scene.context.execute_command_list(first)
    assert scene.shown().all()


@pytest.mark.plan("host-22")
def test_lists_within_lists():
    """[fs 6.3.7]: with the same state behind them."""
    scene = Scene()
    inner = prepared(scene)
    draw(scene, inner, LEFT)
    left = inner.finish_command_list()
    outer = prepared(scene)
    outer.execute_command_list(left, restore_state=True)
    draw(scene, outer, RIGHT)
    outer.execute_command_list(left)
    with pytest.raises(InputError, match="vertex shader must be set"):
        outer.draw(3)
    scene.context.execute_command_list(outer.finish_command_list())
    assert scene.shown().all()


@pytest.mark.plan("host-22")
def test_data_of_a_list_are_those_of_its_calls():
    """An array that is changed afterwards, and a resource that is discarded later [fs 6.3.9.1]."""
    scene = Scene()
    device, context = scene.device, scene.context
    source = device.create_buffer(16, Bind.VERTEX_BUFFER, **DYNAMIC)
    target = device.create_buffer(16, **STAGING)
    other = device.create_buffer(16)
    with context.map(source, MapType.WRITE_DISCARD) as mapped:
        mapped.data[:] = 1
    deferred = device.create_deferred_context()
    octets = np.full(16, 7, np.uint8)
    deferred.update_subresource(other, octets)
    octets[:] = 9
    deferred.copy_resource(target, source)
    commands = deferred.finish_command_list()
    with context.map(source, MapType.WRITE_DISCARD) as mapped:
        mapped.data[:] = 2
    assert not context.read(other).any()
    context.execute_command_list(commands)
    assert (context.read(target) == 2).all()
    assert (context.read(other) == 7).all()


@pytest.mark.plan("host-22")
def test_nothing_is_told_to_a_deferred_context():
    """[fs 6.3.2]"""
    scene = Scene()
    deferred = scene.device.create_deferred_context()
    query = scene.device.create_query(QueryKind.EVENT)
    scene.context.end(query)
    calls = (
        lambda: deferred.get_data(query),
        lambda: deferred.read(scene.colours),
        deferred.flush,
    )
    for call in calls:
        with pytest.raises(InputError, match="context must be immediate"):
            call()
    assert not hasattr(scene.context, "finish_command_list")


@pytest.mark.plan("host-22")
def test_queries_of_a_list():
    """[fs 6.3.6]: begun and ended by one context; what has begun ends with the list."""
    scene = Scene()
    device, context = scene.device, scene.context
    inner, outer, left = (device.create_query(QueryKind.OCCLUSION) for _ in range(3))
    deferred = prepared(scene)
    with pytest.raises(InputError, match="query must have begun"):
        deferred.end(outer)
    deferred.begin(inner)
    draw(scene, deferred, LEFT)
    deferred.end(inner)
    deferred.begin(left)
    draw(scene, deferred, RIGHT)
    commands = deferred.finish_command_list()
    assert not inner.ended
    context.begin(outer)
    context.execute_command_list(commands)
    context.end(outer)
    found = [context.get_data(query) for query in (inner, left, outer)]
    assert found == [16 * 24, 16 * 24, 32 * 24]
    context.begin(inner)
    with pytest.raises(InputError, match="query of the list must not have begun"):
        context.execute_command_list(commands)
    other = device.create_deferred_context()
    other.begin(inner)
    with pytest.raises(InputError, match="query of the list must not have begun"):
        other.execute_command_list(commands)


@pytest.mark.plan("host-22")
@pytest.mark.parametrize("value", [False, True])
def test_a_predicate_of_a_list_decides_in_it(value):
    scene = Scene()
    query = scene.device.create_query(QueryKind.OCCLUSION_PREDICATE)
    deferred = prepared(scene)
    deferred.begin(query)
    draw(scene, deferred, LEFT)
    with pytest.raises(InputError, match="be a predicate that has ended"):
        deferred.set_predication(query)
    deferred.end(query)
    deferred.set_predication(query, value)
    draw(scene, deferred, RIGHT)
    scene.context.execute_command_list(deferred.finish_command_list())
    assert scene.shown()[:, 16:].all() != value
    assert scene.shown()[:, :16].all()


@pytest.mark.plan("host-22")
def test_a_list_that_fails_changes_nothing():
    """Its last draw raises; what came before is undone, and what was bound stays."""
    scene = Scene()
    device, context = scene.device, scene.context

    class Broken(Exception):
        pass

    def fails(_quads, _bound):
        raise Broken

    query = device.create_query(QueryKind.OCCLUSION)
    texture = device.create_texture2d(RGBA8, 4, 4, 3)
    counted = device.create_buffer(64, Bind.UNORDERED_ACCESS, stride=4)
    view = device.create_unordered_access_view(counted, flag=UnorderedFlag.COUNTER)
    deferred = prepared(scene)
    deferred.begin(query)
    deferred.set_resource_min_lod(texture, 1.0)
    deferred.cs.set_unordered_access_views(0, [view], [5])
    draw(scene, deferred, LEFT)
    deferred.end(query)
    deferred.ps.set_shader(device.create_pixel_shader(PixelShader(fails)))
    draw(scene, deferred, RIGHT)
    commands = deferred.finish_command_list()
    draw(scene, context, RIGHT, z=0.75)
    before = bound(context), scene.image(), context.read(scene.depths), dict(vars(query))
    totals = dict(device.machine.totals)
    with pytest.raises(Broken):
        context.execute_command_list(commands)
    assert bound(context) == before[0]
    assert (scene.image() == before[1]).all()
    assert (context.read(scene.depths) == before[2]).all()
    assert dict(vars(query)) == before[3]
    assert texture.min_lod == 0
    assert dict(device.machine.totals) == totals
    place = view.counter_address
    assert not device.memory[place : place + 4].any()


@pytest.mark.plan("host-22")
def test_what_a_list_uses_must_exist_when_it_is_executed():
    scene = Scene()
    device, context = scene.device, scene.context
    texture = device.create_texture2d(RGBA8, 8, 8, bind=READ)
    view = device.create_shader_resource_view(texture)
    deferred = prepared(scene)
    deferred.ps.set_shader_resources(0, [view])
    draw(scene, deferred, LEFT)
    commands = deferred.finish_command_list()
    device.release(texture)
    text = "Context.execute_command_list: .* must not be released"
    with pytest.raises(InputError, match=text):
        context.execute_command_list(commands)
    assert not scene.shown().any()
    with pytest.raises(InputError, match="be of the same device"):
        Device(MEMORY).context.execute_command_list(commands)


@pytest.mark.plan("host-22")
def test_counters_and_streams_are_set_when_a_list_is_executed():
    scene = Scene()
    device, context = scene.device, scene.context
    counted = device.create_buffer(64, Bind.UNORDERED_ACCESS, stride=4)
    view = device.create_unordered_access_view(counted, flag=UnorderedFlag.COUNTER)
    stream = device.create_buffer(64, Bind.STREAM_OUTPUT | Bind.VERTEX_BUFFER)
    target = device.create_buffer(8)

    def count(waves, bound):
        bound.increment(0, waves.mask)

    deferred = device.create_deferred_context()
    deferred.cs.set_shader(device.create_compute_shader(ComputeShader(count, (4, 1, 1))))
    deferred.cs.set_unordered_access_views(0, [view], [5])
    deferred.so.set_targets([stream], [32])
    deferred.dispatch(2)
    deferred.copy_structure_count(target, 0, view)
    commands = deferred.finish_command_list()
    place = view.counter_address, stream.filled_address
    assert not any(device.memory[at] for at in place)
    for _ in range(2):  # 5 each time
        context.execute_command_list(commands)
        assert context.read(target).view("<u4").tolist() == [13, 0]
    assert device.memory[place[1]] == 32


@pytest.mark.plan("host-22")
def test_lists_of_two_contexts_do_not_mix():
    scene = Scene()
    first, second = prepared(scene), prepared(scene)
    scene.shade(lambda quads, _bound: PixelResults(quads.floats(0)))
    draw(scene, first, LEFT, (0, 1, 0, 1))
    draw(scene, second, RIGHT, (0, 0, 1, 1))
    lists = [context.finish_command_list() for context in (second, first)]
    for commands in lists:
        scene.context.execute_command_list(commands)
    assert (scene.image()[:, :16, 0] == (0, 255, 0, 255)).all()
    assert (scene.image()[:, 16:, 0] == (0, 0, 255, 255)).all()
    arguments = scene.device.create_buffer(data=words(1, 2))
    assert scene.context.read(arguments).view("<u4").tolist() == [1, 2]
