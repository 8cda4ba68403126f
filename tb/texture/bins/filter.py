# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the filter: operations by unit, comparisons, weights, numbers of samples, results."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.filter.filter import FilterParams
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.filter import (
    FILTER_STATE,
    FILTER_TAPS,
    FILTERED_QUAD,
    FilterOp,
    Unit,
)
from fixfunc.tb.bench.states import parted
from fixfunc.tb.coverage.bins import Seen, cross, ends, flag, of

CONFIG = "tiny"
COUNT = 6000
ONE = 0x3F800000
SIGN = 1 << 31


def bins(seen: Seen, _: FilterParams) -> dict[str, int]:
    """Counts of one batch."""
    states, beats, state_of = parted(seen.rows, FILTER_STATE, FILTER_TAPS)
    out = codec.unpack(seen.out["o"], FILTERED_QUAD, dtype(FILTERED_QUAD))
    state = states[state_of]
    operation = of(FilterOp, state["op"])
    stored = state["compares"] == 0
    found = cross("operation x unit", operation, of(Unit, state["unit_r"]), where=stored)
    found |= cross("comparison", of(Compare, state["function"]), where=~stored)
    kinds = flag(state["floats"] == 1, "integers", "floats")
    found |= cross("compared", operation, kinds, where=~stored)
    found |= cross("component", {str(n): state["component"] == n for n in range(4)})
    right, lower = (ends(beats[f"{axis}0"], 0, 255) for axis in "uv")
    found |= cross("weights", operation, right, lower)
    found |= cross("weight of a level", ends(beats["weight0"], 0, 256))
    texels = [np.stack([beats[f"t0_{corner}_{n}"] for n in range(4)], 1) for corner in range(4)]
    alike = np.all([(texels[0] == texel).all(1) for texel in texels[1:]], 0)
    found |= cross("texels", flag(alike, "differ", "are alike"))
    return found | _quads(out, beats, state)


def _quads(out, beats, state):
    """Of quads: numbers of samples, results."""
    last = np.flatnonzero(beats["end"])
    count = beats["count0"][last].astype(np.int64)
    odd = count // (count & -count)
    found = cross("samples", {str(n): odd == n for n in range(1, 48, 2)})
    found |= cross("halvings", {str(n): count // odd == 1 << n for n in range(5)})
    beats_of = np.diff(last, prepend=-1)
    found |= cross("quad", flag(beats_of > 1, "of one beat", "of several"))
    result = out["c0_0"].astype(np.int64)
    magnitude = result & SIGN - 1
    values = {
        "zero": magnitude == 0,
        "between": (magnitude > 0) & (magnitude < ONE),
        "one": magnitude == ONE,
    }
    signed = state["unit_r"][last] >= Unit.SNORM15
    stored = state["compares"][last] == 0
    found |= cross("result", values, flag(signed, "UNORM", "SNORM"), where=stored)
    found |= cross("sign", flag(result & SIGN, "no", "yes"))
    return found
