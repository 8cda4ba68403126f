# SPDX-License-Identifier: BSD-2-Clause
"""Faces: what a primitive decides for the triangles that it is expanded to."""

import numpy as np

from fixfunc.models.geometry import triangle_setup
from fixfunc.spec.state import Cull, DepthFormat

# Back-facing; with a bias of depths, that of the slopes dx and dy, s27.8 units a pixel, or steep;
# the exponent of the depths' unit, of D32F; and what alpha is multiplied by, of antialiased lines.
FACE = np.dtype(
    [
        ("back", "?"),
        ("biased", "?"),
        ("dx", "i8"),
        ("dy", "i8"),
        ("steep", "?"),
        ("exponent", "i8"),
        ("coverage", "f4"),
    ]
)


def of_points_and_lines(z: np.ndarray, form: DepthFormat) -> np.ndarray:
    """Faces of points and lines: in front, without a bias.

    Parameters
    ----------
    z : ndarray of uint32, shape (n, k)
        Depths of their ends, as :data:`fixfunc.models.geometry.triangle_setup.TRIANGLE` has them.
    form : DepthFormat

    Returns
    -------
    ndarray of :data:`FACE`, shape (n,)

    Source: [fs 15.10, 15.12].
    """
    faces = np.zeros(len(z), FACE)
    faces["coverage"] = 1
    _, faces["exponent"] = triangle_setup.depth_units(z, form)
    return faces


def of_triangles(triangles: np.ndarray, form: DepthFormat, front_ccw: bool) -> np.ndarray:
    """Faces of triangles whose edges are drawn: those that they have where they are filled.

    Parameters
    ----------
    triangles : ndarray of :data:`fixfunc.models.geometry.triangle_setup.TRIANGLE`, shape (n,)
    form : DepthFormat
    front_ccw : bool
        Counter-clockwise triangles face front.

    Returns
    -------
    ndarray of :data:`FACE`, shape (n,)
        A triangle without area faces back.

    Source: [fs 15.10-15.13].
    """
    x, y, z = triangle_setup.vertices(triangles)
    faces = np.zeros(len(triangles), FACE)
    faces["coverage"] = 1
    z, faces["exponent"] = triangle_setup.depth_units(z, form)
    area = triangle_setup.areas(x, y)
    slopes, faces["steep"] = triangle_setup.slopes(x, y, z, area)
    for name, slope in zip(("dx", "dy"), slopes, strict=True):
        faces[name] = slope.view(np.int64) + (1 << 15) >> 16
    faces["biased"] = True
    faces["back"] = ~triangle_setup.is_front(area, front_ccw)
    return faces


def culled(back: np.ndarray, cull: Cull) -> np.ndarray:
    """Which of the triangles that face back, or do not, are not drawn: bool, shape of back."""
    return {Cull.NONE: np.zeros_like(back), Cull.FRONT: ~back, Cull.BACK: back}[cull]
