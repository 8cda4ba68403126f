# SPDX-License-Identifier: BSD-2-Clause
"""Depth clip off: corners in front of the near plane and behind the far one, sample by sample.

Depths are held to exact rationals. Source: [fs 15.10, 17.10-11].
"""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.states import DepthStencilState, RasterizerState
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Compare, Cull
from tests.host.drawing import WHOLE, Scene
from tests.oracles.naive import POSITIONS

SIZE = 16  # pixels
STEPS = {Format.D16_UNORM: (1 << 16) - 1, Format.D24_UNORM_S8_UINT: (1 << 24) - 1}
# Of a step, as the specification lets interpolation and rounding err; of floats of 1.0.
ERROR = {
    Format.D16_UNORM: Fraction(51, 100),
    Format.D24_UNORM_S8_UINT: Fraction(6, 10),
    Format.D32_FLOAT: Fraction(1, 1 << 22),
}
WORDS = {Format.D16_UNORM: "<u2", Format.D24_UNORM_S8_UINT: "<u4", Format.D32_FLOAT: "<f4"}


def drawn(form, samples, z, depth_range=(0.0, 1.0), bias=0, func=Compare.ALWAYS):
    """Depths of a triangle over all of a target: rationals, indexed [y, x, sample]."""
    scene = Scene(SIZE, SIZE, samples, form)
    context = scene.context
    context.clear_depth_stencil_view(scene.depth, 0.125)
    context.rs.set_viewports([Viewport(0, 0, SIZE, SIZE, *depth_range)])
    context.rs.set_state(RasterizerState(cull=Cull.NONE, depth_clip_enable=False, depth_bias=bias))
    state = DepthStencilState(depth_func=func)
    context.om.set_depth_stencil_state(state)
    scene.draw(WHOLE, z=z)
    raw = np.ascontiguousarray(context.read(scene.depths)).view(WORDS[form])[..., 0]
    if form == Format.D24_UNORM_S8_UINT:
        raw = raw & STEPS[form]
    return raw, scene


def exact(z, samples, depth_range=(0, 1), bias=0):
    """The same by [fs 17.10]: interpolated, then cut to the viewport's range."""
    near, far = (Fraction(v) for v in depth_range)
    a, b, c = (near + Fraction(float(v)) * (far - near) for v in z)
    out = np.zeros((SIZE, SIZE, samples), object)
    for y, x, s in np.ndindex(out.shape):
        dx, dy = POSITIONS[samples][s]
        at_x = Fraction(16 * x + 8 + dx, 8 * SIZE) - 1
        at_y = 1 - Fraction(16 * y + 8 + dy, 8 * SIZE)
        # WHOLE: (-1, 3), (3, -1), (-1, -1).
        up, right = (at_y + 1) / 4, (at_x + 1) / 4
        value = a * up + b * right + c * (1 - up - right) + bias
        out[y, x, s] = min(max(value, near), far)
    return out


CORNERS = {
    "front": (-1, 1, 1),
    "both": (-1, 2, 0.5),
    "far": (64, -63, 0.25),
    "edge": (-64, 65, 65),
    "behind": (1.5, 40, 3),
}


@pytest.mark.plan("viewport-5")
@pytest.mark.parametrize("samples", [1, 4, 8])
@pytest.mark.parametrize("form", ERROR, ids=lambda form: form.name)
def test_samples_are_cut_and_not_corners(form, samples):
    steps = STEPS.get(form, 1)
    inside = 0
    for z in CORNERS.values():
        for depth_range in ((0.0, 1.0), (0.25, 0.75)):
            for bias in (0, -3000):
                if bias and form == Format.D32_FLOAT:
                    continue  # its step is that of the greatest depth
                found, _ = drawn(form, samples, z, depth_range, bias)
                wanted = exact(z, samples, depth_range, Fraction(bias, steps))
                inside += sum(depth_range[0] < v < depth_range[1] for v in wanted.ravel())
                for got, value in zip(found.ravel(), wanted.ravel(), strict=True):
                    error = abs(Fraction(got.item()) - value * steps)
                    assert error <= ERROR[form], (z, depth_range, bias)
    assert inside > 100


@pytest.mark.plan("viewport-5")
@pytest.mark.parametrize("form", ERROR, ids=lambda form: form.name)
def test_a_floor_in_front_of_the_eye_casts_its_shadow(form):
    """What lies before the near plane has its depth: it passes where the plane would."""
    found, scene = drawn(form, 1, (-2, -2, -2), func=Compare.LESS)
    assert not found.any() and scene.shown().all()
    found, scene = drawn(form, 1, (2, 2, 2), func=Compare.LESS)
    assert found.all() and not scene.shown().any()
    found, scene = drawn(form, 1, (2, 2, 2), func=Compare.GREATER_EQUAL)
    assert (found == STEPS.get(form, 1)).all() and scene.shown().all()


@pytest.mark.plan("viewport-5")
def test_a_bias_moves_depths_before_the_range_cuts_them():
    """A corner's depth is not cut first: biased back, what was beyond the range lies within it."""
    form = Format.D24_UNORM_S8_UINT
    steps = STEPS[form]
    found, _ = drawn(form, 1, (3, 3, 3), bias=-5 * steps // 2)
    assert (abs(found.astype(np.int64) - steps // 2) <= 1).all()
    found, _ = drawn(form, 1, (-3, -3, -3), bias=7 * steps // 2)
    assert (abs(found.astype(np.int64) - steps // 2) <= 1).all()


@pytest.mark.plan("viewport-5")
def test_corners_end_at_127():
    """Beyond, corners count as those: the plane is another one, and no depth wraps around."""
    form = Format.D24_UNORM_S8_UINT
    far, _ = drawn(form, 1, (1e30, 1e30, 1e30))
    near, _ = drawn(form, 1, (-1e30, -1e30, -1e30))
    assert (far == STEPS[form]).all() and not near.any()
    assert np.array_equal(drawn(form, 1, (1e9, -4, 0))[0], drawn(form, 1, (127, -4, 0))[0])
