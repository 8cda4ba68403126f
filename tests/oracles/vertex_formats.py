# SPDX-License-Identifier: BSD-2-Clause
"""Vertex formats by Mesa's llvmpipe: what its vertex shader is given, by transform feedback."""

import numpy as np

from fixfunc.models.frontend.vertex_formats import LAYOUTS
from fixfunc.spec.dxgi import Format
from tests.oracles import llvmpipe

SHADER = """
#version 410
in {kind}vec4 element;
flat out {kind}vec4 seen;
void main() {{ seen = element; gl_Position = vec4(0.0); }}
"""
MOST = 1 << 16  # elements at a time
TYPES = {
    ("UNORM", 8): "GL_UNSIGNED_BYTE",
    ("SNORM", 8): "GL_BYTE",
    ("UINT", 8): "GL_UNSIGNED_BYTE",
    ("SINT", 8): "GL_BYTE",
    ("UNORM", 16): "GL_UNSIGNED_SHORT",
    ("SNORM", 16): "GL_SHORT",
    ("UINT", 16): "GL_UNSIGNED_SHORT",
    ("SINT", 16): "GL_SHORT",
    ("FLOAT", 16): "GL_HALF_FLOAT",
    ("UINT", 32): "GL_UNSIGNED_INT",
    ("SINT", 32): "GL_INT",
    ("FLOAT", 32): "GL_FLOAT",
}
PACKED = {
    Format.R10G10B10A2_UNORM: (4, "GL_UNSIGNED_INT_2_10_10_10_REV"),
    Format.R11G11B10_FLOAT: (3, "GL_UNSIGNED_INT_10F_11F_11F_REV"),
    Format.B8G8R8A8_UNORM: ("GL_BGRA", "GL_UNSIGNED_BYTE"),
}
# GL has no such vertex data.
ABSENT = (
    Format.R10G10B10A2_UINT,
    Format.B5G6R5_UNORM,
    Format.B5G5R5A1_UNORM,
    Format.B8G8R8X8_UNORM,
    Format.B4G4R4A4_UNORM,
)


class LlvmpipeVertexFormats:
    """Fetches elements of a format."""

    def __init__(self):
        self._context, self._gl = llvmpipe.context(410)
        self._target = self._context.framebuffer([self._context.texture((8, 8), 1)])
        self._data = self._context.buffer(reserve=16 * MOST)
        self._seen = self._context.buffer(reserve=16 * MOST)

    def fetch(self, data, form):
        """Elements of ``data``, uint8 of shape (n, size): bits of the registers, uint32 (n, 4)."""
        gl = self._gl
        layout = LAYOUTS[form]
        is_integer = layout.kind in ("UINT", "SINT")
        kind = {"UINT": "u", "SINT": "i"}.get(layout.kind, "")
        program = self._context.program(vertex_shader=SHADER.format(kind=kind), varyings=["seen"])
        array = self._context.vertex_array(program, [])
        self._data.write(data.tobytes())
        self._target.use()
        gl.glUseProgram(program.glo)
        gl.glBindVertexArray(array.glo)
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, self._data.glo)
        place = gl.glGetAttribLocation(program.glo, "element")
        gl.glEnableVertexAttribArray(place)
        count, name = PACKED.get(form) or (
            len(layout.channels),
            TYPES[layout.kind, layout.channels[0].bits],
        )
        count = getattr(gl, count) if isinstance(count, str) else count
        if is_integer:
            gl.glVertexAttribIPointer(place, count, getattr(gl, name), layout.size, None)
        else:
            normalised = layout.kind in ("UNORM", "SNORM")
            gl.glVertexAttribPointer(place, count, getattr(gl, name), normalised, layout.size, None)
        gl.glEnable(gl.GL_RASTERIZER_DISCARD)
        gl.glBindBufferBase(gl.GL_TRANSFORM_FEEDBACK_BUFFER, 0, self._seen.glo)
        gl.glBeginTransformFeedback(gl.GL_POINTS)
        gl.glDrawArrays(gl.GL_POINTS, 0, len(data))
        gl.glEndTransformFeedback()
        gl.glDisable(gl.GL_RASTERIZER_DISCARD)
        return np.frombuffer(self._seen.read()[: 16 * len(data)], np.uint32).reshape(-1, 4)
