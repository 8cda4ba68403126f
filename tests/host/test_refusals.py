# SPDX-License-Identifier: BSD-2-Clause
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.calls import CallError
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from tests.host.drawing import (
    WHOLE,
    Scene,
    corners,
)

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


@pytest.mark.plan("host-5")
@pytest.mark.parametrize(
    ("results", "text"),
    [
        (None, "results of a shader must be PixelResults, not NoneType"),
        (PixelResults(None), "colour must be an array, not NoneType"),
        (PixelResults([[0, 0, 0, 1]]), "colour must be an array, not list"),
    ],
)
def test_results_of_another_class_are_refused(results, text):
    scene = Scene()
    scene.shade(lambda _quads, _bound: results)
    with pytest.raises(InputError, match=text):
        scene.draw(WHOLE)
    scene.context.vs.set_shader(scene.device.create_vertex_shader(lambda _waves, _bound: None))
    with pytest.raises(InputError, match="results of a shader must be VertexResults"):
        scene.draw(WHOLE)


@pytest.mark.plan("host-5")
def test_a_target_of_another_kind_leaves_all_targets_alone():
    scene = Scene()
    device = scene.device
    whole = device.create_texture2d(Format.R32_UINT, 32, 24, bind=Bind.RENDER_TARGET)
    view = device.create_render_target_view(whole)
    scene.context.om.set_render_targets([scene.target, view])
    scene.shade(lambda quads, _bound: PixelResults([quads.floats(0), quads.floats(0)]))
    with pytest.raises(InputError, match="colours of a shader must be of the kind of R32_UINT"):
        scene.draw(WHOLE)
    assert not scene.shown().any()


@pytest.mark.plan("host-5")
def test_a_shader_that_raises_is_not_asked_again():
    scene = Scene()

    def fails(_quads, _bound):
        raise ZeroDivisionError

    scene.shade(fails)
    with pytest.raises(ZeroDivisionError):
        scene.draw(WHOLE)
    scene.context.clear_depth_stencil_view(scene.depth, 1.0)
    scene.shade(lambda quads, _bound: PixelResults(quads.floats(0)))
    scene.draw(WHOLE)
    assert scene.shown().all()


@pytest.mark.plan("host-5")
def test_an_error_names_the_call():
    scene = Scene()
    with pytest.raises(CallError) as found:
        scene.context.draw_indexed(3)
    error = found.value
    assert (error.call, error.field, error.value) == ("Context.draw_indexed", "index buffer", None)
    assert str(error) == (
        "Context.draw_indexed: index buffer must be set for a draw by indices, not None"
    )
    with pytest.raises(CallError, match=r"^Device.create_buffer: size must lie in"):
        scene.device.create_buffer(0)
    with pytest.raises(CallError, match=r"^OutputMerger.set_depth_stencil_state: stencil"):
        scene.context.om.set_depth_stencil_state(None, 256)
    with pytest.raises(CallError, match=r"^Device: memory must lie in"):
        Device(5)
