# SPDX-License-Identifier: BSD-2-Clause
"""Viewport: from clip space to snapped screen positions and fixed-point depths."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SUBPIXEL_BITS

POSITION_MAX = (1 << 23) - 1  # s15.8
D24_MAX = (1 << 24) - 1


def project(
    clip: np.ndarray, viewport: Sequence[float], depth_range: tuple[float, float] = (0.0, 1.0)
) -> np.ndarray:
    """Divide by w and map to the screen.

    Parameters
    ----------
    clip : ndarray of float32, shape (..., 4)
        Clip-space positions, y up, 0 <= z <= w.
    viewport : (x0, y0, x1, y1)
        Pixels, y down.
    depth_range : (float, float)
        Depths of z = 0 and of z = w, within [0, 1]; the first is not greater than the second.

    Returns
    -------
    ndarray of float32, shape (..., 3)
        x and y in pixels, y down; z, which lies within the depth range if it lay within 0..w.
        Values are NaN or infinite where w is 0.

    Raises
    ------
    InputError
        A depth range that breaks its rule [fs 15.6.1].
    """
    low, high = depth_range
    if not 0.0 <= low <= high <= 1.0:
        raise InputError("depth_range", "lie in order within 0..1", tuple(depth_range))
    x0, y0, x1, y1 = (np.float32(v) for v in viewport)
    half = np.float32(0.5)
    clip = np.asarray(clip, np.float32)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ndc = clip[..., :3] / clip[..., 3:]
        x = (ndc[..., 0] * half + half) * (x1 - x0) + x0
        y = (half - ndc[..., 1] * half) * (y1 - y0) + y0
        z = ndc[..., 2] * np.float32(high - low) + np.float32(low)
    return np.stack([x, y, z], -1)


def snap(xy: ArrayLike) -> np.ndarray:
    """Snap positions to 1/256 pixel.

    Parameters
    ----------
    xy : array_like of float32
        Pixels.

    Returns
    -------
    ndarray of int32, same shape
        s15.8, rounded to nearest, ties to even. Values beyond the range, infinities included, give
        its ends; NaN gives 0.

    Source: [fs 3.2.4.1, 3.4.1, 15.16].
    """
    scaled = np.asarray(xy, np.float32).astype(np.float64) * (1 << SUBPIXEL_BITS)
    return np.nan_to_num(np.clip(np.rint(scaled), -POSITION_MAX - 1, POSITION_MAX), nan=0.0).astype(
        np.int32
    )


def fixed_depth(z: ArrayLike, depth_range: tuple[float, float] = (0.0, 1.0)) -> np.ndarray:
    """Vertex depths for the triangle setup.

    Parameters
    ----------
    z : array_like of float32
        Depths, 0 to 1.
    depth_range : (float, float)
        Depth range of the viewport. Depths are clamped to it; NaN becomes its first end.

    Returns
    -------
    ndarray of uint32, same shape
        u24.8 in units of D24, rounded half up.

    Source: [fs 17.10-11]. Exact: the product has 48 significant bits, and float64 holds 53.
    """
    low, high = depth_range
    z = np.fmin(np.fmax(np.asarray(z, np.float32).astype(np.float64), low), high)
    return np.floor(z * (D24_MAX * 256) + 0.5).astype(np.uint32)
