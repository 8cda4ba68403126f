# SPDX-License-Identifier: BSD-2-Clause
"""How programs draw: kinds of primitives, arrays, display lists, memory, names of objects."""

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.trace import Pointer
from tests.cosim.record.program import Program, check, drawn, noise, recorded

RING = [
    (0.8 * np.cos(angle), 0.8 * np.sin(angle), 0.1 * k)
    for k, angle in enumerate(np.arange(8) * np.pi / 4)
]
# Corners on centres and on corners of pixels, and between: every edge is one of a rule.
GRID = [
    (x / 32 - 0.5, y / 24 - 0.5, 0) for y in np.arange(0, 20, 2.5) for x in np.arange(0, 24, 1.5)
]


def program():
    gl = Program()
    gl.swap()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT)
    return gl


def finished(gl, draws=None, refused=0):
    """The frame, every fragment of it drawn."""
    frame = recorded(gl)
    assert len(frame.refused) == refused, frame.refused
    assert draws is None or len(frame.draws) == draws
    made = drawn(frame)
    assert made.differing == 0 and made.passed == made.wanted and sum(made.passed) > 50
    check(made, frame)
    return frame


MODES = {
    "TRIANGLES": (RING[:6], 2),
    "TRIANGLE_STRIP": ([RING[k] for k in (0, 1, 7, 2, 6, 3, 5, 4)], 6),
    "TRIANGLE_FAN": (RING, 6),
    "QUADS": (RING, 4),
    "QUAD_STRIP": ([RING[k] for k in (0, 1, 7, 2, 6, 3, 5, 4)], 6),
    "POLYGON": (RING, 6),
}


@pytest.mark.plan("record-3")
@pytest.mark.parametrize("mode", MODES)
def test_primitives_become_triangles(mode):
    corners, count = MODES[mode]
    gl = program()
    gl.triangle(corners, mode=getattr(T, mode))
    assert len(finished(gl, 1).vertices) == 3 * count


@pytest.mark.plan("record-3")
def test_edges_on_centres_of_pixels_have_the_rule_of_both():
    gl = program()
    rng = np.random.default_rng(5)
    for _ in range(60):
        gl.triangle([GRID[k] for k in rng.integers(0, len(GRID), 3)], rng.uniform(0, 1, 4))
    frame = finished(gl, 60)
    assert (np.float64(frame.vertices[:, 0]) * 32 % 0.5 == 0).all()


@pytest.mark.plan("record-3")
def test_rectangles():
    gl = program()
    gl.glColor3f(1.0, 0.5, 0.25)
    gl.glRectf(-0.5, -0.5, 0.25, 0.75)
    gl.glRecti(0, 0, 1, 1)
    assert len(finished(gl, 2).vertices) == 12


def arrays():
    """Corners and colours, in the rows of one array."""
    rows = np.ones((30, 8), np.float32)
    rows[:, :3] = noise(10)
    rows[:, 4:7] = np.random.default_rng(3).uniform(0, 1, (30, 3))
    return rows


def of_memory(gl, rows):
    gl.glEnableClientState(T.VERTEX_ARRAY)
    gl.glEnableClientState(T.COLOR_ARRAY)
    data = rows.tobytes()
    gl.glVertexPointer(4, T.FLOAT, 32, data)
    gl.glColorPointer(4, T.FLOAT, 32, data[16:] + bytes(16))


def of_buffer(gl, rows):
    gl.glGenBuffers(1, [31])
    gl.glBindBuffer(T.ARRAY_BUFFER, 31)
    gl.glBufferData(T.ARRAY_BUFFER, rows.nbytes, rows.tobytes(), T.STATIC_DRAW)
    pointers(gl)


def of_mapped_memory(gl, rows):
    gl.glGenBuffers(1, [31])
    gl.glBindBuffer(T.ARRAY_BUFFER, 31)
    gl.glBufferData(T.ARRAY_BUFFER, rows.nbytes, None, T.STATIC_DRAW)
    gl.returns(Pointer(0x5000)).glMapBuffer(T.ARRAY_BUFFER, T.WRITE_ONLY)
    data = rows.tobytes()
    for at in (0, 320):
        part = data[at:][: 320 if not at else None]
        gl.note("memcpy", dest=Pointer(0x5000 + at), src=part, n=len(part))
    # What lies beyond is not written, here as there.
    gl.note("memcpy", dest=Pointer(0x5000 + rows.nbytes), src=bytes(64), n=64)
    gl.note("memcpy", dest=Pointer(0x10), src=bytes(64), n=64)
    gl.glUnmapBuffer(T.ARRAY_BUFFER)
    pointers(gl)


def pointers(gl):
    gl.glEnableClientState(T.VERTEX_ARRAY)
    gl.glEnableClientState(T.COLOR_ARRAY)
    gl.glVertexPointer(4, T.FLOAT, 32, Pointer(0))
    gl.glColorPointer(4, T.FLOAT, 32, Pointer(16))


@pytest.mark.plan("record-3")
@pytest.mark.parametrize("source", [of_memory, of_buffer, of_mapped_memory])
def test_arrays_come_from_anywhere(source):
    rows = arrays()
    gl = program()
    source(gl, rows)
    gl.glDrawArrays(T.TRIANGLES, 3, 12)
    gl.glDrawElements(T.TRIANGLES, 6, T.UNSIGNED_SHORT, np.uint16([20, 21, 22, 0, 1, 2]).tobytes())
    gl.glMultiDrawArrays(T.TRIANGLES, [15, 24], [3, 6], 2)
    frame = finished(gl, 3)
    order = [*range(3, 15), 20, 21, 22, 0, 1, 2, *range(15, 18), *range(24, 30)]
    assert np.array_equal(frame.vertices, rows[order, :4])


@pytest.mark.plan("record-3")
def test_display_lists():
    """Lists call lists; arrays are those of the time when a list is compiled."""
    rows = arrays()
    gl = Program()
    gl.glNewList(5, T.COMPILE)
    gl.triangle(RING[:3], (1, 0, 0, 1))
    gl.glTranslatef(0.1, 0.2, 0.0)
    gl.glEndList()
    of_memory(gl, rows)
    gl.glNewList(6, T.COMPILE)
    gl.glCallList(5)
    gl.glDrawArrays(T.TRIANGLES, 0, 6)
    gl.glEndList()
    of_memory(gl, rows[::-1].copy())
    gl.swap()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT)
    gl.glNewList(7, T.COMPILE_AND_EXECUTE)
    gl.triangle(RING[3:6], (0, 1, 0, 1))
    gl.glEndList()
    gl.glListBase(3)
    gl.glCallLists(2, T.UNSIGNED_BYTE, bytes([3, 4]))
    gl.glDeleteLists(5, 1)
    gl.glCallList(5)
    frame = finished(gl, 4)
    moved = np.float32([0.1, 0.2, 0, 0])
    assert np.allclose(frame.vertices[6:12], rows[:6, :4] + moved, atol=1e-6)
    assert np.allclose(frame.vertices[12:15, :3], np.float32(RING[3:6]) + moved[:3], atol=1e-6)


@pytest.mark.plan("record-3")
def test_colours_within_a_draw_are_those_of_each_pass():
    """A draw is made several times: each begins with the colour before it."""
    gl = program()
    gl.glColor3f(1.0, 0.0, 0.0)
    gl.glBegin(T.TRIANGLES)
    for n in range(2):
        for x, y, _ in RING[:3]:
            gl.glVertex2f(float(x), float(y))
        if not n:
            gl.glColor3f(0.0, 0.0, 1.0)
    gl.glEnd()
    gl.glRectf(-1.0, -1.0, 0.0, 0.0)
    frame = finished(gl, 2)
    first = frame.draw_fragments(frame.draws[0])
    assert {tuple(row) for row in first["colour"][first["order"] == 0].tolist()} == {(1, 0, 0, 1)}
    assert {tuple(row) for row in first["colour"][first["order"] == 1].tolist()} == {(0, 0, 1, 1)}
    assert (frame.draw_fragments(frame.draws[1])["colour"] == (0, 0, 1, 1)).all()


@pytest.mark.plan("record-3")
def test_no_draw_leaves_a_trace_of_its_recording():
    """State that recording needs, and pixels read into a program's buffer, are as they were."""
    gl = program()
    gl.glGenBuffers(1, [8])
    gl.glBindBuffer(T.PIXEL_PACK_BUFFER, 8)
    gl.glPixelStorei(T.PACK_ROW_LENGTH, 7)
    gl.glPixelStorei(T.PACK_SKIP_ROWS, 3)
    gl.glEnable(T.STENCIL_TEST)
    gl.glStencilFuncSeparate(T.FRONT, T.LEQUAL, 1, 0xFF)
    gl.glStencilFuncSeparate(T.BACK, T.LESS, 1, 0xFF)
    gl.glStencilOp(T.KEEP, T.KEEP, T.INCR)
    gl.glClearStencil(3)
    gl.glClear(T.STENCIL_BUFFER_BIT)
    gl.glColorMask(1, 1, 0, 1)
    gl.triangle(RING[:3])
    gl.triangle(RING[:3][::-1])
    gl.glClear(T.STENCIL_BUFFER_BIT)
    gl.triangle(RING[2:5])
    frame = finished(gl, 3)
    assert frame.clears[-1]["stencil"] == 3
    for name in ("stencil_ref", "write_mask", "front_face", "back_face"):
        assert len(np.unique(frame.draws[name])) == 1
    assert frame.draws["front_face"][0] != frame.draws["back_face"][0]


@pytest.mark.plan("record-3")
def test_pixels_are_read_into_buffers():
    """As the program says, whatever a draw's recording has read before."""
    gl = program()
    gl.glGenBuffers(1, [8])
    gl.glBindBuffer(T.PIXEL_PACK_BUFFER, 8)
    gl.glBufferData(T.PIXEL_PACK_BUFFER, 256, None, T.STATIC_DRAW)
    gl.glPixelStorei(T.PACK_ROW_LENGTH, 2)
    gl.triangle([(-3, -1, 0), (3, -1, 0), (0, 3, 0)], (1, 0.5, 0.25, 1))
    gl.glReadPixels(20, 20, 1, 3, T.RGBA, T.FLOAT, Pointer(0))
    gl.glBindBuffer(T.PIXEL_PACK_BUFFER, 0)
    gl.glReadPixels(20, 20, 1, 1, T.RGBA, T.UNSIGNED_BYTE, bytes(4))
    gl.glEnableClientState(T.VERTEX_ARRAY)
    gl.glVertexPointer(3, T.FLOAT, 0, np.float32(RING[:3]).tobytes())
    gl.glEnableClientState(T.COLOR_ARRAY)
    gl.glBindBuffer(T.ARRAY_BUFFER, 8)
    gl.glColorPointer(4, T.FLOAT, 32, Pointer(0))
    gl.glDrawArrays(T.TRIANGLES, 0, 3)
    frame = finished(gl, 2)
    assert np.allclose(frame.fragments["colour"], (1, 128 / 255, 64 / 255, 1))


@pytest.mark.plan("record-3")
def test_draws_that_select_are_not_made():
    gl = program()
    gl.triangle(RING[:3])
    gl.glSelectBuffer(64, bytes(256))
    gl.glRenderMode(T.SELECT)
    gl.triangle(RING[3:6], (0, 1, 0, 1))
    gl.glRenderMode(T.RENDER)
    gl.triangle(RING[2:5])
    finished(gl, 2)


@pytest.mark.plan("record-3")
def test_the_first_frame_may_be_recorded():
    gl = Program()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT)
    gl.triangle(RING[:3])
    gl.swap()
    gl.triangle(RING[3:6])
    frame = recorded(gl, 1)
    assert (frame.number, len(frame.draws), len(frame.clears)) == (1, 1, 2)
    assert drawn(frame).differing == 0


@pytest.mark.plan("record-3")
def test_draws_of_no_triangle_are_none():
    gl = program()
    gl.triangle(RING[:3])
    gl.triangle(RING[:2])
    of_memory(gl, arrays())
    gl.glDrawArrays(T.TRIANGLES, 0, 0)
    gl.triangle(RING[3:6])
    finished(gl, 2)


@pytest.mark.plan("record-3")
@pytest.mark.parametrize("w", [0.0, -1.0, 1e-30, np.inf, np.nan])
def test_corners_may_be_anywhere(w):
    """Nothing is said of their fragments, but that they are drawn."""
    gl = program()
    gl.triangle([(-0.5, -0.5, 0, 1), (0.5, -0.5, 0, 1), (0.1, 0.7, 0, w)])
    frame = recorded(gl)
    made = drawn(frame)
    assert len(frame.draws) == 1 and made.differing == made.beyond


@pytest.mark.plan("record-3")
def test_overdraw_keeps_its_order():
    gl = program()
    gl.glEnable(T.BLEND)
    gl.glBlendFunc(T.SRC_ALPHA, T.ONE_MINUS_SRC_ALPHA)
    gl.glBegin(T.TRIANGLES)
    for n in range(40):
        gl.glColor4f(n % 3 / 2, n % 5 / 4, n % 7 / 6, 0.5)
        for x, y, z in RING[:3]:
            gl.glVertex3f(float(x), float(y), float(z))
    gl.glEnd()
    frame = finished(gl, 1)
    assert frame.fragments["order"].max() == 39


@pytest.mark.plan("record-3")
def test_a_pixel_with_too_many_fragments_is_refused():
    gl = program()
    gl.glRectf(-1.0, -1.0, 1.0, 1.0)
    gl.triangle(RING[:3] * 255)
    frame = finished(gl, 1, refused=1)
    assert "more than 254 fragments" in frame.refused[0]
