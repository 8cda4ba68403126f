# SPDX-License-Identifier: BSD-2-Clause
"""Viewport: from clip space to snapped screen positions and fixed-point depths."""

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.formats import FRACTION, encode, store
from fixfunc.models.lib import float32
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SUBPIXEL_BITS, DepthFormat

POSITION_MAX = (1 << 23) - 1  # s15.8
ONE = {DepthFormat.D24: (1 << 24) - 1 << 8, DepthFormat.D16: 1 << 32}  # of a depth, s31.8
RANGE = 127.0  # the greatest depth of a corner, and less the least
LOW, HIGH = -32768.0, 32767.0  # pixels
MOST = 16  # viewports


@dataclass(frozen=True)
class Viewport:
    """Where on the target normalised coordinates lie [fs 15.6, 15.9].

    Parameters
    ----------
    x, y : float
        Upper left corner, pixels, y down.
    width, height : float
        Pixels, not negative.
    min_depth, max_depth : float
        Of z = 0 and of z = w.

    Raises
    ------
    InputError
        A field that is no number, or breaks a rule of [fs 15.6.1].

    All are float32.
    """

    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    min_depth: float = 0.0
    max_depth: float = 1.0

    def __post_init__(self):
        for name in ("x", "y", "width", "height", "min_depth", "max_depth"):
            value = getattr(self, name)
            if not (isinstance(value, Real | np.number) and math.isfinite(np.float32(value))):
                raise InputError(name, "be a finite number", value)
            object.__setattr__(self, name, float(np.float32(value)))
        for corner, size in (("x", "width"), ("y", "height")):
            begin = getattr(self, corner)
            extent = getattr(self, size)
            if not LOW <= begin <= HIGH:
                raise InputError(corner, "lie in -32768..32767", begin)
            if not 0 <= extent <= HIGH - begin:
                raise InputError(size, f"not be negative, nor end beyond {HIGH:.0f}", extent)
        if not 0 <= self.min_depth <= self.max_depth <= 1:
            depths = self.min_depth, self.max_depth
            raise InputError("min_depth, max_depth", "lie in order within 0..1", depths)

    @property
    def scissor(self) -> tuple[int, int, int, int]:
        """x0, y0, x1, y1: pixels outside of it are not drawn; ends round down [fs 15.7]."""
        ends = self.x, self.y, self.x + self.width, self.y + self.height
        x0, y0, x1, y1 = (math.floor(end) for end in ends)
        return x0, y0, x1, y1


def project(clip: np.ndarray, viewport: Viewport) -> np.ndarray:
    """Divide by w and map to the screen.

    Parameters
    ----------
    clip : ndarray of float32, shape (..., 4)
        Clip-space positions, y up, 0 <= z <= w.
    viewport : Viewport

    Returns
    -------
    ndarray of float32, shape (..., 4)
        x and y in pixels, y down; z; 1/w, rounded correctly. Each of the first three is multiplied
        by 1/w, and then by one multiply-add. Values are NaN or infinite where w is 0.

    Source: [fs 15.5, 15.6].
    """
    clip = np.asarray(clip, np.float32)
    rhw = float32.reciprocal(clip[..., 3])
    x, y, z = (float32.multiply(clip[..., n], rhw) for n in range(3))
    half_x = np.float32(viewport.width / 2)
    half_y = np.float32(viewport.height / 2)
    centre_x = float32.add(viewport.x, half_x)
    centre_y = float32.add(viewport.y, half_y)
    low = np.float32(viewport.min_depth)
    depth = float32.subtract(viewport.max_depth, low)
    return np.stack(
        [
            float32.multiply_add(x, half_x, centre_x),
            float32.multiply_add(y, -half_y, centre_y),
            float32.multiply_add(z, depth, low),
            rhw,
        ],
        -1,
    )


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

    Source: [fs 3.2.4.1, 3.4.1, 15.16]. Exact: the product is by a power of two.
    """
    scaled = float32.widened(xy, 0) * (1 << SUBPIXEL_BITS)
    return np.clip(np.rint(scaled), -POSITION_MAX - 1, POSITION_MAX).astype(np.int32)


def fixed_depth(
    z: ArrayLike,
    form: DepthFormat = DepthFormat.D24,
) -> np.ndarray:
    """Vertex depths for the triangle setup.

    Parameters
    ----------
    z : array_like of float32
        Depths. Without depth clip they may lie beyond 0 to 1; beyond 127 or -127 they count as
        that, and NaN as -127.
    form : DepthFormat
        D24, whose step is the unit; or D16, of which a unit is 2^-24.

    Returns
    -------
    ndarray of int64, same shape
        s31.8 units: the nearest, half up, and its neighbour where that is stored otherwise than
        the depth itself, so that a flat triangle has the depth of a clear. 1.0 is the greatest
        that 24 bits hold.

    Source: [fs 17.10-11]. The viewport's range cuts samples, not corners. Exact: a product has 48
    significant bits, and float64 holds 53; one that is far below 1/2 is 0 in any case.
    """
    z = np.clip(float32.widened(z, -RANGE), -RANGE, RANGE)
    inside = (z >= 0) & (z <= 1)
    units = np.floor(z * ONE[form] + 0.5).astype(np.int64)
    units = np.where(inside, np.minimum(units, ONE[DepthFormat.D24]), units)
    error = store(units << FRACTION - 8, form).astype(np.int64) - encode(z, form)
    return units - np.where(inside, np.sign(error), 0)
