# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the level of detail: coordinates of quads become levels, and footprints."""

import numpy as np

from fixfunc.models.lib import float32
from fixfunc.models.payload import dtype
from fixfunc.models.texture.coordinates.footprint import (
    LOD_BITS,
    footprint,
    quad_gradients,
    saturated,
)
from fixfunc.spec.textures.level_of_detail import ANISOTROPY, FOOTPRINTS_OF_QUAD, LOD_OF_QUAD


def levels_of_quads(
    states: np.ndarray, quads: np.ndarray, state_of: np.ndarray, footprints: bool = True
) -> np.ndarray:
    """Levels of detail of quads.

    Parameters
    ----------
    states : structured ndarray, shape (s,)
        As :data:`fixfunc.spec.textures.level_of_detail.LOD_STATE`.
    quads : structured ndarray, shape (n,)
        As :data:`fixfunc.spec.textures.level_of_detail.LOD_QUAD`, and ``GRADIENTS`` where a state
        may say so.
    state_of : ndarray of intp, shape (n,)
        The state of each.
    footprints : bool
        Anisotropic filters have several samples; else ``anisotropy`` of a state is nothing.

    Returns
    -------
    structured ndarray, shape (n,)
        As :data:`fixfunc.spec.textures.level_of_detail.FOOTPRINTS_OF_QUAD`; without footprints as
        ``LOD_OF_QUAD``.

    Source: [fs 7.18.11, 7.18.16.1].
    """
    out = np.zeros(len(quads), dtype(FOOTPRINTS_OF_QUAD if footprints else LOD_OF_QUAD))
    bits = np.stack(
        [np.stack([quads[f"{name}{pixel}"] for name in "uv"], 1) for pixel in range(4)], 1
    )
    coordinates = np.ascontiguousarray(bits).view(np.float32).reshape(-1, 2, 2, 2)
    with np.errstate(over="ignore", invalid="ignore"):
        for which in np.unique(state_of):
            at = state_of == which
            state = states[which]
            slopes = quad_gradients(coordinates[at], bool(state["coarse"]))
            if "across_u0" in quads.dtype.names and state["explicit_gradients"] == 1:
                slopes = [_gradients(quads[at], way) for way in ("across", "down")]
            slopes = [slope.reshape(-1, 2) for slope in slopes]
            size = int(state["width"]), int(state["height"])
            is_explicit = state["explicit_level"] == 1
            most = min(max(int(state["anisotropy"]), 1), ANISOTROPY) if footprints else 1
            unclamped, count, along = footprint(*slopes, *size, 1 if is_explicit else most)
            unclamped = np.where(is_explicit, 0, unclamped)
            _bounded(out, quads, state, np.flatnonzero(at), unclamped.reshape(-1, 4))
            if footprints:
                _put_footprints(out, at, count.reshape(-1, 4), along.reshape(-1, 4, 2))
    return out


def _gradients(quads, way):
    """Gradients that quads bring, shape (n, 4, 2)."""
    bits = [[quads[f"{way}_{name}{pixel}"] for name in "uv"] for pixel in range(4)]
    return np.array(bits).transpose(2, 0, 1).copy().view(np.float32)


def _put_footprints(out, at, count, along):
    """Numbers of samples, and axes of those that have several."""
    bits = np.where(count[..., None] > 1, float32.flush(along), np.float32(0)).view(np.uint32)
    for pixel in range(4):
        out[f"count{pixel}"][at] = count[:, pixel]
        out[f"along_u{pixel}"][at] = bits[:, pixel, 0]
        out[f"along_v{pixel}"][at] = bits[:, pixel, 1]


def _bounded(out, quads, state, at, unclamped):
    """Levels of the quads of a state, with biases and within all bounds."""
    last = int(state["last"])
    for pixel in range(4):
        lod = saturated(unclamped[:, pixel] + quads[f"bias{pixel}"][at].astype(np.int64))
        lod = saturated(lod + int(state["bias"]))
        lod = np.maximum(np.minimum(lod, int(state["maximum"])), int(state["minimum"]))
        lod = np.maximum(lod, int(state["least"])) if state["least"] > 0 else lod
        held = np.clip(lod, 0, last << LOD_BITS)
        half = 1 << LOD_BITS - 1
        if state["smooth"]:
            level, fraction = held >> LOD_BITS, held & (1 << LOD_BITS) - 1
        else:
            level, fraction = np.minimum(held + half >> LOD_BITS, last), 0
        out[f"unclamped{pixel}"][at] = unclamped[:, pixel]
        out[f"level{pixel}"][at] = level
        out[f"fraction{pixel}"][at] = fraction
        out[f"minifies{pixel}"][at] = lod > 0
