# SPDX-License-Identifier: BSD-2-Clause
"""Bounds of drawn tiles, as HiZ compares them."""

import numpy as np

from fixfunc.models.depth.depth_test import D24_MAX, depth_bias
from fixfunc.models.depth.stencil import preserves_failing
from fixfunc.models.formats import FRACTION, MOST, store
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE, unpack
from fixfunc.spec.state import Compare, DepthFormat, StencilOp

DRAWN_BOUNDS = np.dtype(
    [
        ("x", "u2"),
        ("y", "u2"),
        ("low", "u4"),
        ("high", "u4"),
        ("full", "?"),
        ("compare", "u1"),
        ("write", "?"),
        ("drop", "?"),
        ("accept", "?"),
        ("stencil_func", "u1"),
        ("stencil_ref", "u1"),
        ("stencil_read", "u1"),
        ("stencil_drop", "?"),
        ("stencil_write", "?"),
        ("stencil_low", "u1"),
        ("stencil_high", "u1"),
    ]
)
SLACK = 1 << FRACTION - 3  # a plane's samples lie within a tenth of a unit of its vertices


def drawn_bounds(tiles: np.ndarray, state: np.void, edge: int = 8) -> tuple:
    """Bounds of drawn tiles, and what their draw permits HiZ to do.

    Parameters
    ----------
    tiles : structured ndarray, shape (n,)
        As in :func:`fixfunc.spec.payloads.tile`.
    state : numpy.void
        From :func:`fixfunc.models.state.draw_state`.
    edge : int
        Samples along a tile's edge.

    Returns
    -------
    ndarray of :data:`DRAWN_BOUNDS`, shape (n,)
        Input of :meth:`fixfunc.models.depth.hiz.HiZ.step`. A draw that permits no drop may get its
        depths from the shader: its bounds are those of the state, not of the plane. So is the one
        towards which the shader moves depths.
    """
    stencil = bool(state["stencil_test"])
    tests = bool(state["depth_test"])
    out = np.zeros(len(tiles), DRAWN_BOUNDS)
    out["x"] = tiles["x"]
    out["y"] = tiles["y"]
    limit = min(int(state["depth_max"]), MOST[DepthFormat(state["depth_format"])])
    low, high = plane_bounds(tiles, state, edge)
    out["low"] = low if state["hiz_drop"] and not state["depth_lowered"] else state["depth_min"]
    out["high"] = high if state["hiz_drop"] and not state["depth_raised"] else limit
    out["compare"] = state["depth_compare"] if tests else Compare.ALWAYS
    out["write"] = tests and state["depth_write"]
    out["full"] = (unpack(tiles["mask"], edge) | ~on_target(tiles, state, edge)).all((1, 2)) & bool(
        state["early_write"] and not stencil
    )
    out["drop"] = bool(state["hiz_drop"]) & preserves_failing(tiles, state)
    out["accept"] = bool(state["hiz_accept"]) and not stencil
    out["stencil_ref"] = state["stencil_ref"]
    out["stencil_read"] = state["stencil_read"]
    for side, selected in (("front", tiles["back"] == 0), ("back", tiles["back"] == 1)):
        out["stencil_func"][selected] = state[f"stencil_{side}_func"]
        out["stencil_drop"][selected] = (
            stencil and state["hiz_drop"] and state[f"stencil_{side}_fail"] == StencilOp.KEEP
        )
        (
            out["stencil_write"][selected],
            out["stencil_low"][selected],
            out["stencil_high"][selected],
        ) = _stencil_written(state, side)
    return out


def _stencil_written(state, side):
    """Whether a face writes stencil values, and the least and the greatest of them."""
    operations = {
        StencilOp(state[f"stencil_{side}_{name}"]) for name in ("fail", "depth_fail", "pass")
    } - {StencilOp.KEEP}
    if not state["stencil_test"] or not state["stencil_write"] or not operations:
        return False, 0, 0
    if state["stencil_write"] < 255 or operations - {StencilOp.ZERO, StencilOp.REPLACE}:
        return True, 0, 255
    values = [0 if op == StencilOp.ZERO else int(state["stencil_ref"]) for op in operations]
    return True, min(values), max(values)


def on_target(tiles: np.ndarray, state: np.void, edge: int = 8) -> np.ndarray:
    """Samples of tiles that lie on the target: bool (n, edge, edge), indexed [tile, j, i]."""
    lx, ly = LANE_SHAPE[state["samples"]]
    column = (tiles["x"].astype(np.int64)[:, None] * edge + np.arange(edge)) >> lx
    row = (tiles["y"].astype(np.int64)[:, None] * edge + np.arange(edge)) >> ly
    return (row < state["target_height"])[:, :, None] & (column < state["target_width"])[:, None, :]


def plane_bounds(tiles: np.ndarray, state: np.void, edge: int = 8) -> tuple:
    """Bounds of a triangle's depths in its tiles.

    They are the tighter of its vertices' and of its plane's at the tile's outer corners.

    Parameters
    ----------
    tiles, state, edge
        As in :func:`drawn_bounds`.

    Returns
    -------
    low, high : ndarray of uint32, shape (n,)
        In the state's format, no less and no more than the depth of any covered sample.

    Where no corner of the plane leaves 0..2^24 - 1 units, the plane bounds all samples, since one
    of them is covered and lies there; where one does, and of steep triangles, only the vertices
    count. Vertices at the ends of those units may lie beyond, and bound nothing.
    """
    z0 = tiles["z0"].astype(np.int64)
    dx = tiles["dx"].astype(np.int64)
    dy = tiles["dy"].astype(np.int64)
    extremes = [z0 << FRACTION - 8] * 2
    for slope, shift in zip((dx, dy), LANE_SHAPE[state["samples"]], strict=True):
        corners = (
            -8 * slope,
            (16 * (edge >> shift) - 8) * slope,
        )  # 1/16 pixel from the first pixel's centre
        extremes = [extremes[0] + np.minimum(*corners), extremes[1] + np.maximum(*corners)]
    is_exact = (
        (tiles["steep"] == 0)
        & (extremes[0] >= -SLACK)
        & (extremes[1] <= (D24_MAX << FRACTION) + SLACK)
    )
    low = (tiles["zmin"].astype(np.int64) << FRACTION) + -SLACK
    high = (tiles["zmax"].astype(np.int64) << FRACTION) + SLACK
    bounds = (
        np.where(is_exact, np.maximum(extremes[0], low), low),
        np.where(is_exact, np.minimum(extremes[1], high), high),
    )
    is_open = [~is_exact & (tiles[name] == end) for name, end in (("zmin", 0), ("zmax", D24_MAX))]
    bias = depth_bias(tiles, state) << FRACTION - 8
    form = DepthFormat(state["depth_format"])
    ends = int(state["depth_min"]), min(int(state["depth_max"]), MOST[form])
    return tuple(
        np.where(beyond, end, np.clip(store(bound + bias, form, tiles["exponent"]), *ends)).astype(
            np.uint32
        )
        for bound, beyond, end in zip(bounds, is_open, ends, strict=True)
    )
