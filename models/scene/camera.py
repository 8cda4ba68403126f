# SPDX-License-Identifier: BSD-2-Clause
"""A camera that sees the whole of a mesh."""

import numpy as np


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
