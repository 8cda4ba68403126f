# SPDX-License-Identifier: BSD-2-Clause
"""What of a draw's shading is not recorded, or cannot be shaded: by name, its fragments kept."""

import pytest

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded import shaded
from tests.cosim.record.shading.scenes import corners, environment, frame_of, shaded_of, textured
from tests.cosim.record.test_calls import MODES


def reason_of(frame, number=0):
    """Why a draw is not all recorded."""
    return frame.names[frame.shadings[number]["reason"]]


def combined(gl):
    textured(gl)
    gl.glTexEnvi(T.TEXTURE_ENV, T.TEXTURE_ENV_MODE, T.COMBINE)
    corners(gl)


def constant(gl):
    textured(gl)
    gl.glTexEnvi(T.TEXTURE_ENV, T.TEXTURE_ENV_MODE, T.BLEND)
    corners(gl)


def half_borders(gl):
    textured(gl)
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_WRAP_S, T.CLAMP)
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_MAG_FILTER, T.NEAREST)
    corners(gl)


def mirrored_once(gl):
    textured(gl)
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_WRAP_T, T.MIRROR_CLAMP_EXT)
    corners(gl)


def first_quads(gl):
    gl.glProvokingVertex(T.FIRST_VERTEX_CONVENTION)
    gl.triangle(MODES["QUADS"][0], mode=T.QUADS)


def assembly(gl):
    text = b"!!ARBfp1.0\nMOV result.color, fragment.color;\nEND"
    gl.glBindProgramARB(T.FRAGMENT_PROGRAM_ARB, 3)
    gl.glProgramStringARB(T.FRAGMENT_PROGRAM_ARB, T.PROGRAM_FORMAT_ASCII_ARB, len(text), text)
    gl.glEnable(T.FRAGMENT_PROGRAM_ARB)
    corners(gl)


def several_samples(gl):
    gl.glGenTextures(1, [5])
    gl.glBindTexture(T.TEXTURE_2D_MULTISAMPLE, 5)
    gl.glTexImage2DMultisample(T.TEXTURE_2D_MULTISAMPLE, 4, T.RGBA8, 4, 4, 1)
    gl.shaders(
        50,
        FRAGMENT="#version 150\nuniform sampler2DMS many;\n"
        "void main() { gl_FragColor = texelFetch(many, ivec2(0), 0) + 0.5; }",
    )
    gl.glUseProgram(50)
    corners(gl)


UNRECORDED = {
    "a texture environment GL_COMBINE": combined,
    "a texture environment GL_BLEND": constant,
    "GL_CLAMP, with one filter of two that mixes texels": half_borders,
    "texture coordinates that wrap as OpenGL's 0x8742": mirrored_once,
    "quads where the first corner provokes": first_quads,
    "a fragment program in assembly language": assembly,
    "a sampler of buffers or of several samples, many": several_samples,
}


@pytest.mark.plan("record-13")
@pytest.mark.parametrize("reason", UNRECORDED)
def test_what_is_not_recorded_is_named_and_keeps_its_fragments(reason):
    frame = frame_of(UNRECORDED[reason])
    assert not frame.refused and len(frame.draws) == 1 and len(frame.fragments) > 100
    assert reason_of(frame) == reason and len(frame.values)
    (draw,) = shaded_of(frame)["draws"]
    by_program = frame.shadings[0]["program"]
    assert draw["reason"] == ("a program of shaders" if by_program else reason)


def volume(gl):
    gl.glGenTextures(1, [5])
    gl.glBindTexture(T.TEXTURE_3D, 5)
    gl.glTexImage3D(T.TEXTURE_3D, 0, T.RGBA8, 2, 2, 2, 0, T.RGBA, T.UNSIGNED_BYTE, bytes(32))
    gl.glTexParameteri(T.TEXTURE_3D, T.TEXTURE_MIN_FILTER, T.LINEAR)
    gl.glEnable(T.TEXTURE_3D)
    corners(gl)


def two_units(gl):
    textured(gl)
    gl.glActiveTexture(T.TEXTURE1)
    gl.glBindTexture(T.TEXTURE_2D, 5)
    gl.glEnable(T.TEXTURE_2D)
    corners(gl)


def compared(gl):
    gl.texture(5, T.DEPTH_COMPONENT24, base=T.DEPTH_COMPONENT)
    gl.glBindTexture(T.TEXTURE_2D, 5)
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_COMPARE_MODE, T.COMPARE_REF_TO_TEXTURE)
    gl.glEnable(T.TEXTURE_2D)
    corners(gl)


def decal_of_alpha(gl):
    environment("DECAL", "ALPHA8")(gl)


def shader(gl):
    gl.shaders(50, FRAGMENT="void main() { gl_FragColor = gl_Color.bgra; }")
    gl.glUseProgram(50)
    corners(gl)


def without_colour(gl):
    gl.shaders(50, VERTEX="void main() { gl_Position = ftransform(); }")
    gl.glUseProgram(50)
    corners(gl)


UNSHADED = {
    "a texture that is not 2D": volume,
    "textures of 2 units": two_units,
    "a texture of depths that are compared": compared,
    "GL_DECAL of a texture without colours": decal_of_alpha,
    "a program of shaders": shader,
    "vertices without gl_FrontColor": without_colour,
}


@pytest.mark.plan("record-14")
@pytest.mark.parametrize("reason", UNSHADED)
def test_what_cannot_be_shaded_is_named(reason):
    frame = frame_of(UNSHADED[reason])
    figures = shaded_of(frame)
    assert [it["reason"] for it in figures["draws"]] == [reason] and not figures["kinds"]
    assert f"not shaded: {reason}: 1 draws" in shaded.words(figures)
