# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the faces of cubes: directions of quads become faces, places and gradients."""

import numpy as np

from fixfunc.models.lib import float32
from fixfunc.models.payload import dtype
from fixfunc.models.texture.coordinates import cube
from fixfunc.models.texture.coordinates.footprint import quad_gradients
from fixfunc.spec.textures.cube import FACED_QUAD


def faces_of_quads(states: np.ndarray, quads: np.ndarray, state_of: np.ndarray) -> np.ndarray:
    """Faces that the pixels of quads see, where on them, and how that changes.

    Parameters
    ----------
    states : structured ndarray, shape (s,)
        As :data:`fixfunc.spec.textures.cube.CUBE_STATE`.
    quads : structured ndarray, shape (n,)
        As :data:`fixfunc.spec.textures.cube.CUBE_QUAD`, and ``CUBE_GRADIENTS`` where a state may
        say so.
    state_of : ndarray of intp, shape (n,)
        The state of each.

    Returns
    -------
    structured ndarray, shape (n,)
        As :data:`fixfunc.spec.textures.cube.FACED_QUAD`.

    Source: [fs 7.18.7, 7.18.11].
    """
    out = np.zeros(len(quads), dtype(FACED_QUAD))
    directions = _vectors(quads, "")
    coarse = states["coarse"][state_of] == 1
    both = [quad_gradients(directions.reshape(-1, 2, 2, 3), how) for how in (False, True)]
    slopes = [
        np.where(coarse[:, None, None, None], *reversed(pair)) for pair in zip(*both, strict=True)
    ]
    flat = [slope.reshape(-1, 3) for slope in slopes]
    if "across_u0" in quads.dtype.names:
        brings = np.repeat(states["explicit_gradients"][state_of] == 1, 4)[:, None]
        for n, way in enumerate(("across_", "down_")):
            flat[n] = np.where(brings, _vectors(quads, way).reshape(-1, 3), flat[n])
    face, place, found = cube.project(directions.reshape(-1, 3), flat)
    for pixel in range(4):
        out[f"face{pixel}"] = face[pixel::4]
        for axis, name in enumerate("uv"):
            out[f"{name}{pixel}"] = _bits(place[pixel::4, axis])
            for way, slope in zip(("across", "down"), found, strict=True):
                out[f"{way}_{name}{pixel}"] = _bits(slope[pixel::4, axis])
    return out


def _vectors(quads, prefix):
    """Vectors of the pixels of quads: float32, shape (n, 4, 3)."""
    bits = [[quads[f"{prefix}{name}{pixel}"] for name in "uvw"] for pixel in range(4)]
    return np.array(bits, np.uint32).transpose(2, 0, 1).copy().view(np.float32)


def _bits(value):
    return np.ascontiguousarray(float32.flush(value)).view(np.uint32)
