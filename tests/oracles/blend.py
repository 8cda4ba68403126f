# SPDX-License-Identifier: BSD-2-Clause
"""Colours mixed by Mesa's llvmpipe."""

import numpy as np

from tests.oracles import llvmpipe

VERTEX = """
#version 330
void main() {
    vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    gl_Position = vec4(corner, 0.0, 1.0);
}
"""
FRAGMENT = """
#version 330
uniform sampler2D source;
out vec4 colour;
void main() { colour = texelFetch(source, ivec2(gl_FragCoord.xy), 0); }
"""


# By the numbers of D3D11.
FACTORS = (
    None,
    "ZERO",
    "ONE",
    "SRC_COLOR",
    "ONE_MINUS_SRC_COLOR",
    "SRC_ALPHA",
    "ONE_MINUS_SRC_ALPHA",
    "DST_ALPHA",
    "ONE_MINUS_DST_ALPHA",
    "DST_COLOR",
    "ONE_MINUS_DST_COLOR",
    "SRC_ALPHA_SATURATE",
)
OPERATIONS = (None, "FUNC_ADD", "FUNC_SUBTRACT", "FUNC_REVERSE_SUBTRACT", "MIN", "MAX")
LOGIC = (
    "CLEAR",
    "SET",
    "COPY",
    "COPY_INVERTED",
    "NOOP",
    "INVERT",
    "AND",
    "NAND",
    "OR",
    "NOR",
    "XOR",
    "EQUIV",
    "AND_REVERSE",
    "AND_INVERTED",
    "OR_REVERSE",
    "OR_INVERTED",
)


class LlvmpipeBlend:
    """Colours mixed on RGBA8: by SRC_ALPHA, ONE_MINUS_SRC_ALPHA of all channels, if called."""

    def __init__(self):
        self._context, self._gl = llvmpipe.context()
        self._program = self._context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)

    def __call__(self, new, old):
        """What is stored: uint8, shape (height, width, 4), as both are."""
        gl = self._gl
        return self._draw(
            new,
            old,
            gl.GL_BLEND,
            lambda: gl.glBlendFunc(gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA),
        )

    def modes(self, new, old, state):
        """By a :class:`~fixfunc.models.output.blend.Blend` without constants or second colours."""
        gl = self._gl
        factors = [
            getattr(gl, f"GL_{FACTORS[factor]}")
            for factor in (state.source, state.target, state.source_alpha, state.target_alpha)
        ]
        operations = [getattr(gl, f"GL_{OPERATIONS[op]}") for op in (state.op, state.op_alpha)]

        def setup():
            gl.glBlendFuncSeparate(*factors)
            gl.glBlendEquationSeparate(*operations)

        return self._draw(new, old, gl.GL_BLEND, setup)

    def logic(self, new, old, op):
        """By a logic operation."""
        gl = self._gl
        return self._draw(
            new, old, gl.GL_COLOR_LOGIC_OP, lambda: gl.glLogicOp(getattr(gl, f"GL_{LOGIC[op]}"))
        )

    def _draw(self, new, old, feature, setup):
        context = self._context
        gl = self._gl
        size = new.shape[1::-1]
        source = context.texture(size, 4, np.ascontiguousarray(new).tobytes())
        target = context.texture(size, 4, np.ascontiguousarray(old).tobytes())
        framebuffer = context.framebuffer([target])
        framebuffer.use()
        context.enable_only(context.NOTHING)
        _ = context.error  # moderngl leaves one, which PyOpenGL would take for its own
        gl.glEnable(feature)
        setup()
        source.use(0)
        context.vertex_array(self._program, []).render(context.TRIANGLES, 3)
        gl.glDisable(feature)
        gl.glBlendEquation(gl.GL_FUNC_ADD)
        data = np.frombuffer(target.read(), np.uint8).reshape(old.shape)
        for made in (framebuffer, source, target):
            made.release()
        return data
