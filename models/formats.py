# SPDX-License-Identifier: BSD-2-Clause
"""Depth formats: how a depth becomes what is stored."""

import numpy as np

from fixfunc.models.lib import float32
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DepthFormat

FRACTION = 12  # bits below D24's unit that a sample's depth is known to
MOST = {
    DepthFormat.D16: (1 << 16) - 1,
    DepthFormat.D24: (1 << 24) - 1,
    DepthFormat.D32F: 0x3F800000,
}


def encode(
    z: np.ndarray, form: DepthFormat, depth_range: tuple[float, float] = (0.0, 1.0)
) -> np.ndarray:
    """A depth as a format stores it.

    Parameters
    ----------
    z : array_like of float32
    form : DepthFormat
    depth_range : (float, float)
        Of the viewport: depths beyond it are cut to it, NaN becomes the first.

    Returns
    -------
    ndarray of uint32
        Exactly z * (2^n - 1) + 1/2, cut to an integer, or the bits of a float32.

    Raises
    ------
    InputError
        A range that is not within 0 to 1, or reversed.

    Source: [fs 17.10-11].
    """
    low, high = depth_range
    if not 0.0 <= low <= high <= 1.0:
        raise InputError("depth_range", "lie in 0..1, the least first", depth_range)
    z = np.clip(float32.widened(z, 0), low, high) + 0.0  # no negative zero
    if form == DepthFormat.D32F:
        return z.astype(np.float32).view(np.uint32)
    return np.floor(z * MOST[form] + 0.5).astype(
        np.uint32
    )  # exact: 48 bits of the product, and float64 holds 53


def unstored(
    depth: np.ndarray, form: DepthFormat, exponent: int | np.ndarray | None = None
) -> np.ndarray:
    """A sample's depth as a shader reads it: not cut to any range.

    Parameters are those of :func:`store`.

    Returns
    -------
    ndarray of float32
        Of units the nearest that is stored as the depth itself would be, so that a shader that puts
        it out changes nothing [fs 16.3.1]; of D32F the nearest.
    """
    if form == DepthFormat.D32F:
        z = np.ldexp(depth.astype(np.float64), np.asarray(exponent, np.int64) - 150 - FRACTION)
        return np.where(np.abs(z) < 2.0**-126, 0, z).astype(np.float32)
    # Of what lies far beyond the range, as helpers do, bits below a float32's do not matter.
    cut = np.where(np.abs(depth) >> 37 > 0, FRACTION, 0)
    near = depth >> cut
    wide = near << 24
    if form == DepthFormat.D24:
        # Times 1 + 2^-24 + 2^-48, which is 2^24 / (2^24 - 1) but for 2^-72 of it: below 2^62.
        wide += near + (near >> 24)
    z = np.ldexp(wide.astype(np.float32), cut - 24 - 24 - FRACTION)
    inside = (depth >= 0) & (depth <= MOST[DepthFormat.D24] << FRACTION)
    error = np.where(inside, encode(z, form).astype(np.int64) - store(depth, form), 0)
    nearer = np.nextafter(z, np.where(error > 0, -1, 2).astype(np.float32))
    return np.where(error == 0, z, nearer)


def store(
    depth: np.ndarray, form: DepthFormat, exponent: int | np.ndarray | None = None
) -> np.ndarray:
    """A sample's depth as a format stores it.

    Parameters
    ----------
    depth : ndarray of int64
        In 2^-12 of a unit, below 2^52. Negative ones count as 0; units of D24 and D16 beyond
        2^24 - 1 as so many. Of D24 a step is the unit, of D16 a unit is 2^-24.
    form : DepthFormat
    exponent : ndarray of int, shape of depth, optional
        Of D32F: a unit is 2^(exponent - 150).

    Returns
    -------
    ndarray of uint32
        D24: rounded half up. D16: times (2^16 - 1) / 2^24, then rounded half up. D32F: the nearest
        float, ties to even; what is less than the least normal one is 0 [fs 3.1.3].
    """
    depth = np.maximum(depth, 0)
    if form == DepthFormat.D32F:
        # Exact in float64, which is rounded once.
        z = np.ldexp(depth.astype(np.float64), np.asarray(exponent, np.int64) - 150 - FRACTION)
        return np.where(z < 2.0**-126, 0, z).astype(np.float32).view(np.uint32)
    depth = np.minimum(depth, MOST[DepthFormat.D24] << FRACTION)
    if form == DepthFormat.D24:
        return (depth + (1 << 11) >> FRACTION).astype(np.uint32)
    return (depth - (depth >> 16) + (1 << 19) >> FRACTION + 8).astype(np.uint32)
