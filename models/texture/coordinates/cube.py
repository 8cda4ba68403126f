# SPDX-License-Identifier: BSD-2-Clause
"""Cube maps: faces of directions, and texels beyond a face's edges."""

from collections.abc import Iterable

import numpy as np

from fixfunc.models.lib import float32

# Axes of s, of t and of the normal of each face, and their signs.
AXES = np.array([2, 2, 0, 0, 0, 0]), np.array([1, 1, 2, 2, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
SIGNS = (
    np.array([-1, 1, 1, 1, 1, -1]),
    np.array([-1, -1, 1, -1, -1, -1]),
    np.array([1, -1, 1, -1, 1, -1]),
)


def face_of(direction: np.ndarray) -> np.ndarray:
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


def on_face(direction: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Components of directions along s, t and the normal of faces: shape (n, 3), of their type."""
    return np.stack(
        [
            np.take_along_axis(direction, axes[face][:, None], 1)[:, 0]
            * signs[face].astype(direction.dtype)
            for axes, signs in zip(AXES, SIGNS, strict=True)
        ],
        1,
    )


def project(
    direction: np.ndarray, gradients: Iterable[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Project directions and their gradients: faces, u and v, gradients of u and v.

    All is float32: s / normal, of which u is half and a half by a multiply-add; of a gradient
    ds - s / normal * dn by a multiply-add, divided by the normal and halved.
    """
    direction = float32.flush(np.where(np.isfinite(direction), direction, 0))
    face = face_of(direction)
    half = np.float32(0.5)
    along = on_face(direction, face)
    normal = np.where(along[:, 2:] == 0, np.float32(1), along[:, 2:])
    share = float32.divide(along[:, :2], normal)
    slopes = []
    for gradient in gradients:
        step = on_face(float32.flush(gradient), face)
        slope = float32.multiply_add(-share, step[:, 2:], step[:, :2])
        slopes.append(float32.multiply(float32.divide(slope, normal), half))
    return face, float32.multiply_add(share, half, half), slopes


def across_edges(
    face: np.ndarray, x: np.ndarray, y: np.ndarray, size: int | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Faces and coordinates of texels that may lie one step beyond an edge of their face.

    Beyond a corner there is no texel; the result is then any. Places lie 1/(size + 1) texel or more
    from the next whole one: float64 is as good as exact, and steps along an edge stay as they are.
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
