# SPDX-License-Identifier: BSD-2-Clause
"""Tessellation by Mesa's llvmpipe: all vertices in order of emission, by transform feedback."""

import numpy as np

from fixfunc.models.tessellation.tessellator import FACTORS
from tests.oracles import llvmpipe

VERTEX = """
#version 410
void main() { gl_Position = vec4(0.0); }
"""
CONTROL = """
#version 410
layout(vertices = 1) out;
uniform vec4 outer;
uniform vec2 inner;
void main() {
    gl_out[gl_InvocationID].gl_Position = vec4(0.0);
    for (int n = 0; n < 4; ++n) gl_TessLevelOuter[n] = outer[n];
    for (int n = 0; n < 2; ++n) gl_TessLevelInner[n] = inner[n];
}
"""
EVALUATION = """
#version 410
layout({}) in;
out vec3 place;
void main() {{ place = gl_TessCoord; gl_Position = vec4(0.0); }}
"""
DOMAINS = {"isoline": "isolines", "triangle": "triangles", "quad": "quads"}
SPACINGS = {
    "integer": "equal_spacing",
    "fractional_odd": "fractional_odd_spacing",
    "fractional_even": "fractional_even_spacing",
}
WINDINGS = {  # y runs the other way in OpenGL
    "point": ["point_mode"],
    "line": [],
    "triangle_cw": ["ccw"],
    "triangle_ccw": ["cw"],
}
VERTEX_LIMIT = 3 * 2 * 66 * 66  # greatest number of vertices of a patch


class LlvmpipeTessellator:
    """Tessellates patches one by one."""

    def __init__(self):
        self._context, self._gl = llvmpipe.context(410)
        self._programs = {}
        # Without a target nothing is drawn at all.
        self._target = self._context.framebuffer([self._context.texture((8, 8), 1)])
        self._buffer = self._context.buffer(reserve=12 * VERTEX_LIMIT)
        self._query = int(np.ravel(self._gl.glGenQueries(1))[0])

    def stream(self, domain, outer, inner, partitioning, output):
        """Vertices of all primitives in a row: u and v in 1.16, ndarray of int64, shape (n, 2)."""
        gl = self._gl
        key = ", ".join([DOMAINS[domain], SPACINGS[partitioning], *WINDINGS[output]])
        if key not in self._programs:
            program = self._context.program(
                vertex_shader=VERTEX,
                tess_control_shader=CONTROL,
                varyings=["place"],
                tess_evaluation_shader=EVALUATION.format(key),
            )
            self._programs[key] = program, self._context.vertex_array(program, [])
        program, array = self._programs[key]
        for name, values, length in (("outer", outer, 4), ("inner", inner, 2)):
            padded = [*values, *[1] * (length - len(values))]
            program[name].value = tuple(map(float, padded))
        size, mode = {"point": (1, gl.GL_POINTS), "line": (2, gl.GL_LINES)}.get(
            output, (3, gl.GL_TRIANGLES)
        )
        self._target.use()
        gl.glUseProgram(program.glo)
        gl.glBindVertexArray(array.glo)
        gl.glPatchParameteri(gl.GL_PATCH_VERTICES, 1)
        gl.glBindBufferBase(gl.GL_TRANSFORM_FEEDBACK_BUFFER, 0, self._buffer.glo)
        gl.glBeginQuery(gl.GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, self._query)
        gl.glEnable(gl.GL_RASTERIZER_DISCARD)
        gl.glBeginTransformFeedback(mode)
        gl.glDrawArrays(gl.GL_PATCHES, 0, 1)
        gl.glEndTransformFeedback()
        gl.glDisable(gl.GL_RASTERIZER_DISCARD)
        gl.glEndQuery(gl.GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN)
        count = size * int(gl.glGetQueryObjectuiv(self._query, gl.GL_QUERY_RESULT))
        assert count < VERTEX_LIMIT
        places = np.frombuffer(self._buffer.read(12 * count), np.float32).reshape(count, 3)[:, :2]
        return np.rint(places.astype(np.float64) * (1 << 16)).astype(np.int64)


def factors(rng, domain):
    """Mixed factors: small and large ones, integers and others, just above one, out of range.

    Outer factors are above zero.
    """
    count = sum(FACTORS[domain])
    mixed = rng.uniform(0.01, rng.choice([3, 8, 20, 70]), count).astype(np.float32)
    kind = rng.random()
    if kind < 0.3:
        mixed = np.maximum(np.round(mixed), 1) + np.float32(1e-5) * (rng.random(count) < 0.2)
    elif kind < 0.5:
        mixed = rng.choice(
            np.float32([1, 1 + 2**-17, 1 + 2**-16, 1 + 2**-15, 1.00001, 2, 3, 0.5, 2.5]), count
        )
    if rng.random() < 0.2:
        mixed[rng.integers(0, count)] = rng.choice(np.float32([np.inf, 200, 64, 1e-30]))
    inner = mixed[FACTORS[domain][0] :]
    if len(inner) and rng.random() < 0.1:
        inner[0] = rng.choice(np.float32([np.nan, -1, 0, -np.inf]))
    return mixed[: FACTORS[domain][0]], inner
