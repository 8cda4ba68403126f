# SPDX-License-Identifier: BSD-2-Clause
"""Targets of any size and planes of any slope, for the directed beats of the depth stage."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.state import TARGET_LIMIT, DepthFormat, Kind
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.bench.depths import WIDTH

FLUSH = scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1)


def packed(state: np.ndarray) -> np.ndarray:
    """A draw state as a beat."""
    return codec.pack(np.atleast_1d(state), payloads.DRAW_STATE, WIDTH)


def long_size(rng: np.random.Generator, n: int) -> list[int]:
    """Pixels of a target along a row or a column, every third one as long as can be."""
    long = int(rng.integers(64, TARGET_LIMIT + 1)) if n % 3 else TARGET_LIMIT
    return [long, int(rng.integers(1, 17))][:: 1 - 2 * (n % 2)]


def targets(
    rng: np.random.Generator,
    params: Any,
    rounds: int,
    more: Callable[[np.ndarray], np.ndarray] | None = None,
) -> np.ndarray:
    """Long targets, with so many rounds of clears and tiles all over them.

    ``more`` gives further beats, as records of tiles, for the tiles of a target.
    """
    edge = params.edge
    table = payloads.tile(edge)
    rows = []
    for n in range(24):
        size = long_size(rng, n)
        samples = params.modes[n // 2 % len(params.modes)]
        shape = LANE_SHAPE[samples]
        count = [-(-side * (1 << shift) // edge) for side, shift in zip(size, shape, strict=True)]
        tiles = np.zeros(40, dtype(table))
        tiles["x"], tiles["y"] = (rng.integers(0, side, len(tiles)) for side in count)
        tiles["mask"] = tiles["last"] = 1
        tiles["zmax"] = 1 << 23
        form = DepthFormat(rng.integers(0, 3))
        state = draw_state(*size, 1 << samples, depth_format=form, target=n % 8)
        if n % 4 > 1:  # its tiles are written late
            state["early_write"] = state["hiz_accept"] = 0
        rows.append(packed(state))
        whole = {"x1": size[0], "y1": size[1]}
        # Beyond those that may be pending, clears visit their tiles.
        end = {"x0": size[0] - 1, "y0": size[1] - 1} | whole
        for _ in range(rounds):
            corners = (whole, _corners(rng, size), _corners(rng, size))
            rows += [_cleared(rng, some) for some in corners]
            rows.append(codec.pack(tiles[rng.integers(0, 40, 8)], table, WIDTH))
        rows += [_cleared(rng, end), codec.pack(tiles, table, WIDTH)]
        rows += [codec.pack(more(tiles), table, WIDTH)] if more else []
    return np.concatenate([*rows, FLUSH])


def _corners(rng, size):
    """A rectangle that may begin beyond the target, and then clears nothing."""
    out = {}
    for axis, side in zip("xy", size, strict=True):
        first = int(rng.choice((rng.integers(0, side), rng.integers(0, 1 << 15), (1 << 15) - 1)))
        out |= {f"{axis}0": first, f"{axis}1": int(rng.choice((side, rng.integers(0, side + 1))))}
    return out


def _cleared(rng, corners):
    return depths.clear_beat(rng, depth=1, stencil=1, stencil_base=1 << 17, **corners)


def planes(rng: np.random.Generator, params: Any) -> np.ndarray:
    """Tiles with any plane; clears, some of them refused, with any field."""
    edge = params.edge
    size = 8 * edge
    rows = []
    for n in range(60):
        form = DepthFormat(n % 3)
        tiles = _steep(rng, edge, form)
        state = depths.state(rng, (size, size), 1, form)
        state["bias_constant"] = rng.choice((0, (1 << 31) - 1, 1 << 31))
        if n % 2:
            state["bias_slope"] = rng.integers(0, 0x7F800000)
        clear = {name: int(rng.integers(0, 1 << 15)) for name in ("x0", "y0", "x1", "y1")}
        for plane in ("depth", "stencil"):
            clear[f"{plane}_base"] = int(rng.integers(0, 1 << 24)) << 8
            clear[plane] = int(rng.integers(0, 2))
        clear["target"] = rng.integers(0, 8)
        clear["depth_value"] = int(rng.integers(0, 1 << 32))
        clear["stencil_value"] = rng.integers(0, 256)
        rows += [packed(depths.unread(rng, state)), _cleared(rng, {"x1": size, "y1": size})]
        rows += [depths.clear_beat(rng, **clear), codec.pack(tiles, payloads.tile(edge), WIDTH)]
    return np.concatenate([*rows, FLUSH])


def _steep(rng, edge, form):
    """Tiles of 64 places with slopes at the ends of their range, and between."""
    tiles = np.zeros(30, dtype(payloads.tile(edge)))
    tiles["x"], tiles["y"] = rng.integers(0, 8, (2, len(tiles)))
    tiles["mask"] = rng.integers(0, 1 << edge**2, len(tiles), np.uint64)
    tiles["last"] = 1
    tiles["z0"] = rng.integers(0, 1 << 32, len(tiles), np.uint32)
    for name in ("dx", "dy"):
        tiles[name] = rng.choice((-1 << 31, rng.integers(-1 << 31, 1 << 31), 0), len(tiles))
    tiles["zmin"], tiles["zmax"] = np.sort(rng.integers(0, 1 << 24, (2, len(tiles))), 0)
    tiles["exponent"] = rng.integers(0, 128, len(tiles)) * (form == DepthFormat.D32F)
    tiles["back"], tiles["steep"] = rng.integers(0, 2, (2, len(tiles)))
    tiles["dx"][0] = tiles["dy"][0] = (1 << 31) - 1
    tiles["z0"][0] = (1 << 32) - 1
    return tiles
