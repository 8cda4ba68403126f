# SPDX-License-Identifier: BSD-2-Clause
"""What cannot be carried is refused by name, draw by draw; what is drawn behind it is right."""

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded.frame import Event
from tests.cosim.record.program import CONTEXT, Program, check, drawn, recorded
from tests.cosim.record.test_shaders import TINT, program

CORNERS = [(-0.8, -0.8, 0), (0.8, -0.7, 0.2), (0.1, 0.9, 0.4)]
GEOMETRY = """#version 150
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
out vec4 tint;
void main() {
    for (int n = 0; n < 3; n++) {
        gl_Position = gl_in[n].gl_Position;
        tint = vec4(1.0);
        EmitVertex();
    }
}
"""


def enabled(name, *calls):
    def change(gl):
        for call, *arguments in calls:
            getattr(gl, call)(*arguments)
        gl.glEnable(getattr(T, name))
        gl.triangle(CORNERS)
        gl.glDisable(getattr(T, name))

    return change


def of_mode(name, width=1.0):
    def change(gl):
        gl.glLineWidth(width)
        gl.triangle(CORNERS, mode=getattr(T, name))

    return change


def wireframe(gl):
    gl.glPolygonMode(T.FRONT_AND_BACK, T.LINE)
    gl.triangle(CORNERS)
    gl.glPolygonMode(T.FRONT_AND_BACK, T.FILL)


def accumulated(gl):
    gl.glAccum(T.LOAD, 0.5)


def bitmap(gl):
    gl.glRasterPos2f(0.0, 0.0)
    gl.glBitmap(8, 8, 0.0, 0.0, 0.0, 0.0, bytes(range(50, 58)))


def stencil_faces(gl):
    gl.glEnable(T.STENCIL_TEST)
    gl.glStencilMaskSeparate(T.BACK, 3)
    gl.triangle(CORNERS)
    gl.glDisable(T.STENCIL_TEST)


def two_constants(gl):
    gl.glEnable(T.BLEND)
    gl.glBlendFunc(T.CONSTANT_COLOR, T.CONSTANT_ALPHA)
    gl.triangle(CORNERS)
    gl.glDisable(T.BLEND)


def offset(gl):
    gl.glEnable(T.POLYGON_OFFSET_FILL)
    gl.glPolygonOffset(0.0, 0.5)
    gl.triangle(CORNERS)
    gl.glDisable(T.POLYGON_OFFSET_FILL)


def reverse(gl):
    gl.glDepthRange(1.0, 0.0)
    gl.triangle(CORNERS)
    gl.glDepthRange(0.0, 1.0)


def several(gl):
    for name in (9, 10):
        gl.texture(name, T.RGBA8)
    gl.framebuffer(4, 9)
    gl.glFramebufferTexture2D(T.FRAMEBUFFER, T.COLOR_ATTACHMENT1, T.TEXTURE_2D, 10, 0)
    gl.glDrawBuffers(2, [T.COLOR_ATTACHMENT0, T.COLOR_ATTACHMENT1])
    gl.triangle(CORNERS)
    gl.glBindFramebuffer(T.FRAMEBUFFER, 0)


def samples(gl):
    gl.glGenRenderbuffers(1, [9])
    gl.glBindRenderbuffer(T.RENDERBUFFER, 9)
    gl.glRenderbufferStorageMultisample(T.RENDERBUFFER, 4, T.RGBA8, 64, 48)
    gl.glGenFramebuffers(1, [4])
    gl.glBindFramebuffer(T.FRAMEBUFFER, 4)
    gl.glFramebufferRenderbuffer(T.FRAMEBUFFER, T.COLOR_ATTACHMENT0, T.RENDERBUFFER, 9)
    gl.triangle(CORNERS)
    gl.glBindFramebuffer(T.FRAMEBUFFER, 0)


def integers(gl):
    gl.texture(9, T.RGBA8UI, base=T.RGBA_INTEGER, kind=T.UNSIGNED_BYTE)
    gl.framebuffer(4, 9)
    gl.triangle(CORNERS)
    gl.glBindFramebuffer(T.FRAMEBUFFER, 0)


def conditional(gl):
    gl.glBeginConditionalRender(3, T.QUERY_WAIT)
    gl.triangle(CORNERS)
    gl.glEndConditionalRender()


def fed_back(gl):
    gl.glBeginTransformFeedback(T.TRIANGLES)
    gl.triangle(CORNERS)
    gl.glEndTransformFeedback()


def second_context(gl):
    gl.note("glXMakeCurrent", dpy=1, drawable=1, ctx=0x2000)
    gl.glClear(T.COLOR_BUFFER_BIT)
    gl.triangle(CORNERS)
    gl.note("glXMakeCurrent", dpy=1, drawable=1, ctx=CONTEXT)


def pipeline(gl):
    gl.glGenProgramPipelines(1, [4])
    gl.glBindProgramPipeline(4)
    gl.triangle(CORNERS)
    gl.glBindProgramPipeline(0)


def binary(gl):
    """Whatever it is made of: it is not in use where it could not be linked."""
    gl.returns(60).glCreateProgram()
    gl.glProgramBinary(60, 0x8740, bytes(64), 64)
    gl.glUseProgram(60)
    gl.triangle(CORNERS)
    gl.glUseProgram(0)


def assembly(gl):
    gl.glEnable(T.VERTEX_PROGRAM_ARB)
    gl.triangle(CORNERS)
    gl.glDisable(T.VERTEX_PROGRAM_ARB)


REFUSED = {
    "conditional rendering": conditional,
    "transform feedback": fed_back,
    "a second context": second_context,
    "a pipeline of programs": pipeline,
    "a program of shaders that were not compiled here": binary,
    "a vertex program in assembly language": assembly,
    "lines": of_mode("LINES"),
    "wide lines": of_mode("LINE_LOOP", 3.0),
    "points": of_mode("POINTS"),
    "polygons as lines or points": wireframe,
    "accumulation": accumulated,
    "glBitmap": bitmap,
    "logic operations": enabled("COLOR_LOGIC_OP", ("glLogicOp", T.XOR)),
    "smooth polygons": enabled("POLYGON_SMOOTH"),
    "a stipple of polygons": enabled("POLYGON_STIPPLE"),
    "clip planes": enabled("CLIP_PLANE1", ("glClipPlane", T.CLIP_PLANE1, [1.0, 0.0, 0.0, 0.0])),
    "no rasterizer": enabled("RASTERIZER_DISCARD"),
    "masks of stencil values of each face its own": stencil_faces,
    "a constant colour and a constant alpha": two_constants,
    "an offset of depths that is no whole number of units": offset,
    "a range of depths from far to near": reverse,
    "several targets of colours": several,
    "several samples a pixel": samples,
    "targets of OpenGL's format": integers,
}


@pytest.mark.plan("record-7")
@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_carried_is_refused_by_name(reason):
    gl = Program()
    gl.swap()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT)
    gl.glEnable(T.DEPTH_TEST)
    gl.triangle([(x / 2, y / 2, z) for x, y, z in CORNERS], (1, 0, 0, 1))
    number = len(gl.calls)
    REFUSED[reason](gl)
    gl.triangle([(-y, x, z) for x, y, z in CORNERS], (0, 1, 0, 1))
    frame = recorded(gl)
    assert len(frame.refused) == 1 and reason in frame.refused[0]
    assert number <= int(frame.refused[0].split()[1].rstrip(",")) < len(gl.calls)
    assert len(frame.draws) == 2
    made = drawn(frame)
    assert made.differing == 0 and made.passed == made.wanted
    check(made, frame)
    kinds = frame.events["kind"].tolist()
    assert kinds[kinds.index(Event.DRAW) + 1] == Event.CONTENTS


@pytest.mark.plan("record-7")
def test_a_program_with_feedback_of_its_own_is_refused():
    gl, _ = program()
    gl.glTransformFeedbackVaryings(50, 1, ["tint"], T.INTERLEAVED_ATTRIBS)
    gl.glLinkProgram(50)
    gl.swap()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT)
    gl.glDrawArrays(T.TRIANGLES, 0, 30)
    (line,) = recorded(gl).refused
    assert line.endswith(": a program with transform feedback of its own")


@pytest.mark.plan("record-7")
def test_a_frame_may_end_in_another_context():
    gl = Program()
    gl.swap()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT)
    gl.triangle(CORNERS, (1, 0, 0, 1))
    gl.note("glXMakeCurrent", dpy=1, drawable=1, ctx=0x2000)
    frame = recorded(gl)
    made = drawn(frame)
    assert made.differing == 0 and len(np.unique(made.surfaces[0].found)) > 1
    check(made, frame)


@pytest.mark.plan("record-7")
def test_a_geometry_shader_is_refused():
    gl, _ = program()
    gl.shaders(
        70,
        VERTEX="#version 150\nin vec4 place;\nvoid main() { gl_Position = place; }",
        GEOMETRY=GEOMETRY,
        FRAGMENT=TINT,
    )
    gl.swap()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT)
    gl.glUseProgram(70)
    gl.glDrawArrays(T.TRIANGLES, 0, 30)
    gl.glUseProgram(50)
    gl.glDrawArrays(T.TRIANGLES, 30, 30)
    gl.glDrawArrays(T.LINES_ADJACENCY, 30, 32)
    frame = recorded(gl)
    assert [line.split(": ", 1)[1] for line in frame.refused] == [
        "a geometry shader",
        "primitives with adjacency: a geometry shader",
    ]
    made = drawn(frame)
    assert made.differing == 0 and len(frame.draws) == 1
    assert np.abs(np.subtract(made.passed, made.wanted)).max() <= 2
