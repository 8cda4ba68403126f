# SPDX-License-Identifier: BSD-2-Clause
"""What is carried of OpenGL's state: the golden machine draws Mesa's pictures, bit for bit.

Each state matters: where it is taken out of the record, another picture is drawn.
"""

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from tests.cosim.record.program import Program, check, drawn, noise, recorded

SEVERAL = 30  # triangles
COLOURS = [(1, 0, 0, 0.3), (0, 1, 0, 0.8), (0.2, 0.4, 1, 0.5), (1, 1, 0, 0.1), (0.5, 0, 0.5, 1)]


def scene(gl, seed=1, alpha=None):
    """Triangles of all colours, in one draw."""
    gl.glBegin(T.TRIANGLES)
    for n, corner in enumerate(noise(SEVERAL, seed)):
        red, green, blue, own = COLOURS[n // 3 % len(COLOURS)]
        gl.glColor4f(red, green, blue, own if alpha is None else alpha)
        gl.glVertex3f(*map(float, corner))
    gl.glEnd()


def cleared(gl, colour=(0.1, 0.2, 0.3, 0.4)):
    """The window, all of it."""
    gl.glClearColor(*colour)
    gl.glClearDepth(1.0)
    gl.glClearStencil(2)
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT)


def depth_test(gl):
    gl.glEnable(T.DEPTH_TEST)
    gl.glDepthFunc(T.LEQUAL)
    scene(gl)


def depths_kept(gl):
    gl.glEnable(T.DEPTH_TEST)
    gl.glDepthMask(0)
    scene(gl)


def greater(gl):
    gl.glClearDepth(0.0)
    gl.glClear(T.DEPTH_BUFFER_BIT)
    gl.glEnable(T.DEPTH_TEST)
    gl.glDepthFunc(T.GREATER)
    scene(gl)


def depth_range(gl):
    gl.glEnable(T.DEPTH_TEST)
    scene(gl)
    gl.glDepthRange(0.25, 0.5)
    scene(gl, 2)


def viewport_and_scissor(gl):
    gl.glViewport(5, 7, 40, 30)
    gl.glEnable(T.SCISSOR_TEST)
    gl.glScissor(10, 9, 30, 33)
    scene(gl)


def cull_back(gl):
    gl.glEnable(T.CULL_FACE)
    scene(gl)


def cull_front_of_clockwise(gl):
    gl.glEnable(T.CULL_FACE)
    gl.glCullFace(T.FRONT)
    gl.glFrontFace(T.CW)
    scene(gl)


def cull_front(gl):
    gl.glEnable(T.CULL_FACE)
    gl.glCullFace(T.FRONT)
    scene(gl)


def cull_both(gl):
    scene(gl)
    gl.glEnable(T.CULL_FACE)
    gl.glCullFace(T.FRONT_AND_BACK)
    scene(gl, 2)


def offset(gl):
    gl.glEnable(T.DEPTH_TEST)
    scene(gl)
    gl.glDepthFunc(T.LESS)
    gl.glEnable(T.POLYGON_OFFSET_FILL)
    gl.glPolygonOffset(-1.0, -8.0)
    scene(gl, alpha=1)


def clamped(gl):
    gl.glEnable(T.DEPTH_CLAMP)
    gl.glEnable(T.DEPTH_TEST)
    for z in (-1.5, 0, 1.5):
        gl.triangle([(-0.9, -0.5, z), (0.8, -0.5, z), (0, 0.9 - z / 4, 0.5)], COLOURS[1])


def near_and_far(gl):
    gl.glEnable(T.DEPTH_TEST)
    gl.triangle([(-0.9, -0.5, -1.5), (0.8, -0.5, 0.2), (0, 0.9, 1.6)], COLOURS[0])


def zero_to_one(gl):
    gl.glClipControl(T.LOWER_LEFT, T.ZERO_TO_ONE)
    gl.glEnable(T.DEPTH_TEST)
    scene(gl)


def blended(gl):
    gl.glEnable(T.BLEND)
    gl.glBlendFunc(T.SRC_ALPHA, T.ONE_MINUS_SRC_ALPHA)
    scene(gl)


def blended_apart(gl):
    gl.glEnable(T.BLEND)
    gl.glBlendFuncSeparate(T.ONE, T.ONE, T.DST_COLOR, T.ZERO)
    gl.glBlendEquationSeparate(T.FUNC_REVERSE_SUBTRACT, T.MAX)
    scene(gl)


def blended_by_constants(gl):
    gl.glEnable(T.BLEND)
    gl.glBlendColor(0.25, 0.5, 0.75, 0.6)
    gl.glBlendFunc(T.CONSTANT_COLOR, T.ONE_MINUS_CONSTANT_COLOR)
    scene(gl)
    gl.glBlendFunc(T.CONSTANT_ALPHA, T.ONE_MINUS_CONSTANT_ALPHA)
    scene(gl, 2)


def masked(gl):
    gl.glColorMask(1, 0, 1, 0)
    scene(gl)


def alpha_tested(gl):
    gl.glEnable(T.ALPHA_TEST)
    gl.glEnable(T.DEPTH_TEST)
    gl.glAlphaFunc(T.GREATER, 0.3)
    scene(gl)
    for n, function in enumerate((T.LESS, T.EQUAL, T.LEQUAL, T.NOTEQUAL, T.GEQUAL, T.NEVER)):
        gl.glAlphaFunc(function, 0.5)
        scene(gl, 2 + n)


def stencil(gl):
    gl.glEnable(T.STENCIL_TEST)
    gl.glStencilFunc(T.ALWAYS, 5, 0x7F)
    gl.glStencilOp(T.KEEP, T.KEEP, T.INCR)
    scene(gl)
    gl.glStencilFunc(T.LESS, 3, 0xFF)
    gl.glStencilOp(T.INVERT, T.KEEP, T.REPLACE)
    gl.glStencilMask(0x1F)
    scene(gl, 2)


def stencil_by_face(gl):
    gl.glEnable(T.STENCIL_TEST)
    gl.glEnable(T.DEPTH_TEST)
    gl.glStencilOpSeparate(T.FRONT, T.KEEP, T.DECR_WRAP, T.INCR_WRAP)
    gl.glStencilOpSeparate(T.BACK, T.KEEP, T.ZERO, T.DECR)
    gl.glStencilFunc(T.NOTEQUAL, 1, 0xFF)
    scene(gl)
    scene(gl, 2)


def without_a_test(gl):
    """Depths are neither tested nor written."""
    scene(gl)


# A program, and what must not be left out of the record: field, and another value.
STATES = {
    depth_test: ("depth_func", 7),
    depths_kept: ("depth_write", True),
    greater: ("depth_func", 1),
    depth_range: ("viewport", (0, 0, 64, 48, 0, 1)),
    viewport_and_scissor: ("scissor", (0, 0, 64, 48)),
    cull_back: ("cull", 0),
    cull_front_of_clockwise: ("front_counter_clockwise", False),
    cull_front: ("cull", 2),
    cull_both: None,
    offset: ("depth_bias", 0),
    clamped: ("depth_clip", True),
    near_and_far: ("zero_to_one", True),
    zero_to_one: ("zero_to_one", False),
    blended: ("blend_enable", False),
    blended_apart: ("blend", (2, 2, 1, 2, 2, 1)),
    blended_by_constants: ("blend_factor", (1, 1, 1, 1)),
    masked: ("write_mask", 15),
    alpha_tested: ("alpha_func", 7),
    stencil: ("stencil_write_mask", 255),
    stencil_by_face: ("back_face", (0, 7, 6, 5)),
    without_a_test: None,
}


def frame_of(state):
    gl = Program()
    gl.swap()
    cleared(gl)
    state(gl)
    return recorded(gl)


@pytest.mark.plan("record-2")
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_a_state_is_carried(state):
    frame = frame_of(state)
    assert not frame.refused and len(frame.draws) >= 1 and len(frame.fragments) > 100
    made = drawn(frame)
    assert made.differing == 0 and made.passed == made.wanted
    check(made, frame)


@pytest.mark.plan("record-2")
@pytest.mark.parametrize(
    "state", [it for it, other in STATES.items() if other], ids=lambda state: state.__name__
)
def test_a_state_matters(state):
    name, value = STATES[state]
    frame = frame_of(state)
    before = drawn(frame)
    for draw in frame.draws:
        draw[name] = value
    after = drawn(frame)
    assert after.differing or any(
        not np.array_equal(one.found, other.found)
        for one, other in zip(before.surfaces, after.surfaces, strict=True)
    )
