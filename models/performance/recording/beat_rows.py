# SPDX-License-Identifier: BSD-2-Clause
"""Rows of beats: those of a list of triangles, and of what controls them."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.back_half.back_half import Coloured, Found
from fixfunc.models.depth.cached_depth import TestedTiles
from fixfunc.models.frontend.vertex_ring import Assembly
from fixfunc.models.performance.events import BEAT, Beat
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.spec.state import Kind

GROUP = 16  # samples that are blended together
_CONTROLS = {Kind.STATE: Beat.STATE, Kind.CLEAR: Beat.CLEAR}


class DrawnList(NamedTuple):
    """A list of triangles of one draw state, drawn."""

    found: Found
    state: np.void
    tested: TestedTiles
    made: Coloured


def control_row(kind: Kind, record: np.void) -> np.ndarray:
    """A row of BEAT for a draw state, a clear or a fence."""
    row = np.zeros(1, BEAT)
    row["triangle"] = -1
    fence = Beat.RELEASE if kind == Kind.FENCE and record["release"] else Beat.FENCE
    row["kind"] = _CONTROLS.get(kind, fence)
    return row


def list_rows(drawn: DrawnList, count: int, before: int, assembly: Assembly | None) -> np.ndarray:
    """Rows of BEAT of a list: a row a tile, and one of each triangle that covers none.

    Parameters
    ----------
    drawn : DrawnList
    count : int
        Triangles of the list.
    before : int
        Triangles of the stream before it.
    assembly : Assembly, optional
        Of all of these.
    """
    found, state, tested, _ = drawn
    number = np.arange(count)
    empty = number[~np.isin(number, found.triangle)]
    triangle = np.concatenate([found.triangle, empty])
    order = np.argsort(triangle, kind="stable")
    rows = np.zeros(len(triangle), BEAT)
    tiles = rows[: len(found.tiles)]
    rows["triangle"] = before + triangle
    rows["first"] = _begins(found.triangle, triangle)
    set_up = np.zeros(count, bool)
    set_up[found.setup.index] = True
    rows["set_up"] = set_up[triangle]
    built_in = bool(state["built_in"])
    if built_in:
        rows["attributes"] = assembly.triangles["attributes"][rows["triangle"]]
        rows["built_in"] = True
    rows["late"] = not state["early_write"]
    tiles["kind"] = Beat.TILE
    tiles["x"] = found.tiles["x"]
    tiles["y"] = found.tiles["y"]
    tiles["outcome"] = tested.outcome
    tiles["shaded"] = tested.shaded.any((1, 2))
    tiles["samples"] = np.bitwise_count(found.tiles["mask"])
    tiles["passed"] = tested.passed.sum((1, 2))
    samples = int(state["samples"])
    tiles["quads"] = _quads(tested.shaded, samples)
    if built_in:
        by_sample = assembly.states["by_sample"][assembly.state_of[tiles["triangle"]]] > 0
        tiles["quads"] = np.where(
            by_sample, _quads_of_samples(tested.shaded, samples), tiles["quads"]
        )
    if (state["blend_enable"] or state["logic_op_enable"]) and state["colour_write"]:
        groups = tested.shaded.reshape(len(tiles), -1, GROUP).any(2).sum(1)
        tiles["groups"] = np.maximum(groups, tiles["shaded"])
    return rows[order]


def _begins(of_tiles, triangle):
    """Rows that are the first of their triangle, before they are put in order."""
    first = np.ones(len(triangle), bool)
    first[1 : len(of_tiles)] = of_tiles[1:] != of_tiles[:-1]
    return first


def _lanes(mask, samples):
    """Samples of tiles as quads: shape (n, rows, y and sample row, columns, x and sample column)."""
    x, y = LANE_SHAPE[samples]
    edge = mask.shape[-1]
    high, wide = 2 << y, 2 << x
    return mask.reshape(len(mask), edge // high, high, edge // wide, wide)


def _quads(mask, samples):
    """Quads of which a sample is shaded."""
    return _lanes(mask, samples).any((2, 4)).sum((1, 2))


def _quads_of_samples(mask, samples):
    """The same, one for each sample that one of its pixels has."""
    x, y = LANE_SHAPE[samples]
    lanes = _lanes(mask, samples)
    count, rows, high, columns, wide = lanes.shape
    apart = lanes.reshape(count, rows, 2, high // 2, columns, 2, wide // 2)
    return apart.any((2, 5)).sum((1, 2, 3, 4))
