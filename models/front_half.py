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
from fixfunc.models.geometry import clipper, expand, primitive_assembly, triangle_setup, viewport
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.tessellation import stages
from fixfunc.models.tessellation.stages import HullPatches, Tessellation
from fixfunc.spec.draw import PATCH, Topology
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Cull, DepthFormat

SLOTS = 1 << 12  # of triangles
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
    viewport : Viewport
    depth_clip : bool
    depth_format : DepthFormat
        What the triangles' depths are for.
    wireframe : bool
        Triangles are drawn as the lines of their edges.
    cull, front_ccw : Cull, bool
        They count here for wireframes alone: setup culls triangles.
    line_width : float
        Of rectangular lines: 1.4, or 1.
    reuse : "batch" or "fifo"
        See :func:`fixfunc.models.frontend.vertex_cache.reuse`.
    tessellation : Tessellation, optional
        Of patches.
    """

    shader: Callable[[VertexWaves], VertexResults]
    elements: Sequence[Element] = ()
    vertex_buffers: Mapping[int, VertexBuffer] = field(default_factory=dict)
    index_buffer: IndexBuffer | None = None
    topology: int = Topology.TRIANGLE_LIST
    viewport: Viewport = field(default_factory=Viewport)
    depth_clip: bool = True
    depth_format: DepthFormat = DepthFormat.D24
    wireframe: bool = False
    cull: Cull = Cull.NONE
    front_ccw: bool = False
    line_width: float = expand.WIDTHS[0]
    reuse: str = "batch"
    tessellation: Tessellation | None = None


class Part(NamedTuple):
    """Triangles of some instances, in API order."""

    triangles: np.ndarray  # triangle_setup.TRIANGLE, shape (m,)
    instance: np.ndarray  # uint32, shape (m,): InstanceID
    primitive: np.ndarray  # uint32, shape (m,): PrimitiveID
    slots: np.ndarray  # intp, shape (m, 3): which of ``vertices`` each corner's attributes are of
    weights: np.ndarray  # float32, shape (m, 3, 3): of each corner, those at its three slots
    rhw: np.ndarray  # float32, shape (m, 3): 1/w of each corner
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
        Counters: ``ia_vertices``, ``ia_primitives``, ``vs_invocations``, ``c_invocations`` and
        ``c_primitives`` as D3D11's statistics, with tessellation ``hs_invocations`` and
        ``ds_invocations``, too; what was dropped, and why.

    Raises
    ------
    InputError
        State that breaks a rule; nothing has been yielded then.
    """
    is_patch = state.topology >= PATCH
    if is_patch != (state.tessellation is not None):
        raise InputError(
            "topology", "be a patch if there is tessellation, and else none", state.topology
        )
    assembled = input_assembler.assemble(draw, state.topology, state.index_buffer)
    primitives = primitive_assembly.assemble(assembled.records, state.topology)
    many = max(PART // max(len(assembled.records), 1), 1)
    for first in range(0, draw.instances, many):
        count = min(many, draw.instances - first)
        yield _part(draw, state, assembled, primitives, np.arange(first, first + count))


def _part(draw, state, assembled, primitives, instances):
    """The stages, for some instances."""
    n = len(assembled.records)
    index = np.tile(assembled.records["index"], len(instances))
    instance = np.repeat(instances, n).astype(np.uint32)
    shift = (np.arange(len(instances)) * n)[:, None, None]
    corners = (primitives.vertices + shift).reshape(-1, primitives.vertices.shape[1])
    number = np.tile(primitives.number, len(instances))
    of_instance = np.repeat(instances, len(primitives.number)).astype(np.uint32)
    edges = np.tile(primitives.edges, len(instances))

    keys = instance.astype(np.int64) << 32 | index
    reused = vertex_cache.reuse(keys, corners, state.reuse)
    vertex = index[reused.vertices]
    its_instance = instance[reused.vertices]
    registers = vertex_fetch.fetch(draw, vertex, its_instance, state.elements, state.vertex_buffers)
    vertices = vertex_stage.shade(state.shader, registers, vertex, its_instance, reused.batch)
    slots = primitive_assembly.corners(reused.slots, state.topology)
    counters = Counter()
    if state.tessellation:
        vertices, slots, patch, counters = _tessellated(state, vertices, slots, number)
        number = number[patch]
        of_instance = of_instance[patch]
        edges = np.full(len(slots), primitive_assembly.ALL_EDGES, np.uint8)

    clipped = clipper.clip(
        vertices.position[slots],
        state.viewport,
        depth_clip=state.depth_clip,
        clip_distances=vertices.clip_distances[slots],
        cull_distances=vertices.cull_distances[slots],
        edges=edges & (1 << slots.shape[1]) - 1,
    )
    screen = viewport.project(clipped.positions, state.viewport)
    is_number = ~np.isnan(screen[..., :3]).any((1, 2))
    kept = np.flatnonzero(is_number)
    triangles, source, ends = _expanded(screen[kept], clipped.edges[kept], state)
    source = kept[source]
    origin = clipped.source[source]
    counters |= Counter(
        ia_vertices=len(instances) * n,  # of complete primitives [fs 20.4.7]
        ia_primitives=len(instances) * assembled.primitives,
        vs_invocations=len(vertex),
        c_invocations=len(slots),
        c_primitives=len(kept),
        index_out_of_bounds=len(instances) * assembled.out_of_bounds,
        rejected=clipped.rejected,
        clipped=clipped.clipped,
        culled_by_distance=clipped.culled,
        not_a_number=clipped.discarded + len(is_number) - len(kept),
    )
    # A line's or a point's corners have the weights of its ends, and no third slot.
    weights = np.zeros((len(source), 3, 3), np.float32)
    weights[..., : slots.shape[1]] = clipped.weights[source[:, None], ends]
    three = np.pad(slots, ((0, 0), (0, 3 - slots.shape[1])), mode="edge")
    return Part(
        triangles,
        of_instance[origin],
        number[origin],
        three[origin],
        weights,
        screen[source[:, None], ends, 3],
        vertices,
        counters,
    )


def _tessellated(state, vertices, slots, number):
    """Vertices and primitives of patches, the patch of each primitive, and counters."""
    patches = HullPatches(vertices.position[slots], vertices.attributes[slots], number)
    run = stages.run(state.tessellation, patches)
    counters = Counter(
        hs_invocations=len(slots),
        ds_points=run.counters.points,
        ds_invocations=run.counters.misses,
    )
    return run.vertices, run.primitives, run.patch, counters


def _expanded(screen, edges, state):
    """Triangles, the primitive of each, and the corners that their corners belong to."""
    count, k, _ = screen.shape
    if k == 3 and not state.wireframe:
        source = np.arange(count)
        ends = np.broadcast_to(np.arange(3), (count, 3))
        return _triangles(viewport.snap(screen[..., :2]), screen, source, ends, state), source, ends
    if k == 1:
        quads = expand.points(screen[:, 0, :2])
        owner = quads.source
        corners = np.zeros((count, 1), np.intp)
    else:
        owner = np.arange(count)
        corners = np.broadcast_to(np.arange(2), (count, 2))
        if k == 3:
            owner, corners = expand.wireframe(np.where(_culled(screen, state), 0, edges))
        lines = screen[owner[:, None], corners, :2]
        quads = expand.rectangles(lines, state.line_width)
    source = np.repeat(owner[quads.source], 2)
    ends = corners[quads.source][:, quads.vertices].reshape(-1, 3)
    positions = quads.positions.reshape(-1, 3, 2)
    return _triangles(positions, screen, source, ends, state), source, ends


def _culled(screen, state):
    """Which triangles are not drawn as wireframes: one without area faces back [fs 15.11.1]."""
    x, y = np.moveaxis(viewport.snap(screen[..., :2]).astype(np.int64), 2, 0)
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    front = area < 0 if state.front_ccw else area > 0
    return {Cull.NONE: np.zeros_like(front), Cull.FRONT: front, Cull.BACK: ~front}[state.cull]


def _triangles(positions, screen, source, ends, state):
    """Records for the setup."""
    port = state.viewport
    z = screen[source[:, None], ends, 2]
    if state.depth_format == DepthFormat.D32F:
        cut = np.fmin(np.fmax(z, np.float32(port.min_depth)), np.float32(port.max_depth))
        depth = (cut + np.float32(0)).view(np.uint32)  # no negative zero
    else:
        depth = viewport.fixed_depth(z, (port.min_depth, port.max_depth))
    triangles = np.zeros(len(source), triangle_setup.TRIANGLE)
    triangles["slot"] = np.arange(len(source)) % SLOTS
    for corner in range(3):
        triangles[f"x{corner}"] = positions[:, corner, 0]
        triangles[f"y{corner}"] = positions[:, corner, 1]
        triangles[f"z{corner}"] = depth[:, corner]
    return triangles
