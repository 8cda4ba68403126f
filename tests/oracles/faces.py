# SPDX-License-Identifier: BSD-2-Clause
"""Which face each pixel shows, and its attribute there, by Mesa's llvmpipe.

Clipper, setup, depth test and interpolation are those of others.
"""

import numpy as np

from tests.oracles import llvmpipe

VERTEX = """
#version 330
in vec4 position;
in float value;
out float shown;
void main() {
    gl_Position = vec4(position.x, -position.y, position.zw);
    shown = value;
}
"""
FRAGMENT = """
#version 330
in float shown;
layout(location = 0) out int face;
layout(location = 1) out float interpolated;
void main() {
    face = gl_PrimitiveID;
    interpolated = shown;
}
"""


class LlvmpipeFaces:
    """Draws triangles in clip space, 0 <= z <= w, y up, with a depth test; rows run down."""

    def __init__(self, width, height):
        self._context, self._gl = llvmpipe.context()
        context = self._context
        self._size = width, height
        self._faces = context.texture(self._size, 1, dtype="i4")
        self._values = context.texture(self._size, 1, dtype="f4")
        self._framebuffer = context.framebuffer(
            [self._faces, self._values], context.depth_texture(self._size)
        )
        self._program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)

    def __call__(self, positions, faces, values=None):
        """Number of the face, -1 where there is none, and the attribute: shape (height, width)."""
        context = self._context
        gl = self._gl
        values = np.zeros(len(positions)) if values is None else values
        rows = np.concatenate([positions, np.asarray(values)[:, None]], 1)
        buffer = context.buffer(np.ascontiguousarray(rows, "f4").tobytes())
        indices = context.buffer(np.ascontiguousarray(faces, "u4").tobytes())
        vao = context.vertex_array(
            self._program, [(buffer, "4f 1f", "position", "value")], index_buffer=indices
        )
        self._framebuffer.use()
        context.viewport = (0, 0, *self._size)
        _ = context.error  # moderngl leaves one, which PyOpenGL would take for its own
        gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_ZERO_TO_ONE)
        gl.glClearBufferiv(gl.GL_COLOR, 0, np.array([-1, 0, 0, 0], "i4"))
        gl.glClearBufferfv(gl.GL_COLOR, 1, np.zeros(4, "f4"))
        gl.glClearBufferfv(gl.GL_DEPTH, 0, np.array([1.0], "f4"))
        context.enable_only(context.DEPTH_TEST)
        context.depth_func = "<"
        vao.render(context.TRIANGLES)
        gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_NEGATIVE_ONE_TO_ONE)
        context.enable_only(context.NOTHING)
        return tuple(
            np.frombuffer(texture.read(), kind).reshape(self._size[::-1])
            for texture, kind in ((self._faces, "i4"), (self._values, "f4"))
        )
