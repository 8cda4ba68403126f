# SPDX-License-Identifier: BSD-2-Clause
"""The golden pipeline: the geometry of a scene, then the golden machine."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fixfunc.models import front_half, shading
from fixfunc.models.front_half import FrontState, Part
from fixfunc.models.frontend import input_assembler
from fixfunc.models.frontend.input_assembler import IndexBuffer
from fixfunc.models.frontend.vertex_fetch import Element, VertexBuffer
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry import triangle_setup
from fixfunc.models.geometry.projection import Rasterizer
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.models.tessellation import bezier, patches
from fixfunc.models.tessellation.patches import Tessellated
from fixfunc.models.texture.texture import Texture
from fixfunc.models.top import Machine
from fixfunc.spec import payloads
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError, MeshError
from fixfunc.spec.state import Cull, Kind, Outcome

MOST_FACES = 1 << 24
MOST_INDEX = (1 << 32) - 2  # the one above cuts
PIXELS = 8  # of a segment, where factors adapt


@dataclass
class Scene:
    """A mesh and how to look at it.

    Parameters
    ----------
    vertices : ndarray of float32, shape (n, 3)
        Object space, y up.
    faces : ndarray of int, shape (m, 3)
        Indices of vertices. An index out of range reads a vertex of zeros [fs 8.19], and is
        counted.
    width, height : int
        Pixels.
    samples : int
        Samples of a pixel: 1, 2, 4 or 8.
    transform : ndarray of float32, shape (4, 4), optional
        From object to clip space, for column vectors; by default the whole mesh in view.
    eye : ndarray, shape (3,), optional
        Where the light's viewer stands; faces are lit on the side that it sees.
    cull : Cull
    colour : (red, green, blue)
        Of the mesh, 0 to 255.
    tessellated : fixfunc.models.tessellation.patches.Tessellated, optional
        Where the mesh comes from.
    texture : fixfunc.models.texture.texture.Texture, optional
        What the light's colour is multiplied by, instead of ``colour``; wrapped around the mesh as
        :func:`fixfunc.models.shading.around` says.
    """

    vertices: np.ndarray
    faces: np.ndarray
    width: int = 1280
    height: int = 720
    samples: int = 4
    transform: np.ndarray | None = None
    eye: np.ndarray | None = None
    cull: Cull = Cull.NONE
    colour: tuple = (214, 166, 104)
    tessellated: Tessellated | None = None
    texture: Texture | None = None

    def __post_init__(self):
        self.vertices = np.asarray(self.vertices, np.float32)
        self.faces = np.asarray(self.faces)
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3 or not len(self.vertices):
            raise MeshError("vertices", "have shape (n, 3), n above 0", self.vertices.shape)
        if (
            self.faces.ndim != 2
            or self.faces.shape[1] != 3
            or not 0 < len(self.faces) <= MOST_FACES
        ):
            raise MeshError("faces", f"have shape (m, 3), m in 1..{MOST_FACES}", self.faces.shape)
        if not np.issubdtype(self.faces.dtype, np.integer):
            raise MeshError("faces", "be integers", self.faces.dtype)
        draw_state(self.width, self.height, self.samples)
        if self.transform is None:
            self.transform, self.eye = look_at_mesh(self.vertices, self.width / self.height)
        self.transform = np.asarray(self.transform, np.float32)
        if self.transform.shape != (4, 4):
            raise InputError("transform", "have shape (4, 4)", self.transform.shape)
        self.eye = np.zeros(3) if self.eye is None else np.asarray(self.eye, float)


def teapot_patches(
    factor: float | Literal["adaptive"], width: int = 1280, height: int = 720, samples: int = 4
) -> Scene:
    """The teapot from its 32 patches.

    They pass hull stage, tessellator, domain matching and domain stage.

    Parameters
    ----------
    factor : float, or "adaptive"
        Of every edge; adaptive: segments of about 8 pixels.
    width, height, samples : int
        Size of the target in pixels, and samples of a pixel.
    """
    control = bezier.read_patches()[..., [0, 2, 1]] * (1, 1, -1)
    transform, eye = look_at_mesh(control.reshape(-1, 3).astype(np.float32), width / height)
    hull = (
        bezier.adaptive(transform, width, height, PIXELS)
        if factor == "adaptive"
        else bezier.constant(factor)
    )
    patch_run = patches.run(patches.PatchDraw(control, hull, bezier.shade))
    return Scene(
        patch_run.vertices,
        patch_run.faces,
        width,
        height,
        samples,
        transform,
        eye,
        tessellated=patch_run,
    )


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


def render(scene: Scene, progress: Callable[[str | None], object] | None = None) -> Frame:
    """Render a scene: its geometry, then the machine of :mod:`fixfunc.models.top`.

    Colours are shaded here once a pixel and face, where they are on top: the machine shades every
    tile that passes, as hardware does, which gives the same picture later.

    Parameters
    ----------
    scene : Scene
    progress : callable, optional
        Called with the name of each stage as it begins.

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

    state = draw_state(scene.width, scene.height, scene.samples, cull=scene.cull)
    counters = {"faces": len(scene.faces)}
    if scene.tessellated:
        matched = scene.tessellated.counters
        counters |= {
            "domain_points": matched.points,
            "shaded_points": matched.misses,
            "waves": scene.tessellated.waves,
        }

    stage("geometry")
    part = _geometry(scene, counters)
    triangles = part.triangles

    counters["triangles"] = len(triangles)

    machine = Machine(np.zeros(0, np.uint8), in_memory=False, progress=stage)
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
    top = shading.on_top(scene, part, draw.tiles, owner, draw.passed)
    colour = shading.resolve(scene, part, top)
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
    )


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


def _geometry(scene, counters):
    """Triangles for the setup: the mesh is drawn by an indexed draw call."""
    # Indices out of range read a vertex of zeros; none of them is a cut.
    indices = np.where((scene.faces < 0) | (scene.faces > MOST_INDEX), MOST_INDEX, scene.faces)
    data = np.ascontiguousarray(indices.astype("<u4")).view(np.uint8).ravel()
    state = FrontState(
        lambda waves: VertexResults(_transform(waves.floats(0)[..., :3], scene.transform)),
        elements=[Element(0, Format.R32G32B32_FLOAT)],
        vertex_buffers={0: VertexBuffer(scene.vertices.ravel().view(np.uint8), 12)},
        index_buffer=IndexBuffer(data),
        rasterizer=Rasterizer([Viewport(width=scene.width, height=scene.height)]),
    )
    (part,) = front_half.run(input_assembler.Draw(scene.faces.size, indexed=True), state)
    outside = (scene.faces < 0) | (scene.faces >= len(scene.vertices))
    counters["index_out_of_range"] = int(outside.sum())
    counters |= {name: part.counters[name] for name in ("rejected", "clipped", "not_a_number")}
    return part


def _transform(points, matrix):
    """Points to clip space in float32: the products added in the order x, y, z, 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        x = points[..., None, 0]
        y = points[..., None, 1]
        z = points[..., None, 2]
        return ((x * matrix[:, 0] + y * matrix[:, 1]) + z * matrix[:, 2]) + matrix[:, 3]


def look_at_mesh(
    vertices: np.ndarray, aspect: float, field_of_view: float = 40.0
) -> tuple[np.ndarray, np.ndarray]:
    """A camera that sees the whole of a mesh.

    Parameters
    ----------
    vertices : ndarray of float32, shape (n, 3)
        Object space, y up.
    aspect : float
        Width over height.
    field_of_view : float
        Of the sphere around the mesh, degrees: it sets the distance; the picture is filled.

    Returns
    -------
    transform : ndarray of float32, shape (4, 4)
    eye : ndarray of float64, shape (3,)
        Vertices that are not finite are looked past; if none is, the camera looks at the origin.
    """
    finite = vertices[np.isfinite(vertices).all(1)].astype(np.float64)
    if not len(finite):
        finite = np.zeros((1, 3))
    centre = (finite.min(0) + finite.max(0)) / 2
    radius = max(float(np.linalg.norm(finite - centre, axis=1).max()), 1e-30)
    back = np.array([0.35, 0.42, 0.84]) / np.linalg.norm([0.35, 0.42, 0.84])
    right = np.cross([0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(back, right), back])
    distance = radius / np.sin(np.radians(field_of_view) / 2)
    eye = centre + back * distance
    view = np.eye(4)
    view[:3, :3] = axes
    view[:3, 3] = -axes @ eye

    # The lens is as long as the mesh allows, with a margin.
    seen = (finite - eye) @ axes.T
    slope = 1.1 * max(
        float(np.abs(seen[:, 1] / seen[:, 2]).max()),
        float(np.abs(seen[:, 0] / seen[:, 2]).max()) / aspect,
        1e-6,
    )
    near = max(distance - 1.1 * radius, distance / 100)
    far = distance + 1.1 * radius
    lens = np.array(
        [
            (1 / (slope * aspect), 0, 0, 0),
            (0, 1 / slope, 0, 0),
            (0, 0, far / (near - far), near * far / (near - far)),
            (0, 0, -1, 0),
        ]
    )
    return (lens @ view).astype(np.float32), eye
