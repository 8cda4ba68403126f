# SPDX-License-Identifier: BSD-2-Clause
"""Figures of the front half: packets, reuse of vertices, tessellation, clipping.

Each function takes two axes of matplotlib and draws into them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fixfunc import d3d11
from fixfunc.models.frontend import vertex_cache
from fixfunc.models.geometry import clipper
from fixfunc.models.geometry.viewport import Viewport, project
from fixfunc.models.tessellation.domain_matching import ONE
from fixfunc.models.tessellation.tessellator import tessellate
from fixfunc.spec.ring import LENGTHS

Axes = Sequence[Any]
COLOURS = "#5c6b73", "#9db4c0", "#c2410c", "#90be6d", "#f9c74f", "#577590", "#b56576"
GRID = 12, 6  # quads of a mesh


def plain(axis: Any, title: str, limits: Sequence[float] | None = None) -> None:
    """A picture without ticks, y down where its limits say so."""
    axis.set_title(title, fontsize=9)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.set_aspect("equal")
    if limits is not None:
        axis.set_xlim(*limits[:2])
        axis.set_ylim(*limits[2:])


def _noted():
    """Packets of a clear and two draws: opcodes in order."""
    device = d3d11.Device(1 << 24)
    context = device.context
    packets = []
    put = context.packets.put

    def note(op, *more, **fields):
        packets.append(op)
        put(op, *more, **fields)

    context.packets.put = note
    texture = device.create_texture2d(
        d3d11.Format.R8G8B8A8_UNORM, 8, 8, bind=d3d11.Bind.RENDER_TARGET
    )
    target = device.create_render_target_view(texture)
    context.clear_render_target_view(target, (0, 0, 0, 1))
    context.om.set_render_targets([target])
    context.rs.set_viewports([d3d11.Viewport(width=8, height=8)])
    context.ia.set_primitive_topology(d3d11.Topology.TRIANGLE_LIST)

    def vertex(waves, _bound):
        return d3d11.VertexResults(np.ones((*waves.mask.shape, 4), np.float32))

    context.vs.set_shader(device.create_vertex_shader(vertex))
    context.draw(3)
    context.rs.set_state(d3d11.RasterizerState(cull=d3d11.Cull.NONE))
    context.draw(3)
    return packets


def commands(axes: Axes) -> None:
    """Packets of a frame in the ring; transfers by kind."""
    packets = _noted()
    names = sorted({op.name for op in packets})
    at = 0
    for op in packets:
        size = LENGTHS[op]
        axes[0].barh(0, size, left=at, color=COLOURS[names.index(op.name)], edgecolor="white")
        at += size
    axes[0].set_title("a clear and two draws in the ring", fontsize=9)
    axes[0].set_xlabel("transfers of 32 bytes", fontsize=8)
    axes[0].set_yticks([])
    axes[0].set_ylim(-1, 1)
    sizes = [sum(LENGTHS[op] for op in packets if op.name == name) for name in names]
    axes[1].barh(names, sizes, color=COLOURS[: len(names)])
    axes[1].set_title("transfers by packet", fontsize=9)
    axes[1].tick_params(labelsize=7)


def _mesh():
    """A grid of triangles: places of vertices, and indices."""
    wide, high = GRID
    y, x = np.mgrid[: high + 1, : wide + 1].reshape(2, -1)
    corner = (np.arange(high)[:, None] * (wide + 1) + np.arange(wide)).ravel()
    below = corner + wide + 1
    faces = np.stack([corner, corner + 1, below, corner + 1, below + 1, below], 1).reshape(-1, 3)
    return np.stack([x, y], 1), faces


def assembly(axes: Axes) -> None:
    """Batches of vertices of an indexed mesh, and how often each vertex is shaded."""
    places, faces = _mesh()
    reused = vertex_cache.reuse(faces.ravel(), np.arange(faces.size).reshape(-1, 3), "batch")
    batch = reused.batch[reused.slots[:, 0]]
    for number, face in zip(batch, faces, strict=True):
        axes[0].fill(*places[face].T, color=COLOURS[number % len(COLOURS)], ec="white", lw=0.5)
    shaded = np.bincount(faces.ravel()[reused.vertices], minlength=len(places))
    limits = -0.6, GRID[0] + 0.6, GRID[1] + 0.6, -0.6
    plain(axes[0], f"{len(faces)} triangles in batches of 32 vertices", limits)
    axes[1].scatter(*places.T, s=18 * shaded**1.5, c=[COLOURS[2 * (n > 1)] for n in shaded])
    total = f"{shaded.sum()} vertices shaded for {faces.size} indices"
    plain(axes[1], total, limits)


def tessellation(axes: Axes) -> None:
    """The domain of a quad at fractional factors, and of a triangle."""
    parts = [("quad", (3.4, 6, 9.2, 4), (5.5, 7)), ("triangle", (4, 9, 6.5), (5.5,))]
    for axis, (domain, outer, inner) in zip(axes, parts, strict=True):
        made = tessellate(domain, outer, inner, "fractional_odd", "triangle_cw")
        u, v = (made.points / ONE).T
        x, y = (u, v) if domain == "quad" else (u + v / 2, v * np.sqrt(3) / 2)
        axis.triplot(x, y, made.primitives, color=COLOURS[0], lw=0.6)
        axis.plot(x, y, ".", color=COLOURS[2], ms=3)
        plain(axis, f"{domain}: {len(made.points)} points, {len(made.primitives)} triangles")


def clipping(axes: Axes) -> None:
    """A triangle through the near plane, in clip space and on the screen."""
    corners = np.float32([[(-0.8, -0.9, 0.6, 1), (2.4, -0.2, 0.5, 1.2), (-0.1, 0.9, -0.5, 1)]])
    port = Viewport(width=16, height=9)
    made = clipper.clip(corners, port)
    axes[0].add_patch(_box(-1, -1, 2, 2))
    _outline(axes[0], corners[0, :, :2] / corners[0, :, 3:], COLOURS[2], "--")
    for part, colour in zip(made.positions, COLOURS[3:], strict=False):
        axes[0].fill(*(part[:, :2] / part[:, 3:]).T, color=colour, alpha=0.8)
    plain(axes[0], "cut by the near plane alone", (-1.3, 2.4, -1.2, 1.2))
    axes[1].add_patch(_box(0, 0, 16, 9))
    for part, colour in zip(project(made.positions, port), COLOURS[3:], strict=False):
        axes[1].fill(*part[:, :2].T, color=colour, alpha=0.8)
        snapped = np.floor(part[:, :2] * 256 + 0.5) / 256
        axes[1].plot(*snapped.T, ".", color=COLOURS[0])
    plain(axes[1], "the guard band keeps what lies beside", (-2, 26, 10, -1))


def _box(x, y, width, height):
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, fill=False, ec=COLOURS[0], lw=1.2)


def _outline(axis, points, colour, style):
    axis.plot(*np.concatenate([points, points[:1]]).T, style, color=colour, lw=1)
