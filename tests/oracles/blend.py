# SPDX-License-Identifier: BSD-2-Clause
"""Colours mixed by Mesa's llvmpipe."""

import ctypes

import numpy as np

from fixfunc.spec.dxgi import Format
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
# How OpenGL stores a target, and what its bytes are.
TARGETS = {
    Format.R8G8B8A8_UNORM: ("RGBA8", "RGBA", "UNSIGNED_BYTE"),
    Format.B8G8R8A8_UNORM: ("RGBA8", "BGRA", "UNSIGNED_BYTE"),
    Format.R8G8B8A8_SNORM: ("RGBA8_SNORM", "RGBA", "BYTE"),
    Format.R8G8B8A8_UNORM_SRGB: ("SRGB8_ALPHA8", "RGBA", "UNSIGNED_BYTE"),
    Format.B8G8R8A8_UNORM_SRGB: ("SRGB8_ALPHA8", "BGRA", "UNSIGNED_BYTE"),
    Format.R8_UNORM: ("R8", "RED", "UNSIGNED_BYTE"),
    Format.R8_SNORM: ("R8_SNORM", "RED", "BYTE"),
    Format.R8G8_UNORM: ("RG8", "RG", "UNSIGNED_BYTE"),
    Format.R8G8_SNORM: ("RG8_SNORM", "RG", "BYTE"),
    Format.R16_UNORM: ("R16", "RED", "UNSIGNED_SHORT"),
    Format.R16_SNORM: ("R16_SNORM", "RED", "SHORT"),
    Format.R16G16_UNORM: ("RG16", "RG", "UNSIGNED_SHORT"),
    Format.R16G16_SNORM: ("RG16_SNORM", "RG", "SHORT"),
    Format.R16G16B16A16_UNORM: ("RGBA16", "RGBA", "UNSIGNED_SHORT"),
    Format.R16G16B16A16_SNORM: ("RGBA16_SNORM", "RGBA", "SHORT"),
    Format.R10G10B10A2_UNORM: ("RGB10_A2", "RGBA", "UNSIGNED_INT_2_10_10_10_REV"),
    Format.B5G6R5_UNORM: ("RGB565", "RGB", "UNSIGNED_SHORT_5_6_5"),
    Format.B5G5R5A1_UNORM: ("RGB5_A1", "BGRA", "UNSIGNED_SHORT_1_5_5_5_REV"),
    Format.B4G4R4A4_UNORM: ("RGBA4", "BGRA", "UNSIGNED_SHORT_4_4_4_4_REV"),
}


class LlvmpipeBlend:
    """Colours mixed on RGBA8, or on another of :data:`TARGETS`.

    If called, by SRC_ALPHA and ONE_MINUS_SRC_ALPHA of all channels.
    """

    def __init__(self):
        self._context, self._gl = llvmpipe.context()
        from OpenGL.raw.GL.VERSION import GL_1_1

        self._read = GL_1_1.glGetTexImage
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

    def modes(self, new, old, state, form=Format.R8G8B8A8_UNORM):
        """By a :class:`~fixfunc.models.output.blend.Blend` without constants or second colours.

        ``new`` has bytes, or float32; ``old`` the bytes of :data:`TARGETS`, shape (height, width,
        bytes).
        """
        gl = self._gl
        factors = [
            getattr(gl, f"GL_{FACTORS[factor]}")
            for factor in (state.source, state.target, state.source_alpha, state.target_alpha)
        ]
        operations = [getattr(gl, f"GL_{OPERATIONS[op]}") for op in (state.op, state.op_alpha)]

        def setup():
            gl.glBlendFuncSeparate(*factors)
            gl.glBlendEquationSeparate(*operations)

        return self._draw(new, old, gl.GL_BLEND, setup, form)

    def logic(self, new, old, op):
        """By a logic operation."""
        gl = self._gl
        return self._draw(
            new, old, gl.GL_COLOR_LOGIC_OP, lambda: gl.glLogicOp(getattr(gl, f"GL_{LOGIC[op]}"))
        )

    def _draw(self, new, old, feature, setup, form=Format.R8G8B8A8_UNORM):
        context = self._context
        gl = self._gl
        size = new.shape[1::-1]
        kind = "f4" if new.dtype == np.float32 else "f1"
        source = context.texture(size, 4, np.ascontiguousarray(new).tobytes(), dtype=kind)
        source.filter = context.NEAREST, context.NEAREST
        context.enable_only(context.NOTHING)
        _ = context.error  # moderngl leaves one, which PyOpenGL would take for its own
        target, framebuffer = self._target(old, form)
        gl.glEnable(feature)
        gl.glEnable(gl.GL_FRAMEBUFFER_SRGB)
        setup()
        source.use(0)
        context.vertex_array(self._program, []).render(context.TRIANGLES, 3)
        gl.glDisable(gl.GL_FRAMEBUFFER_SRGB)
        gl.glDisable(feature)
        gl.glBlendEquation(gl.GL_FUNC_ADD)
        gl.glBindTexture(gl.GL_TEXTURE_2D, target)
        _, layout, kind = self._names(form)
        data = np.zeros_like(old, order="C")
        # PyOpenGL's own does not know all layouts.
        self._read(gl.GL_TEXTURE_2D, 0, layout, kind, ctypes.c_void_p(data.ctypes.data))
        gl.glDeleteFramebuffers(1, [framebuffer])
        gl.glDeleteTextures([target])
        source.release()
        return data

    def _names(self, form):
        return [getattr(self._gl, f"GL_{name}") for name in TARGETS[form]]

    def _target(self, old, form):
        """A texture of a format, and the framebuffer that draws to it, which is bound."""
        gl = self._gl
        internal, layout, kind = self._names(form)
        height, width = old.shape[:2]
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 1)
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)
        target = gl.glGenTextures(1)
        gl.glBindTexture(gl.GL_TEXTURE_2D, target)
        data = np.ascontiguousarray(old).tobytes()
        gl.glTexImage2D(gl.GL_TEXTURE_2D, 0, internal, width, height, 0, layout, kind, data)
        framebuffer = gl.glGenFramebuffers(1)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, framebuffer)
        place = gl.GL_COLOR_ATTACHMENT0, gl.GL_TEXTURE_2D
        gl.glFramebufferTexture2D(gl.GL_FRAMEBUFFER, *place, target, 0)
        complete = gl.glCheckFramebufferStatus(gl.GL_FRAMEBUFFER)
        assert complete == gl.GL_FRAMEBUFFER_COMPLETE, form
        gl.glViewport(0, 0, width, height)
        return target, framebuffer
