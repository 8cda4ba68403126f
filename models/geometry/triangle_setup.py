# SPDX-License-Identifier: BSD-2-Clause
"""Triangle setup: culls, edge functions, box and depth plane of snapped triangles."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import check, dtype
from fixfunc.spec import payloads
from fixfunc.spec.state import Cull, DepthFormat

DTYPE = dtype(payloads.SETUP)
TRIANGLE = dtype(payloads.TRIANGLE)
Z_MAX = ((1 << 24) - 1) << 8  # 1.0 as s31.8
ONE = 0x3F800000  # 1.0 as float32
RANGE = 127  # the greatest depth, and less the least one, that a plane is made of
FAR = RANGE << 32  # as s31.8, and more than that many times 1.0
FAR_FLOAT = 0x42FE0000  # as float32
UNORM_EXPONENT = 127  # of 1.0
START = 56  # bits of z
SLOPE = 60  # bits of zx, zy
DIGIT = 12  # bits that a step of a division finds
# Half a pixel, and half a unit that snapping may have moved a vertex, rounded up: 1/256 pixel.
OUTER = 129

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
    steep: np.ndarray  # bool, shape (m,): the depth slope does not fit s23.8


def setup(
    triangles: np.ndarray,
    state: np.void,
    edge: int = 8,
    faces: np.ndarray | None = None,
) -> Setup:
    """Set up triangles.

    Parameters
    ----------
    triangles : ndarray of :data:`TRIANGLE`, shape (n,)
        Snapped vertices, s15.8 pixels, and depths: s31.8 units, as
        :func:`fixfunc.models.geometry.viewport.fixed_depth` has them, or for D32F the bits of
        float32. What lies beyond 127 or -127 counts as that.
    state : numpy.void
        From :func:`fixfunc.models.state.draw_state`. Where it is ``conservative``, a pixel is
        covered if any point of it may lie in the triangle: outer coverage, grown by 1/256 pixel.
        Of one sample a pixel; depths are those of its centre, which may lie outside.
    edge : int
        Samples along a tile's edge: 8, or 4.
    faces : structured ndarray with ``back`` and ``exponent``, shape (n,), optional
        Of triangles that points, lines or edges were expanded to: the primitive's, which are
        neither culled nor turned. As in :data:`fixfunc.models.geometry.faces.FACE`.

    Returns
    -------
    Setup

    Raises
    ------
    InputError
        A coordinate that does not fit 24 bits.

    Source: [trip 6], numerics: positions and edges, depth. Edge k runs from vertex k to vertex k +
    1, turned so that the inside is positive whatever the winding.
    """
    triangles = np.atleast_1d(triangles)
    check(triangles, payloads.TRIANGLE)
    x, y, z = vertices(triangles)
    form = DepthFormat(state["depth_format"])
    z, exponent = depth_units(z, form, None if faces is None else faces["exponent"])
    area = areas(x, y)
    box = sample_box(x, y, state)
    for limit in limits(state).values():
        box = cut(box, limit)

    zero_area = area == 0
    front = is_front(area, state["front_ccw"]) if faces is None else ~faces["back"]
    cull = Cull(state["cull"]) if faces is None else Cull.NONE
    culled = {Cull.NONE: np.zeros_like(front), Cull.FRONT: front, Cull.BACK: ~front}[cull]
    facing = culled & ~zero_area
    empty = is_empty(box)
    no_sample = empty & ~zero_area & ~facing

    index = np.flatnonzero(~(zero_area | facing | empty))
    records, steep = _records(
        triangles[index],
        x[index],
        y[index],
        z[index],
        area[index],
        box[index],
        state,
        edge,
    )
    records["back"] = ~front[index]
    records["exponent"] = exponent[index]
    return Setup(records, index, zero_area, facing, no_sample, steep)


def vertices(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y, z of :data:`TRIANGLE`: three ndarrays of int64, shape (n, 3)."""
    return tuple(
        np.stack([triangles[f"{axis}{k}"] for k in range(3)], -1).astype(np.int64) for axis in "xyz"
    )


def areas(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Twice the areas of triangles, 2^-16 pixels: int64, shape (n,), positive of clockwise ones."""
    return (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])


def is_front(area: np.ndarray, front_ccw: bool) -> np.ndarray:
    """Which triangles face front, by their :func:`areas`: none without area [fs 15.11.1]."""
    return (area < 0) if front_ccw else (area > 0)


def depth_units(
    z: np.ndarray, form: DepthFormat, exponent: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Depths of vertices in the units of a plane.

    Parameters
    ----------
    z : ndarray of int, shape (n, k)
        As :data:`TRIANGLE` has them.
    form : DepthFormat
    exponent : ndarray of int64, shape (n,), optional
        That of the unit, of D32F; by default the greatest of each row.

    Returns
    -------
    z : ndarray of int64, shape (n, k)
        s31.8, -127 to 127 times 2^24.
    exponent : ndarray of int64, shape (n,)
        0, if the format is not D32F.
    """
    z = z.astype(np.int64)
    if form == DepthFormat.D32F:
        return block_depths(z, exponent)
    return np.clip(z, -FAR, FAR), np.zeros(len(z), np.int64)


def block_depths(
    bits: np.ndarray, exponent: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Depths of triangles under one exponent each: block floating point.

    Parameters
    ----------
    bits : ndarray of int64, shape (n, k)
        float32, of which denormals count as zero [fs 3.1.3], and what is beyond 127 or -127 by the
        order of its bits as that.
    exponent : ndarray of int64, shape (n,), optional
        As float32 stores it; by default the greatest of each row, and that of 1.0 at most.

    Returns
    -------
    z : ndarray of int64, shape (n, k)
        s31.8 in units of 2^(exponent - 150), cut towards zero. The greatest depth has 24 bits
        before the point, or more if it is beyond 1.0.
    exponent : ndarray of int64, shape (n,)
    """
    magnitudes = np.minimum(bits & (1 << 31) - 1, FAR_FLOAT)
    exponents = magnitudes >> 23
    mantissas = np.where(exponents > 0, (magnitudes & (1 << 23) - 1 | 1 << 23) << 8, 0)
    if exponent is None:
        exponent = np.minimum(exponents.max(1), UNORM_EXPONENT)
    places = exponent[:, None] - exponents
    z = mantissas << np.maximum(-places, 0) >> np.clip(places, 0, 63)
    return np.where(bits >> 31 & 1, -z, z), exponent


def limits(state: np.void) -> dict[str, tuple[int, int, int, int]]:
    """What cuts boxes: x0, y0, x1, y1 in pixels, ends exclusive, of viewport, scissor, target."""
    ends = {
        name: tuple(int(state[f"{name}_{end}"]) for end in ("x0", "y0", "x1", "y1"))
        for name in ("viewport", "scissor")
    }
    return ends | {"target": (0, 0, int(state["target_width"]), int(state["target_height"]))}


def cut(box: np.ndarray, limit: Sequence[int]) -> np.ndarray:
    """The part within a rectangle of boxes: int64, shape (n, 4), both ends inclusive."""
    low = np.maximum(box[:, :2], limit[:2])
    high = np.minimum(box[:, 2:], np.subtract(limit[2:], 1))
    return np.concatenate([low, high], 1)


def is_empty(box: np.ndarray) -> np.ndarray:
    """Which boxes, both ends inclusive, have no pixel."""
    return (box[:, 0] > box[:, 2]) | (box[:, 1] > box[:, 3])


def sample_box(x: np.ndarray, y: np.ndarray, state: np.void) -> np.ndarray:
    """Pixels with a sample position within the bounds of triangles, whatever cuts these.

    Parameters
    ----------
    x, y : ndarray of int64, shape (n, 3)
        s15.8 pixels.
    state : numpy.void
        From :func:`fixfunc.models.state.draw_state`.

    Returns
    -------
    ndarray of int64, shape (n, 4)
        x0, y0, x1, y1, both ends inclusive.
    """
    reach = 16 * SAMPLE_REACH[state["samples"]]
    ends = []
    for v in (x, y):
        # A sample on the greatest x or y is never inside: such an edge is neither top nor left.
        first = -((128 + reach - v.min(1)) >> 8)
        last = -((128 - reach - v.max(1)) >> 8) - 1
        if state["conservative"]:
            # The square of a pixel, grown, touches the triangle's bounds.
            first = -((128 + OUTER - v.min(1)) >> 8)
            last = (v.max(1) + OUTER - 128) >> 8
        ends.append((first, last))
    (x0, x1), (y0, y1) = ends
    return np.stack([x0, y0, x1, y1], -1)


def _records(triangles, x, y, z, area, box, state, edge):
    records = np.zeros(len(triangles), DTYPE)
    for name in ("kind", "state", "slot"):
        records[name] = triangles[name]
    records["samples"] = state["samples"]
    for k, name in enumerate(("x0", "y0", "x1", "y1")):
        records[name] = box[:, k]
    records["zmin"] = np.clip(z.min(1) >> 8, 0, Z_MAX >> 8)
    records["zmax"] = np.clip((z.max(1) + 255) >> 8, 0, Z_MAX >> 8)

    # The origin is the centre of the first pixel of the first tile, 1/256 pixel.
    lx, ly = PIXEL_SHAPE[state["samples"]]
    wide = edge >> lx
    high = edge >> ly
    origin_x = (box[:, 0] // wide * wide) * 256 + 128
    origin_y = (box[:, 1] // high * high) * 256 + 128

    winding = np.where(area < 0, -1, 1)
    spread = SAMPLE_REACH[state["samples"]]
    grown = OUTER if state["conservative"] else 0
    for k in range(3):
        n = (k + 1) % 3
        a = winding * (y[:, k] - y[:, n])
        b = winding * (x[:, n] - x[:, k])
        value = a * (origin_x - x[:, k]) + b * (origin_y - y[:, k])
        value += grown * (np.abs(a) + np.abs(b))
        # What is grown has room for a tie.
        top_left = (a > 0) | ((a == 0) & (b > 0)) | (grown > 0)
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
    records["steep"] = steep
    return records, steep


def slopes(
    x: np.ndarray, y: np.ndarray, z: np.ndarray, area: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """Slopes of triangles' depths along x and y.

    Parameters
    ----------
    x, y, z : ndarray of int64, shape (n, 3)
        s15.8 pixels, s31.8 units.
    area : ndarray of int64, shape (n,)
        From :func:`areas`.

    Returns
    -------
    slopes : list of two ndarrays of uint64, shape (n,)
        Units a pixel, 24 bits after the point, floor, modulo 2^64; 0 without area.
    steep : ndarray of bool, shape (n,)
        A slope does not fit s23.24, nor s23.8 if it is rounded. Without area: depths differ where
        positions do not.
    """
    dz1 = z[:, 1] - z[:, 0]
    dz2 = z[:, 2] - z[:, 0]
    ux = x[:, 1] - x[:, 0]
    uy = y[:, 1] - y[:, 0]
    vx = x[:, 2] - x[:, 0]
    vy = y[:, 2] - y[:, 0]
    flat = area == 0
    winding = np.where(area < 0, -1, 1)
    steep = np.zeros(len(x), bool)
    found = []
    for p, q in ((vy, uy), (-vx, -ux)):
        high, low = _determinant(winding * dz1, winding * dz2, p, q)
        slope, beyond = _divide(
            np.where(flat, 0, high), np.where(flat, 0, low), np.where(flat, 1, np.abs(area))
        )
        # dx and dy are the slopes, rounded to s23.8.
        rounds_beyond = slope.view(np.int64) + (1 << 15) >= 1 << 47
        steep |= beyond | rounds_beyond | (flat & ((high != 0) | (low != 0)))
        found.append(slope)
    return found, steep


def _determinant(dz1, dz2, p, q):
    """dz1 * p - dz2 * q, which has 65 bits: what is above its low 12 bits, and these."""
    high = (dz1 >> DIGIT) * p - (dz2 >> DIGIT) * q
    low = (dz1 & (1 << DIGIT) - 1) * p - (dz2 & (1 << DIGIT) - 1) * q
    return high + (low >> DIGIT), low & (1 << DIGIT) - 1


def _plane(x, y, z, area, origin_x, origin_y):
    """Depth plane: start, slopes, and which planes are steep.

    The start is s31.24 modulo 2^32, at the origin; the slopes are s35.24 a pixel, modulo 2^36. A
    sample lies a multiple of 1/16 pixel from a pixel's centre, so that depths modulo 2^32 need no
    more of a slope, however steep it is.
    """
    found, steep = slopes(x, y, z, area)
    start = (z[:, 0] << 24).view(np.uint64)
    for slope, from_x, to_x in zip(found, (x[:, 0], y[:, 0]), (origin_x, origin_y), strict=True):
        start = start + slope * (to_x - from_x).view(np.uint64)
    half = np.uint64(1 << SLOPE - 1)
    wrapped = (((slope + half) % np.uint64(1 << SLOPE) - half).view(np.int64) for slope in found)
    return start >> np.uint64(8) & np.uint64((1 << START) - 1), tuple(wrapped), steep


def _divide(high, low, denominator):
    """floor(numerator * 2^24 / denominator) modulo 2^64; whether it lies beyond s23.24.

    The numerator is high * 2^12 + low. Digits of 12 bits are found one after another, so that
    int64 suffices.
    """
    first, remainder = np.divmod(high, denominator)
    quotient = first.view(np.uint64)
    for digit in (low, 0, 0):
        found, remainder = np.divmod((remainder << DIGIT) + digit, denominator)
        quotient = (quotient << np.uint64(DIGIT)) + found.view(np.uint64)
    return quotient, (first < -(1 << 23 - DIGIT)) | (first >= 1 << 23 - DIGIT)
