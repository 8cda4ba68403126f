# SPDX-License-Identifier: BSD-2-Clause
"""Why a draw left nothing: each cause by itself, and random states against the picture."""

import numpy as np
import pytest

from fixfunc.d3d11 import (
    BlendState,
    Compare,
    Cull,
    DepthStencilState,
    Emitted,
    GeometryShader,
    HullResults,
    HullShader,
    PixelResults,
    PixelShader,
    QueryKind,
    RasterizerState,
    RenderTargetBlend,
    StencilFace,
    StencilOp,
    Topology,
    VertexResults,
    Viewport,
)
from fixfunc.models.machine.statistics.draw_log import MOST
from tests.host.drawing import LAYOUT, LEFT, WHOLE, Scene, corners

NO_COLOURS = BlendState((RenderTargetBlend(write_mask=0),))
NO_DEPTHS = DepthStencilState(depth_write=False)
OFF = DepthStencilState(depth_enable=False)


def drawn(scene, points=LEFT, **how):
    """The draw of triangles, as the device tells of it."""
    scene.draw(points, **how)
    return scene.device.draws[-1]


def left(scene, points=LEFT, **how):
    """The reason of a draw that must leave the colours as they were."""
    before = scene.image()
    found = drawn(scene, points, **how)
    assert (scene.image() == before).all()
    return found.reason


@pytest.mark.plan("reasons-1")
def test_a_draw_that_is_seen_has_no_reason():
    found = drawn(Scene(), WHOLE)
    assert found.reason == ""
    assert str(found) == "draw 0: 1 triangles, samples: 768 in colours, 768 in depths"


@pytest.mark.plan("reasons-2")
@pytest.mark.parametrize(
    ("points", "z", "reason"),
    [
        (LEFT + (5, 0), 0.5, "of 2 primitives 2 lie outside of the view volume"),
        (LEFT, 1.5, "of 2 primitives 2 lie outside of the view volume"),
        (LEFT * np.float32("nan"), 0.5, "of 2 primitives 2 have a position that is no number"),
        (LEFT * 0, 0.5, "of 2 triangles 2 have no area"),
        (LEFT * 0.01, 0.5, "of 2 triangles 2 lie between samples"),
        (LEFT[:2], 0.5, "no primitive is complete"),
    ],
)
def test_places_that_cover_nothing(points, z, reason):
    assert left(Scene(), points, z=z) == reason


@pytest.mark.plan("reasons-2")
def test_causes_of_several_triangles_are_told_apart():
    points = np.concatenate([LEFT + (5, 0), LEFT[:3] * 0, LEFT * 0.01, LEFT[:3] * (-1, 1)])
    scene = Scene()
    scene.context.rs.set_state(RasterizerState(cull=Cull.BACK))
    assert left(scene, points) == (
        "of 6 primitives 2 lie outside of the view volume; of 4 triangles "
        "1 face back, which is culled (clockwise is front), 1 have no area and "
        "2 lie between samples"
    )


@pytest.mark.plan("reasons-3")
@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"cull": Cull.FRONT}, "2 face front, which is culled (clockwise is front)"),
        (
            {"cull": Cull.BACK, "front_counter_clockwise": True},
            "2 face back, which is culled (counter-clockwise is front)",
        ),
        (
            {"cull": Cull.FRONT, "wireframe": True},
            "2 face front, which is culled (clockwise is front)",
        ),
        ({"cull": Cull.NONE, "scissor_enable": True}, "2 lie outside of the scissor"),
    ],
)
def test_states_of_the_rasterizer(state, reason):
    scene = Scene()
    scene.context.rs.set_state(RasterizerState(**state))
    assert left(scene) == f"of 2 triangles {reason}"


@pytest.mark.plan("reasons-2")
def test_points_lines_and_forced_samples():
    scene = Scene()
    context = scene.context
    context.ia.set_primitive_topology(Topology.LINE_LIST)
    assert left(scene, LEFT * 0) == "of 3 primitives none hits a pixel"
    assert left(scene, LEFT + (5, 0)) == "of 3 primitives 3 lie outside of the view volume"
    context.rs.set_state(RasterizerState(scissor_enable=True))
    context.ia.set_primitive_topology(Topology.POINT_LIST)
    assert left(scene, LEFT * 0.5) == "of 12 triangles 12 lie outside of the scissor"
    context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
    context.om.set_render_targets([scene.target])
    context.om.set_depth_stencil_state(OFF)
    context.rs.set_state(RasterizerState(cull=Cull.FRONT, forced_sample_count=4))
    assert left(scene) == "of 2 triangles 2 face front, which is culled (clockwise is front)"
    context.rs.set_state(RasterizerState(cull=Cull.NONE, forced_sample_count=4))
    assert left(scene, LEFT * 0.005) == "of 2 triangles 2 lie between samples"


@pytest.mark.plan("reasons-3")
def test_viewports():
    scene = Scene()
    scene.context.rs.set_viewports([Viewport(100, 0, 32, 24)])
    assert left(scene) == "of 2 triangles 2 lie outside of the target"
    scene.context.rs.set_viewports([Viewport(0, 0, 1, 1)])
    far = np.float32([(1.5, -3), (1.5, 0), (3, -3)])  # within the guard band
    assert left(scene, far * 5) == "of 1 primitives 1 lie outside of the view volume"
    # Its bounds meet the view volume, itself lies in the pixels beyond.
    near = np.float32([(0.9, -40), (40, -40), (40, 0.9)])
    assert left(scene, near) == "of 1 triangles 1 lie outside of the viewport"
    scene.context.rs.set_state(RasterizerState(cull=Cull.NONE, scissor_enable=True))
    assert left(scene, near) == "of 1 triangles 1 lie outside of the viewport"  # and the scissor
    scene.context.rs.set_viewports([])
    assert left(scene) == "no viewport is set, or none with an area"
    scene.context.rs.set_viewports([Viewport(width=0, height=24)])
    assert left(scene) == "no viewport is set, or none with an area"


@pytest.mark.plan("reasons-4")
def test_samples_that_are_left_out():
    scene = Scene()
    scene.draw(WHOLE, z=0.25)
    assert left(scene) == "of 384 samples 384 are rejected by the depth test"
    tests = DepthStencilState(True, stencil_enable=True, front_face=StencilFace(func=Compare.NEVER))
    scene.context.om.set_depth_stencil_state(tests)
    assert left(scene) == "of 384 samples 384 are rejected by the depth or stencil test"
    scene.context.om.set_depth_stencil_state(OFF)
    scene.context.om.set_blend_state(None, sample_mask=0)
    assert left(scene) == "of 384 samples 384 are left out by the sample mask 0x0"
    scene.context.om.set_blend_state(BlendState(alpha_to_coverage_enable=True))
    assert left(scene, colour=(1, 1, 1, 0)) == "of 384 samples 384 are discarded"


@pytest.mark.plan("reasons-4")
@pytest.mark.parametrize("early", [False, True])
def test_discards(early):
    scene = Scene()

    def nothing(quads, _bound):
        return PixelResults(quads.floats(0), np.ones(quads.x.shape, bool))

    scene.shade(nothing, discards=True, early=early)
    assert left(scene) == "of 384 samples 384 are discarded"
    # What an early test lets pass is in depths, whatever the shader discards [fs 16.12.1].
    assert scene.device.draws[-1].counts["samples_in_depths"] == (384 if early else 0)


@pytest.mark.plan("reasons-5")
def test_targets_that_take_nothing():
    scene = Scene()
    om = scene.context.om
    om.set_blend_state(NO_COLOURS)
    assert left(scene) == "of 384 samples 384 pass, but write masks are 0"
    om.set_blend_state(None)
    scene.shade(lambda _quads, _bound: PixelResults([]))
    rule = "the pixel shader puts out no colour of a target that is bound"
    assert left(scene, z=0.4) == f"of 384 samples 384 pass, but {rule}"
    scene.context.ps.set_shader(None)
    assert left(scene, z=0.3) == "of 384 samples 384 pass, but no pixel shader is set"
    om.set_depth_stencil_state(OFF)
    rule = "no pixel shader is set, and no test of depths or stencil values is on"
    assert left(scene) == rule
    om.set_render_targets([])
    scene = Scene()
    scene.context.om.set_render_targets([])
    assert left(scene) == "of 384 samples 384 pass, but no target is bound"


@pytest.mark.plan("reasons-5")
def test_depths_alone():
    scene = Scene()
    scene.context.om.set_render_targets([], scene.depth)
    scene.context.ps.set_shader(None)
    assert drawn(scene).reason == ""
    scene.context.om.set_depth_stencil_state(NO_DEPTHS)
    rule = "neither depths nor stencil values are written"
    assert drawn(scene, z=0.1).reason == f"of 384 samples 384 pass, but {rule}"
    up = StencilFace(pass_=StencilOp.INCR)
    state = DepthStencilState(depth_write=False, stencil_enable=True, front_face=up, back_face=up)
    scene.context.om.set_depth_stencil_state(state)
    assert drawn(scene, z=0.1).reason == ""


@pytest.mark.plan("reasons-6")
def test_stages_that_make_nothing():
    scene = Scene()
    context = scene.context

    def nothing(_inputs, _bound):
        return Emitted(np.zeros(0, np.intp), np.zeros((0, 4), np.float32))

    shader = GeometryShader(nothing, Topology.TRIANGLE_STRIP, 3)
    context.gs.set_shader(scene.device.create_geometry_shader(shader))
    assert left(scene) == "the geometry shader made no primitive in 2 invocations"
    context.gs.set_shader(scene.device.create_geometry_shader(GeometryShader(rasterized=None)))
    assert left(scene) == "no stream is rasterized"
    context.gs.set_shader(None)

    def culled(patches, _bound):
        factors = np.zeros((len(patches.position), 4), np.float32)
        return HullResults(factors, factors[:, :2], patches.position)

    def domain(waves, _bound):
        return VertexResults(np.zeros((*waves.mask.shape, 4), np.float32))

    context.hs.set_shader(scene.device.create_hull_shader(HullShader(culled)))
    context.ds.set_shader(scene.device.create_domain_shader(domain))
    context.ia.set_primitive_topology(Topology.PATCH_3)
    assert left(scene) == "the tessellator made no primitive of 2 patches"


def bind_whole(deferred, scene):
    """What a scene has bound, to draw all of its target."""
    deferred.om.set_render_targets([scene.target])
    deferred.rs.set_viewports([Viewport(width=32, height=24)])
    deferred.rs.set_state(RasterizerState(cull=Cull.NONE))
    deferred.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
    deferred.ia.set_input_layout(scene.device.create_input_layout(LAYOUT))
    deferred.ia.set_vertex_buffers(0, [scene.device.create_buffer(data=corners(WHOLE))], [32])
    deferred.vs.set_shader(scene.context.vs.shader)
    deferred.ps.set_shader(scene.context.ps.shader)


@pytest.mark.plan("reasons-7")
def test_predicates_failures_and_lists():
    """A draw that is left out is noted; one that fails, or whose list fails, is not."""
    scene = Scene()
    context = scene.context
    query = scene.device.create_query(QueryKind.OCCLUSION_PREDICATE)
    context.begin(query)
    context.end(query)
    context.set_predication(query, False)
    assert left(scene) == "a predicate left it out"
    context.set_predication(None)
    assert drawn(scene).reason == ""
    assert [it.number for it in scene.device.draws] == [0, 1]

    def fails(_quads, _bound):
        raise RuntimeError

    deferred = scene.device.create_deferred_context()
    bind_whole(deferred, scene)
    deferred.draw(3)
    failing = scene.device.create_pixel_shader(PixelShader(fails))
    deferred.ps.set_shader(failing)
    deferred.draw(3)
    with pytest.raises(RuntimeError):
        context.execute_command_list(deferred.finish_command_list(), restore_state=True)
    assert [it.number for it in scene.device.draws] == [0, 1]
    bind_whole(deferred, scene)
    deferred.draw(3)
    commands = deferred.finish_command_list()
    context.execute_command_list(commands, restore_state=True)
    assert scene.device.draws[-1].counts["samples_coloured"] == 768
    scene.shade(fails)
    with pytest.raises(RuntimeError):
        scene.draw(WHOLE, z=0.1)
    assert [it.number for it in scene.device.draws] == [0, 1, 2]


@pytest.mark.plan("reasons-7")
def test_the_latest_draws_are_kept():
    scene = Scene()
    scene.bind(corners(WHOLE))
    for _ in range(3):
        scene.context.draw(0)
    scene.device.machine.draws.latest.extend([scene.device.draws[-1]] * MOST)
    scene.context.draw(0)
    assert len(scene.device.draws) == MOST
    assert scene.device.draws[-1].number == 3


def random_state(rng, scene):
    """States of which about half leave a sample."""
    context = scene.context
    context.rs.set_state(RasterizerState(cull=Cull(int(rng.choice(Cull))), scissor_enable=True))
    x, y = (int(value) for value in rng.integers(0, (32, 24)))
    context.rs.set_scissor_rects([(x, y, x + int(rng.integers(0, 30)), y + 12)])
    compare = Compare(int(rng.choice(Compare)))
    tests = DepthStencilState(bool(rng.integers(2)), bool(rng.integers(2)), compare)
    context.om.set_depth_stencil_state(tests)
    mask = int(rng.integers(0, 16))
    blend = BlendState((RenderTargetBlend(write_mask=15 * int(rng.random() < 0.9)),))
    context.om.set_blend_state(blend, sample_mask=mask)
    share = rng.random()

    def pixel(quads, _bound):
        return PixelResults(quads.floats(0), quads.x % 7 < share * 9 - 2)

    scene.shade(pixel, discards=True)


@pytest.mark.plan("reasons-8")
@pytest.mark.parametrize("samples", [1, 4])
def test_a_reason_is_given_if_and_only_if_the_picture_stays(samples):
    rng = np.random.default_rng(samples)
    scene = Scene(samples=samples)
    seen = set()
    for n in range(150):
        random_state(rng, scene)
        before = scene.image()
        count = int(rng.integers(1, 3))
        points = rng.uniform(-1.2, 1.2, (3 * count, 2)) * rng.choice([0.01, 0.3, 1])
        query = scene.device.create_query(QueryKind.OCCLUSION)
        scene.context.begin(query)
        colour = np.float32([n % 16 + 1, n // 16 + 1, 0, 255]) / 255  # of no other draw
        found = drawn(scene, points, colour=colour, z=rng.uniform(0, 1))
        scene.context.end(query)
        counts = found.counts
        assert (found.reason == "") == bool((scene.image() != before).any())
        assert counts["samples_written"] == scene.context.get_data(query)
        lost = ("masked", "rejected", "discarded", "written")
        assert counts["samples_covered"] == sum(counts[f"samples_{name}"] for name in lost)
        assert all(count >= 0 for count in counts.values())
        seen.add(bool(found.reason))
    assert seen == {False, True}
