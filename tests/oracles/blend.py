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


class LlvmpipeBlend:
    """SRC_ALPHA, ONE_MINUS_SRC_ALPHA, on RGBA8, of all four channels."""

    def __init__(self):
        self._context, _ = llvmpipe.context()

    def __call__(self, new, old):
        """What is stored: uint8, shape (height, width, 4), as both are."""
        context = self._context
        size = new.shape[1::-1]
        source = context.texture(size, 4, np.ascontiguousarray(new).tobytes())
        target = context.texture(size, 4, np.ascontiguousarray(old).tobytes())
        context.framebuffer([target]).use()
        context.enable(context.BLEND)
        context.blend_func = context.SRC_ALPHA, context.ONE_MINUS_SRC_ALPHA
        source.use(0)
        context.vertex_array(
            context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT), []
        ).render(context.TRIANGLES, 3)
        return np.frombuffer(target.read(), np.uint8).reshape(old.shape)
