# SPDX-License-Identifier: BSD-2-Clause
"""Cube maps: faces of directions, and texels beyond a face's edges."""

import numpy as np

# Of each face: the axes of s, t and of the face, with their signs.
AXES = np.array([2, 2, 0, 0, 0, 0]), np.array([1, 1, 2, 2, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
SIGNS = np.array([-1, 1, 1, 1, 1, -1]), np.array([-1, -1, 1, -1, -1, -1]), np.array([1, -1, 1, -1, 1, -1])


def face_of(direction):
    """The face that directions of shape (n, 3) meet: of equal components z comes before y, y before x; not a number is zero."""
    size = np.abs(np.nan_to_num(direction, nan=0.0))
    axis = np.where((size[:, 2] >= size[:, 0]) & (size[:, 2] >= size[:, 1]), 2, np.where(size[:, 1] >= size[:, 0], 1, 0))
    return 2 * axis + (np.take_along_axis(direction, axis[:, None], 1)[:, 0] < 0)


def on_face(direction, face):
    """Components of directions along s, t and the face: float64, shape (n, 3)."""
    return np.stack([np.take_along_axis(np.asarray(direction, np.float64), axes[face][:, None], 1)[:, 0] * signs[face]
                     for axes, signs in zip(AXES, SIGNS, strict=True)], 1)


def project(direction, gradients):
    """Directions and their gradients -> faces, u and v, gradients of u and v."""
    direction = np.where(np.isfinite(direction), direction, 0)
    face = face_of(direction)
    s, t, away = on_face(direction, face).T
    away = np.where(away == 0, 1, away)
    uv = np.stack([s / away, t / away], 1)
    slopes = []
    for gradient in gradients:
        ds, dt, da = on_face(gradient, face).T
        slopes.append((np.stack([ds - uv[:, 0] * da, dt - uv[:, 1] * da], 1) / away[:, None] / 2).astype(np.float32))
    return face, (uv / 2 + 0.5).astype(np.float32), slopes


def across_edges(face, x, y, size):
    """Texels, one step beyond an edge of their face at most -> face, x, y on the cube. Beyond a corner there is none: any."""
    out = ~((x >= 0) & (x < size) & (y >= 0) & (y < size))
    s, t = ((2 * v + 1) / size - 1 for v in (x, y))
    point = np.zeros((len(x), 3))
    for value, axes, signs in zip((s, t, np.ones(len(x))), AXES, SIGNS, strict=True):
        point[np.arange(len(x)), axes[face]] = value * signs[face]
    to = np.where(out, face_of(point), face)
    s, t, away = on_face(point, to).T
    nx, ny = (np.clip(np.floor((v / away + 1) * size / 2), 0, size - 1).astype(np.int64) for v in (s, t))
    return to, np.where(out, nx, x), np.where(out, ny, y)
