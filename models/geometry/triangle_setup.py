# SPDX-License-Identifier: BSD-2-Clause
"""Triangle setup: culls, edge functions, box and depth plane of snapped triangles."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import check, dtype
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Cull

DTYPE = dtype(payloads.SETUP)
TRIANGLE = dtype(payloads.TRIANGLE)
Z_MAX = ((1 << 24) - 1) << 8  # 1.0 as u24.8 in units of D24

# By log2 of the samples: log2 of a pixel's columns and rows of lanes, and the greatest distance of
# a sample from the pixel's centre in x or y, 1/16 pixel.
PIXEL_SHAPE = np.array([(0, 0), (0, 1), (1, 1), (1, 2)])
SAMPLE_REACH = np.array([0, 4, 6, 7])


class Setup(NamedTuple):
    """Records of m out of n triangles, as :func:`setup` returns them, and why others are culled."""

    records: np.ndarray  # DTYPE, shape (m,)
    index: np.ndarray  # intp, shape (m,): index of each record's triangle
    zero_area: np.ndarray  # bool, shape (n,)
    facing: np.ndarray  # bool, shape (n,): culled by winding
    no_sample: np.ndarray  # bool, shape (n,): no sample position within the box
    steep: np.ndarray  # bool, shape (m,): the depth slope does not fit, the plane is flat


def setup(triangles: np.ndarray, state: np.void, edge: int = 8) -> Setup:
    """Set up triangles.

    Parameters
    ----------
    triangles : ndarray of :data:`TRIANGLE`, shape (n,)
        Snapped vertices, s15.8 pixels, and depths, u24.8 in units of D24.
    state : numpy.void
        From :func:`fixfunc.models.state.draw_state`.
    edge : int
        Samples along a tile's edge: 8, or 4.

    Returns
    -------
    Setup

    Raises
    ------
    InputError
        A coordinate that does not fit 24 bits, or a depth above 1.0.

    Source: [trip 6], numerics: positions and edges, depth. Edge k runs from vertex k to vertex k +
    1, turned so that the inside is positive whatever the winding.
    """
    triangles = np.atleast_1d(triangles)
    check(triangles, payloads.TRIANGLE)
    x = np.stack([triangles[f"x{k}"] for k in range(3)], -1).astype(np.int64)
    y = np.stack([triangles[f"y{k}"] for k in range(3)], -1).astype(np.int64)
    z = np.stack([triangles[f"z{k}"] for k in range(3)], -1).astype(np.int64)
    if (z > Z_MAX).any():
        raise InputError("z", f"not exceed {Z_MAX}", int(z.max()))
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    box = _box(x, y, state)

    zero_area = area == 0
    front = (area < 0) if state["front_ccw"] else (area > 0)
    culled = {Cull.NONE: np.zeros_like(front), Cull.FRONT: front, Cull.BACK: ~front}[
        Cull(state["cull"])
    ]
    facing = culled & ~zero_area
    empty = (box[:, 0] > box[:, 2]) | (box[:, 1] > box[:, 3])
    no_sample = empty & ~zero_area & ~facing

    index = np.flatnonzero(~(zero_area | facing | empty))
    records, steep = _records(
        triangles[index], x[index], y[index], z[index], area[index], box[index], state, edge
    )
    records["back"] = ~front[index]
    return Setup(records, index, zero_area, facing, no_sample, steep)


def _box(x, y, state):
    """Pixels, both ends inclusive, with a sample position within the triangle's bounds.

    The box is cut by viewport, scissor and target.
    """
    reach = 16 * SAMPLE_REACH[state["samples"]]
    cut = {}
    for axis, size in (("x", "target_width"), ("y", "target_height")):
        low = max(int(state[f"viewport_{axis}0"]), int(state[f"scissor_{axis}0"]))
        high = min(
            int(state[f"viewport_{axis}1"]), int(state[f"scissor_{axis}1"]), int(state[size])
        )
        cut[axis] = max(low, 0), high - 1
    ends = []
    for axis, v in (("x", x), ("y", y)):
        # A sample on the greatest x or y is never inside: such an edge is neither top nor left.
        first = -((128 + reach - v.min(1)) >> 8)
        last = -((128 - reach - v.max(1)) >> 8) - 1
        ends.append((np.maximum(first, cut[axis][0]), np.minimum(last, cut[axis][1])))
    (x0, x1), (y0, y1) = ends
    return np.stack([x0, y0, x1, y1], -1)


def _records(triangles, x, y, z, area, box, state, edge):
    records = np.zeros(len(triangles), DTYPE)
    for name in ("kind", "state", "slot"):
        records[name] = triangles[name]
    records["samples"] = state["samples"]
    for k, name in enumerate(("x0", "y0", "x1", "y1")):
        records[name] = box[:, k]
    records["zmin"] = z.min(1) >> 8
    records["zmax"] = (z.max(1) + 255) >> 8

    # The origin is the centre of the first pixel of the first tile, 1/256 pixel.
    lx, ly = PIXEL_SHAPE[state["samples"]]
    wide = edge >> lx
    high = edge >> ly
    origin_x = (box[:, 0] // wide * wide) * 256 + 128
    origin_y = (box[:, 1] // high * high) * 256 + 128

    winding = np.where(area < 0, -1, 1)
    spread = SAMPLE_REACH[state["samples"]]
    for k in range(3):
        n = (k + 1) % 3
        a = winding * (y[:, k] - y[:, n])
        b = winding * (x[:, n] - x[:, k])
        value = a * (origin_x - x[:, k]) + b * (origin_y - y[:, k])
        top_left = (a > 0) | ((a == 0) & (b > 0))
        reach = np.where(a > 0, a * (16 * (wide - 1) + spread), -a * spread)
        reach += np.where(b > 0, b * (16 * (high - 1) + spread), -b * spread)
        records[f"a{k}"] = a
        records[f"b{k}"] = b
        records[f"reach{k}"] = reach
        records[f"c{k}"] = (
            ((value - ~top_left) >> 4) + reach
        ) << ly  # the low bits never change a sign

    start, (slope_x, slope_y), steep = _plane(x, y, z, area, origin_x, origin_y)
    records["z"] = start
    records["zx"] = slope_x
    records["zy"] = slope_y
    return records, steep


def _plane(x, y, z, area, origin_x, origin_y):
    """Depth plane: start, slopes, and which planes are steep.

    The start is u24.24 modulo 2^24, at the origin; the slopes are s23.24 a pixel.
    """
    dz1 = z[:, 1] - z[:, 0]
    dz2 = z[:, 2] - z[:, 0]
    ux = x[:, 1] - x[:, 0]
    uy = y[:, 1] - y[:, 0]
    vx = x[:, 2] - x[:, 0]
    vy = y[:, 2] - y[:, 0]
    winding = np.where(area < 0, -1, 1)
    determinants = dz1 * vy - dz2 * uy, dz2 * ux - dz1 * vx
    slopes = [_divide(winding * value, np.abs(area)) for value in determinants]

    # The slope is s23.24, dx and dy are the same in s23.8. Where either does not fit, the plane is
    # flat at vertex 0's depth.
    fits = np.ones(len(x), bool)
    for slope in slopes:
        fits &= (slope >= -(1 << 47)) & (slope + (1 << 15) < 1 << 47)
    zx, zy = (np.where(fits, slope, 0) for slope in slopes)
    start = (z[:, 0] << 24).view(np.uint64)
    for slope, from_x, to_x in ((zx, x[:, 0], origin_x), (zy, y[:, 0], origin_y)):
        start = start + slope.view(np.uint64) * (to_x - from_x).view(np.uint64)
    return start >> np.uint64(8) & np.uint64((1 << 48) - 1), (zx, zy), ~fits


def _divide(numerator, denominator):
    """floor(numerator * 2^24 / denominator), saturated to 49 bits.

    The fraction is divided in two steps, so that int64 suffices.
    """
    integer = numerator // denominator
    remainder = numerator - integer * denominator
    high, remainder = np.divmod(remainder << 12, denominator)
    fraction = (high << 12) + (remainder << 12) // denominator
    return (np.clip(integer, -(1 << 24), (1 << 24) - 1) << 24) + fraction
