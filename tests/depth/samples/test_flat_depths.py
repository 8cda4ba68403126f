# SPDX-License-Identifier: BSD-2-Clause
"""One depth is one number: of a clear, of a flat triangle, of a shader [fs 17.10, 17.11]."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from fixfunc.models.depth.depth_test import new_depths
from fixfunc.models.formats import encode
from fixfunc.models.geometry.triangle_setup import TRIANGLE, setup
from fixfunc.models.geometry.viewport import fixed_depth
from fixfunc.models.host.states import DepthStencilState
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Compare, DepthFormat
from tests.host.drawing import WHOLE, Scene

STEPS = {DepthFormat.D16: (1 << 16) - 1, DepthFormat.D24: (1 << 24) - 1}
FORMATS = {
    DepthFormat.D16: Format.D16_UNORM,
    DepthFormat.D24: Format.D24_UNORM_S8_UINT,
    DepthFormat.D32F: Format.D32_FLOAT,
}


def depths(form, count):
    """Depths of every size, halves of steps, what is next to them, and the ends."""
    rng = np.random.default_rng(int(form))
    steps = STEPS.get(form, 1 << 24)
    halves = ((rng.integers(0, steps, count // 4) + 0.5) / steps).astype(np.float32)
    beside = [np.nextafter(halves, np.float32(end)) for end in (0, 1)]
    small = np.exp2(rng.uniform(-40, 0, count // 4)).astype(np.float32)
    near = np.float32(0.5) + np.arange(4096, dtype=np.float32) / 65536  # about D16's middle
    ends = np.float32([0, 0.5, 1, np.nextafter(np.float32(1), np.float32(0))])
    even = rng.random(count // 4).astype(np.float32)
    return np.concatenate([halves, *beside, small, near, ends, even])


def flat(form, z):
    """What is stored of flat triangles, one a tile."""
    state = draw_state(8, 8, depth_format=form)
    triangles = np.zeros(len(z), TRIANGLE)
    for k, (x, y) in enumerate(((0, 0), (4096, 0), (0, 4096))):
        triangles[f"x{k}"], triangles[f"y{k}"] = x, y
        triangles[f"z{k}"] = z
    tiles, owner = rasterize(setup(triangles, state).records)
    assert np.array_equal(owner, np.arange(len(z)))
    found = new_depths(tiles, state)
    assert (found == found[:, :1, :1]).all()
    return found[:, 0, 0]


@pytest.mark.plan("depth-test-22")
@pytest.mark.parametrize("form", STEPS, ids=lambda form: form.name)
def test_a_flat_triangle_has_the_depth_that_it_says(form):
    z = depths(form, 40000)
    found = flat(form, fixed_depth(z, form=form))
    wanted = [floor(Fraction(float(v)) * STEPS[form] + Fraction(1, 2)) for v in z]
    assert found.tolist() == wanted
    assert encode(z, form).tolist() == wanted


@pytest.mark.plan("depth-test-22")
def test_a_flat_triangle_of_floats_has_its_own():
    z = depths(DepthFormat.D32F, 40000)
    assert (flat(DepthFormat.D32F, z.view(np.uint32)) == z.view(np.uint32)).all()


@pytest.mark.plan("depth-test-22")
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@pytest.mark.parametrize("value", [0.5, 1 / 3, 0.75, 1e-3, 0.50390625])
@pytest.mark.parametrize("origin", ["clear", "triangle", "shader"])
def test_what_is_equal_passes_equal(form, value, origin):
    """A triangle, and a shader that puts the depth out, meet what each of the three has stored."""
    for other in ("triangle", "shader"):
        scene = Scene(depth=FORMATS[form])
        context = scene.context
        always = DepthStencilState(depth_func=Compare.ALWAYS)

        def draw(by_shader, state, scene=scene):
            declared = {"depth": "any"} if by_shader else {}
            scene.shade(lambda quads, _bound: results(quads, by_shader), **declared)
            scene.context.om.set_depth_stencil_state(state)
            scene.draw(WHOLE, z=0.1 if by_shader else value)

        def results(quads, by_shader):
            colour = np.ones((*quads.x.shape, 4), np.float32)
            return PixelResults(
                colour, depth=np.full_like(colour[..., 0], value) if by_shader else None
            )

        if origin == "clear":
            context.clear_depth_stencil_view(scene.depth, value)
        else:
            draw(origin == "shader", always)
        context.clear_render_target_view(scene.target, (0, 0, 0, 0))
        draw(other == "shader", DepthStencilState(depth_func=Compare.EQUAL))
        assert scene.shown().all()
