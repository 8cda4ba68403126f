# SPDX-License-Identifier: BSD-2-Clause
"""Geometry stage: a port to a shader that takes primitives and emits vertices of streams."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.input_assembler import marked
from fixfunc.models.frontend.vertex_stage import ATTRIBUTES, Vertices, array, checked, of_kind
from fixfunc.models.geometry import primitive_assembly
from fixfunc.models.payload import integer
from fixfunc.spec.draw import Topology
from fixfunc.spec.errors import InputError

STREAMS = 4
INSTANCES = 32
MOST_SCALARS = 1024  # of an invocation
OUTPUTS = (Topology.POINT_LIST, Topology.LINE_STRIP, Topology.TRIANGLE_STRIP)


class GeometryInputs(NamedTuple):
    """Invocations of a geometry shader, in API order."""

    position: np.ndarray  # float32, shape (p, k, 4): adjacent vertices in their places [fs 13.10]
    attributes: np.ndarray  # uint32, shape (p, k, a, 4)
    primitive: np.ndarray  # uint32, shape (p,): PrimitiveID
    instance: np.ndarray  # uint32, shape (p,): GSInstanceID


class Emitted(NamedTuple):
    """Vertices that a shader emits to a stream; what is missing has no channels, or is zero."""

    invocation: np.ndarray  # intp, shape (n,): in order
    position: np.ndarray  # float32, shape (n, 4)
    attributes: np.ndarray | None = None  # 32 bits each, shape (n, a, 4)
    cut: np.ndarray | None = None  # bool, shape (n,): the strip ends with this vertex
    clip_distances: np.ndarray | None = None  # float32, shape (n, c)
    cull_distances: np.ndarray | None = None  # float32, shape (n, c)
    viewport: np.ndarray | None = None  # uint32, shape (n,): of the leading vertex it counts
    layer: np.ndarray | None = None  # uint32, shape (n,): of the target's array, likewise


@dataclass(frozen=True)
class GeometryStage:
    """A geometry shader and what it declares [fs 13].

    Parameters
    ----------
    shader : callable
        Takes :class:`GeometryInputs`, returns :class:`Emitted`, or one for each stream.
    output : Topology
        POINT_LIST, LINE_STRIP or TRIANGLE_STRIP; with several streams POINT_LIST.
    most : int
        Vertices of an invocation: what is emitted beyond them vanishes.
    instances : int
        Invocations of a primitive, 1 to 32.

    Raises
    ------
    InputError
        A declaration out of range.
    """

    shader: Callable[[GeometryInputs], Emitted | Sequence[Emitted]]
    output: Topology = Topology.TRIANGLE_STRIP
    most: int = MOST_SCALARS
    instances: int = 1

    def __post_init__(self):
        if self.output not in OUTPUTS:
            names = ", ".join(output.name for output in OUTPUTS)
            raise InputError("output", f"be one of {names}", self.output)
        integer("most", self.most, 1, MOST_SCALARS)
        integer("instances", self.instances, 1, INSTANCES)


class Stream(NamedTuple):
    """Primitives of a stream."""

    vertices: Vertices
    primitives: np.ndarray  # intp, shape (m, 1 to 3): places of vertices
    source: np.ndarray  # intp, shape (m,): the primitive that each was made of
    viewport: np.ndarray  # uint32, shape (m,)
    layer: np.ndarray  # uint32, shape (m,)


def run(
    stage: GeometryStage, vertices: Vertices, slots: np.ndarray, primitive: np.ndarray
) -> list[Stream]:
    """Send primitives to a shader.

    Parameters
    ----------
    stage : GeometryStage
    vertices : Vertices
    slots : ndarray of intp, shape (p, k)
    primitive : ndarray of uint32, shape (p,)

    Returns
    -------
    list of Stream
        Strips end with each invocation; incomplete primitives vanish [fs 13.7].

    Raises
    ------
    InputError
        Results of another shape or type, too many streams or scalars, or vertices out of order.
    """
    row = np.repeat(np.arange(len(slots)), stage.instances)
    inputs = GeometryInputs(
        vertices.position[slots[row]],
        vertices.attributes[slots[row]],
        np.asarray(primitive, np.uint32)[row],
        np.tile(np.arange(stage.instances, dtype=np.uint32), len(slots)),
    )
    results = stage.shader(inputs)
    streams = results if isinstance(results, list | tuple) else [results]
    streams = [results] if isinstance(results, Emitted) else streams
    for stream in streams:
        of_kind(stream, Emitted)
    if not 1 <= len(streams) <= STREAMS:
        raise InputError("streams", f"be 1 to {STREAMS}", len(streams))
    if len(streams) > 1 and stage.output != Topology.POINT_LIST:
        raise InputError("output", "be POINT_LIST of several streams", stage.output.name)
    return [_stream(stage, emitted, len(row)) for emitted in streams]


def _stream(stage, emitted, invocations):
    """Vertices of a stream, and its primitives."""
    if np.ndim(emitted.invocation) != 1:
        raise InputError("invocation", "be an array of one axis", emitted.invocation)
    count = len(emitted.invocation)
    invocation = np.asarray(emitted.invocation, np.intp)
    is_ordered = not count or (
        (np.diff(invocation) >= 0).all() and invocation[0] >= 0 and invocation[-1] < invocations
    )
    if not is_ordered:
        raise InputError("invocation", f"be in order, below {invocations}", invocation)
    vertices = _vertices(emitted, count)
    scalars = 4 + 4 * vertices.attributes.shape[1]
    if stage.most * scalars > MOST_SCALARS:
        raise InputError("most", f"be at most {MOST_SCALARS // scalars} vertices", stage.most)
    first = np.searchsorted(invocation, invocation)
    kept = np.flatnonzero(np.arange(count) - first < stage.most)
    ends = np.diff(invocation[kept], append=-1) != 0
    if emitted.cut is not None:
        ends |= checked("cut", emitted.cut, bool, (count,))[kept]
    row = np.cumsum(ends) - ends
    records, places = marked(np.bincount(row).astype(np.int64), stage.output)
    assembled = primitive_assembly.assemble(records, stage.output)
    primitives = kept[places][assembled.vertices]
    leading = primitives[:, 0]
    return Stream(
        vertices,
        primitives,
        invocation[leading] // stage.instances,
        _selector("viewport", emitted.viewport, count)[leading],
        _selector("layer", emitted.layer, count)[leading],
    )


def _vertices(emitted, count):
    """Vertices, each field with its shape."""
    attributes = emitted.attributes
    if attributes is None:
        attributes = np.zeros((count, 0, 4), np.uint32)
    array("attributes", attributes)
    width = attributes.shape[1] if attributes.ndim == 3 else 0
    if width > ATTRIBUTES or attributes.dtype.itemsize != 4:
        raise InputError("attributes", f"be at most {ATTRIBUTES} of 32 bits", attributes.shape)
    distances = []
    for name in ("clip_distances", "cull_distances"):
        values = getattr(emitted, name)
        if values is None:
            values = np.zeros((count, 0), np.float32)
        array(name, values)
        distances.append(checked(name, values, np.float32, (count, *values.shape[1:2])))
    return Vertices(
        checked("position", emitted.position, np.float32, (count, 4)),
        np.ascontiguousarray(
            checked("attributes", attributes, attributes.dtype, (count, width, 4))
        ).view(np.uint32),
        *distances,
    )


def _selector(name, values, count):
    """A number of each vertex; without it 0."""
    if values is None:
        return np.zeros(count, np.uint32)
    return checked(name, values, np.uint32, (count,))
