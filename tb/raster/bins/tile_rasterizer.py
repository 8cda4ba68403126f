# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the tile rasterizer: boxes that the walker meets, edges, tiles, control beats."""

from itertools import permutations

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.geometry.triangle_setup import DTYPE, TRIANGLE, setup
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.state import draw_state
from fixfunc.rtl.raster.tile_rasterizer import TileRasterizerParams
from fixfunc.spec import payloads
from fixfunc.spec.state import TARGET_LIMIT, Kind
from fixfunc.tb.bench.scenes import HIGH, LOW
from fixfunc.tb.coverage.bins import Seen, cross, flag, of, samples_of
from fixfunc.tb.raster.tile_rasterizer import IN

COUNT = 600  # beats of a batch: a triangle has many tiles


def bins(seen: Seen, params: TileRasterizerParams) -> dict[str, int]:
    """Counts of one batch."""
    work = seen.rows[:, 0] & 3 == Kind.WORK
    records = codec.unpack(seen.rows[work], payloads.SETUP, DTYPE)
    table = payloads.tile(params.edge)
    is_tile = seen.out["o"][:, 0] & 3 == Kind.WORK
    tiles = codec.unpack(seen.out["o"][is_tile], table, dtype(table))
    samples = samples_of(records["samples"], range(params.samples.bit_length()))
    return (
        cross("samples x walk", samples, walks(records, params))
        | cross("samples x box", samples, boxes(records, params))
        | cross("slopes of edge 0 x edge 1", slopes(records, 0), slopes(records, 1))
        | cross("slopes of edge 2", slopes(records, 2))
        | _of_tiles(tiles, params)
        | _of_beats(seen)
    )


def directed(params: TileRasterizerParams) -> np.ndarray:
    """Right angles in every position; the largest steps; long triangles on the largest target."""
    return np.concatenate([_right_angles(params), _steepest(params), _far(params)])


def _right_angles(params):
    """An edge along a row and one along a column, both ways, of both windings."""
    signs = np.array([(x, y) for x in (-1, 1) for y in (-1, 1)] * 2)
    corners = np.full((8, 3, 2), 2048)
    corners[:, 1:, 0] += 1024 * signs[:, :1]
    corners[:, 2, 1] += 1024 * signs[:, 1]
    corners[4:] = corners[4:, :, ::-1]
    triangles = np.zeros(8, TRIANGLE)
    for n in range(3):
        triangles[f"x{n}"], triangles[f"y{n}"] = corners[:, n].T
    return _drawn(triangles, draw_state(32, 32), params)


def _far(params):
    """Triangles along a row or a column, of any length, anywhere on the largest target."""
    rng = np.random.default_rng(0)
    rows = []
    for samples in (1, 2, 4, 8):
        triangles = np.zeros(24, TRIANGLE)
        for n, triangle in enumerate(triangles):
            length = int(TARGET_LIMIT * 2.0 ** -(rng.uniform(0, 9) * (n > 1)))
            along, across = "xy" if n % 2 else "yx"
            first = int(rng.integers(0, TARGET_LIMIT - length + 1)) * 256
            place = int(rng.integers(0, TARGET_LIMIT)) * 256
            for k, (far, wide) in enumerate(rng.permutation(((0, 0), (0, 1), (1, 0)))):
                triangle[f"{along}{k}"] = min(first + 256 * length * int(far), HIGH)
                triangle[f"{across}{k}"] = place + 300 * int(wide)
        rows.append(_drawn(triangles, draw_state(TARGET_LIMIT, TARGET_LIMIT, samples), params))
    return np.concatenate(rows)


def _steepest(params):
    """Triangles with corners at the ends of the range of positions, in every order."""
    ends = (LOW, LOW), (HIGH, LOW), (LOW, HIGH), (HIGH, HIGH)
    triangles = np.zeros(24, TRIANGLE)
    for triangle, corners in zip(triangles, permutations(ends, 3), strict=True):
        for k, (x, y) in enumerate(corners):
            triangle[f"x{k}"] = x
            triangle[f"y{k}"] = y
    return _drawn(triangles, draw_state(40, 40, 2), params)


def _drawn(triangles, state, params):
    """A draw state, and triangles that have been set up."""
    work = codec.pack(setup(triangles, state, params.edge).records, payloads.SETUP, IN)
    return np.concatenate([codec.pack(np.atleast_1d(state), payloads.DRAW_STATE, IN), work])


def _of_tiles(tiles, params):
    full = (1 << params.edge**2) - 1
    mask = tiles["mask"]
    single = (mask & (mask - np.uint64(1)).astype(mask.dtype)) == 0 if len(mask) else mask == 0
    covered = {
        "one sample": single,
        "some": ~single & (mask != full),
        "full": mask == full,
    }
    return cross("tile x last", covered, flag(tiles["last"], "not last", "last")) | cross(
        "tile of a triangle",
        flag(tiles["steep"], "flat", "steep"),
        flag(tiles["back"], "front", "back"),
        flag(tiles["exponent"], "fixed point", "float"),
    )


def _of_beats(seen):
    """A control beat behind a triangle, behind another, and behind nothing."""
    kinds = seen.rows[:, 0] & 3
    before = np.concatenate([[Kind.STATE], kinds[:-1]]) if len(kinds) else kinds
    return cross("beat x the one before", of(Kind, kinds), of(Kind, before))


def cells_of(records: np.ndarray, params: TileRasterizerParams) -> tuple[np.ndarray, np.ndarray]:
    """Boxes in tiles: the first and the last, both included, each of shape (n, 2)."""
    shapes = np.array([LANE_SHAPE[n] for n in range(4)])[records["samples"]]
    size = params.edge >> shapes
    first = np.stack([records["x0"], records["y0"]], -1).astype(int) // size
    last = np.stack([records["x1"], records["y1"]], -1).astype(int) // size
    return first, last


def walks(records: np.ndarray, params: TileRasterizerParams) -> dict[str, np.ndarray]:
    """How far a walk goes: the levels of cells that a box spans."""
    first, last = cells_of(records, params)
    grid = params.grid
    tiles = last - first
    blocks = last // grid - first // grid
    supers = last // grid**2 - first // grid**2
    many = supers.max(-1) > 0
    return {
        "one tile": (tiles == 0).all(-1),
        "one block": (blocks == 0).all(-1) & (tiles != 0).any(-1),
        "one superblock": (blocks != 0).any(-1) & ~many,
        "superblocks in a row": many & (supers[:, 1] == 0),
        "superblocks in a column": many & (supers[:, 0] == 0),
        "superblocks": (supers > 0).all(-1),
    }


def boxes(records: np.ndarray, params: TileRasterizerParams) -> dict[str, np.ndarray]:
    """Boxes of a few tiles, by tiles across and down."""
    first, last = cells_of(records, params)
    across, down = (last - first).T
    named = {
        f"{i + 1} by {j + 1} tiles": (across == i) & (down == j) for i in range(2) for j in range(2)
    }
    return named | {"larger": (across > 1) | (down > 1)}


def slopes(records: np.ndarray, edge: int) -> dict[str, np.ndarray]:
    """Signs of an edge's steps."""
    a = records[f"a{edge}"].astype(int)
    b = records[f"b{edge}"].astype(int)
    signs = {"-": -1, "0": 0, "+": 1}
    return {
        f"a{s} b{t}": (np.sign(a) == signs[s]) & (np.sign(b) == signs[t])
        for s in signs
        for t in signs
        if (s, t) != ("0", "0")
    }
