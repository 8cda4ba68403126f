# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the depth test: functions, formats and samples; stencil operations; early and late."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.depth.compare import COMPARE
from fixfunc.models.depth.depth_test import in_range, new_depths
from fixfunc.models.depth.stencil import stencil_test
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.test.depth_test import DepthTestParams
from fixfunc.spec import payloads
from fixfunc.spec.state import (
    PERMISSIONS,
    PERMITTED,
    Compare,
    DepthFormat,
    Kind,
    Outcome,
    StencilOp,
)
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.coverage.bins import Axis, Seen, add, cross, equal, flag, of, samples_of
from fixfunc.tb.depth import depth_test, sweep
from fixfunc.tb.depth.bins import anywhere

PLACES = "fail", "depth_fail", "pass"
FACES = "front", "back"
RESULTS = "pass", "fail"


class Observed(depth_test.Reference):
    """The golden depth test, which counts what its tiles meet."""

    def __init__(self, params: DepthTestParams) -> None:
        super().__init__(params)
        self.counts = {}
        self._edge = params.edge

    def _test(self, tiles):
        state = self._buffer.state
        at = tiles["y"], tiles["x"]
        add(
            self.counts,
            tested(tiles, state, self._buffer.depth[at], self._buffer.stencil[at], self._edge),
        )
        return super()._test(tiles)


def tested(
    tiles: np.ndarray, state: np.void, depth: np.ndarray, stencil: np.ndarray, edge: int
) -> dict[str, int]:
    """Counts of tiles that are tested against what is stored, by the depths of their planes."""
    covered = unpack(tiles["mask"], edge)
    new = in_range(new_depths(tiles, state, edge), state)
    depth_passed = covered & (
        COMPARE[Compare(state["depth_compare"])](new, depth) | (not state["depth_test"])
    )
    back = tiles["back"].astype(bool)[:, None, None] & np.ones_like(covered)
    counts = _of_depths(state, covered, new, depth, depth_passed)
    stencil_passed = np.where(
        back, stencil_test(state, "back", stencil), stencil_test(state, "front", stencil)
    )
    results = {
        "fail": covered & ~stencil_passed,
        "depth_fail": covered & stencil_passed & ~depth_passed,
        "pass": covered & stencil_passed & depth_passed,
    }
    return counts | _of_stencil(state, stencil, back, results, covered & stencil_passed)


def _per_draw(axis: Axis) -> Axis:
    """An axis of one value in front of samples."""
    return {label: np.reshape(value, (1, 1, 1)) for label, value in axis.items()}


def _of_depths(state, covered, new, depth, depth_passed):
    compare = _per_draw(of(Compare, [state["depth_compare"]]))
    result = {"pass": depth_passed, "fail": covered & ~depth_passed}
    tests = covered & bool(state["depth_test"])
    form = _per_draw(of(DepthFormat, [state["depth_format"]]))
    samples = _per_draw(samples_of([state["samples"]]))
    order = {"nearer": new < depth, "equal": new == depth, "farther": new > depth}
    cut = {
        "least": new == state["depth_min"],
        "between": (new > state["depth_min"]) & (new < state["depth_max"]),
        "greatest": new == state["depth_max"],
    }
    writes = _per_draw(flag([state["depth_write"]], "kept", "written"))
    return (
        cross("compare x format x samples x result", compare, form, samples, result, where=tests)
        | cross("compare x order x write", compare, order, writes, where=tests)
        | cross("format x place in the range", form, cut, where=tests)
    )


def _of_stencil(state, stencil, back, results, stencil_passed):
    where = np.ones_like(back) & bool(state["stencil_test"])
    faces = {"front": ~back, "back": back}
    counts = {}
    ends = {"0": stencil == 0, "between": (stencil > 0) & (stencil < 255), "255": stencil == 255}
    at_ends = {}
    for face in FACES:
        compare = _per_draw(of(Compare, [state[f"stencil_{face}_func"]]))
        passes = {"pass": stencil_passed, "fail": results["fail"]}
        add(
            counts,
            cross(
                "stencil compare x face x result", compare, {face: faces[face]}, passes, where=where
            ),
        )
        for place in PLACES:
            operation = _per_draw(of(StencilOp, [state[f"stencil_{face}_{place}"]]))
            hit = {place: results[place]}
            add(
                counts,
                cross("operation x place x face", operation, hit, {face: faces[face]}, where=where),
            )
            add(
                at_ends,
                cross(
                    "operation x stored", operation, ends, where=where & hit[place] & faces[face]
                ),
            )
    return counts | at_ends


def declared_tests(edge: int) -> dict[str, int]:
    """The same bins, not hit."""
    nothing = np.zeros((0, edge, edge), np.int64)
    state = np.zeros(1, dtype(payloads.DRAW_STATE))[0]
    tiles = np.zeros(0, dtype(payloads.tile(edge)))
    return tested(tiles, state, nothing, nothing, edge)


def bins(seen: Seen, params: DepthTestParams) -> dict[str, int]:
    """Counts of one batch."""
    golden = Observed(params)
    add(golden.counts, declared_tests(params.edge))
    golden.expected(seen.rows)
    return golden.counts | of_beats(seen.rows, params.edge)


def directed(params: DepthTestParams) -> np.ndarray:
    """Every function and operation; late draws of every place; targets and planes of any size."""
    rng = np.random.default_rng(0)
    return np.concatenate(
        [
            sweep.rows(params),
            late(params),
            anywhere.targets(rng, params, 1),
            anywhere.planes(rng, params),
            refused(rng, params),
            fences(rng),
        ]
    )


def late(params: DepthTestParams) -> np.ndarray:
    """A draw that is written late, of all tiles that the chip holds; its tiles twice."""
    edge = params.edge
    side = 1 << params.tiles.bit_length() // 2
    size = side * edge, params.tiles // side * edge
    state = draw_state(*size, depth_test=1, depth_write=1, depth_compare=Compare.ALWAYS)
    state["early_write"] = state["hiz_accept"] = 0
    tiles = np.zeros(2 * params.tiles, dtype(payloads.tile(edge)))
    place = np.arange(len(tiles)) % params.tiles
    tiles["x"], tiles["y"] = place % side, place // side
    tiles["mask"] = (1 << edge**2) - 1
    tiles["full"] = tiles["last"] = 1
    clear = scenes.control_beat(
        payloads.CLEAR, Kind.CLEAR, WIDTH, depth=1, stencil=1, x1=size[0], y1=size[1]
    )
    tiles = codec.pack(tiles, payloads.tile(edge), WIDTH)
    return np.concatenate([anywhere.packed(state), clear, tiles, anywhere.FLUSH])


def refused(rng: np.random.Generator, params: DepthTestParams) -> np.ndarray:
    """Tiles of any place on a target of any size that has not been cleared."""
    table = payloads.tile(params.edge)
    rows = []
    for n in range(20):
        state = draw_state(1, 1, params.samples)
        state["target_width"], state["target_height"] = (
            rng.integers(0, 1 << 15, 2) if n else ((1 << 15) - 1,) * 2
        )
        tiles = np.zeros(20, dtype(table))
        tiles["x"], tiles["y"] = rng.integers(0, 1 << 14, (2, len(tiles)))
        tiles["y"][0] = (1 << 14) - 1
        tiles["mask"] = tiles["last"] = 1
        rows += [anywhere.packed(state), codec.pack(tiles, table, WIDTH)]
    return np.concatenate(rows)


def fences(rng: np.random.Generator) -> np.ndarray:
    """Fences with any field."""
    records = [scenes.control(rng, payloads.FENCE, Kind.FENCE) for _ in range(40)]
    return codec.pack(np.concatenate(records), payloads.FENCE, WIDTH)


def of_beats(rows: np.ndarray, edge: int) -> dict[str, int]:
    """Counts of tiles by what came before them, and of draws and clears by their fields."""
    kinds = rows[:, 0] & 3
    tiles = codec.unpack(rows[kinds == Kind.WORK], payloads.tile(edge), dtype(payloads.tile(edge)))
    states = codec.unpack(
        rows[kinds == Kind.STATE], payloads.DRAW_STATE, dtype(payloads.DRAW_STATE)
    )
    clears = codec.unpack(rows[kinds == Kind.CLEAR], payloads.CLEAR, dtype(payloads.CLEAR))
    fences = codec.unpack(rows[kinds == Kind.FENCE], payloads.FENCE, dtype(payloads.FENCE))
    place = tiles["x"].astype(int) << 16 | tiles["y"]
    distance = {
        f"{n} before": np.concatenate([np.zeros(min(n, len(place)), bool), place[n:] == place[:-n]])
        for n in range(1, 9)
    }
    return (
        cross("the same tile", distance)
        | cross("tile x outcome", of(Outcome, tiles["outcome"]), _masks(tiles, edge))
        | cross("draw", _actions(states), of(DepthFormat, states["depth_format"]))
        | _of_bias(states, tiles)
        | cross(
            "clear",
            flag(clears["depth"], "no depth", "depth"),
            flag(clears["stencil"], "no stencil", "stencil"),
            {
                "whole": (clears["x0"] == 0) & (clears["y0"] == 0) & (clears["x1"] > 0),
                "part": (clears["x0"] > 0) | (clears["y0"] > 0),
                "empty": (clears["x0"] == clears["x1"]) | (clears["y0"] == clears["y1"]),
            },
        )
        | cross("fence", flag(fences["begin"], "goes on", "begins"))
    )


def _masks(tiles, edge):
    mask = tiles["mask"].astype(np.uint64)
    every = np.uint64((1 << edge**2) - 1)
    return {"some": (mask != every) & (mask != 0), "full": mask == every}


def _actions(states):
    """What a draw's shader does, by its permissions."""
    given = np.stack([states[name] for name in PERMISSIONS], -1).astype(bool)
    kinds = dict.fromkeys(
        tuple(name in some for name in PERMISSIONS) for some in PERMITTED.values()
    )
    return {
        "+".join(np.array(PERMISSIONS)[list(kind)]) or "none": (given == kind).all(-1)
        for kind in kinds
    }


def _of_bias(states, tiles):
    signed = {
        name: states[f"bias_{name}"].astype(np.uint32).view(np.int32)
        for name in ("constant", "slope", "clamp")
    }
    signs = {
        name: {
            f"{name} -": value < 0,
            f"{name} 0": value == 0,
            f"{name} +": value > 0,
        }
        for name, value in signed.items()
    }
    exponent = states["bias_slope"].astype(np.int64) >> 23 & 255
    return (
        cross("bias", *signs.values())
        | cross(
            "slope's exponent", {"denormal": (exponent == 0) & (states["bias_slope"] << 1 != 0)}
        )
        | cross("steep", equal(tiles["steep"], {"flat": 0, "steep": 1}))
    )
