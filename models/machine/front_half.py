# SPDX-License-Identifier: BSD-2-Clause
"""The front half: a draw call becomes snapped triangles, stage by stage."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend import input_assembler, vertex_cache, vertex_fetch, vertex_stage
from fixfunc.models.frontend.input_assembler import Draw, IndexBuffer
from fixfunc.models.frontend.vertex_fetch import Element, VertexBuffer
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves, Vertices
from fixfunc.models.geometry import (
    geometry_stage,
    primitive_assembly,
    projection,
    stream_output,
)
from fixfunc.models.geometry.geometry_stage import GeometryStage, Stream
from fixfunc.models.geometry.projection import Rasterizer
from fixfunc.models.geometry.stream_output import Declaration, StreamBuffer
from fixfunc.models.tessellation import stages
from fixfunc.models.tessellation.stages import HullPatches, Tessellation
from fixfunc.spec.draw import PATCH, Topology
from fixfunc.spec.errors import InputError

PART = 1 << 20  # vertices of as many instances as are taken at a time


@dataclass(frozen=True)
class FrontState:
    """State of all stages of the front half.

    Parameters
    ----------
    shader : callable
        Vertex shader: takes :class:`VertexWaves`, returns :class:`VertexResults`.
    elements : sequence of Element
        Input layout.
    vertex_buffers : mapping of slot to VertexBuffer
    index_buffer : IndexBuffer, optional
    topology : Topology
    reuse : "batch" or "fifo"
        See :func:`fixfunc.models.frontend.vertex_cache.reuse`.
    tessellation : Tessellation, optional
        Of patches.
    geometry : GeometryStage, optional
    stream_output : mapping of stream to Declaration
    stream_buffers : mapping of slot to StreamBuffer
    rasterized : int, optional
        The stream that is drawn; None: nothing is.
    rasterizer : Rasterizer
    """

    shader: Callable[[VertexWaves], VertexResults]
    elements: Sequence[Element] = ()
    vertex_buffers: Mapping[int, VertexBuffer] = field(default_factory=dict)
    index_buffer: IndexBuffer | None = None
    topology: int = Topology.TRIANGLE_LIST
    reuse: str = "batch"
    tessellation: Tessellation | None = None
    geometry: GeometryStage | None = None
    stream_output: Mapping[int, Declaration] = field(default_factory=dict)
    stream_buffers: Mapping[int, StreamBuffer] = field(default_factory=dict)
    rasterized: int | None = 0
    rasterizer: Rasterizer = field(default_factory=Rasterizer)

    def __post_init__(self):
        is_patch = self.topology >= PATCH
        if self.tessellation and not is_patch:
            raise InputError("topology", "be a patch if there is tessellation", self.topology)
        is_drawn = self.rasterized is not None and not self.geometry and not self.tessellation
        if is_patch and is_drawn:
            raise InputError("topology", "be no patch if it is drawn as it is", self.topology)
        slots = [
            {entry.slot for entry in declaration.entries}
            for declaration in self.stream_output.values()
        ]
        if sum(map(len, slots)) != len(set().union(*slots)):
            raise InputError("stream_output", "name a slot for one stream", slots)


class Part(NamedTuple):
    """Triangles of some instances, in API order."""

    triangles: np.ndarray  # triangle_setup.TRIANGLE, shape (m,)
    instance: np.ndarray  # uint32, shape (m,): InstanceID
    primitive: np.ndarray  # uint32, shape (m,): PrimitiveID
    viewport: np.ndarray  # uint32, shape (m,): which it was projected by
    layer: np.ndarray  # uint32, shape (m,): of the target's array
    slots: np.ndarray  # intp, shape (m, 3): which of ``vertices`` each corner's attributes are of
    weights: np.ndarray  # float32, shape (m, 3, 3): of each corner, those at its three slots
    rhw: np.ndarray  # float32, shape (m, 3): 1/w of each corner
    faces: np.ndarray | None  # geometry.faces.FACE, shape (m,); None: setup decides
    vertices: Vertices
    counters: Counter


def run(draw: Draw, state: FrontState) -> Iterator[Part]:
    """Take a draw call to triangles, some instances at a time.

    Parameters
    ----------
    draw : Draw
    state : FrontState

    Yields
    ------
    Part
        Counters are D3D11's statistics by their names, such as ``ia_vertices``; of stream n
        ``so_written_n`` and ``so_needed_n``; and what was dropped, and why.

    Raises
    ------
    InputError
        State that breaks a rule, or a shader's results; parts before were right.
    """
    assembled = input_assembler.assemble(draw, state.topology, state.index_buffer)
    primitives = primitive_assembly.assemble(assembled.records, state.topology)
    many = max(PART // max(len(assembled.records), 1), 1)
    instances = draw.instances if draw.count else min(draw.instances, 1)
    for first in range(0, instances, many):
        count = min(many, instances - first)
        yield _part(draw, state, assembled, primitives, np.arange(first, first + count))


class _Flow(NamedTuple):
    """Primitives between two stages."""

    vertices: Vertices
    slots: np.ndarray  # intp, shape (p, k)
    number: np.ndarray  # PrimitiveID
    instance: np.ndarray
    edges: np.ndarray

    def after(self, vertices, slots, source):
        """Primitives that a stage made of these, each of one of them: with all of their edges."""
        edges = np.full(len(slots), primitive_assembly.ALL_EDGES, np.uint8)
        return _Flow(vertices, slots, self.number[source], self.instance[source], edges)


def _part(draw, state, assembled, primitives, instances):
    """The stages, for some instances."""
    counters = Counter(
        ia_vertices=len(instances) * len(assembled.records),  # complete primitives [fs 20.4.7]
        ia_primitives=len(instances) * assembled.primitives,
        index_out_of_bounds=len(instances) * assembled.out_of_bounds,
    )
    flow = _shaded(draw, state, assembled, primitives, instances, counters)
    if state.tessellation:
        flow = _tessellated(state, flow, counters)
    streams = _streams(state, flow, counters)
    for number, declaration in state.stream_output.items():
        stream = streams[number]
        statistics = stream_output.write(
            declaration, state.stream_buffers, stream.vertices, stream.primitives
        )
        counters[f"so_written_{number}"] = statistics.written
        counters[f"so_needed_{number}"] = statistics.needed
    drawn = streams[state.rasterized or 0]
    if state.geometry:
        flow = flow.after(drawn.vertices, drawn.primitives, drawn.source)
    elif state.topology < PATCH:
        flow = flow._replace(slots=drawn.primitives)
    if state.rasterized is None:
        flow = flow.after(flow.vertices, np.zeros((0, 3), np.intp), np.zeros(0, np.intp))
        drawn = drawn._replace(viewport=np.zeros(0, np.uint32), layer=np.zeros(0, np.uint32))
    projected = projection.run(
        flow.vertices, flow.slots, flow.edges, drawn.viewport, state.rasterizer
    )
    counters.update(projected.counters)
    three = np.pad(flow.slots, ((0, 0), (0, 3 - flow.slots.shape[1])), mode="edge")
    origin = projected.origin
    return Part(
        projected.triangles,
        flow.instance[origin],
        flow.number[origin],
        projection.chosen(drawn.viewport, state.rasterizer)[origin],
        drawn.layer[origin],
        three[origin],
        projected.weights,
        projected.rhw,
        projected.faces,
        flow.vertices,
        counters,
    )


def _shaded(draw, state, assembled, primitives, instances, counters):
    """Vertices of instances, and their primitives, adjacent vertices too."""
    n = len(assembled.records)
    index = np.tile(assembled.records["index"], len(instances))
    instance = np.repeat(instances, n).astype(np.uint32)
    shift = (np.arange(len(instances)) * n)[:, None, None]
    corners = (primitives.vertices + shift).reshape(-1, primitives.vertices.shape[1])
    keys = instance.astype(np.int64) << 32 | index
    reused = vertex_cache.reuse(keys, corners, state.reuse)
    vertex = index[reused.vertices]
    its_instance = instance[reused.vertices]
    registers = vertex_fetch.fetch(draw, vertex, its_instance, state.elements, state.vertex_buffers)
    counters["vs_invocations"] = len(vertex)
    return _Flow(
        vertex_stage.shade(state.shader, registers, vertex, its_instance, reused.batch),
        reused.slots,
        np.tile(primitives.number, len(instances)),
        np.repeat(instances, len(primitives.number)).astype(np.uint32),
        np.tile(primitives.edges, len(instances)),
    )


def _tessellated(state, flow, counters):
    """Primitives of patches."""
    vertices = flow.vertices
    patches = HullPatches(
        vertices.position[flow.slots], vertices.attributes[flow.slots], flow.number
    )
    divided = stages.run(state.tessellation, patches)
    counters.update(
        hs_invocations=len(flow.slots),
        ds_points=divided.counters.points,
        ds_invocations=divided.counters.misses,
    )
    return flow.after(divided.vertices, divided.primitives, divided.patch)


def _streams(state, flow, counters):
    """Streams of the geometry stage; without it, one of the primitives as they are."""
    if state.geometry:
        counters["gs_invocations"] = len(flow.slots) * state.geometry.instances
        streams = geometry_stage.run(state.geometry, flow.vertices, flow.slots, flow.number)
        counters["gs_primitives"] = sum(len(stream.primitives) for stream in streams)
    else:
        slots = flow.slots
        if not state.tessellation:
            slots = primitive_assembly.corners(slots, state.topology)
        zeros = np.zeros(len(slots), np.uint32)
        streams = [Stream(flow.vertices, slots, np.arange(len(slots)), zeros, zeros)]
    most = max([*state.stream_output, state.rasterized or 0])
    if most >= len(streams):
        raise InputError("streams", f"be {most + 1} at least", len(streams))
    return streams
