# SPDX-License-Identifier: BSD-2-Clause
"""Rows of beats: those of a list of triangles, and of what controls them."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.back_half.back_half import Coloured, Found
from fixfunc.models.depth.cached_depth import TestedTiles
from fixfunc.models.frontend.vertex_ring import Assembly
from fixfunc.models.performance.events import BEAT, Beat
from fixfunc.models.pixel.quads import split
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
    tiles["quads"] = _quads(found.tiles, tested.shaded, samples, False)
    if built_in:
        by_sample = assembly.states["by_sample"][assembly.state_of[tiles["triangle"]]] > 0
        if by_sample.any():
            apart = _quads(found.tiles, tested.shaded, samples, True)
            tiles["quads"] = np.where(by_sample, apart, tiles["quads"])
    if (state["blend_enable"] or state["logic_op_enable"]) and state["colour_write"]:
        groups = tested.shaded.reshape(len(tiles), -1, GROUP).any(2).sum(1)
        tiles["groups"] = np.maximum(groups, tiles["shaded"])
    return rows[order]


def _begins(of_tiles, triangle):
    """Rows that are the first of their triangle, before they are put in order."""
    first = np.ones(len(triangle), bool)
    first[1 : len(of_tiles)] = of_tiles[1:] != of_tiles[:-1]
    return first


def _quads(tiles, shaded, samples, by_sample):
    """Quads of each tile of which a sample is shaded; or one for each sample that a pixel has."""
    found = split(tiles["x"], tiles["y"], shaded, samples, by_sample)
    return np.bincount(found.tile, minlength=len(tiles))
