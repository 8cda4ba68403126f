# SPDX-License-Identifier: BSD-2-Clause
"""Depth and stencil by Mesa's llvmpipe: a test that nobody here wrote."""

import numpy as np

from fixfunc.spec.state import Compare, StencilOp
from tests.oracles import llvmpipe
from tests.oracles.coverage import SIZE, VIEWPORT

VERTEX = """
#version 330
in vec3 position;
void main() { gl_Position = vec4(position, 1.0); }
"""
FRAGMENT = """
#version 330
out float colour;
void main() { colour = 1.0; }
"""
FUNCTIONS = {
    Compare.NEVER: "NEVER",
    Compare.LESS: "LESS",
    Compare.EQUAL: "EQUAL",
    Compare.LESS_EQUAL: "LEQUAL",
    Compare.GREATER: "GREATER",
    Compare.NOT_EQUAL: "NOTEQUAL",
    Compare.GREATER_EQUAL: "GEQUAL",
    Compare.ALWAYS: "ALWAYS",
}
OPERATIONS = {
    StencilOp.KEEP: "KEEP",
    StencilOp.ZERO: "ZERO",
    StencilOp.REPLACE: "REPLACE",
    StencilOp.INCR_SAT: "INCR",
    StencilOp.DECR_SAT: "DECR",
    StencilOp.INVERT: "INVERT",
    StencilOp.INCR: "INCR_WRAP",
    StencilOp.DECR: "DECR_WRAP",
}


class LlvmpipeDepth:
    """A target of 64x64 pixels, one sample each, with 24 bits of depth and 8 of stencil.

    It is cleared to 1.0 and 0.

    Window y runs with the rows of a texture: what is clockwise there is GL's counter-clockwise, the
    front of both.
    """

    def __init__(self):
        self._context, GL = llvmpipe.context()
        self._gl = GL
        self._buffer = self._context.buffer(reserve=36)
        self._triangle = self._context.vertex_array(
            self._context.program(VERTEX, FRAGMENT), [(self._buffer, "3f", "position")]
        )
        self._framebuffer = self._context.framebuffer([self._context.texture((SIZE, SIZE), 1)])
        self._framebuffer.use()
        planes = GL.glGenRenderbuffers(1)
        GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, planes)
        GL.glRenderbufferStorage(GL.GL_RENDERBUFFER, GL.GL_DEPTH24_STENCIL8, SIZE, SIZE)
        GL.glFramebufferRenderbuffer(
            GL.GL_FRAMEBUFFER, GL.GL_DEPTH_STENCIL_ATTACHMENT, GL.GL_RENDERBUFFER, planes
        )
        assert GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER) == GL.GL_FRAMEBUFFER_COMPLETE
        for what in (GL.GL_DEPTH_TEST, GL.GL_STENCIL_TEST, GL.GL_POLYGON_OFFSET_FILL):
            GL.glEnable(what)
        GL.glClearDepth(1.0)
        GL.glClearStencil(0)
        GL.glDepthMask(True)
        GL.glStencilMask(0xFF)
        GL.glClear(GL.GL_DEPTH_BUFFER_BIT | GL.GL_STENCIL_BUFFER_BIT)

    def draw(self, triangle, depths, state):
        """Draw one triangle under the tests of a draw state.

        Its positions are int, shape (3, 2), in 1/256 pixel, its depths 0 to 1.
        """
        gl = self._gl
        origin = (VIEWPORT - SIZE) // 2
        self._framebuffer.use()
        self._context.viewport = (-origin, -origin, VIEWPORT, VIEWPORT)
        gl.glDepthFunc(
            self._function(state["depth_compare"]) if state["depth_test"] else gl.GL_ALWAYS
        )
        gl.glDepthMask(bool(state["depth_write"] and state["depth_test"]))
        constant = int(np.int32(np.uint32(state["bias_constant"])))
        gl.glPolygonOffset(float(np.uint32(state["bias_slope"]).view(np.float32)), float(constant))
        (gl.glEnable if state["stencil_test"] else gl.glDisable)(gl.GL_STENCIL_TEST)
        gl.glStencilMask(int(state["stencil_write"]))
        for side, face in (("front", gl.GL_FRONT), ("back", gl.GL_BACK)):
            gl.glStencilFuncSeparate(
                face,
                self._function(state[f"stencil_{side}_func"]),
                int(state["stencil_ref"]),
                int(state["stencil_read"]),
            )
            gl.glStencilOpSeparate(
                face,
                *(
                    getattr(gl, f"GL_{OPERATIONS[StencilOp(state[f'stencil_{side}_{name}'])]}")
                    for name in ("fail", "depth_fail", "pass")
                ),
            )
        clip = (np.asarray(triangle, np.float64) / 256 + origin) * (2 / VIEWPORT) - 1
        self._buffer.write(
            np.concatenate([clip, 2 * np.asarray(depths, np.float64)[:, None] - 1], 1)
            .astype("f4")
            .tobytes()
        )
        self._triangle.render()

    def _function(self, compare):
        return getattr(self._gl, f"GL_{FUNCTIONS[Compare(compare)]}")

    def planes(self):
        """What is stored: depths in units of D24, float64; stencil values; both (SIZE, SIZE)."""
        gl = self._gl
        depth = gl.glReadPixels(0, 0, SIZE, SIZE, gl.GL_DEPTH_COMPONENT, gl.GL_UNSIGNED_INT)
        stencil = gl.glReadPixels(0, 0, SIZE, SIZE, gl.GL_STENCIL_INDEX, gl.GL_UNSIGNED_BYTE)
        depth = np.frombuffer(depth, np.uint32).reshape(SIZE, SIZE)
        stencil = np.frombuffer(stencil, np.uint8).reshape(SIZE, SIZE)
        return depth.astype(np.float64) * (((1 << 24) - 1) / ((1 << 32) - 1)), stencil
