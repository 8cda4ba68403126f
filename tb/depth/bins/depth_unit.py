# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the depth unit: those of HiZ, with the depth test behind it, and what comes back."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.depth.depth_unit import DepthUnitParams
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind, Outcome
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.coverage.bins import Seen, cross, flag, of
from fixfunc.tb.depth.bins import anywhere, depth_test, hiz
from fixfunc.tb.depth.depth_unit import late_tiles

EVENTS = hiz.EVENTS


def directed(params: DepthUnitParams) -> np.ndarray:
    """Those of HiZ and of the depth test, without requests for contexts."""
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
        ]
    )


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
