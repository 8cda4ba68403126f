# SPDX-License-Identifier: BSD-2-Clause
"""What programs draw on: windows, objects of every format; clears and copies in between."""

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded.frame import Event
from fixfunc.spec.dxgi import Format
from tests.cosim.record.program import SIZE, Program, check, drawn, noise, recorded

ALL = T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT


def scene(gl, seed=1):
    """Triangles of any colour, in one draw."""
    rng = np.random.default_rng(seed)
    gl.glBegin(T.TRIANGLES)
    for corner in noise(20, seed):
        gl.glColor4f(*map(float, rng.uniform(0, 1, 4)))
        gl.glVertex3f(*map(float, corner))
    gl.glEnd()


def finished(gl):
    frame = recorded(gl)
    assert not frame.refused
    made = drawn(frame)
    assert made.differing == 0 and made.passed == made.wanted
    check(made, frame)
    return frame, made


COLOURS = {
    "RGBA8": Format.R8G8B8A8_UNORM,
    "RGB8": Format.B8G8R8X8_UNORM,
    "RGB10_A2": Format.R10G10B10A2_UNORM,
    "RGB565": Format.B5G6R5_UNORM,
    "R8": Format.R8_UNORM,
    "RG8": Format.R8G8_UNORM,
    "R16": Format.R16_UNORM,
    "RG16": Format.R16G16_UNORM,
    "RGBA16": Format.R16G16B16A16_UNORM,
    "R16F": Format.R16_FLOAT,
    "RG16F": Format.R16G16_FLOAT,
    "RGBA16F": Format.R16G16B16A16_FLOAT,
    "R32F": Format.R32_FLOAT,
    "RG32F": Format.R32G32_FLOAT,
    "RGBA32F": Format.R32G32B32A32_FLOAT,
    "R11F_G11F_B10F": Format.R11G11B10_FLOAT,
}
DEPTHS = {
    "DEPTH_COMPONENT16": Format.D16_UNORM,
    "DEPTH_COMPONENT24": Format.D24_UNORM_S8_UINT,
    "DEPTH24_STENCIL8": Format.D24_UNORM_S8_UINT,
    "DEPTH_COMPONENT32": Format.D32_FLOAT,
    "DEPTH_COMPONENT32F": Format.D32_FLOAT,
    "DEPTH32F_STENCIL8": Format.D32_FLOAT_S8X24_UINT,
}


@pytest.mark.plan("record-4")
@pytest.mark.parametrize("form", COLOURS)
def test_colours_of_every_format(form):
    gl = Program()
    gl.texture(9, getattr(T, form))
    gl.framebuffer(4, 9)
    gl.swap()
    gl.glClearColor(0.1, 0.2, 0.3, 0.4)
    gl.glClear(ALL)
    scene(gl)
    frame, made = finished(gl)
    assert [Format(form) for form in frame.surfaces["form"]] == [COLOURS[form]]
    assert len(np.unique(made.surfaces[0].found)) > 20


@pytest.mark.plan("record-4")
@pytest.mark.parametrize("form", DEPTHS)
def test_depths_of_every_format(form):
    gl = Program()
    gl.texture(9, T.RGBA8)
    gl.renderbuffer(9, getattr(T, form))
    gl.framebuffer(4, 9, 9, "STENCIL" in form)
    gl.swap()
    gl.glClear(ALL)
    gl.glEnable(T.DEPTH_TEST)
    gl.glEnable(T.STENCIL_TEST)
    gl.glStencilFunc(T.GREATER, 1, 0xFF)
    gl.glStencilOp(T.KEEP, T.KEEP, T.INCR)
    scene(gl)
    frame, made = finished(gl)
    assert Format(int(frame.surfaces["form"][1])) == DEPTHS[form]
    assert bool(frame.draws[0]["stencil_enable"]) == ("STENCIL" in form)
    assert 0 < made.passed[0] < len(frame.fragments)


@pytest.mark.plan("record-4")
@pytest.mark.parametrize("converts", [True, False])
def test_colours_of_srgb(converts):
    gl = Program()
    gl.texture(9, T.SRGB8_ALPHA8)
    gl.framebuffer(4, 9)
    if converts:
        gl.glEnable(T.FRAMEBUFFER_SRGB)
    gl.swap()
    gl.glClearColor(0.2, 0.4, 0.6, 0.8)
    gl.glClear(ALL)
    scene(gl)
    gl.glEnable(T.BLEND)
    gl.glBlendFunc(T.SRC_ALPHA, T.ONE_MINUS_SRC_ALPHA)
    scene(gl, 2)
    frame, _ = finished(gl)
    form = Format.R8G8B8A8_UNORM_SRGB if converts else Format.R8G8B8A8_UNORM
    assert {Format(int(its)) for its in frame.draws["form"]} == {form}


@pytest.mark.plan("record-4")
def test_levels_layers_and_faces_are_surfaces():
    gl = Program()
    gl.glGenTextures(2, [7, 8])
    gl.glBindTexture(T.TEXTURE_CUBE_MAP, 7)
    gl.glTexStorage2D(T.TEXTURE_CUBE_MAP, 2, T.RGBA8, 32, 32)
    gl.glBindTexture(T.TEXTURE_2D_ARRAY, 8)
    gl.glTexStorage3D(T.TEXTURE_2D_ARRAY, 2, T.RGBA8, 32, 32, 3)
    gl.glGenFramebuffers(1, [3])
    gl.swap()
    gl.glBindFramebuffer(T.FRAMEBUFFER, 3)
    gl.glViewport(0, 0, 16, 16)
    faces = T.TEXTURE_CUBE_MAP_POSITIVE_X, T.TEXTURE_CUBE_MAP_NEGATIVE_Z
    for seed, face in enumerate(faces):
        gl.glFramebufferTexture2D(T.FRAMEBUFFER, T.COLOR_ATTACHMENT0, face, 7, 1)
        gl.glClear(T.COLOR_BUFFER_BIT)
        scene(gl, seed)
    for layer in (0, 2):
        gl.glFramebufferTextureLayer(T.FRAMEBUFFER, T.COLOR_ATTACHMENT0, 8, 1, layer)
        gl.glClear(T.COLOR_BUFFER_BIT)
        scene(gl, 5 + layer)
    frame, made = finished(gl)
    assert frame.surfaces[["width", "height"]].tolist() == [(16, 16)] * 4
    assert len({it.found.tobytes() for it in made.surfaces}) == 4


def whole(gl):
    gl.glClearColor(0.5, 0.25, 1.0, 0.125)
    gl.glClear(ALL)


def parts(gl):
    """What D3D11 does not clear at once is read."""
    gl.glEnable(T.SCISSOR_TEST)
    gl.glScissor(3, 5, 20, 21)
    gl.glClear(ALL)
    gl.glDisable(T.SCISSOR_TEST)


def channels(gl):
    gl.glColorMask(0, 1, 0, 1)
    gl.glClearColor(1.0, 1.0, 1.0, 1.0)
    gl.glClear(T.COLOR_BUFFER_BIT)
    gl.glColorMask(1, 1, 1, 1)


def bits(gl):
    gl.glStencilMask(0x0F)
    gl.glClearStencil(0xFF)
    gl.glClear(T.STENCIL_BUFFER_BIT)
    gl.glStencilMask(0xFF)


def masked_depths(gl):
    """They are kept."""
    gl.glDepthMask(0)
    gl.glClearDepth(0.0)
    gl.glClear(ALL)
    gl.glDepthMask(1)


def one_by_one(gl):
    gl.glClearBufferfv(T.COLOR, 0, [0.5, 0.5, 0.0, 1.0])
    gl.glClearBufferfv(T.DEPTH, 0, [0.75])
    gl.glClearBufferiv(T.STENCIL, 0, [9])
    gl.glClearBufferfi(T.DEPTH_STENCIL, 0, 0.875, 5)


def copied(gl):
    gl.glBindFramebuffer(T.READ_FRAMEBUFFER, 4)
    gl.glBlitFramebuffer(0, 0, 64, 48, 10, 10, 50, 40, T.COLOR_BUFFER_BIT, T.NEAREST)


def drawn_otherwise(gl):
    gl.glRasterPos2f(-0.5, -0.5)
    gl.glDrawPixels(8, 8, T.RGBA, T.UNSIGNED_BYTE, bytes(range(256)))


@pytest.mark.plan("record-5")
@pytest.mark.parametrize(
    "change",
    [whole, parts, channels, bits, masked_depths, one_by_one, copied, drawn_otherwise],
    ids=lambda change: change.__name__,
)
def test_what_happens_between_draws_comes_in_order(change):
    gl = Program()
    gl.texture(9, T.RGBA8)
    gl.framebuffer(4, 9)
    gl.glClearColor(0.5, 0.5, 0.5, 0.5)
    gl.glClear(T.COLOR_BUFFER_BIT)
    gl.glBindFramebuffer(T.FRAMEBUFFER, 0)
    gl.swap()
    whole(gl)
    gl.glEnable(T.DEPTH_TEST)
    gl.glEnable(T.STENCIL_TEST)
    gl.glStencilOp(T.KEEP, T.KEEP, T.INCR)
    scene(gl)
    change(gl)
    scene(gl, 2)
    frame = recorded(gl)
    assert len(frame.refused) == (change is drawn_otherwise) and len(frame.draws) == 2
    made = drawn(frame)
    assert made.differing == 0
    assert np.abs(np.subtract(made.passed, made.wanted)).max() <= 2
    for it in made.surfaces:
        if it.form == Format.R8G8B8A8_UNORM:
            assert (it.found != it.wanted).any(2).sum() <= 4
    kinds = frame.events["kind"].tolist()
    assert kinds.count(Event.DRAW) == 2
    reads = change not in (whole, one_by_one)
    assert (kinds[kinds.index(Event.DRAW) :].count(Event.CONTENTS) > 0) == reads


@pytest.mark.plan("record-5")
def test_what_was_never_cleared_has_contents():
    gl = Program()
    gl.glEnable(T.DEPTH_TEST)
    gl.glDepthFunc(T.GREATER)
    scene(gl)
    gl.swap()
    gl.glDepthFunc(T.LEQUAL)
    scene(gl, 2)
    frame, made = finished(gl)
    assert [kind for kind, _ in frame.events.tolist()][:2] == [Event.CONTENTS, Event.CONTENTS]
    assert made.passed[0]


@pytest.mark.plan("record-4")
def test_a_window_has_the_size_of_the_greatest_viewport():
    """The first one is often that of a window that is never shown."""
    gl = Program((1, 1))
    gl.glViewport(0, 0, *SIZE)
    gl.swap()
    gl.glClear(ALL)
    scene(gl)
    frame, _ = finished(gl)
    assert frame.surfaces[["width", "height"]].tolist() == [SIZE, SIZE]
