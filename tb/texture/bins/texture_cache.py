# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the texture cache: status, rounds by misses, levels by formats, layers."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.cache.layouts import TextureCacheParams
from fixfunc.spec.textures.cache import (
    CACHE_QUAD,
    CACHE_STATE,
    LINE_NUMBER,
    TEXEL_QUAD,
    CacheStatus,
)
from fixfunc.tb.bench.states import parted
from fixfunc.tb.coverage.bins import Seen, cross, flag, of, ranges

CONFIG = "tiny"
COUNT = 4000


def bins(seen: Seen, _: TextureCacheParams) -> dict[str, int]:
    """Counts of one batch."""
    states, quads, state_of = parted(seen.rows, CACHE_STATE, CACHE_QUAD)
    out = codec.unpack(seen.out["o"], TEXEL_QUAD, dtype(TEXEL_QUAD))
    status = of(CacheStatus, out["status"])
    some = {"none": (0, 0), "one": (1, 1), "two to four": (2, 4), "more": (5, 16)}
    lookups = ranges(out["lookups"], some)
    misses = ranges(out["misses"], some)
    lines = ranges(out["lines"], some)
    served = out["status"] != CacheStatus.FORMAT
    found = cross("status", status)
    found |= cross("lookups", lookups, where=served)
    found |= cross("misses", misses, where=served)
    found |= cross("lines", lines, where=served)
    merged = flag(out["lines"] < out["misses"], "all from memory", "some from lines on chip")
    found |= cross("misses that are filled", merged, where=out["misses"] > 0)
    again = np.append(False, state_of[1:] == state_of[:-1])
    found |= cross("quad", flag(again, "first of its state", "behind another"))
    apart = np.any([quads[f"layer{pixel}"] != quads["layer0"] for pixel in range(1, 4)], 0)
    distance = states["distance"][state_of] >> LINE_NUMBER - 1
    distances = flag(distance == 1, "upwards", "downwards")
    found |= cross("layers", flag(apart, "one", "several"), distances)
    levels = {"0": quads["level0"] == 0, "1 to 14": quads["level0"] > 0}
    return found | cross("level", levels, flag(states["first_set"][state_of] > 0, "0", "another"))
