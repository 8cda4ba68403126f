# SPDX-License-Identifier: BSD-2-Clause
"""Projection: primitives in clip space become triangles for the setup."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.vertex_stage import Vertices
from fixfunc.models.geometry import clipper, expand, faces, triangle_setup, viewport
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.lib import float32
from fixfunc.models.payload import integer
from fixfunc.spec.state import Cull, DepthFormat

SLOTS = 1 << 12  # of triangles


@dataclass(frozen=True)
class Rasterizer:
    """State of clipper, viewport and expansion [fs 15].

    Parameters
    ----------
    viewports : sequence of Viewport
        1 to 16; a primitive whose index is beyond them takes the first [fs 15.8.1].
    depth_clip : bool
        Near and far cut.
    depth_format : DepthFormat
        What the triangles' depths are for.
    wireframe : bool
        Triangles are drawn as the lines of their edges.
    cull, front_ccw : Cull, bool
        They count here for wireframes alone: setup culls triangles that are filled.
    line_width : float
        Of rectangular lines: 1.4, or 1.
    aliased : bool
        Lines hit pixels by diamond exit, and have no width.
    antialiased : bool
        Aliased lines have a width of one pixel, and alpha by their coverage [fs 3.4.4].
    """

    viewports: Sequence[Viewport] = (Viewport(),)
    depth_clip: bool = True
    depth_format: DepthFormat = DepthFormat.D24
    wireframe: bool = False
    cull: Cull = Cull.NONE
    front_ccw: bool = False
    line_width: float = expand.WIDTHS[0]
    aliased: bool = False
    antialiased: bool = False

    def __post_init__(self):
        integer("viewports", len(self.viewports), 1, viewport.MOST)


class Projected(NamedTuple):
    """Triangles, in API order."""

    triangles: np.ndarray  # triangle_setup.TRIANGLE, shape (m,)
    origin: np.ndarray  # intp, shape (m,): the primitive of each
    weights: np.ndarray  # float32, shape (m, 3, 3): of each corner, its primitive's corners
    rhw: np.ndarray  # float32, shape (m, 3): 1/w of each corner
    faces: np.ndarray | None  # faces.FACE, shape (m,): their primitives'; None: setup decides
    counters: Counter


def run(
    vertices: Vertices,
    slots: np.ndarray,
    edges: np.ndarray,
    selected: np.ndarray,
    state: Rasterizer,
) -> Projected:
    """Clip, project, snap and expand primitives.

    Parameters
    ----------
    vertices : Vertices
    slots : ndarray of intp, shape (p, k)
        Of points, lines or triangles.
    edges : ndarray of uint8, shape (p,)
        Which edges are those of the primitive.
    selected : ndarray of uint32, shape (p,)
        Index of each primitive's viewport.
    state : Rasterizer

    Returns
    -------
    Projected
        A primitive with a coordinate that is no number is discarded [fs 15.16.1].
    """
    selected = chosen(selected, state)
    parts = [
        _of_viewport(vertices, slots, edges, np.flatnonzero(selected == n), n, state)
        for n in (np.unique(selected) if len(selected) else [0])
    ]
    counters = sum((part.counters for part in parts), Counter())
    order = np.argsort(np.concatenate([part.origin for part in parts]), kind="stable")
    triangles, origin, weights, rhw = (
        np.concatenate([part[n] for part in parts])[order] for n in range(4)
    )
    triangles["slot"] = np.arange(len(triangles)) % SLOTS
    expanded = None
    if parts[0].faces is not None:
        expanded = np.concatenate([part.faces for part in parts])[order]
    return Projected(triangles, origin, weights, rhw, expanded, counters)


def chosen(selected: np.ndarray, state: Rasterizer) -> np.ndarray:
    """Viewports of primitives: one that there is not is the first [fs 15.8.1]."""
    return np.where(selected < len(state.viewports), selected, 0)


def _of_viewport(vertices, slots, edges, chosen, number, state):
    """Primitives of a viewport."""
    port = state.viewports[number]
    slots = slots[chosen]
    corners = slots.shape[1]
    clipped = clipper.clip(
        vertices.position[slots],
        port,
        depth_clip=state.depth_clip,
        clip_distances=vertices.clip_distances[slots],
        cull_distances=vertices.cull_distances[slots],
        edges=edges[chosen] & (1 << corners) - 1,
    )
    screen = viewport.project(clipped.positions, port)
    is_number = ~np.isnan(screen[..., :3]).any((1, 2))
    kept = np.flatnonzero(is_number)
    own = _faces(screen[kept], state)
    is_culled = corners == 3 and own is not None and faces.culled(own["back"], state.cull)
    shapes = _expanded(screen[kept], clipped.edges[kept], own, state)
    source = kept[shapes.source]
    if own is not None:
        own = own[shapes.source]
        own["coverage"] = shapes.coverage
    # A line's or a point's corners have the weights of its ends, and no third slot.
    weights = np.zeros((len(source), 3, 3), np.float32)
    total = float32.multiply(shapes.shares[..., 0, None], clipped.weights[source, None, 0])
    for end in range(1, corners):
        total = float32.multiply_add(
            shapes.shares[..., end, None], clipped.weights[source, None, end], total
        )
    weights[..., :corners] = total
    return Projected(
        _triangles(shapes.positions, _depths(shapes.z, state.depth_format)),
        chosen[clipped.source[source]],
        weights,
        shapes.rhw,
        own,
        Counter(
            c_invocations=len(slots),
            c_primitives=len(kept),
            rejected=clipped.rejected,
            clipped=clipped.clipped,
            culled_by_distance=clipped.culled,
            not_a_number=clipped.discarded + len(is_number) - len(kept),
            wireframes_facing=int(np.sum(is_culled)),
        ),
    )


class _Shapes(NamedTuple):
    """Triangles of primitives, before they are records."""

    positions: np.ndarray  # int32, shape (m, 3, 2): snapped
    source: np.ndarray  # intp, shape (m,): the primitive
    shares: np.ndarray  # float32, shape (m, 3, k): of each corner, the primitive's corners
    z: np.ndarray  # float32, shape (m, 3)
    rhw: np.ndarray  # float32, shape (m, 3)
    coverage: np.ndarray  # float32, shape (m,): of antialiased lines


def _faces(screen, state):
    """Faces of primitives that are expanded; None of triangles that are filled."""
    form = state.depth_format
    corners = screen.shape[1]
    if corners == 3 and not state.wireframe:
        return None
    z = _depths(screen[..., 2], form)
    if corners < 3:
        return faces.of_points_and_lines(z, form)
    return faces.of_triangles(_triangles(viewport.snap(screen[..., :2]), z), form, state.front_ccw)


def _expanded(screen, edges, own, state):
    """Triangles of points, lines and triangles; of wireframes those whose faces are not culled."""
    count, k, _ = screen.shape
    if own is None:
        ends = np.broadcast_to(np.arange(3), (count, 3))
        return _by_ends(viewport.snap(screen[..., :2]), np.arange(count), ends, screen)
    if k == 1:
        quads = expand.points(screen[:, 0, :2])
        owner = quads.source
        corners = np.zeros((count, 1), np.intp)
    else:
        owner = np.arange(count)
        corners = np.broadcast_to(np.arange(2), (count, 2))
        if k == 3:
            owner, corners = expand.wireframe(
                np.where(faces.culled(own["back"], state.cull), 0, edges)
            )
        if state.aliased:
            return _aliased(screen, owner, corners, state.antialiased)
        quads = expand.rectangles(screen[owner[:, None], corners, :2], state.line_width)
    source = np.repeat(owner[quads.source], 2)
    ends = corners[quads.source][:, quads.vertices].reshape(-1, 3)
    return _by_ends(quads.positions.reshape(-1, 3, 2), source, ends, screen)


def _by_ends(positions, source, ends, screen):
    """Shapes whose corners have the attributes of corners of their primitive."""
    shares = (ends[..., None] == np.arange(screen.shape[1])).astype(np.float32)
    own = screen[source[:, None], ends]
    coverage = np.ones(len(source), np.float32)
    return _Shapes(positions, source, shares, own[..., 2], own[..., 3], coverage)


def _aliased(screen, owner, corners, antialiased):
    """Squares of the pixels that lines hit: each has the attributes of its place on the line."""
    lines = screen[owner[:, None], corners]
    ends = viewport.snap(lines[..., :2])
    if antialiased:
        pixels, coverage = expand.antialiased(lines[..., :2])
    else:
        pixels = expand.aliased(ends)
        coverage = np.ones(len(pixels.source), np.float32)
    far = expand.along(ends, pixels)
    near = float32.subtract(np.float32(1), far)
    z = lines[pixels.source, :, 2]
    depth = float32.multiply_add(far, float32.subtract(z[:, 1], z[:, 0]), z[:, 0])
    q = lines[pixels.source, :, 3]
    far = float32.multiply(far, q[:, 1])
    total = float32.multiply_add(near, q[:, 0], far)
    far = float32.divide(far, total)
    count = len(pixels.source)
    shares = np.zeros((count, screen.shape[1]), np.float32)
    ends_of = corners[pixels.source]
    shares[np.arange(count), ends_of[:, 0]] = float32.subtract(np.float32(1), far)
    shares[np.arange(count), ends_of[:, 1]] = far

    def twice(values):
        """For three corners of both triangles."""
        return np.repeat(values[:, None], 3, 1).repeat(2, 0)

    return _Shapes(
        expand.squares(pixels).reshape(-1, 3, 2),
        np.repeat(owner[pixels.source], 2),
        twice(shares),
        twice(depth),
        twice(total),
        coverage.repeat(2),
    )


def _depths(z, depth_format):
    """Depths as records for the setup have them."""
    if depth_format == DepthFormat.D32F:
        return (z + np.float32(0)).view(np.uint32)  # no negative zero
    return viewport.fixed_depth(z, depth_format)


def _triangles(positions, depth):
    """Records for the setup."""
    triangles = np.zeros(len(depth), triangle_setup.TRIANGLE)
    for corner in range(3):
        triangles[f"x{corner}"] = positions[:, corner, 0]
        triangles[f"y{corner}"] = positions[:, corner, 1]
        triangles[f"z{corner}"] = depth[:, corner]
    return triangles
