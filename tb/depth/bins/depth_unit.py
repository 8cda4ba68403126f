# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the depth unit: those of HiZ, with the depth test behind it, and what comes back."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.depth_unit import DepthUnitParams
from fixfunc.spec import payloads
from fixfunc.spec.state import TARGET_LIMIT, Compare, Kind, Outcome, StencilOp
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.coverage.bins import Seen, cross, flag, of
from fixfunc.tb.depth.bins import anywhere, depth_test, hiz
from fixfunc.tb.depth.depth_unit import late_tiles

EVENTS = hiz.EVENTS


def directed(params: DepthUnitParams) -> np.ndarray:
    """Those of HiZ and of the depth test, without requests for contexts; reports that wait."""
    rng = np.random.default_rng(0)
    return np.concatenate(
        [
            scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, begin=1),
            hiz.whole_clears(params),
            hiz.crowded(rng, params),
            depth_test.late(params.test),
            anywhere.targets(rng, params.test, 1),
            anywhere.planes(rng, params.test),
            depth_test.fences(rng),
            last_row(params),
            stencil_values(params),
            waiting_reports(params),
        ]
    )


def last_row(params: DepthUnitParams) -> np.ndarray:
    """Clears behind a whole one end with the last row of the highest target, or one before it."""
    width = 8
    whole = {"x1": width, "y1": TARGET_LIMIT, "stencil_base": 1 << 17}
    corner = whole | {"x0": width - 1, "y0": TARGET_LIMIT - 1}
    low = whole | {"y1": TARGET_LIMIT - 1}
    tile = np.zeros(1, dtype(payloads.tile(params.edge)))
    tile["mask"] = tile["last"] = 1
    tiles = np.repeat(tile, 8)
    rows = [anywhere.packed(draw_state(width, TARGET_LIMIT, 8))]
    for rectangles in ((whole, corner, low), (whole, low, corner)) * 2:
        rows += [
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, depth=1, stencil=1, **fields)
            for fields in rectangles
        ]
        rows.append(codec.pack(tiles, payloads.tile(params.edge), WIDTH))
    return np.concatenate([*rows, anywhere.FLUSH])


def stencil_values(params: DepthUnitParams) -> np.ndarray:
    """Stencil values of every bit replace cleared ones, in each bank of HiZ's bounds."""
    edge = params.edge
    size = 4 * edge
    tiles = np.zeros(16, dtype(payloads.tile(edge)))
    tiles["x"], tiles["y"] = np.arange(16) % 4, np.arange(16) // 4
    tiles["mask"] = (1 << edge**2) - 1
    tiles["full"] = tiles["last"] = 1
    clear = {"depth": 1, "stencil": 1, "x1": size, "y1": size, "stencil_base": 1 << 17}
    fields = {"stencil_read": 255, "stencil_write": 255, "stencil_test": 1}
    for face in ("front", "back"):
        fields[f"stencil_{face}_func"] = Compare.ALWAYS
        fields[f"stencil_{face}_pass"] = StencilOp.REPLACE
    rows = []
    for n in range(24):
        value = (0, 0x55, 0xAA, 0xFF)[n % 4]
        state = draw_state(size, size, stencil_ref=(0xFF, value)[n // 4 % 2], **fields)
        rows += [
            anywhere.packed(state),
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, stencil_value=value, **clear),
            *[codec.pack(tiles, payloads.tile(edge), WIDTH)] * 2,
        ]
    return np.concatenate([*rows, anywhere.FLUSH])


def waiting_reports(params: DepthUnitParams) -> np.ndarray:
    """The report of a tile waits, and those of more than 64 tests behind it.

    HiZ drops tiles eight columns apart, which share its count, and always looks one up. All that it
    looks up, and all tests, are fewer than may be in flight.
    """
    edge = params.edge
    size = {"x1": 16 * edge, "y1": 8 * edge}
    clear = {"depth": 1, "stencil": 1, "stencil_base": 1 << 17, "depth_value": 1 << 22, **size}
    rows = [anywhere.packed(draw_state(*size.values()))]
    for tests in (68, 74, 80, 86, 92):
        tiles = np.zeros(2 * tests + 200, dtype(payloads.tile(edge)))
        n = np.arange(len(tiles))
        hidden = (n % 2 == 1) | (n >= 2 * tests)
        tiles["x"] = np.where(hidden, 8, 1 + n // 2 % 7)
        tiles["y"] = np.where(hidden, 0, n // 14 % 8)
        tiles["x"][0] = 0
        tiles["mask"] = (1 << edge**2) - 1
        tiles["full"] = tiles["last"] = 1
        for name in ("zmin", "zmax"):
            tiles[name] = np.where(hidden, 1 << 23, 1 << 20)
        tiles["z0"] = tiles["zmin"] << 8
        rows += [
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **clear),
            codec.pack(tiles, payloads.tile(edge), WIDTH),
            anywhere.FLUSH,
        ]
    return np.concatenate(rows)


def bins(seen: Seen, params: DepthUnitParams) -> dict[str, int]:
    """Counts of one batch: of the tiles that leave."""
    table = payloads.tile(params.edge)
    out = seen.out["o"]
    work = out[:, 0] & 3 == Kind.WORK
    tiles = codec.unpack(out[work], table, dtype(table))
    states = hiz.states_of(out)[work]
    outcome = of(Outcome, tiles["outcome"])
    mask = tiles["mask"].astype(np.uint64)
    passed = {
        "nothing": mask == 0,
        "some": (mask != 0) & (tiles["full"] == 0),
        "all": tiles["full"] == 1,
    }
    late = flag(late_tiles(out)[work], "early write", "late write")
    return (
        hiz.outcomes(out, work, out, params.edge, params.samples.bit_length())
        | hiz.of_clears(seen.rows, params.edge)
        | cross("outcome x write x goes out", outcome, late, passed)
        | cross(
            "early reject x write",
            flag(states["early_reject"], "kept", "rejected"),
            late,
        )
    )
