# SPDX-License-Identifier: BSD-2-Clause
"""Textures that a draw can sample: formats, shapes, once each; samplers in D3D11's names."""

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from tests.cosim.record.program import Program, recorded
from tests.cosim.record.shading.scenes import frame_of
from tests.cosim.record.shading.uploads import (
    CORNERS,
    OCTETS,
    SIDE,
    frame_with,
    smooth,
    solid,
    stored,
    upload,
)
from tests.cosim.record.test_shaders import begun


def cube(gl):
    for face in range(6):
        for level in range(2):
            side = 2 >> level
            data = solid(10 * face + level, side, side)
            stored(gl, T.TEXTURE_CUBE_MAP_POSITIVE_X + face, level, (side, side), data)


def line(gl):
    for level in range(3):
        stored(gl, T.TEXTURE_1D, level, (4 >> level,), solid(level, 4 >> level))


def volume(gl):
    for level, side in enumerate((4, 2, 1)):
        data = b"".join(solid(10 * n + level, side, side) for n in range(side))
        stored(gl, T.TEXTURE_3D, level, (side, side, side), data)


def layers(gl):
    for level, side in enumerate((2, 1)):
        data = b"".join(solid(10 * n + level, side, side) for n in range(3))
        stored(gl, T.TEXTURE_2D_ARRAY, level, (side, side, 3), data)


def cubes(gl):
    data = b"".join(solid(n, 1, 1) for n in range(12))
    stored(gl, T.TEXTURE_CUBE_MAP_ARRAY, 0, (1, 1, 12), data)


def rectangle(gl):
    stored(gl, T.TEXTURE_RECTANGLE, 0, (3, 2), solid(7, 2, 3))


# Sampler -> target, contents, shape, and the first byte of every subresource.
SHAPES = {
    "sampler1D": ("1D", line, (1, False, 4, 1, 1, 3, 1), [0, 1, 2]),
    "samplerCube": (
        *("CUBE_MAP", cube, (2, True, 2, 2, 1, 2, 6)),
        [10 * face + level for face in range(6) for level in range(2)],
    ),
    "sampler3D": ("3D", volume, (3, False, 4, 4, 4, 3, 1), [0, 1, 2]),
    "sampler2DArray": (
        *("2D_ARRAY", layers, (2, False, 2, 2, 1, 2, 3)),
        [10 * n + level for n in range(3) for level in range(2)],
    ),
    "samplerCubeArray": ("CUBE_MAP_ARRAY", cubes, (2, True, 1, 1, 1, 1, 12), list(range(12))),
    "sampler2DRect": ("RECTANGLE", rectangle, (2, False, 3, 2, 1, 1, 1), [7]),
}
HEAD = "#version 400 compatibility\n"


@pytest.mark.plan("record-12")
@pytest.mark.parametrize("kind", SHAPES)
def test_textures_of_every_shape(kind):
    """All levels of a layer or face, then those of the next; samplers of programs by name."""
    target, contents, shape, first = SHAPES[kind]
    gl = Program()
    begun(gl)
    gl.glActiveTexture(T.TEXTURE3)
    gl.glGenTextures(1, [5])
    name = f"TEXTURE_{target}"
    gl.glBindTexture(getattr(T, name), 5)
    contents(gl)
    smooth(gl, name, "LINEAR" if target == "RECTANGLE" else "LINEAR_MIPMAP_LINEAR")
    gl.glActiveTexture(T.TEXTURE0)
    place = {"1D": "0.5", "2D": "vec2(0.5)", "3D": "vec3(0.5)", "RECTANGLE": "vec2(0.5)"}
    place |= {"CUBE_MAP": "vec3(1.0)", "2D_ARRAY": "vec3(0.5)", "CUBE_MAP_ARRAY": "vec4(1.0)"}
    gl.shaders(
        50,
        FRAGMENT=f"{HEAD}uniform {kind} some;\n"
        f"void main() {{ gl_FragColor = texture(some, {place[target]}) + 0.1; }}",
    )
    gl.glUseProgram(50)
    gl.returns(0).glGetUniformLocation(50, "some")
    gl.glUniform1i(0, 3)
    gl.triangle(CORNERS)
    frame = recorded(gl)
    assert not frame.refused and frame.shadings[0]["reason"] == -1
    (row,) = frame.textures
    fields = "dimension", "cube", "width", "height", "depth", "levels", "layers"
    assert tuple(row[field].item() for field in fields) == shape
    assert bool(row["rectangle"]) == (target == "RECTANGLE")
    (binding,) = frame.draw_bindings(0)
    assert frame.names[binding["name"]] == "some" and binding["unit"] == 3
    _, _, width, height, depth, levels, count = shape
    sizes = [
        4 * np.prod([max(s >> level, 1) for s in (width, height, depth)]) for level in range(levels)
    ] * count
    begins = np.cumsum([0, *sizes])
    assert len(frame.octets) == begins[-1]
    assert frame.octets[begins[:-1]].tolist() == first


@pytest.mark.plan("record-12")
def test_a_texture_is_stored_once_until_it_changes():
    gl = Program()
    begun(gl)
    upload(gl, "RGBA8")
    for _ in range(5):
        gl.triangle(CORNERS)
    gl.glTexSubImage2D(T.TEXTURE_2D, 0, 1, 1, 1, 1, T.RGBA, T.UNSIGNED_BYTE, bytes(4))
    gl.triangle(CORNERS)
    # The same bytes by another name.
    gl.glGenTextures(1, [6])
    gl.glBindTexture(T.TEXTURE_2D, 6)
    stored(gl, T.TEXTURE_2D, 0, (SIDE, SIDE), OCTETS.tobytes())
    smooth(gl, "TEXTURE_2D")
    gl.triangle(CORNERS)
    frame = recorded(gl)
    assert len(frame.textures) == 2 and len(frame.samplers) == 1
    numbers = [int(frame.draw_bindings(n)["texture"][0]) for n in range(7)]
    assert numbers == [0] * 5 + [1, 0]
    changed = OCTETS.copy()
    changed[1, 1] = 0
    assert frame.octets.tobytes() == OCTETS.tobytes() + changed.tobytes()


@pytest.mark.plan("record-12")
def test_what_is_drawn_on_is_another_texture():
    """By draws and by clears."""
    gl = Program()
    gl.texture(5, T.RGBA8)
    begun(gl)
    gl.framebuffer(4, 5)
    gl.glClear(T.COLOR_BUFFER_BIT)
    for n in range(3):
        gl.glBindFramebuffer(T.FRAMEBUFFER, 0)
        gl.glEnable(T.TEXTURE_2D)
        gl.glBindTexture(T.TEXTURE_2D, 5)
        gl.triangle(CORNERS)
        gl.glDisable(T.TEXTURE_2D)
        gl.glBindFramebuffer(T.FRAMEBUFFER, 4)
        if n:
            gl.glClearColor(0.5, 0.25, 1.0, 1.0)
            gl.glClear(T.COLOR_BUFFER_BIT)
        else:
            gl.triangle(CORNERS, (1, 0, 0, 1))
    frame = recorded(gl)
    numbers = [it["texture"] for n in range(4) for it in frame.draw_bindings(n)]
    assert numbers == [0, 1, 2]
    means = frame.octets.reshape(3, -1, 4).mean(1)
    assert means[0].max() == 0 and means[1][0] > 20 and means[2].tolist() == [128, 64, 255, 255]


@pytest.mark.plan("record-12")
def test_incomplete_textures_are_none():
    """A unit of fixed functions is off; a sampler of a program has none."""

    def change(gl):
        upload(gl, "RGBA8")
        smooth(gl, "TEXTURE_2D", "LINEAR_MIPMAP_LINEAR")
        gl.triangle(CORNERS)
        gl.shaders(
            50,
            FRAGMENT="uniform sampler2D some;\n"
            "void main() { gl_FragColor = texture2D(some, vec2(0.5)) + 0.1; }",
        )
        gl.glUseProgram(50)

    frame = frame_with(change)
    assert not len(frame.draw_bindings(0)) and not len(frame.textures)
    assert frame.draw_bindings(1)["texture"].tolist() == [-1]
    assert (frame.shadings["reason"] == -1).all()


@pytest.mark.plan("record-12")
def test_base_and_last_levels_are_those_of_the_texture():
    def change(gl):
        upload(gl, "RGBA8")
        for level, side in ((1, 2), (2, 1)):
            stored(gl, T.TEXTURE_2D, level, (side, side), solid(level, side, side))
        gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_BASE_LEVEL, 1)
        gl.triangle(CORNERS)
        gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_BASE_LEVEL, 0)
        gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_MAX_LEVEL, 1)

    frame = frame_with(change)
    assert frame.textures["width"].tolist() == [2, 4]
    assert frame.textures["levels"].tolist() == [2, 2]
    assert frame.octets.tobytes() == (
        solid(1, 2, 2) + solid(2, 1, 1) + OCTETS.tobytes() + solid(1, 2, 2)
    )


@pytest.mark.plan("record-12")
def test_no_texture_unit_is_left_another():
    """The active unit, and pixels that a program reads, are as they were."""

    def change(gl):
        upload(gl, "RGBA8")
        gl.glActiveTexture(T.TEXTURE2)
        gl.glBindTexture(T.TEXTURE_2D, 5)
        gl.triangle(CORNERS)
        gl.glEnable(T.TEXTURE_2D)  # of unit 2

    frame = frame_with(change)
    assert [frame.draw_bindings(n)["unit"].tolist() for n in range(2)] == [[0], [0, 2]]
    assert len(frame_of(lambda gl: gl.triangle(CORNERS)).textures) == 0
