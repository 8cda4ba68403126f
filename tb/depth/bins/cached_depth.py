# SPDX-License-Identifier: BSD-2-Clause
"""Bins of cached depth: outcomes of HiZ, modes that moved, and what meets in the caches."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.cached_depth import CachedDepthParams
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching
from fixfunc.spec.state import Compare, DepthFormat, Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.coverage.bins import Batch, Seen, cross, flag
from fixfunc.tb.depth.bins import anywhere, depth_test, far, hiz
from fixfunc.tb.depth.bins.depth_unit import stencil_values
from fixfunc.tb.depth.depth_unit import late_tiles
from fixfunc.tb.memory.bins.tile_cache import EVENTS as CACHE

EVENTS = CACHE + hiz.EVENTS


def directed(params: CachedDepthParams) -> list[Batch]:
    """Beats of HiZ and of the depth test; long targets; write-backs without end, before a memory
    that answers late, and before one that hardly takes anything; outputs that hardly anyone takes;
    reports that wait for each other.
    """
    rng = np.random.default_rng(1)
    edge = params.edge
    fence = scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, begin=1)
    tested = [
        _four_planes(params),
        hiz.crowded(rng, params),
        far.unbounded(anywhere.planes(rng, params.test), edge),
        depth_test.fences(rng),
        stencil_values(params),
        far.planes(np.random.default_rng(3), edge),
        far.one_bank(np.random.default_rng(4), edge),
    ]
    d24, floats = DepthFormat.D24, DepthFormat.D32F
    slow = [
        far.bursts(rng, edge, 2, floats, swapped=False),
        far.bursts(rng, edge, 2, d24, swapped=True),
    ]
    taken_late = [fence, far.crowds(rng, edge), *(depth_test.fences(rng) for _ in range(2))]
    taken_late.append(anywhere.FLUSH)
    reports = far.based(far.held_reports(np.random.default_rng(5), edge), 0, 1 << 17)
    long = [fence, far.long_targets(rng, params), far.corners(np.random.default_rng(2), edge)]
    long.append(far.held_requests(np.random.default_rng(6)))
    more = far.long_targets(np.random.default_rng(7), params)
    hits = far.late_hits(np.random.default_rng(8), edge)
    return [
        Batch(far.based(np.concatenate(tested), 0, 1 << 17)),
        Batch(np.concatenate(long), memory={"latency": (0, 8)}),
        Batch(far.bursts(rng, edge, 8, d24, swapped=False), memory={"latency": (400, 800)}),
        Batch(np.concatenate(slow), memory={"ready": 4}),
        Batch(far.based(np.concatenate(taken_late), 0, 1 << 17), ("full", "starved")),
        Batch(reports, memory={"latency": (0, 0), "ready": 256}),
        Batch(np.concatenate([fence, more]), memory={"latency": (0, 8)}),
        Batch(far.based(np.concatenate([fence, hits]), 0, 1 << 17), memory={"ready": 2}),
    ]


def _four_planes(params):
    """Whole clears as HiZ has them; a tile of four planes that goes to memory and comes back."""
    table = payloads.tile(params.edge)
    share = params.edge**2 // 4
    state = draw_state(4, 4, depth_test=1, depth_write=1, depth_compare=Compare.ALWAYS)
    clear = {"depth": 1, "stencil": 1, "x1": 4, "y1": 4, "stencil_base": 1 << 17}
    tiles = np.zeros(5, dtype(table))
    n = np.arange(5)
    tiles["mask"] = ((1 << share) - 1) << (share * (n % 4))
    tiles["last"] = 1
    tiles["z0"] = (1000 + 700 * n) << 8
    tiles["dx"] = n << 8
    tiles["zmin"] = 1000 + 700 * n
    tiles["zmax"] = tiles["zmin"] + 7 * n
    beats = codec.pack(tiles, table, WIDTH)
    flush = scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1)
    return np.concatenate(
        [
            hiz.whole_clears(params),
            codec.pack(np.atleast_1d(state), payloads.DRAW_STATE, WIDTH),
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **clear),
            beats[:4],
            flush,
            beats[4:],
            flush,
        ]
    )


def bins(seen: Seen, params: CachedDepthParams) -> dict[str, int]:
    """Counts of one batch."""
    found = seen.out["probe_hiz"]
    work = found[:, 0] & 3 == Kind.WORK
    fences = codec.unpack(
        seen.rows[seen.rows[:, 0] & 3 == Kind.FENCE], payloads.FENCE, dtype(payloads.FENCE)
    )
    late = late_tiles(found)[work]
    return (
        hiz.outcomes(found, work, found, params.edge, params.samples.bit_length())
        | hiz.of_clears(seen.rows, params.edge)
        | cross("write", flag(late, "early write", "late write"))
        | cross("fence", flag(fences["flush"], "goes on", "flushes"))
        | moved(seen.out["depth_counted"], "depth")
        | moved(seen.out["stencil_counted"], "stencil")
    )


def moved(counted: np.ndarray, plane: str) -> dict[str, int]:
    """Whether tiles of each mode, and transfers of the table, have moved at all."""
    records = codec.unpack(counted, caching.COUNTED, dtype(caching.COUNTED))
    modes = (0, 6) if plane != "depth" else range(7)
    names = [f"{cause}_{n}" for cause in ("fill", "write_back") for n in modes]
    names += [name for name in records.dtype.names if name.startswith("table")]
    return {f"{plane} moved: {name}": int(records[name].astype(np.int64).sum()) for name in names}
