# SPDX-License-Identifier: BSD-2-Clause
"""Bins of texel addresses: modes by where a place lies, sizes, offsets, weights, borders."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.addresses.addresses import AddressesParams
from fixfunc.spec.textures.addresses import (
    ADDRESS_QUAD,
    ADDRESS_STATE,
    ADDRESSED_QUAD,
    Address,
)
from fixfunc.tb.bench.states import parted
from fixfunc.tb.coverage.bins import Seen, cross, ends, flag, of, ranges
from fixfunc.tb.texture.addresses import FAR

CONFIG = "tiny"
COUNT = 6000


def bins(seen: Seen, _: AddressesParams) -> dict[str, int]:
    """Counts of one batch."""
    states, quads, state_of = parted(seen.rows, ADDRESS_STATE, ADDRESS_QUAD)
    out = codec.unpack(seen.out["o"], ADDRESSED_QUAD, dtype(ADDRESSED_QUAD))
    state = states[state_of]
    found = {}
    for axis, place, size in (("u", "x", "width"), ("v", "y", "height")):
        level = quads["level0"].astype(np.int64)
        extent = np.maximum(state[size].astype(np.int64) >> level, 1)
        at = quads[f"{place}0"].astype(np.int64) - 128 * (quads["smooth0"] == 1)
        first = (at >> 8) + state[f"offset_{axis}"]
        mode = of(Address, state[f"mode_{axis}"])
        where = {
            "far below": first < -extent,
            "below": (first >= -extent) & (first < -1),
            "across the first": first == -1,
            "inside": (first >= 0) & (first < extent - 1),
            "across the last": first == extent - 1,
            "beyond": (first >= extent) & (first < 2 * extent),
            "far beyond": first >= 2 * extent,
        }
        found |= cross(f"{axis}", mode, where)
        power = flag(extent & extent - 1, "a power of two", "any")
        found |= cross(f"size of {axis}", mode, power)
        found |= cross(f"one texel along {axis}", mode, where=extent == 1)
        found |= cross(f"offset of {axis}", ends(state[f"offset_{axis}"], -32, 31))
        found |= cross(f"place along {axis}", ends(quads[f"{place}0"], -FAR, FAR - 1))
        found |= cross(f"weight of {axis}", ends(out[f"{axis}0"], 0, 255))
    found |= cross("level", ranges(quads["level0"], {"0": (0, 0), "1 to 15": (1, 15)}))
    found |= cross("corners that are the border", {str(n): out["borders0"] == n for n in BORDERS})
    reads = flag(state["gathers"], "by weight", "all")
    return found | cross("reads", reads, flag(out["reads0"] == 15, "some", "four"))


# Columns, rows, or both.
BORDERS = (0, 3, 5, 7, 10, 11, 12, 13, 14, 15)
