# SPDX-License-Identifier: BSD-2-Clause
"""Cube maps: faces of directions, and texels beyond a face's edges."""

import numpy as np

# Axes of s, of t and of the normal of each face, and their signs.
AXES = np.array([2, 2, 0, 0, 0, 0]), np.array([1, 1, 2, 2, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
SIGNS = (
    np.array([-1, 1, 1, 1, 1, -1]),
    np.array([-1, -1, 1, -1, -1, -1]),
    np.array([1, -1, 1, -1, 1, -1]),
)


def face_of(direction):
    """Faces that directions of shape (n, 3) meet.

    Among equal components z comes before y, and y before x. NaN is zero.
    """
    size = np.abs(np.nan_to_num(direction, nan=0.0))
    axis = np.where(
        (size[:, 2] >= size[:, 0]) & (size[:, 2] >= size[:, 1]),
        2,
        np.where(size[:, 1] >= size[:, 0], 1, 0),
    )
    return 2 * axis + (np.take_along_axis(direction, axis[:, None], 1)[:, 0] < 0)


def on_face(direction, face):
    """Components of directions along s, t and the normal of faces: float64, shape (n, 3)."""
    return np.stack(
        [
            np.take_along_axis(np.asarray(direction, np.float64), axes[face][:, None], 1)[:, 0]
            * signs[face]
            for axes, signs in zip(AXES, SIGNS, strict=True)
        ],
        1,
    )


def project(direction, gradients):
    """Project directions and their gradients: faces, u and v, gradients of u and v."""
    direction = np.where(np.isfinite(direction), direction, 0)
    face = face_of(direction)
    s, t, normal = on_face(direction, face).T
    normal = np.where(normal == 0, 1, normal)
    uv = np.stack([s / normal, t / normal], 1)
    slopes = []
    for gradient in gradients:
        ds, dt, dn = on_face(gradient, face).T
        slope = np.stack([ds - uv[:, 0] * dn, dt - uv[:, 1] * dn], 1) / normal[:, None] / 2
        slopes.append(slope.astype(np.float32))
    return face, (uv / 2 + 0.5).astype(np.float32), slopes


def across_edges(face, x, y, size):
    """Faces and coordinates of texels that may lie one step beyond an edge of their face.

    Beyond a corner there is no texel; the result is then any.
    """
    outside = ~((x >= 0) & (x < size) & (y >= 0) & (y < size))
    s = (2 * x + 1) / size - 1
    t = (2 * y + 1) / size - 1
    point = np.zeros((len(x), 3))
    for value, axes, signs in zip((s, t, np.ones(len(x))), AXES, SIGNS, strict=True):
        point[np.arange(len(x)), axes[face]] = value * signs[face]
    neighbour = np.where(outside, face_of(point), face)
    s, t, normal = on_face(point, neighbour).T
    next_x = np.clip(np.floor((s / normal + 1) * size / 2), 0, size - 1).astype(np.int64)
    next_y = np.clip(np.floor((t / normal + 1) * size / 2), 0, size - 1).astype(np.int64)
    return neighbour, np.where(outside, next_x, x), np.where(outside, next_y, y)
