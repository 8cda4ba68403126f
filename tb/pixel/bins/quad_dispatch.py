# SPDX-License-Identifier: BSD-2-Clause
"""Bins of quad dispatch: samples, how many quads a tile has, and what is next to what."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.pixel.quad_dispatch import helpers
from fixfunc.rtl.pixel.quad_dispatch import QuadDispatchParams
from fixfunc.spec.points import QUAD, quad_tile
from fixfunc.tb.coverage.bins import Seen, cross, equal, flag, samples_of

CONFIG = "tiny"
COUNT = 4000


def bins(seen: Seen, params: QuadDispatchParams) -> dict[str, int]:
    """Counts of one batch."""
    table = quad_tile(params.edge)
    tiles = codec.unpack(seen.rows, table, dtype(table))
    out = codec.unpack(seen.out["o"], QUAD, dtype(QUAD))
    full = (1 << params.edge**2) - 1
    masks = {
        "empty": tiles["mask"] == 0,
        "part": (tiles["mask"] != 0) & (tiles["mask"] != full),
        "full": tiles["mask"] == full,
    }
    modes = samples_of(tiles["samples"], params.modes)
    frequency = flag(tiles["by_sample"], "by pixel", "by sample")
    before = {name: hit[:-1] for name, hit in masks.items()}
    behind = {name: hit[1:] for name, hit in masks.items()}
    counts = cross("samples x frequency x mask", modes, frequency, masks)
    counts |= cross("mask x the one before", behind, before)
    found = equal(helpers(out), {f"{n} helpers": n for n in range(4)})
    ends = flag(out["last"], "more follow", "last of its tile")
    counts |= cross("quad", samples_of(out["samples"], params.modes), found, ends)
    alone = out["by_sample"] == 1
    number = {f"sample {n}": alone & (out["sample"] == n) for n in range(1 << params.modes[-1])}
    return counts | cross("sample", number) | cross("tests", _tested(tiles))


def _tested(tiles: np.ndarray) -> dict[str, np.ndarray]:
    differs = tiles["mask"] != tiles["covered"]
    return {"all that is covered is shaded": ~differs, "a test left some": differs}
