# SPDX-License-Identifier: BSD-2-Clause
"""Which face each pixel shows, by Mesa's llvmpipe: clipper, setup and depth test of others."""

import numpy as np

from tests.oracles import llvmpipe

VERTEX = """
#version 330
in vec4 position;
void main() { gl_Position = vec4(position.x, -position.y, position.zw); }
"""
FRAGMENT = """
#version 330
out int face;
void main() { face = gl_PrimitiveID; }
"""


class LlvmpipeFaces:
    """Draws triangles in clip space, 0 <= z <= w, y up, with a depth test; rows run down."""

    def __init__(self, width, height):
        self._context, self._gl = llvmpipe.context()
        context = self._context
        self._size = width, height
        self._target = context.texture(self._size, 1, dtype="i4")
        self._framebuffer = context.framebuffer([self._target], context.depth_texture(self._size))
        self._program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)

    def __call__(self, positions, faces, mode="triangles"):
        """Number of the face, -1 where there is none: int32, shape (height, width)."""
        context = self._context
        gl = self._gl
        buffer = context.buffer(np.ascontiguousarray(positions, "f4").tobytes())
        indices = context.buffer(np.ascontiguousarray(faces, "u4").tobytes())
        vao = context.vertex_array(
            self._program, [(buffer, "4f", "position")], index_buffer=indices
        )
        self._framebuffer.use()
        context.viewport = (0, 0, *self._size)
        gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_ZERO_TO_ONE)
        gl.glClearBufferiv(gl.GL_COLOR, 0, np.array([-1, 0, 0, 0], "i4"))
        gl.glClearBufferfv(gl.GL_DEPTH, 0, np.array([1.0], "f4"))
        context.enable_only(context.DEPTH_TEST)
        context.depth_func = "<"
        vao.render(getattr(context, mode.upper()))
        gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_NEGATIVE_ONE_TO_ONE)
        context.enable_only(context.NOTHING)
        data = np.frombuffer(self._target.read(), "i4")
        return data.reshape(self._size[::-1])
