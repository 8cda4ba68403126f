# SPDX-License-Identifier: BSD-2-Clause
"""Programs of shaders: shadow maps, discards, depths of their own, contexts of core."""

from itertools import combinations

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.trace import Pointer
from fixfunc.cosim.recorded.lookup import nearest
from fixfunc.spec.dxgi import Format
from tests.cosim.record.program import Program, check, drawn, noise, recorded

VERTEX = """#version 150
in vec4 place;
out vec4 tint;
void main() {
    gl_Position = place;
    tint = vec4(abs(place.xyz), 0.5);
}
"""
TINT = """#version 150
in vec4 tint;
out vec4 colour;
void main() { colour = tint; }
"""
SHADOW = """#version 150
in vec4 tint;
out vec4 colour;
uniform sampler2DShadow map;
void main() {
    vec3 at = vec3(gl_FragCoord.xy / vec2(64.0, 48.0), gl_FragCoord.z - 0.01);
    colour = vec4(tint.rgb * (0.25 + 0.75 * texture(map, at)), 1.0);
}
"""
HOLES = """#version 150
in vec4 tint;
out vec4 colour;
void main() {
    // discard is a word of this comment, too
    if ((int(gl_FragCoord.x) / 3 + gl_PrimitiveID) % 3 == 0) discard;
    colour = tint;
}
"""
DEPTH = """#version 150
in vec4 tint;
out vec4 colour;
void main() {
    colour = tint;
    gl_FragDepth = fract(gl_FragCoord.x / 16.0) * 0.5 + gl_FragCoord.z * 0.25;
}
"""
NOTHING = """#version 150
void main() {}
"""


GLX = {"attributes": (0x2091, 3, 0x2092, 2, 0x9126, 1)}  # a context of 3.2, of core
EGL = {"attributes": (0x3098, 3, 0x30FB, 2, 0x30FD, 1), "egl": 0x30A2}


def program(fragment=TINT, count=30, context=GLX):
    """A program with triangles in a buffer, its shaders in use."""
    gl = Program(**context)
    rows = np.ones((3 * count, 4), np.float32)
    rows[:, :3] = noise(count)
    gl.glGenVertexArrays(1, [6])
    gl.glBindVertexArray(6)
    gl.glGenBuffers(1, [31])
    gl.glBindBuffer(T.ARRAY_BUFFER, 31)
    gl.glBufferData(T.ARRAY_BUFFER, rows.nbytes, rows.tobytes(), T.STATIC_DRAW)
    gl.shaders(50, VERTEX=VERTEX, FRAGMENT=fragment)
    gl.glUseProgram(50)
    gl.glVertexAttribPointer(0, 4, T.FLOAT, 0, 0, Pointer(0))
    gl.glEnableVertexAttribArray(0)
    gl.glEnable(T.DEPTH_TEST)
    return gl, rows


def begun(gl):
    gl.swap()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT)


@pytest.mark.plan("record-6")
@pytest.mark.parametrize("context", [GLX, EGL, {}], ids=["glx", "egl", "of old"])
def test_positions_are_those_of_the_shader(context):
    gl, rows = program(context=context)
    begun(gl)
    gl.glRectf(-1.0, -1.0, 1.0, 1.0)  # which core has not
    gl.glDrawArraysInstanced(T.TRIANGLES, 0, 90, 2)
    frame = recorded(gl)
    assert len(frame.draws) == (1 if context else 2) and not frame.refused
    found = frame.draw_vertices(frame.draws[-1])
    assert np.array_equal(found, np.concatenate([rows, rows]))
    made = drawn(frame)
    assert made.differing == 0 and made.passed == made.wanted
    check(made, frame)


@pytest.mark.plan("record-6")
def test_a_shadow_map():
    gl, _ = program(SHADOW)
    gl.shaders(70, VERTEX=VERTEX, FRAGMENT=NOTHING)
    gl.texture(9, T.DEPTH_COMPONENT24, base=T.DEPTH_COMPONENT)
    gl.glBindTexture(T.TEXTURE_2D, 9)
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_COMPARE_MODE, T.COMPARE_REF_TO_TEXTURE)
    gl.glGenFramebuffers(1, [4])
    gl.swap()
    gl.glBindFramebuffer(T.FRAMEBUFFER, 4)
    gl.glFramebufferTexture2D(T.FRAMEBUFFER, T.DEPTH_ATTACHMENT, T.TEXTURE_2D, 9, 0)
    gl.glDrawBuffer(T.NONE)
    gl.glClear(T.DEPTH_BUFFER_BIT)
    gl.glUseProgram(70)
    gl.glDrawArrays(T.TRIANGLES, 0, 45)
    gl.glBindFramebuffer(T.FRAMEBUFFER, 0)
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT)
    gl.glUseProgram(50)
    gl.glDrawArrays(T.TRIANGLES, 30, 60)
    frame = recorded(gl)
    assert not frame.refused and frame.draws["colour"].tolist()[0] == -1
    assert {Format(int(it)) for it in frame.draws["form"]} == {
        Format.UNKNOWN,
        Format.R8G8B8A8_UNORM,
    }
    made = drawn(frame)
    assert made.differing == 0 and made.passed == made.wanted
    check(made, frame)


@pytest.mark.plan("record-6")
def test_what_a_shader_discards_is_no_difference():
    """Of a pixel's triangles some are left: which, tell their depths."""
    fragments = []
    for text in (HOLES, TINT):
        gl, _ = program(text, count=200)
        begun(gl)
        gl.glDrawArrays(T.TRIANGLES, 0, 600)
        frame = recorded(gl)
        assert bool(frame.draws[0]["discards"]) == (text is HOLES)
        made = drawn(frame)
        assert made.differing == 0 and made.passed == made.wanted
        check(made, frame)
        fragments.append(frame.fragments)
    left, every = (np.zeros((48, 64), int) for _ in range(2))
    for counts, some in zip((left, every), fragments, strict=True):
        np.add.at(counts, (some["y"], some["x"]), 1)
    assert (left <= every).all() and ((left > 0) & (left < every)).sum() > 200


@pytest.mark.plan("record-6")
def test_the_nearest_depths_are_those_of_every_choice():
    rng = np.random.default_rng(4)
    for _ in range(200):
        depths = rng.uniform(0, 1, rng.integers(1, 7)).astype(np.float32)
        wanted = rng.uniform(0, 1, rng.integers(0, len(depths) + 1)).astype(np.float32)
        found = nearest(depths, wanted)
        choices = [list(it) for it in combinations(range(len(depths)), len(wanted))]
        least = min(np.abs(depths[it] - wanted).sum() for it in choices)
        assert (np.diff(found) > 0).all()
        assert np.isclose(np.abs(depths[found] - wanted).sum(), least)


@pytest.mark.plan("record-6")
def test_depths_of_a_shader():
    gl, _ = program(DEPTH)
    begun(gl)
    gl.glDrawArrays(T.TRIANGLES, 0, 90)
    frame = recorded(gl)
    assert frame.draws[0]["shader_depth"]
    made = drawn(frame)
    assert made.differing == 0 and made.passed == made.wanted
    check(made, frame)


KILLS = b"""!!ARBfp1.0
TEMP left;
SUB left, fragment.color, {0.5, 0, 0, 0};
KIL left;
MOV result.color, fragment.color;
END"""


@pytest.mark.plan("record-6")
def test_programs_in_assembly_language_may_discard():
    gl = Program()
    gl.glBindProgramARB(T.FRAGMENT_PROGRAM_ARB, 3)
    gl.glProgramStringARB(T.FRAGMENT_PROGRAM_ARB, T.PROGRAM_FORMAT_ASCII_ARB, len(KILLS), KILLS)
    begun(gl)
    gl.glEnable(T.FRAGMENT_PROGRAM_ARB)
    gl.glBegin(T.TRIANGLES)
    for n, (x, y, z) in enumerate(noise(60).tolist()):
        gl.glColor3f(n % 3 / 2, 1.0, 0.5)
        gl.glVertex3f(x, y, z)
    gl.glEnd()
    frame = recorded(gl)
    assert frame.draws[0]["discards"] and (frame.fragments["colour"][:, 0] > 0.49).all()
    made = drawn(frame)
    assert made.differing == 0 and made.passed == made.wanted


@pytest.mark.plan("record-6")
def test_fragments_of_shaders_on_the_fixed_vertices():
    """A program may have no shader of vertices."""
    gl = Program()
    gl.shaders(50, FRAGMENT="void main() { gl_FragColor = gl_Color.bgra; }")
    begun(gl)
    gl.glUseProgram(50)
    gl.triangle([(-0.5, -0.5, 0), (0.5, -0.5, 0), (0, 0.5, 0)], (1, 0.5, 0.25, 1))
    frame = recorded(gl)
    assert not frame.refused and len(frame.fragments) > 100
    assert np.allclose(frame.fragments["colour"], (0.25, 0.5, 1, 1), atol=1 / 255)
    assert drawn(frame).differing == 0
