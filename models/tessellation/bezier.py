# SPDX-License-Identifier: BSD-2-Clause
"""Bicubic Bezier patches: on a grid, and as stages of a tessellated draw; the Utah teapot."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fixfunc.spec.errors import InputError, MeshError

TEAPOT = Path(__file__).parents[1] / "data" / "teapot_patches.txt"
MOST_DIVISIONS = 1024  # of a side: two million triangles a patch


def read_patches(path: str | Path = TEAPOT) -> np.ndarray:
    """Read the patches of a file.

    The file has the number of patches, 16 one-based indices of each, then the points. Lines that
    begin with ``#`` are comments.

    Returns
    -------
    ndarray of float64, shape (patches, 4, 4, 3)

    Raises
    ------
    MeshError
        A file that breaks this form.
    """
    lines = [
        line
        for line in Path(path).read_text().splitlines()
        if line.strip() and not line.startswith("#")
    ]
    try:
        count = int(lines[0])
        index = np.array([[int(v) for v in line.split(",")] for line in lines[1 : 1 + count]])
        points = np.array(
            [[float(v) for v in line.replace(",", " ").split()] for line in lines[2 + count :]]
        )
        return points[index - 1].reshape(count, 4, 4, 3)
    except (ValueError, IndexError) as error:
        raise MeshError(
            "patch file", "hold a count, 16 indices a patch and points", f"{path}: {error}"
        ) from error


def tessellate(patches: np.ndarray, divisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Evaluate patches on a grid of triangles.

    Parameters
    ----------
    patches : ndarray, shape (n, 4, 4, 3)
    divisions : int
        Sides of the grid along each edge of a patch, 1 to 1024. A patch has 2 * divisions^2
        triangles.

    Returns
    -------
    vertices : ndarray of float32, shape (n * (divisions + 1)^2, 3)
    faces : ndarray of int64, shape (2 * n * divisions^2, 3)
        Indices of vertices. Adjacent patches share positions, not vertices. Triangles without area,
        as where a patch's edge is a point at the teapot's lid, are left out.

    Raises
    ------
    InputError
        ``divisions`` out of range.
    """
    if not 1 <= divisions <= MOST_DIVISIONS:
        raise InputError("divisions", f"lie in 1..{MOST_DIVISIONS}", divisions)
    t = np.arange(divisions + 1) / divisions
    basis = np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3], -1)
    grid = np.einsum("ui,vj,nijk->nuvk", basis, basis, patches)
    vertices = grid.reshape(-1, 3).astype(np.float32)
    place = np.arange(len(vertices)).reshape(len(patches), divisions + 1, divisions + 1)
    a = place[:, 0 : 0 + divisions, 0 : 0 + divisions].ravel()
    b = place[:, 0 : 0 + divisions, 1 : 1 + divisions].ravel()
    c = place[:, 1 : 1 + divisions, 0 : 0 + divisions].ravel()
    d = place[:, 1 : 1 + divisions, 1 : 1 + divisions].ravel()
    faces = np.stack([np.stack([a, b, c], -1), np.stack([b, d, c], -1)], 1).reshape(-1, 3)
    corners = vertices[faces]
    area = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    return vertices, faces[area > 0]


def shade(control: np.ndarray, uv: np.ndarray) -> np.ndarray:
    """Domain stage of bicubic patches: evaluate points on them.

    Patches that share the control points of an edge, in either direction, have the same points
    there, to the bit. Every sum and product below is therefore the same from both ends.

    Parameters
    ----------
    control : ndarray, shape (n, 4, 4, 3)
    uv : ndarray of float64, shape (n, 2)

    Returns
    -------
    ndarray of float64, shape (n, 3)
    """
    u = _basis(uv[:, 0])[..., None]
    v = _basis(uv[:, 1])[..., None]
    rows = _sum([control[:, :, k] * v[:, None, k] for k in range(4)])
    return _sum([rows[:, k] * u[:, k] for k in range(4)])


def constant(factor: float) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Hull stage with one factor for all edges."""
    return lambda control: (np.full((len(control), 4), factor), np.full((len(control), 2), factor))


def adaptive(
    transform: np.ndarray, width: int, height: int, pixels: float
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Hull stage with segments of about so many pixels on a screen.

    The length of an edge is that of its control polygon.

    Parameters
    ----------
    transform : ndarray, shape (4, 4)
        Transform to clip space.
    width, height : int
        Size of the screen, pixels.
    pixels : float
        Length of a segment.
    """

    def hull(control):
        points = np.concatenate([control, np.ones((*control.shape[:-1], 1))], -1)
        clip = _sum(
            [points[..., k, None] * np.asarray(transform, np.float64)[:, k] for k in range(4)]
        )
        w = np.maximum(clip[..., 3:], 1e-6)
        screen = clip[..., :2] / w * (width / 2, height / 2)
        edges = np.stack(
            [screen[:, 0, :], screen[:, :, 0], screen[:, 3, :], screen[:, :, 3]], 1
        )  # u = 0, v = 0, u = 1, v = 1
        steps = np.hypot(*np.moveaxis(np.diff(edges, axis=2), -1, 0))
        outer = np.clip(((steps[..., 0] + steps[..., 2]) + steps[..., 1]) / pixels, 1, 64)
        return outer, np.stack(
            [np.maximum(outer[:, 1], outer[:, 3]), np.maximum(outer[:, 0], outer[:, 2])], -1
        )

    return hull


def _basis(t):
    """Cubic weights, shape (n, 4); those of 1 - t are the same in reverse."""
    s = 1 - t
    return np.stack([s * s * s, 3 * (s * s * t), 3 * (t * t * s), t * t * t], -1)


def _sum(terms):
    """Sum of four terms, which is the same in reverse."""
    first, second, third, fourth = terms
    return (first + fourth) + (second + third)
