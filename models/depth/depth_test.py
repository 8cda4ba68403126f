# SPDX-License-Identifier: BSD-2-Clause
"""Depth and stencil test of tiles, sample by sample."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fixfunc.models.depth.compare import COMPARE
from fixfunc.models.depth.stencil import preserves_failing, stencil_test, stencil_update
from fixfunc.models.formats import FRACTION, MOST, store, unstored
from fixfunc.models.memory.surface import check_places, samples_within, tile_grid, to_image
from fixfunc.models.payload import dtype, integer
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE, lane_positions, unpack
from fixfunc.models.raster.tile_rasterizer import tile_plane
from fixfunc.models.state import check_depth_state
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, Compare, DepthFormat

D24_MAX = (1 << 24) - 1
MODULUS = 1 << 32 + FRACTION  # of planes
BIAS_MOST = (1 << 41) - 1  # s33.8: any constant, and far more than any range
SLOPE_MOST = 1 << 31  # u24.8: what the slope of a steep triangle counts as


class Tested(NamedTuple):
    """What :func:`depth_test` returns, shapes (n, edge, edge)."""

    passed: np.ndarray  # bool: covered samples that passed both tests
    depth: np.ndarray  # uint32: what is stored afterwards
    stencil: np.ndarray  # uint8
    before: np.ndarray  # uint32: what was stored
    drawn: np.ndarray  # uint32: the draw's depths, as they are compared
    depth_passed: np.ndarray  # bool, of samples that are not covered, too
    stencil_passed: np.ndarray


def sample_depths(
    tiles: np.ndarray, samples: int, edge: int = 8, bias: int | np.ndarray = 0
) -> np.ndarray:
    """Depth of a tile's plane at each of its samples.

    Parameters
    ----------
    tiles : structured ndarray with ``z0``, ``dx``, ``dy``, shape (n,)
        As in :func:`fixfunc.spec.payloads.tile`.
    samples : int
        log2 of the samples of a pixel.
    edge : int
        Samples along a tile's edge.
    bias : ndarray of int64, shape (n,), optional
        From :func:`depth_bias`.

    Returns
    -------
    ndarray of int64, shape (n, edge, edge)
        2^-12 of a unit, indexed [tile, j, i]; meaningful on covered samples. It is not cut to what
        can be stored: :func:`fixfunc.models.formats.store` does that.

    Source: numerics: depth. The plane is known modulo 2^32 units; a covered sample lies between
    its triangle's vertices, -127 to 127 times 2^24 units, but for a tenth of a unit.
    """
    half = MODULUS >> 1
    depth = (_plane(tiles, *lane_positions(samples, edge)) + half & MODULUS - 1) - half
    bias = np.broadcast_to(np.asarray(bias, np.int64), len(tiles))[:, None, None]
    return depth + (bias << FRACTION - 8)


def _plane(tiles, x, y):
    """Depths modulo 2^32 units at offsets from the first pixel's centre, 1/16 pixel."""
    z0, dx, dy = (tiles[name].astype(np.int64)[:, None, None] for name in ("z0", "dx", "dy"))
    return (z0 << FRACTION - 8) + x * dx + y * dy


def shader_depths(
    tiles: np.ndarray, state: np.void, x: np.ndarray, y: np.ndarray, near: np.ndarray
) -> np.ndarray:
    """Depths as a pixel shader reads them: float32, shape of x and y.

    Parameters
    ----------
    tiles : structured ndarray, shape (n,)
    state : numpy.void
    x, y : ndarray of int64, shape (n, rows, columns)
        Offsets from the centre of each tile's first pixel, 1/16 pixel.
    near : ndarray of int64, shape of x
        About what is expected, 2^-8 of a unit: the plane is known modulo 2^32 units.

    The bias is in them [fs 15.10], and no range is.
    """
    below = (near << FRACTION - 8) - (MODULUS >> 1)
    depth = (_plane(tiles, x, y) - below & MODULUS - 1) + below
    depth += depth_bias(tiles, state)[:, None, None] << FRACTION - 8
    exponent = tiles["exponent"][:, None, None]
    return unstored(depth, DepthFormat(state["depth_format"]), exponent)


def interpolate(plane: np.ndarray, tile_xy: np.ndarray, samples: int) -> np.ndarray:
    """Depths of triangles at the samples of tiles.

    Parameters
    ----------
    plane : structured ndarray, shape (n,)
        Triangles as :data:`fixfunc.spec.payloads.SETUP` has them: ``z``, ``zx``, ``zy``, and the
        box that ``z`` belongs to.
    tile_xy : ndarray of int, shape (n, 2)
        A tile of each, in tiles from the target's corner.
    samples : int
        Samples of a pixel: 1, 2, 4 or 8.

    Returns
    -------
    ndarray of uint32, shape (n, 8, 8)
        D24, indexed [tile, j, i]; meaningful on covered samples.
    """
    log2 = SAMPLE_COUNTS.index(samples)
    offset = []
    for axis, tile, shift in zip(
        "xy", np.asarray(tile_xy, np.int64).T, LANE_SHAPE[log2], strict=True
    ):
        pitch = 3 - shift  # log2 of a tile's pixels
        offset.append(tile - (plane[f"{axis}0"].astype(np.int64) >> pitch) << pitch)
    at_tile = np.zeros(len(plane), dtype(payloads.TILE))
    at_tile["z0"], at_tile["dx"], at_tile["dy"] = tile_plane(plane, *offset)
    return store(sample_depths(at_tile, log2), DepthFormat.D24)


def depth_bias(tiles: np.ndarray, state: np.void) -> np.ndarray:
    """Depth bias of the triangles of tiles.

    Parameters
    ----------
    tiles : structured ndarray with ``dx``, ``dy``, ``steep``, ``exponent``, shape (n,)
        As in :func:`fixfunc.spec.payloads.tile`, or from :func:`with_bias`.
    state : numpy.void
        From :func:`fixfunc.models.state.draw_state`.

    Returns
    -------
    ndarray of int64, shape (n,)
        s33.8 units: bias_constant steps of the format and bias_slope times the greater slope a
        pixel, cut by bias_clamp if that is not zero.

    Source: [fs 15.10]. A step of D32F is its unit, by the exponent of the primitive's greatest
    depth. The slope of a steep triangle counts as 2^23 units a pixel. Products are exact, rounded
    half up; each, and the sum, is cut to s33.8.
    """
    if "bias" in tiles.dtype.names:
        return tiles["bias"]
    form = DepthFormat(state["depth_format"])
    constant = int(np.int32(np.uint32(state["bias_constant"])))
    steps = constant * (65537 if form == DepthFormat.D16 else 256)
    slope = np.maximum(np.abs(tiles["dx"].astype(np.int64)), np.abs(tiles["dy"].astype(np.int64)))
    slope = np.where(tiles["steep"], SLOPE_MOST, slope)
    bias = steps + times_float(slope, state["bias_slope"])
    if form == DepthFormat.D32F:
        unit = tiles["exponent"].astype(np.int64)
        limit = times_float(np.full(len(tiles), 1 << 8), state["bias_clamp"], unit)
    else:
        limit = times_float(np.full(len(tiles), D24_MAX << 8), state["bias_clamp"])
    bias = np.where(limit > 0, np.minimum(bias, limit), bias)
    bias = np.where(limit < 0, np.maximum(bias, limit), bias)
    return np.clip(bias, -BIAS_MOST - 1, BIAS_MOST)


def with_bias(tiles: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Tiles that carry the bias of their primitive, as int64, in place of their own plane's."""
    out = np.zeros(len(tiles), [*tiles.dtype.descr, ("bias", "i8")])
    out[list(tiles.dtype.names)] = tiles
    out["bias"] = bias
    return out


def new_depths(tiles: np.ndarray, state: np.void, edge: int = 8) -> np.ndarray:
    """Depths of a draw at its tiles' samples, as stored, before they are cut to a range.

    Returns ndarray of uint32, shape (n, edge, edge).
    """
    return store(
        sample_depths(tiles, int(state["samples"]), edge, depth_bias(tiles, state)),
        DepthFormat(state["depth_format"]),
        tiles["exponent"][:, None, None],
    )


def in_range(depths: np.ndarray, state: np.void) -> np.ndarray:
    """Depths cut to the viewport's range."""
    return np.clip(
        depths,
        state["depth_min"],
        min(int(state["depth_max"]), MOST[DepthFormat(state["depth_format"])]),
    )


def depth_test(
    tiles: np.ndarray,
    state: np.void,
    depth: np.ndarray,
    stencil: np.ndarray,
    edge: int = 8,
    replaced: np.ndarray | None = None,
) -> Tested:
    """Test tiles against what is stored.

    Parameters
    ----------
    tiles : structured ndarray, shape (n,)
        As in :func:`fixfunc.spec.payloads.tile`.
    state : numpy.void
        From :func:`fixfunc.models.state.draw_state`.
    depth : ndarray of uint32, shape (n, edge, edge)
        What is stored of each tile, in the state's format.
    stencil : ndarray of uint8, shape (n, edge, edge)
    edge : int
        Samples along a tile's edge.
    replaced : ndarray of uint32, shape (n, edge, edge), optional
        Depths from the shader, in the state's format, in place of the planes'.

    Returns
    -------
    Tested

    Raises
    ------
    InputError
        A state that breaks a rule: unknown function or format, a reversed range, a bias that is no
        number.

    Source: [fs 17], numerics: depth.
    """
    check_depth_state(state)
    covered = unpack(tiles["mask"], edge)
    face = tiles["back"].astype(bool)[:, None, None]
    new = in_range(new_depths(tiles, state, edge) if replaced is None else replaced, state)
    depth_passed = np.ones_like(covered)
    stencil_passed = np.ones_like(covered)
    if state["depth_test"]:
        depth_passed = COMPARE[Compare(state["depth_compare"])](new, depth)
    if state["stencil_test"]:
        sides = [(side, face if side == "back" else ~face) for side in ("front", "back")]
        stencil_passed = sum(stencil_test(state, side, stencil) & facing for side, facing in sides)
        updated = sum(
            stencil_update(state, side, stencil, stencil_passed, depth_passed) * facing
            for side, facing in sides
        )
        stencil = np.where(covered, updated, stencil).astype(np.uint8)
    passed = covered & stencil_passed & depth_passed
    written = passed & bool(state["depth_test"] and state["depth_write"])
    stored = np.where(written, new, depth).astype(np.uint32)
    return Tested(passed, stored, stencil, depth, new, depth_passed, stencil_passed)


class DepthBuffer:
    """Depths and stencil values of a target, and the test that guards them.

    Parameters
    ----------
    state : numpy.void
        From :func:`fixfunc.models.state.draw_state`: size, samples, format and the first draw's
        tests. Others follow by :attr:`state`.
    edge : int
        Samples along a tile's edge.
    """

    def __init__(self, state: np.void, edge: int = 8) -> None:
        check_depth_state(state)
        self._state = state
        self._edge = edge
        self._size = (int(state["target_width"]), int(state["target_height"]))
        self._log2 = int(state["samples"])
        columns, rows = tile_grid(state, edge)
        shape = rows, columns, edge, edge
        self.depth = np.full(
            shape, MOST[DepthFormat(state["depth_format"])], np.uint32
        )  # by row and column of tiles
        self.stencil = np.zeros(shape, np.uint8)
        self._seen = samples_within((0, 0, *self._size), shape, self._log2)

    @property
    def state(self) -> np.void:
        """The draw state in force."""
        return self._state

    @state.setter
    def state(self, state: np.void) -> None:
        for name in ("target_width", "target_height", "samples", "depth_format"):
            if state[name] != self._state[name]:
                raise InputError(
                    name, f"be the target's {int(self._state[name])}", int(state[name])
                )
        self._state = state

    def early(self, tiles: np.ndarray) -> np.ndarray:
        """Samples that are shaded, before anything is written: bool, shape (n, edge, edge).

        The tiles are of different places.

        Those that fail are left out if the draw permits it, and if failing changes no stencil
        value.
        """
        check_places(tiles, *self.depth.shape[1::-1])
        at = tiles["y"], tiles["x"]
        passed = depth_test(tiles, self.state, self.depth[at], self.stencil[at], self._edge).passed
        rejects = preserves_failing(tiles, self.state) & bool(self.state["early_reject"])
        return np.where(rejects[:, None, None], passed, unpack(tiles["mask"], self._edge))

    def test(self, tiles: np.ndarray, replaced: np.ndarray | None = None) -> Tested:
        """Test and write tiles of different places.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
        replaced : ndarray of uint32, shape (n, edge, edge), optional
            Depths from the shader, in the state's format, in place of the planes'.

        Raises
        ------
        InputError
            A tile outside the target.

        Returns
        -------
        Tested
        """
        check_places(tiles, *self.depth.shape[1::-1])
        at = tiles["y"], tiles["x"]
        done = depth_test(tiles, self.state, self.depth[at], self.stencil[at], self._edge, replaced)
        self.depth[at] = done.depth
        self.stencil[at] = done.stencil
        return done

    def clear(
        self, rectangle: Sequence[int], depth: int | None = None, stencil: int | None = None
    ) -> None:
        """Clear a rectangle.

        Parameters
        ----------
        rectangle : (x0, y0, x1, y1) of int
            Pixels, ``x1`` and ``y1`` exclusive; nothing lies beyond the target.
        depth, stencil : int, optional
            What to; None leaves the plane alone.

        Raises
        ------
        InputError
            A value that its plane cannot store. Nothing is cleared then.
        """
        most = {"depth": MOST[DepthFormat(self._state["depth_format"])], "stencil": 255}
        values = {
            name: integer(name, value, 0, most[name])
            for name, value in (("depth", depth), ("stencil", stencil))
            if value is not None
        }
        inside = samples_within(rectangle, self.depth.shape, self._log2)
        for name, value in values.items():
            getattr(self, name)[inside] = value

    def bounds(self, tiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest depth of the samples of tiles that lie on the target.

        Returns two ndarrays of int64, shape (n,).
        """
        depths = self.depth[tiles["y"], tiles["x"]].astype(np.int64)
        seen = self._seen[tiles["y"], tiles["x"]]
        return np.where(seen, depths, 1 << 32).min((1, 2)), np.where(seen, depths, -1).max((1, 2))

    def image(self) -> np.ndarray:
        """Depths as an image: uint32, shape (height, width, samples)."""
        return to_image(self.depth, *self._size, 1 << self._log2)


def times_float(value: np.ndarray, bits: int, unit: int | np.ndarray = 150) -> np.ndarray:
    """A number times a float32, rounded half up and cut to s33.8.

    Parameters
    ----------
    value : ndarray of int64, shape (n,)
        In 2^-8, 0 to 2^33.
    bits : int
        Of a finite float32.
    unit : int, or ndarray, shape (n,)
        The mantissa counts 2^(exponent - unit): 150 makes it the float's own value.
    """
    sign = int(bits) >> 31
    exponent = int(bits) >> 23 & 255
    fraction = int(bits) & (1 << 23) - 1
    mantissa = fraction | (1 << 23 if exponent else 0)
    product = value * (-mantissa if sign else mantissa)
    left = np.broadcast_to(max(exponent, 1) - np.asarray(unit, np.int64), np.shape(value))
    right = np.clip(-left, 0, 62)
    rounded = np.where(right > 0, (product >> np.maximum(right - 1, 0)) + 1 >> 1, product)
    # What is shifted left beyond the range is cut before.
    left = np.clip(left, 0, 42)
    cut = np.clip(rounded, -BIAS_MOST - 1 >> left, (BIAS_MOST >> left) + 1) << left
    return np.clip(cut, -BIAS_MOST - 1, BIAS_MOST)
