# SPDX-License-Identifier: BSD-2-Clause
"""What a draw is made of: its triangles in clip space, and every fragment of them in order.

A draw is made again, with everything of its own: once into a buffer, without a rasterizer, and then
on a second surface without tests, once for each layer of fragments. There the stencil values count:
pass k lets the fragment of a pixel through that meets the value k, and each fragment adds one.
"""

import ctypes
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions
from fixfunc.cosim.record.targets import Bound, Refused, pixels, reading
from fixfunc.cosim.recorded.frame import FRAGMENT
from fixfunc.spec.dxgi import Format

_ROOM = 1 << 20  # bytes that the buffer has at first
_MOST = 254  # fragments of a pixel: beyond, a count of 8 bits saturates

_COUNTED = T.PRIMITIVES_GENERATED, T.SAMPLES_PASSED

Draw = Callable[[], object]


class Peel:
    """Takes draws apart, in one context.

    Parameters
    ----------
    gl : Functions
    """

    def __init__(self, gl: Functions) -> None:
        self._gl = gl
        self._buffer = gl.name("Buffers")
        self._queries = {what: gl.name("Queries") for what in _COUNTED}
        self._framebuffer = gl.name("Framebuffers")
        self._planes: dict[tuple, tuple[int, int]] = {}
        self._room = 0

    # Vertices.

    def vertices(self, draw: Draw, program: int, components: int) -> tuple[np.ndarray, np.ndarray]:
        """Corners of a draw's triangles in clip space, and what else is put out.

        Parameters
        ----------
        draw : callable
        program : int
            That feeds them back; 0: the one that is in use.
        components : int
            Beside the position.

        Returns
        -------
        ndarray of float32, shape (3 n, 4)
        ndarray of uint32, shape (3 n, components)
        """
        gl = self._gl
        before = gl.integer(T.CURRENT_PROGRAM)
        generic = gl.integer(T.TRANSFORM_FEEDBACK_BUFFER_BINDING)
        if program:
            gl.glUseProgram(program)
        gl.glEnable(T.RASTERIZER_DISCARD)
        words = 4 + components
        try:
            count = self._feedback(draw)
            if 12 * words * count > self._room:
                self._make_room(12 * words * count)
                count = self._feedback(draw)
            found = self._fed_back(3 * count, words)
        finally:
            gl.glDisable(T.RASTERIZER_DISCARD)
            gl.glBindBufferBase(T.TRANSFORM_FEEDBACK_BUFFER, 0, 0)
            gl.glBindBuffer(T.TRANSFORM_FEEDBACK_BUFFER, generic)
            if program:
                gl.glUseProgram(before)
        return np.ascontiguousarray(found[:, :4]).view("<f4"), found[:, 4:]

    def _feedback(self, draw):
        """Draw into the buffer; how many triangles there were."""
        gl = self._gl
        if not self._room:
            self._make_room(_ROOM)
        gl.glBindBufferBase(T.TRANSFORM_FEEDBACK_BUFFER, 0, self._buffer)
        gl.glBeginTransformFeedback(T.TRIANGLES)
        with _attributes(gl):
            count = self._count(T.PRIMITIVES_GENERATED, draw)
        gl.glEndTransformFeedback()
        return count

    def _make_room(self, octets):
        gl = self._gl
        self._room = octets
        gl.glBindBuffer(T.TRANSFORM_FEEDBACK_BUFFER, self._buffer)
        gl.glBufferData(T.TRANSFORM_FEEDBACK_BUFFER, octets, None, T.STREAM_READ)

    def _fed_back(self, count, words):
        out = np.zeros((count, words), "<u4")
        if count:
            self._gl.glGetBufferSubData(T.TRANSFORM_FEEDBACK_BUFFER, 0, out.nbytes, out.ctypes.data)
        return out

    def _count(self, what, draw):
        """Make a draw, and count what OpenGL counts."""
        gl = self._gl
        gl.glBeginQuery(what, self._queries[what])
        draw()
        gl.glEndQuery(what)
        out = ctypes.c_uint()
        gl.glGetQueryObjectuiv(self._queries[what], T.QUERY_RESULT, ctypes.addressof(out))
        return out.value

    # Samples.

    def passed(self, draw: Draw) -> int:
        """Make a draw as it is; how many samples passed all tests."""
        return self._count(T.SAMPLES_PASSED, draw)

    # Fragments.

    def fragments(self, draw: Draw, targets: Bound, srgb: bool) -> np.ndarray:
        """Every fragment of a draw, in order: :data:`~fixfunc.cosim.recorded.frame.FRAGMENT`.

        Parameters
        ----------
        draw : callable
        targets : Bound
        srgb : bool
            Colours are converted as they are written.

        A test of alpha is off: it belongs to what becomes of fragments.
        """
        gl = self._gl
        with _untested(gl), reading(gl):
            self._bind(targets)
            box = self._box(*targets.size)
            counts = self._pass(draw, 0, box)
            deepest = int(counts.max(initial=0))
            if deepest > _MOST:
                raise Refused(f"more than {_MOST} fragments of a pixel")
            layers = []
            for order in range(deepest):
                if order:
                    self._pass(draw, order, box)
                layers.append(self._layer(order, counts, box, srgb))
        return np.concatenate(layers) if layers else np.zeros(0, FRAGMENT)

    def _bind(self, targets):
        """A surface of the same format, and stencil values to count with."""
        gl = self._gl
        width, height = targets.size
        form = targets.colour.internal if targets.colour else T.RGBA8
        is_float = targets.depth is not None and "FLOAT" in Format(targets.depth.form).name
        depth = T.DEPTH32F_STENCIL8 if is_float else T.DEPTH24_STENCIL8
        key = width, height, form, depth
        if key not in self._planes:
            self._planes[key] = self._plane(form, width, height), self._plane(depth, width, height)
        colour, depths = self._planes[key]
        gl.glBindFramebuffer(T.FRAMEBUFFER, self._framebuffer)
        for point, plane in ((T.COLOR_ATTACHMENT0, colour), (T.DEPTH_STENCIL_ATTACHMENT, depths)):
            gl.glFramebufferRenderbuffer(T.FRAMEBUFFER, point, T.RENDERBUFFER, plane)
        gl.glDrawBuffer(T.COLOR_ATTACHMENT0)
        gl.glReadBuffer(T.COLOR_ATTACHMENT0)
        if gl.glCheckFramebufferStatus(T.FRAMEBUFFER) != T.FRAMEBUFFER_COMPLETE:
            raise Refused(f"a second surface of OpenGL's format {form:#06x}")

    def _plane(self, form, width, height):
        gl = self._gl
        before = gl.integer(T.RENDERBUFFER_BINDING)
        name = gl.name("Renderbuffers")
        gl.glBindRenderbuffer(T.RENDERBUFFER, name)
        gl.glRenderbufferStorage(T.RENDERBUFFER, form, width, height)
        gl.glBindRenderbuffer(T.RENDERBUFFER, before)
        return name

    def _box(self, width, height):
        """Pixels that can be drawn on: x, y, width, height."""
        gl = self._gl
        x, y, wide, high = gl.floats(T.VIEWPORT, 4)
        # A pixel more to each side: what lies on an edge is rounded.
        sides = [int(x) - 1, int(y) - 1, int(x + wide) + 2, int(y + high) + 2]
        if gl.glIsEnabled(T.SCISSOR_TEST):
            left, low, across, up = gl.integers(T.SCISSOR_BOX, 4)
            sides[:2] = max(sides[0], left), max(sides[1], low)
            sides[2:] = min(sides[2], left + across), min(sides[3], low + up)
        left, low = max(sides[0], 0), max(sides[1], 0)
        return left, low, max(min(sides[2], width) - left, 0), max(min(sides[3], height) - low, 0)

    def _pass(self, draw, order, box):
        """Let the fragments through that are ``order``-th of their pixel; counts of all."""
        gl = self._gl
        gl.glClear(T.STENCIL_BUFFER_BIT)
        gl.glStencilFunc(T.EQUAL, order, 0xFF)
        with _attributes(gl):
            draw()
        return pixels(gl, box, T.STENCIL_INDEX, T.UNSIGNED_BYTE, "u1")

    def _layer(self, order, counts, box, srgb):
        """Fragments of one pass."""
        gl = self._gl
        rows, columns = np.nonzero(counts > order)
        low, left = rows.min(), columns.min()
        x, y = box[0] + int(left), box[1] + int(low)
        part = x, y, int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1
        at = rows - low, columns - left
        out = np.zeros(len(rows), FRAGMENT)
        out["x"] = box[0] + columns
        out["y"] = box[1] + rows
        out["order"] = order
        colours = pixels(gl, part, T.RGBA, T.FLOAT, "<f4", 4)[at]
        out["colour"] = linear(colours) if srgb else colours
        out["depth"] = pixels(gl, part, T.DEPTH_COMPONENT, T.FLOAT, "<f4")[at]
        return out


def linear(colours: np.ndarray) -> np.ndarray:
    """Colours of sRGB as linear ones: float32, shape (n, 4); alpha stays."""
    wide = colours.astype(np.float64)
    out = np.where(wide <= 0.04045, wide / 12.92, ((wide + 0.055) / 1.055) ** 2.4)
    out[:, 3] = wide[:, 3]
    return out.astype(np.float32)


def splits_otherwise(gl: Functions) -> bool:
    """llvmpipe's rasterizer splits quads otherwise than its feedback does."""
    is_first = gl.integer(T.PROVOKING_VERTEX) == T.FIRST_VERTEX_CONVENTION
    return not is_first and gl.integer(T.SHADE_MODEL) != T.FLAT


def split_quads(vertices: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quads as llvmpipe's rasterizer splits them, by their first and third corners.

    Feedback has them by the second and fourth, and so has the rasterizer where a corner of the draw
    lies beyond the window or the range of depths: then they stay.

    Parameters
    ----------
    vertices : ndarray of float32, shape (6 n, 4)
    values : ndarray of uint32, shape (6 n, components)
    """
    x, y, z, w = vertices.T
    if not ((np.abs(x) <= w) & (np.abs(y) <= w) & (np.abs(z) <= w)).all():
        return vertices, values
    # Of (0, 1, 3), (1, 2, 3): (0, 1, 2), (0, 2, 3).
    order = np.array([0, 1, 4, 0, 4, 5]) + 6 * np.arange(len(vertices) // 6)[:, None]
    return vertices[order.ravel()], values[order.ravel()]


@contextmanager
def _attributes(gl):
    """A draw leaves colours, normals and materials as they were."""
    if is_core(gl):
        yield
        return
    gl.glPushAttrib(T.CURRENT_BIT | T.LIGHTING_BIT)
    try:
        yield
    finally:
        gl.glPopAttrib()


def is_core(gl: Functions) -> bool:
    """The context has no fixed functions of old."""
    return bool(gl.integer(T.CONTEXT_PROFILE_MASK) & T.CONTEXT_CORE_PROFILE_BIT)


_FACES = (("", T.FRONT), ("BACK_", T.BACK))


@contextmanager
def _untested(gl):
    """No test but that of stencil values, nothing masked; then everything is as it was."""
    tests = [T.STENCIL_TEST, T.DEPTH_TEST, T.BLEND, T.DITHER]
    if not is_core(gl):
        tests.append(T.ALPHA_TEST)
    enabled = {name: bool(gl.glIsEnabled(name)) for name in tests}
    masks = gl.integers(T.COLOR_WRITEMASK, 4)
    depth_mask = gl.integer(T.DEPTH_WRITEMASK)
    depth_func = gl.integer(T.DEPTH_FUNC)
    clear = gl.integer(T.STENCIL_CLEAR_VALUE)
    framebuffer = gl.integer(T.DRAW_FRAMEBUFFER_BINDING)
    faces = [_stencil(gl, face) for face, _ in _FACES]
    for name in tests:
        gl.glDisable(name)
    gl.glEnable(T.STENCIL_TEST)
    # Depths are written only where they are tested.
    gl.glEnable(T.DEPTH_TEST)
    gl.glDepthFunc(T.ALWAYS)
    gl.glDepthMask(True)
    gl.glColorMask(True, True, True, True)
    gl.glStencilMask(0xFF)
    gl.glStencilOp(T.INCR, T.INCR, T.INCR)
    gl.glClearStencil(0)
    try:
        yield
    finally:
        for (_, face), values in zip(_FACES, faces, strict=True):
            gl.glStencilFuncSeparate(face, *values[:3])
            gl.glStencilOpSeparate(face, *values[3:6])
            gl.glStencilMaskSeparate(face, values[6])
        gl.glClearStencil(clear)
        gl.glColorMask(*masks)
        gl.glDepthMask(depth_mask)
        gl.glDepthFunc(depth_func)
        for name, on in enabled.items():
            (gl.glEnable if on else gl.glDisable)(name)
        gl.glBindFramebuffer(T.DRAW_FRAMEBUFFER, framebuffer)


def _stencil(gl, face):
    """Function, reference, mask; three operations; mask of writes."""
    names = ("FUNC", "REF", "VALUE_MASK", "FAIL", "PASS_DEPTH_FAIL", "PASS_DEPTH_PASS", "WRITEMASK")
    # A mask of all bits is read as -1.
    return [gl.integer(getattr(T, f"STENCIL_{face}{name}")) & 0xFFFFFFFF for name in names]
