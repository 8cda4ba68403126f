# SPDX-License-Identifier: BSD-2-Clause
"""Coverage, alpha, layers and read-only planes in whole draws: what reaches the pixel stage."""

import numpy as np
import pytest

from fixfunc.models.geometry.geometry_stage import Emitted
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.states import BlendState, DepthStencilState, StencilFace
from fixfunc.models.machine.shaders import GeometryShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.raster.edge_evaluator import SAMPLE_POSITIONS
from fixfunc.spec.state import StencilOp
from tests.host.drawing import LEFT, RED, WHOLE, Scene

TILTED = np.array([(-0.9, -0.8), (0.1, 0.95), (0.85, -0.4)], np.float32)


def counted(scene, *drawn, **how):
    """Draw, and count the samples that passed."""
    query = scene.device.create_query(QueryKind.OCCLUSION)
    scene.context.begin(query)
    scene.draw(*drawn, **how)
    scene.context.end(query)
    return scene.context.get_data(query)


@pytest.mark.plan("pixel-stage-7")
def test_coverage_is_not_that_of_an_early_test():
    """[fs 16.3.2]: of the triangle and the sample mask, whatever was hidden."""
    scene = Scene(samples=4)
    scene.context.om.set_blend_state(None, sample_mask=0b0011)
    scene.draw(WHOLE, z=0.25)  # samples 2 and 3 are still far
    scene.context.om.set_blend_state(None, sample_mask=0b0110)
    seen = []

    def keep(quads, _bound):
        seen.append((quads.coverage[quads.live], quads.covered[quads.live]))
        return PixelResults(quads.floats(0))

    scene.shade(keep)
    scene.draw(WHOLE, z=0.5)
    ((coverage, covered),) = seen
    assert (coverage == 0b0110).all() and (covered == [False, False, True, False]).all()


@pytest.mark.plan("pixel-stage-5")
def test_helpers_have_the_first_sample_of_the_mask():
    scene = Scene(samples=4)
    scene.context.om.set_blend_state(None, sample_mask=0b1100)
    seen = []

    def keep(quads, _bound):
        at = np.stack([quads.x, quads.y], -1) + np.float32(0.5)
        seen.append((quads.position[..., :2] - at)[~quads.live])
        return PixelResults(quads.floats(0))

    scene.shade(keep, position="centroid")
    scene.draw(TILTED)
    offsets = np.concatenate(seen)
    assert len(offsets) > 5
    assert (offsets * 16 == SAMPLE_POSITIONS[2][2]).all()


@pytest.mark.plan("pixel-stage-10")
@pytest.mark.parametrize("by_sample", [False, True])
@pytest.mark.parametrize("early", [False, True])
def test_alpha_counts_only_behind_tests_that_come_first(early, by_sample):
    """[fs 16.12.1, 17.18]: then depths are written and counted, and colours are not."""
    scene = Scene(samples=4)
    scene.context.om.set_blend_state(BlendState(alpha_to_coverage_enable=True))
    scene.shade(
        lambda quads, _bound: PixelResults(quads.floats(0)), early=early, sample_index=by_sample
    )
    passed = counted(scene, LEFT, (1, 1, 1, 0.5))
    assert passed == 16 * 24 * (4 if early else 2)
    assert (scene.image().any(3)[:, :16] == [True, True, False, False]).all()
    far = scene.context.read(scene.depths)[:, :16, :, 2] == 255
    assert (far == ([False] * 4 if early else [False, False, True, True])).all()


@pytest.mark.plan("pixel-stage-10")
def test_alpha_does_not_count_where_coverage_is_put_out():
    """[fs 16.9.4]."""
    scene = Scene(samples=4)
    scene.context.om.set_blend_state(BlendState(alpha_to_coverage_enable=True))

    def all_of_them(quads, _bound):
        return PixelResults(quads.floats(0), coverage=np.full(quads.x.shape, 0b1110, np.uint32))

    scene.shade(all_of_them, coverage=True)
    assert counted(scene, LEFT, (1, 1, 1, 0.25)) == 16 * 24 * 3
    assert (scene.image().any(3)[:, :16] == [False, True, True, True]).all()


def spread(number):
    """A geometry shader that gives primitives a layer and a viewport by their numbers."""

    def function(inputs, _bound):
        return Emitted(
            np.repeat(np.arange(len(inputs.primitive)), 3),
            inputs.position.reshape(-1, 4),
            inputs.attributes.reshape(-1, 1, 4),
            **{name: np.repeat(value(inputs.primitive), 3) for name, value in number.items()},
        )

    return GeometryShader(function, most=3)


@pytest.mark.plan("host-2")
def test_layers_that_there_are_not_are_the_first():
    """[fs 15.15]."""
    scene = Scene(layers=3)
    program = spread({"layer": lambda number: number + np.uint32(4)})
    scene.context.gs.set_shader(scene.device.create_geometry_shader(program))
    scene.draw(WHOLE, RED)
    assert [bool(scene.image(n).any()) for n in range(3)] == [True, False, False]


@pytest.mark.plan("host-2")
def test_each_viewport_has_its_range_of_depths():
    scene = Scene()
    ports = [Viewport(width=32, height=24, max_depth=0.25)]
    ports += [Viewport(width=32, height=24, min_depth=0.5, max_depth=0.75)]
    scene.context.rs.set_viewports(ports)
    program = spread({"viewport": lambda number: number + np.uint32(1)})
    scene.context.gs.set_shader(scene.device.create_geometry_shader(program))

    def far(quads, _bound):
        return PixelResults(quads.floats(0), depth=np.full(quads.x.shape, 0.9, np.float32))

    scene.shade(far, depth="any")
    scene.draw(WHOLE)
    assert (scene.context.read(scene.depths)[..., 2] == 191).all()  # 0.75


@pytest.mark.plan("host-2")
@pytest.mark.parametrize("kept", [False, True])
def test_stencil_values_of_a_view_that_keeps_them_stay(kept):
    """[fs 17.13]."""
    scene = Scene()
    context = scene.context
    view = scene.device.create_depth_stencil_view(scene.depths, read_only_stencil=kept)
    context.om.set_render_targets([scene.target], view)
    face = StencilFace(pass_=StencilOp.REPLACE)
    state = DepthStencilState(stencil_enable=True, front_face=face, back_face=face)
    context.om.set_depth_stencil_state(state, 9)
    scene.draw(LEFT)
    stored = context.read(scene.depths)[:, :16, 0]
    assert (stored[..., 3] == (0 if kept else 9)).all() and (stored[..., 2] == 128).all()
