# SPDX-License-Identifier: BSD-2-Clause
"""Varyings of vertices: what shaders put out, and what the fixed functions do."""

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.shading.outputs import qualifiers
from fixfunc.cosim.recorded.frame import Interpolation, Kind, Location
from tests.cosim.record.program import Program, drawn, recorded
from tests.cosim.record.shading.scenes import lit, textured
from tests.cosim.record.test_shaders import TINT, begun, program

CORNERS = [(-0.8, -0.8, 0), (0.8, -0.7, 0.2), (0.1, 0.9, 0.4)]
MANY = """#version 150
in vec4 place;
out vec4 tint;
flat out ivec2 pair;
noperspective centroid out vec2 flatly, also;
out float parts[3];
out mat2 turn;
out Block { vec3 inner; flat uint number; } block;
out vec4 unwritten;
void main() {
    gl_Position = place;
    tint = vec4(abs(place.xyz), 0.5);
    pair = ivec2(gl_VertexID, -7);
    flatly = place.xy * 2.0;
    also = place.yx;
    parts = float[3](place.x, 2.0, 3.0);
    turn = mat2(place.x, 2.0, 3.0, 4.0);
    block.inner = place.zyx;
    block.number = 5u;
}
"""
OLD = """varying vec3 direction; // flat centroid
void main() {
    gl_Position = ftransform();
    gl_FrontColor = gl_Color.bgra;
    gl_TexCoord[0] = gl_Vertex * 2.0;
    gl_TexCoord[2] = gl_Vertex.yxzw;
    gl_FogFragCoord = 4.0;
    direction = gl_Normal;
}
"""


def varyings(frame, number=0):
    """Values of a draw by name, and rows: uint32, shape (vertices, components)."""
    rows = frame.draw_varyings(number)
    values = frame.draw_values(number)
    ends = np.cumsum(rows["components"])
    names = [frame.names[it] for it in rows["name"]]
    return (
        {
            name: values[:, end - row["components"] : end]
            for name, row, end in zip(names, rows, ends, strict=True)
        },
        dict(zip(names, rows, strict=True)),
    )


def floats(values):
    return np.ascontiguousarray(values).view(np.float32)


@pytest.mark.plan("record-11")
def test_every_output_of_a_shader_is_fed_back():
    """By name, type and qualifier; arrays and matrices by element and column."""
    gl, rows = program()
    gl.shaders(70, VERTEX=MANY, FRAGMENT=TINT)
    gl.glUseProgram(70)
    begun(gl)
    gl.glDrawArrays(T.TRIANGLES, 0, 30)
    frame = recorded(gl)
    found, kinds = varyings(frame)
    assert frame.shadings[0]["program"] and frame.shadings[0]["reason"] == -1
    place = rows[:30]
    wanted = {
        "tint": np.c_[np.abs(place[:, :3]), np.full(30, 0.5)],
        "flatly": place[:, :2] * 2,
        "also": place[:, 1::-1],
        "parts[0]": place[:, :1],
        "parts[1]": np.full((30, 1), 2),
        "parts[2]": np.full((30, 1), 3),
        "turn[0]": np.c_[place[:, 0], np.full(30, 2)],
        "turn[1]": np.full((30, 2), (3, 4)),
        "Block.inner": place[:, 2::-1],
    }
    for name, values in wanted.items():
        assert np.array_equal(floats(found[name]), np.float32(values)), name
        assert kinds[name]["kind"] == Kind.FLOAT
    assert np.array_equal(found["pair"].view(np.int32), [(n, -7) for n in range(30)])
    assert (found["Block.number"] == 5).all()
    assert set(found) == {*wanted, "pair", "Block.number"}
    for name, kind in (("pair", Kind.INT), ("Block.number", Kind.UINT)):
        assert kinds[name]["kind"] == kind
        assert kinds[name]["interpolation"] == Interpolation.CONSTANT
    for name in ("flatly", "also"):
        assert kinds[name]["interpolation"] == Interpolation.LINEAR
        assert kinds[name]["location"] == Location.CENTROID
    assert kinds["tint"]["interpolation"] == Interpolation.PERSPECTIVE
    made = drawn(frame)
    assert made.differing == 0 and made.passed == made.wanted


@pytest.mark.plan("record-11")
def test_outputs_of_old_shaders_have_their_names():
    gl = Program()
    gl.shaders(70, VERTEX=OLD)
    begun(gl)
    gl.glUseProgram(70)
    gl.glNormal3f(0.25, 0.5, 1.0)
    gl.triangle(CORNERS, (1, 0.5, 0.25, 0.75))
    frame = recorded(gl)
    found, kinds = varyings(frame)
    assert not frame.shadings[0]["program"]  # fragments are those of the fixed functions
    place = np.c_[np.float32(CORNERS), np.ones(3, np.float32)]
    assert np.array_equal(floats(found["gl_FrontColor"]), [(0.25, 0.5, 1, 0.75)] * 3)
    assert np.array_equal(floats(found["gl_TexCoord[0]"]), place * 2)
    assert np.array_equal(floats(found["gl_TexCoord[2]"]), place[:, [1, 0, 2, 3]])
    assert np.array_equal(floats(found["direction"]), [(0.25, 0.5, 1)] * 3)
    assert np.array_equal(floats(found["gl_FogFragCoord"]), [[4]] * 3)
    assert {it["interpolation"] for it in kinds.values()} == {Interpolation.PERSPECTIVE}


@pytest.mark.plan("record-11")
def test_qualifiers_are_those_of_declarations():
    perspective = Interpolation.PERSPECTIVE, Location.CENTRE
    text = "flat in vec4 one; in vec4 two; sample in vec4 three; void main() { flat_one = two; }"
    assert qualifiers(text, "one") == (Interpolation.CONSTANT, Location.CENTRE)
    assert qualifiers(text, "two") == perspective
    assert qualifiers(text, "three") == (Interpolation.PERSPECTIVE, Location.SAMPLE)
    block = "out Some { noperspective vec2 here[2]; } it; flat out vec2 here;"
    assert qualifiers(block, "Some.here[1]") == (Interpolation.LINEAR, Location.CENTRE)
    assert qualifiers(block, "here") == (Interpolation.CONSTANT, Location.CENTRE)
    assert qualifiers("centroid varying float far;", "far")[1] == Location.CENTROID
    assert qualifiers("", "none") == perspective


@pytest.mark.plan("record-11")
def test_more_outputs_than_there_is_room_for_are_left_out_by_name():
    """Their positions and fragments are recorded all the same."""
    gl, rows = program()
    wide = "\n".join(f"out vec4 more{n};" for n in range(16))
    text = "\n".join(f"more{n} = place * {n}.0;" for n in range(16))
    vertex = f"#version 150\nin vec4 place;\nout vec4 tint;\n{wide}\nvoid main() {{ {text}\n"
    gl.shaders(70, VERTEX=vertex + "gl_Position = place; tint = place; }", FRAGMENT=TINT)
    gl.glUseProgram(70)
    begun(gl)
    gl.glDrawArrays(T.TRIANGLES, 0, 30)
    frame = recorded(gl)
    reason = frame.names[frame.shadings[0]["reason"]]
    assert reason == "more outputs of vertices than can be fed back"
    assert np.array_equal(frame.vertices, rows[:30]) and not frame.shadings[0]["varyings"]
    assert drawn(frame).differing == 0


@pytest.mark.plan("record-11")
def test_fixed_functions_put_out_what_is_used():
    """The colour always; others where something samples or mixes them."""
    gl = Program()
    begun(gl)
    gl.triangle(CORNERS, (1, 0.5, 0.25, 1))
    textured(gl)
    gl.glEnable(T.FOG)
    gl.glMatrixMode(T.TEXTURE)
    gl.glScalef(2.0, 3.0, 1.0)
    gl.glMatrixMode(T.MODELVIEW)
    gl.glBegin(T.TRIANGLES)
    for x, y, z in CORNERS:
        gl.glTexCoord2f(x, y)
        gl.glVertex3f(x, y, z)
    gl.glEnd()
    gl.glEnable(T.COLOR_SUM)
    gl.glShadeModel(T.FLAT)
    gl.triangle(CORNERS)
    frame = recorded(gl)
    names = [set(varyings(frame, n)[0]) for n in range(3)]
    second = {"gl_FrontColor", "gl_TexCoord[0]", "gl_FogFragCoord"}
    assert names == [{"gl_FrontColor"}, second, second | {"gl_FrontSecondaryColor"}]
    found, _ = varyings(frame, 1)
    places = np.float32(CORNERS)
    assert np.allclose(floats(found["gl_TexCoord[0]"])[:, :2], places[:, :2] * (2, 3))
    assert np.array_equal(floats(found["gl_FogFragCoord"])[:, 0], np.abs(places[:, 2]))
    _, kinds = varyings(frame, 2)
    flat = {name for name, it in kinds.items() if it["interpolation"] == Interpolation.CONSTANT}
    assert flat == {"gl_FrontColor", "gl_FrontSecondaryColor"}
    assert frame.shadings[2]["colour_sum"] and not frame.shadings[1]["colour_sum"]
    assert (frame.shadings["provoking"] == 2).all()


@pytest.mark.plan("record-11")
def test_materials_within_primitives_are_left_out_by_name():
    gl = Program()
    begun(gl)
    lit(gl)
    gl.glBegin(T.TRIANGLES)
    for n, corner in enumerate(CORNERS):
        gl.glMaterialfv(T.FRONT, T.DIFFUSE, [0.3 * n, 0.5, 0.1, 1.0])
        gl.glVertex3f(*map(float, corner))
    gl.glEnd()
    frame = recorded(gl)
    assert not frame.refused and len(frame.fragments) > 100
    reason = frame.names[frame.shadings[0]["reason"]]
    assert reason == "materials that change within primitives"
