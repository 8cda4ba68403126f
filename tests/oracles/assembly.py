# SPDX-License-Identifier: BSD-2-Clause
"""Primitives by Mesa's llvmpipe: what its geometry shader sees, by transform feedback."""

import numpy as np

from fixfunc.spec.draw import Topology
from tests.oracles import llvmpipe

VERTEX = """
#version 330
flat out int vertex;
void main() { vertex = gl_VertexID; gl_Position = vec4(0.0); }
"""
FRAGMENT = """
#version 330
out float colour;
void main() { colour = 1.0; }
"""
GEOMETRY = """
#version 330
layout({kind}) in;
layout(points, max_vertices = {size}) out;
flat in int vertex[];
flat out int seen;
flat out int number;
void main() {{
    for (int n = 0; n < {size}; ++n) {{
        seen = vertex[n];
        number = gl_PrimitiveIDIn;
        EmitVertex();
        EndPrimitive();
    }}
}}
"""
MODES = {  # GL's name, what the geometry shader takes, vertices of it
    Topology.POINT_LIST: ("GL_POINTS", "points", 1),
    Topology.LINE_LIST: ("GL_LINES", "lines", 2),
    Topology.LINE_STRIP: ("GL_LINE_STRIP", "lines", 2),
    Topology.LINE_LOOP: ("GL_LINE_LOOP", "lines", 2),
    Topology.TRIANGLE_LIST: ("GL_TRIANGLES", "triangles", 3),
    Topology.TRIANGLE_STRIP: ("GL_TRIANGLE_STRIP", "triangles", 3),
    Topology.TRIANGLE_FAN: ("GL_TRIANGLE_FAN", "triangles", 3),
    Topology.LINE_LIST_ADJ: ("GL_LINES_ADJACENCY", "lines_adjacency", 4),
    Topology.LINE_STRIP_ADJ: ("GL_LINE_STRIP_ADJACENCY", "lines_adjacency", 4),
    Topology.TRIANGLE_LIST_ADJ: ("GL_TRIANGLES_ADJACENCY", "triangles_adjacency", 6),
    Topology.TRIANGLE_STRIP_ADJ: ("GL_TRIANGLE_STRIP_ADJACENCY", "triangles_adjacency", 6),
}
MOST = 1 << 16  # vertices that are seen
TYPES = {2: "GL_UNSIGNED_SHORT", 4: "GL_UNSIGNED_INT"}


class LlvmpipeAssembly:
    """Draws rows of vertices; the leading vertex of a primitive is its first."""

    def __init__(self):
        self._context, self._gl = llvmpipe.context(410)
        self._target = self._context.framebuffer([self._context.texture((8, 8), 1)])
        self._seen = self._context.buffer(reserve=8 * MOST)
        self._indices = self._context.buffer(reserve=4 * MOST)
        self._query = int(np.ravel(self._gl.glGenQueries(1))[0])
        self._programs = {}
        self._drawing = None
        self._streaming = None

    def statistics(self, topology, count):
        """Vertices and primitives of a draw, and primitives that the clipper takes."""
        gl = self._gl
        if not self._drawing:
            program = self._context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
            self._drawing = program, self._context.vertex_array(program, [])
        self._target.use()
        gl.glUseProgram(self._drawing[0].glo)
        gl.glBindVertexArray(self._drawing[1].glo)
        names = {"vertices": 0x82EE, "primitives": 0x82EF, "clipped": 0x82F6}
        queries = {name: int(np.ravel(gl.glGenQueries(1))[0]) for name in names}
        for name, target in names.items():
            gl.glBeginQuery(target, queries[name])
        gl.glDrawArrays(getattr(gl, MODES[topology][0]), 0, count)
        for target in names.values():
            gl.glEndQuery(target)
        return {
            name: int(gl.glGetQueryObjectuiv(query, gl.GL_QUERY_RESULT))
            for name, query in queries.items()
        }

    def streamed(self, topology, count):
        """Vertices that transform feedback writes without a geometry shader: int32, (n, 1 to 3)."""
        gl = self._gl
        mode, kind, _ = MODES[topology]
        size = {"points": 1, "lines": 2}.get(kind.removesuffix("_adjacency"), 3)
        if not self._streaming:
            program = self._context.program(vertex_shader=VERTEX, varyings=["vertex"])
            self._streaming = program, self._context.vertex_array(program, [])
        self._target.use()
        gl.glProvokingVertex(gl.GL_FIRST_VERTEX_CONVENTION)
        gl.glUseProgram(self._streaming[0].glo)
        gl.glBindVertexArray(self._streaming[1].glo)
        gl.glEnable(gl.GL_RASTERIZER_DISCARD)
        gl.glBindBufferBase(gl.GL_TRANSFORM_FEEDBACK_BUFFER, 0, self._seen.glo)
        gl.glBeginQuery(gl.GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, self._query)
        gl.glBeginTransformFeedback((gl.GL_POINTS, gl.GL_LINES, gl.GL_TRIANGLES)[size - 1])
        gl.glDrawArrays(getattr(gl, mode), 0, count)
        gl.glEndTransformFeedback()
        gl.glEndQuery(gl.GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN)
        gl.glDisable(gl.GL_RASTERIZER_DISCARD)
        written = int(gl.glGetQueryObjectuiv(self._query, gl.GL_QUERY_RESULT))
        data = self._seen.read()[: 4 * size * written]
        return np.frombuffer(data, np.int32).reshape(-1, size)

    def primitives(self, topology, count, indices=None):
        """Vertices of each primitive, shape (n, k), and PrimitiveIDs, shape (n,): int32.

        ``indices`` is of uint16 or uint32; all ones cut.
        """
        gl = self._gl
        mode, kind, size = MODES[topology]
        if kind not in self._programs:
            program = self._context.program(
                vertex_shader=VERTEX,
                geometry_shader=GEOMETRY.format(kind=kind, size=size),
                varyings=["seen", "number"],
            )
            self._programs[kind] = program, self._context.vertex_array(program, [])
        program, array = self._programs[kind]
        self._target.use()
        gl.glProvokingVertex(gl.GL_FIRST_VERTEX_CONVENTION)
        gl.glUseProgram(program.glo)
        gl.glBindVertexArray(array.glo)
        gl.glEnable(gl.GL_RASTERIZER_DISCARD)
        gl.glBindBufferBase(gl.GL_TRANSFORM_FEEDBACK_BUFFER, 0, self._seen.glo)
        gl.glBeginQuery(gl.GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, self._query)
        gl.glBeginTransformFeedback(gl.GL_POINTS)
        if indices is None:
            gl.glDrawArrays(getattr(gl, mode), 0, count)
        else:
            width = indices.dtype.itemsize
            self._indices.write(indices.tobytes())
            gl.glEnable(gl.GL_PRIMITIVE_RESTART)
            gl.glPrimitiveRestartIndex((1 << 8 * width) - 1)
            gl.glBindBuffer(gl.GL_ELEMENT_ARRAY_BUFFER, self._indices.glo)
            gl.glDrawElements(getattr(gl, mode), count, getattr(gl, TYPES[width]), None)
            gl.glDisable(gl.GL_PRIMITIVE_RESTART)
        gl.glEndTransformFeedback()
        gl.glEndQuery(gl.GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN)
        gl.glDisable(gl.GL_RASTERIZER_DISCARD)
        seen = int(gl.glGetQueryObjectuiv(self._query, gl.GL_QUERY_RESULT))
        assert seen < MOST
        pairs = np.frombuffer(self._seen.read()[: 8 * seen], np.int32).reshape(-1, size, 2)
        return pairs[..., 0], pairs[:, 0, 1]
