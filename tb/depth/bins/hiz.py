# SPDX-License-Identifier: BSD-2-Clause
"""Bins of HiZ: outcomes by function, format and samples; clears, contexts, epochs."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.hiz.hiz import HizParams
from fixfunc.spec import payloads
from fixfunc.spec.state import TARGET_LIMIT, Bound, Compare, DepthFormat, Kind, Outcome
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.coverage.bins import Seen, cross, flag, of, samples_of
from fixfunc.tb.coverage.events import Event
from fixfunc.tb.depth import hiz
from fixfunc.tb.depth.bins import anywhere
from fixfunc.tb.depth.bins.depth_test import of_beats

EPOCHS = r".*\.epochs"
EVENTS = (
    Event("epoch: begins", EPOCHS, "new_epoch"),
    Event("epoch: wraps", EPOCHS, "new_epoch && (&epoch)"),
    Event("epoch: sweep of old entries", EPOCHS, "initialising && epoch == 0"),
)


def bins(seen: Seen, params: HizParams) -> dict[str, int]:
    """Counts of one batch."""
    rows = seen.rows
    table = payloads.tile(params.edge)
    work = rows[:, 0] & 3 == Kind.WORK
    tiles = codec.unpack(rows[work], table, dtype(table))
    requests = tiles[tiles["last"] == 0]
    is_tile = work.copy()
    is_tile[work] = tiles["last"] == 1
    counts = outcomes(rows, is_tile, seen.out["o"], params.edge, len(params.modes))
    return (
        counts
        | of_clears(rows, params.edge)
        | cross(
            "context", flag(requests["full"], "save", "restore"), of(Bound, requests["outcome"])
        )
    )


def whole_clears(params: HizParams) -> np.ndarray:
    """Whole clears, more than epochs and serials have numbers, each with a tile in front of it."""
    edge = params.edge
    size = 4 * edge
    tile = np.zeros(1, dtype(payloads.tile(edge)))
    tile["mask"] = (1 << edge**2) - 1
    tile["full"] = tile["last"] = 1
    tile["z0"] = 5 << 8
    tile["zmin"] = tile["zmax"] = 5
    clear = {"depth": 1, "stencil": 1, "x1": size, "y1": size, "stencil_base": 1 << 17}
    rows = [
        scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, begin=1),
        codec.pack(np.atleast_1d(draw_state(size, size)), payloads.DRAW_STATE, WIDTH),
    ]
    for n in range(140):
        tile["x"], tile["y"] = n % 4, n // 4 % 4
        rows += [
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, depth_value=n % 9, **clear),
            codec.pack(tile, payloads.tile(edge), WIDTH),
        ]
    rows.append(anywhere.FLUSH)
    return np.concatenate(rows)


def directed(params: HizParams) -> np.ndarray:
    """Whole clears; tests of one place after another; targets and planes of any size."""
    rng = np.random.default_rng(0)
    sides = (1, 1), (TARGET_LIMIT - 1, 1), (1, TARGET_LIMIT - 1), (1, 1)
    return np.concatenate(
        [
            whole_clears(params),
            crowded(rng, params),
            anywhere.targets(rng, params, 6, lambda tiles: _requests(rng, tiles)),
            anywhere.planes(rng, params),
            *(anywhere.packed(draw_state(*size)) for size in sides),
        ]
    )


def crowded(rng: np.random.Generator, params: HizParams) -> np.ndarray:
    """More tests of a tile than may be in flight, of every tile of a target; then a few of two."""
    edge = params.edge
    size = 8 * edge
    state = draw_state(size, size, depth_test=1, depth_write=1, depth_compare=Compare.ALWAYS)
    clear = {"depth": 1, "stencil": 1, "x1": size, "y1": size, "stencil_base": 1 << 17}
    rows = [anywhere.packed(state), scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **clear)]
    turns = [np.repeat((n, (n + 1) % 64), rng.integers(2, 12, 2)) for n in range(64)]
    for places in (np.arange(64 * 400) // 400, *(np.tile(turn, 6) for turn in turns)):
        tiles = np.zeros(len(places), dtype(payloads.tile(edge)))
        tiles["x"], tiles["y"] = places % 8, places // 8
        tiles["mask"] = tiles["last"] = 1
        rows += [codec.pack(tiles, payloads.tile(edge), WIDTH), anywhere.FLUSH]
    return np.concatenate(rows)


def _requests(rng, tiles):
    """Requests for contexts, some of them of any place."""
    requests = hiz.contexts(rng, tiles)[:12]
    for axis in "xy":
        requests[axis][6:] = rng.integers(0, 1 << 14, len(requests[6:]))
    return requests


def outcomes(
    rows: np.ndarray, is_tile: np.ndarray, out: np.ndarray, edge: int, modes: int
) -> dict[str, int]:
    """Counts of tiles by what HiZ found and by the draw state in force.

    ``is_tile`` are the beats of ``rows`` that come out as tiles, in their order.
    """
    table = payloads.tile(edge)
    found = codec.unpack(out[out[:, 0] & 3 == Kind.WORK], table, dtype(table))
    states = states_of(rows)[is_tile][: len(found)]
    outcome = of(Outcome, found["outcome"])
    tests = states["depth_test"].astype(bool)
    permissions = {
        "may drop": states["hiz_drop"].astype(bool),
        "may not": states["hiz_drop"] == 0,
    }
    accepts = {
        "may accept": states["hiz_accept"].astype(bool),
        "may not": states["hiz_accept"] == 0,
    }
    return (
        cross("compare x outcome", of(Compare, states["depth_compare"]), outcome, where=tests)
        | cross(
            "format x samples x outcome",
            of(DepthFormat, states["depth_format"]),
            samples_of(states["samples"], range(modes)),
            outcome,
        )
        | cross("drop", permissions, outcome, where=tests)
        | cross("accept", accepts, outcome, where=tests)
        | cross("stencil x outcome", flag(states["stencil_test"], "none", "test"), outcome)
        | cross("steep x outcome", flag(found["steep"], "flat", "steep"), outcome)
        | cross("face x outcome", flag(found["back"], "front", "back"), outcome)
    )


def states_of(rows: np.ndarray) -> np.ndarray:
    """The draw state in force at each beat, of zeros before the first."""
    is_state = rows[:, 0] & 3 == Kind.STATE
    states = codec.unpack(rows[is_state], payloads.DRAW_STATE, dtype(payloads.DRAW_STATE))
    return np.concatenate([np.zeros(1, states.dtype), states])[np.cumsum(is_state)]


def of_clears(rows: np.ndarray, edge: int) -> dict[str, int]:
    """Of the beats' counts, those of clears and of equal tiles one after the other."""
    counts = of_beats(rows, edge)
    return {k: v for k, v in counts.items() if k.startswith(("clear", "the same tile"))}
