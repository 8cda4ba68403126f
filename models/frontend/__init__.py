# SPDX-License-Identifier: BSD-2-Clause
"""The front end: what a command stream says, and the vertices of a draw call.

command_processor.py  packets of a ring: work, waits, events; state: of work
command_reader.py     packets in memory become triangles, draw states, clears and fences;
                      command_limits.py: of what its hardware has
input_assembler.py    indices, cut, and marked where primitives begin; topology.py: of which kind
vertex_cache.py       vertices that several primitives share are shaded once
vertex_fetch.py       elements of vertices from buffers; vertex_formats.py: what their bits say
vertex_ring.py        vertices in slots, triangles by them
vertex_stage.py       the port to a vertex shader: waves of 32, with masks; compute_stage.py: to
                      a compute shader, by thread groups
work_distributor.py   batches to clusters, and back in order
"""
