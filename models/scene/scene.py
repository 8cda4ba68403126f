# SPDX-License-Identifier: BSD-2-Clause
"""A mesh and how to look at it."""

import os
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fixfunc.models.scene.camera import look_at_mesh
from fixfunc.models.state import draw_state
from fixfunc.models.tessellation import bezier, patches
from fixfunc.models.tessellation.patches import Tessellated
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.errors import InputError, MeshError
from fixfunc.spec.state import Cull

MOST_FACES = 1 << 24
BYTES_OF_SAMPLE = 40  # that golden frames take at the peak, measured
REPEATS = 4  # of a texture around a mesh
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
        :attr:`coordinates` says.
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

    @property
    def state(self) -> np.void:
        """The draw state."""
        return draw_state(self.width, self.height, self.samples, cull=self.cull)

    @property
    def outside(self) -> np.ndarray:
        """Which corners of faces name a vertex that there is not: bool, shape (m, 3)."""
        return (self.faces < 0) | (self.faces >= len(self.vertices))

    @property
    def corners(self) -> np.ndarray:
        """Positions of every face's corners: float32, shape (m, 3, 3); zeros where outside."""
        vertices = np.concatenate([self.vertices, np.zeros((1, 3), np.float32)])
        return vertices[np.where(self.outside, len(self.vertices), self.faces)]

    @property
    def coordinates(self) -> np.ndarray:
        """Texture coordinates of every face's corners: float32, shape (m, 3, 2).

        They lie on a cylinder around y, four turns a circle, and as many for a length of it
        upwards. A face over the seam goes on where it is cut.
        """
        centre = (self.vertices.max(0) + self.vertices.min(0)) / 2
        radius = max(float(np.ptp(self.vertices[:, [0, 2]], axis=0).max()) / 2, 1e-30)
        x, y, z = np.moveaxis(np.nan_to_num(self.corners.astype(np.float64) - centre), -1, 0)
        u = np.arctan2(z, x) / (2 * np.pi)
        u += u.max(1, keepdims=True) - u > 0.5
        return (np.stack([u, -y / (2 * np.pi * radius)], -1) * REPEATS).astype(np.float32)


def check_memory(scene: Scene) -> None:
    """Raise ``InputError`` for more samples than this machine's memory holds while it draws."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    most = memory // BYTES_OF_SAMPLE
    samples = scene.width * scene.height * scene.samples
    if samples > most:
        rule = f"have at most {most} samples, which {memory >> 20} MB of memory hold"
        raise InputError("size", rule, samples)


def teapot(divisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of the Utah teapot, y up, its patches divided on a grid.

    Shapes, dtypes and errors are those of :func:`fixfunc.models.tessellation.bezier.tessellate`.
    """
    vertices, faces = bezier.tessellate(bezier.read_patches(), divisions)
    return vertices[:, [0, 2, 1]] * (1, 1, -1), faces


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
