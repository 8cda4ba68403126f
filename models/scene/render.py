# SPDX-License-Identifier: BSD-2-Clause
"""A scene drawn: its mesh by a draw call, then the golden model of the hardware."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from fixfunc.models.frontend import input_assembler
from fixfunc.models.frontend.input_assembler import IndexBuffer
from fixfunc.models.frontend.vertex_fetch import Element, VertexBuffer
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry import triangle_setup
from fixfunc.models.geometry.projection import Rasterizer
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.machine import front_half
from fixfunc.models.machine.draws import DrawProbe
from fixfunc.models.machine.front_half import FrontState, Part
from fixfunc.models.payload import dtype
from fixfunc.models.scene import shading
from fixfunc.models.scene.scene import Scene
from fixfunc.models.top.shades import flat
from fixfunc.models.top.top import Machine
from fixfunc.spec import payloads
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Kind, Outcome

MOST_INDEX = (1 << 32) - 2  # the one above cuts


@dataclass
class Frame:
    """A frame, stage by stage."""

    colour: np.ndarray  # uint8, shape (height, width, 3), resolved
    depth: np.ndarray  # uint32, shape (height, width, samples), D24
    counters: dict  # what each stage took, dropped and passed on
    state: np.void  # the draw state
    triangles: np.ndarray  # what entered the triangle setup
    part: Part  # the same, with what their corners come from
    setup: triangle_setup.Setup  # what left it
    tiles: np.ndarray  # what left the tile rasterizer
    owner: np.ndarray  # which set-up record each tile belongs to
    outcome: np.ndarray  # what HiZ decided about each: fixfunc.spec.state.Outcome
    passed: np.ndarray  # which of its samples passed: bool, shape (tiles, 8, 8)
    seconds: dict = field(default_factory=dict)  # spent in each stage
    # Of a texture, those on top: float32, shape (height, width), NaN where there is none.
    levels: np.ndarray | None = None


def render(
    scene: Scene,
    progress: Callable[[str | None], object] | None = None,
    probe: DrawProbe | None = None,
    reuse: str = "batch",
) -> Frame:
    """Render a scene: its geometry, then the machine of :mod:`fixfunc.models.top.top`.

    Colours are shaded here once a pixel and face, where they are on top: the machine shades every
    tile that passes, as hardware does, which gives the same picture later.

    Parameters
    ----------
    scene : Scene
    progress : callable, optional
        Called with the name of each stage as it begins.
    probe : DrawProbe, optional
        With one, every tile that passes is shaded twice.
    reuse : "batch" or "fifo"
        Of vertices: see :func:`fixfunc.models.frontend.vertex_cache.reuse`.

    Returns
    -------
    Frame

    Raises
    ------
    InputError, MeshError
        A scene that breaks a rule.
    """
    seconds = {}
    current = None

    def stage(name):
        nonlocal current
        now = time.perf_counter()
        if current:
            seconds[current[0]] = now - current[1]
        current = (name, now)
        if progress:
            progress(name)

    state = scene.state
    counters = {"faces": len(scene.faces)}
    if scene.tessellated:
        matched = scene.tessellated.counters
        counters |= {
            "domain_points": matched.points,
            "shaded_points": matched.misses,
            "waves": scene.tessellated.waves,
        }

    stage("geometry")
    part = _geometry(scene, counters, reuse)
    triangles = part.triangles

    counters["triangles"] = len(triangles)

    shader = flat
    if probe:
        probe.list(part, np.arange(len(triangles)), None)
        shader = partial(_shade, scene, part)
    machine = Machine(
        np.zeros(0, np.uint8), shader=shader, in_memory=False, progress=stage, probe=probe
    )
    (draw,) = machine.execute(_beats(state, triangles)).draws
    setup = draw.setup
    counters |= {
        name: int(getattr(setup, name).sum())
        for name in ("zero_area", "facing", "no_sample", "steep")
    }
    counters["set_up"] = len(setup.records)

    counters |= {
        "tiles": len(draw.tiles),
        "full_tiles": int(draw.tiles["full"].sum()),
        "samples_covered": int(np.bitwise_count(draw.tiles["mask"]).sum()),
    }
    counters |= {
        f"hiz_{outcome.name.lower()}": int((draw.outcome == outcome).sum()) for outcome in Outcome
    }
    counters["samples_passed"] = int(draw.passed.sum())
    owner = setup.index[draw.owner]
    levels = None
    if scene.texture is not None:
        levels = np.full((scene.height, scene.width), np.nan, np.float32)
    colour = shading.picture(scene, part, draw.tiles, owner, draw.passed, levels=levels)
    stage(None)
    return Frame(
        colour,
        machine.depth.buffer.image(),
        counters,
        state,
        triangles,
        part,
        *draw,
        seconds,
        levels,
    )


def _shade(scene, part, work):
    """The scene's shader, as the machine asks it."""
    return shading.shade(scene, part, work.tiles, work.triangle)


def _beats(state, triangles):
    """A frame as the command reader would send it: a state, a clear of the target, triangles."""
    clear = np.zeros(1, dtype(payloads.CLEAR))
    values = {
        "kind": Kind.CLEAR,
        "x1": state["target_width"],
        "y1": state["target_height"],
        "depth": 1,
        "depth_value": state["depth_max"],
        "stencil": 1,
    }
    for name, value in values.items():
        clear[name] = value
    return [(Kind.STATE, np.atleast_1d(state)), (Kind.CLEAR, clear), (Kind.WORK, triangles)]


def _geometry(scene, counters, reuse):
    """Triangles for the setup: the mesh is drawn by a draw call.

    Its first attribute is a vertex's colour. With a texture there is a second one, coordinates;
    where those of two faces differ, a vertex becomes two.
    """
    textured = scene.texture is not None

    def shader(waves):
        positions = transformed(waves.floats(0)[..., :3], scene.transform)
        return VertexResults(
            positions, np.stack([waves.floats(1 + n) for n in range(1 + textured)], -2)
        )

    # What a format lacks is 0, and as alpha 1 [fs 19.1.3.3].
    elements = [Element(n, Format.R32G32B32_FLOAT, offset=12 * n) for n in range(2)]
    if textured:
        elements.append(Element(2, Format.R32G32_FLOAT, offset=24))
    colours = shading.colours(scene)
    if not textured:
        # Indices out of range read a vertex of zeros; none of them is a cut.
        indices = np.where((scene.faces < 0) | (scene.faces > MOST_INDEX), MOST_INDEX, scene.faces)
        vertices = np.concatenate([scene.vertices, colours], 1)
    else:
        # A vertex that there is not is black.
        colours = np.concatenate([colours, np.zeros((1, 3), np.float32)])
        corners = np.where(scene.outside, len(scene.vertices), scene.faces)
        vertices = np.concatenate([scene.corners, colours[corners], scene.coordinates], 2)
        vertices, indices = _shared(vertices.reshape(-1, vertices.shape[-1]))
    indices = IndexBuffer(np.ascontiguousarray(indices.astype("<u4")).view(np.uint8).ravel())
    state = FrontState(
        shader,
        elements=elements,
        vertex_buffers={0: VertexBuffer(vertices.ravel().view(np.uint8), 4 * vertices.shape[-1])},
        index_buffer=indices,
        reuse=reuse,
        rasterizer=Rasterizer([Viewport(width=scene.width, height=scene.height)]),
    )
    draw = input_assembler.Draw(scene.faces.size, indexed=True)
    (part,) = front_half.run(draw, state)
    counters["index_out_of_range"] = int(scene.outside.sum())
    counters |= {name: part.counters[name] for name in ("rejected", "clipped", "not_a_number")}
    return part


def _shared(corners):
    """Vertices of corners, each that is the same bit for bit once, as they come, and indices."""
    bits = np.ascontiguousarray(corners).view(np.uint32)
    _, first, number = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return corners[first[order]], rank[number.ravel()]


def transformed(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Points to clip space in float32: the products added in the order x, y, z, 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        x = points[..., None, 0]
        y = points[..., None, 1]
        z = points[..., None, 2]
        return ((x * matrix[:, 0] + y * matrix[:, 1]) + z * matrix[:, 2]) + matrix[:, 3]
